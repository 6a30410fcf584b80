/* Contiguous blocks, each with this many elements. */
static int rdl_equal(rdl_call *call, int64_t count)
{
    int error = count < 0 ? MPI_ERR_COUNT : rdl_geometry(call, call->p);
    for (int block = 0; error == MPI_SUCCESS && block < call->p; block++) {
        call->counts[block] = count;
        call->offsets[block] = (MPI_Aint)(block * count);
    }
    return error;
}

