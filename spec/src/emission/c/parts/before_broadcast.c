/* The buffer in blocks. */
static int rdl_before(rdl_call *call)
{
    rdl_spot into = {RDL_INTO, 0};
    call->lines[0] = into;
    return rdl_divided(call, call->args->recvcount, @BLOCKS@);
}

