/* Ranks that make different calls, which MPI forbids: all that wait for each other hear of it, and none waits for ever.
 *
 *   interposed_mismatch [counts|rings|segments|kinds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 1 << 20 };

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
    /* The first one is right. */
    calls += MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    int count = !strcmp(what, "counts") ? 1 + odd : !strcmp(what, "rings") ? (odd ? LONG : 1) : !strcmp(what, "segments") ? LONG / (1 + 3 * odd) : 2;
    if (!strcmp(what, "kinds") && odd)
        code = MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD);
    else
        code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    /* Later calls fail, too: many of them, so that slots are used again. */
    int later = 0;
    for (int i = 0; i < 100; i++)
        later += MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    int heard = calls == 0 && class == MPI_ERR_TRUNCATE && later == 100, all;
    printf("rank %d: class %d, %d later errors\n", rank, class, later);
    PMPI_Allreduce(&heard, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0 && all)
        puts("all as expected");
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
