/* Concurrent calls, completed in another order on every second rank; and misuse of requests. */
#include "capi.h"

enum { LENGTH = 200, CALLS = 6 };

/* Everything that six calls need; all ranks start them in the same order. */
typedef struct {
    int own[LENGTH], sum[LENGTH], library[LENGTH], root[LENGTH], again[LENGTH];
    int *gathered, *exchanged, *sent;
    roundel_request *requests[CALLS];
} calls;

static roundel_algorithm *named(const char *name)
{
    roundel_algorithm *how = NULL;
    expect(roundel_algorithm_create(name, &how) == MPI_SUCCESS, "the name", name);
    return how;
}

static void begin(calls *all, MPI_Comm comm, int rank, int p)
{
    roundel_algorithm *ring = named("allreduce/ring"), *library = named("allreduce/library"), *bruck = named("allgather/bruck");
    for (int i = 0; i < LENGTH; i++)
        all->own[i] = rank + i, all->root[i] = rank == p - 1 ? 5 * i : -1, all->again[i] = -1;
    all->gathered = calloc((size_t)(p * LENGTH), sizeof(int));
    all->exchanged = calloc((size_t)(p * LENGTH), sizeof(int));
    all->sent = calloc((size_t)(p * LENGTH), sizeof(int));
    for (int i = 0; i < p * LENGTH; i++)
        all->sent[i] = rank * p * LENGTH + i;
    int code = roundel_iallreduce(all->own, all->sum, LENGTH, MPI_INT, MPI_SUM, comm, ring, &all->requests[0]);
    expect(code == MPI_SUCCESS, "iallreduce", "many");
    code = roundel_iallreduce(all->own, all->library, LENGTH, MPI_INT, MPI_MAX, comm, library, &all->requests[1]);
    expect(code == MPI_SUCCESS, "iallreduce by the library", "many");
    code = roundel_iallgather(all->own, LENGTH, MPI_INT, all->gathered, LENGTH, MPI_INT, comm, bruck, &all->requests[2]);
    expect(code == MPI_SUCCESS, "iallgather", "many");
    code = roundel_ibcast(all->root, LENGTH, MPI_INT, p - 1, comm, NULL, &all->requests[3]);
    expect(code == MPI_SUCCESS, "ibcast", "many");
    code = roundel_ialltoall(all->sent, LENGTH, MPI_INT, all->exchanged, LENGTH, MPI_INT, comm, NULL, &all->requests[4]);
    expect(code == MPI_SUCCESS, "ialltoall", "many");
    code = roundel_allreduce_init(all->own, all->again, LENGTH, MPI_INT, MPI_SUM, comm, ring, &all->requests[5]);
    expect(code == MPI_SUCCESS && roundel_start(&all->requests[5]) == MPI_SUCCESS, "allreduce_init", "many");
    /* Requests no longer need them. */
    roundel_algorithm_free(&ring), roundel_algorithm_free(&library), roundel_algorithm_free(&bruck);
}

/* By the definitions of the collectives. */
static void check(calls *all, int rank, int p)
{
    for (int i = 0; i < LENGTH; i++) {
        int sum = p * i + p * (p - 1) / 2;
        expect(all->sum[i] == sum && all->again[i] == sum, "a sum", "many");
        expect(all->library[i] == p - 1 + i, "a maximum", "many");
        expect(all->root[i] == 5 * i, "what the root has", "many");
        for (int from = 0; from < p; from++) {
            expect(all->gathered[from * LENGTH + i] == from + i, "what was gathered", "many");
            expect(all->exchanged[from * LENGTH + i] == (from * p + rank) * LENGTH + i, "what was exchanged", "many");
        }
    }
    expect(roundel_request_free(&all->requests[5]) == MPI_SUCCESS, "the end", "many");
    for (int i = 0; i < CALLS; i++)
        expect(all->requests[i] == NULL, "the end of a request", "many");
    free(all->gathered), free(all->exchanged), free(all->sent);
}

static void in_turn(MPI_Comm comm, int rank, int p)
{
    calls all;
    begin(&all, comm, rank, p);
    for (int i = 0; i < CALLS; i++) {
        int code = roundel_wait(&all.requests[rank % 2 == 0 ? i : CALLS - 1 - i]);
        expect(code == MPI_SUCCESS, "a wait", "many");
    }
    check(&all, rank, p);
}

static void together(MPI_Comm comm, int rank, int p)
{
    calls all;
    begin(&all, comm, rank, p);
    expect(roundel_waitall(CALLS, all.requests) == MPI_SUCCESS, "waitall", "many");
    /* All of them are NULL, or not started. */
    expect(roundel_waitall(CALLS, all.requests) == MPI_SUCCESS, "waitall again", "many");
    check(&all, rank, p);
}

static void by_testing(MPI_Comm comm, int rank, int p)
{
    calls all;
    begin(&all, comm, rank, p);
    for (int left = CALLS; left > 0;) {
        left = CALLS;
        for (int i = 0; i < CALLS; i++) {
            int flag = -1;
            expect(roundel_test(&all.requests[(i + rank) % CALLS], &flag) == MPI_SUCCESS, "a test", "many");
            expect(flag == 0 || flag == 1, "the flag", "many");
            left -= flag;
        }
    }
    check(&all, rank, p);
}

/* A persistent request is active until it has been waited for. */
static void rules(MPI_Comm comm, const char *name)
{
    int one = 1, sum = 0, p = 0, flag = 0;
    roundel_request *request = NULL, *once = NULL;
    roundel_algorithm *how = named(name);
    MPI_Comm_size(comm, &p);
    expect(roundel_allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, how, &request) == MPI_SUCCESS, "init", name);
    expect(roundel_wait(&request) == MPI_SUCCESS && request != NULL, "a wait without a start", name);
    expect(roundel_test(&request, &flag) == MPI_SUCCESS && flag == 1, "a test without a start", name);
    expect(roundel_start(&request) == MPI_SUCCESS, "a start", name);
    expect(class_of(roundel_start(&request)) == MPI_ERR_REQUEST, "a second start", name);
    expect(class_of(roundel_request_free(&request)) == MPI_ERR_REQUEST && request != NULL, "an early end", name);
    expect(roundel_wait(&request) == MPI_SUCCESS && sum == p, "the result", name);
    expect(roundel_request_free(&request) == MPI_SUCCESS && request == NULL, "the end", name);
    expect(roundel_iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, how, &once) == MPI_SUCCESS, "once", name);
    expect(class_of(roundel_start(&once)) == MPI_ERR_REQUEST, "a start of what runs once", name);
    expect(roundel_wait(&once) == MPI_SUCCESS && once == NULL, "its end", name);
    expect(roundel_wait(&once) == MPI_SUCCESS, "a wait for nothing", name);
    roundel_algorithm_free(&how);
}

void test_requests(MPI_Comm comm)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 20; i++) {
        in_turn(comm, rank, p);
        together(comm, rank, p);
        by_testing(comm, rank, p);
    }
    rules(comm, "allreduce/ring");
    rules(comm, "allreduce/library");
}
