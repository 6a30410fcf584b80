/* One of the two sides of a call with blocks of different lengths. */
typedef struct {
    char *buffer;
    const int *counts, *displs;
    MPI_Datatype type;
    MPI_Aint extent;
} rdl_side;

