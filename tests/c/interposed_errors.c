/* Wrong arguments: MPI_ returns the same error class as PMPI_, calls the error handler as often, and the communicator
 * still works.
 *
 * Every argument of every function is replaced by everything that MPI forbids there, one at a time. The library is the
 * reference: a child process tries PMPI_ first, because libraries do not check all arguments, and a call that crashes
 * there is skipped. Errors on a communicator of one rank are also tried on all ranks, separately: the library finds
 * such errors without a message. Freed operations are tried on MPICH alone, because handles of Open MPI are addresses;
 * freed datatypes are not tried, because MPICH ends the job when it looks at one.
 *
 * With an argument, the program makes one wrong call on a communicator whose errors are fatal. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { ALLGATHER, ALLGATHERV, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, ALLTOALL, ALLTOALLV, BCAST, REDUCE, GATHER, SCATTER, KINDS };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, LARGE, FORMS };
static const char *kind_names[] = {"allgather", "allgatherv", "allreduce", "reduce_scatter", "reduce_scatter_block", "alltoall",
                                   "alltoallv", "bcast", "reduce", "gather", "scatter"};
static const char *form_names[] = {"blocking", "nonblocking", "persistent", "large"};

typedef struct {
    void *send, *recv;
    int sends, recvs, root;
    const int *send_counts, *send_displs, *recv_counts, *recv_displs;
    MPI_Datatype send_type, recv_type;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request *request;
} arguments;

#if defined(OPEN_MPI) && defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(P, name) P##X_##name##_init
#elif MPI_VERSION >= 4
#define INIT(P, name) P##_##name##_init
#endif

#ifdef INIT
#define PREPARED(P, name, ...) INIT(P, name)(__VA_ARGS__, MPI_INFO_NULL, a->request)
#else
#define PREPARED(P, name, ...) -1
#endif

/* Functions whose counts are wider than int. */
#if MPI_VERSION >= 4
#define WIDE(P, name, ...) P##_##name##_c(__VA_ARGS__)
#else
#define WIDE(P, name, ...) -1
#endif

/* Lists have another type in those. */
#define LISTS(P, name, iname, ...)                                                                                      \
    (form == BLOCKING ? P##_##name(__VA_ARGS__)                                                                         \
     : form == NONBLOCKING ? P##_##iname(__VA_ARGS__, a->request)                                                       \
                           : PREPARED(P, name, __VA_ARGS__))

#define FORM(P, name, iname, ...) (form == LARGE ? WIDE(P, name, __VA_ARGS__) : LISTS(P, name, iname, __VA_ARGS__))

#define FUNCTION(P, function)                                                                                           \
    static int function(enum kind kind, enum form form, const arguments *a)                                             \
    {                                                                                                                   \
        switch (kind) {                                                                                                 \
        case ALLGATHER:                                                                                                 \
            return FORM(P, Allgather, Iallgather, a->send, a->sends, a->send_type, a->recv, a->recvs, a->recv_type, a->comm); \
        case ALLGATHERV:                                                                                                \
            return LISTS(P, Allgatherv, Iallgatherv, a->send, a->sends, a->send_type, a->recv, a->recv_counts,           \
                        a->recv_displs, a->recv_type, a->comm);                                                         \
        case ALLREDUCE:                                                                                                 \
            return FORM(P, Allreduce, Iallreduce, a->send, a->recv, a->sends, a->send_type, a->op, a->comm);            \
        case REDUCE_SCATTER:                                                                                            \
            return LISTS(P, Reduce_scatter, Ireduce_scatter, a->send, a->recv, a->recv_counts, a->send_type, a->op, a->comm); \
        case REDUCE_SCATTER_BLOCK:                                                                                      \
            return FORM(P, Reduce_scatter_block, Ireduce_scatter_block, a->send, a->recv, a->sends, a->send_type, a->op, \
                        a->comm);                                                                                       \
        case ALLTOALL:                                                                                                  \
            return FORM(P, Alltoall, Ialltoall, a->send, a->sends, a->send_type, a->recv, a->recvs, a->recv_type, a->comm); \
        case ALLTOALLV:                                                                                                 \
            return LISTS(P, Alltoallv, Ialltoallv, a->send, a->send_counts, a->send_displs, a->send_type, a->recv,       \
                        a->recv_counts, a->recv_displs, a->recv_type, a->comm);                                         \
        case BCAST:                                                                                                     \
            return FORM(P, Bcast, Ibcast, a->recv, a->recvs, a->recv_type, a->root, a->comm);                           \
        case REDUCE:                                                                                                    \
            return FORM(P, Reduce, Ireduce, a->send, a->recv, a->sends, a->send_type, a->op, a->root, a->comm);         \
        case GATHER:                                                                                                    \
            return FORM(P, Gather, Igather, a->send, a->sends, a->send_type, a->recv, a->recvs, a->recv_type, a->root, a->comm); \
        default:                                                                                                        \
            return FORM(P, Scatter, Iscatter, a->send, a->sends, a->send_type, a->recv, a->recvs, a->recv_type, a->root, \
                        a->comm);                                                                                       \
        }                                                                                                               \
    }

