/* A message as MPI wants it. */
typedef struct {
    void *start;
    int count;
    MPI_Datatype type;
    int made; /* whether the datatype was made for it */
} rdl_view;

static int rdl_pieces(rdl_world *w, size_t room)
{
    if (room <= w->pieces_room)
        return 1;
    int *lengths = realloc(w->lengths, room * sizeof *lengths);
    w->lengths = lengths != NULL ? lengths : w->lengths;
    MPI_Aint *addresses = realloc(w->addresses, room * sizeof *addresses);
    w->addresses = addresses != NULL ? addresses : w->addresses;
    if (lengths == NULL || addresses == NULL)
        return 0;
    w->pieces_room = room;
    return 1;
}

/* The pieces of memory that a message consists of; those that touch are one. */
static int rdl_collect(rdl_run *run, const rdl_message *m, size_t *pieces, char **start)
{
    rdl_world *w = run->world;
    char *end = NULL;
    if (!rdl_pieces(w, m->count))
        return RDL_NO_MEMORY;
    for (size_t i = 0; i < m->count; i++) {
        int64_t block = run->blocks[m->first + i];
        int length = rdl_length(w, block);
        char *spot = rdl_spot(w, m, block);
        if (length > 0 && spot == NULL)
            return RDL_NO_MEMORY;
        if (length == 0)
            continue;
        if (*pieces > 0 && spot == end && w->lengths[*pieces - 1] <= INT_MAX - length) {
            w->lengths[*pieces - 1] += length;
        } else {
            *start = *pieces == 0 ? spot : *start;
            MPI_Get_address(spot, &w->addresses[*pieces]);
            w->lengths[(*pieces)++] = length;
        }
        end = spot + length * w->extent;
    }
    return MPI_SUCCESS;
}

static int rdl_look(rdl_run *run, size_t i, rdl_view *view)
{
    rdl_world *w = run->world;
    size_t pieces = 0;
    char *start = NULL;
    rdl_view none = {NULL, 0, w->type, 0};
    *view = none;
    if (rdl_aside(run, i, &view->start, &view->count, &view->type))
        return view->start != NULL || view->count == 0 ? MPI_SUCCESS : RDL_NO_MEMORY;
    int error = rdl_collect(run, &run->messages[i], &pieces, &start);
    if (error != MPI_SUCCESS || pieces == 0)
        return error;
    if (pieces == 1) {
        view->start = start;
        view->count = w->lengths[0];
        return MPI_SUCCESS;
    }
    error = MPI_Type_create_hindexed((int)pieces, w->lengths, w->addresses, w->type, &view->type);
    if (error != MPI_SUCCESS)
        return error;
    view->start = MPI_BOTTOM;
    view->count = view->made = 1;
    return MPI_Type_commit(&view->type);
}

/* Posts the messages of one direction. */
static void rdl_post(rdl_run *run, int sends)
{
    rdl_world *w = run->world;
    for (size_t i = 0; i < run->messages_len; i++) {
        const rdl_message *m = &run->messages[i];
        rdl_view view;
        if (m->sends != sends)
            continue;
        rdl_note(run, rdl_look(run, i, &view));
        int error = sends ? MPI_Isend(view.start, view.count, view.type, (int)m->peer, RDL_TAG, w->comm, &w->requests[i])
                          : MPI_Irecv(view.start, view.count, view.type, (int)m->peer, RDL_TAG, w->comm, &w->requests[i]);
        rdl_note(run, error);
        if (view.made)
            rdl_note(run, MPI_Type_free(&view.type));
    }
}

static int rdl_requests(rdl_run *run)
{
    rdl_world *w = run->world;
    if (run->messages_len > w->requests_room) {
        MPI_Request *requests = realloc(w->requests, run->messages_len * sizeof *requests);
        if (requests == NULL)
            return 0;
        w->requests = requests;
        w->requests_room = run->messages_len;
    }
    for (size_t i = 0; i < run->messages_len; i++)
        w->requests[i] = MPI_REQUEST_NULL;
    return 1;
}

/*
 * Ends a round: receives are posted before sends, and all of them are waited for. One tag is enough, because MPI keeps
 * the order of messages between two ranks, and it is proved that they match in that order.
 */
static void rdl_end(rdl_run *run)
{
    rdl_world *w = run->world;
@RENUMBER@
    if (run->messages_len > 0 && rdl_requests(run)) {
        rdl_post(run, 0);
        rdl_post(run, 1);
        for (size_t i = 0; i < run->messages_len; i++)
            rdl_note(run, MPI_Wait(&w->requests[i], MPI_STATUS_IGNORE));
        rdl_settle(run);
    } else if (run->messages_len > 0) {
        rdl_note(run, RDL_NO_MEMORY);
    }
    rdl_forget(run);
}

