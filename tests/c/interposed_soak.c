/* Many calls of changing shapes, many communicators, many requests, several threads: results are right, and memory does
 * not grow.
 *
 *   interposed_soak CALLS COMMUNICATORS REQUESTS [threads|unmeasured]
 *
 * Memory is measured after a tenth of the calls, and of the communicators, and at the end. The memory that the library
 * itself needs for as many communicators without a call is subtracted. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 3000
/* More than this is a leak: a byte in each of 10^5 calls is a tenth of it. */
#define SLACK (1024 * 1024)

static int rank, p, failures;

static uint32_t next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static long resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void expect(int right, const char *what, long number)
{
    if (!right) {
        fprintf(stderr, "rank %d: %s %ld is wrong\n", rank, what, number);
        failures++;
    }
}

typedef struct {
    int in[MOST], out[MOST];
} memory;

/* One call of some shape, the same on all ranks; the memory is this thread's. */
static void call(MPI_Comm comm, uint32_t *seed, memory *m, long number)
{
    int me, size, right = 1, count = (int)(next(seed) % (next(seed) % 16 == 0 ? 200 : 12)), root = (int)(next(seed) % 1000);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    root %= size;
    for (int i = 0; i < count * size || i < 2; i++)
        m->in[i] = me * 1000 + i;
    switch (next(seed) % 8) {
    case 0:
        MPI_Allreduce(m->in, m->out, count, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < count; i++)
            right &= m->out[i] == 1000 * size * (size - 1) / 2 + i * size;
        break;
    case 1:
        MPI_Allgather(m->in, count, MPI_INT, m->out, count, MPI_INT, comm);
        for (int i = 0; i < count * size; i++)
            right &= m->out[i] == i / count * 1000 + i % count;
        break;
    case 2:
        MPI_Alltoall(m->in, count, MPI_INT, m->out, count, MPI_INT, comm);
        for (int i = 0; i < count * size; i++)
            right &= m->out[i] == i / count * 1000 + me * count + i % count;
        break;
    case 3:
        MPI_Bcast(m->in, count, MPI_INT, root, comm);
        for (int i = 0; i < count; i++)
            right &= m->in[i] == root * 1000 + i;
        break;
    case 4:
        MPI_Gather(m->in, count, MPI_INT, m->out, count, MPI_INT, root, comm);
        for (int i = 0; me == root && i < count * size; i++)
            right &= m->out[i] == i / count * 1000 + i % count;
        break;
    case 5:
        MPI_Reduce_scatter_block(m->in, m->out, count, MPI_INT, MPI_MAX, comm);
        for (int i = 0; i < count; i++)
            right &= m->out[i] == (size - 1) * 1000 + me * count + i;
        break;
    case 6: {
        /* Each rank sends more the higher its number is, and not more than there is room for. */
        int most = MOST / size / 2, sends[64], from[64], takes[64], to[64];
        for (int i = 0; size <= 64 && i < size; i++) {
            int sent = count * me + i % 3, taken = count * i + me % 3;
            sends[i] = sent < most ? sent : most;
            takes[i] = taken < most ? taken : most;
            from[i] = to[i] = i * most;
            for (int j = 0; j < sends[i]; j++)
                m->in[from[i] + j] = me * 1000 + i + j;
        }
        if (size > 64)
            break;
        MPI_Alltoallv(m->in, sends, from, MPI_INT, m->out, takes, to, MPI_INT, comm);
        for (int i = 0; i < size; i++)
            for (int j = 0; j < takes[i]; j++)
                right &= m->out[to[i] + j] == i * 1000 + me + j;
        break;
    }
    default: {
        MPI_Datatype pairs;
        MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
        MPI_Type_commit(&pairs);
        MPI_Allgather(m->in, 2, MPI_INT, m->out, 1, pairs, comm);
        right = m->out[0] == 0 && m->out[2] == 1;
        MPI_Type_free(&pairs);
    }
    }
    expect(right, "call", number);
}

static long changing_shapes(long calls)
{
    static memory m;
    uint32_t seed = 4711;
    long before = 0;
    for (long i = 0; i < calls; i++) {
        if (i == calls / 10)
            before = resident();
        call(MPI_COMM_WORLD, &seed, &m, i);
    }
    return resident() - before;
}

static long communicators(long count, int used)
{
    static memory m;
    uint32_t seed = 815;
    long before = 0;
    for (long i = 0; i < count; i++) {
        MPI_Comm comm;
        if (i == count / 10)
            before = resident();
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int j = 0; used && j < 8; j++)
            call(comm, &seed, &m, i);
        MPI_Comm_free(&comm);
    }
    return resident() - before;
}

