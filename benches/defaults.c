/* Times MPI's collectives through whatever is loaded before MPI (MPI_) and past it (PMPI_), in one job and in turn:
 * `defaults BATCHES [LARGEST]`. Prints `cell COLLECTIVE BYTES through past`, microseconds per call, medians of batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int sizes[] = {8, 1024, 4096, 16384, 65536, 262144, 1048576};
/* No buffer is longer. */
enum { MEMORY = 16 << 20 };
static int rank, p;
static char *to, *from;
static int *counts, *displs;

typedef void call(int bytes);
typedef struct { const char *name; call *through, *past; int per_rank; } collective;

/* Both forms of one call; MPI_X is what a program calls. */
#define BOTH(name, ...) \
    static void name##_through(int bytes) { (void)bytes; MPI_##__VA_ARGS__; } \
    static void name##_past(int bytes) { (void)bytes; PMPI_##__VA_ARGS__; }
#define WORLD MPI_COMM_WORLD
BOTH(allgather, Allgather(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, WORLD))
BOTH(allgatherv, Allgatherv(to, bytes, MPI_BYTE, from, counts, displs, MPI_BYTE, WORLD))
BOTH(allreduce, Allreduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD))
BOTH(reduce_scatter, Reduce_scatter_block(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, WORLD))
BOTH(broadcast, Bcast(to, bytes, MPI_BYTE, 0, WORLD))
BOTH(reduce, Reduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, WORLD))
BOTH(gather, Gather(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, 0, WORLD))
BOTH(scatter, Scatter(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, 0, WORLD))
BOTH(alltoall, Alltoall(to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, WORLD))
BOTH(alltoallv, Alltoallv(to, counts, displs, MPI_BYTE, from, counts, displs, MPI_BYTE, WORLD))

/* A communicator that is made, used once, and freed. */
static void once_through(int bytes)
{
    MPI_Comm comm;
    MPI_Comm_dup(WORLD, &comm);
    MPI_Allreduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Comm_free(&comm);
}

static void once_past(int bytes)
{
    MPI_Comm comm;
    PMPI_Comm_dup(WORLD, &comm);
    PMPI_Allreduce(to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
    PMPI_Comm_free(&comm);
}

#define ENTRY(name, per_rank) {#name, name##_through, name##_past, per_rank}
static const collective collectives[] = {
    ENTRY(allgather, 1), ENTRY(allgatherv, 1), ENTRY(allreduce, 0), ENTRY(reduce_scatter, 1), ENTRY(broadcast, 0),
    ENTRY(reduce, 0),    ENTRY(gather, 1),     ENTRY(scatter, 1),   ENTRY(alltoall, 1),       ENTRY(alltoallv, 1),
};

/* The slowest rank counts. */
static double batch(call *what, int bytes, int calls)
{
    double begin, own, slowest;
    PMPI_Barrier(WORLD);
    begin = PMPI_Wtime();
    for (int i = 0; i < calls; i++)
        what(bytes);
    own = (PMPI_Wtime() - begin) / calls * 1e6;
    PMPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, compare);
    return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

/* So many calls that a batch takes about two milliseconds, and at least two. All ranks hear the same. */
static int calls_of(const collective *of, int bytes)
{
    double each = batch(of->past, bytes, 3);
    int calls = (int)(2000.0 / (each + 0.1));
    return calls < 2 ? 2 : calls > 200 ? 200 : calls;
}

static void measure(const collective *of, int bytes, int batches)
{
    double *through = malloc(sizeof *through * (size_t)batches), *past = malloc(sizeof *past * (size_t)batches);
    /* Plans are made, and communicators set up, before anything is timed. */
    batch(of->through, bytes, 8);
    int calls = calls_of(of, bytes);
    for (int i = 0; i < batches; i++) {
        /* Neither form is always the first. */
        if (i % 2) through[i] = batch(of->through, bytes, calls);
        past[i] = batch(of->past, bytes, calls);
        if (i % 2 == 0) through[i] = batch(of->through, bytes, calls);
    }
    double ours = median(through, batches), theirs = median(past, batches);
    if (rank == 0) {
        printf("cell %s %d %.3f %.3f\n", of->name, bytes, ours, theirs);
        fflush(stdout);
    }
    free(through);
    free(past);
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 20, largest = argc > 2 ? atoi(argv[2]) : 1 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &p);
    to = calloc(1, MEMORY);
    from = calloc(1, MEMORY);
    counts = calloc((size_t)p, sizeof *counts);
    displs = calloc((size_t)p, sizeof *displs);
    if (to == NULL || from == NULL || counts == NULL || displs == NULL || batches < 1)
        MPI_Abort(WORLD, 1);
    memset(to, 1, MEMORY);
    memset(from, 1, MEMORY);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof collectives / sizeof *collectives; j++) {
            const collective *of = &collectives[j];
            if (sizes[i] > largest || (of->per_rank && (double)sizes[i] * p > MEMORY))
                continue;
            for (int r = 0; r < p; r++) {
                counts[r] = sizes[i];
                displs[r] = r * sizes[i];
            }
            measure(of, sizes[i], batches);
        }
    measure(&(collective)ENTRY(once, 0), 8, batches);
    free(to);
    free(from);
    free(counts);
    free(displs);
    MPI_Finalize();
    return 0;
}
