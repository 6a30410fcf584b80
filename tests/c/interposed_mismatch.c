/* Ranks that make different calls, which MPI forbids: all ranks that wait for each other get an error, and none waits
 * forever. With `none`, ranks make the same calls, short and long ones in turn: none of them may fail.
 *
 *   interposed_mismatch counts|rings|segments|kinds|lists|none [CALLS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 1 << 20 };

/* Calls with roots, so that ranks run ahead of each other; returns the number that failed or gave a wrong result. */
static int same_calls(int *in, int *out, int rank, int calls)
{
    int p, wrong = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < calls; i++) {
        int length = i % 2 ? 20000 : 7, root = i % p, sent = i % 3 ? 1 : 9000;
        in[length - 1] = rank + i;
        wrong += MPI_Reduce(in, out, length, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD) != MPI_SUCCESS;
        wrong += rank == root && out[length - 1] != p * (p - 1) / 2 + p * i;
        in[sent - 1] = rank == root ? i : -1;
        wrong += MPI_Bcast(in, sent, MPI_INT, root, MPI_COMM_WORLD) != MPI_SUCCESS;
        wrong += in[sent - 1] != i;
    }
    return wrong;
}

/* An alltoallv on the odd rank, and an alltoall of the same blocks on the other. */
static int with_lists(int *in, int *out, int odd)
{
    static const int counts[2] = {20000, 20000}, places[2] = {0, 20000};
    if (odd)
        return MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    return MPI_Alltoall(in, counts[0], MPI_INT, out, counts[0], MPI_INT, MPI_COMM_WORLD);
}

/* Prints the result on rank 0, for the tests. */
static int finish(int as_expected, int rank)
{
    int all;
    PMPI_Allreduce(&as_expected, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0 && all)
        puts("all as expected");
    MPI_Finalize();
    return !all;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "counts";
    int rank, code, class, calls = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int *in = calloc(LONG, sizeof *in), *out = calloc(LONG, sizeof *out), odd = rank == 1;
    if (in == NULL || out == NULL)
        return 2;
    if (!strcmp(what, "none")) {
        int wrong = same_calls(in, out, rank, argc > 2 ? atoi(argv[2]) : 1000);
        if (wrong)
            printf("rank %d: %d wrong calls\n", rank, wrong);
        return finish(wrong == 0, rank);
    }
    /* The first one is right. */
    calls += MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    int count = !strcmp(what, "counts") ? 1 + odd : !strcmp(what, "rings") ? (odd ? LONG : 1) : !strcmp(what, "segments") ? LONG / (1 + 3 * odd) : 2;
    if (!strcmp(what, "kinds") && odd)
        code = MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD);
    else if (!strcmp(what, "lists"))
        code = with_lists(in, out, odd);
    else
        code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    /* Later calls fail, too: many of them, so that slots are used again. */
    int later = 0;
    for (int i = 0; i < 100; i++)
        later += MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    printf("rank %d: class %d, %d later errors\n", rank, class, later);
    free(in);
    free(out);
    return finish(calls == 0 && class == MPI_ERR_TRUNCATE && later == 100, rank);
}