FUNCTION(MPI, served)
FUNCTION(PMPI, library)

static int told, failures, cases, errors, crashes;
static char current[256] = "nothing";
/* With padding around them: with some of these arguments a library writes out of bounds, which must not change the
 * arguments of the next call. */
static struct {
    double before[4096], in[512], between[4096], out[512], after[4096];
} memory;
#define in memory.in
#define out memory.out
static MPI_Request request;
static MPI_Datatype loose_gaps, loose_dense, empty;
static MPI_Op freed_op;
static MPI_Comm freed_comm;

static void tell(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    told++;
}

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static void crashed(int signal)
{
    /* In a signal handler, write() is safe and printf() is not. */
    ssize_t ignored = write(2, "crashes: ", 9) + write(2, current, strlen(current)) + write(2, "\n", 1);
    (void)ignored;
    _exit(128 + signal);
}

static int class_of(int code)
{
    int class = -1;
    PMPI_Error_class(code, &class);
    return class;
}

/* Completes what was started. */
static void complete(enum form form, int code)
{
    if (code != MPI_SUCCESS || form == BLOCKING || form == LARGE || request == MPI_REQUEST_NULL)
        return;
    if (form == PERSISTENT)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(&request);
}

/* A value that MPI forbids for an argument, and the calls that have the argument. */
typedef struct {
    const char *argument, *value;
    unsigned kinds;
    void (*set)(arguments *);
    /* The calls for which it matters only on the root. */
    unsigned root_only;
} mutation;

#define BIT(kind) (1u << (kind))
#define REDUCTIONS (BIT(ALLREDUCE) | BIT(REDUCE_SCATTER) | BIT(REDUCE_SCATTER_BLOCK) | BIT(REDUCE))
#define HAS_SEND ((BIT(KINDS) - 1) & ~BIT(BCAST))
#define HAS_RECV (BIT(KINDS) - 1)
#define HAS_SENDS (HAS_SEND & ~BIT(REDUCE_SCATTER) & ~BIT(ALLTOALLV))
#define HAS_RECVS (BIT(ALLGATHER) | BIT(ALLTOALL) | BIT(BCAST) | BIT(GATHER) | BIT(SCATTER))
#define HAS_RECV_TYPE (HAS_RECV & ~REDUCTIONS)
#define HAS_RECV_LIST (BIT(ALLGATHERV) | BIT(ALLTOALLV))
#define ROOTED (BIT(BCAST) | BIT(REDUCE) | BIT(GATHER) | BIT(SCATTER))
#define ROOT_SEND BIT(SCATTER)
#define ROOT_RECV (BIT(REDUCE) | BIT(GATHER))

static int short_list[64], huge_list[64];

#define SET(name, what)                                                                                                 \
    static void name(arguments *a)                                                                                      \
    {                                                                                                                   \
        what;                                                                                                           \
    }
