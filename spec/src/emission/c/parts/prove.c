/*
 * CBMC proves the assertions and, for the included file, that nothing overflows and no access is out of bounds: for all
 * p from ROUNDEL_FIRST to ROUNDEL_LAST, with all ranks. The rounds of every rank are recorded; then all ranks execute
 * them together, and a round ends when all of its messages have met their counterparts, as with MPI. The program
 * asserts that peers and blocks are in range, that every send meets a receive with the same blocks in the same order,
 * that no rank waits forever, @CLAIM@.
 */
#ifndef ROUNDEL_FIRST
#define ROUNDEL_FIRST 1
#endif
#ifndef ROUNDEL_LAST
#define ROUNDEL_LAST 16
#endif
#if ROUNDEL_LAST > 16
#error "ROUNDEL_LAST is at most 16"
#endif

/* The code below is not part of the collective, and CBMC would check ten times as many properties in it. */
#ifdef __CPROVER__
#pragma CPROVER check push
#pragma CPROVER check disable "bounds"
#pragma CPROVER check disable "pointer"
#pragma CPROVER check disable "pointer-primitive"
#pragma CPROVER check disable "conversion"
#pragma CPROVER check disable "signed-overflow"
#pragma CPROVER check disable "undefined-shift"
#pragma CPROVER check disable "div-by-zero"
#endif

/* Large arrays are slow in CBMC, so a message is one word, and its blocks are digits, several to a word. */
enum { RDL_RANKS = ROUNDEL_LAST, RDL_LINES = @LINES@, RDL_DIGIT = @DIGIT@, RDL_DIGITS = 64 / RDL_DIGIT };

/* Room for all messages of a rank, for words of blocks, and for the messages and blocks of a round. */
enum { RDL_ROOM = 4 * RDL_RANKS + 8, RDL_WORDS_ROOM = @ROOM@, RDL_ROUND_ROOM = 2 * RDL_RANKS + 4, RDL_BLOCKS_ROOM = @ROUND@ };

/* The parts of a word; a message is recognised by the first three. */
enum { RDL_SENDS = 0, RDL_PEER = 1, RDL_NUMBER = 6, RDL_AT = 14, RDL_DOES = 18, RDL_WITH = 21, RDL_COUNT = 25, RDL_FIRST = 35, RDL_ROUND = 51 };

@SIZES@/* A rank: its messages, and its progress. */
typedef struct {
    uint64_t *messages, *blocks; /* recorded */
    size_t messages_len, blocks_len;
    uint64_t rounds;
    uint64_t numbers[4];       /* the number of messages to and from every other rank, a byte each */
    size_t begin, end, search; /* the messages of the current round, and where a search among them begins */
    uint64_t met;              /* those that have met their counterparts */
@STATE@
} rdl_rank;

static rdl_rank *rdl_ranks[RDL_RANKS];
static int64_t rdl_self, rdl_p, rdl_blocks;

static int rdl_part(uint64_t word, int at, int bits)
{
    return (int)(word >> at & ((UINT64_C(1) << bits) - 1));
}

/* Block number k of a message. */
static int64_t rdl_nth(const rdl_rank *rank, uint64_t message, int k)
{
    return rdl_part(rank->blocks[rdl_part(message, RDL_FIRST, 16) + k / RDL_DIGITS], k % RDL_DIGITS * RDL_DIGIT, RDL_DIGIT);
}

/* Counts the messages of a pair of ranks. */
static uint64_t rdl_count(rdl_rank *me, int sends, int64_t peer)
{
    uint64_t *word = &me->numbers[2 * sends + peer / 8];
    uint64_t number = *word >> peer % 8 * 8 & 255;
    assert(number < 255);
    *word += UINT64_C(1) << peer % 8 * 8;
    return number;
}

static void rdl_write(rdl_rank *me, const rdl_run *run, const rdl_message *m)
{
    uint64_t digits = 0, first = me->blocks_len;
    assert(m->peer >= 0 && m->peer < rdl_p && m->peer != rdl_self);
    assert(m->count < 1024 && first + m->count / RDL_DIGITS < RDL_WORDS_ROOM && me->messages_len < RDL_ROOM);
    for (size_t k = 0; k < m->count; k++) {
        int64_t block = run->blocks[m->first + k];
        assert(block >= 0 && block < rdl_blocks);
        digits |= (uint64_t)block << k % RDL_DIGITS * RDL_DIGIT;
        if (k % RDL_DIGITS == RDL_DIGITS - 1 || k + 1 == m->count) {
            me->blocks[me->blocks_len++] = digits;
            digits = 0;
        }
    }
    uint64_t key = (uint64_t)m->sends | (uint64_t)m->peer << RDL_PEER | rdl_count(me, m->sends, m->peer) << RDL_NUMBER;
    uint64_t does = (uint64_t)m->line << RDL_AT | (uint64_t)m->action << RDL_DOES | (uint64_t)m->with << RDL_WITH;
    me->messages[me->messages_len++] = key | does | (uint64_t)m->count << RDL_COUNT | first << RDL_FIRST | me->rounds << RDL_ROUND;
}

