static int64_t rdl_length(const rdl_call *call, int64_t block)
{
    return call->counts[block];
}

static rdl_spot rdl_spot_of(rdl_run *run, const rdl_message *m, int64_t block)
{
    return rdl_beyond(run->call->lines[m->line], run->call->offsets[block] * run->call->extent);
}

