/* Collectives of an unmodified program, against their definition: without names of Fortran, which the ABI of MPI 5 does
 * not have. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s is wrong on rank %d\n", what, rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static double contribution(int from, int i)
{
    return 1000.0 * from + i;
}

/* One call of each kind with n elements; in place if asked to. */
static void calls(int n, int in_place)
{
    double *one = malloc((size_t)(n + 1) * sizeof(double)), *all = malloc((size_t)(n * size + 1) * sizeof(double));
    double *more = malloc((size_t)(n * size + 1) * sizeof(double));
    double total = 1000.0 * size * (size - 1) / 2;

    for (int i = 0; i < n; i++)
        one[i] = contribution(rank, i);
    if (in_place)
        MPI_Allreduce(MPI_IN_PLACE, one, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Allreduce(one, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        expect((in_place ? one : all)[i] == total + (double)size * i, "MPI_Allreduce");

    for (int i = 0; i < n; i++)
        one[i] = all[rank * n + i] = contribution(rank, i);
    MPI_Allgather(in_place ? MPI_IN_PLACE : one, n, MPI_DOUBLE, all, n, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++)
        expect(all[i] == contribution(i / n, i % n), "MPI_Allgather");

    for (int i = 0; i < n * size; i++)
        all[i] = contribution(rank, i);
    MPI_Reduce_scatter_block(all, one, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        expect(one[i] == total + (double)size * (rank * n + i), "MPI_Reduce_scatter_block");

    MPI_Alltoall(all, n, MPI_DOUBLE, more, n, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++)
        expect(more[i] == contribution(i / n, rank * n + i % n), "MPI_Alltoall");

    int root = size - 1;
    for (int i = 0; i < n; i++)
        one[i] = rank == root ? contribution(root, i) : 0;
    MPI_Bcast(one, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        expect(one[i] == contribution(root, i), "MPI_Bcast");
    free(one);
    free(all);
    free(more);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int n = 0; n <= 5000; n = 3 * n + 1)
        for (int in_place = 0; in_place < 2; in_place++)
            for (int again = 0; again < 6; again++)
                calls(n, in_place);
    if (rank == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return 0;
}
