/* Arriving data fills an empty line, replaces its contents, or is an operand of a reduction. */
enum { RDL_COPY, RDL_REPLACE, RDL_OVERWRITE, RDL_LEFT, RDL_RIGHT };

/* A message of a round, as one of its two ranks sees it. */
typedef struct {
    int sends;           /* whether it is sent */
    int64_t peer;        /* the other rank */
    int line;            /* the line it reads or writes */
    int action, with;    /* what it does there, and the line of the other operand */
    size_t first, count; /* its blocks, in the list of the round */
@if reduces@
    int64_t aside;       /* where it arrives, if not at its position */
@end@
} rdl_message;

/* The messages of the current round. */
typedef struct {
    int64_t *blocks;
    size_t blocks_len, blocks_room;
    size_t open; /* where the blocks of the next message begin */
    rdl_message *messages;
    size_t messages_len, messages_room;
    int error; /* the first one */
@if groups@
    int logs; /* whether rounds are only recorded, and where each ends */
    size_t *ends;
    size_t ends_len, ends_room;
@end@
    struct rdl_call *call; /* the plan that the rounds are for */
} rdl_run;

static void rdl_note(rdl_run *run, int error)
{
    if (run->error == 0)
        run->error = error;
}

/* Makes room for one more item. */
static int rdl_grow(void **items, size_t *room, size_t len, size_t size)
{
    if (len < *room)
        return 1;
    size_t more = *room < 16 ? 16 : 2 * *room;
    void *grown = more > SIZE_MAX / size ? NULL : realloc(*items, more * size);
    if (grown == NULL)
        return 0;
    *items = grown;
    *room = more;
    return 1;
}

/* Appends a block, wrapped around the number of blocks, to the next message. */
static void rdl_block(rdl_run *run, int64_t block, int64_t around)
{
    if (run->blocks_len == run->blocks_room) {
        void *items = run->blocks;
        if (!rdl_grow(&items, &run->blocks_room, run->blocks_len, sizeof *run->blocks)) {
            rdl_note(run, RDL_NO_MEMORY);
            return;
        }
        run->blocks = items;
    }
    run->blocks[run->blocks_len++] = rdl_wrap(block, around);
}

/* Whether the next message has a block: a message without blocks does not exist. */
static int rdl_any(const rdl_run *run)
{
    return run->blocks_len > run->open;
}

static void rdl_message_of(rdl_run *run, rdl_message message)
{
    message.first = run->open;
    message.count = run->blocks_len - run->open;
    run->open = run->blocks_len;
    if (run->messages_len == run->messages_room) {
        void *items = run->messages;
        if (!rdl_grow(&items, &run->messages_room, run->messages_len, sizeof *run->messages)) {
            rdl_note(run, RDL_NO_MEMORY);
            return;
        }
        run->messages = items;
    }
    run->messages[run->messages_len++] = message;
}

/* Sends the blocks that were appended. */
static void rdl_send(rdl_run *run, int64_t to, int line)
{
    rdl_message message = {.sends = 1, .peer = to, .line = line, .action = RDL_COPY};
    rdl_message_of(run, message);
}

/* Receives the blocks that were appended. */
static void rdl_recv(rdl_run *run, int64_t from, int line, int action, int with)
{
    rdl_message message = {.peer = from, .line = line, .action = action, .with = with};
    rdl_message_of(run, message);
}

static void rdl_forget(rdl_run *run)
{
    run->messages_len = run->blocks_len = run->open = 0;
}

static int rdl_finish(rdl_run *run)
{
    free(run->blocks);
    free(run->messages);
@if groups@
    free(run->ends);
@end@
    return run->error;
}

