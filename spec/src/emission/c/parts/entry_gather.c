/* Like MPI_Gather@C@@WITH@. */
int roundel_gather_@NAME@@C@(const void *sendbuf, @INT@ sendcount, MPI_Datatype sendtype, void *recvbuf,
    @INT@ recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.types = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}@GIVEN@};
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    rdl_sends(&args, sendbuf, sendcount, sendtype);
    if (rank == root) {
        args.recvcount = recvcount;
        args.types[1] = recvtype;
    }
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

