/* The cost of using a communicator with libroundel_pmpi.so before MPI: counted, not timed.
 *
 *   interposed_setup [library|served|late]
 *
 * This program intercepts calls from that library to MPI: it counts communicators and collectives, and passes them on.
 * `library`: all calls are expected to go to MPI. `served`: none. `late`: the first four on each communicator, and
 * reductions like one of them; and one exchange in which ranks agree that they share memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int communicators, exchanges;

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        abort();
    }
    return found;
}

/* Defines a function of MPI that counts and passes on. A communicator of this process alone, and an empty reduction,
 * which serves to ask a library about handles, do not involve other ranks: calls that are not `shared` do not count. */
#define COUNTED(counter, shared, name, parameters, arguments) \
    int name parameters \
    { \
        static int(*function) parameters; \
        if (function == NULL) function = (int(*) parameters)next(#name); \
        counter += (shared); \
        return function arguments; \
    }

/* Roundel calls one of these functions. */
#define MAKER(name, parameters, arguments) \
    COUNTED(communicators, a != MPI_COMM_SELF, MPI_##name, parameters, arguments) \
    COUNTED(communicators, a != MPI_COMM_SELF, PMPI_##name, parameters, arguments)
MAKER(Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm *c), (a, b, c))
MAKER(Comm_dup, (MPI_Comm a, MPI_Comm *b), (a, b))
MAKER(Comm_split, (MPI_Comm a, int b, int c, MPI_Comm *d), (a, b, c, d))
MAKER(Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm *e), (a, b, c, d, e))
COUNTED(exchanges, c > 0, PMPI_Allreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))
COUNTED(exchanges, 1, PMPI_Allgather,
        (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g), (a, b, c, d, e, f, g))
COUNTED(exchanges, 1, PMPI_Bcast, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))

static int rank, p;

static void expect(int right, const char *what, int wanted_communicators, int wanted_exchanges)
{
    if (!right || communicators != wanted_communicators || exchanges != wanted_exchanges) {
        fprintf(stderr, "rank %d, %s: %d communicators and %d exchanges, not %d and %d%s\n", rank, what, communicators, exchanges,
                wanted_communicators, wanted_exchanges, right ? "" : "; and the result is wrong");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Adds up one number of each rank, `times` times; returns whether every sum is right. */
static int sums(MPI_Comm comm, int times)
{
    int size, right = 1;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < times; i++) {
        double one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        right = right && sum == size;
    }
    return right;
}

/* Gathers a number of each rank, `times` times. */
static int gathers(MPI_Comm comm, int times)
{
    int size, own, right = 1, *all = malloc(sizeof *all * (size_t)p);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    for (int i = 0; i < times; i++) {
        int mine = own + i;
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int j = 0; j < size; j++)
            right = right && all[j] == j + i;
    }
    free(all);
    return right;
}

/* A communicator of the program, made in the n-th way. Making it does not count. */
static MPI_Comm made(int way)
{
    MPI_Comm comm;
    if (way == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (way == 1) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    if (way == 2) {
        MPI_Group group;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
        MPI_Group_free(&group);
    }
    communicators = exchanges = 0;
    return comm;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "library";
    int served = !strcmp(mode, "served"), late = !strcmp(mode, "late"), right;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int way = 0; way < 3; way++) {
        MPI_Comm comm = made(way);
        right = sums(comm, 1);
        MPI_Comm_free(&comm);
        expect(right, "used once", served, !served);

        comm = made(way);
        right = gathers(comm, 20);
        expect(right, "used often", served || late, served ? 0 : late ? 5 : 20);
        right = sums(comm, 3);
        expect(right, "used again", served || late, served ? 0 : late ? 5 : 23);
        MPI_Comm_free(&comm);

        comm = made(way);
        right = sums(comm, 2) && gathers(comm, 5);
        expect(right, "used in two ways", served || late, served ? 0 : late ? 5 : 7);
        /* A reduction that went to the library keeps going there. */
        right = sums(comm, 3);
        expect(right, "reduced again", served || late, served ? 0 : late ? 8 : 10);
        MPI_Comm_free(&comm);
    }
    /* The world is known from the beginning. */
    communicators = exchanges = 0;
    right = gathers(MPI_COMM_WORLD, 2);
    expect(right, "the world", 0, late ? 1 : served ? 0 : 2);
    if (rank == 0) puts("all as expected");
    MPI_Finalize();
    return 0;
}
