/* Allgathers against MPI_Allgather and MPI_Allgatherv. */
#include "driver.h"

int CALL(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm TYPES);
int CALLV(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm TYPES);

static void equal(MPI_Comm comm, element of, int n)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *own = data(of, n, rank), *found = blank(of, n * p), *expected = blank(of, n * p);
    MPI_Allgather(own, n, of.type, expected, n, of.type, comm);
    expect(CALL(own, n, of.type, found, n, of.type, comm VALUES) == MPI_SUCCESS, "allgather");
    expect(same(of, n * p, found, expected), "the result of an allgather");
    for (int block = 0; block < p; block++)
        if (block != rank)
            memset(found + block * n * of.ints, -1, (size_t)(n * of.ints) * sizeof *found);
    expect(CALL(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, found, n, of.type, comm VALUES) == MPI_SUCCESS, "allgather in place");
    expect(same(of, n * p, found, expected), "the result of an allgather in place");
    free(own), free(found), free(expected);
}

/* Blocks of different lengths, in reverse order, with gaps between them. */
static void varying(MPI_Comm comm, element of)
{
    int rank, p, next = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *counts = calloc((size_t)p, sizeof *counts), *displs = calloc((size_t)p, sizeof *displs);
    for (int block = p - 1; block >= 0; block--) {
        counts[block] = block * 5 % 4;
        displs[block] = next;
        next += counts[block] + 1;
    }
    int *own = data(of, counts[rank], rank), *found = blank(of, next), *expected = blank(of, next);
    MPI_Allgatherv(own, counts[rank], of.type, expected, counts, displs, of.type, comm);
    expect(CALLV(own, counts[rank], of.type, found, counts, displs, of.type, comm VALUES) == MPI_SUCCESS, "allgatherv");
    expect(same(of, next, found, expected), "the result of an allgatherv");
    free(own), free(found), free(expected), free(counts), free(displs);
}

int refused(MPI_Comm comm)
{
    int nothing = 0;
    return CALL(&nothing, 0, MPI_INT, &nothing, 0, MPI_INT, comm VALUES);
}

void suite(MPI_Comm comm)
{
    for (int e = 0; e < ELEMENTS; e++) {
        for (int i = 0; i < LENGTHS; i++)
            equal(comm, elements[e], lengths[i]);
        varying(comm, elements[e]);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int nothing = 0;
    expect(CALL(&nothing, 0, MPI_INT, &nothing, -1, MPI_INT, comm VALUES) == MPI_ERR_COUNT, "a negative length");
}
