/*
 * Calls emitted collectives, for benches/emitted.sh: `emitted NAME CALLS`. The first calls fill the caches; the calls
 * after them are counted, inside `measured`. Blocks have 8 bytes. `emitted.rs` makes the same calls of generated code.
 */
#include "allreduce.h"
#include "alltoall.h"
#include "bruck.h"
#include "ring.h"
#include "sparbit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int p;

static int bruck(const uint64_t *send, uint64_t *recv)
{
    return roundel_allgather_bruck(send, 1, MPI_UINT64_T, recv, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static int sparbit(const uint64_t *send, uint64_t *recv)
{
    return roundel_allgather_sparbit(send, 1, MPI_UINT64_T, recv, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static int ring(const uint64_t *send, uint64_t *recv)
{
    return roundel_allgather_ring(send, 1, MPI_UINT64_T, recv, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static int allreduce(const uint64_t *send, uint64_t *recv)
{
    return roundel_allreduce_recursive_doubling(send, recv, p, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static int alltoall(const uint64_t *send, uint64_t *recv)
{
    return roundel_alltoall_modified_bruck(send, 1, MPI_UINT64_T, recv, 1, MPI_UINT64_T, MPI_COMM_WORLD, 2);
}

typedef int call(const uint64_t *, uint64_t *);

static const struct {
    const char *name;
    call *call;
} calls[] = {{"bruck", bruck}, {"sparbit", sparbit}, {"ring", ring}, {"allreduce", allreduce}, {"alltoall", alltoall}};

static int repeat(call *made, const uint64_t *send, uint64_t *recv, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong |= made(send, recv);
    return wrong;
}

/* The function that callgrind counts. */
__attribute__((noinline)) int measured(call *made, const uint64_t *send, uint64_t *recv, int count)
{
    return repeat(made, send, recv, count);
}

int main(int argc, char **argv)
{
    int rank = 0;
    call *wanted = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (size_t i = 0; argc == 3 && i < sizeof calls / sizeof *calls; i++)
        if (strcmp(argv[1], calls[i].name) == 0)
            wanted = calls[i].call;
    uint64_t *send = calloc((size_t)p, sizeof *send), *recv = calloc((size_t)p, sizeof *recv);
    if (wanted == NULL || send == NULL || recv == NULL) {
        fprintf(stderr, "usage: %s NAME CALLS\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (int i = 0; i < p; i++)
        send[i] = (uint64_t)rank;
    int wrong = repeat(wanted, send, recv, 3) | measured(wanted, send, recv, atoi(argv[2]));
    free(send);
    free(recv);
    MPI_Finalize();
    return wrong;
}
