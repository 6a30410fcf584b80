/* Compares every collective in its three forms with MPI's own function. */
#include "capi.h"
#include "forms.h"

static const int lengths[4] = {0, 1, 7, 300};

/* The lengths and offsets of blocks, with gaps between them. */
typedef struct {
    int counts[64], displs[64], total;
} lists;

static lists lists_of(int p, int rank, int length)
{
    lists of = {{0}, {0}, 0};
    for (int i = 0; i < p; i++) {
        of.counts[i] = length == 0 ? 0 : (i * rank + i + rank + length) % (length + 1);
        of.displs[i] = of.total;
        of.total += of.counts[i] + 1;
    }
    return of;
}

static void allgather(MPI_Comm comm, const way *by, element of, int n, int rank, int p)
{
    lists same = lists_of(p, 0, n);
    int *own = data(of, n, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        const void *send = in_place ? MPI_IN_PLACE : own;
        result all = result_of(of, n * p, in_place, rank), some = result_of(of, same.total, in_place, rank);
        MPI_Allgather(send, n, of.type, all.after, n, of.type, comm);
        FORMS(allgather, all, by, by->all, send, n, of.type, all.found, n, of.type, comm);
        MPI_Allgatherv(send, same.counts[rank], of.type, some.after, same.counts, same.displs, of.type, comm);
        FORMS(allgatherv, some, by, by->all, send, same.counts[rank], of.type, some.found, same.counts, same.displs,
              of.type, comm);
        release(&all), release(&some);
    }
    free(own);
}

/* Algorithms that forward blocks need blocking calls. All ranks must report this, or none. */
static void expect_later(MPI_Comm comm, const way *by, int code)
{
    int least, most, straight = strstr(by->name, "spread-out") || strstr(by->name, "pairwise") || by->how == NULL;
    MPI_Allreduce(&code, &least, 1, MPI_INT, MPI_MIN, comm);
    MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, comm);
    expect(least == most, "what ranks say about alltoallv_init", by->name);
    expect(code == by->all || (code == MPI_ERR_ARG && !straight), "alltoallv_init", by->name);
}

static void alltoall(MPI_Comm comm, const way *by, element of, int n, int rank, int p)
{
    /* What rank i sends to rank j is as long as what j sends to i, so that the call may be in place. */
    lists mine = lists_of(p, rank, n);
    int *own = data(of, n * p, rank), *others = data(of, mine.total, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        const void *send = in_place ? MPI_IN_PLACE : own, *sends = in_place ? MPI_IN_PLACE : others;
        result all = result_of(of, n * p, in_place, rank), some = result_of(of, mine.total, in_place, rank);
        MPI_Alltoall(send, n, of.type, all.after, n, of.type, comm);
        FORMS(alltoall, all, by, by->all, send, n, of.type, all.found, n, of.type, comm);
        MPI_Alltoallv(sends, mine.counts, mine.displs, of.type, some.after, mine.counts, mine.displs, of.type, comm);
        BLOCKING(alltoallv, some, by, by->all, sends, mine.counts, mine.displs, of.type, some.found, mine.counts,
                 mine.displs, of.type, comm);
        roundel_request *request = NULL;
        int later = roundel_alltoallv_init(sends, mine.counts, mine.displs, of.type, some.found, mine.counts, mine.displs,
                                          of.type, comm, by->how, &request);
        if (later == MPI_SUCCESS)
            roundel_request_free(&request);
        later = class_of(later);
        expect_later(comm, by, later);
        /* Open MPI 4.1 loses messages of an MPI_Ialltoallv in place if there are counts of 0. */
        if (!(in_place && by->library))
            LATER(alltoallv, some, by, later, sends, mine.counts, mine.displs, of.type, some.found, mine.counts,
                  mine.displs, of.type, comm);
        release(&all), release(&some);
    }
    free(own), free(others);
}

static void allreduce(MPI_Comm comm, const way *by, element of, int n, int rank, MPI_Op op, int expected)
{
    int *own = data(of, n, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        const void *send = in_place ? MPI_IN_PLACE : own;
        result all = result_of(of, n, in_place, rank);
        MPI_Allreduce(send, all.after, n, of.type, op, comm);
        FORMS(allreduce, all, by, expected, send, all.found, n, of.type, op, comm);
        release(&all);
    }
    free(own);
}

