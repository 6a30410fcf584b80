/* Outstanding requests, and all of MPI's ways to complete them; each rank completes them in its own order. */
#include "interposed.h"

#include <sched.h>

enum { USUAL = 16, MOST = 128 };

/* A collective, or a message with the number that it must carry. */
typedef struct {
    run *collective;
    int *value;
    int expected;
    /* A persistent request is inactive until all ranks start it again. */
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

/* Removes completed requests. */
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

/* Tests without completing the request. */
static void ask_until_done(MPI_Request *request)
{
    int done = 0;
    while (!done) {
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* The active requests: MPICH 4.0.2 never returns if inactive persistent collectives are among them. */
static MPI_Request active[MOST];
static int place[MOST];

static int take_active(void)
{
    int count = 0;
    for (int i = 0; i < outstanding; i++)
        if (entries[i].active) {
            place[count] = i;
            active[count++] = requests[i];
        }
    return count;
}

static void give_back(int count)
{
    for (int i = 0; i < count; i++)
        requests[place[i]] = active[i];
}

static void any(int wait)
{
    int index = MPI_UNDEFINED, done = 0, count = take_active();
    if (wait)
        MPI_Waitany(count, active, &index, MPI_STATUS_IGNORE);
    while (!wait && !done) {
        MPI_Testany(count, active, &index, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    if (index == MPI_UNDEFINED)
        stop("no request is active, although some are outstanding", "");
    give_back(count);
    finish_one(place[index]);
}

static void some(int wait)
{
    int found = 0, indices[MOST], done[MOST] = {0}, count = take_active();
    MPI_Status statuses[MOST];
    if (wait)
        MPI_Waitsome(count, active, &found, indices, statuses);
    while (!wait && found == 0) {
        MPI_Testsome(count, active, &found, indices, MPI_STATUSES_IGNORE);
        sched_yield();
    }
    if (found == MPI_UNDEFINED)
        stop("no request is active, although some are outstanding", "");
    give_back(count);
    for (int i = 0; i < found; i++)
        done[place[indices[i]]] = 1;
    finish_marked(done);
}

/* MPICH 4.0.2 reports an error of MPI_Testall for every persistent collective. */
static int testable(int count)
{
    for (int i = 0; i < count; i++) {
        const run *r = entries[place[i]].collective;
        if (r && r->about->form == PERSISTENT)
            return 0;
    }
    return 1;
}

static void all(int wait)
{
    int done = 0, count = take_active();
    MPI_Status statuses[MOST];
    wait = wait || !testable(count);
    if (wait)
        MPI_Waitall(count, active, statuses);
    while (!wait && !done) {
        MPI_Testall(count, active, &done, MPI_STATUSES_IGNORE);
        sched_yield();
    }
    give_back(count);
    finish_all();
}

/* An active request, or -1. */
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
    case WAITANY: any(1); break;
    case TESTANY: any(0); break;
    case WAITSOME: some(1); break;
    case TESTSOME: some(0); break;
    case WAITALL: all(1); break;
    case TESTALL: all(0); break;
    default: break;
    }
}

/* The oldest pending collective, or -1. */
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

/* All ranks are here with the same persistent requests, so no rank waits for a request that another does not start. */
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
