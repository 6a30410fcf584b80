/* All sizes of nodes are tried, or one at a time, each with the next larger one. */
#ifdef ROUNDEL_NODE
#if ROUNDEL_NODE < 1 || ROUNDEL_NODE > ROUNDEL_FIRST
#error "ROUNDEL_NODE is at least 1 and at most ROUNDEL_FIRST: with larger nodes nothing is tried"
#endif
enum { RDL_NODE_FIRST = ROUNDEL_NODE, RDL_NODE_LAST = ROUNDEL_NODE };
#else
enum { RDL_NODE_FIRST = 1, RDL_NODE_LAST = RDL_RANKS };
#endif

/* One call, on all ranks. Node sizes alternate between these two; the last node has the remaining ranks. */
static void rdl_try(int64_t p, int64_t even, int64_t odd@DECLARATIONS@)
{
    rdl_run run;
    int64_t first[RDL_RANKS + 1] = {0};
    rdl_nodes all = {0, p, first};
    for (int64_t next = 0; next < p; all.count++) {
        int64_t size = all.count % 2 == 0 ? even : odd;
        size = size < p - next ? size : p - next;
        first[all.count + 1] = next += size;
        all.lanes = size < all.lanes ? size : all.lanes;
    }
    const rdl_nodes *at = &all;
    const int64_t nodes = at->count, lanes = at->lanes;
    (void)nodes;
    (void)lanes;
    rdl_p = p;
    rdl_blocks = @BLOCKS@;
    assert(rdl_blocks <= @MOST_BLOCKS@);
    for (int64_t rank = 0; rank < p; rank++) {
        rdl_place place = rdl_of(at, rank);
        (void)place;
        if (!@NAME@_admits(@ADMITS@))
            return;
        rdl_ready(&run, rank);
        @NAME@_rounds(@ROUNDS@);
        rdl_done(&run);
        rdl_next(rdl_ranks[rank]);
        rdl_holds(rank, p@ARGUMENTS@);
    }
    rdl_together();
    for (int64_t rank = 0; rank < p; rank++)
        rdl_ends(rank, p@ARGUMENTS@);
}

