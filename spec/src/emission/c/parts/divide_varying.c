/* Blocks of these lengths, at these offsets, or contiguous. */
static int rdl_varying(rdl_call *call, rdl_vector counts, rdl_vector displs)
{
    MPI_Aint next = 0;
    int error = rdl_geometry(call, call->p);
    for (int block = 0; error == MPI_SUCCESS && block < call->p; block++) {
        call->counts[block] = rdl_item(counts, block);
        call->offsets[block] = displs.items != NULL ? (MPI_Aint)rdl_item(displs, block) : next;
        next += (MPI_Aint)call->counts[block];
        error = call->counts[block] < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    }
    return error;
}

