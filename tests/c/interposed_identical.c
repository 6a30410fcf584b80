/* All ranks get bitwise identical results from an allreduce, and the same on every call: sums of floats, whose bits
 * depend on the tree that is reduced. `--any` only reports whether ranks differ. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT 33
static int rank, p, failures, differ;

/* Numbers of very different sizes, so that almost every tree gives another sum. */
static double number(int of, int i)
{
    uint32_t random = (uint32_t)(of * 2654435761u + (uint32_t)i * 40503u + 12345u);
    double scale[] = {1.0, 1e-7, 1e9, 3e-3};
    random ^= random >> 13;
    random *= 0x5bd1e995u;
    return ((double)(random % 20001) - 10000.0) / 7.0 * scale[(of + i) % 4];
}

/* Checks that all ranks have the result of rank 0. */
static void same(const char *what, const void *mine, size_t bytes)
{
    char other[1024];
    int equal, all;
    memcpy(other, mine, bytes);
    PMPI_Bcast(other, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    equal = memcmp(other, mine, bytes) == 0;
    PMPI_Allreduce(&equal, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    differ += !all;
    if (!all && rank == 0) {
        fprintf(stderr, "%s: ranks get different bits\n", what);
        failures++;
    }
}

static void again(const char *what, const void *first, const void *mine, size_t bytes)
{
    if (memcmp(first, mine, bytes) != 0) {
        fprintf(stderr, "rank %d: %s: another call gives different bits\n", rank, what);
        failures++;
    }
}

static void begun(const double *in, double *out)
{
    MPI_Request request;
    MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int prepared(const double *in, double *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
#if defined(OPEN_MPI) && defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
    MPIX_Allreduce_init(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#elif MPI_VERSION >= 4
    MPI_Allreduce_init(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#else
    (void)in;
    (void)out;
    return 0;
#endif
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return 1;
}

/* A user-defined operation is no more exact than MPI's. */
static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((double *)to)[i] += ((double *)from)[i];
}

static void sums(void)
{
    double in[COUNT], first[COUNT], out[COUNT];
    float short_in[COUNT], short_out[COUNT];
    MPI_Op op;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < COUNT; i++) {
            in[i] = number(rank, i + round * COUNT);
            short_in[i] = (float)in[i];
        }
        MPI_Allreduce(in, first, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        same("a sum", first, sizeof first);
        MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        again("a sum", first, out, sizeof out);
        memcpy(out, in, sizeof in);
        MPI_Allreduce(MPI_IN_PLACE, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        same("a sum in place", out, sizeof out);
        begun(in, out);
        same("a sum that does not block", out, sizeof out);
        if (prepared(in, out))
            same("a sum that was prepared", out, sizeof out);
        MPI_Allreduce(short_in, short_out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        same("a sum of short floats", short_out, sizeof short_out);
        MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
        same("a product", out, sizeof out);
        MPI_Op_create(add, 1, &op);
        MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, op, MPI_COMM_WORLD);
        same("a sum by the program", out, sizeof out);
        MPI_Op_free(&op);
    }
}

/* These results do not depend on the tree. */
static void exact(void)
{
    int in[COUNT], out[COUNT], expected[COUNT];
    for (int i = 0; i < COUNT; i++)
        in[i] = (int)number(rank, i);
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(in, expected, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    again("a sum of integers", expected, out, sizeof out);
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    PMPI_Allreduce(in, expected, COUNT, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    again("bits of integers", expected, out, sizeof out);
}

/* A communicator that the program makes: whoever serves its first calls, later ones have the same bits. */
static void repeated(void)
{
    double in[COUNT], first[COUNT], out[COUNT];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < COUNT; i++)
        in[i] = number(rank, i);
    for (int call = 0; call < 12; call++) {
        double *result = call == 0 ? first : out;
        MPI_Allreduce(in, result, COUNT, MPI_DOUBLE, MPI_SUM, comm);
        same("a sum on a duplicate", result, sizeof out);
        if (call > 0)
            again("a sum on a duplicate", first, out, sizeof out);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int sum, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    any = argc > 1 && strcmp(argv[1], "--any") == 0;
    sums();
    repeated();
    exact();
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && any)
        printf(differ ? "ranks differ, as expected: all as expected\n" : "no rank differs\n");
    else if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return any ? differ == 0 : sum != 0;
}
