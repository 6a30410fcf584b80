/* Ranks sorted by node, and the nodes; freed with the communicator. */
typedef struct {
    rdl_nodes nodes;
    int64_t number; /* this rank's own, in the numbering by node */
    int *order;     /* the ranks, sorted by node */
} rdl_table;

/* The smallest rank on every rank's node, which identifies the node. */
static int rdl_leaders(MPI_Comm comm, int rank, int *leaders)
{
    MPI_Comm node;
    int leader = rank;
#ifdef ROUNDEL_NODE
    int error = MPI_Comm_split(comm, ROUNDEL_NODE(rank), rank, &node);
#else
    int error = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
#endif
    if (error == MPI_SUCCESS)
        error = MPI_Bcast(&leader, 1, MPI_INT, 0, node);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_free(&node);
    return error == MPI_SUCCESS ? MPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, comm) : error;
}

/* Sorts ranks by node. */
static void rdl_sort(rdl_table *table, int64_t *first, const int *leaders, int rank, int p)
{
    int next = 0;
    for (int leader = 0; leader < p; leader++) {
        if (leaders[leader] != leader)
            continue;
        first[table->nodes.count++] = next;
        for (int r = leader; r < p; r++)
            if (leaders[r] == leader) {
                table->number = r == rank ? next : table->number;
                table->order[next++] = r;
            }
        int64_t size = next - first[table->nodes.count - 1];
        table->nodes.lanes = table->nodes.count == 1 || size < table->nodes.lanes ? size : table->nodes.lanes;
    }
    first[table->nodes.count] = next;
}

/* Finds out which ranks share a node. */
static int rdl_survey(MPI_Comm comm, rdl_table **result)
{
    int rank = 0, p = 0, error = MPI_Comm_rank(comm, &rank);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_size(comm, &p);
    size_t n = (size_t)p;
    /* One allocation, so that one call frees it. */
    size_t bytes = sizeof(rdl_table) + (n + 1) * sizeof(int64_t) + 2 * n * sizeof(int);
    rdl_table *table = error == MPI_SUCCESS ? calloc(1, bytes) : NULL;
    if (table == NULL)
        return error == MPI_SUCCESS ? MPI_ERR_NO_MEM : error;
    int64_t *first = (int64_t *)(void *)(table + 1);
    int *leaders = (int *)(void *)(first + n + 1);
    table->nodes.first = first;
    table->order = leaders + n;
    error = rdl_leaders(comm, rank, leaders);
    if (error == MPI_SUCCESS)
        rdl_sort(table, first, leaders, rank, p);
    *result = table;
    return error;
}

