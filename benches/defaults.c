/* Times MPI's collectives through the library loaded before MPI (MPI_) and past it (PMPI_), in turn in one job:
 * `defaults BATCHES [LARGEST [blocking|nonblocking|persistent [COLLECTIVE]]]`. Prints `cell COLLECTIVE BYTES through past`,
 * microseconds per call, medians of batches. Non-blocking calls are waited for at once. */
#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int sizes[] = {8, 1024, 4096, 16384, 65536, 262144, 1048576};
/* The size of the buffers. */
enum { MEMORY = 16 << 20 };
static int rank, p;
static char *to, *from;
static int *counts, *displs;

/* How a call is made. */
typedef void call(int bytes);
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const char *const forms[FORMS] = {"blocking", "nonblocking", "persistent"};
typedef struct { const char *name; call *through[FORMS], *past[FORMS], *init; int per_rank; } collective;

/* The persistent requests of the cell, through and past. */
static MPI_Request prepared[2];
static void prepared_through(int bytes)
{
    (void)bytes;
    MPI_Start(&prepared[0]);
    MPI_Wait(&prepared[0], MPI_STATUS_IGNORE);
}
static void prepared_past(int bytes)
{
    (void)bytes;
    PMPI_Start(&prepared[1]);
    PMPI_Wait(&prepared[1], MPI_STATUS_IGNORE);
}

/* Persistent collectives are an extension of Open MPI 4. */
#if MPI_VERSION >= 4
#define INIT(prefix, Name, ...) prefix##MPI_##Name##_init(__VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(prefix, Name, ...) prefix##MPIX_##Name##_init(__VA_ARGS__)
#else
#define INIT(prefix, Name, ...) MPI_Abort(WORLD, 2)
#endif

/* All forms of one call; MPI_X is what a program calls. */
#define WORLD MPI_COMM_WORLD
#define DEFINE(name, Name, Iname, ...) \
    static void name##_through(int bytes) { (void)bytes; MPI_##Name(__VA_ARGS__, WORLD); } \
    static void name##_past(int bytes) { (void)bytes; PMPI_##Name(__VA_ARGS__, WORLD); } \
    static void i##name##_through(int bytes) \
    { \
        MPI_Request request; \
        (void)bytes; \
        MPI_##Iname(__VA_ARGS__, WORLD, &request); \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
    } \
    static void i##name##_past(int bytes) \
    { \
        MPI_Request request; \
        (void)bytes; \
        PMPI_##Iname(__VA_ARGS__, WORLD, &request); \
        PMPI_Wait(&request, MPI_STATUS_IGNORE); \
    } \
    static void name##_init(int bytes) \
    { \
        (void)bytes; \
        INIT(, Name, __VA_ARGS__, WORLD, MPI_INFO_NULL, &prepared[0]); \
        INIT(P, Name, __VA_ARGS__, WORLD, MPI_INFO_NULL, &prepared[1]); \
    }
DEFINE(allgather, Allgather, Iallgather, to, bytes, MPI_BYTE, from, bytes, MPI_BYTE)
DEFINE(allgatherv, Allgatherv, Iallgatherv, to, bytes, MPI_BYTE, from, counts, displs, MPI_BYTE)
DEFINE(allreduce, Allreduce, Iallreduce, to, from, bytes / 8, MPI_DOUBLE, MPI_SUM)
DEFINE(reduce_scatter, Reduce_scatter_block, Ireduce_scatter_block, to, from, bytes / 8, MPI_DOUBLE, MPI_SUM)
DEFINE(broadcast, Bcast, Ibcast, to, bytes, MPI_BYTE, 0)
DEFINE(reduce, Reduce, Ireduce, to, from, bytes / 8, MPI_DOUBLE, MPI_SUM, 0)
DEFINE(gather, Gather, Igather, to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, 0)
DEFINE(scatter, Scatter, Iscatter, to, bytes, MPI_BYTE, from, bytes, MPI_BYTE, 0)
DEFINE(alltoall, Alltoall, Ialltoall, to, bytes, MPI_BYTE, from, bytes, MPI_BYTE)
DEFINE(alltoallv, Alltoallv, Ialltoallv, to, counts, displs, MPI_BYTE, from, counts, displs, MPI_BYTE)

/* A communicator that is created, used once, and freed. */
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

