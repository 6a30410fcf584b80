/* A call in progress. */
typedef struct rdl_world {
    MPI_Comm comm; /* ours alone: no message of the caller is mistaken for one of these */
    int rank, p;
    MPI_Datatype type; /* of an element, with its measures */
    MPI_Aint extent, true_lb, true_extent;
    int dense; /* whether elements are bytes without gaps */
    void *owned[RDL_OWNED]; /* memory of the call */
    int owned_len;
    MPI_Request *requests; /* of the round, as many as there is room for */
    size_t requests_room;
    int *lengths; /* the pieces of a message */
    MPI_Aint *addresses;
    size_t pieces_room;
    rdl_memory memory;
@PLACE_FIELDS@
} rdl_world;

/* What is cached on a communicator. */
typedef struct {
    MPI_Comm comm;
    void *table; /* what is known of nodes, if anything */
} rdl_own;

enum { RDL_TAG, RDL_TAG_SELF };

static int rdl_key = MPI_KEYVAL_INVALID;

static int rdl_drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    rdl_own *own = value;
    int error = MPI_Comm_free(&own->comm);
    free(own->table);
    free(own);
    return error;
}

/* The duplicate of MPI_COMM_WORLD must go before MPI does, and the attributes of MPI_COMM_SELF are deleted first of all. */
static int rdl_drop_world(MPI_Comm comm, int key, void *value, void *extra)
{
    int found = 0;
    void *own = NULL;
    (void)comm, (void)key, (void)value, (void)extra;
    int error = MPI_Comm_get_attr(MPI_COMM_WORLD, rdl_key, &own, &found);
    if (error == MPI_SUCCESS && found)
        error = MPI_Comm_delete_attr(MPI_COMM_WORLD, rdl_key);
    return error == MPI_SUCCESS ? MPI_Comm_free_keyval(&rdl_key) : error;
}

static int rdl_make_key(void)
{
    int hook = MPI_KEYVAL_INVALID;
    int error = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, rdl_drop, &rdl_key, NULL);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, rdl_drop_world, &hook, NULL);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_set_attr(MPI_COMM_SELF, hook, NULL);
    return error == MPI_SUCCESS ? MPI_Comm_free_keyval(&hook) : error;
}

/* Makes a communicator with the same ranks, and caches it. A duplicate would have the program's attributes, too, which are not ours to
 * copy and to delete. */
static int rdl_attach(MPI_Comm comm, rdl_own **result)
{
    rdl_own *own = calloc(1, sizeof *own);
    if (own == NULL)
        return MPI_ERR_NO_MEM;
    int error = MPI_Comm_split(comm, 0, 0, &own->comm);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
@SURVEY@
    if (error == MPI_SUCCESS)
        error = MPI_Comm_set_attr(comm, rdl_key, own);
    if (error == MPI_SUCCESS) {
        *result = own;
        return MPI_SUCCESS;
    }
    free(own->table);
    free(own);
    return error;
}

/* The communicator that these calls use in the place of the program's; it goes with that one. */
static int rdl_private(rdl_world *w, MPI_Comm comm)
{
    int found = 0, error = rdl_key == MPI_KEYVAL_INVALID ? rdl_make_key() : MPI_SUCCESS;
    rdl_own *own = NULL;
    if (error == MPI_SUCCESS)
        error = MPI_Comm_get_attr(comm, rdl_key, &own, &found);
    if (error == MPI_SUCCESS && !found)
        error = rdl_attach(comm, &own);
    if (error != MPI_SUCCESS)
        return error;
    w->comm = own->comm;
@PLACE@
    return MPI_SUCCESS;
}

/* Begins a call; nothing is sent. */
static int rdl_open(rdl_world *w, MPI_Comm comm, MPI_Datatype type)
{
    int inter = 0, size = 0;
    MPI_Aint lb = 0;
    memset(w, 0, sizeof *w);
    w->type = type;
    int error = MPI_Comm_test_inter(comm, &inter);
    if (error == MPI_SUCCESS && inter)
        error = MPI_ERR_COMM;
    if (error == MPI_SUCCESS)
        error = MPI_Comm_rank(comm, &w->rank);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_size(comm, &w->p);
    if (error == MPI_SUCCESS)
        error = MPI_Type_get_extent(type, &lb, &w->extent);
    if (error == MPI_SUCCESS)
        error = MPI_Type_get_true_extent(type, &w->true_lb, &w->true_extent);
    if (error == MPI_SUCCESS)
        error = MPI_Type_size(type, &size);
    w->dense = lb == 0 && w->true_lb == 0 && w->extent == size && w->true_extent == size;
    return error == MPI_SUCCESS && w->extent < 0 ? MPI_ERR_TYPE : error;
}

/* Ends a call; an error goes to the caller's error handler. */
static int rdl_close(rdl_world *w, MPI_Comm comm, int error)
{
    while (w->owned_len > 0)
        free(w->owned[--w->owned_len]);
    free(w->requests);
    free(w->lengths);
    free(w->addresses);
    rdl_release(&w->memory);
    if (error != MPI_SUCCESS)
        MPI_Comm_call_errhandler(comm, error);
    return error;
}

