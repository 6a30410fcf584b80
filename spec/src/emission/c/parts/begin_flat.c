/* Begins a call that is served; all ranks agree on that before any of them sends. */
static int @NAME@_begin(rdl_world *w, MPI_Comm comm, MPI_Datatype type@DECLARATIONS@)
{
    int error = rdl_open(w, comm, type);
    if (error == MPI_SUCCESS && !@NAME@_admits(@ADMITS@))
        error = MPI_ERR_ARG;
    return error == MPI_SUCCESS ? rdl_private(w, comm) : error;
}

