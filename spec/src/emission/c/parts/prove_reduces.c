/* Contributions, a bit each, and whether they are out of rank order. */
enum { RDL_OTHER_ORDER = 1 << RDL_RANKS };

/* Asserts that the data of a message exists. */
static void rdl_carry(rdl_rank *from, uint64_t sent, rdl_rank *to, size_t i)
{
    int line = rdl_part(sent, RDL_AT, 4);
    size_t spot = (i - to->begin) * RDL_RANKS;
    assert(spot + RDL_RANKS <= RDL_ARRIVED);
    for (int k = 0, count = rdl_part(sent, RDL_COUNT, 10); k < count; k++) {
        uint32_t value = from->slots[line * RDL_RANKS + rdl_nth(from, sent, k)];
        assert(value != 0);
        to->arrived[spot + (size_t)k] = value;
    }
}

/* Asserts that no rank contributes twice. */
static uint32_t rdl_join(uint32_t left, uint32_t right)
{
    uint32_t a = left & ~(uint32_t)RDL_OTHER_ORDER, b = right & ~(uint32_t)RDL_OTHER_ORDER;
    assert(a != 0 && b != 0 && (a & b) == 0);
    return left | right | (a < (b & (~b + 1)) ? 0 : RDL_OTHER_ORDER);
}

/* Applies an arrived message to its line, block by block. */
static void rdl_apply(rdl_rank *me, size_t i)
{
    uint64_t m = me->messages[i];
    int line = rdl_part(m, RDL_AT, 4), with = rdl_part(m, RDL_WITH, 4), action = rdl_part(m, RDL_DOES, 3);
    for (int k = 0, count = rdl_part(m, RDL_COUNT, 10); k < count; k++) {
        int64_t block = rdl_nth(me, m, k);
        uint32_t *slot = &me->slots[line * RDL_RANKS + block], other = me->slots[with * RDL_RANKS + block];
        uint32_t value = me->arrived[(i - me->begin) * RDL_RANKS + (size_t)k];
        assert(action != RDL_COPY || *slot == 0);
        assert(action != RDL_REPLACE || (*slot & ~value & ~(uint32_t)RDL_OTHER_ORDER) == 0);
        value = action == RDL_LEFT ? rdl_join(value, other) : action == RDL_RIGHT ? rdl_join(other, value) : value;
        assert(action < RDL_LEFT || (*slot & ~value & ~(uint32_t)RDL_OTHER_ORDER) == 0);
        *slot = value;
    }
}

static uint32_t rdl_mask(const rdl_rank *me, uint64_t m)
{
    uint32_t mask = 0;
    for (int k = 0, count = rdl_part(m, RDL_COUNT, 10); k < count; k++)
        mask |= UINT32_C(1) << rdl_nth(me, m, k);
    return mask;
}

/* Asserts that no other message touches what a message replaces; overwritten data may be sent first. */
static void rdl_alone(const rdl_rank *me, size_t i)
{
    uint64_t m = me->messages[i];
    int line = rdl_part(m, RDL_AT, 4), action = rdl_part(m, RDL_DOES, 3);
    if (action != RDL_REPLACE && action != RDL_OVERWRITE)
        return;
    for (size_t j = me->begin; j < me->end; j++) {
        uint64_t o = me->messages[j];
        int same = rdl_part(o, RDL_AT, 4) == line && !(action == RDL_OVERWRITE && o & 1);
        int operand = !(o & 1) && rdl_part(o, RDL_DOES, 3) >= RDL_LEFT && rdl_part(o, RDL_WITH, 4) == line;
        assert(j == i || !(same || operand) || (rdl_mask(me, m) & rdl_mask(me, o)) == 0);
    }
}

/* The end of a round: data that arrives at its position, data that overwrites, then reductions in clause order. */
static void rdl_settle(rdl_rank *me)
{
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = me->begin; i < me->end; i++) {
            int action = rdl_part(me->messages[i], RDL_DOES, 3);
            if (me->messages[i] & 1 || (action < RDL_OVERWRITE ? 0 : action == RDL_OVERWRITE ? 1 : 2) != turn)
                continue;
            rdl_alone(me, i);
            rdl_apply(me, i);
        }
}

static void rdl_holds(int64_t rank, int64_t p@DECLARATIONS@)
{
    rdl_rank *me = rdl_ranks[rank];
@UNUSED@
    for (int64_t i = 0; i < RDL_LINES * RDL_RANKS; i++)
        me->slots[i] = i < rdl_blocks ? UINT32_C(1) << rank : 0;
}

static void rdl_ends(int64_t rank, int64_t p@DECLARATIONS@)
{
    const rdl_rank *me = rdl_ranks[rank];
@UNUSED@
    for (int64_t block = 0; block < rdl_blocks; block++) {
        uint32_t value = me->slots[block]@ANY_ORDER@;
        assert(!(@FINAL@) || value == (UINT32_C(1) << p) - 1);
    }
}

