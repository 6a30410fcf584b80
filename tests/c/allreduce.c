/* Allreduces against MPI_Allreduce. */
#include "driver.h"

int CALL(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm TYPES);

static void reduce(MPI_Comm comm, operation with, int n)
{
    element of = with.of;
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *own = data(of, n, rank), *found = blank(of, n), *expected = blank(of, n);
    int served = with.commutes || ORDERED;
    MPI_Allreduce(own, expected, n, of.type, with.op, comm);
    int error = CALL(own, found, n, of.type, with.op, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "allreduce");
    expect(!served || same(of, n, found, expected), "the result of an allreduce");
    int *both = data(of, n, rank), *result = data(of, n, rank);
    MPI_Allreduce(MPI_IN_PLACE, result, n, of.type, with.op, comm);
    error = CALL(MPI_IN_PLACE, both, n, of.type, with.op, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "allreduce in place");
    expect(!served || same(of, n, both, result), "the result of an allreduce in place");
    free(own), free(found), free(expected), free(both), free(result);
}

int refused(MPI_Comm comm)
{
    int nothing = 0;
    return CALL(&nothing, &nothing, 0, MPI_INT, MPI_SUM, comm VALUES);
}

void suite(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < OPERATIONS * LENGTHS; i++)
        reduce(comm, operations[i / LENGTHS], lengths[i % LENGTHS]);
}
