/* Like MPI_Allreduce@C@@WITH@. */
int roundel_allreduce_@NAME@@C@(const void *sendbuf, void *recvbuf, @INT@ count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.in_place = sendbuf == MPI_IN_PLACE, .recvcount = count, .types = {MPI_DATATYPE_NULL, datatype},
        .op = op@GIVEN@};
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

