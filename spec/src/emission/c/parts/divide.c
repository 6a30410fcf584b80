/* Room for the geometry of so many blocks. */
static int rdl_geometry(rdl_world *w, int64_t blocks)
{
    w->memory.counts = rdl_alloc(w, (size_t)blocks, sizeof *w->memory.counts);
    w->memory.offsets = rdl_alloc(w, (size_t)blocks, sizeof *w->memory.offsets);
    return w->memory.counts != NULL && w->memory.offsets != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

