/* Whether a message replaces a block by itself, and no other message of the round has it. */
static int rdl_replaces(const rdl_rank *me, size_t i, int64_t block)
{
    int alone = 1;
    for (size_t j = me->begin; j < me->end; j++)
        for (int k = 0, count = rdl_part(me->messages[j], RDL_COUNT, 10); k < count; k++)
            alone &= j == i || rdl_nth(me, me->messages[j], k) != block;
    return alone && rdl_part(me->messages[i], RDL_DOES, 3) == RDL_REPLACE;
}

