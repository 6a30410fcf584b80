static int rdl_length(const rdl_world *w, int64_t block)
{
    return w->memory.counts[block];
}

static char *rdl_spot(rdl_world *w, const rdl_message *m, int64_t block)
{
    return w->memory.lines[m->line] + w->memory.offsets[block] * w->extent;
}

