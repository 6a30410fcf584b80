/* Like MPI_Reduce_scatter@WITH@. */
int roundel_reduce_scatter_@NAME@(const void *sendbuf, void *recvbuf, const int *recvcounts, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, datatype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_operation(&w, op);
    if (error == MPI_SUCCESS)
        error = rdl_varying(&w, recvcounts, NULL);
    if (error == MPI_SUCCESS)
        error = @NAME@_scatter(&w, sendbuf, recvbuf@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}

/* Like MPI_Reduce_scatter_block@WITH@. */
int roundel_reduce_scatter_block_@NAME@(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, datatype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_operation(&w, op);
    if (error == MPI_SUCCESS)
        error = rdl_equal(&w, recvcount);
    if (error == MPI_SUCCESS)
        error = @NAME@_scatter(&w, sendbuf, recvbuf@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
