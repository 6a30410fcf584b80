/* Puts the rank's own block at its position; ranks that forward blocks have memory for all of them. */
static int rdl_before(rdl_call *call)
{
    const rdl_args *args = call->args;
    rdl_spot from = {RDL_FROM, 0}, into = {RDL_INTO, 0};
    int at_root = call->rank == args->root;
    int64_t count = at_root ? args->recvcount : args->sendcount;
    int error = rdl_equal(call, count);
    if (error != MPI_SUCCESS)
        return error;
    call->lines[0] = at_root ? into : rdl_reserve(call, RDL_HELD, call->p * count);
    into = rdl_beyond(call->lines[0], call->offsets[call->rank] * call->extent);
    if (args->in_place)
        return MPI_SUCCESS;
    return rdl_convert(call, from, args->sendcount, args->types[0], into, count, call->type);
}

