/* Blocks of different lengths go straight from where they are to where they belong; a message is one of them. */
static int rdl_aside(rdl_run *run, size_t i, void **start, int *count, MPI_Datatype *type)
{
    const rdl_message *m = &run->messages[i];
    const rdl_side *side = m->sends ? run->world->memory.from : run->world->memory.to;
    if (side == NULL)
        return 0;
    *type = side->type;
    *count = side->counts[m->peer];
    *start = side->buffer + side->displs[m->peer] * side->extent;
    return 1;
}