SET(send_in_place, a->send = MPI_IN_PLACE)
SET(recv_in_place, a->recv = MPI_IN_PLACE)
SET(both_in_place, a->send = a->recv = MPI_IN_PLACE)
SET(send_bottom, a->send = MPI_BOTTOM)
SET(recv_bottom, a->recv = MPI_BOTTOM)
SET(same_buffers, a->send = a->recv)
SET(negative_sends, a->sends = -1)
SET(least_sends, a->sends = INT_MIN)
SET(most_sends, a->sends = INT_MAX)
SET(negative_recvs, a->recvs = -1)
SET(most_recvs, a->recvs = INT_MAX)
SET(no_send_counts, a->send_counts = NULL)
SET(no_send_displs, a->send_displs = NULL)
SET(no_recv_counts, a->recv_counts = NULL)
SET(no_recv_displs, a->recv_displs = NULL)
SET(negative_send_counts, a->send_counts = short_list)
SET(negative_recv_counts, a->recv_counts = short_list)
SET(most_recv_counts, a->recv_counts = huge_list)
SET(null_send_type, a->send_type = MPI_DATATYPE_NULL)
SET(null_recv_type, a->recv_type = MPI_DATATYPE_NULL)
SET(loose_send_type, a->send_type = loose_dense)
SET(loose_recv_type, a->recv_type = loose_dense)
SET(loose_gapped_send_type, a->send_type = loose_gaps)
SET(loose_gapped_recv_type, a->recv_type = loose_gaps)
SET(loose_types, a->send_type = a->recv_type = loose_gaps)
SET(empty_types, a->send_type = a->recv_type = empty)
SET(null_op, a->op = MPI_OP_NULL)
SET(replace_op, a->op = MPI_REPLACE)
SET(pairs_op, a->op = MPI_MAXLOC)
SET(bits_of_floats, a->op = MPI_BAND; a->send_type = MPI_DOUBLE)
SET(and_of_floats, a->op = MPI_LXOR; a->send_type = MPI_FLOAT)
SET(sum_of_bytes, a->op = MPI_SUM; a->send_type = MPI_BYTE)
SET(sum_of_pairs, a->op = MPI_SUM; a->send_type = MPI_DOUBLE_INT)
SET(negative_root, a->root = -7)
SET(no_root, a->root = 1000)
SET(remote_root, a->root = MPI_ROOT)
SET(null_root, a->root = MPI_PROC_NULL)
SET(null_comm, a->comm = MPI_COMM_NULL)
SET(null_request, a->request = NULL)
#ifndef OPEN_MPI
/* Handles of Open MPI are addresses, so a freed handle may point at anything. */
SET(an_op_that_was_freed, a->op = freed_op)
#endif
SET(a_comm_that_was_freed, a->comm = freed_comm)

