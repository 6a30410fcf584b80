/* From the numbering by node to real ranks and blocks. */
static void rdl_renumber(rdl_run *run)
{
    const int *order = run->call->order;
    for (size_t i = 0; i < run->messages_len; i++)
        run->messages[i].peer = order[run->messages[i].peer];
@BLOCKS_ARE_RANKS@
}

