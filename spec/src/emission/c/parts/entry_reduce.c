/* Like MPI_Reduce@WITH@. */
int roundel_reduce_@NAME@(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    char *line = NULL;
    int error = @NAME@_begin(&w, comm, datatype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_operation(&w, op);
    if (error == MPI_SUCCESS)
        error = rdl_divided(&w, count, @BLOCKS@);
    if (error == MPI_SUCCESS && (line = w.rank == root ? recvbuf : rdl_line(&w, count)) == NULL && count > 0)
        error = w.rank == root ? MPI_ERR_BUFFER : MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS)
        error = rdl_lines(&w, line, count);
    if (error == MPI_SUCCESS && sendbuf != MPI_IN_PLACE)
        error = rdl_copy(&w, sendbuf, count, datatype, line, count, datatype);
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
