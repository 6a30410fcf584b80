/* Broadcasts against MPI_Bcast. */
#include "driver.h"

int CALL(void *, int, MPI_Datatype, int, MPI_Comm TYPES);

static void tell(MPI_Comm comm, element of, int n, int root)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    int *found = data(of, n, rank), *expected = data(of, n, rank);
    MPI_Bcast(expected, n, of.type, root, comm);
    expect(CALL(found, n, of.type, root, comm VALUES) == MPI_SUCCESS, "broadcast");
    expect(same(of, n, found, expected), "the result of a broadcast");
    free(found), free(expected);
}

static int nothing;

int refused(MPI_Comm comm) { return CALL(&nothing, 0, MPI_INT, 0, comm VALUES); }

void suite(MPI_Comm comm)
{
    each_root(comm, tell);
    int p;
    MPI_Comm_size(comm, &p);
    expect(CALL(&nothing, 0, MPI_INT, p, comm VALUES) == MPI_ERR_ARG, "a root that does not exist");
}
