/* All-to-alls against MPI_Alltoall, and against MPI_Alltoallv where blocks may have different lengths. */
#include "driver.h"

int CALL(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm TYPES);

static void exchange(MPI_Comm comm, element of, int n)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *own = data(of, n * p, rank), *found = blank(of, n * p), *expected = blank(of, n * p), *both = data(of, n * p, rank);
    MPI_Alltoall(own, n, of.type, expected, n, of.type, comm);
    expect(CALL(own, n, of.type, found, n, of.type, comm VALUES) == MPI_SUCCESS, "alltoall");
    expect(same(of, n * p, found, expected), "the result of an alltoall");
    expect(CALL(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, n, of.type, comm VALUES) == MPI_SUCCESS, "alltoall in place");
    for (int i = 0; i < n * p * of.ints; i++)
        expect(!used(of, i) || both[i] == expected[i], "the result of an alltoall in place");
    free(own), free(found), free(expected), free(both);
}

#ifdef HAS_CALLV
int CALLV(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm TYPES);

/* A block between two ranks has the same length in both directions, so that the call may be in place. */
static int length(int from, int to)
{
    return (from + to) * 5 % 4;
}

/* Blocks to send are contiguous; received ones have gaps and are in reverse order. */
static void varying(MPI_Comm comm, element of)
{
    int rank, p, all = 0, next = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *counts = calloc((size_t)p, sizeof *counts), *from = calloc((size_t)p, sizeof *from), *to = calloc((size_t)p, sizeof *to);
    for (int i = 0; i < p; i++) {
        counts[i] = length(rank, i);
        from[i] = all;
        all += counts[i];
        to[p - 1 - i] = next;
        next += length(rank, p - 1 - i) + 1;
    }
    int *own = data(of, all, rank), *found = blank(of, next), *expected = blank(of, next);
    MPI_Alltoallv(own, counts, from, of.type, expected, counts, to, of.type, comm);
    expect(CALLV(own, counts, from, of.type, found, counts, to, of.type, comm VALUES) == MPI_SUCCESS, "alltoallv");
    expect(same(of, next, found, expected), "the result of an alltoallv");
    expect(CALLV(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, found, counts, to, of.type, comm VALUES) == MPI_SUCCESS, "alltoallv in place");
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, expected, counts, to, of.type, comm);
    expect(same(of, next, found, expected), "the result of an alltoallv in place");
    counts[p - 1] = -1;
    expect(CALLV(own, counts, from, of.type, found, counts, to, of.type, comm VALUES) == MPI_ERR_COUNT, "a negative length of a block");
    free(own), free(found), free(expected), free(counts), free(from), free(to);
}
#else
static void varying(MPI_Comm comm, element of)
{
    (void)comm, (void)of;
}
#endif

int refused(MPI_Comm comm)
{
    int nothing = 0;
    return CALL(&nothing, 0, MPI_INT, &nothing, 0, MPI_INT, comm VALUES);
}

void suite(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < ELEMENTS * LENGTHS; i++)
        exchange(comm, elements[i / LENGTHS], lengths[i % LENGTHS]);
    for (int e = 0; e < ELEMENTS; e++)
        varying(comm, elements[e]);
    int nothing = 0;
    expect(CALL(&nothing, 0, MPI_INT, &nothing, -1, MPI_INT, comm VALUES) == MPI_ERR_COUNT, "a negative length");
}
