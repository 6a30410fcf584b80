/*
 * With -DROUNDEL_CBMC the file is a program for CBMC, which tries every p up to RDL_MOST and every rank at once; compiled with
 * another compiler it tries them one after the other. Claimed is, of one rank alone, that peers and blocks are in their
 * ranges@CLAIM@.
 */
enum { RDL_MOST = 16 };

static int64_t rdl_rank, rdl_p, rdl_blocks;
@HELD@
static void rdl_end(rdl_run *run)
{
    for (size_t i = 0; i < run->messages_len; i++) {
        const rdl_message *m = &run->messages[i];
        assert(m->peer >= 0 && m->peer < rdl_p && m->peer != rdl_rank);
        for (size_t k = 0; k < m->count; k++) {
            int64_t block = run->blocks[m->first + k];
            assert(block >= 0 && block < rdl_blocks);
@SENDS@
        }
    }
@ARRIVES@
    rdl_forget(run);
}

static void rdl_try(int64_t rank, int64_t p@DECLARATIONS@)
{
    rdl_run run = {0};
    if (!@NAME@_admits(@ADMITS@))
        return;
    rdl_rank = rank;
    rdl_p = p;
    rdl_blocks = @BLOCKS@;
@INITIAL@
    @NAME@_rounds(@ROUNDS@);
@FINAL@
    assert(rdl_finish(&run) == 0);
}

#ifdef __CPROVER__
int64_t rdl_any_number(void);
#endif

int main(void)
{
@LISTS@
#ifdef __CPROVER__
    int64_t p = rdl_any_number(), rank = rdl_any_number();
    __CPROVER_assume(p >= 1 && p <= RDL_MOST && rank >= 0 && rank < p);
@ASSUMED@
    rdl_try(rank, p@ARGUMENTS@);
#else
    for (int64_t p = 1; p <= RDL_MOST; p++)
        for (int64_t rank = 0; rank < p; rank++)
@TRIED@
                rdl_try(rank, p@ARGUMENTS@);
#endif
    return 0;
}
