/*
 * Calls that the library passes on, on one pair of ranks, 8 bytes each: `passing time CALLS` prints thousands of calls per second,
 * `passing count CALL CALLS` makes calls in a function `measured`, for callgrind, and prints allocations per call.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

/* Allocations of this process, its libraries included, while it counts. */
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

static void allreduce(void)
{
    MPI_Allreduce(&in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(void)
{
    MPI_Allgather(&in, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void bcast(void)
{
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void sendrecv(void)
{
    MPI_Sendrecv(&in, 1, MPI_DOUBLE, (rank + 1) % p, 0, out, 1, MPI_DOUBLE, (rank + p - 1) % p, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pingpong(void)
{
    int first = rank == 0;
    if (first)
        MPI_Send(&in, 1, MPI_DOUBLE, p - 1, 0, MPI_COMM_WORLD);
    if (rank == p - 1)
        MPI_Recv(out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == p - 1)
        MPI_Send(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (first)
        MPI_Recv(out, 1, MPI_DOUBLE, p - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void isend_wait(void)
{
    MPI_Request requests[2];
    MPI_Irecv(out, 1, MPI_DOUBLE, (rank + p - 1) % p, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&in, 1, MPI_DOUBLE, (rank + 1) % p, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"allreduce", allreduce}, {"allgather", allgather}, {"alltoall", alltoall}, {"bcast", bcast}, {"barrier", barrier},
             {"sendrecv", sendrecv}, {"pingpong", pingpong}, {"isend+wait", isend_wait}};
enum { CALLS = sizeof calls / sizeof *calls };

__attribute__((noinline)) void measured(void (*call)(void), int times)
{
    for (int i = 0; i < times; i++)
        call();
}

static void time_all(int times)
{
    for (int i = 0; i < CALLS; i++) {
        measured(calls[i].call, times / 10);
        PMPI_Barrier(MPI_COMM_WORLD);
        double begin = PMPI_Wtime();
        measured(calls[i].call, times);
        double took = PMPI_Wtime() - begin;
        if (rank == 0)
            printf("%s %.3f\n", calls[i].name, times / took / 1e3);
    }
}

static void count_one(const char *name, int times)
{
    for (int i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0) {
            /* Not in `measured`. */
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
