/* Like MPI_Allreduce@WITH@. */
int roundel_allreduce_@NAME@(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, datatype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_operation(&w, op);
    if (error == MPI_SUCCESS)
        error = rdl_divided(&w, count, @BLOCKS@);
    if (error == MPI_SUCCESS)
        error = rdl_lines(&w, recvbuf, count);
    if (error == MPI_SUCCESS && sendbuf != MPI_IN_PLACE)
        error = rdl_copy(&w, sendbuf, count, datatype, recvbuf, count, datatype);
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
