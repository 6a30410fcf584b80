/*
 * Messages and other calls while collectives are outstanding. In each pair of ranks, the odd one completes a collective
 * before it sends, and the even one after it has received: MPI promises that this ends.
 */
#include "interposed.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 17 };

static int partner(void)
{
    int other = world_rank ^ 1;
    return other < world_size ? other : MPI_PROC_NULL;
}

static int number_of(const test_case *c, int rank)
{
    return (int)(mix(c->seed, (uint32_t)rank, 11) & 0xffff);
}

static void check(const test_case *c, int value, const MPI_Status *status)
{
    if (partner() == MPI_PROC_NULL)
        return;
    if (value != number_of(c, partner()))
        failed(c, "a message has the wrong number", value);
    if (status->MPI_SOURCE != partner() || status->MPI_TAG != TAG)
        failed(c, "a message comes from the wrong rank", status->MPI_SOURCE);
}

static int is(const test_case *c, const char *way)
{
    return strcmp(c->way, way) == 0;
}

static void wait_for_message(MPI_Status *status)
{
    int here = 0;
    while (!here) {
        MPI_Iprobe(partner(), TAG, MPI_COMM_WORLD, &here, status);
        sched_yield();
    }
}

static void receive_matched(int *value, MPI_Status *status)
{
    MPI_Message message;
    MPI_Mprobe(partner(), TAG, MPI_COMM_WORLD, &message, status);
    MPI_Mrecv(value, 1, MPI_INT, &message, status);
}

static void receive(const test_case *c)
{
    int value = -1;
    MPI_Status status;
    if (is(c, "probe"))
        MPI_Probe(partner(), TAG, MPI_COMM_WORLD, &status);
    if (is(c, "iprobe"))
        wait_for_message(&status);
    if (is(c, "mprobe"))
        receive_matched(&value, &status);
    else
        MPI_Recv(&value, 1, MPI_INT, partner(), TAG, MPI_COMM_WORLD, &status);
    check(c, value, &status);
}

static void send(const test_case *c)
{
    int value = number_of(c, world_rank);
    if (is(c, "ssend"))
        MPI_Ssend(&value, 1, MPI_INT, partner(), TAG, MPI_COMM_WORLD);
    else
        MPI_Send(&value, 1, MPI_INT, partner(), TAG, MPI_COMM_WORLD);
}

/* Odd ranks answer after their collective; even ranks wait here for them. */
static void both(const test_case *c)
{
    int value = number_of(c, world_rank), found = -1;
    MPI_Status status;
    if (is(c, "replace")) {
        MPI_Sendrecv_replace(&value, 1, MPI_INT, partner(), TAG, partner(), TAG, MPI_COMM_WORLD, &status);
        found = value;
    } else
        MPI_Sendrecv(&value, 1, MPI_INT, partner(), TAG, &found, 1, MPI_INT, partner(), TAG, MPI_COMM_WORLD, &status);
    check(c, found, &status);
}

/* Long enough that the send waits for its receiver. */
static void long_message(const test_case *c, int sends)
{
    int *data = memory(sizeof(int) << 18);
    memset(data, 0, sizeof(int) << 18);
    data[77] = sends ? number_of(c, world_rank) : -1;
    if (sends)
        MPI_Send(data, 1 << 18, MPI_INT, partner(), TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(data, 1 << 18, MPI_INT, partner(), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!sends && partner() != MPI_PROC_NULL && data[77] != number_of(c, partner()))
        failed(c, "a long message has the wrong number", 77);
    free(data);
}

/* Requests of messages among those of collectives. */
static void post_messages(const test_case *c)
{
    static int numbers[2 * 4096];
    static int next;
    if (partner() == MPI_PROC_NULL)
        return;
    int *sent = &numbers[next++ % 4096], *found = &numbers[4096 + (next - 1) % 4096];
    MPI_Request request;
    *sent = number_of(c, world_rank);
    MPI_Irecv(found, 1, MPI_INT, partner(), TAG + 1, MPI_COMM_WORLD, &request);
    add_message(request, found, number_of(c, partner()));
    MPI_Isend(sent, 1, MPI_INT, partner(), TAG + 1, MPI_COMM_WORLD, &request);
    add_message(request, NULL, 0);
}

/* Collectives that are not interposed, but during which the others must progress. */
static void other_collective(const test_case *c)
{
    int mine = number_of(c, world_rank), sum = 0, expected = 0;
    for (int i = 0; i <= world_rank; i++)
        expected += number_of(c, i);
    if (is(c, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    else {
        MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != expected)
            failed(c, "a scan is wrong", sum);
    }
}

void exchange(const test_case *c)
{
    int odd = world_rank % 2, collective = is(c, "barrier") || is(c, "scan");
    if (is(c, "requests")) {
        post_messages(c);
        return;
    }
    if (odd)
        complete_oldest();
    if (collective)
        other_collective(c);
    else if (is(c, "sendrecv") || is(c, "replace"))
        both(c);
    else if (is(c, "long"))
        long_message(c, odd);
    else if (odd)
        send(c);
    else
        receive(c);
    if (!odd)
        complete_oldest();
}
