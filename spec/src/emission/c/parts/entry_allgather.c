/* Like MPI_Allgather@C@@WITH@. */
int roundel_allgather_@NAME@@C@(const void *sendbuf, @INT@ sendcount, MPI_Datatype sendtype, void *recvbuf,
    @INT@ recvcount, MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.recvcount = recvcount, .types = {MPI_DATATYPE_NULL, recvtype}@GIVEN@};
    rdl_sends(&args, sendbuf, sendcount, sendtype);
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

/* Like MPI_Allgatherv@C@@WITH@. */
int roundel_allgatherv_@NAME@@C@(const void *sendbuf, @INT@ sendcount, MPI_Datatype sendtype, void *recvbuf,
    const @INT@ *recvcounts, const @DISPL@ *displs, MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.types = {MPI_DATATYPE_NULL, recvtype}@GIVEN@,
        .vectors = {{recvcounts, sizeof *recvcounts}, {displs, sizeof *displs}}};
    rdl_sends(&args, sendbuf, sendcount, sendtype);
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

