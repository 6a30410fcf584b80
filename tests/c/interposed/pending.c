/* Requests that are outstanding, and all of MPI's ways to complete them; each rank takes them in an order of its own. */
#include "interposed.h"

#include <sched.h>

enum { USUAL = 16, MOST = 128 };

/* A collective, or a message with the number that it must bring. */
typedef struct {
    run *collective;
    int *value;
    int expected;
    /* A persistent one rests until all ranks start it again. */
    int active;
} entry;

static entry entries[MOST];
static MPI_Request requests[MOST];
static int outstanding;

static void put(entry e, MPI_Request request)
{
    if (outstanding >= USUAL)
        complete(WAITANY, 0);
    if (outstanding >= MOST)
        stop("too much is outstanding", "");
    entries[outstanding] = e;
    requests[outstanding++] = request;
}

void add_pending(run *r, MPI_Request request)
{
    put((entry){r, NULL, 0, 1}, request);
}

void add_message(MPI_Request request, int *value, int expected)
{
    put((entry){NULL, value, expected, 1}, request);
}

static int over(int i)
{
    entry *e = &entries[i];
    e->active = 0;
    if (e->collective)
        return completed(e->collective, &requests[i]);
    if (e->value && *e->value != e->expected)
        stop("a message has the wrong number", "");
    return 1;
}

/* Takes those out that are over. */
static void finish_marked(const int *done)
{
    int kept = 0;
    for (int i = 0; i < outstanding; i++) {
        if (done[i] && entries[i].active && over(i))
            continue;
        entries[kept] = entries[i];
        requests[kept++] = requests[i];
    }
    outstanding = kept;
}

static void finish_one(int index)
{
    int done[MOST] = {0};
    done[index] = 1;
    finish_marked(done);
}

static void finish_some(int count, const int *indices)
{
    int done[MOST] = {0};
    for (int i = 0; i < count; i++)
        done[indices[i]] = 1;
    finish_marked(done);
}

static void finish_all(void)
{
    int done[MOST];
    for (int i = 0; i < outstanding; i++)
        done[i] = 1;
    finish_marked(done);
}

static void test_until_done(MPI_Request *request)
{
    int done = 0;
    while (!done) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

/* A question that leaves the request as it is. */
static void ask_until_done(MPI_Request *request)
{
    int done = 0;
    while (!done) {
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int any(int wait)
{
    int index = MPI_UNDEFINED, done = 0;
    if (wait)
        MPI_Waitany(outstanding, requests, &index, MPI_STATUS_IGNORE);
    while (!wait && !done) {
        MPI_Testany(outstanding, requests, &index, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    if (index == MPI_UNDEFINED)
        stop("no request is active, although some are outstanding", "");
    return index;
}

static void some(int wait)
{
    int count = 0, indices[MOST];
    MPI_Status statuses[MOST];
    if (wait)
        MPI_Waitsome(outstanding, requests, &count, indices, statuses);
    while (!wait && count == 0) {
        MPI_Testsome(outstanding, requests, &count, indices, MPI_STATUSES_IGNORE);
        sched_yield();
    }
    if (count == MPI_UNDEFINED)
        stop("no request is active, although some are outstanding", "");
    finish_some(count, indices);
}

static void all(int wait)
{
    int done = 0;
    MPI_Status statuses[MOST];
    if (wait)
        MPI_Waitall(outstanding, requests, statuses);
    while (!wait && !done) {
        MPI_Testall(outstanding, requests, &done, MPI_STATUSES_IGNORE);
        sched_yield();
    }
    finish_all();
}

/* One that is active, or -1. */
static int some_active(uint32_t random)
{
    for (int i = 0; i < outstanding; i++) {
        int one = (int)((random % (uint32_t)outstanding + (uint32_t)i) % (uint32_t)outstanding);
        if (entries[one].active)
            return one;
    }
    return -1;
}

void complete(enum finish how, uint32_t seed)
{
    int one = some_active(mix(seed, (uint32_t)world_rank, 9));
    if (one < 0 || how == NONE)
        return;
    switch (how) {
    case WAIT: MPI_Wait(&requests[one], MPI_STATUS_IGNORE); finish_one(one); break;
    case TEST: test_until_done(&requests[one]); finish_one(one); break;
    case STATUS: ask_until_done(&requests[one]); finish_one(one); break;
    case WAITANY: finish_one(any(1)); break;
    case TESTANY: finish_one(any(0)); break;
    case WAITSOME: some(1); break;
    case TESTSOME: some(0); break;
    case WAITALL: all(1); break;
    case TESTALL: all(0); break;
    default: break;
    }
}

/* The collective that was called first of those that are under way, or -1. */
static int oldest(void)
{
    int found = -1;
    for (int i = 0; i < outstanding; i++) {
        const run *r = entries[i].collective;
        if (r && entries[i].active && (found < 0 || r->about->number < entries[found].collective->about->number))
            found = i;
    }
    return found;
}

void complete_oldest(void)
{
    int one = oldest();
    if (one < 0)
        return;
    MPI_Wait(&requests[one], MPI_STATUS_IGNORE);
    finish_one(one);
}

/* All ranks are here with the same persistent requests, so that none waits for one that another does not start. */
void start_again(void)
{
    for (int i = 0; i < outstanding; i++) {
        run *r = entries[i].collective;
        if (r == NULL || r->starts <= 1)
            continue;
        if (entries[i].active) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            finish_one(i);
        }
        entries[i].active = 1;
        restart(r, &requests[i]);
    }
}

void complete_all(void)
{
    while (outstanding > 0) {
        complete(outstanding % 2 ? WAITALL : WAITANY, 0);
        if (some_active(0) < 0)
            start_again();
    }
}
