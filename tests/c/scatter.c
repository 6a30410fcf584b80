/* Scatters against MPI_Scatter. */
#include "driver.h"

int CALL(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm TYPES);

static void scatter(MPI_Comm comm, element of, int n, int root)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *all = data(of, n * p, rank), *found = blank(of, n), *expected = blank(of, n);
    MPI_Scatter(all, n, of.type, expected, n, of.type, root, comm);
    expect(CALL(all, n, of.type, found, n, of.type, root, comm VALUES) == MPI_SUCCESS, "scatter");
    expect(same(of, n, found, expected), "the result of a scatter");
    memset(found, -1, (size_t)(n * of.ints) * sizeof *found);
    expect(CALL(all, n, of.type, rank == root ? MPI_IN_PLACE : found, n, of.type, root, comm VALUES) == MPI_SUCCESS, "scatter in place");
    expect(rank == root || same(of, n, found, expected), "the result of a scatter in place");
    free(all), free(found), free(expected);
}

static int nothing;

int refused(MPI_Comm comm) { return CALL(&nothing, 0, MPI_INT, &nothing, 0, MPI_INT, 0, comm VALUES); }

void suite(MPI_Comm comm)
{
    each_root(comm, scatter);
    int p;
    MPI_Comm_size(comm, &p);
    expect(CALL(&nothing, 0, MPI_INT, &nothing, 0, MPI_INT, p, comm VALUES) == MPI_ERR_ARG, "a root that does not exist");
}
