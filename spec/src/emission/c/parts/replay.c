/*
 * Executes the plan of a call. One tag is enough, because MPI keeps the order of messages between two ranks, and it is
 * proved that they match in that order. After an error the steps continue, because others wait for the messages of this
 * rank.
 */
static int rdl_replay(rdl_own *own, const rdl_plan *plan, const void *from, void *into)
{
    int error = MPI_SUCCESS, posted = 0;
    const rdl_step *step = plan->steps.items;
    own->areas[RDL_FROM] = (uintptr_t)from;
    own->areas[RDL_INTO] = (uintptr_t)into;
    for (const rdl_step *end = step + plan->steps.len; step < end; step++) {
        const void *source = (const void *)(own->areas[step->from.area] + (uintptr_t)step->from.at);
        void *target = (void *)(own->areas[step->to.area] + (uintptr_t)step->to.at);
        int code = MPI_SUCCESS;
        switch (step->verb) {
        case RDL_BYTES:
            memmove(target, source, step->bytes);
            break;
        case RDL_SENDRECV:
            code = ROUNDEL_SENDRECV(source, step->count, step->type, step->dest, RDL_TAG, target, step->room,
                step->into, step->source, RDL_TAG, own->comm, MPI_STATUS_IGNORE);
            break;
        case RDL_RECV:
            code = ROUNDEL_IRECV(target, step->room, step->into, step->source, RDL_TAG, own->comm,
                &own->requests[posted]);
            posted += code == MPI_SUCCESS;
            break;
        case RDL_SEND:
            code = ROUNDEL_ISEND(source, step->count, step->type, step->dest, RDL_TAG, own->comm,
                &own->requests[posted]);
            posted += code == MPI_SUCCESS;
            break;
@if reduces@
        case RDL_REDUCE:
            code = ROUNDEL_REDUCE_LOCAL(source, target, step->count, step->type, plan->args.op);
            break;
@end@
        default:
            for (int i = 0; i < posted; i++) {
                int waited = ROUNDEL_WAIT(&own->requests[i]);
                code = code == MPI_SUCCESS ? waited : code;
            }
            posted = 0;
        }
        if (code != MPI_SUCCESS && error == MPI_SUCCESS)
            error = code;
    }
    return error;
}

