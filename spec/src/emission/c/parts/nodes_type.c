/* The nodes: node n has the ranks from first[n] to first[n + 1], in the numbering by node. */
typedef struct {
    int64_t count, lanes; /* the number of nodes, and of ranks on the smallest */
    const int64_t *first;
} rdl_nodes;

/* The place of a rank. */
typedef struct {
    int64_t rank, node, local, ppn;
} rdl_place;

