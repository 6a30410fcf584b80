int main(void)
{
    for (int rank = 0; rank < RDL_RANKS; rank++) {
        rdl_rank *me = rdl_ranks[rank] = malloc(sizeof *me);
        if (me == NULL)
            return 1;
        me->messages = malloc(RDL_ROOM * sizeof *me->messages);
        me->blocks = malloc(RDL_WORDS_ROOM * sizeof *me->blocks);
        if (me->messages == NULL || me->blocks == NULL)
            return 1;
@MEMORY@
    }
    for (int64_t p = ROUNDEL_FIRST; p <= ROUNDEL_LAST; p++)
@TRIED@
            rdl_try(p@CASE@@ARGUMENTS@);
@CLOSE@
    return 0;
}
