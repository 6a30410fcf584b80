static int64_t rdl_length(const rdl_call *call, int64_t block)
{
    (void)block;
    return call->args->recvcount;
}

/* The entry of a block, or the free entry for it. */
static rdl_held *rdl_entry(rdl_held *held, size_t room, int64_t block)
{
    size_t i = (size_t)block * 2654435761u % room;
    while (held[i].block >= 0 && held[i].block != block)
        i = i + 1 < room ? i + 1 : 0;
    return &held[i];
}

/* At least half of the entries stay free, so that searches are short. */
static int rdl_rehash(rdl_array *all)
{
    const rdl_held *old = all->items;
    size_t room = all->room < 16 ? 64 : 2 * all->room;
    rdl_held *held = room > SIZE_MAX / sizeof *held ? NULL : malloc(room * sizeof *held);
    if (held == NULL)
        return 0;
    for (size_t i = 0; i < room; i++)
        held[i].block = -1;
    for (size_t i = 0; i < all->room; i++)
        if (old[i].block >= 0)
            *rdl_entry(held, room, old[i].block) = old[i];
    free(all->items);
    all->items = held;
    all->room = room;
    return 1;
}

/* Records the new position of a block. */
static int rdl_hold(rdl_call *call, int64_t block, rdl_spot spot)
{
    rdl_array *all = &call->held;
    if (2 * all->len >= all->room && !rdl_rehash(all))
        return MPI_ERR_NO_MEM;
    rdl_held *entry = rdl_entry(all->items, all->room, block);
    all->len += entry->block < 0;
    entry->block = block;
    entry->spot = spot;
    return MPI_SUCCESS;
}

/* Memory for one block in transit. */
static rdl_spot rdl_slot(rdl_call *call)
{
    const int64_t *spare = call->spare.items, count = call->args->recvcount;
    int64_t slot = call->spare.len > 0 ? spare[--call->spare.len] : call->slots++;
    rdl_spot spot = {RDL_HELD, (MPI_Aint)(slot * count) * call->extent - call->true_lb};
    call->rooms[RDL_HELD] = rdl_bytes(call, call->slots * count);
    return spot;
}

/* A block leaves from its current position, and arrives at its final position or in memory for blocks in transit. */
static rdl_spot rdl_spot_of(rdl_run *run, const rdl_message *m, int64_t block)
{
    rdl_call *call = run->call;
    if (m->sends)
        return rdl_entry(call->held.items, call->held.room, block)->spot;
    int64_t source = block / call->p, destination = block % call->p;
    rdl_spot spot = {RDL_INTO, (MPI_Aint)(source * call->args->recvcount) * call->extent};
    if (destination != call->rank)
        spot = rdl_slot(call);
    rdl_note(run, rdl_hold(call, block, spot));
    return spot;
}

/* After a round, the memory of blocks that were sent is free. */
static void rdl_leave(rdl_run *run)
{
    rdl_call *call = run->call;
    MPI_Aint bytes = (MPI_Aint)call->args->recvcount * call->extent;
    for (size_t i = 0; i < run->messages_len; i++) {
        const rdl_message *m = &run->messages[i];
        for (size_t k = 0; m->sends && k < m->count; k++) {
            rdl_held *entry = rdl_entry(call->held.items, call->held.room, run->blocks[m->first + k]);
            int64_t *spare = entry->spot.area == RDL_HELD && bytes > 0 ? rdl_push(&call->spare, sizeof *spare) : NULL;
            if (spare != NULL)
                *spare = (entry->spot.at + call->true_lb) / bytes;
        }
    }
}

/* The positions of this rank's blocks before the first round: memory that nothing arrives in. */
static int rdl_before(rdl_call *call)
{
    const rdl_args *args = call->args;
    MPI_Aint lb = 0, step = call->extent;
    int stays = !args->in_place && args->types[0] == call->type && args->sendcount == args->recvcount;
    int64_t count = args->in_place ? args->recvcount : args->sendcount;
    MPI_Datatype type = args->in_place ? call->type : args->types[0];
    int error = args->recvcount < 0 || count < 0 ? MPI_ERR_COUNT : MPI_Type_get_extent(type, &lb, &step);
    for (int to = 0; to < call->p && error == MPI_SUCCESS; to++) {
        rdl_spot from = {args->in_place ? RDL_INTO : RDL_FROM, (MPI_Aint)(to * count) * step};
        rdl_spot spot = {RDL_INTO, (MPI_Aint)(to * args->recvcount) * call->extent};
        if (to != call->rank)
            spot = stays ? from : rdl_slot(call);
        if (to == call->rank ? !args->in_place : !stays)
            error = rdl_convert(call, from, count, type, spot, args->recvcount, call->type);
        if (error == MPI_SUCCESS)
            error = rdl_hold(call, (int64_t)call->rank * call->p + to, spot);
    }
    return error;
}

