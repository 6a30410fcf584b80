/* Prints a round. */
static void rdl_end(rdl_run *run)
{
    printf("round\n");
    for (size_t i = 0; i < run->messages_len; i++) {
        const rdl_message *m = &run->messages[i];
        printf("%s %" PRId64 " line %d action %d with %d:", m->sends ? "send" : "recv", m->peer, m->line, m->action, m->with);
        for (size_t k = 0; k < m->count; k++)
            printf(" %" PRId64, run->blocks[m->first + k]);
        printf("\n");
    }
    rdl_forget(run);
}

