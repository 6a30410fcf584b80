/* The number of a user-defined datatype. MPI reuses the handle of a freed datatype, but the number is unique. */
static int64_t rdl_number(MPI_Datatype type)
{
    int found = 0;
    void *number = NULL;
    int error = MPI_Type_get_attr(type, rdl_type_key, &number, &found);
    return error == MPI_SUCCESS && found ? (int64_t)(intptr_t)number : 0;
}

/* Gives a datatype its number: 0 if it is predefined. */
static int rdl_enumerate(MPI_Datatype type, int64_t *number)
{
    static intptr_t last;
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    if (type != MPI_DATATYPE_NULL)
        RDL_TRY(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    *number = combiner == MPI_COMBINER_NAMED ? 0 : rdl_number(type);
    if (combiner == MPI_COMBINER_NAMED)
        return MPI_SUCCESS;
    if (*number != 0)
        return MPI_SUCCESS;
    *number = ++last;
    return MPI_Type_set_attr(type, rdl_type_key, (void *)last);
}

@if vectors@
static int rdl_same_vectors(const rdl_args *a, const rdl_args *b, size_t p)
{
    for (int i = 0; i < @VECTORS@; i++) {
        const rdl_vector *v = &a->vectors[i], *w = &b->vectors[i];
        if (v->size != w->size || (v->size > 0 && memcmp(v->items, w->items, p * v->size) != 0))
            return 0;
    }
    return 1;
}

@end@
@if lists@
static int rdl_same_list(rdl_list a, rdl_list b)
{
    return a.len == b.len && (a.len <= 0 || memcmp(a.items, b.items, (size_t)a.len * sizeof *a.items) == 0);
}

@end@
/* Whether a plan fits this call. */
static int rdl_serves(const rdl_plan *plan, const rdl_args *b, int p)
{
    const rdl_args *a = &plan->args;
    if (a->recvcount != b->recvcount || a->sendcount != b->sendcount || a->in_place != b->in_place)
        return 0;
    if (a->types[0] != b->types[0] || a->types[1] != b->types[1]@OTHER_ARGS@)
        return 0;
    for (int i = 0; i < 2; i++)
        if (plan->numbers[i] != 0 && plan->numbers[i] != rdl_number(b->types[i]))
            return 0;
@if vectors@
    return rdl_same_vectors(a, b, (size_t)p);
@end@
@if no vectors@
    (void)p;
    return 1;
@end@
}

/* The cached plan of a call, if there is one. */
static rdl_plan *rdl_find(rdl_own *own, const rdl_args *args)
{
    for (int i = 0; i < own->plans_len; i++) {
        rdl_plan *plan = own->plans[i];
        if (!rdl_serves(plan, args, own->p))
            continue;
        for (; i > 0; i--)
            own->plans[i] = own->plans[i - 1];
        own->plans[0] = plan;
        return plan;
    }
    return NULL;
}

