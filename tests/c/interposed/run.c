/* One case: its reference, its call, and its result. */
#include "interposed.h"

#include <stdlib.h>
#include <string.h>

/* Follows the definition, because neither library is right: everything is reduced everywhere, and each rank takes its
 * part. */
static void scatter_by_definition(const test_case *c, arguments *a)
{
    buffer whole = new_buffer(c->type, 1);
    long before = 0, extent = (long)c->type->as->extent * (long)c->type->of->size;
    for (int i = 0; i < c->comm->rank; i++)
        before += a->recv.counts[i];
    whole.counts[0] = (int)total(&a->recv);
    allocate(&whole);
    const void *from = a->in_place ? (const void *)a->recv.origin : a->send.origin;
    PMPI_Allreduce(from, whole.origin, whole.counts[0], c->type->type, c->op->op, c->comm->comm);
    int part = a->recv.counts[c->comm->rank];
    PMPI_Sendrecv(whole.origin + before * extent, part, c->type->type, 0, 0, a->recv.origin, part, c->type->type, 0, 0,
                  MPI_COMM_SELF, MPI_STATUS_IGNORE);
    free_buffer(&whole);
}

static int is_by_definition(const test_case *c)
{
    return (c->call == REDUCE_SCATTER || c->call == REDUCE_SCATTER_BLOCK) && !c->op->commutes && !c->null;
}

void prepare(run *r)
{
    const test_case *c = r->about;
    if (c->call == MESSAGE)
        return;
    make_arguments(&r->before, c);
    /* MPICH is wrong for some data at MPI_BOTTOM, so the reference does not use it. */
    copy_arguments(&r->expected, &r->before, c, 0);
    copy_arguments(&r->found, &r->before, c, c->bottom);
    if (is_by_definition(c))
        scatter_by_definition(c, &r->expected);
    else
        call_reference(c, &r->expected);
}

/* The memory after the result of a reduce_scatter in place is undefined: only gaps must be unchanged. */
static void forget_rest(run *r)
{
    const test_case *c = r->about;
    const layout *as = c->type->as;
    size_t size = c->type->of->size;
    int splits = c->call == REDUCE_SCATTER || c->call == REDUCE_SCATTER_BLOCK;
    if (!splits || !c->in_place || r->found.recv.memory == NULL)
        return;
    for (long i = r->found.recv.counts[c->comm->rank]; i < total(&r->found.recv); i++)
        for (int j = 0; j < as->elements; j++) {
            long place = (i * as->extent + as->offset[j]) * (long)size;
            memcpy(r->found.recv.origin + place, r->expected.recv.origin + place, size);
        }
}

static void compare(run *r)
{
    forget_rest(r);
    if (r->about->number == spoilt_line && r->found.recv.memory != NULL)
        r->found.recv.memory[spoilt_byte % r->found.recv.bytes] ^= 1;
    long where = difference(&r->found.recv, &r->expected.recv);
    if (where != -1)
        failed(r->about, "what was received differs from the library's", where);
    where = difference(&r->found.send, &r->before.send);
    if (where != -1)
        failed(r->about, "what was sent has changed", where);
}

static void clean(run *r)
{
    free_arguments(&r->before);
    free_arguments(&r->expected);
    free_arguments(&r->found);
}

/* Separate handles, freed as soon as MPI allows: before the operation is complete. Open MPI 4.1 fails if a communicator
 * is freed then, so it is freed at the end. */
#ifdef OPEN_MPI
enum { FREES_EARLY = 0 };
#else
enum { FREES_EARLY = 1 };
#endif

static void make_fresh(run *r)
{
    const test_case *c = r->about;
    if (!c->fresh)
        return;
    MPI_Comm_dup(c->comm->comm, &r->found.comm);
    if (c->op && c->op->function)
        MPI_Op_create(c->op->function, c->op->commutes, &r->found.op);
    else if (!c->op && !c->bottom) {
        MPI_Type_dup(r->found.send.type->type, &r->found.send_type);
        MPI_Type_dup(r->found.recv.type->type, &r->found.recv_type);
    }
}

static void free_fresh(run *r)
{
    const test_case *c = r->about;
    if (!c->fresh)
        return;
    if (FREES_EARLY || c->form == BLOCKING)
        MPI_Comm_free(&r->found.comm);
    if (c->op && c->op->function)
        MPI_Op_free(&r->found.op);
    else if (!c->op && !c->bottom) {
        MPI_Type_free(&r->found.send_type);
        MPI_Type_free(&r->found.recv_type);
    }
}

/* Only a blocking call has read its lists when it returns, so they are kept. */
static void post(run *r)
{
    const test_case *c = r->about;
    MPI_Request request = MPI_REQUEST_NULL;
    r->starts = c->starts;
    if (c->form == PERSISTENT) {
        call_persistent(c, &r->found, &request);
        MPI_Start(&request);
    } else
        call_nonblocking(c, &r->found, &request);
    add_pending(r, request);
}

void execute(run *r)
{
    const test_case *c = r->about;
    if (c->call == MESSAGE) {
        exchange(c);
        return;
    }
    make_fresh(r);
    if (c->form == BLOCKING)
        call_blocking(c, &r->found);
    else
        post(r);
    free_fresh(r);
    if (c->form == BLOCKING) {
        compare(r);
        clean(r);
    }
}

/* Restores the memory to its contents before the first start. */
static void restore(run *r)
{
    if (r->found.recv.memory != NULL)
        memcpy(r->found.recv.memory, r->before.recv.memory, r->before.recv.bytes);
}

void restart(run *r, MPI_Request *request)
{
    restore(r);
    r->starts--;
    if (r->starts % 2)
        MPI_Start(request);
    else
        MPI_Startall(1, request);
}

int completed(run *r, MPI_Request *request)
{
    compare(r);
    if (r->starts > 1)
        return 0;
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
    clean(r);
    return 1;
}

void free_run(run *r)
{
    if (r->about->fresh && !FREES_EARLY && r->about->form != BLOCKING)
        MPI_Comm_free(&r->found.comm);
    free_case(r->about);
}
