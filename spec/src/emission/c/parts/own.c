/* What is cached on a communicator. */
typedef struct {
    MPI_Comm comm; /* private, so that no message of the caller is mistaken for one of these */
    int rank, p;
    rdl_plan *plans[ROUNDEL_PLANS]; /* the last one used comes first */
    int plans_len;
    uintptr_t areas[RDL_AREAS]; /* memory of all plans; addresses, because a datatype may begin before its element */
    MPI_Aint rooms[RDL_AREAS];
    ROUNDEL_REQUEST *requests;
    size_t requests_room;
@if nodes@
    rdl_table *table;
@end@
} rdl_own;

static int rdl_comm_key = MPI_KEYVAL_INVALID, rdl_type_key = MPI_KEYVAL_INVALID;

/* Called when the communicator is freed. */
static int rdl_drop(MPI_Comm comm, int key, void *value, void *extra)
{
    rdl_own *own = value;
    int error = MPI_SUCCESS;
    (void)comm, (void)key, (void)extra;
    while (own->plans_len > 0)
        rdl_discard(own->plans[--own->plans_len]);
    for (int area = RDL_HELD; area < RDL_AREAS; area++)
        free((void *)own->areas[area]);
    free(own->requests);
#ifndef ROUNDEL_SAME_COMM
    if (own->comm != MPI_COMM_NULL)
        error = MPI_Comm_free(&own->comm);
#endif
@if nodes@
    free(own->table);
@end@
    free(own);
    return error;
}

/* The cache of MPI_COMM_WORLD must be freed before MPI ends: MPI_Finalize first deletes attributes of MPI_COMM_SELF. */
static int rdl_drop_world(MPI_Comm comm, int key, void *value, void *extra)
{
    int found = 0;
    void *own = NULL;
    (void)comm, (void)key, (void)value, (void)extra;
    RDL_TRY(MPI_Comm_get_attr(MPI_COMM_WORLD, rdl_comm_key, &own, &found));
    if (found)
        RDL_TRY(MPI_Comm_delete_attr(MPI_COMM_WORLD, rdl_comm_key));
    RDL_TRY(MPI_Comm_free_keyval(&rdl_comm_key));
    return MPI_Type_free_keyval(&rdl_type_key);
}

static int rdl_make_keys(void)
{
    int hook = MPI_KEYVAL_INVALID;
    RDL_TRY(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &rdl_type_key, NULL));
    RDL_TRY(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, rdl_drop_world, &hook, NULL));
    RDL_TRY(MPI_Comm_set_attr(MPI_COMM_SELF, hook, NULL));
    RDL_TRY(MPI_Comm_free_keyval(&hook));
    return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, rdl_drop, &rdl_comm_key, NULL);
}

/* What is cached on the communicator, if it has been used before. */
static rdl_own *rdl_known(MPI_Comm comm)
{
    int found = 0;
    rdl_own *own = NULL;
    if (rdl_comm_key == MPI_KEYVAL_INVALID || MPI_Comm_get_attr(comm, rdl_comm_key, &own, &found) != MPI_SUCCESS)
        return NULL;
    return found ? own : NULL;
}

/*
 * Makes a communicator with the same ranks, and caches it. A duplicate would also copy the program's attributes, which
 * it must not copy or delete.
 */
static int rdl_attach(MPI_Comm comm, int rank, int p, rdl_own **result)
{
    rdl_own *own = calloc(1, sizeof *own);
    if (own == NULL)
        return MPI_ERR_NO_MEM;
    own->rank = rank;
    own->p = p;
    own->comm = MPI_COMM_NULL;
    int error = rdl_comm_key == MPI_KEYVAL_INVALID ? rdl_make_keys() : MPI_SUCCESS;
#ifdef ROUNDEL_SAME_COMM
    own->comm = comm;
#else
    if (error == MPI_SUCCESS)
        error = MPI_Comm_split(comm, 0, 0, &own->comm);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
#endif
@if nodes@
    if (error == MPI_SUCCESS)
        error = rdl_survey(own->comm, &own->table);
@end@
    if (error == MPI_SUCCESS)
        error = MPI_Comm_set_attr(comm, rdl_comm_key, own);
    if (error != MPI_SUCCESS) {
        rdl_drop(comm, rdl_comm_key, own, NULL);
        own = NULL;
    }
    *result = own;
    return error;
}

