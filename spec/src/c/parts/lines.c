static int rdl_length(const rdl_world *w, int64_t block)
{
    return w->memory.counts[block];
}

static char *rdl_spot(rdl_world *w, const rdl_message *m, int64_t block)
{
    return w->memory.lines[m->line] + w->memory.offsets[block] * w->extent;
}

/* A line in memory of its own. */
static char *rdl_line(rdl_world *w, int64_t elements)
{
    char *memory = rdl_alloc(w, rdl_bytes(w, elements), 1);
    return memory != NULL ? memory - w->true_lb : NULL;
}

