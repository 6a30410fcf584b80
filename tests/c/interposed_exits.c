/* The last rank ends during calls: `exits`, `killed`, or `aborts`. The job must end, whatever the others wait for. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 2000, LAST = 50 };

static void leave(const char *how)
{
    fprintf(stderr, "the last rank leaves\n");
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(how, "aborts") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    _exit(3);
}

int main(int argc, char **argv)
{
    int rank, p, mine = 1, sum, all[256];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (i == LAST && rank == p - 1)
            leave(argc > 1 ? argv[1] : "exits");
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
