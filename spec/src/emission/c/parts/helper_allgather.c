/* Puts the rank's own block in its place and runs the rounds. */
static int @NAME@_gather(rdl_world *w, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf@DECLARATIONS@)
{
    int error = MPI_SUCCESS, own = w->memory.counts[w->rank];
    char *place = (char *)recvbuf + w->memory.offsets[w->rank] * w->extent;
    w->memory.lines[0] = recvbuf;
    if (sendbuf != MPI_IN_PLACE)
        error = rdl_copy(w, sendbuf, sendcount, sendtype, place, own, w->type);
    return error == MPI_SUCCESS ? @NAME@_run(w@ARGUMENTS@) : error;
}

