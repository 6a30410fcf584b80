/* A contiguous part of a message. */
typedef struct {
    rdl_spot spot;
    int64_t count;
} rdl_piece;

/* The pieces of a message; adjacent blocks are one. */
static int64_t rdl_collect(rdl_run *run, const rdl_message *m)
{
    rdl_call *call = run->call;
    rdl_piece *last = NULL;
    int64_t elements = 0;
    call->pieces.len = 0;
    for (size_t k = 0; k < m->count; k++) {
        int64_t block = run->blocks[m->first + k], length = rdl_length(call, block);
        rdl_spot spot = rdl_spot_of(run, m, block);
        if (length == 0)
            continue;
        elements += length;
        rdl_spot end = last != NULL ? rdl_beyond(last->spot, (MPI_Aint)last->count * call->extent) : spot;
        if (last != NULL && end.area == spot.area && end.at == spot.at && last->count <= RDL_MOST - length) {
            last->count += length;
            continue;
        }
        last = rdl_push(&call->pieces, sizeof *last);
        if (last == NULL) {
            rdl_note(run, RDL_NO_MEMORY);
            return 0;
        }
        last->spot = spot;
        last->count = length;
    }
    return elements;
}

/* Whether pieces are copied into one. A datatype can describe only one area, because buffers differ between calls. */
static int rdl_packs(const rdl_call *call, int64_t elements)
{
    const rdl_piece *pieces = call->pieces.items;
    for (size_t i = 1; i < call->pieces.len; i++)
        if (pieces[i].spot.area != pieces[0].spot.area)
            return 1;
    return call->dense && rdl_bytes(call, elements) <= ROUNDEL_PACK;
}

/* The copies between the pieces of a message and contiguous memory. */
static rdl_spot rdl_pack(rdl_run *run, int sends, int64_t elements)
{
    rdl_call *call = run->call;
    const rdl_piece *piece = call->pieces.items;
    rdl_spot whole = rdl_reserve(call, sends ? RDL_LEAVING : RDL_ARRIVING, elements), next = whole;
    for (size_t i = 0; i < call->pieces.len; i++, piece++) {
        rdl_spot from = sends ? piece->spot : next, to = sends ? next : piece->spot;
        rdl_note(run, rdl_copy(call, from, to, piece->count));
        next = rdl_beyond(next, (MPI_Aint)piece->count * call->extent);
    }
    return whole;
}

/* The datatype of a message of several pieces. */
static int rdl_describe(rdl_call *call, MPI_Datatype *type)
{
    size_t n = call->pieces.len;
    const rdl_piece *pieces = call->pieces.items;
    rdl_count *lengths = malloc(n * sizeof *lengths);
    rdl_displ *displs = malloc(n * sizeof *displs);
    MPI_Datatype *made = rdl_push(&call->plan->types, sizeof *made);
    int error = lengths == NULL || displs == NULL || made == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (size_t i = 0; error == MPI_SUCCESS && i < n; i++) {
        lengths[i] = (rdl_count)pieces[i].count;
        displs[i] = pieces[i].spot.at;
    }
    if (error == MPI_SUCCESS)
        error = RDL_TYPE_CREATE_HINDEXED((rdl_count)n, lengths, displs, call->type, type);
    free(lengths);
    free(displs);
    if (error != MPI_SUCCESS)
        call->plan->types.len -= made != NULL;
    else
        *made = *type, error = MPI_Type_commit(type);
    return error;
}

/* Plans a message. */
static void rdl_post(rdl_run *run, rdl_message *m)
{
    rdl_call *call = run->call;
    int64_t elements = rdl_collect(run, m);
    const rdl_piece *pieces = call->pieces.items;
    MPI_Datatype type = call->type;
    rdl_spot spot = {RDL_INTO, 0};
    int whole = 1;
@if reduces@
    if (!m->sends && m->action >= RDL_OVERWRITE) {
        spot = rdl_reserve(call, RDL_ARRIVING, elements);
        m->aside = spot.at;
    } else
@end@
    if (call->pieces.len == 1) {
        spot = pieces->spot;
    } else if (call->pieces.len > 1 && rdl_packs(call, elements)) {
        spot = rdl_pack(run, m->sends, elements);
    } else if (call->pieces.len > 1) {
        spot.area = pieces->spot.area;
        rdl_note(run, rdl_describe(call, &type));
        whole = 0;
    }
    if (whole && elements > RDL_MOST)
        rdl_note(run, MPI_ERR_COUNT);
    rdl_note(run, rdl_post_of(call, m, spot, whole ? (rdl_count)elements : 1, type));
}

