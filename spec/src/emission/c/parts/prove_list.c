/* A list that is long enough for p ranks, of one number or of two alternating ones. */
static rdl_list rdl_listed(int *items, int64_t p, int lo, int shape)
{
    rdl_list list = {items, 0};
    for (int64_t reach = 1; reach < p && list.len < 8; reach *= items[list.len++] + 1)
        items[list.len] = lo + (shape + (shape == 2 ? (int)list.len : 0)) % 2;
    return list;
}

