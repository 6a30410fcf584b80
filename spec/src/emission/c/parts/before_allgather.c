/* Puts the rank's own block at its position. */
static int rdl_before(rdl_call *call)
{
    const rdl_args *args = call->args;
    rdl_spot from = {RDL_FROM, 0}, into = {RDL_INTO, 0};
    int varies = args->vectors[0].items != NULL;
    int error = varies ? rdl_varying(call, args->vectors[0], args->vectors[1]) : rdl_equal(call, args->recvcount);
    call->lines[0] = into;
    if (error != MPI_SUCCESS || args->in_place)
        return error;
    into = rdl_beyond(into, call->offsets[call->rank] * call->extent);
    return rdl_convert(call, from, args->sendcount, args->types[0], into, call->counts[call->rank], call->type);
}

