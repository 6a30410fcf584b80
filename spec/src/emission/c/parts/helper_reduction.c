@OPERATION@
/* The lines of memory: the first one is given. */
static int rdl_lines(rdl_world *w, void *first, int64_t elements)
{
    w->memory.lines[0] = first;
    for (int line = 1; line < RDL_LINES; line++)
        if ((w->memory.lines[line] = rdl_line(w, elements)) == NULL)
            return MPI_ERR_NO_MEM;
    return MPI_SUCCESS;
}

