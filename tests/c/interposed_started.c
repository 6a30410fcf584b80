/* Calls that were started advance while ranks ask each other, in a later call, whether they can read each other's
 * memory: rank 0 makes that call before it waits for the others, and the other ranks wait first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG = 1 << 15 };
static int given[LONG], sums[LONG], block[LONG];

int main(int argc, char **argv)
{
    int rank, p, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int *blocks = malloc(sizeof(int) * LONG * p);
    for (int turn = 0; turn < 20; turn++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        /* The memory of a communicator is made after a few calls. */
        for (int i = 0; i < 10; i++)
            MPI_Allreduce(given, sums, 1, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < LONG; i++) {
            given[i] = rank + i + turn;
            block[i] = rank * 31 + i + turn;
        }
        MPI_Iallreduce(given, sums, LONG, MPI_INT, MPI_SUM, comm, &request);
        if (rank > 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allgather(block, LONG, MPI_INT, blocks, LONG, MPI_INT, comm);
        if (rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < LONG; i++) {
            failures += sums[i] != p * (p - 1) / 2 + p * (i + turn);
            for (int of = 0; of < p; of++)
                failures += blocks[of * LONG + i] != of * 31 + i + turn;
        }
        MPI_Comm_free(&comm);
    }
    int all;
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all == 0 ? "all as expected\n" : "numbers are wrong\n");
    free(blocks);
    MPI_Finalize();
    return all > 0;
}
