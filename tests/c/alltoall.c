/* All-to-alls against MPI_Alltoall. */
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
    int nothing = 0;
    expect(CALL(&nothing, 0, MPI_INT, &nothing, -1, MPI_INT, comm VALUES) == MPI_ERR_COUNT, "a negative length");
}
