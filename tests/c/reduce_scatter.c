/* Reduce-scatters against MPI_Reduce_scatter and MPI_Reduce_scatter_block. */
#include "driver.h"

int CALL(const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm TYPES);
int CALLV(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm TYPES);

static void equal(MPI_Comm comm, operation with, int n)
{
    element of = with.of;
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int served = with.commutes || ORDERED;
    int *own = data(of, n * p, rank), *found = blank(of, n), *expected = blank(of, n);
    /* MPICH 4.0 reads beyond its own memory if the operation does not commute and the type has gaps. */
    if (served)
        MPI_Reduce_scatter_block(own, expected, n, of.type, with.op, comm);
    int error = CALLV(own, found, n, of.type, with.op, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "reduce_scatter_block");
    expect(!served || same(of, n, found, expected), "the result of a reduce_scatter_block");
    free(own), free(found), free(expected);
}

static void varying(MPI_Comm comm, operation with)
{
    element of = with.of;
    int rank, p, all = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int served = with.commutes || ORDERED;
    int *counts = calloc((size_t)p, sizeof *counts);
    for (int block = 0; block < p; block++)
        all += counts[block] = block * 5 % 4;
    int n = counts[rank], *own = data(of, all, rank), *found = blank(of, n), *expected = blank(of, n);
    if (served)
        MPI_Reduce_scatter(own, expected, counts, of.type, with.op, comm);
    int error = CALL(own, found, counts, of.type, with.op, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "reduce_scatter");
    expect(!served || same(of, n, found, expected), "the result of a reduce_scatter");
    error = CALL(MPI_IN_PLACE, own, counts, of.type, with.op, comm VALUES);
    expect(error == (served ? MPI_SUCCESS : MPI_ERR_OP), "reduce_scatter in place");
    for (int i = 0; i < n * of.ints && served; i++)
        expect(!used(of, i) || own[i] == expected[i], "the result of a reduce_scatter in place");
    free(own), free(found), free(expected), free(counts);
}

int refused(MPI_Comm comm)
{
    int nothing = 0;
    return CALLV(&nothing, &nothing, 0, MPI_INT, MPI_SUM, comm VALUES);
}

void suite(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < OPERATIONS * LENGTHS; i++)
        equal(comm, operations[i / LENGTHS], lengths[i % LENGTHS]);
    for (int i = 0; i < OPERATIONS; i++)
        varying(comm, operations[i]);
}
