/* MPI's functions by name, form and width of counts. */
#include "interposed.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* Between groups, MPICH requires an address even from ranks that neither send nor receive. */
static char nowhere[64];

static void *address(const test_case *c, const arguments *a, const buffer *b)
{
    if (b->memory == NULL && c->comm->remote > 0)
        return nowhere;
    return a->bottom && b->memory ? MPI_BOTTOM : b->origin;
}

/* Addresses as C passes them. Insignificant arguments are invalid, because MPI must ignore them. */
static const void *sent(const test_case *c, const arguments *a)
{
    if (a->in_place && c->call != SCATTER)
        return MPI_IN_PLACE;
    return address(c, a, &a->send);
}

static void *received(const test_case *c, const arguments *a)
{
    if (a->in_place && c->call == SCATTER)
        return MPI_IN_PLACE;
    return address(c, a, &a->recv);
}

/* Insignificant arguments are rubbish in half of the cases. */
static int rubbish(const test_case *c, int has)
{
    return !has && (c->call == GATHER || c->call == SCATTER) && c->seed % 2;
}

typedef struct {
    const void *from;
    void *to;
    int send, recv;
    MPI_Datatype sends, recvs;
} words;

static words words_of(const test_case *c, const arguments *a)
{
    words w = {sent(c, a), received(c, a), a->send.counts[0], a->recv.counts[0], a->send_type, a->recv_type};
    if (rubbish(c, a->has_send)) {
        w.send = -7;
        w.sends = MPI_DATATYPE_NULL;
    }
    if (rubbish(c, a->has_recv)) {
        w.recv = -7;
        w.recvs = MPI_DATATYPE_NULL;
    }
    return w;
}

#define CALLS(X)                                                                                                        \
    X(ALLGATHER, Allgather, Iallgather)                                                                                 \
    X(ALLGATHERV, Allgatherv, Iallgatherv)                                                                              \
    X(ALLREDUCE, Allreduce, Iallreduce)                                                                                 \
    X(REDUCE_SCATTER, Reduce_scatter, Ireduce_scatter)                                                                  \
    X(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, Ireduce_scatter_block)                                                \
    X(ALLTOALL, Alltoall, Ialltoall)                                                                                    \
    X(ALLTOALLV, Alltoallv, Ialltoallv)                                                                                 \
    X(BCAST, Bcast, Ibcast)                                                                                             \
    X(REDUCE, Reduce, Ireduce)                                                                                          \
    X(GATHER, Gather, Igather)                                                                                          \
    X(SCATTER, Scatter, Iscatter)

#define ALLGATHER_WORDS w.from, w.send, w.sends, w.to, w.recv, w.recvs, a->comm
#define ALLTOALL_WORDS ALLGATHER_WORDS
#define ALLREDUCE_WORDS w.from, w.to, w.recv, w.recvs, a->op, a->comm
#define REDUCE_SCATTER_BLOCK_WORDS ALLREDUCE_WORDS
#define BCAST_WORDS w.to, w.recv, w.recvs, a->root, a->comm
#define REDUCE_WORDS w.from, w.to, w.recv, w.recvs, a->op, a->root, a->comm
#define GATHER_WORDS w.from, w.send, w.sends, w.to, w.recv, w.recvs, a->root, a->comm
#define SCATTER_WORDS GATHER_WORDS
#define ALLGATHERV_WORDS w.from, w.send, w.sends, w.to, RECV_LISTS, w.recvs, a->comm
#define ALLTOALLV_WORDS w.from, SEND_LISTS, w.sends, w.to, RECV_LISTS, w.recvs, a->comm
#define REDUCE_SCATTER_WORDS w.from, w.to, RECV_COUNTS, w.recvs, a->op, a->comm
#define WORDS(call) call##_WORDS

#define SEND_LISTS a->send.counts, a->send.displs
#define RECV_LISTS a->recv.counts, a->recv.displs
#define RECV_COUNTS a->recv.counts

void call_reference(const test_case *c, const arguments *a)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: PMPI_##name(WORDS(call)); break;
        CALLS(X)
#undef X
    default: break;
    }
}

static void usual_blocking(const test_case *c, const arguments *a)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: MPI_##name(WORDS(call)); break;
        CALLS(X)
#undef X
    default: break;
    }
}

static void usual_nonblocking(const test_case *c, const arguments *a, MPI_Request *request)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: MPI_##iname(WORDS(call), request); break;
        CALLS(X)
#undef X
    default: break;
    }
}

/* Open MPI 4 has persistent collectives as an extension. */
#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(name) MPIX_##name##_init
#endif

#ifdef INIT
const int has_persistent = 1;

static void usual_persistent(const test_case *c, const arguments *a, MPI_Request *request)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: INIT(name)(WORDS(call), MPI_INFO_NULL, request); break;
        CALLS(X)
#undef X
    default: break;
    }
}
#else
const int has_persistent = 0;
#define usual_persistent usual_nonblocking
#endif

#if MPI_VERSION >= 4
#undef SEND_LISTS
#undef RECV_LISTS
#undef RECV_COUNTS
#define SEND_LISTS a->send_counts, a->send_displs
#define RECV_LISTS a->recv_counts, a->recv_displs
#define RECV_COUNTS a->recv_counts

static void large_blocking(const test_case *c, const arguments *a)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: MPI_##name##_c(WORDS(call)); break;
        CALLS(X)
#undef X
    default: break;
    }
}

static void large_nonblocking(const test_case *c, const arguments *a, MPI_Request *request)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: MPI_##iname##_c(WORDS(call), request); break;
        CALLS(X)
#undef X
    default: break;
    }
}

static void large_persistent(const test_case *c, const arguments *a, MPI_Request *request)
{
    words w = words_of(c, a);
    switch (c->call) {
#define X(call, name, iname) case call: MPI_##name##_init_c(WORDS(call), MPI_INFO_NULL, request); break;
        CALLS(X)
#undef X
    default: break;
    }
}
#else
#define large_blocking usual_blocking
#define large_nonblocking usual_nonblocking
#define large_persistent usual_persistent
#endif

void call_blocking(const test_case *c, const arguments *a)
{
    (c->large ? large_blocking : usual_blocking)(c, a);
}

void call_nonblocking(const test_case *c, const arguments *a, MPI_Request *request)
{
    (c->large ? large_nonblocking : usual_nonblocking)(c, a, request);
}

void call_persistent(const test_case *c, const arguments *a, MPI_Request *request)
{
    (c->large ? large_persistent : usual_persistent)(c, a, request);
}
