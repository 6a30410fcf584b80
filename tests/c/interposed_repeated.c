/* Calls that are made again with the same arguments: other data each time, in one of two places, in place or not, with
 * more different calls than a communicator remembers, and on communicators that are made after others were freed.
 * Every result is compared with the library's. `--spoilt` changes one, which must be found. With C_INTERFACE, the calls
 * are those of Roundel's C interface. */
#include <mpi.h>
#ifdef C_INTERFACE
#include <roundel.h>
#define ROUNDEL_Allreduce(...) roundel_allreduce(__VA_ARGS__, NULL)
#define ROUNDEL_Reduce(...) roundel_reduce(__VA_ARGS__, NULL)
#define ROUNDEL_Bcast(...) roundel_bcast(__VA_ARGS__, NULL)
#define ROUNDEL_Allgather(...) roundel_allgather(__VA_ARGS__, NULL)
#define ROUNDEL_Allgatherv(...) roundel_allgatherv(__VA_ARGS__, NULL)
#define ROUNDEL_Alltoall(...) roundel_alltoall(__VA_ARGS__, NULL)
#define ROUNDEL_Alltoallv(...) roundel_alltoallv(__VA_ARGS__, NULL)
#define ROUNDEL_Gather(...) roundel_gather(__VA_ARGS__, NULL)
#define ROUNDEL_Scatter(...) roundel_scatter(__VA_ARGS__, NULL)
#define ROUNDEL_Reduce_scatter(...) roundel_reduce_scatter(__VA_ARGS__, NULL)
#define ROUNDEL_Reduce_scatter_block(...) roundel_reduce_scatter_block(__VA_ARGS__, NULL)
#endif
#include <stdio.h>
#include <string.h>

enum { LONGEST = 7, RANKS = 16, ROOM = LONGEST * RANKS, TURNS = 4 };
enum kind { ALLREDUCE, REDUCE, BCAST, ALLGATHER, ALLGATHERV, ALLTOALL, GATHER, SCATTER, REDUCE_SCATTER, BLOCKS, ALLTOALLV, KINDS };
static const char *const names[KINDS] = {"allreduce", "reduce",  "broadcast", "allgather",      "allgatherv",
                                         "alltoall",  "gather",  "scatter",   "reduce_scatter", "reduce_scatter_block", "alltoallv"};

static int rank, p, failures, spoilt;
static int inputs[2][ROOM], outputs[2][ROOM], expected[ROOM];
static int counts[RANKS], places[RANKS];
/* Those of an alltoallv, in which what a rank sends to another is as long as what it gets from there. */
static int shared[RANKS], shares[RANKS];

static int number(int of, int i, int turn)
{
    return of * 7919 + i * 31 + turn * 104729;
}

#define CALL(prefix) \
    switch (kind) { \
    case ALLREDUCE: prefix##_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm); break; \
    case REDUCE: prefix##_Reduce(in, out, n, MPI_INT, MPI_MAX, root, comm); break; \
    case BCAST: prefix##_Bcast(out, n, MPI_INT, root, comm); break; \
    case ALLGATHER: prefix##_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm); break; \
    case ALLGATHERV: prefix##_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, comm); break; \
    case ALLTOALL: prefix##_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm); break; \
    case GATHER: prefix##_Gather(in, n, MPI_INT, out, n, MPI_INT, root, comm); break; \
    case SCATTER: prefix##_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, comm); break; \
    case REDUCE_SCATTER: prefix##_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm); break; \
    case BLOCKS: prefix##_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm); break; \
    case ALLTOALLV: \
        prefix##_Alltoallv(in, shared, shares, MPI_INT, out, shared, shares, MPI_INT, comm); \
        break; \
    case KINDS: break; \
    }

#ifdef C_INTERFACE
static void ours(enum kind kind, const void *in, void *out, int n, int root, MPI_Comm comm) { CALL(ROUNDEL) }
#else
static void ours(enum kind kind, const void *in, void *out, int n, int root, MPI_Comm comm) { CALL(MPI) }
#endif
static void theirs(enum kind kind, const void *in, void *out, int n, int root, MPI_Comm comm) { CALL(PMPI) }

/* Whether a call can have its data in place on this rank. A scatter has its output in place, where it sends. */
static int may_be_in_place(enum kind kind, int root)
{
    if (kind == REDUCE || kind == GATHER)
        return rank == root;
    return kind != BCAST && kind != SCATTER;
}

static void once(enum kind kind, int n, int root, int in_place, int turn, MPI_Comm comm)
{
    int place = turn % 2;
    int *input = inputs[place], *output = outputs[place];
    for (int i = 0; i < ROOM; i++) {
        input[i] = number(rank, i, turn);
        output[i] = expected[i] = number(rank, i, turn + TURNS);
    }
    const void *in = in_place && may_be_in_place(kind, root) ? MPI_IN_PLACE : (const void *)input;
    int whole = kind == SCATTER && in_place && rank == root;
    theirs(kind, in, whole ? MPI_IN_PLACE : (void *)expected, n, root, comm);
    ours(kind, in, whole ? MPI_IN_PLACE : (void *)output, n, root, comm);
    if (spoilt && kind == GATHER && turn == 3 && rank == root)
        output[0]++;
    if (memcmp(output, expected, sizeof expected) != 0) {
        if (failures++ < 5)
            fprintf(stderr, "rank %d: %s of %d, root %d, %s, turn %d: a wrong result\n", rank, names[kind], n, root,
                    in_place ? "in place" : "not in place", turn);
    }
}

static void all_turns(enum kind kind, int n, MPI_Comm comm)
{
    int total = 0, all = 0;
    for (int r = 0; r < p; r++) {
        shared[r] = (rank + r + n) % LONGEST;
        shares[r] = all;
        all += shared[r];
        counts[r] = (r * 3 + n) % LONGEST;
        places[r] = total;
        total += counts[r];
    }
    for (int root = 0; root < p; root += p > 1 ? p - 1 : 1)
        for (int in_place = 0; in_place < 2; in_place++)
            for (int turn = 0; turn < TURNS; turn++)
                once(kind, n, root, in_place, turn, comm);
}

/* The lists of counts are the same array each time: only its contents tell calls apart. */
static void everything(MPI_Comm comm)
{
    static const int lengths[] = {1, 5, 0, 1};
    for (int again = 0; again < 2; again++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                all_turns((enum kind)kind, lengths[i], comm);
}

int main(int argc, char **argv)
{
    int sum;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    spoilt = argc > 1 && strcmp(argv[1], "--spoilt") == 0;
    everything(MPI_COMM_WORLD);
    for (int again = 0; again < 3; again++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        all_turns(ALLREDUCE, 1 + again, comm);
        all_turns(ALLGATHERV, 1 + again, comm);
        all_turns(ALLTOALLV, 1 + again, comm);
        MPI_Comm_free(&comm);
    }
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