static const mutation mutations[] = {
    {"send", "MPI_IN_PLACE", HAS_SEND, send_in_place, ROOT_SEND},
    {"recv", "MPI_IN_PLACE", HAS_RECV, recv_in_place, ROOT_RECV},
    {"send and recv", "MPI_IN_PLACE", HAS_SEND, both_in_place, ROOT_RECV | ROOT_SEND},
    {"send", "MPI_BOTTOM", HAS_SEND, send_bottom, ROOT_SEND},
    {"recv", "MPI_BOTTOM", HAS_RECV, recv_bottom, ROOT_RECV},
    {"send", "the receive buffer", HAS_SEND, same_buffers, ROOT_SEND | ROOT_RECV},
    {"sends", "-1", HAS_SENDS, negative_sends, ROOT_SEND},
    {"sends", "INT_MIN", HAS_SENDS, least_sends, ROOT_SEND},
    {"sends", "INT_MAX", HAS_SENDS, most_sends, ROOT_SEND},
    {"recvs", "-1", HAS_RECVS, negative_recvs, BIT(GATHER)},
    {"recvs", "INT_MAX", HAS_RECVS, most_recvs, BIT(GATHER)},
    {"send counts", "NULL", BIT(ALLTOALLV), no_send_counts, 0},
    {"send displacements", "NULL", BIT(ALLTOALLV), no_send_displs, 0},
    {"recv counts", "NULL", HAS_RECV_LIST | BIT(REDUCE_SCATTER), no_recv_counts, 0},
    {"recv displacements", "NULL", HAS_RECV_LIST, no_recv_displs, 0},
    {"send counts", "-1", BIT(ALLTOALLV), negative_send_counts, 0},
    {"recv counts", "-1", HAS_RECV_LIST | BIT(REDUCE_SCATTER), negative_recv_counts, 0},
    {"recv counts", "INT_MAX", HAS_RECV_LIST | BIT(REDUCE_SCATTER), most_recv_counts, 0},
    {"send type", "MPI_DATATYPE_NULL", HAS_SEND, null_send_type, ROOT_SEND},
    {"recv type", "MPI_DATATYPE_NULL", HAS_RECV_TYPE, null_recv_type, BIT(GATHER)},
    {"send type", "one that is not committed", HAS_SEND, loose_send_type, ROOT_SEND},
    {"recv type", "one that is not committed", HAS_RECV_TYPE, loose_recv_type, BIT(GATHER)},
    {"send type", "one with gaps that is not committed", HAS_SEND, loose_gapped_send_type, ROOT_SEND},
    {"recv type", "one with gaps that is not committed", HAS_RECV_TYPE, loose_gapped_recv_type, BIT(GATHER)},
    {"both types", "one that is not committed", HAS_RECV_TYPE & HAS_SEND, loose_types, ROOT_SEND | BIT(GATHER)},
    {"types", "one of no elements", HAS_RECV, empty_types, 0},
    {"op", "MPI_OP_NULL", REDUCTIONS, null_op, 0},
    {"op", "MPI_REPLACE", REDUCTIONS, replace_op, 0},
    {"op", "MPI_MAXLOC of integers", REDUCTIONS, pairs_op, 0},
    {"op", "MPI_BAND of floats", REDUCTIONS, bits_of_floats, 0},
    {"op", "MPI_LXOR of floats", REDUCTIONS, and_of_floats, 0},
    {"op", "MPI_SUM of MPI_BYTE", REDUCTIONS, sum_of_bytes, 0},
    {"op", "MPI_SUM of pairs", REDUCTIONS, sum_of_pairs, 0},
    {"root", "-7", ROOTED, negative_root, 0},
    {"root", "1000", ROOTED, no_root, 0},
    {"root", "MPI_ROOT", ROOTED, remote_root, 0},
    {"root", "MPI_PROC_NULL", ROOTED, null_root, 0},
    {"comm", "MPI_COMM_NULL", HAS_RECV, null_comm, 0},
    {"request", "NULL", HAS_RECV, null_request, 0},
#ifndef OPEN_MPI
    {"op", "one that was freed", REDUCTIONS, an_op_that_was_freed, 0},
#endif
    {"comm", "one that was freed", HAS_RECV, a_comm_that_was_freed, 0},
};

static int ones[64], places[64];

/* Rewritten for each call. */
static void write_lists(void)
{
    for (int i = 0; i < 64; i++) {
        ones[i] = 1;
        places[i] = i;
        short_list[i] = i == 0 ? -1 : 1;
        huge_list[i] = INT_MAX;
    }
}

static arguments usual(MPI_Comm comm)
{
    arguments a = {in,     out,    1,       1,       0,           ones, places, ones, places,
                   MPI_INT, MPI_INT, MPI_SUM, comm, &request};
    request = MPI_REQUEST_NULL;
    write_lists();
    return a;
}

/* Exit codes that no library uses. */
enum verdict { CRASHES = 40, SUCCEEDS, FAILS };

/* The library's verdict, found in a child process, which may crash. */
static enum verdict judged(enum kind kind, enum form form, const arguments *a)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        /* A call that never ends computes or sleeps. */
        struct rlimit second = {1, 1};
        setrlimit(RLIMIT_CPU, &second);
        alarm(5);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(CRASHES);
        int code = library(kind, form, a);
        complete(form, code);
        _exit(code == MPI_SUCCESS ? SUCCEEDS : FAILS);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return CRASHES;
    return WEXITSTATUS(status) == SUCCEEDS || WEXITSTATUS(status) == FAILS ? (enum verdict)WEXITSTATUS(status) : CRASHES;
}

