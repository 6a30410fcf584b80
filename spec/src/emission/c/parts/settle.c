/* Reduces or stores data that arrived in a separate buffer, piece by piece. */
static void rdl_combine(rdl_run *run, const rdl_message *m)
{
    rdl_call *call = run->call;
    rdl_spot arrived = {RDL_ARRIVING, (MPI_Aint)m->aside};
    rdl_collect(run, m);
    const rdl_piece *piece = call->pieces.items;
    for (size_t i = 0; i < call->pieces.len; i++, piece++) {
        rdl_spot into = piece->spot, other = rdl_beyond(call->lines[m->with], into.at - call->lines[m->line].at);
        rdl_count count = (rdl_count)piece->count;
        rdl_step reduce = {RDL_REDUCE, 0, 0, arrived, into, 0, count, count, call->type, call->type};
        if (m->action == RDL_LEFT && m->with != m->line)
            rdl_note(run, rdl_copy(call, other, into, piece->count));
        if (m->action == RDL_RIGHT) {
            reduce.from = other;
            reduce.to = arrived;
        }
        if (m->action != RDL_OVERWRITE)
            rdl_note(run, rdl_add(call->adds, reduce));
        if (m->action != RDL_LEFT)
            rdl_note(run, rdl_copy(call, arrived, into, piece->count));
        arrived = rdl_beyond(arrived, (MPI_Aint)piece->count * call->extent);
    }
}

/* When all messages have arrived: first data that overwrites, then reductions in the order of their clauses. */
static void rdl_settle(rdl_run *run)
{
    for (int reduces = 0; reduces < 2; reduces++)
        for (size_t i = 0; i < run->messages_len; i++) {
            const rdl_message *m = &run->messages[i];
            if (!m->sends && m->action >= RDL_OVERWRITE && (m->action > RDL_OVERWRITE) == reduces)
                rdl_combine(run, m);
        }
}

