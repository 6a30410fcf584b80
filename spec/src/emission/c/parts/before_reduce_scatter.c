/* Reduces in memory of the plan. */
static int rdl_before(rdl_call *call)
{
    const rdl_args *args = call->args;
    rdl_spot from = {args->in_place ? RDL_INTO : RDL_FROM, 0};
    rdl_vector none = {NULL, 0};
    int varies = args->vectors[0].items != NULL, last = call->p - 1;
    int error = varies ? rdl_varying(call, args->vectors[0], none) : rdl_equal(call, args->recvcount);
    if (error != MPI_SUCCESS)
        return error;
    int64_t all = call->offsets[last] + call->counts[last];
    rdl_lines(call, rdl_reserve(call, RDL_HELD, all), all);
    return rdl_copy(call, from, call->lines[0], all);
}

/* Hands out the rank's block. */
static int rdl_after(rdl_call *call)
{
    rdl_spot into = {RDL_INTO, 0}, own = rdl_beyond(call->lines[0], call->offsets[call->rank] * call->extent);
    return rdl_copy(call, own, into, call->counts[call->rank]);
}