static void compare(enum kind kind, enum form form, const mutation *m, MPI_Comm comm)
{
    arguments a = usual(comm);
    m->set(&a);
    told = 0;
    int expected = library(kind, form, &a), calls = told;
    complete(form, expected);
    a = usual(comm);
    m->set(&a);
    told = 0;
    int found = served(kind, form, &a), own_calls = told;
    complete(form, found);
    cases++;
    errors += expected != MPI_SUCCESS;
    /* Roundel asks the library about a freed communicator, which may call the handler once more. */
    int as_often = own_calls == calls || m->set == a_comm_that_was_freed;
    if (class_of(found) != class_of(expected) || !as_often) {
        fprintf(stderr, "%s: class %d, %d calls of the handler, but of PMPI_ class %d, %d calls\n", current, class_of(found),
                own_calls, class_of(expected), calls);
        failures++;
    }
}

#define MUTATIONS (sizeof mutations / sizeof *mutations)
static int verdicts[KINDS][FORMS][MUTATIONS];

static int is_case(enum kind kind, enum form form, const mutation *m)
{
    snprintf(current, sizeof current, "%s %s with %s as %s", form_names[form], kind_names[kind], m->value, m->argument);
#ifndef INIT
    if (form == PERSISTENT)
        return 0;
#endif
#if MPI_VERSION < 4
    if (form == LARGE)
        return 0;
#endif
    if (form == LARGE && (kind == REDUCE_SCATTER || (HAS_RECV_LIST & BIT(kind))))
        return 0;
    int requests = form == NONBLOCKING || form == PERSISTENT;
    return (m->kinds & BIT(kind)) && (requests || m->set != null_request);
}

/* One rank tries everything with the library, alone. */
static void ask(MPI_Comm alone, int rank)
{
    for (int kind = 0; kind < KINDS && rank == 0; kind++)
        for (int form = 0; form < FORMS; form++)
            for (size_t m = 0; m < MUTATIONS; m++) {
                arguments a = usual(alone);
                if (!is_case((enum kind)kind, (enum form)form, &mutations[m]))
                    continue;
                mutations[m].set(&a);
                verdicts[kind][form][m] = judged((enum kind)kind, (enum form)form, &a);
                crashes += verdicts[kind][form][m] == CRASHES;
            }
    /* Other ranks sleep, because processes that spin would slow down those that are forked. */
    MPI_Request arrived;
    int done = 0;
    PMPI_Ibcast(verdicts, (int)(sizeof verdicts / sizeof(int)), MPI_INT, 0, MPI_COMM_WORLD, &arrived);
    while (!done) {
        PMPI_Test(&arrived, &done, MPI_STATUS_IGNORE);
        if (!done)
            usleep(1000);
    }
}

static void each(enum kind kind, enum form form, size_t number, MPI_Comm alone, MPI_Comm all, int rank)
{
    const mutation *m = &mutations[number];
    enum verdict verdict = (enum verdict)verdicts[kind][form][number];
    if (!is_case(kind, form, m) || verdict == CRASHES)
        return;
    if (rank == 0)
        compare(kind, form, m, alone);
    /* On other ranks the argument is insignificant, or means something else. A message that is too long for the
     * receiver is found only after messages were sent. */
    int matters = (!(m->root_only & BIT(kind)) || rank == 0) && strcmp(m->value, "INT_MAX") != 0;
    /* On a communicator of one rank, buffers with a block per rank are the same buffer. */
    int reduces = (REDUCTIONS | BIT(ALLTOALL) | BIT(ALLTOALLV)) & BIT(kind);
    matters = matters && (m->set != same_buffers || reduces);
    if (verdict == FAILS && matters)
        compare(kind, form, m, all);
}