static void shuffle(int *order, int count, uint32_t seed)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(next(&seed) % (uint32_t)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* Each rank completes them in its own order. */
static void outstanding(int count)
{
    MPI_Request *requests = malloc(sizeof *requests * (size_t)count);
    int(*in)[3] = malloc(sizeof *in * (size_t)count), (*out)[3] = malloc(sizeof *out * (size_t)count);
    int *order = malloc(sizeof *order * (size_t)count);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < 3; j++)
            in[i][j] = rank + i + j;
        if (i % 3 == 0)
            MPI_Ibcast(in[i], 3, MPI_INT, i % p, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Iallreduce(in[i], out[i], 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    shuffle(order, count, (uint32_t)(rank * 77 + 13));
    for (int i = 0; i < count; i++) {
        int k = order[i], right = 1;
        MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
        for (int j = 0; j < 3; j++)
            right &= k % 3 == 0 ? in[k][j] == k % p + k + j : out[k][j] == p * (p - 1) / 2 + p * (k + j);
        expect(right, "request", k);
    }
    free(order);
    free(out);
    free(in);
    free(requests);
}

/* Each rank starts and completes them in its own order. */
static void persistent(int count, int rounds)
{
#if defined(OPEN_MPI) && defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT MPIX_Allreduce_init
#elif MPI_VERSION >= 4
#define INIT MPI_Allreduce_init
#endif
#ifdef INIT
    MPI_Request *requests = malloc(sizeof *requests * (size_t)count);
    int *in = malloc(sizeof *in * (size_t)count), *out = malloc(sizeof *out * (size_t)count);
    int *order = malloc(sizeof *order * (size_t)count);
    for (int i = 0; i < count; i++)
        INIT(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++)
            in[i] = rank + i * round;
        shuffle(order, count, (uint32_t)(rank * 31 + round * 7 + 1));
        for (int i = 0; i < count; i++)
            MPI_Start(&requests[order[i]]);
        shuffle(order, count, (uint32_t)(rank * 17 + round * 3 + 1));
        for (int i = 0; i < count; i++) {
            int k = order[i];
            MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
            expect(out[k] == p * (p - 1) / 2 + p * k * round, "persistent request", k);
        }
    }
    for (int i = 0; i < count; i++)
        MPI_Request_free(&requests[i]);
    free(order);
    free(out);
    free(in);
    free(requests);
#else
    (void)count;
    (void)rounds;
#endif
}

typedef struct {
    MPI_Comm comm;
    int number;
    long calls;
} task;

static void *thread(void *argument)
{
    task *t = argument;
    memory *m = malloc(sizeof *m);
    uint32_t seed = (uint32_t)t->number * 99 + 5;
    for (long i = 0; i < t->calls; i++)
        call(t->comm, &seed, m, i);
    free(m);
    return NULL;
}

#define THREADS 3

static void threads(long calls)
{
    pthread_t running[THREADS];
    task tasks[THREADS];
    for (int i = 0; i < THREADS; i++) {
        tasks[i].number = i;
        tasks[i].calls = calls;
        MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&running[i], NULL, thread, &tasks[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(running[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&tasks[i].comm);
}

static int unmeasured;

static void flat(const char *what, long growth)
{
    if (growth > SLACK && !unmeasured) {
        fprintf(stderr, "rank %d: %s: memory grows by %ld bytes\n", rank, what, growth);
        failures++;
    }
}

int main(int argc, char **argv)
{
    int level, sum, many = argc > 4 && strcmp(argv[4], "threads") == 0;
    unmeasured = argc > 4 && strcmp(argv[4], "unmeasured") == 0;
    long calls = argc > 3 ? atol(argv[1]) : 1000, comms = argc > 3 ? atol(argv[2]) : 100;
    int requests = argc > 3 ? atoi(argv[3]) : 100;
    /* With MPI_THREAD_MULTIPLE, requests go to the library on some MPIs. */
    MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (many) {
        if (level == MPI_THREAD_MULTIPLE)
            threads(calls / 10);
    } else {
        flat("calls of changing shapes", changing_shapes(calls));
        long own = communicators(comms, 0);
        flat("communicators", communicators(comms, 1) - (own > 0 ? own : 0));
        outstanding(requests);
        persistent(requests / 10, 5);
    }
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
