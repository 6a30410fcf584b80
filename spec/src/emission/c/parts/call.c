/* Begins a plan; the one that was not used for longest makes room. */
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

/* Copies what the arguments point at. */
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
/* The memory of a plan, which its calls share. */
static int rdl_equip(rdl_call *call)
{
    rdl_plan *plan = call->plan;
    size_t most = call->most > 0 ? call->most : 1;
    int error = MPI_SUCCESS;
    plan->requests = malloc(most * sizeof *plan->requests);
    if (plan->requests == NULL)
        error = MPI_ERR_NO_MEM;
    for (int area = RDL_HELD; area < RDL_AREAS; area++)
        if (plan->rooms[area] > 0 && (plan->areas[area] = (uintptr_t)malloc((size_t)plan->rooms[area])) == 0)
            error = MPI_ERR_NO_MEM;
    return error;
}

/* Ends a plan. */
static int rdl_seal(rdl_call *call, rdl_own *own, int error)
{
    rdl_plan *plan = call->plan;
    if (error == MPI_SUCCESS)
        error = rdl_equip(call);
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

/* Makes the plan of a call, if it is served; all ranks agree on that before any of them sends. */
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

/* A call, by the plan of its kind; an error goes to the caller's error handler. */
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
        error = rdl_replay(plan, from, into, own->comm);
    if (error != MPI_SUCCESS)
        MPI_Comm_call_errhandler(comm, error);
    return error;
}

