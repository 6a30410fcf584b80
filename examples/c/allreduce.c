/*
 * A sum over all ranks with libroundel: at once, in the background, and prepared for many times.
 *
 * With libroundel installed in $HOME/roundel (docs/c.md):
 *
 *   export PKG_CONFIG_PATH=$HOME/roundel/lib/pkgconfig
 *   mpicc -o allreduce allreduce.c $(pkg-config --cflags --libs roundel) -Wl,-rpath,$HOME/roundel/lib
 *   mpirun -n 4 ./allreduce
 */
#include <roundel.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static double mine[N], sum[N];

/* Ends the program with the reason if something went wrong. With MPI_ERRORS_ARE_FATAL, MPI does so itself. */
static void check(int code)
{
    char text[500];
    if (code == MPI_SUCCESS)
        return;
    roundel_last_error(text, sizeof text);
    fprintf(stderr, "roundel: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compare(double factor, int p)
{
    for (int i = 0; i < N; i++)
        if (sum[i] != factor * p * (p + 1) / 2) {
            fprintf(stderr, "the sum is wrong\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void fill(double value)
{
    for (int i = 0; i < N; i++)
        mine[i] = value, sum[i] = -1;
}

int main(int argc, char **argv)
{
    int rank, p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);

    /* By an algorithm of the catalogue. */
    roundel_algorithm *how;
    check(roundel_algorithm_create("allreduce/rabenseifner", &how));
    fill(rank + 1);
    check(roundel_allreduce(mine, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, how));
    compare(1, p);

    /* In the background, with the algorithm that the environment or the default selects. */
    roundel_request *request;
    fill(rank + 1);
    check(roundel_iallreduce(mine, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, NULL, &request));
    for (int done = 0; !done;)
        check(roundel_test(&request, &done)); /* and do something useful */
    compare(1, p);

    /* Prepared once, and started many times. */
    check(roundel_allreduce_init(mine, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, how, &request));
    for (int step = 1; step <= 3; step++) {
        fill(step * (rank + 1));
        check(roundel_start(&request));
        check(roundel_wait(&request));
        compare(step, p);
    }
    check(roundel_request_free(&request));
    check(roundel_algorithm_free(&how));

    MPI_Finalize();
    if (rank == 0)
        printf("Roundel %s, %d ranks: all as expected\n", roundel_version(), p);
    return 0;
}
