/* Two threads call collectives at the same time, each on its own communicator; some calls are non-blocking. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 150, MOST = 64 };

typedef struct {
    MPI_Comm comm;
    int number;
    const char *wrong;
} task;

static int sum_of(int p, int i, int number)
{
    return p * (p - 1) / 2 + p * (i * 7 + number);
}

static const char *one_round(const task *t, int rank, int p, int i)
{
    int mine = rank + i * 7 + t->number, sum = -1, later = -1, root = i % p, told = rank == root ? mine : -1;
    int all[MOST], turned[MOST], blocks[MOST];
    MPI_Request requests[2];
    MPI_Iallreduce(&mine, &later, 1, MPI_INT, MPI_SUM, t->comm, &requests[0]);
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, t->comm, &requests[1]);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, t->comm);
    MPI_Bcast(&told, 1, MPI_INT, root, t->comm);
    for (int j = 0; j < p; j++)
        blocks[j] = mine * 100 + j;
    MPI_Alltoall(blocks, 1, MPI_INT, turned, 1, MPI_INT, t->comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (sum != sum_of(p, i, t->number))
        return "MPI_Allreduce";
    if (later != sum)
        return "MPI_Iallreduce";
    if (told != root + i * 7 + t->number)
        return "MPI_Bcast";
    for (int j = 0; j < p; j++)
        if (all[j] != j + i * 7 + t->number || turned[j] != all[j] * 100 + rank)
            return "MPI_Iallgather or MPI_Alltoall";
    return NULL;
}

static void *run(void *what)
{
    task *t = what;
    int rank, p;
    MPI_Comm_rank(t->comm, &rank);
    MPI_Comm_size(t->comm, &p);
    for (int i = 0; i < ROUNDS && t->wrong == NULL; i++)
        t->wrong = one_round(t, rank, p, i);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank, wrong = 0, sum = 0;
    task tasks[2] = {{MPI_COMM_NULL, 1, NULL}, {MPI_COMM_NULL, 1000, NULL}};
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided == MPI_THREAD_MULTIPLE) {
        MPI_Comm_dup(MPI_COMM_WORLD, &tasks[0].comm);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &tasks[1].comm);
        pthread_create(&thread, NULL, run, &tasks[0]);
        run(&tasks[1]);
        pthread_join(thread, NULL);
        for (int i = 0; i < 2; i++) {
            if (tasks[i].wrong != NULL)
                fprintf(stderr, "rank %d, thread %d: %s is wrong\n", rank, i, tasks[i].wrong);
            wrong |= tasks[i].wrong != NULL;
            MPI_Comm_free(&tasks[i].comm);
        }
    } else if (rank == 0)
        printf("this MPI gives no MPI_THREAD_MULTIPLE\n");
    PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