static void matrix(MPI_Comm alone, MPI_Comm all)
{
    int rank;
    MPI_Comm_rank(all, &rank);
    for (int kind = 0; kind < KINDS; kind++)
        for (int form = 0; form < FORMS; form++)
            for (size_t m = 0; m < MUTATIONS; m++)
                each((enum kind)kind, (enum form)form, m, alone, all, rank);
}

static void still_works(MPI_Comm comm)
{
    int one = 1, sum = 0, p;
    MPI_Comm_size(comm, &p);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != p) {
        fprintf(stderr, "after errors a sum is %d, not %d\n", sum, p);
        failures++;
    }
}

/* Arguments that are wrong on ranks where they do not matter are accepted if the library accepts them. */
static void insignificant(MPI_Comm comm)
{
    static const enum kind kinds[] = {REDUCE, GATHER, SCATTER};
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 3; i++) {
        int codes[2], worst[2];
        for (int ours = 0; ours < 2; ours++) {
            arguments a = usual(comm);
            snprintf(current, sizeof current, "%s with arguments that do not matter", kind_names[kinds[i]]);
            if (rank != 0 && kinds[i] == SCATTER)
                a.send = MPI_IN_PLACE, a.sends = -1, a.send_type = MPI_DATATYPE_NULL;
            if (rank != 0 && kinds[i] != SCATTER)
                a.recv = MPI_IN_PLACE, a.recvs = -1, a.recv_type = MPI_DATATYPE_NULL;
            codes[ours] = (ours ? served : library)(kinds[i], BLOCKING, &a) != MPI_SUCCESS;
            PMPI_Allreduce(&codes[ours], &worst[ours], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        if (worst[1] && !worst[0]) {
            fprintf(stderr, "%s is refused\n", current);
            failures++;
        }
    }
}

static void prepare(void)
{
    MPI_Type_vector(2, 1, 3, MPI_INT, &loose_gaps);
    MPI_Type_contiguous(1, MPI_INT, &loose_dense);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    freed_op = op;
    MPI_Op_free(&op);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    freed_comm = comm;
    still_works(comm);
    MPI_Comm_free(&comm);
}

/* Sets this handler wherever errors may be raised. */
static void with(MPI_Errhandler handler)
{
    MPI_Comm alone, all;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    /* Errors that belong to no communicator are raised on these. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(alone, handler);
    MPI_Comm_set_errhandler(all, handler);
    still_works(alone);
    still_works(all);
    matrix(alone, all);
    insignificant(all);
    still_works(alone);
    still_works(all);
    MPI_Comm_free(&all);
    MPI_Comm_free(&alone);
}

/* Each ends the job, and the reason names the function. */
static void fatal(const char *how)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    still_works(MPI_COMM_WORLD);
    if (strcmp(how, "count") == 0)
        MPI_Allgather(in, -1, MPI_INT, out, -1, MPI_INT, MPI_COMM_WORLD);
    if (strcmp(how, "type") == 0)
        MPI_Allgather(in, 1, loose_gaps, out, 1, loose_gaps, MPI_COMM_WORLD);
    if (strcmp(how, "op") == 0)
        MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD);
    if (strcmp(how, "comm") == 0)
        MPI_Bcast(in, 1, MPI_INT, 0, freed_comm);
    if (strcmp(how, "truncated") == 0)
        MPI_Bcast(in, rank == 0 ? 100 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(how, "begun") == 0) {
        MPI_Ibcast(in, rank == 0 ? 100 : 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /* Other ranks wait for the failed one. */
    PMPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prepare();
    if (argc > 1) {
        fatal(argv[1]);
        fprintf(stderr, "no error was fatal\n");
        MPI_Finalize();
        return 0;
    }
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    signal(SIGABRT, crashed);
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    ask(alone, rank);
    MPI_Comm_free(&alone);
    MPI_Comm_create_errhandler(tell, &handler);
    with(MPI_ERRORS_RETURN);
    with(handler);
    MPI_Errhandler_free(&handler);
    MPI_Type_free(&loose_gaps);
    MPI_Type_free(&loose_dense);
    MPI_Type_free(&empty);
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cases, of which %d are errors; %d more crash in the library\n", cases, errors, crashes);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
