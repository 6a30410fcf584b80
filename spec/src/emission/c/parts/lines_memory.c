/* Where blocks lie: at their offsets, in elements, in one of the lines. */
typedef struct {
    char *lines[RDL_LINES];
    int *counts;
    MPI_Aint *offsets;
    MPI_Op op;
    char **asides; /* what has arrived and is not in its line yet, message by message */
    size_t asides_room;
} rdl_memory;

static void rdl_release(rdl_memory *memory)
{
    free(memory->asides);
}

