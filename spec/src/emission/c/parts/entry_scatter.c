/* Like MPI_Scatter@C@@WITH@. */
int roundel_scatter_@NAME@@C@(const void *sendbuf, @INT@ sendcount, MPI_Datatype sendtype, void *recvbuf,
    @INT@ recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.in_place = recvbuf == MPI_IN_PLACE, .types = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}@GIVEN@};
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    if (rank == root) {
        args.sendcount = sendcount;
        args.types[0] = sendtype;
    }
    if (!args.in_place) {
        args.recvcount = recvcount;
        args.types[1] = recvtype;
    }
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

