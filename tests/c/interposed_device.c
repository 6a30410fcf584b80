/* Device memory on some ranks, with a stand-in for a GPU runtime (device_runtime.c).
 *
 * interposed_device LIBRARY WHEN WHO: the runtime is loaded `early` (before MPI begins) or `late` (after the
 * communicators are in use), on `all` ranks or on the `last`. If early, the library does all calls and acts as if it
 * supported device memory; if late, any access to device memory crashes. `open` is late, without crashes. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 5
#define ROOM 4096
static int rank, p, failures, has_device, late;
static void *(*device_alloc)(size_t);
static int (*device_copy)(void *, const void *, size_t);
static void (*device_open)(void);
static int *device_in, *device_out;
static int in[ROOM / sizeof(int)], out[ROOM / sizeof(int)], expected[ROOM / sizeof(int)];

static void load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&device_alloc = dlsym(handle, "device_alloc");
    *(void **)&device_copy = dlsym(handle, "device_copy");
    *(void **)&device_open = dlsym(handle, "device_open");
    device_in = device_alloc(ROOM);
    device_out = device_alloc(ROOM);
    has_device = 1;
    if (!late)
        device_open();
}

/* Fills the send buffer, in device memory if there is any. */
static const void *sent(int salt)
{
    for (size_t i = 0; i < ROOM / sizeof(int); i++)
        in[i] = (int)(i * 7 + (size_t)rank * 1000 + (size_t)salt);
    memset(out, 0x5a, sizeof out);
    if (!has_device)
        return in;
    device_copy(device_in, in, ROOM);
    device_copy(device_out, out, ROOM);
    if (!late)
        device_open();
    return device_in;
}

static void *received(void)
{
    return has_device ? (void *)device_out : (void *)out;
}

static void compare(const char *what, const char *form)
{
    if (has_device) {
        device_copy(out, device_out, ROOM);
        if (!late)
            device_open();
    }
    if (memcmp(out, expected, ROOM) != 0) {
        fprintf(stderr, "rank %d: %s, %s: wrong data\n", rank, form, what);
        failures++;
    }
}

#if defined(OPEN_MPI) && defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(name) MPIX_##name##_init
#elif MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#endif

/* Only blocking calls, and none that shared memory leaves to the library, which cannot access this memory. */
static int blocking;