static void reduce_scatter(MPI_Comm comm, const way *by, element of, int n, int rank, int p, MPI_Op op, int expected)
{
    lists same = lists_of(p, 0, n);
    int *own = data(of, n * p, rank), *others = data(of, same.total, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        const void *send = in_place ? MPI_IN_PLACE : own, *sends = in_place ? MPI_IN_PLACE : others;
        result all = result_of(of, n * p, in_place, rank), some = result_of(of, same.total, in_place, rank);
        if (expected == MPI_SUCCESS) {
            MPI_Reduce_scatter_block(send, all.after, n, of.type, op, comm);
            MPI_Reduce_scatter(sends, some.after, same.counts, of.type, op, comm);
        }
        /* In place, the memory after this rank's block is undefined. */
        size_t unit = (size_t)of.ints * sizeof(int);
        all.compared = in_place ? (size_t)n * unit : all.bytes;
        some.compared = in_place ? (size_t)same.counts[rank] * unit : some.bytes;
        FORMS(reduce_scatter_block, all, by, expected, send, all.found, n, of.type, op, comm);
        FORMS(reduce_scatter, some, by, expected, sends, some.found, same.counts, of.type, op, comm);
        release(&all), release(&some);
    }
    free(own), free(others);
}

static void broadcast(MPI_Comm comm, const way *by, element of, int n, int rank, int root)
{
    result all = result_of(of, n, 1, rank);
    MPI_Bcast(all.after, n, of.type, root, comm);
    FORMS(bcast, all, by, by->all, all.found, n, of.type, root, comm);
    release(&all);
}

static void reduce(MPI_Comm comm, const way *by, element of, int n, int rank, int root, MPI_Op op, int expected)
{
    int *own = data(of, n, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        int here = in_place && rank == root;
        const void *send = here ? MPI_IN_PLACE : own;
        result all = result_of(of, n, here, rank);
        /* Not in place: MPICH 4.0 sends from that address if the operation does not commute. */
        MPI_Reduce(own, all.after, n, of.type, op, root, comm);
        FORMS(reduce, all, by, expected, send, rank == root ? all.found : NULL, n, of.type, op, root, comm);
        release(&all);
    }
    free(own);
}

static void gather(MPI_Comm comm, const way *by, element of, int n, int rank, int p, int root)
{
    int *own = data(of, n, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        int here = in_place && rank == root;
        const void *send = here ? MPI_IN_PLACE : own;
        result all = result_of(of, n * p, here, rank);
        MPI_Gather(send, n, of.type, all.after, n, of.type, root, comm);
        /* Arguments that matter only on the root are nonsense on other ranks. */
        FORMS(gather, all, by, by->all, send, n, of.type, rank == root ? all.found : NULL, rank == root ? n : -5, of.type,
              root, comm);
        release(&all);
    }
    free(own);
}

static void scatter(MPI_Comm comm, const way *by, element of, int n, int rank, int p, int root)
{
    int *own = data(of, n * p, rank);
    for (int in_place = 0; in_place < 2; in_place++) {
        int here = in_place && rank == root;
        result all = result_of(of, n, here, rank);
        MPI_Scatter(own, n, of.type, here ? MPI_IN_PLACE : (void *)all.after, n, of.type, root, comm);
        FORMS(scatter, all, by, by->all, rank == root ? own : NULL, rank == root ? n : -5, of.type,
              here ? MPI_IN_PLACE : (void *)all.found, n, of.type, root, comm);
        release(&all);
    }
    free(own);
}

static void at(MPI_Comm comm, const way *by, const char *collective, element of, const MPI_Op op[2], int n)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    if (strcmp(collective, "allgather") == 0)
        allgather(comm, by, of, n, rank, p);
    if (strcmp(collective, "alltoall") == 0)
        alltoall(comm, by, of, n, rank, p);
    for (int i = 0; i < 2; i++) {
        int expected = i == 0 ? by->all : by->unordered;
        if (strcmp(collective, "allreduce") == 0)
            allreduce(comm, by, of, n, rank, op[i], expected);
        /* MPICH 4.0 writes beyond its own memory if the operation does not commute and the type has gaps. */
        int mpich = i == 1 && of.ints > 1 && expected == MPI_SUCCESS;
        if (strcmp(collective, "reduce-scatter") == 0 && !mpich)
            reduce_scatter(comm, by, of, n, rank, p, op[i], expected);
        for (int root = 0; root < p; root += p > 2 ? p - 1 : 1)
            if (strcmp(collective, "reduce") == 0)
                reduce(comm, by, of, n, rank, root, op[i], expected);
    }
    for (int root = 0; root < p; root += p > 2 ? p - 1 : 1) {
        if (strcmp(collective, "broadcast") == 0)
            broadcast(comm, by, of, n, rank, root);
        if (strcmp(collective, "gather") == 0)
            gather(comm, by, of, n, rank, p, root);
        if (strcmp(collective, "scatter") == 0)
            scatter(comm, by, of, n, rank, p, root);
    }
}

void test_collective(MPI_Comm comm, const way *by, const char *collective)
{
    for (int i = 0; i < 8; i++)
        at(comm, by, collective, elements[i / 4], operations[i / 4], lengths[i % 4]);
}
