/*
 * Calls that the library passes on to MPI, on one pair of ranks, 8 bytes each: `passing time CALLS` prints thousands of
 * calls per second with the library and past it; `passing count CALL CALLS` makes calls in a function `measured`, for
 * callgrind, and prints allocations per call. With C_INTERFACE, the calls are those of Roundel's C interface.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

/* The number of allocations of this process and its libraries, while `counts` is set. */
static long allocations;
static int counts;

void *malloc(size_t bytes)
{
    allocations += counts;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations += counts;
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    allocations += counts;
    return __libc_realloc(old, bytes);
}

static int rank, p;
static double in = 1, out[64], all[64];

#ifdef C_INTERFACE
#include <roundel.h>
#define ROUNDEL_Allreduce(...) roundel_allreduce(__VA_ARGS__, NULL)
#define ROUNDEL_Allgather(...) roundel_allgather(__VA_ARGS__, NULL)
#define ROUNDEL_Alltoall(...) roundel_alltoall(__VA_ARGS__, NULL)
#define ROUNDEL_Bcast(...) roundel_bcast(__VA_ARGS__, NULL)
#define OURS(function) ROUNDEL_##function
#else
#define OURS(function) MPI_##function
#endif

/* A call by MPI's name, which the library interposes, or by Roundel's; and by the name that only MPI has. */
#define BOTH(name, function, ...) \
    static void name(void) { OURS(function)(__VA_ARGS__, MPI_COMM_WORLD); } \
    static void direct_##name(void) { PMPI_##function(__VA_ARGS__, MPI_COMM_WORLD); }

BOTH(allreduce, Allreduce, &in, out, 1, MPI_DOUBLE, MPI_SUM)
BOTH(allgather, Allgather, &in, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE)
BOTH(alltoall, Alltoall, out, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE)
BOTH(bcast, Bcast, &in, 1, MPI_DOUBLE, 0)

static const struct {
    const char *name;
    void (*call)(void), (*direct)(void);
} calls[] = {{"allreduce", allreduce, direct_allreduce},
             {"allgather", allgather, direct_allgather},
             {"alltoall", alltoall, direct_alltoall},
             {"bcast", bcast, direct_bcast}};
enum { CALLS = sizeof calls / sizeof *calls, BLOCK = 200 };

__attribute__((noinline)) void measured(void (*call)(void), int times)
{
    for (int i = 0; i < times; i++)
        call();
}

static double seconds(void (*call)(void))
{
    PMPI_Barrier(MPI_COMM_WORLD);
    double begin = PMPI_Wtime();
    measured(call, BLOCK);
    return PMPI_Wtime() - begin;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *of, int count)
{
    qsort(of, (size_t)count, sizeof *of, ascending);
    return of[count / 2];
}

/* Short blocks of both in turn, so that a disturbance affects both; the first one alternates. */
static void time_all(int times)
{
    int blocks = times / BLOCK + 1;
    double *with = malloc(sizeof *with * (size_t)blocks), *without = malloc(sizeof *without * (size_t)blocks);
    for (int i = 0; i < CALLS; i++) {
        seconds(calls[i].call);
        seconds(calls[i].direct);
        for (int j = 0; j < blocks; j++) {
            if (j % 2)
                with[j] = seconds(calls[i].call);
            without[j] = seconds(calls[i].direct);
            if (j % 2 == 0)
                with[j] = seconds(calls[i].call);
        }
        if (rank == 0) {
            printf("with %s %.4f\n", calls[i].name, BLOCK / median(with, blocks) / 1e3);
            printf("without %s %.4f\n", calls[i].name, BLOCK / median(without, blocks) / 1e3);
        }
    }
    free(with);
    free(without);
}

static void count_one(const char *name, int times)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0) {
            /* Warm-up calls, outside `measured`. */
            for (int j = 0; j < 20; j++)
                calls[i].call();
            counts = 1;
            measured(calls[i].call, times);
            counts = 0;
            if (rank == 0)
                printf("%s allocations %.3f\n", name, (double)allocations / times);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (argc == 3 && strcmp(argv[1], "time") == 0)
        time_all(atoi(argv[2]));
    else if (argc == 4 && strcmp(argv[1], "count") == 0)
        count_one(argv[2], atoi(argv[3]));
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