/* A barrier has no data, so it is measured once, as if it had 8 bytes. */
#define DEFINE_BARRIER(P, suffix) \
    static void barrier_##suffix(int bytes) \
    { \
        (void)bytes; \
        P##MPI_Barrier(WORLD); \
    } \
    static void ibarrier_##suffix(int bytes) \
    { \
        MPI_Request request; \
        (void)bytes; \
        P##MPI_Ibarrier(WORLD, &request); \
        P##MPI_Wait(&request, MPI_STATUS_IGNORE); \
    }
DEFINE_BARRIER(, through)
DEFINE_BARRIER(P, past)

static void barrier_init(int bytes)
{
    (void)bytes;
    INIT(, Barrier, WORLD, MPI_INFO_NULL, &prepared[0]);
    INIT(P, Barrier, WORLD, MPI_INFO_NULL, &prepared[1]);
}

#define ENTRY(name, per_rank) \
    {#name, \
     {name##_through, i##name##_through, prepared_through}, \
     {name##_past, i##name##_past, prepared_past}, \
     name##_init, \
     per_rank}
static const collective collectives[] = {
    ENTRY(allgather, 1), ENTRY(allgatherv, 1), ENTRY(allreduce, 0), ENTRY(reduce_scatter, 1), ENTRY(broadcast, 0),
    ENTRY(reduce, 0),    ENTRY(gather, 1),     ENTRY(scatter, 1),   ENTRY(alltoall, 1),       ENTRY(alltoallv, 1),
};

/* The time of the slowest rank. */
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

/* The number of calls in a batch of about two milliseconds, at least two. Equal on all ranks. */
static int calls_of(call *past, int bytes)
{
    double each = batch(past, bytes, 3);
    int calls = (int)(2000.0 / (each + 0.1));
    return calls < 2 ? 2 : calls > 200 ? 200 : calls;
}

static void measure(const collective *of, int form, int bytes, int batches)
{
    call *is_through = of->through[form], *is_past = of->past[form];
    double *through = malloc(sizeof *through * (size_t)batches), *past = malloc(sizeof *past * (size_t)batches);
    /* Plans are made and communicators set up before anything is timed. */
    batch(of->through[BLOCKING], bytes, 8);
    if (form == PERSISTENT)
        of->init(bytes);
    batch(is_through, bytes, 8);
    int calls = calls_of(is_past, bytes);
    for (int i = 0; i < batches; i++) {
        /* The order alternates, so that neither variant is always first. */
        if (i % 2) through[i] = batch(is_through, bytes, calls);
        past[i] = batch(is_past, bytes, calls);
        if (i % 2 == 0) through[i] = batch(is_through, bytes, calls);
    }
    double ours = median(through, batches), theirs = median(past, batches);
    if (rank == 0) {
        printf("cell %s %d %.3f %.3f\n", of->name, bytes, ours, theirs);
        fflush(stdout);
    }
    for (int i = 0; form == PERSISTENT && i < 2; i++)
        MPI_Request_free(&prepared[i]);
    free(through);
    free(past);
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 20, largest = argc > 2 ? atoi(argv[2]) : 1 << 20, form = 0;
    const char *only = argc > 4 ? argv[4] : "";
    while (argc > 3 && form < FORMS && strcmp(argv[3], forms[form]))
        form++;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &p);
    to = calloc(1, MEMORY);
    from = calloc(1, MEMORY);
    counts = calloc((size_t)p, sizeof *counts);
    displs = calloc((size_t)p, sizeof *displs);
    if (to == NULL || from == NULL || counts == NULL || displs == NULL || batches < 1 || form == FORMS)
        MPI_Abort(WORLD, 1);
    memset(to, 1, MEMORY);
    memset(from, 1, MEMORY);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof collectives / sizeof *collectives; j++) {
            const collective *of = &collectives[j];
            if (sizes[i] > largest || (of->per_rank && (double)sizes[i] * p > MEMORY))
                continue;
            if (*only && strcmp(only, of->name))
                continue;
            for (int r = 0; r < p; r++) {
                counts[r] = sizes[i];
                displs[r] = r * sizes[i];
            }
            measure(of, form, sizes[i], batches);
        }
    if (!*only || !strcmp(only, "barrier"))
        measure(&(collective)ENTRY(barrier, 0), form, 8, batches);
    if (form == BLOCKING && !*only)
        measure(&(collective){"once", {once_through}, {once_past}, NULL, 0}, form, 8, batches);
    free(to);
    free(from);
    free(counts);
    free(displs);
    MPI_Finalize();
    return 0;
}
