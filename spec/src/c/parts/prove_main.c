int main(void)
{
    for (int rank = 0; rank < RDL_RANKS; rank++) {
        rdl_rank *me = rdl_ranks[rank] = calloc(1, sizeof *me);
        if (me == NULL)
            return 1;
        me->messages = calloc(RDL_ROOM, sizeof *me->messages);
        me->blocks = calloc(RDL_ROOM, sizeof *me->blocks);
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
