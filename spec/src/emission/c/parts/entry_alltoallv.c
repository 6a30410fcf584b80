
static int rdl_lengths(const rdl_world *w, const int *counts)
{
    for (int rank = 0; rank < w->p; rank++)
        if (counts[rank] < 0)
            return MPI_ERR_COUNT;
    return MPI_SUCCESS;
}

/* Copies blocks that are to be overwritten, one after the other. */
static int rdl_set_aside(rdl_world *w, rdl_side *from, const rdl_side *to, int *displs)
{
    MPI_Aint next = 0;
    int error = MPI_SUCCESS;
    for (int rank = 0; rank < w->p; rank++)
        next += to->counts[rank];
    char *memory = rdl_alloc(w, rdl_bytes(w, next), 1);
    if (memory == NULL || next > INT_MAX)
        return MPI_ERR_NO_MEM;
    rdl_side copy = {memory - w->true_lb, to->counts, displs, to->type, to->extent};
    next = 0;
    for (int rank = 0; rank < w->p && error == MPI_SUCCESS; rank++) {
        displs[rank] = (int)next;
        next += to->counts[rank];
        error = rdl_copy(w, to->buffer + to->displs[rank] * to->extent, to->counts[rank], to->type,
            copy.buffer + displs[rank] * copy.extent, to->counts[rank], to->type);
    }
    *from = copy;
    return error;
}

/* The rank's own block. */
static int rdl_keep(rdl_world *w, const rdl_side *from, const rdl_side *to)
{
    return rdl_copy(w, from->buffer + from->displs[w->rank] * from->extent, from->counts[w->rank], from->type,
        to->buffer + to->displs[w->rank] * to->extent, to->counts[w->rank], to->type);
}

/* Like MPI_Alltoallv@WITH@. */
int roundel_alltoallv_@NAME@(const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype,
    void *recvbuf, const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    MPI_Aint lb = 0;
    int error = @NAME@_begin(&w, comm, recvtype@ARGUMENTS@);
    rdl_side to = {recvbuf, recvcounts, rdispls, recvtype, w.extent};
    rdl_side from = {(char *)(uintptr_t)sendbuf, sendcounts, sdispls, sendtype, 0};
    int *displs = error == MPI_SUCCESS ? rdl_alloc(&w, (size_t)w.p, sizeof *displs) : NULL;
    if (error == MPI_SUCCESS && displs == NULL)
        error = MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS)
        error = rdl_lengths(&w, recvcounts);
    if (error == MPI_SUCCESS && sendbuf != MPI_IN_PLACE)
        error = rdl_lengths(&w, sendcounts);
    if (error == MPI_SUCCESS && sendbuf == MPI_IN_PLACE)
        error = rdl_set_aside(&w, &from, &to, displs);
    else if (error == MPI_SUCCESS)
        error = MPI_Type_get_extent(sendtype, &lb, &from.extent);
    if (error == MPI_SUCCESS)
        error = rdl_keep(&w, &from, &to);
    w.memory.from = &from;
    w.memory.to = &to;
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
