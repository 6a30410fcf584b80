/* One call, on all ranks. */
static void rdl_try(int64_t p@DECLARATIONS@)
{
    rdl_run run;
    if (!@NAME@_admits(@ADMITS@))
        return;
    rdl_p = p;
    rdl_blocks = @BLOCKS@;
    assert(rdl_blocks <= @MOST_BLOCKS@);
    for (int64_t rank = 0; rank < p; rank++) {
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

