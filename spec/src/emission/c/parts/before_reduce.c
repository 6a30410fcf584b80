/* Reduces in the caller's memory at the root, elsewhere in the plan's. */
static int rdl_before(rdl_call *call)
{
    rdl_spot from = {RDL_FROM, 0}, into = {RDL_INTO, 0};
    int64_t count = call->args->recvcount;
    int error = rdl_divided(call, count, @BLOCKS@);
    if (error != MPI_SUCCESS)
        return error;
    if (call->rank != call->args->root)
        into = rdl_reserve(call, RDL_HELD, count);
    rdl_lines(call, into, count);
    return call->args->in_place ? MPI_SUCCESS : rdl_copy(call, from, into, count);
}

