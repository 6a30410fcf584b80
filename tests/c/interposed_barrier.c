/* Barriers: no rank leaves one before all ranks have entered it. Ranks share a clock, because all of them run on this
 * machine; one of them is late each time.
 *
 *   interposed_barrier TIMES [blocking|started|prepared|skipped]
 *
 * Blocking barriers, non-blocking ones, or persistent ones. With `skipped`, ranks do not meet, which must be found. */
#define _GNU_SOURCE
#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static enum { BLOCKING, STARTED, PREPARED, SKIPPED } form;
static const char *const forms[] = {"blocking", "started", "prepared", "skipped"};

/* Makes a persistent barrier, if this MPI has it; otherwise a non-blocking one takes its place. */
static int prepare(MPI_Comm comm, MPI_Request *prepared)
{
#if MPI_VERSION >= 4
    return MPI_Barrier_init(comm, MPI_INFO_NULL, prepared);
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
    return MPIX_Barrier_init(comm, MPI_INFO_NULL, prepared);
#else
    (void)comm, (void)prepared;
    return MPI_SUCCESS;
#endif
}

/* Enters and leaves a barrier. */
static void meet(MPI_Comm comm, MPI_Request *prepared)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int done = 0;
    if (form == BLOCKING) {
        MPI_Barrier(comm);
    } else if (form == PREPARED && *prepared != MPI_REQUEST_NULL) {
        MPI_Start(prepared);
        MPI_Wait(prepared, MPI_STATUS_IGNORE);
    } else if (form != SKIPPED) {
        /* Two at a time, completed in the other order. */
        MPI_Ibarrier(comm, &requests[0]);
        MPI_Ibarrier(comm, &requests[1]);
        while (!done)
            MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
}

/* The number of barriers that a rank left too early. */
static int barriers(MPI_Comm comm, int times)
{
    int rank, p, early = 0;
    MPI_Request prepared = MPI_REQUEST_NULL;
    if (form == PREPARED && prepare(comm, &prepared) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < times; i++) {
        /* Every fourth time nobody is late. */
        if (i % 4 && rank == i % p) {
            struct timespec late = {0, 1000L * (1 + i * 37 % 1500)};
            nanosleep(&late, NULL);
        }
        long long entered = now(), last;
        meet(comm, &prepared);
        long long left = now();
        PMPI_Allreduce(&entered, &last, 1, MPI_LONG_LONG, MPI_MAX, comm);
        early += left < last;
        /* Barriers one after the other, and among other collectives. */
        if (i % 3 == 0) {
            int one = 1, sum = 0;
            MPI_Barrier(comm);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
            early += sum != p;
            MPI_Barrier(comm);
            MPI_Barrier(comm);
        }
    }
    if (prepared != MPI_REQUEST_NULL)
        MPI_Request_free(&prepared);
    return early;
}

int main(int argc, char **argv)
{
    int rank, p, times = argc > 1 ? atoi(argv[1]) : 50, wrong = 0, sum;
    MPI_Comm half, copy;
    for (int i = 0; argc > 2 && i < 4; i++)
        if (!strcmp(argv[2], forms[i]))
            form = i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    wrong += barriers(MPI_COMM_WORLD, times);
    wrong += barriers(half, times);
    wrong += barriers(copy, times);
    wrong += barriers(MPI_COMM_SELF, times);
    /* Invalid ones get MPI's error. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class = MPI_SUCCESS, code = MPI_Barrier(MPI_COMM_NULL);
    MPI_Error_class(code, &class);
    wrong += class != MPI_ERR_COMM;
    MPI_Request none = MPI_REQUEST_NULL;
    code = MPI_Ibarrier(MPI_COMM_NULL, &none);
    MPI_Error_class(code, &class);
    wrong += class != MPI_ERR_COMM;
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum)
        printf("%d wrong barriers\n", sum);
    else if (rank == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
