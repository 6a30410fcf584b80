/* The root's blocks are only read; ranks that forward blocks have memory for all of them. */
static int rdl_before(rdl_call *call)
{
    const rdl_args *args = call->args;
    rdl_spot from = {RDL_FROM, 0};
    int at_root = call->rank == args->root;
    int64_t count = at_root ? args->sendcount : args->recvcount;
    int error = rdl_equal(call, count);
    if (error == MPI_SUCCESS)
        call->lines[0] = at_root ? from : rdl_reserve(call, RDL_HELD, call->p * count);
    return error;
}

/* Hands out the rank's block. */
static int rdl_after(rdl_call *call)
{
    const rdl_args *args = call->args;
    rdl_spot into = {RDL_INTO, 0}, own = rdl_beyond(call->lines[0], call->offsets[call->rank] * call->extent);
    int64_t count = call->counts[call->rank];
    if (args->in_place)
        return MPI_SUCCESS;
    return rdl_convert(call, own, count, call->type, into, args->recvcount, args->types[1]);
}

