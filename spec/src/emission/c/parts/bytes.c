/* How many bytes so many elements take. */
static size_t rdl_bytes(const rdl_world *w, int64_t elements)
{
    return elements > 0 ? (size_t)(elements - 1) * (size_t)w->extent + (size_t)w->true_extent : 1;
}

