/*
 * Handles that the program frees before a call is complete, as MPI allows: datatypes, operations, and the communicator
 * of a persistent request. New objects get the freed handles at once. Also tests attributes of the program, which must
 * not be copied, and ranks that request different thread levels (`frees levels`).
 */
#include "ending.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#endif

enum { N = 1000, MOST = 16, KINDS = 40 };
static int rank, p;

static void expect(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "rank %d of %d: %s is wrong\n", rank, p, what);
    end_the_job(1);
}

/* Occupies freed handles with new objects. */
static MPI_Datatype others[KINDS];

static void take_places(void)
{
    for (int i = 0; i < KINDS; i++) {
        MPI_Type_vector(2, 1, 3 + i, MPI_CHAR, &others[i]);
        MPI_Type_commit(&others[i]);
    }
}

static void leave_places(void)
{
    for (int i = 0; i < KINDS; i++)
        MPI_Type_free(&others[i]);
}

/* Every second int. */
static MPI_Datatype gaps(void)
{
    MPI_Datatype made, commited;
    MPI_Type_vector(2, 1, 2, MPI_INT, &made);
    MPI_Type_create_resized(made, 0, 4 * sizeof(int), &commited);
    MPI_Type_commit(&commited);
    MPI_Type_free(&made);
    return commited;
}

static int sent(int from, int to, int i)
{
    return i % 2 == 0 ? from * 1000003 + to * 1009 + i : -7;
}

static void fill(int *buffer, int to)
{
    for (int i = 0; i < 4 * N; i++)
        buffer[i] = sent(rank, to, i);
}

static void check(const int *buffer, int from, int to, const char *what)
{
    for (int i = 0; i < 4 * N; i++)
        expect(buffer[i] == (i % 2 == 0 ? sent(from, to, i) : -1), what);
}

static int *ints(int blocks)
{
    int *made = malloc(sizeof *made * (size_t)blocks * 4 * N);
    expect(made != NULL, "memory");
    memset(made, -1, sizeof *made * (size_t)blocks * 4 * N);
    return made;
}

static void datatypes(int turn)
{
    MPI_Request request;
    MPI_Datatype type = gaps();
    int *from = ints(p), *to = ints(p), *told = ints(1);
    for (int j = 0; j < p; j++)
        fill(from + 4 * N * j, j + turn);
    MPI_Ialltoall(from, N, type, to, N, type, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    take_places();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int j = 0; j < p; j++)
        check(to + 4 * N * j, j, rank + turn, "MPI_Ialltoall, whose datatype was freed,");
    leave_places();
    type = gaps();
    if (rank == 0)
        fill(told, turn);
    MPI_Ibcast(told, N, type, 0, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    take_places();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank != 0)
        check(told, 0, turn, "MPI_Ibcast, whose datatype was freed,");
    leave_places();
    free(from);
    free(to);
    free(told);
}

/* Adds pairs crosswise, unlike any predefined operation. */
static void cross(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;
    (void)type;
    for (int i = 0; i < 2 * *length; i++)
        b[i] += a[i] + 3;
}

static void nonsense(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in;
    (void)type;
    memset(inout, 77, (size_t)*length);
}

static MPI_Op worse[KINDS];

static void take_operations(void)
{
    for (int i = 0; i < KINDS; i++)
        MPI_Op_create(nonsense, 1, &worse[i]);
}

static void leave_operations(void)
{
    for (int i = 0; i < KINDS; i++)
        MPI_Op_free(&worse[i]);
}

static void check_sum(const int *to, const char *what)
{
    for (int i = 0; i < 2 * N; i++)
        expect(to[i] == p * i + p * (p - 1) / 2 + 3 * (p - 1), what);
}

static void fill_sum(int *from, int *to)
{
    for (int i = 0; i < 2 * N; i++) {
        from[i] = rank + i;
        to[i] = -1;
    }
}

static void operations(void)
{
    static int from[2 * N], to[2 * N];
    MPI_Request request;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    fill_sum(from, to);
    MPI_Op_create(cross, 1, &op);
    MPI_Iallreduce(from, to, N, pair, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    expect(op == MPI_OP_NULL, "the handle of an operation that was freed");
    MPI_Type_free(&pair);
    take_operations();
    take_places();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(to, "MPI_Iallreduce, whose operation and datatype were freed,");
    leave_operations();
    leave_places();
}

static void persistent(void)
{
    static int from[2 * N], to[2 * N];
    MPI_Request sums, turns;
    MPI_Datatype pair, type = gaps();
    MPI_Comm comm, next;
    MPI_Op op;
    int *blocks = ints(p), *turned = ints(p), one = 1, total = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(cross, 1, &op);
    MPI_Allreduce_init(from, to, N, pair, op, comm, MPI_INFO_NULL, &sums);
    MPI_Alltoall_init(blocks, N, type, turned, N, type, comm, MPI_INFO_NULL, &turns);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    take_operations();
    take_places();
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, next);
    expect(total == p, "MPI_Allreduce on another communicator");
    for (int turn = 0; turn < 3; turn++) {
        fill_sum(from, to);
        for (int j = 0; j < p; j++)
            fill(blocks + 4 * N * j, j + turn);
        memset(turned, -1, sizeof *turned * (size_t)p * 4 * N);
        MPI_Start(&sums);
        MPI_Start(&turns);
        MPI_Wait(&turns, MPI_STATUS_IGNORE);
        MPI_Wait(&sums, MPI_STATUS_IGNORE);
        check_sum(to, "a persistent allreduce whose handles were freed");
        for (int j = 0; j < p; j++)
            check(turned + 4 * N * j, j, rank + turn, "a persistent alltoall whose handles were freed");
    }
    MPI_Request_free(&sums);
    MPI_Request_free(&turns);
    MPI_Comm_free(&next);
    leave_operations();
    leave_places();
    free(blocks);
    free(turned);
}

