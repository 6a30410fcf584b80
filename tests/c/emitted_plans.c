/*
 * Plans of emitted collectives: a repeated call allocates nothing and makes no datatype; calls with other arguments
 * have their own plans; all of them are freed with the communicator. The linker redirects allocations of the emitted
 * code here (--wrap), and MPI's profiling interface redirects its datatype calls.
 */
#include "allreduce.h"
#include "bruck.h"
#include "ending.h"
#include "sparbit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long made, live, types;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);

void *__wrap_malloc(size_t size)
{
    made++, live++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t items, size_t size)
{
    made++, live++;
    return __real_calloc(items, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    made++, live += memory == NULL;
    return __real_realloc(memory, size);
}

void __wrap_free(void *memory)
{
    live -= memory != NULL;
    __real_free(memory);
}

int MPI_Type_commit(MPI_Datatype *type)
{
    made++, types++;
    return PMPI_Type_commit(type);
}

int MPI_Type_free(MPI_Datatype *type)
{
    types--;
    return PMPI_Type_free(type);
}

static void expect(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "plans: %s is wrong\n", what);
    end_the_job(1);
}

enum { LONGEST = 20000, KINDS = 20 };

static int own[LONGEST * 16], found[LONGEST * 16], expected[LONGEST * 16];

static void allgather(MPI_Comm comm, int n, MPI_Datatype type)
{
    memset(found, -1, sizeof found);
    expect(roundel_allgather_sparbit(own, n, type, found, n, type, comm) == MPI_SUCCESS, "allgather");
}

static void checked(MPI_Comm comm, int n, MPI_Datatype type)
{
    allgather(comm, n, type);
    memset(expected, -1, sizeof expected);
    MPI_Allgather(own, n, type, expected, n, type, comm);
    expect(memcmp(found, expected, sizeof found) == 0, "the result of an allgather");
}

/* One call of every kind: packed, with a datatype, a reduction, an exchange that forwards blocks. */
static void all(MPI_Comm comm)
{
    allgather(comm, 1, MPI_INT);
    allgather(comm, LONGEST, MPI_INT);
    expect(roundel_allreduce_recursive_doubling(own, found, 5, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "allreduce");
    expect(roundel_alltoall_modified_bruck(own, 3, MPI_INT, found, 3, MPI_INT, comm, 2) == MPI_SUCCESS, "alltoall");
}

static void repeated(MPI_Comm comm)
{
    long before = made;
    all(comm);
    expect(made > before, "that a first call allocates");
    before = made;
    for (int i = 0; i < 50; i++)
        all(comm);
    expect(made == before, "that a repeated call allocates nothing");
}

/* More kinds of calls than plans are kept; each call must be right, whether its plan was kept or is made again. */
static void many(MPI_Comm comm)
{
    for (int turn = 0; turn < 2; turn++)
        for (int n = 1; n <= KINDS; n++)
            checked(comm, n, MPI_INT);
    long before = made;
    checked(comm, KINDS, MPI_INT);
    checked(comm, KINDS - 7, MPI_INT);
    expect(made == before, "that eight plans are kept");
    checked(comm, KINDS - 8, MPI_INT);
    expect(made > before, "that nine plans are not");
}

/* MPI reuses the handle of a freed datatype for another one, whose layout differs from that of the plan. */
static void handles(MPI_Comm comm)
{
    for (int gap = 1; gap <= 12; gap++) {
        MPI_Datatype two, type;
        MPI_Type_vector(2, 1, gap, MPI_INT, &two);
        MPI_Type_create_resized(two, 0, (MPI_Aint)((size_t)(gap + 1) * sizeof(int)), &type);
        MPI_Type_free(&two);
        types++; /* it was not committed */
        MPI_Type_commit(&type);
        checked(comm, 3, type);
        long before = made;
        checked(comm, 3, type);
        expect(made == before, "that a repeated call with a datatype of one's own allocates nothing");
        MPI_Type_free(&type);
    }
}

int main(int argc, char **argv)
{
    int rank = 0, p = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        own[i] = (int)i * 3 + rank * 1000003;
    MPI_Comm one, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    repeated(one);
    repeated(other);
    many(one);
    handles(one);
    checked(one, 7, MPI_INT);
    checked(other, 7, MPI_INT);
    expect(live > 0 && (p < 4 || types > 0), "that plans are kept");
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
    expect(live == 0 && types == 0, "that plans go with their communicators");
    all(MPI_COMM_WORLD);
    expect(live > 0, "that plans are kept on the world");
    MPI_Finalize();
    if (live != 0 || types != 0) {
        fprintf(stderr, "plans: %ld pieces of memory and %ld datatypes are left at the end\n", live, types);
        return 1;
    }
    if (rank == 0)
        printf("plans: p = %d, all as expected\n", p);
    return 0;
}
