/* Adds a message to the round. */
static int rdl_post_of(rdl_call *call, const rdl_message *m, rdl_spot spot, rdl_count count, MPI_Datatype type)
{
    int peer = (int)m->peer;
    rdl_step step = {m->sends ? RDL_SEND : RDL_RECV, peer, peer, spot, spot, 0, count, count, type, type};
    return rdl_add(m->sends ? &call->sends : &call->receives, step);
}

