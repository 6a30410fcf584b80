/* Ranks of two worlds in one communicator (MPI_Comm_spawn, MPI_Intercomm_merge), with libroundel_pmpi.so before MPI in
 * one of the worlds or in both.
 *
 *   interposed_spawn PRELOAD
 *
 * The ranks of the second world have PRELOAD before MPI, which may be empty: no rank may wait for messages that they do
 * not send. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 2, CALLS = 8, COUNT = 3, RANKS = 16 };

static int rank, p, failures;

static void expect(int right, const char *what, int call)
{
    if (!right) {
        fprintf(stderr, "rank %d of %d, call %d: wrong result of %s\n", rank, p, call, what);
        failures++;
    }
}

static void calls(MPI_Comm comm)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    if (p > RANKS)
        MPI_Abort(comm, 2);
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
    /* Also as the first call on a communicator, which would set it up. */
    int one = 1, ones = 0;
    MPI_Request first;
    MPIX_Allreduce_init(&one, &ones, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &first);
    MPI_Start(&first);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Request_free(&first);
    expect(ones == p, "the first MPIX_Allreduce_init", 0);
#endif
    for (int call = 0; call < CALLS; call++) {
        int in[COUNT * RANKS], out[COUNT * RANKS], right = 1, root = call % p;
        for (int i = 0; i < COUNT * p; i++)
            in[i] = 1000 * rank + 10 * i + call;

        MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < COUNT; i++)
            right &= out[i] == 500 * p * (p - 1) + p * (10 * i + call);
        expect(right, "MPI_Allreduce", call);

        MPI_Request request;
        memset(out, 0, sizeof out);
        MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(right && out[0] == 500 * p * (p - 1) + p * call, "MPI_Iallreduce", call);
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
        memset(out, 0, sizeof out);
        MPIX_Allreduce_init(in, out, COUNT, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        expect(out[0] == 500 * p * (p - 1) + p * call, "MPIX_Allreduce_init", call);
#endif

        MPI_Allgather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
        right = 1;
        for (int i = 0; i < COUNT * p; i++)
            right &= out[i] == 1000 * (i / COUNT) + 10 * (i % COUNT) + call;
        expect(right, "MPI_Allgather", call);

        MPI_Alltoall(in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
        right = 1;
        for (int i = 0; i < COUNT * p; i++)
            right &= out[i] == 1000 * (i / COUNT) + 10 * (COUNT * rank + i % COUNT) + call;
        expect(right, "MPI_Alltoall", call);

        memcpy(out, in, sizeof out);
        MPI_Bcast(out, COUNT, MPI_INT, root, comm);
        right = 1;
        for (int i = 0; i < COUNT; i++)
            right &= out[i] == 1000 * root + 10 * i + call;
        expect(right, "MPI_Bcast", call);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm between, all, again;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&between);
    int child = between != MPI_COMM_NULL;
    if (!child) {
        if (argc < 2)
            return 2;
        char preload[4096], *arguments[] = {preload, argv[0], NULL};
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
        MPI_Comm_spawn("env", arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    }
    MPI_Intercomm_merge(between, child, &all);
    calls(all);
    /* And in another order of ranks, on a communicator split from that one. */
    MPI_Comm_split(all, 0, -rank, &again);
    calls(again);
    int sum = 0;
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, all);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Comm_free(&again);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return sum != 0;
}
