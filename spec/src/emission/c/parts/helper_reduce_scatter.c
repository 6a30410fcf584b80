/* Reduces in memory of its own and hands out the rank's block. */
static int @NAME@_scatter(rdl_world *w, const void *sendbuf, void *recvbuf@DECLARATIONS@)
{
    int own = w->memory.counts[w->rank], last = w->p - 1;
    MPI_Aint all = w->memory.offsets[last] + w->memory.counts[last];
    char *line = rdl_line(w, all);
    int error = line == NULL || all > INT_MAX ? MPI_ERR_NO_MEM : rdl_lines(w, line, all);
    const void *input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (error == MPI_SUCCESS)
        error = rdl_copy(w, input, (int)all, w->type, line, (int)all, w->type);
    if (error == MPI_SUCCESS)
        error = @NAME@_run(w@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_copy(w, line + w->memory.offsets[w->rank] * w->extent, own, w->type, recvbuf, own, w->type);
    return error;
}

