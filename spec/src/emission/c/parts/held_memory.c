/* A block that this rank holds; a message takes it along. */
typedef struct {
    int64_t block; /* -1: none */
    char *spot;    /* NULL: gone */
} rdl_held;

@SIDE_TYPE@
/* Where blocks lie: found by their numbers. */
typedef struct {
    int count; /* elements of a block */
    char *out; /* where blocks for this rank belong */
    rdl_held *held;
    size_t held_len, held_room;
    char **spare; /* memory of blocks that are gone */
    size_t spare_len, spare_room;
    char **made; /* memory that was allocated for blocks */
    size_t made_len, made_room;
@SIDES@
} rdl_memory;

static void rdl_release(rdl_memory *memory)
{
    while (memory->made_len > 0)
        free(memory->made[--memory->made_len]);
    free(memory->made);
    free(memory->spare);
    free(memory->held);
}

