/* A plan that is being made. */
typedef struct rdl_call {
    const rdl_args *args;
    rdl_plan *plan;
    int rank, p;
    MPI_Datatype type; /* of an element, with its extents */
    MPI_Aint extent, true_lb, true_extent;
    int dense;                /* whether elements are bytes without gaps */
    MPI_Aint ends[RDL_AREAS], rooms[RDL_AREAS]; /* memory in use now, and at most */
    rdl_array *adds;          /* where steps are added: to the plan, or to those after the messages of the round */
    rdl_array sends, receives, after;
    rdl_array pieces; /* of the current message */
    size_t most;      /* messages of the longest round */
@if lines@
    rdl_spot lines[RDL_LINES]; /* where blocks are: at their offsets, in elements, in one of the lines */
    int64_t *counts;
    MPI_Aint *offsets;
@end@
@if held@
    rdl_array held;  /* where blocks are: found by their numbers */
    rdl_array spare; /* slots of blocks that are gone */
    int64_t slots;
@end@
@if straight@
    MPI_Aint step; /* between elements that are sent */
    rdl_spot *aside; /* copies of blocks that would be overwritten */
@end@
@if nodes@
    const rdl_nodes *at; /* the nodes, and the place of this rank */
    const int *order;
    rdl_place place;
@end@
} rdl_call;

/* Begins a call; nothing is sent. */
static int rdl_open(rdl_call *call, MPI_Comm comm, const rdl_args *args, MPI_Datatype type)
{
    int inter = 0, size = 0;
    MPI_Aint lb = 0;
    memset(call, 0, sizeof *call);
    call->args = args;
    call->type = type;
    RDL_TRY(MPI_Comm_test_inter(comm, &inter));
    if (inter)
        return MPI_ERR_COMM;
    RDL_TRY(MPI_Comm_rank(comm, &call->rank));
    RDL_TRY(MPI_Comm_size(comm, &call->p));
    RDL_TRY(MPI_Type_get_extent(type, &lb, &call->extent));
    RDL_TRY(MPI_Type_get_true_extent(type, &call->true_lb, &call->true_extent));
    RDL_TRY(MPI_Type_size(type, &size));
    call->dense = lb == 0 && call->true_lb == 0 && call->extent == size && call->true_extent == size;
    return call->extent < 0 ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static void *rdl_push(rdl_array *array, size_t size)
{
    if (!rdl_grow(&array->items, &array->room, array->len, size))
        return NULL;
    return (char *)array->items + array->len++ * size;
}

/* The bytes that this many elements take. */
static MPI_Aint rdl_bytes(const rdl_call *call, int64_t elements)
{
    return elements > 0 ? (MPI_Aint)(elements - 1) * call->extent + call->true_extent : 0;
}

/* Memory of the plan for this many elements. */
static rdl_spot rdl_reserve(rdl_call *call, int area, int64_t elements)
{
    rdl_spot spot = {area, call->ends[area] - call->true_lb};
    call->ends[area] += (rdl_bytes(call, elements) + 15) / 16 * 16;
    if (call->rooms[area] < call->ends[area])
        call->rooms[area] = call->ends[area];
    return spot;
}

/* Adds a step. */
static int rdl_add(rdl_array *steps, rdl_step step)
{
    rdl_step *added = rdl_push(steps, sizeof step);
    if (added == NULL)
        return MPI_ERR_NO_MEM;
    *added = step;
    return MPI_SUCCESS;
}

/* Copies elements. If the target has another layout, the rank sends them to itself. */
static int rdl_convert(rdl_call *call, rdl_spot from, int64_t count, MPI_Datatype type, rdl_spot to, int64_t room,
    MPI_Datatype into)
{
    int alike = call->dense && type == call->type && into == call->type && count == room;
    size_t bytes = alike ? (size_t)rdl_bytes(call, count) : 0;
    rdl_step step = {alike ? RDL_BYTES : RDL_SENDRECV, call->rank, call->rank, from, to, bytes, (rdl_count)count,
        (rdl_count)room, type, into};
    if (count == 0 && room == 0)
        return MPI_SUCCESS;
    return !alike && (count > RDL_MOST || room > RDL_MOST) ? MPI_ERR_COUNT : rdl_add(call->adds, step);
}

