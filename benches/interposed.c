/* Times MPI's own functions, as any program calls them: `interposed BATCHES [COLLECTIVE BYTES...]`. Prints `collective
 * bytes microseconds`, medians of batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 65536 };
static const int sizes[] = {8, 64, 512, 4096, 16384, LARGEST};
static int rank, p;
static char *to, *from;

typedef void call(int bytes);

static void allgather(int bytes)
{
    MPI_Allgather(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void allreduce(int bytes)
{
    MPI_Allreduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(int bytes)
{
    MPI_Alltoall(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* The time of the slowest rank. */
static double batch(call *what, int bytes, int calls)
{
    double begin, own, slowest;
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = PMPI_Wtime();
    for (int i = 0; i < calls; i++)
        what(bytes);
    own = (PMPI_Wtime() - begin) / calls * 1e6;
    PMPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, call *what, int bytes, int batches)
{
    double *times = malloc(sizeof *times * (size_t)batches);
    batch(what, bytes, 3);
    for (int i = 0; i < batches; i++)
        times[i] = batch(what, bytes, bytes > 4096 ? 2 : 5);
    qsort(times, (size_t)batches, sizeof *times, compare);
    if (rank == 0)
        printf("%s %d %.3f\n", name, bytes, times[batches / 2]);
    free(times);
}

static call *named(const char *collective)
{
    if (strcmp(collective, "allgather") == 0) return allgather;
    if (strcmp(collective, "allreduce") == 0) return allreduce;
    if (strcmp(collective, "alltoall") == 0) return alltoall;
    MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    to = calloc((size_t)p, LARGEST);
    from = calloc((size_t)p, LARGEST);
    if (to == NULL || from == NULL || batches < 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 3; i < argc; i++) {
        int bytes = atoi(argv[i]);
        if (bytes < 1 || bytes > LARGEST)
            MPI_Abort(MPI_COMM_WORLD, 1);
        measure(argv[2], named(argv[2]), bytes, batches);
    }
    for (size_t i = 0; argc < 3 && i < sizeof sizes / sizeof *sizes; i++) {
        measure("allgather", allgather, sizes[i], batches);
        measure("allreduce", allreduce, sizes[i], batches);
        measure("alltoall", alltoall, sizes[i], batches);
    }
    free(to);
    free(from);
    MPI_Finalize();
    return 0;
}
