/* A line in memory of its own. */
static char *rdl_line(rdl_world *w, int64_t elements)
{
    char *memory = rdl_alloc(w, rdl_bytes(w, elements), 1);
    return memory != NULL ? memory - w->true_lb : NULL;
}

