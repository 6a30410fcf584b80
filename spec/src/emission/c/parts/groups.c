/* The place of a rank in a group. */
typedef struct {
    int64_t rank, p;
} rdl_group;

/* The group of the first members of these ranks, if the rank with this index is one of them. */
static int rdl_among(rdl_group *group, int64_t index, int64_t size, int64_t members)
{
    group->rank = index;
    group->p = members < size ? members : size;
    return index >= 0 && index < group->p;
}

/* A message of an inner collective between members: its first line is the one it runs on, its others follow ours. What
   it copies there may replace something. */
static void rdl_relay(rdl_run *run, const rdl_message *m, int64_t peer, int line, int lines, int copies)
{
    int own = m->line == 0 ? line : lines + m->line - 1, with = m->with == 0 ? line : lines + m->with - 1;
    int action = m->line == 0 && m->action == RDL_COPY ? copies : (int)m->action;
    if (m->sends)
        rdl_send(run, peer, own);
    else
        rdl_recv(run, peer, own, action, action >= RDL_LEFT ? with : 0);
}

/* Ends a round, or records its end. */
static void rdl_end(rdl_run *run)
{
    void *ends = run->ends;
    if (!run->logs) {
        rdl_exchange(run);
        return;
    }
    if (!rdl_grow(&ends, &run->ends_room, run->ends_len, sizeof *run->ends)) {
        rdl_note(run, RDL_NO_MEMORY);
        return;
    }
    run->ends = ends;
    run->ends[run->ends_len++] = run->messages_len;
}

