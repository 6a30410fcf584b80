/* One block after the other, each with so many elements. */
static int rdl_equal(rdl_world *w, int count)
{
    int error = count < 0 ? MPI_ERR_COUNT : rdl_geometry(w, w->p);
    for (int block = 0; error == MPI_SUCCESS && block < w->p; block++) {
        w->memory.counts[block] = count;
        w->memory.offsets[block] = (MPI_Aint)block * count;
    }
    return error;
}

