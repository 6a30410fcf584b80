/* Asserts that the sender of a block holds it, the receiver does not, and no other message brings it there. */
static void rdl_carry(rdl_rank *from, uint64_t sent, rdl_rank *to, size_t i)
{
    (void)i;
    for (int k = 0, count = rdl_part(sent, RDL_COUNT, 10); k < count; k++) {
        int64_t block = rdl_nth(from, sent, k);
        uint64_t bit = UINT64_C(1) << block % 64;
        assert(from->held[block / 64] & bit);
@ARRIVES@
        to->coming[block / 64] |= bit;
@LEAVES@
    }
}

/* The end of a round. */
static void rdl_settle(rdl_rank *me)
{
    for (int word = 0; word < RDL_WORDS; word++) {
        me->held[word] |= me->coming[word];
        me->coming[word] = 0;
    }
}

static void rdl_holds(int64_t rank, int64_t p@DECLARATIONS@)
{
    rdl_rank *me = rdl_ranks[rank];
@UNUSED@
    for (int word = 0; word < RDL_WORDS; word++)
        me->held[word] = me->coming[word] = 0;
    for (int64_t block = 0; block < rdl_blocks; block++)
        if (@INITIAL@)
            me->held[block / 64] |= UINT64_C(1) << block % 64;
}

static void rdl_ends(int64_t rank, int64_t p@DECLARATIONS@)
{
    rdl_rank *me = rdl_ranks[rank];
@UNUSED@
    for (int64_t block = 0; block < rdl_blocks; block++) {
        int held = (int)(me->held[block / 64] >> block % 64 & 1);
        assert(@FINAL@);
    }
}

