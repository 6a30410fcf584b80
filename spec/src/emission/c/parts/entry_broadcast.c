/* Like MPI_Bcast@WITH@. Count and datatype must be the same on all ranks if there are several blocks. */
int roundel_bcast_@NAME@(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, datatype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_divided(&w, count, @BLOCKS@);
    w.memory.lines[0] = buffer;
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
