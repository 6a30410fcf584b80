/* Reduces against MPI_Reduce. */
#include "driver.h"

int CALL(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm TYPES);

static void reduce(MPI_Comm comm, operation with, int n, int root)
{
    element of = with.of;
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *own = data(of, n, rank), *found = blank(of, n), *expected = blank(of, n), *both = data(of, n, rank);
    int served = with.commutes || ORDERED;
    MPI_Reduce(own, expected, n, of.type, with.op, root, comm);
    int error = CALL(own, found, n, of.type, with.op, root, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "reduce");
    expect(!served || same(of, n, found, expected), "the result of a reduce");
    error = CALL(rank == root ? MPI_IN_PLACE : own, rank == root ? both : NULL, n, of.type, with.op, root, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "reduce in place");
    for (int i = 0; i < n * of.ints && rank == root && served; i++)
        expect(!used(of, i) || both[i] == expected[i], "the result of a reduce in place");
    free(own), free(found), free(expected), free(both);
}

int refused(MPI_Comm comm)
{
    int nothing = 0;
    return CALL(&nothing, &nothing, 0, MPI_INT, MPI_SUM, 0, comm VALUES);
}

void suite(MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int root = 0; root < p; root++)
        for (int i = 0; i < OPERATIONS * LENGTHS; i++)
            reduce(comm, operations[i / LENGTHS], lengths[i % LENGTHS], root);
    int nothing = 0;
    expect(CALL(&nothing, &nothing, 0, MPI_INT, MPI_SUM, p, comm VALUES) == MPI_ERR_ARG, "a root that does not exist");
}
