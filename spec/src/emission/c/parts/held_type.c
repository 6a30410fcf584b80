/* A block that this rank holds; a message takes it along. */
typedef struct {
    int64_t block; /* -1: none */
    rdl_spot spot;
} rdl_held;

