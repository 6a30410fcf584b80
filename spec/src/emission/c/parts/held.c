static int rdl_length(const rdl_world *w, int64_t block)
{
    (void)block;
    return w->memory.count;
}

/* The entry of a block, or the free one where it would be. */
static rdl_held *rdl_find(rdl_held *held, size_t room, int64_t block)
{
    size_t i = (size_t)block * 2654435761u % room;
    while (held[i].block >= 0 && held[i].block != block)
        i = i + 1 < room ? i + 1 : 0;
    return &held[i];
}

/* At least half of the entries stay free, so that searches are short. */
static int rdl_rehash(rdl_memory *memory)
{
    size_t room = memory->held_room < 16 ? 64 : 2 * memory->held_room;
    rdl_held *held = room > SIZE_MAX / sizeof *held ? NULL : malloc(room * sizeof *held);
    if (held == NULL)
        return 0;
    for (size_t i = 0; i < room; i++)
        held[i].block = -1;
    for (size_t i = 0; i < memory->held_room; i++)
        if (memory->held[i].block >= 0)
            *rdl_find(held, room, memory->held[i].block) = memory->held[i];
    free(memory->held);
    memory->held = held;
    memory->held_room = room;
    return 1;
}

/* Notes where a block lies from now on. */
static char *rdl_hold(rdl_memory *memory, int64_t block, char *spot)
{
    if (2 * memory->held_len >= memory->held_room && !rdl_rehash(memory))
        return NULL;
    rdl_held *entry = rdl_find(memory->held, memory->held_room, block);
    memory->held_len += entry->block < 0;
    entry->block = block;
    entry->spot = spot;
    return spot;
}

/* Memory for one block. */
static char *rdl_room(rdl_world *w)
{
    rdl_memory *memory = &w->memory;
    void *made = memory->made;
    if (memory->spare_len > 0)
        return memory->spare[--memory->spare_len];
    if (!rdl_grow(&made, &memory->made_room, memory->made_len, sizeof *memory->made))
        return NULL;
    memory->made = made;
    char *spot = malloc(rdl_bytes(w, memory->count));
    if (spot == NULL)
        return NULL;
    memory->made[memory->made_len++] = spot;
    return spot - w->true_lb;
}

/* A block leaves from where it is, and arrives where it belongs or in memory for blocks on their way. */
static char *rdl_spot(rdl_world *w, const rdl_message *m, int64_t block)
{
    rdl_memory *memory = &w->memory;
    if (m->sends) {
        rdl_held *entry = rdl_find(memory->held, memory->held_room, block);
        return entry->block < 0 ? NULL : entry->spot;
    }
    int64_t source = block / w->p, destination = block % w->p;
    char *spot = destination == w->rank ? memory->out + source * memory->count * w->extent : rdl_room(w);
    return spot != NULL ? rdl_hold(memory, block, spot) : NULL;
}

@ASIDE@

/* When a round is over, the memory of blocks that left is free. */
static void rdl_settle(rdl_run *run)
{
    rdl_memory *memory = &run->world->memory;
@SETTLED@
    for (size_t i = 0; i < run->messages_len; i++) {
        const rdl_message *m = &run->messages[i];
        for (size_t k = 0; m->sends && k < m->count; k++) {
            int64_t block = run->blocks[m->first + k];
            rdl_held *entry = rdl_find(memory->held, memory->held_room, block);
            void *spare = memory->spare;
            int mine = block % run->world->p == run->world->rank;
            if (entry->spot != NULL && !mine && rdl_grow(&spare, &memory->spare_room, memory->spare_len, sizeof(char *))) {
                memory->spare = spare;
                memory->spare[memory->spare_len++] = entry->spot;
            }
            entry->spot = NULL;
        }
    }
}

