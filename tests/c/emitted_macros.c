/* A source tree with its own communication macros, which count the calls of emitted code. */
#include "ending.h"

#include <mpi.h>
#include <stdio.h>

static int sendrecvs, isends, irecvs, waits, reductions;

#define ROUNDEL_SAME_COMM
#define ROUNDEL_REQUEST MPI_Request
#define ROUNDEL_SENDRECV(a, b, c, d, e, f, g, h, i, j, comm, status) \
    (sendrecvs++, PMPI_Sendrecv(a, (int)(b), c, d, e, f, (int)(g), h, i, j, comm, status))
#define ROUNDEL_ISEND(a, b, c, d, e, comm, request) (isends++, PMPI_Isend(a, (int)(b), c, d, e, comm, request))
#define ROUNDEL_IRECV(a, b, c, d, e, comm, request) (irecvs++, PMPI_Irecv(a, (int)(b), c, d, e, comm, request))
#define ROUNDEL_WAIT(request) (waits++, PMPI_Wait(request, MPI_STATUS_IGNORE))
#define ROUNDEL_REDUCE_LOCAL(a, b, c, d, e) (reductions++, PMPI_Reduce_local(a, b, (int)(c), d, e))

#include "macros.c"

/* Emitted code must use only the macros: these intercept MPI's own functions. */
int MPI_Sendrecv(const void *a, int b, MPI_Datatype c, int d, int e, void *f, int g, MPI_Datatype h, int i, int j, MPI_Comm k, MPI_Status *l)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j, (void)k, (void)l;
    fprintf(stderr, "macros: MPI_Sendrecv is called\n");
    end_the_job(1);
    return MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
    int rank = 0, p = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int error = roundel_allreduce_recursive_doubling(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int messages = sendrecvs + isends + irecvs, right = error == MPI_SUCCESS && sum == p * (p - 1) / 2;
    if (!right || (p > 1 && (messages == 0 || waits != isends + irecvs)) || (p == 2 && reductions == 0)) {
        fprintf(stderr, "macros: %d, %d of %d messages, %d reductions\n", right, waits, messages, reductions);
        end_the_job(1);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("macros: p = %d, all as expected\n", p);
    return 0;
}
