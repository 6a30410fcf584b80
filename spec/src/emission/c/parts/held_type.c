/* A block that this rank holds; a message moves it. */
typedef struct {
    int64_t block; /* -1: none */
    rdl_spot spot;
} rdl_held;

