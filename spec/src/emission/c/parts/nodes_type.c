/* The nodes: node n has the ranks from first[n] to first[n + 1], in the numbering by node. */
typedef struct {
    int64_t count, lanes; /* how many nodes, and how many ranks the smallest has */
    const int64_t *first;
} rdl_nodes;

/* Where a rank sits. */
typedef struct {
    int64_t rank, node, local, ppn;
} rdl_place;

