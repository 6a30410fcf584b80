/* The lines of memory: the first one is given. */
static void rdl_lines(rdl_call *call, rdl_spot first, int64_t elements)
{
    call->lines[0] = first;
    for (int line = 1; line < RDL_LINES; line++)
        call->lines[line] = rdl_reserve(call, RDL_HELD, elements);
}

