/*
 * Calls emitted collectives, for benches/emitted.sh: `emitted NAME CALLS`. The first calls make what is cached; those that follow are
 * counted, inside of `measured`. Blocks have 8 bytes.
 */
#include "bruck.h"
#include "ring.h"
#include "sparbit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);

static const struct {
    const char *name;
    allgather *call;
} variants[] = {
    {"bruck", roundel_allgather_bruck},
    {"sparbit", roundel_allgather_sparbit},
    {"ring", roundel_allgather_ring},
};

/* What callgrind counts. */
__attribute__((noinline)) void measured(allgather *call, const uint64_t *send, uint64_t *recv, int calls)
{
    for (int i = 0; i < calls; i++)
        call(send, 1, MPI_UINT64_T, recv, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank = 0, p = 0, wrong = 0;
    allgather *call = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (size_t i = 0; argc == 3 && i < sizeof variants / sizeof *variants; i++)
        if (strcmp(argv[1], variants[i].name) == 0)
            call = variants[i].call;
    uint64_t own = (uint64_t)rank + 7, *all = calloc((size_t)p, sizeof *all);
    if (call == NULL || all == NULL) {
        fprintf(stderr, "usage: %s bruck|sparbit|ring CALLS\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (int i = 0; i < 3; i++)
        call(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    measured(call, &own, all, atoi(argv[2]));
    for (int i = 0; i < p; i++)
        wrong |= all[i] != (uint64_t)i + 7;
    free(all);
    MPI_Finalize();
    return wrong;
}
