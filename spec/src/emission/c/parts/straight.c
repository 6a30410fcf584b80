/* The length and position of block number i of what is sent or received. */
static int64_t rdl_length(const rdl_call *call, int received, int64_t i)
{
    const rdl_args *args = call->args;
    int64_t equal = received ? args->recvcount : args->sendcount;
    return args->vectors[2].items == NULL ? equal : rdl_item(args->vectors[received ? 2 : 0], i);
}

static rdl_spot rdl_begins(const rdl_call *call, int received, int64_t i)
{
    const rdl_args *args = call->args;
    int64_t equal = i * (received ? args->recvcount : args->sendcount);
    int64_t at = args->vectors[2].items == NULL ? equal : rdl_item(args->vectors[received ? 3 : 1], i);
    rdl_spot spot = {received ? RDL_INTO : RDL_FROM, (MPI_Aint)at * (received ? call->extent : call->step)};
    return spot;
}

/* Plans a message: one block, directly from its position to its destination. */
static void rdl_post(rdl_run *run, const rdl_message *m)
{
    rdl_call *call = run->call;
    int received = !m->sends || call->args->in_place;
    rdl_spot spot = m->sends && received ? call->aside[m->peer] : rdl_begins(call, received, m->peer);
    MPI_Datatype type = received ? call->type : call->args->types[0];
    rdl_note(run, rdl_post_of(call, m, spot, (rdl_count)rdl_length(call, received, m->peer), type));
}

/* Copies blocks that would be overwritten; otherwise only the rank's own. */
static int rdl_before(rdl_call *call)
{
    const rdl_args *args = call->args;
    MPI_Aint lb = 0;
    call->aside = calloc((size_t)call->p, sizeof *call->aside);
    int error = call->aside == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS && !args->in_place)
        error = MPI_Type_get_extent(args->types[0], &lb, &call->step);
    for (int i = 0; i < call->p && error == MPI_SUCCESS; i++) {
        int64_t count = rdl_length(call, 1, i), sent = args->in_place ? count : rdl_length(call, 0, i);
        if (count < 0 || sent < 0)
            error = MPI_ERR_COUNT;
        else if (args->in_place && i != call->rank) {
            call->aside[i] = rdl_reserve(call, RDL_HELD, count);
            error = rdl_copy(call, rdl_begins(call, 1, i), call->aside[i], count);
        } else if (!args->in_place && i == call->rank)
            error = rdl_convert(call, rdl_begins(call, 0, i), sent, args->types[0], rdl_begins(call, 1, i), count,
                call->type);
    }
    return error;
}