/* The library's result on host memory, then ours in all forms, with these buffers. */
#define PREPARE memset(expected, 0x5a, sizeof expected)
#define EACH(name, iname, library, ...)                                                                                 \
    do {                                                                                                                \
        const void *send = sent(salt);                                                                                  \
        void *recv = received();                                                                                        \
        PREPARE;                                                                                                        \
        library;                                                                                                        \
        MPI_##name(__VA_ARGS__);                                                                                        \
        compare(#name, "blocking");                                                                                     \
        send = sent(salt);                                                                                              \
        if (!blocking) {                                                                                                \
            MPI_##iname(__VA_ARGS__, &request);                                                                         \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                      \
            compare(#name, "nonblocking");                                                                              \
        }                                                                                                               \
        /* MPICH 4.0's own persistent gathers and scatters are wrong. */                                                \
        if (late && !blocking) {                                                                                        \
            PERSISTENT(name, __VA_ARGS__);                                                                              \
        }                                                                                                               \
        (void)send;                                                                                                     \
        salt++;                                                                                                         \
    } while (0)
#ifdef INIT
#define PERSISTENT(name, ...)                                                                                           \
    INIT(name)(__VA_ARGS__, MPI_INFO_NULL, &request);                                                                   \
    for (int start = 0; start < 2; start++) {                                                                           \
        sent(salt);                                                                                                     \
        MPI_Start(&request);                                                                                            \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                          \
        compare(#name, "persistent");                                                                                   \
    }                                                                                                                   \
    MPI_Request_free(&request)
#else
#define PERSISTENT(name, ...)
#endif

static void calls(MPI_Comm comm)
{
    static int salt;
    MPI_Request request;
    MPI_Datatype gaps;
    int counts[64], displs[64], swapped[64];
    for (int i = 0; i < 64; i++) {
        counts[i] = 1 + i % 3;
        displs[i] = 4 * i + 1;
        /* As much is sent to a rank as received from it. */
        swapped[i] = 1 + (rank + i) % 3;
    }
    MPI_Type_vector(2, 1, 3, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    EACH(Allreduce, Iallreduce, PMPI_Allreduce(in, expected, COUNT, MPI_INT, MPI_SUM, comm), send, recv, COUNT, MPI_INT, MPI_SUM, comm);
    EACH(Allgather, Iallgather, PMPI_Allgather(in, COUNT, MPI_INT, expected, COUNT, MPI_INT, comm), send, COUNT, MPI_INT, recv, COUNT,
         MPI_INT, comm);
    EACH(Allgather, Iallgather, PMPI_Allgather(in, 2, MPI_INT, expected, 1, gaps, comm), send, 2, MPI_INT, recv, 1, gaps, comm);
    EACH(Allgatherv, Iallgatherv, PMPI_Allgatherv(in, counts[rank], MPI_INT, expected, counts, displs, MPI_INT, comm), send,
         counts[rank], MPI_INT, recv, counts, displs, MPI_INT, comm);
    EACH(Alltoall, Ialltoall, PMPI_Alltoall(in, COUNT, MPI_INT, expected, COUNT, MPI_INT, comm), send, COUNT, MPI_INT, recv, COUNT,
         MPI_INT, comm);
    if (!blocking)
        EACH(Alltoallv, Ialltoallv, PMPI_Alltoallv(in, swapped, displs, MPI_INT, expected, swapped, displs, MPI_INT, comm), send, swapped,
         displs, MPI_INT, recv, swapped, displs, MPI_INT, comm);
    EACH(Bcast, Ibcast, PMPI_Bcast(rank == p - 1 ? in : expected, COUNT, MPI_INT, p - 1, comm), rank == p - 1 ? (void *)send : recv,
         COUNT, MPI_INT, p - 1, comm);
    EACH(Reduce_scatter_block, Ireduce_scatter_block, PMPI_Reduce_scatter_block(in, expected, COUNT, MPI_INT, MPI_SUM, comm), send, recv,
         COUNT, MPI_INT, MPI_SUM, comm);
    EACH(Reduce_scatter, Ireduce_scatter, PMPI_Reduce_scatter(in, expected, counts, MPI_INT, MPI_SUM, comm), send, recv, counts, MPI_INT,
         MPI_SUM, comm);
    EACH(Reduce, Ireduce, PMPI_Reduce(in, expected, COUNT, MPI_INT, MPI_MAX, p - 1, comm), send, recv, COUNT, MPI_INT, MPI_MAX, p - 1, comm);
    EACH(Gather, Igather, PMPI_Gather(in, COUNT, MPI_INT, expected, COUNT, MPI_INT, p - 1, comm), send, COUNT, MPI_INT, recv, COUNT,
         MPI_INT, p - 1, comm);
    EACH(Scatter, Iscatter, PMPI_Scatter(in, COUNT, MPI_INT, expected, COUNT, MPI_INT, p - 1, comm), send, COUNT, MPI_INT, recv, COUNT,
         MPI_INT, p - 1, comm);
    MPI_Type_free(&gaps);
}

int main(int argc, char **argv)
{
    int sum;
    if (argc < 4)
        return 2;
    late = strcmp(argv[2], "late") == 0;
    int after = late || strcmp(argv[2], "open") == 0;
    blocking = argc > 4;
    const char *number = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    const char *size = getenv("OMPI_COMM_WORLD_SIZE") ? getenv("OMPI_COMM_WORLD_SIZE") : getenv("PMI_SIZE");
    int loads = strcmp(argv[3], "all") == 0 || atoi(number) == atoi(size) - 1;
    if (loads && !after)
        load(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (after) {
        calls(MPI_COMM_WORLD);
        if (loads)
            load(argv[1]);
    }
    calls(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
