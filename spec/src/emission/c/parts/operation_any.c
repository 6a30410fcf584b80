/* Operands stand in the order of ranks, so that the operation need not commute. */
static int rdl_operation(rdl_world *w, MPI_Op op)
{
    w->memory.op = op;
    return op == MPI_OP_NULL ? MPI_ERR_OP : MPI_SUCCESS;
}
