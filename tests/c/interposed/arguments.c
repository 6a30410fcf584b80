/* The arguments of a case on this rank: blocks, lengths, data, and insignificant arguments. */
#include "interposed.h"

#include <stdlib.h>
#include <string.h>

/* Whether this rank is the root, sends data, receives data. */
typedef struct {
    int root, brings, gets, others;
} role;

static int is_rooted(enum call call)
{
    return call == BCAST || call == REDUCE || call == GATHER || call == SCATTER;
}

static role role_of(const test_case *c)
{
    role r = {0, 1, 1, c->comm->remote > 0 ? c->comm->remote : c->comm->size};
    int inter = c->comm->remote > 0, down = c->call == BCAST || c->call == SCATTER;
    if (!is_rooted(c->call))
        return r;
    int size = inter && !c->comm->first ? c->comm->remote : c->comm->size;
    r.root = c->comm->first && c->comm->rank == c->root % size;
    int member = inter ? !c->comm->first : 1;
    r.brings = down ? r.root : member;
    r.gets = down ? member : r.root;
    return r;
}

static int root_argument(const test_case *c, const role *r)
{
    if (c->comm->remote > 0 && c->comm->first)
        return r->root ? MPI_ROOT : MPI_PROC_NULL;
    return c->root % (c->comm->remote > 0 ? c->comm->remote : c->comm->size);
}

/* Lengths that all ranks know; some are 0. */
static int length_of(const test_case *c, uint32_t from, uint32_t to)
{
    uint32_t random = mix(c->seed, from + 1000, to);
    return random % 4 == 0 ? 0 : (int)(random / 4 % (uint32_t)(2 * c->count + 1));
}

