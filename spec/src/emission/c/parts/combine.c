/* What is combined, or overwrites what may still be on its way, arrives aside. */
static int rdl_aside(rdl_run *run, size_t i, void **start, int *count, MPI_Datatype *type)
{
    rdl_world *w = run->world;
    const rdl_message *m = &run->messages[i];
    (void)type;
    if (m->sends || m->action < RDL_OVERWRITE)
        return 0;
    int64_t elements = 0;
    for (size_t k = 0; k < m->count; k++)
        elements += rdl_length(w, run->blocks[m->first + k]);
    void *asides = w->memory.asides;
    while (w->memory.asides_room <= i && rdl_grow(&asides, &w->memory.asides_room, w->memory.asides_room, sizeof(char *)))
        w->memory.asides = asides;
    if (w->memory.asides_room <= i)
        return 1;
    w->memory.asides[i] = NULL;
    if (elements > INT_MAX)
        return 1;
    char *memory = malloc(rdl_bytes(w, elements));
    w->memory.asides[i] = memory;
    *start = memory != NULL ? memory - w->true_lb : NULL;
    *count = (int)elements;
    return 1;
}

/* One block that has arrived, and its line. */
static int rdl_combine(rdl_world *w, MPI_Op op, const rdl_message *m, char *arrived, int64_t block)
{
    int length = rdl_length(w, block), error = MPI_SUCCESS;
    MPI_Aint offset = w->memory.offsets[block] * w->extent;
    char *into = w->memory.lines[m->line] + offset, *other = w->memory.lines[m->with] + offset;
    if (length == 0)
        return MPI_SUCCESS;
    switch (m->action) {
    case RDL_LEFT:
        if (other != into)
            error = rdl_copy(w, other, length, w->type, into, length, w->type);
        return error == MPI_SUCCESS ? MPI_Reduce_local(arrived, into, length, w->type, op) : error;
    case RDL_RIGHT:
        error = MPI_Reduce_local(other, arrived, length, w->type, op);
        break;
    default:
        break;
    }
    return error == MPI_SUCCESS ? rdl_copy(w, arrived, length, w->type, into, length, w->type) : error;
}

static void rdl_settle_message(rdl_run *run, size_t i)
{
    rdl_world *w = run->world;
    const rdl_message *m = &run->messages[i];
    MPI_Aint offset = 0;
    for (size_t k = 0; k < m->count && run->error == MPI_SUCCESS; k++) {
        int64_t block = run->blocks[m->first + k];
        rdl_note(run, rdl_combine(w, w->memory.op, m, w->memory.asides[i] - w->true_lb + offset, block));
        offset += rdl_length(w, block) * w->extent;
    }
    free(w->memory.asides[i]);
}

/* When all messages have arrived: what overwrites first, then reductions in the order of their clauses. */
static void rdl_settle(rdl_run *run)
{
    for (int reduces = 0; reduces < 2; reduces++)
        for (size_t i = 0; i < run->messages_len; i++) {
            const rdl_message *m = &run->messages[i];
            int aside = !m->sends && m->action >= RDL_OVERWRITE && i < run->world->memory.asides_room;
            if (aside && (m->action > RDL_OVERWRITE) == reduces)
                rdl_settle_message(run, i);
        }
}

