/* A vector in blocks of nearly equal length. */
static int rdl_divided(rdl_call *call, int64_t count, int64_t blocks)
{
    int error = count < 0 ? MPI_ERR_COUNT : rdl_geometry(call, blocks);
    for (int64_t block = 0; error == MPI_SUCCESS && block < blocks; block++) {
        int64_t longer = count % blocks, each = count / blocks;
        call->counts[block] = each + (block < longer);
        call->offsets[block] = (MPI_Aint)(block * each + (block < longer ? block : longer));
    }
    return error;
}

