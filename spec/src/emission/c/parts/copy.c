/* Copies elements. */
static int rdl_copy(rdl_call *call, rdl_spot from, rdl_spot to, int64_t count)
{
    return rdl_convert(call, from, count, call->type, to, count, call->type);
}

