/* Blocks of these lengths, at these offsets, or one after the other. */
static int rdl_varying(rdl_world *w, const int *counts, const int *displs)
{
    MPI_Aint next = 0;
    int error = rdl_geometry(w, w->p);
    for (int block = 0; error == MPI_SUCCESS && block < w->p; block++) {
        error = counts[block] < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
        w->memory.counts[block] = counts[block];
        w->memory.offsets[block] = displs != NULL ? displs[block] : next;
        next += counts[block];
    }
    return error;
}

