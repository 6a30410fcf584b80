/* Calls that MPI serves are recognised by their arguments, on each rank for itself: a rank with another communicator in
 * between does not recognise them. Requests that Roundel serves afterwards still meet. */
#include <mpi.h>
#include <stdio.h>

static int rank, p;

static void broadcast(MPI_Comm comm, int times)
{
    for (int i = 0; i < times; i++) {
        int data = 7;
        MPI_Request request;
        MPI_Ibcast(&data, 1, MPI_INT, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static int sum(MPI_Comm comm)
{
    int one = 1, all = 0;
    MPI_Request request;
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return all;
}

static void set_up(MPI_Comm comm)
{
    int one = 1, all;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
}

/* As `broadcast`, with lists. */
static void gather(MPI_Comm comm, int times)
{
    int counts[64], displs[64], in = 1, out[64], size;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    for (int i = 0; i < times; i++) {
        MPI_Request request;
        MPI_Iallgatherv(&in, 1, MPI_INT, out, counts, displs, MPI_INT, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int right = 1, all;
    MPI_Comm everyone, some;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_dup(MPI_COMM_WORLD, &everyone);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &some);
    set_up(everyone);
    if (some != MPI_COMM_NULL)
        set_up(some);
    for (int round = 0; round < 4; round++) {
        broadcast(everyone, 3);
        gather(everyone, 3);
        if (some != MPI_COMM_NULL) {
            broadcast(some, 3);
            gather(some, 3);
        }
        broadcast(everyone, 2);
        gather(everyone, 2);
        right = right && sum(everyone) == p;
    }
    PMPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all ? "all as expected\n" : "a sum is wrong\n");
    if (some != MPI_COMM_NULL)
        MPI_Comm_free(&some);
    MPI_Comm_free(&everyone);
    MPI_Finalize();
    return !all;
}