/* Blocks one after another or, with `spread`, in another order and with gaps. */
static void place(buffer *b, const test_case *c, int spread)
{
    int *order = memory(sizeof(int) * (size_t)(b->blocks + 1)), at = 0;
    for (int i = 0; i < b->blocks; i++)
        order[i] = i;
    for (int i = b->blocks - 1; spread && i > 0; i--) {
        int j = (int)(mix(c->seed, 77, (uint32_t)i) % (uint32_t)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < b->blocks; i++) {
        /* Items of some layouts overlap the next ones; other blocks must not overlap them. */
        b->displs[order[i]] = at;
        at += b->counts[order[i]] + (spread ? 2 + (int)(mix(c->seed, 78, (uint32_t)i) % 2) : 0);
    }
    free(order);
}

/* The number of blocks of a side, if significant. */
static int send_blocks(enum call call, int others)
{
    return call == ALLTOALL || call == ALLTOALLV || call == SCATTER ? others : 1;
}

static int recv_blocks(enum call call, int others)
{
    int all = call == ALLGATHER || call == ALLGATHERV || call == ALLTOALL || call == ALLTOALLV || call == GATHER;
    return all ? others : 1;
}

/* The number of a rank in `length_of`, which distinguishes the ranks of two groups. */
static uint32_t tagged(const test_case *c, int ours, int rank)
{
    int first = c->comm->remote == 0 || (ours ? c->comm->first : !c->comm->first);
    return (uint32_t)(rank + (first ? 0 : 500));
}

static void set_lengths(arguments *a, const test_case *c)
{
    uint32_t me = tagged(c, 1, c->comm->rank);
    int ratio = c->type->as->elements == 0 ? 1 : c->type->as->elements / (c->other->as->elements ? c->other->as->elements : 1);
    for (int i = 0; i < a->send.blocks; i++) {
        int length = c->count;
        if (c->call == ALLTOALLV)
            length = c->in_place ? 0 : length_of(c, me, tagged(c, 0, i));
        if (c->call == ALLGATHERV)
            length = length_of(c, me, 0);
        a->send.counts[i] = length * ratio;
    }
    for (int i = 0; i < a->recv.blocks; i++) {
        uint32_t from = tagged(c, 0, i);
        a->recv.counts[i] = c->count;
        if (c->call == ALLGATHERV)
            a->recv.counts[i] = length_of(c, from, 0);
        /* In place, what is sent is as long as what is received. */
        if (c->call == ALLTOALLV)
            a->recv.counts[i] = c->in_place ? length_of(c, from < me ? from : me, from < me ? me : from) : length_of(c, from, me);
    }
}

/* A reduce_scatter has the lengths of all ranks in every form. */
static void set_parts(arguments *a, const test_case *c)
{
    int p = c->comm->size, sum = 0, in_place = c->in_place;
    free_buffer(&a->recv);
    a->recv = new_buffer(c->type, p);
    for (int i = 0; i < p; i++) {
        a->recv.counts[i] = c->call == REDUCE_SCATTER ? length_of(c, (uint32_t)i, 0) : c->count;
        sum += a->recv.counts[i];
    }
    a->send.counts[0] = sum;
    a->in_place = in_place;
}

static int splits(enum call call)
{
    return call == REDUCE_SCATTER || call == REDUCE_SCATTER_BLOCK;
}

/* Memory of a reduce_scatter's receive buffer: this rank's part, or in place everything. */
static void allocate_parts(arguments *a, const test_case *c)
{
    buffer whole = new_buffer(c->type, 1);
    whole.counts[0] = c->in_place ? a->send.counts[0] : a->recv.counts[c->comm->rank];
    allocate(&whole);
    a->recv.memory = whole.memory;
    a->recv.origin = whole.origin;
    a->recv.bytes = whole.bytes;
    whole.memory = NULL;
    free_buffer(&whole);
}

static void fill(arguments *a, const test_case *c, const role *r)
{
    int me = c->comm->rank + (c->comm->first ? 0 : 100);
    if (a->has_send && a->send.memory != NULL)
        for (int i = 0; i < a->send.blocks; i++)
            fill_block(&a->send, i, c, me, i * 100000);
    if (c->call == BCAST && r->brings)
        fill_block(&a->recv, 0, c, me, 0);
    if (!a->in_place || a->recv.memory == NULL)
        return;
    int own = c->call == ALLGATHER || c->call == ALLGATHERV || c->call == GATHER;
    if (splits(c->call)) {
        int part = a->recv.counts[0];
        a->recv.counts[0] = a->send.counts[0];
        fill_block(&a->recv, 0, c, me, 0);
        a->recv.counts[0] = part;
    } else
        for (int i = 0; i < a->recv.blocks; i++)
            if (!own || i == c->comm->rank)
                fill_block(&a->recv, i, c, me, i * 100000);
}

/* The same type with an absolute address, for MPI_BOTTOM. */
static MPI_Datatype absolute(const buffer *b)
{
    MPI_Datatype at, resized;
    MPI_Aint where, lower, extent;
    MPI_Get_address(b->origin, &where);
    MPI_Type_create_hindexed(1, (int[]){1}, &where, b->type->type, &at);
    MPI_Type_get_extent(b->type->type, &lower, &extent);
    MPI_Type_create_resized(at, where + lower, extent, &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&at);
    return resized;
}

static void large_lists(const buffer *b, MPI_Count **counts, MPI_Aint **displs)
{
    *counts = memory(sizeof(MPI_Count) * (size_t)(b->blocks + 1));
    *displs = memory(sizeof(MPI_Aint) * (size_t)(b->blocks + 1));
    for (int i = 0; i < b->blocks; i++) {
        (*counts)[i] = b->counts[i];
        (*displs)[i] = b->displs[i];
    }
}

static void set_handles(arguments *a, const test_case *c, int bottom)
{
    a->bottom = bottom;
    a->send_type = bottom && a->send.memory ? absolute(&a->send) : a->send.type->type;
    a->recv_type = bottom && a->recv.memory ? absolute(&a->recv) : a->recv.type->type;
    a->comm = c->comm->comm;
    a->op = c->op ? c->op->op : MPI_OP_NULL;
    large_lists(&a->send, &a->send_counts, &a->send_displs);
    large_lists(&a->recv, &a->recv_counts, &a->recv_displs);
}

void make_arguments(arguments *a, const test_case *c)
{
    role r = role_of(c);
    int in_place_here = c->in_place && c->call != BCAST && (!is_rooted(c->call) || r.root);
    /* A broadcast has one buffer on all ranks. Different ranks may use different datatypes for it. */
    int turned = c->call == BCAST && c->comm->rank % 2;
    const datatype *one = turned ? c->other : c->type;
    a->has_send = r.brings && c->call != BCAST;
    /* Ranks that take no part in a broadcast between groups must still have a buffer. */
    a->has_recv = c->call == BCAST || r.gets;
    a->in_place = in_place_here;
    a->root = root_argument(c, &r);
    a->send = new_buffer(c->other, send_blocks(c->call, r.others));
    a->recv = new_buffer(c->call == BCAST ? one : c->type, recv_blocks(c->call, r.others));
    set_lengths(a, c);
    if (turned && c->other->as->elements > 0)
        a->recv.counts[0] = c->count * (c->type->as->elements / c->other->as->elements);
    if (splits(c->call))
        set_parts(a, c);
    int spread = c->call == ALLGATHERV || c->call == ALLTOALLV;
    place(&a->send, c, spread);
    place(&a->recv, c, spread);
    if (!c->null && a->has_send && !(in_place_here && c->call != SCATTER))
        allocate(&a->send);
    if (!c->null && a->has_recv && !(in_place_here && c->call == SCATTER)) {
        if (splits(c->call))
            allocate_parts(a, c);
        else
            allocate(&a->recv);
    }
    if (!c->null)
        fill(a, c, &r);
    set_handles(a, c, 0);
}

/* Copies all bytes of a buffer, because its blocks do not cover the whole memory. */
static buffer copy_bytes(const buffer *b)
{
    buffer bare = *b, copy;
    bare.memory = NULL;
    copy = copy_of(&bare);
    if (b->memory != NULL) {
        copy.bytes = b->bytes;
        copy.memory = memory(b->bytes);
        copy.origin = copy.memory + (b->origin - b->memory);
        memcpy(copy.memory, b->memory, b->bytes);
    }
    return copy;
}

void copy_arguments(arguments *to, const arguments *from, const test_case *c, int bottom)
{
    *to = *from;
    to->send = copy_bytes(&from->send);
    to->recv = copy_bytes(&from->recv);
    set_handles(to, c, bottom);
}

void free_arguments(arguments *a)
{
    if (a->bottom && a->send.memory)
        MPI_Type_free(&a->send_type);
    if (a->bottom && a->recv.memory)
        MPI_Type_free(&a->recv_type);
    free_buffer(&a->send);
    free_buffer(&a->recv);
    free(a->send_counts);
    free(a->recv_counts);
    free(a->send_displs);
    free(a->recv_displs);
}
