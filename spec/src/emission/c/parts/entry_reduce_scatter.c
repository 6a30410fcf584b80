/* Like MPI_Reduce_scatter@C@@WITH@. */
int roundel_reduce_scatter_@NAME@@C@(const void *sendbuf, void *recvbuf, const @INT@ *recvcounts, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.in_place = sendbuf == MPI_IN_PLACE, .types = {MPI_DATATYPE_NULL, datatype}, .op = op@GIVEN@,
        .vectors = {{recvcounts, sizeof *recvcounts}}};
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

/* Like MPI_Reduce_scatter_block@C@@WITH@. */
int roundel_reduce_scatter_block_@NAME@@C@(const void *sendbuf, void *recvbuf, @INT@ recvcount, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.in_place = sendbuf == MPI_IN_PLACE, .recvcount = recvcount, .types = {MPI_DATATYPE_NULL, datatype},
        .op = op@GIVEN@};
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

