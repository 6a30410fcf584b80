/* Gathers against MPI_Gather. */
#include "driver.h"

int CALL(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm TYPES);

static void gather(MPI_Comm comm, element of, int n, int root)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *own = data(of, n, rank), *found = blank(of, n * p), *expected = blank(of, n * p);
    MPI_Gather(own, n, of.type, expected, n, of.type, root, comm);
    expect(CALL(own, n, of.type, found, n, of.type, root, comm VALUES) == MPI_SUCCESS, "gather");
    expect(same(of, n * p, found, expected), "the result of a gather");
    for (int block = 0; block < p; block++)
        if (block != root)
            memset(found + block * n * of.ints, -1, (size_t)(n * of.ints) * sizeof *found);
    expect(CALL(rank == root ? MPI_IN_PLACE : own, n, of.type, found, n, of.type, root, comm VALUES) == MPI_SUCCESS, "gather in place");
    expect(rank != root || same(of, n * p, found, expected), "the result of a gather in place");
    free(own), free(found), free(expected);
}

static int nothing;

int refused(MPI_Comm comm) { return CALL(&nothing, 0, MPI_INT, &nothing, 0, MPI_INT, 0, comm VALUES); }

void suite(MPI_Comm comm)
{
    each_root(comm, gather);
    int p;
    MPI_Comm_size(comm, &p);
    expect(CALL(&nothing, 0, MPI_INT, &nothing, 0, MPI_INT, p, comm VALUES) == MPI_ERR_ARG, "a root that does not exist");
}
