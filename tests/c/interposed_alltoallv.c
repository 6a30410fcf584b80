/* Alltoallvs with random lists, compared with the library's: short and long blocks, none at all, much from one rank to
 * one other, gaps and any order in memory, in place, another datatype on one side, several communicators; again with
 * the same lists and with others; blocking, non-blocking and persistent.
 *
 *   interposed_alltoallv TURNS [LONGEST]     blocks of up to LONGEST integers
 *   interposed_alltoallv --spoilt            changes one result, which must be found
 *   interposed_alltoallv --truncated         ranks that disagree about a block */
#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 64 };
enum style { SMALL, NOTHING, SPARSE, EQUAL, PAIR, FUNNEL, FAN, LARGE, STYLES };
static const char *const names[STYLES] = {"small", "nothing", "sparse", "equal", "a pair", "to one", "from one", "large"};
enum form { BLOCKING, NONBLOCKING, PERSISTENT };

#if MPI_VERSION >= 4
#define INIT MPI_Alltoallv_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT MPIX_Alltoallv_init
#endif

static int failures, spoilt;

static uint32_t mix(uint32_t seed, uint32_t a, uint32_t b)
{
    uint64_t x = (uint64_t)seed << 32 ^ (uint64_t)a << 17 ^ b;
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

/* The lists of a rank, in integers; what it sends in pairs if that side has another datatype. */
typedef struct {
    int sends[RANKS], from[RANKS], takes[RANKS], to[RANKS];
    int sent, taken;
} lists;

static int length(enum style style, uint32_t seed, int from, int to, int longest)
{
    int one = (int)(seed % 7), some = (int)(mix(seed, (uint32_t)from, (uint32_t)to) % 1000);
    switch (style) {
    case SMALL: return some % 9;
    case NOTHING: return 0;
    case SPARSE: return some % 3 ? 0 : some / 9;
    case EQUAL: return (int)(seed % 50);
    case PAIR: return from % 7 == one && to % 3 == 1 ? longest : 0;
    case FUNNEL: return to % 7 == one ? some * longest / 1000 : 1;
    case FAN: return from % 7 == one ? some * longest / 1000 : 0;
    default: return some * longest / 4000;
    }
}

/* Where blocks begin: with gaps, forwards or backwards. */
static int place(const int *lengths, int *at, int p, uint32_t seed)
{
    int end = (int)(seed % 3);
    for (int i = 0; i < p; i++) {
        int block = seed % 2 ? i : p - 1 - i;
        at[block] = end;
        end += lengths[block] + (int)(mix(seed, 1, (uint32_t)block) % 3) * 2;
    }
    return end;
}

static lists make_lists(enum style style, uint32_t seed, int rank, int p, int longest, int symmetric)
{
    lists l;
    for (int i = 0; i < p; i++) {
        int low = rank < i ? rank : i, high = rank < i ? i : rank;
        /* In place, what is sent is as long as what is received. All lengths are even: they may be sent in pairs. */
        l.sends[i] = 2 * (symmetric ? length(style, seed, low, high, longest) : length(style, seed, rank, i, longest));
        l.takes[i] = 2 * (symmetric ? length(style, seed, low, high, longest) : length(style, seed, i, rank, longest));
    }
    l.sent = place(l.sends, l.from, p, mix(seed, 2, (uint32_t)rank));
    l.taken = place(l.takes, l.to, p, mix(seed, 3, (uint32_t)rank));
    return l;
}

/* The memory of one call, and of the library's. */
typedef struct {
    int *in, *out, *expected;
} data;

static data make_data(const lists *l)
{
    data d = {malloc((size_t)(2 * l->sent + 1) * sizeof(int)), malloc((size_t)(l->taken + 1) * sizeof(int)),
              malloc((size_t)(l->taken + 1) * sizeof(int))};
    if (d.in == NULL || d.out == NULL || d.expected == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return d;
}

static void fill(const data *d, const lists *l, uint32_t seed, int rank)
{
    for (int i = 0; i < 2 * l->sent; i++)
        d->in[i] = (int)mix(seed, (uint32_t)rank, (uint32_t)i);
    for (int i = 0; i < l->taken; i++)
        d->out[i] = d->expected[i] = (int)mix(seed + 1, (uint32_t)rank, (uint32_t)i);
}

static void free_data(const data *d)
{
    free(d->in);
    free(d->out);
    free(d->expected);
}

static void judge(const data *d, const lists *l, MPI_Comm comm, const char *what, enum style style, int turn)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (spoilt && rank == 0 && turn == 3 && l->taken > 0)
        d->out[l->taken - 1]++;
    if (memcmp(d->out, d->expected, (size_t)l->taken * sizeof(int)) != 0 && failures++ < 5)
        fprintf(stderr, "rank %d, turn %d: %s, %s: a wrong result\n", rank, turn, names[style], what);
}

/* The arguments of one side: lists in items of its type. A pair has a gap after each half. */
static MPI_Datatype pairs;
typedef struct {
    int counts[RANKS], displs[RANKS];
    MPI_Datatype type;
} side;

static side side_of(const int *counts, const int *displs, int p, int paired)
{
    side s = {.type = paired ? pairs : MPI_INT};
    for (int i = 0; i < p; i++) {
        s.counts[i] = paired ? counts[i] / 2 : counts[i];
        s.displs[i] = paired ? displs[i] / 2 : displs[i];
    }
    return s;
}

#define ARGUMENTS(out) \
    in_place ? MPI_IN_PLACE : (void *)d.in, s.counts, s.displs, s.type, out, r.counts, r.displs, r.type, comm

/* Several calls with the same lists and other data. */
static void calls(const lists *l, MPI_Comm comm, enum form form, int in_place, int paired, enum style style, int turn, int times)
{
    static const char *const whats[] = {"blocking", "non-blocking", "persistent"};
    int rank, p;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    side s = side_of(l->sends, l->from, p, paired && !in_place), r = side_of(l->takes, l->to, p, 0);
    data d = make_data(l);
#ifdef INIT
    if (form == PERSISTENT)
        INIT(ARGUMENTS(d.out), MPI_INFO_NULL, &request);
#endif
    for (int i = 0; i < times; i++) {
        fill(&d, l, (uint32_t)(turn * 16 + i), rank);
        PMPI_Alltoallv(ARGUMENTS(d.expected));
        if (form == BLOCKING)
            MPI_Alltoallv(ARGUMENTS(d.out));
        else if (form == NONBLOCKING)
            MPI_Ialltoallv(ARGUMENTS(d.out), &request);
        else
            MPI_Start(&request);
        if (form != BLOCKING)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        judge(&d, l, comm, whats[form], style, turn);
    }
    if (form == PERSISTENT)
        MPI_Request_free(&request);
    free_data(&d);
}

/* Two at a time, of different lists. */
static void overlapping(const lists *one, const lists *other, MPI_Comm comm, enum style style, int turn)
{
    int rank;
    const lists *both[2] = {one, other};
    data d[2];
    MPI_Request requests[2];
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 2; i++) {
        d[i] = make_data(both[i]);
        fill(&d[i], both[i], (uint32_t)(turn * 16 + i), rank);
        const lists *l = both[i];
        PMPI_Alltoallv(d[i].in, l->sends, l->from, MPI_INT, d[i].expected, l->takes, l->to, MPI_INT, comm);
    }
    for (int i = 0; i < 2; i++) {
        const lists *l = both[i];
        MPI_Ialltoallv(d[i].in, l->sends, l->from, MPI_INT, d[i].out, l->takes, l->to, MPI_INT, comm, &requests[i]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        judge(&d[i], both[i], comm, "two at a time", style, turn);
        free_data(&d[i]);
    }
}

static void one_turn(MPI_Comm comm, int turn, int longest)
{
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    uint32_t seed = mix(77, (uint32_t)turn, 0);
    enum style style = (enum style)(turn % STYLES);
    int in_place = turn % 5 == 4, times = 1 + (int)(seed % 4);
    lists l = make_lists(style, seed, rank, p, longest, in_place), other = make_lists(SMALL, seed + 1, rank, p, longest, 0);
    calls(&l, comm, BLOCKING, in_place, turn % 3 == 2, style, turn, times);
    if (turn % 4 == 1)
        overlapping(&l, &other, comm, style, turn);
    /* Open MPI 4.1 loses messages of an MPI_Ialltoallv in place if there are counts of 0. */
    if (turn % 4 == 2)
        calls(&l, comm, NONBLOCKING, 0, turn % 3 == 1, style, turn, 2);
#ifdef INIT
    if (turn % 8 < 3)
        calls(&l, comm, PERSISTENT, 0, turn % 3 == 1, style, turn, 3);
#endif
    calls(&other, comm, BLOCKING, 0, 0, SMALL, turn, 1);
}

static int all_turns(int turns, int longest)
{
    int rank;
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    for (int turn = 0; turn < turns; turn++)
        one_turn(comms[turn / 3 % 3], turn, longest);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return failures;
}

/* Rank 1 sends `more` integers more to rank 0 than rank 0 has room for, at most MORE. */
enum { MORE = 3 };
static int with_more(int count, int more)
{
    int rank, p, wrong = 0, class = MPI_SUCCESS;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int sends[RANKS], takes[RANKS], from[RANKS], to[RANKS];
    int *in = malloc(sizeof(int) * (size_t)((count + MORE) * p)), *out = malloc(sizeof(int) * (size_t)((count + 1) * p));
    if (in == NULL || out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < p; i++) {
        sends[i] = count + (rank == 1 && i == 0 ? more : 0);
        takes[i] = count;
        from[i] = i * (count + MORE);
        to[i] = i * (count + 1);
        for (int j = 0; j < sends[i]; j++)
            in[from[i] + j] = rank * 1000 + i;
        out[to[i] + count] = -1;
    }
    int code = MPI_Alltoallv(in, sends, from, MPI_INT, out, takes, to, MPI_INT, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    wrong += class != (rank == 0 && more > 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    for (int i = 0; i < p; i++) {
        int arrived = rank == 0 && i == 1 && more < 0 ? count + more : count;
        for (int j = 0; j < arrived; j++)
            wrong += out[to[i] + j] != i * 1000 + rank;
        wrong += out[to[i] + count] != -1;
    }
    free(in);
    free(out);
    return wrong;
}

/* Blocks that are too long give an error where they arrive, nowhere else, and later calls succeed. */
static int truncated(void)
{
    int wrong = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    static const int counts[] = {1, 40, 100000};
    for (int i = 0; i < 3; i++) {
        wrong += with_more(counts[i], MORE) + with_more(counts[i], 0) + with_more(counts[i], 1);
        wrong += with_more(counts[i], -1) + with_more(counts[i], 0);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, wrong, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype two;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 4 * sizeof(int), &pairs);
    MPI_Type_commit(&pairs);
    spoilt = argc > 1 && strcmp(argv[1], "--spoilt") == 0;
    if (argc > 1 && strcmp(argv[1], "--truncated") == 0)
        wrong = truncated();
    else
        wrong = all_turns(spoilt || argc < 2 ? 20 : atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 300);
    MPI_Type_free(&two);
    MPI_Type_free(&pairs);
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        puts("all as expected");
    MPI_Finalize();
    return all != 0;
}
