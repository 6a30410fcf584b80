/* Begins a plan; it replaces the least recently used one if there is no room. */
static int rdl_begin(rdl_call *call, rdl_own *own)
{
    if (own->plans_len == ROUNDEL_PLANS)
        rdl_discard(own->plans[--own->plans_len]);
    call->plan = calloc(1, sizeof *call->plan);
    if (call->plan == NULL)
        return MPI_ERR_NO_MEM;
    call->adds = &call->plan->steps;
    return MPI_SUCCESS;
}

@if kept@
static const void *rdl_kept(char **next, const void *items, size_t bytes)
{
    const void *copy = *next;
    if (bytes > 0)
        memcpy(*next, items, bytes);
    *next += bytes;
    return copy;
}

/* Copies the lists that the arguments point to. */
static int rdl_keep(rdl_plan *plan, const rdl_args *args, int p)
{
    size_t bytes = 1;
@if vectors@
    for (int i = 0; i < @VECTORS@; i++)
        bytes += (size_t)p * args->vectors[i].size;
@end@
@if no vectors@
    (void)p;
@end@
@KEPT_BYTES@
    char *next = plan->kept = malloc(bytes);
    if (next == NULL)
        return MPI_ERR_NO_MEM;
@KEPT_LISTS@
@if vectors@
    for (int i = 0; i < @VECTORS@; i++)
        plan->args.vectors[i].items = rdl_kept(&next, args->vectors[i].items, (size_t)p * args->vectors[i].size);
@end@
    return MPI_SUCCESS;
}

@end@
/* Memory for the largest plan: plans share it, because calls on a communicator do not overlap. */
static int rdl_equip(rdl_own *own, const rdl_call *call)
{
    for (int area = RDL_HELD; area < RDL_AREAS; area++) {
        void *memory = call->rooms[area] > own->rooms[area] ? malloc((size_t)call->rooms[area]) : NULL;
        if (memory == NULL && call->rooms[area] > own->rooms[area])
            return MPI_ERR_NO_MEM;
        if (memory == NULL)
            continue;
        free((void *)own->areas[area]);
        own->areas[area] = (uintptr_t)memory;
        own->rooms[area] = call->rooms[area];
    }
    if (call->most <= own->requests_room)
        return MPI_SUCCESS;
    ROUNDEL_REQUEST *requests = realloc(own->requests, call->most * sizeof *requests);
    if (requests == NULL)
        return MPI_ERR_NO_MEM;
    own->requests = requests;
    own->requests_room = call->most;
    return MPI_SUCCESS;
}

/* Ends a plan. */
static int rdl_seal(rdl_call *call, rdl_own *own, int error)
{
    rdl_plan *plan = call->plan;
    if (error == MPI_SUCCESS)
        error = rdl_equip(own, call);
    for (int i = 0; i < 2 && error == MPI_SUCCESS; i++)
        error = rdl_enumerate(call->args->types[i], &plan->numbers[i]);
    if (error == MPI_SUCCESS)
        plan->args = *call->args;
@if kept@
    if (error == MPI_SUCCESS)
        error = rdl_keep(plan, call->args, call->p);
@end@
    if (error == MPI_SUCCESS) {
        for (int i = own->plans_len++; i > 0; i--)
            own->plans[i] = own->plans[i - 1];
        own->plans[0] = plan;
    } else if (plan != NULL)
        rdl_discard(plan);
    free(call->sends.items);
    free(call->receives.items);
    free(call->after.items);
    free(call->pieces.items);
@if lines@
    free(call->counts);
    free(call->offsets);
@end@
@if held@
    free(call->held.items);
    free(call->spare.items);
@end@
@if straight@
    free(call->aside);
@end@
    return error;
}

/* Makes the plan of a call if it is served; all ranks agree on that before any of them sends. */
static int @NAME@_prepare(rdl_own **result, MPI_Comm comm, const rdl_args *args)
{
    rdl_call planned, *call = &planned;
    rdl_run run = {0};
    rdl_own *own = *result;
    run.call = call;
    int error = rdl_open(call, comm, args, @ELEMENT@);
@if no nodes@
    if (error == MPI_SUCCESS && !@NAME@_admits(@ADMITS@))
        error = MPI_ERR_ARG;
@end@
    if (error == MPI_SUCCESS && own == NULL)
        error = rdl_attach(comm, call->rank, call->p, &own);
@if nodes@
    if (error == MPI_SUCCESS) {
        call->at = &own->table->nodes;
        call->order = own->table->order;
        call->place = rdl_of(call->at, own->table->number);
    }
    if (error == MPI_SUCCESS && !@NAME@_admits(@ADMITS@))
        error = MPI_ERR_ARG;
@end@
    if (error == MPI_SUCCESS)
        error = rdl_begin(call, own);
    if (error == MPI_SUCCESS)
        error = rdl_before(call);
    if (error == MPI_SUCCESS) {
        @NAME@_rounds(@ROUNDS@);
        error = rdl_finish(&run);
    }
@if after@
    if (error == MPI_SUCCESS)
        error = rdl_after(call);
@end@
    *result = own;
    return rdl_seal(call, own, error);
}

/* Makes a call with the plan of its kind; errors go to the caller's error handler. */
static int @NAME@_call(const rdl_args *args, const void *from, void *into, MPI_Comm comm)
{
    int error = MPI_SUCCESS;
    rdl_own *own = rdl_known(comm);
    rdl_plan *plan = own != NULL ? rdl_find(own, args) : NULL;
    if (plan == NULL) {
        error = @NAME@_prepare(&own, comm, args);
        plan = error == MPI_SUCCESS ? own->plans[0] : NULL;
    }
@if reduces@
    if (error == MPI_SUCCESS)
        error = rdl_operation(own, args->op);
    if (error == MPI_SUCCESS)
        plan->args.op = args->op;
@end@
    if (error == MPI_SUCCESS)
        error = rdl_replay(own, plan, from, into);
    if (error != MPI_SUCCESS)
        MPI_Comm_call_errhandler(comm, error);
    return error;
}

