/* Begins a call that is served; all ranks know all nodes, so that they agree on it. */
static int @NAME@_begin(rdl_world *w, MPI_Comm comm, MPI_Datatype type@DECLARATIONS@)
{
    int error = rdl_open(w, comm, type);
    if (error == MPI_SUCCESS)
        error = rdl_private(w, comm);
    return error == MPI_SUCCESS && !@NAME@_admits(@ADMITS@) ? MPI_ERR_ARG : error;
}