/* An attribute that duplicates share; it must be deleted once, with the only communicator that the program set it
 * on. */
static int deleted;

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int key, one = 1, total = 0, later = 0;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &key, NULL);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_set_attr(comm, key, &key);
    MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(&one, &later, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    expect(total == p && later == p, "a sum");
    expect(deleted == 1, "how often an attribute was deleted");
    MPI_Comm_free_keyval(&key);
}

/* Empty types, and then others that may get their handles. */
static void nothing(void)
{
    for (int turn = 0; turn < 20; turn++) {
        MPI_Datatype type;
        int told[2] = {rank == 0 ? 5 : -1, rank == 0 ? turn : -1};
        MPI_Type_create_struct(0, NULL, NULL, NULL, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(told, 3, type, 0, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(told, 1, type, 0, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        expect(told[0] == 5 && told[1] == turn, "MPI_Bcast after one of nothing");
    }
}

/* A large type of vectors and structs, as programs make it to count beyond 2^31. */
static void large(void)
{
    enum { PIECE = 1 << 19, REST = 77 };
    MPI_Datatype pieces, rest, whole;
    int lengths[2] = {1, 1};
    size_t bytes = 3 * (size_t)PIECE + REST;
    MPI_Aint begins[2] = {0, 3 * (MPI_Aint)PIECE};
    unsigned char *own = malloc(bytes), *all = calloc((size_t)p, bytes);
    expect(own != NULL && all != NULL, "memory");
    MPI_Type_vector(3, PIECE, PIECE, MPI_BYTE, &pieces);
    MPI_Type_contiguous(REST, MPI_BYTE, &rest);
    MPI_Type_create_struct(2, lengths, begins, (MPI_Datatype[]){pieces, rest}, &whole);
    MPI_Type_commit(&whole);
    for (size_t i = 0; i < bytes; i++)
        own[i] = (unsigned char)(i * 31 + i / 251 + (size_t)rank);
    MPI_Allgather(own, 1, whole, all, 1, whole, MPI_COMM_WORLD);
    for (int j = 0; j < p; j++)
        for (size_t i = 0; i < bytes; i++)
            expect(all[(size_t)j * bytes + i] == (unsigned char)(i * 31 + i / 251 + (size_t)j), "MPI_Allgather of a large datatype");
    MPI_Type_free(&pieces);
    MPI_Type_free(&rest);
    MPI_Type_free(&whole);
    free(own);
    free(all);
}

/* The same without gaps, but out of order: the first element sent is the last in memory. */
static void out_of_order(void)
{
    enum { PART = (1 << 20) + 3 };
    MPI_Datatype turned;
    int lengths[2] = {PART, PART};
    MPI_Aint begins[2] = {PART, 0};
    unsigned char *own = malloc(2 * PART), *all = calloc((size_t)p, 2 * PART);
    expect(own != NULL && all != NULL, "memory");
    MPI_Type_create_struct(2, lengths, begins, (MPI_Datatype[]){MPI_BYTE, MPI_BYTE}, &turned);
    MPI_Type_commit(&turned);
    memset(own, 2 * rank, PART);
    memset(own + PART, 2 * rank + 1, PART);
    MPI_Allgather(own, 1, turned, all, 2 * PART, MPI_BYTE, MPI_COMM_WORLD);
    for (int j = 0; j < p; j++)
        for (int i = 0; i < 2; i++) {
            const unsigned char *part = all + ((size_t)(2 * j + i)) * PART;
            expect(part[0] == 2 * j + 1 - i && part[PART - 1] == 2 * j + 1 - i, "MPI_Allgather of a datatype that is not in order");
        }
    MPI_Type_free(&turned);
    free(own);
    free(all);
}

/* On one rank, data that is not needed may all go to the same address. */
static void same_place(void)
{
    int own = rank + 1, all[MOST] = {0}, counts[MOST], displs[MOST], ones[MOST];
    for (int j = 0; j < p; j++) {
        counts[j] = ones[j] = 1;
        displs[j] = rank == 0 ? 0 : j;
    }
    MPI_Allgatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    if (rank == 0)
        expect(all[0] >= 1 && all[0] <= p && all[1] == 0, "MPI_Allgatherv to one place");
    for (int j = 0; j < p && rank != 0; j++)
        expect(all[j] == j + 1, "MPI_Allgatherv beside one to one place");
    int blocks[MOST], turned[MOST] = {0}, ascending[MOST];
    for (int j = 0; j < p; j++) {
        blocks[j] = rank * 100 + j;
        ascending[j] = j;
    }
    MPI_Alltoallv(blocks, ones, ascending, MPI_INT, turned, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int j = 0; j < p && rank != 0; j++)
        expect(turned[j] == j * 100 + rank, "MPI_Alltoallv beside one to one place");
}

/* One rank requests a higher thread level than the others. */
static void levels(void)
{
    int sum = 0;
    MPI_Request request;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(sum == p * (p - 1) / 2, "MPI_Iallreduce of ranks with different levels of threads");
    }
}

int main(int argc, char **argv)
{
    int differ = argc > 1 && strcmp(argv[1], "levels") == 0, provided;
    /* The rank is needed before MPI_Init, so the launcher's variable provides it. */
    const char *own = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    int first = own != NULL && strcmp(own, "0") == 0;
    MPI_Init_thread(&argc, &argv, differ && first ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (differ)
        levels();
    else {
        for (int turn = 0; turn < 3; turn++)
            datatypes(turn);
        operations();
        persistent();
        attributes();
        nothing();
        large();
        out_of_order();
        same_place();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return 0;
}
