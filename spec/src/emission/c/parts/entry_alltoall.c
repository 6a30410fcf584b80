/* Like MPI_Alltoall@C@@WITH@. */
int roundel_alltoall_@NAME@@C@(const void *sendbuf, @INT@ sendcount, MPI_Datatype sendtype, void *recvbuf,
    @INT@ recvcount, MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.recvcount = recvcount, .types = {MPI_DATATYPE_NULL, recvtype}@GIVEN@};
    rdl_sends(&args, sendbuf, sendcount, sendtype);
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

