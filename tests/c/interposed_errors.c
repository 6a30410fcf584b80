/* Wrong arguments: MPI_ gives the same class of error as PMPI_, tells the error handler as often, and the communicator works after it. */
#include <mpi.h>
#include <stdio.h>

static int told, failures;

static void tell(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    told++;
}

static int class_of(int code)
{
    int class = -1;
    PMPI_Error_class(code, &class);
    return class;
}

static void compare(const char *what, int code, int calls, int expected_code, int expected_calls)
{
    int class = class_of(code), expected = class_of(expected_code);
    if (class == expected && calls == expected_calls)
        return;
    fprintf(stderr, "%s: class %d, %d calls of the handler, but of PMPI_ class %d, %d calls\n", what, class, calls, expected,
            expected_calls);
    failures++;
}

#define BOTH(name, ...)                                                                                                 \
    do {                                                                                                                \
        told = 0;                                                                                                       \
        int expected = PMPI_##name(__VA_ARGS__), calls = told;                                                          \
        told = 0;                                                                                                       \
        int found = MPI_##name(__VA_ARGS__);                                                                            \
        compare("MPI_" #name "(" #__VA_ARGS__ ")", found, told, expected, calls);                                       \
    } while (0)

static int in[64], out[64];

static void wrong_counts(MPI_Comm comm)
{
    int p, counts[64], displs[64];
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 64; i++) {
        counts[i] = i == 0 ? -1 : 1;
        displs[i] = i;
    }
    BOTH(Allgather, in, -1, MPI_INT, out, -1, MPI_INT, comm);
    BOTH(Allgatherv, in, -1, MPI_INT, out, counts, displs, MPI_INT, comm);
#ifdef OPEN_MPI
    /* MPICH 4.0.2 copies as many bytes as there are. */
    BOTH(Allreduce, in, out, -1, MPI_INT, MPI_SUM, comm);
    BOTH(Reduce_scatter_block, in, out, -1, MPI_INT, MPI_SUM, comm);
    BOTH(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
    BOTH(Reduce, in, out, -1, MPI_INT, MPI_SUM, 0, comm);
#endif
    BOTH(Alltoall, in, -1, MPI_INT, out, -1, MPI_INT, comm);
    BOTH(Bcast, in, -1, MPI_INT, 0, comm);
    BOTH(Gather, in, -1, MPI_INT, out, -1, MPI_INT, 0, comm);
    BOTH(Scatter, in, -1, MPI_INT, out, -1, MPI_INT, 0, comm);
}

static void wrong_roots(MPI_Comm comm)
{
    BOTH(Bcast, in, 1, MPI_INT, 1000, comm);
    BOTH(Bcast, in, 1, MPI_INT, -7, comm);
    BOTH(Reduce, in, out, 1, MPI_INT, MPI_SUM, 1000, comm);
    BOTH(Gather, in, 1, MPI_INT, out, 1, MPI_INT, 1000, comm);
    BOTH(Scatter, in, 1, MPI_INT, out, 1, MPI_INT, -7, comm);
}

static void wrong_handles(MPI_Comm comm)
{
    MPI_Request request;
    BOTH(Allreduce, in, out, 1, MPI_DOUBLE, MPI_BAND, comm);
    BOTH(Allreduce, in, out, 1, MPI_INT, MPI_MAXLOC, comm);
    BOTH(Reduce, in, out, 1, MPI_DOUBLE, MPI_LXOR, 0, comm);
    BOTH(Allreduce, in, out, 1, MPI_INT, MPI_OP_NULL, comm);
    BOTH(Allreduce, in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
    BOTH(Allgather, in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm);
    BOTH(Alltoall, in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm);
    BOTH(Bcast, in, 1, MPI_DATATYPE_NULL, 0, comm);
    BOTH(Allreduce, in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL);
#ifndef OPEN_MPI
    /* Open MPI 4.1.4 looks into it before it looks at it. */
    BOTH(Allgather, in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL);
    BOTH(Iallgather, in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL, &request);
#endif
    BOTH(Bcast, in, 1, MPI_INT, 0, MPI_COMM_NULL);
#ifdef OPEN_MPI
    /* MPICH 4.0.2 does not look at these. */
    BOTH(Iallreduce, in, out, -1, MPI_INT, MPI_SUM, comm, &request);
    BOTH(Ibcast, in, 1, MPI_INT, 1000, comm, &request);
#endif
    BOTH(Iallreduce, in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm, &request);
}

static void still_works(MPI_Comm comm)
{
    int one = 1, sum = 0, p;
    MPI_Comm_size(comm, &p);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != p) {
        fprintf(stderr, "after errors a sum is %d, not %d\n", sum, p);
        failures++;
    }
}

static void all(MPI_Comm comm)
{
    wrong_counts(comm);
    wrong_roots(comm);
    wrong_handles(comm);
    still_works(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm returns, tells;
    MPI_Errhandler handler;
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Errors that belong to no communicator are raised on these. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &returns);
    MPI_Comm_dup(MPI_COMM_WORLD, &tells);
    MPI_Comm_set_errhandler(returns, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(tell, &handler);
    MPI_Comm_set_errhandler(tells, handler);
    all(returns);
    all(tells);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&tells);
    MPI_Comm_free(&returns);
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
