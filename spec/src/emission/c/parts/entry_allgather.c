/* Like MPI_Allgather@WITH@. */
int roundel_allgather_@NAME@(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, recvtype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_equal(&w, recvcount);
    if (error == MPI_SUCCESS)
        error = @NAME@_gather(&w, sendbuf, sendcount, sendtype, recvbuf@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}

/* Like MPI_Allgatherv@WITH@. */
int roundel_allgatherv_@NAME@(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, recvtype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_varying(&w, recvcounts, displs);
    if (error == MPI_SUCCESS)
        error = @NAME@_gather(&w, sendbuf, sendcount, sendtype, recvbuf@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
