/* Adds steps to the plan. */
static void rdl_append(rdl_run *run, rdl_array *steps)
{
    const rdl_step *step = steps->items;
    for (size_t i = 0; i < steps->len; i++)
        rdl_note(run, rdl_add(&run->call->plan->steps, step[i]));
    steps->len = 0;
}

/* Adds the messages of a round to the plan: receives before sends, unless there is one of each. */
static void rdl_exchange_of(rdl_run *run)
{
    rdl_call *call = run->call;
    rdl_step *out = call->sends.items, *in = call->receives.items;
    const rdl_step wait = {.verb = RDL_WAIT};
    size_t messages = call->sends.len + call->receives.len;
    call->most = call->most < messages ? messages : call->most;
    if (call->sends.len == 1 && call->receives.len == 1) {
        in->verb = RDL_SENDRECV;
        in->dest = out->dest;
        in->from = out->from;
        in->count = out->count;
        in->type = out->type;
        call->sends.len = 0;
        rdl_append(run, &call->receives);
        return;
    }
    rdl_append(run, &call->receives);
    rdl_append(run, &call->sends);
    rdl_note(run, rdl_add(&call->plan->steps, wait));
}

/* Adds the current round to the plan. */
static void rdl_end(rdl_run *run)
{
    rdl_call *call = run->call;
    if (run->messages_len == 0)
        return;
@if nodes@
    rdl_renumber(run);
@end@
    for (int sends = 1; sends >= 0; sends--) {
        call->adds = sends ? &call->plan->steps : &call->after;
        for (size_t i = 0; i < run->messages_len; i++)
            if (run->messages[i].sends == sends)
                rdl_post(run, &run->messages[i]);
    }
@if reduces@
    rdl_settle(run);
@end@
@if held@
    rdl_leave(run);
@end@
    rdl_exchange_of(run);
    rdl_append(run, &call->after);
    call->adds = &call->plan->steps;
    call->ends[RDL_LEAVING] = call->ends[RDL_ARRIVING] = 0;
    rdl_forget(run);
}

