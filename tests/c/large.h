/*
 * Replaces the functions that a driver calls by those with large counts; included before the driver if MPI has such
 * functions. The test defines LARGE_KIND, and CALL_C and CALLV_C as the names of the functions.
 */
#ifndef LARGE_H
#define LARGE_H

#include <mpi.h>
#include <stdlib.h>

#undef CALL
#undef CALLV
#define CALL large_call
#define CALLV large_callv

#if defined LARGE_allgather || defined LARGE_alltoall
int CALL_C(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);

static int large_call(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm comm)
{
    return CALL_C(a, b, c, d, e, f, comm);
}
#endif

#if defined LARGE_gather || defined LARGE_scatter
int CALL_C(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm);

static int large_call(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int root, MPI_Comm comm)
{
    return CALL_C(a, b, c, d, e, f, root, comm);
}
#endif

#ifdef LARGE_broadcast
int CALL_C(void *, MPI_Count, MPI_Datatype, int, MPI_Comm);

static int large_call(void *a, int b, MPI_Datatype c, int root, MPI_Comm comm)
{
    return CALL_C(a, b, c, root, comm);
}
#endif

#ifdef LARGE_allreduce
int CALL_C(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

static int large_call(const void *a, void *b, int c, MPI_Datatype d, MPI_Op op, MPI_Comm comm)
{
    return CALL_C(a, b, c, d, op, comm);
}
#endif

#ifdef LARGE_reduce
int CALL_C(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);

static int large_call(const void *a, void *b, int c, MPI_Datatype d, MPI_Op op, int root, MPI_Comm comm)
{
    return CALL_C(a, b, c, d, op, root, comm);
}
#endif

#if defined LARGE_allgather || defined LARGE_alltoall || defined LARGE_reduce_scatter
/* The numbers of all ranks, as MPI_Count. */
static MPI_Count *large_counts(const int *numbers, MPI_Comm comm)
{
    int p = 0;
    MPI_Comm_size(comm, &p);
    MPI_Count *large = malloc((size_t)p * sizeof *large);
    for (int i = 0; numbers != NULL && i < p; i++)
        large[i] = numbers[i];
    return large;
}
#endif

#if defined LARGE_allgather || defined LARGE_alltoall
static MPI_Aint *large_displs(const int *numbers, MPI_Comm comm)
{
    int p = 0;
    MPI_Comm_size(comm, &p);
    MPI_Aint *large = malloc((size_t)p * sizeof *large);
    for (int i = 0; numbers != NULL && i < p; i++)
        large[i] = numbers[i];
    return large;
}
#endif

#ifdef LARGE_allgather
int CALLV_C(const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm);

static int large_callv(const void *a, int b, MPI_Datatype c, void *d, const int *e, const int *f, MPI_Datatype g, MPI_Comm comm)
{
    MPI_Count *counts = large_counts(e, comm);
    MPI_Aint *displs = large_displs(f, comm);
    int error = CALLV_C(a, b, c, d, counts, displs, g, comm);
    free(counts), free(displs);
    return error;
}
#endif

#ifdef LARGE_alltoall
int CALLV_C(const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype,
    MPI_Comm);

static int large_callv(const void *a, const int *b, const int *c, MPI_Datatype d, void *e, const int *f, const int *g, MPI_Datatype h,
    MPI_Comm comm)
{
    MPI_Count *counts = large_counts(b, comm), *others = large_counts(f, comm);
    MPI_Aint *displs = large_displs(c, comm), *there = large_displs(g, comm);
    int error = CALLV_C(a, counts, displs, d, e, others, there, h, comm);
    free(counts), free(others), free(displs), free(there);
    return error;
}
#endif

#ifdef LARGE_reduce_scatter
int CALL_C(const void *, void *, const MPI_Count *, MPI_Datatype, MPI_Op, MPI_Comm);
int CALLV_C(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

static int large_call(const void *a, void *b, const int *c, MPI_Datatype d, MPI_Op op, MPI_Comm comm)
{
    MPI_Count *counts = large_counts(c, comm);
    int error = CALL_C(a, b, counts, d, op, comm);
    free(counts);
    return error;
}

static int large_callv(const void *a, void *b, int c, MPI_Datatype d, MPI_Op op, MPI_Comm comm)
{
    return CALLV_C(a, b, c, d, op, comm);
}
#endif

#endif
