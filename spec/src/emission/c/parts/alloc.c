/* Memory until the end of the call. */
static void *rdl_alloc(rdl_world *w, size_t items, size_t size)
{
    void *memory = w->owned_len < RDL_OWNED ? calloc(items > 0 ? items : 1, size) : NULL;
    if (memory != NULL)
        w->owned[w->owned_len++] = memory;
    return memory;
}

