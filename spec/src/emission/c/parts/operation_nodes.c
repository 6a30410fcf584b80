/* Operands are in the order of ranks numbered by node; if that differs from rank order, the operation must commute. */
static int rdl_operation(const rdl_own *own, MPI_Op op)
{
    int commutes = 0, sorted = 1;
    for (int rank = 0; rank < own->p; rank++)
        sorted = sorted && own->table->order[rank] == rank;
    int error = op == MPI_OP_NULL ? MPI_ERR_OP : MPI_Op_commutative(op, &commutes);
    return error == MPI_SUCCESS && !commutes && !sorted ? MPI_ERR_OP : error;
}

