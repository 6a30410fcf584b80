/* Room for the lengths and offsets of this many blocks. */
static int rdl_geometry(rdl_call *call, int64_t blocks)
{
    call->counts = calloc(blocks > 0 ? (size_t)blocks : 1, sizeof *call->counts);
    call->offsets = calloc(blocks > 0 ? (size_t)blocks : 1, sizeof *call->offsets);
    return call->counts != NULL && call->offsets != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