/* Records a round. */
static void @END@(rdl_run *run)
{
    rdl_rank *me = rdl_ranks[rdl_self];
    for (size_t i = 0; i < run->messages_len; i++)
        rdl_write(me, run, &run->messages[i]);
    me->rounds++;
    assert(me->rounds < 4096);
    rdl_forget(run);
}

@EFFECTS@
/* Advances to the next round that has messages. */
static void rdl_next(rdl_rank *me)
{
    me->begin = me->end;
    me->met = me->search = 0;
    while (me->end < me->messages_len && me->messages[me->end] >> RDL_ROUND == me->messages[me->begin] >> RDL_ROUND)
        me->end++;
    assert(me->end - me->begin <= 64);
}

/* A send has met a receive. */
static void rdl_meet(rdl_rank *from, size_t j, rdl_rank *to, size_t i)
{
    uint64_t sent = from->messages[j], received = to->messages[i];
    int count = rdl_part(sent, RDL_COUNT, 10);
    assert(count == rdl_part(received, RDL_COUNT, 10));
    for (int k = 0; k < count; k += RDL_DIGITS)
        assert(from->blocks[rdl_part(sent, RDL_FIRST, 16) + k / RDL_DIGITS] == to->blocks[rdl_part(received, RDL_FIRST, 16) + k / RDL_DIGITS]);
    rdl_carry(from, sent, to, i);
    from->met |= UINT64_C(1) << (j - from->begin);
    to->met |= UINT64_C(1) << (i - to->begin);
}

/* Finds the counterparts of this rank's receives in its round. */
static int rdl_look(int64_t rank)
{
    rdl_rank *to = rdl_ranks[rank];
    int found = 0;
    for (size_t i = to->begin; i < to->end; i++) {
        uint64_t message = to->messages[i];
        if (message & 1 || to->met >> (i - to->begin) & 1)
            continue;
        rdl_rank *from = rdl_ranks[rdl_part(message, RDL_PEER, 5)];
        int wanted = 1 | (int)rank << RDL_PEER | rdl_part(message, RDL_NUMBER, 8) << RDL_NUMBER;
        for (size_t k = 0, n = from->end - from->begin; k < n; k++) {
            size_t j = from->begin + (from->search + k) % n;
            if (rdl_part(from->messages[j], 0, RDL_AT) == wanted) {
                rdl_meet(from, j, to, i);
                from->search = j + 1 - from->begin;
                found = 1;
                break;
            }
        }
    }
    return found;
}

static int rdl_advance(rdl_rank *me)
{
    size_t n = me->end - me->begin;
    if (n == 0 || me->met != UINT64_MAX >> (64 - n))
        return 0;
    rdl_settle(me);
    rdl_next(me);
    return 1;
}

/* All ranks execute their rounds. */
static void rdl_together(void)
{
    for (int moved = 1; moved;) {
        moved = 0;
        for (int64_t rank = 0; rank < rdl_p; rank++)
            moved |= rdl_look(rank);
        for (int64_t rank = 0; rank < rdl_p; rank++)
            moved |= rdl_advance(rdl_ranks[rank]);
    }
    for (int64_t rank = 0; rank < rdl_p; rank++)
        assert(rdl_ranks[rank]->begin == rdl_ranks[rank]->messages_len);
}

/* A rank before its first round, and memory for the messages of a round. */
static void rdl_ready(rdl_run *run, int64_t rank)
{
    static int64_t blocks[RDL_BLOCKS_ROOM];
    static rdl_message messages[RDL_ROUND_ROOM];
    rdl_run none = {0};
    *run = none;
    run->blocks = blocks;
    run->blocks_room = sizeof blocks / sizeof *blocks;
    run->messages = messages;
    run->messages_room = sizeof messages / sizeof *messages;
    rdl_rank *me = rdl_ranks[rank];
    me->messages_len = me->blocks_len = me->end = 0;
    me->rounds = 0;
    for (int i = 0; i < 4; i++)
        me->numbers[i] = 0;
    rdl_self = rank;
}

/* The memory of a round does not belong to the run. */
static void rdl_done(rdl_run *run)
{
    run->blocks = NULL;
    run->messages = NULL;
    assert(rdl_finish(run) == 0);
}

