/* Operands are not in rank order, so the operation must commute. */
static int rdl_operation(const rdl_own *own, MPI_Op op)
{
    int commutes = 0;
    (void)own;
    int error = op == MPI_OP_NULL ? MPI_ERR_OP : MPI_Op_commutative(op, &commutes);
    return error == MPI_SUCCESS && !commutes ? MPI_ERR_OP : error;
}

