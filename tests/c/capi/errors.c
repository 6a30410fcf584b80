/* Errors have the right class, go through the error handler of the communicator, and have a text that says what to
 * do. */
#include "capi.h"

static int calls, last;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    calls++, last = *code;
}

/* Expects a class, a text with these words, and this number of handler calls since the last time. */
static void refused(int code, int class, const char *words, int handled, const char *what)
{
    char text[2000];
    size_t length = roundel_last_error(text, sizeof text);
    expect(class_of(code) == class, "the class", what);
    expect(length == strlen(text) && strstr(text, words) != NULL, "the text", what);
    expect(calls == handled && (handled == 0 || last == code), "the error handler", what);
    calls = 0;
}

static void name(const char *text, const char *words)
{
    roundel_algorithm *how = (roundel_algorithm *)&calls;
    refused(roundel_algorithm_create(text, &how), MPI_ERR_ARG, words, 0, text == NULL ? "no name" : text);
    expect(how == NULL, "the handle", "a wrong name");
}

static void names(void)
{
    name("allreduce/nonsense", "there is no algorithm `nonsense` for allreduce");
    name("nonsense", "`nonsense`");
    name("nonsense/ring", "nonsense");
    name("allgather/rabenseifner", "allreduce/rabenseifner");
    name("allreduce/ring:radix=4", "has no parameter `radix`");
    name("alltoall/k-bruck", "needs a number `radix`");
    name("alltoall/k-bruck:radix=1", "must lie in 2..");
    name("alltoall/k-bruck:radix=four", "radix=four");
    name("allreduce/8(-1 1 1 1)", "ports");
    name("allreduce/ring;alltoall/pairwise", "names");
    name("", "names no algorithm");
    name(NULL, "is NULL");
    refused(roundel_algorithm_create("allreduce/ring", NULL), MPI_ERR_ARG, "is NULL", 0, "no room");
    refused(roundel_algorithm_free(NULL), MPI_ERR_ARG, "is NULL", 0, "no handle");
}

static void files(const char *wrong_file)
{
    roundel_algorithm *rules = NULL;
    refused(roundel_selection_create("/no/such/file", &rules), MPI_ERR_NO_SUCH_FILE, "/no/such/file", 0, "no file");
    refused(roundel_selection_create(wrong_file, &rules), MPI_ERR_ARG, wrong_file, 0, "a wrong file");
    refused(MPI_ERR_ARG, MPI_ERR_ARG, "line 4: ", 0, "a wrong file");
    refused(roundel_selection_create(NULL, &rules), MPI_ERR_ARG, "is NULL", 0, "no path");
    expect(rules == NULL, "the handle", "a wrong file");
}

/* An algorithm that cannot serve this call. */
static void unserved(MPI_Comm comm, const char *name, int p)
{
    int one = 1, all[64];
    MPI_Op first = operations[0][1];
    roundel_algorithm *how = NULL, *ring = NULL;
    roundel_request *request = NULL;
    roundel_algorithm_create(name, &how);
    roundel_algorithm_create("allreduce/ring", &ring);
    refused(roundel_allgather(&one, 1, MPI_INT, all, 1, MPI_INT, comm, how), MPI_ERR_ARG, "does not serve", 1, name);
    refused(roundel_iallgather(&one, 1, MPI_INT, all, 1, MPI_INT, comm, how, &request), MPI_ERR_ARG, "which is false", 1, name);
    refused(roundel_allgather_init(&one, 1, MPI_INT, all, 1, MPI_INT, comm, how, &request), MPI_ERR_ARG, "which is false", 1, name);
    expect(request == NULL, "the request", name);
    refused(roundel_bcast(&one, 1, MPI_INT, 0, comm, ring), MPI_ERR_ARG, "another collective", 1, "allreduce/ring");
    if (p > 1)
        refused(roundel_allreduce(&one, all, 1, MPI_INT, first, comm, ring), MPI_ERR_OP, "does not commute", 1, "ring");
    roundel_algorithm_free(&how), roundel_algorithm_free(&ring);
}

static void arguments(MPI_Comm comm)
{
    int one = 1, all[64], counts[64] = {0}, flag = 0;
    roundel_request *request = NULL, *none = NULL;
    refused(roundel_bcast(&one, -1, MPI_INT, 0, comm, NULL), MPI_ERR_COUNT, "-1", 1, "a negative count");
    refused(roundel_bcast(&one, 1, MPI_DATATYPE_NULL, 0, comm, NULL), MPI_ERR_TYPE, "MPI_DATATYPE_NULL", 1, "no type");
    refused(roundel_bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm, NULL), MPI_ERR_BUFFER, "MPI_IN_PLACE", 1, "in place");
    /* No rank is the root that it names, so nothing is sent. */
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size > 1)
        refused(roundel_reduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, (rank + 1) % size, comm, NULL), MPI_ERR_BUFFER,
                "MPI_IN_PLACE", 1, "in place, not at the root");
    refused(roundel_bcast(&one, 1, MPI_INT, 0, MPI_COMM_NULL, NULL), MPI_ERR_COMM, "MPI_COMM_NULL", 1, "no communicator");
    refused(roundel_allgatherv(&one, 1, MPI_INT, all, NULL, counts, MPI_INT, comm, NULL), MPI_ERR_ARG, "list of counts", 1,
            "no counts");
    refused(roundel_allgatherv(&one, 1, MPI_INT, all, counts, NULL, MPI_INT, comm, NULL), MPI_ERR_ARG, "displacements", 1,
            "no displacements");
    refused(roundel_ibcast(&one, 1, MPI_INT, 0, comm, NULL, NULL), MPI_ERR_ARG, "the address of the request", 1, "no room");
    refused(roundel_start(NULL), MPI_ERR_ARG, "is NULL", 1, "no request");
    refused(roundel_start(&none), MPI_ERR_REQUEST, "is NULL", 1, "no request");
    refused(roundel_wait(NULL), MPI_ERR_ARG, "is NULL", 1, "no request");
    refused(roundel_test(&none, NULL), MPI_ERR_ARG, "the flag", 1, "no flag");
    refused(roundel_test(NULL, &flag), MPI_ERR_ARG, "is NULL", 1, "no request");
    refused(roundel_waitall(-1, &request), MPI_ERR_COUNT, "-1", 1, "fewer than no requests");
    refused(roundel_waitall(2, NULL), MPI_ERR_ARG, "is NULL", 1, "no requests");
    refused(roundel_request_free(&none), MPI_ERR_REQUEST, "is NULL", 1, "no request");
    expect(roundel_waitall(0, NULL) == MPI_SUCCESS && calls == 0, "nothing", "waitall");
}

/* The MPI library reports the errors that it finds, once, and its code is returned. (MPICH 5.0 returns MPI_SUCCESS if a
 * handler of the program returns.) */
static void of_the_library(MPI_Comm comm)
{
    int one = 1, code = roundel_bcast(&one, 1, MPI_INT, 1000, comm, NULL), own;
    expect(calls == 1, "the number of reports", "bcast");
    own = MPI_Bcast(&one, 1, MPI_INT, 1000, comm);
    expect(calls == 2 && (class_of(own) == MPI_ERR_ROOT || own == MPI_SUCCESS), "the library's own code", "bcast");
    expect(class_of(code) == class_of(own), "a root that is no rank", "bcast");
    calls = 0;
}

/* One rank's handle differs, at the first call on a communicator and at a later one; NULL on one rank is a difference,
 * too. */
static void handles_that_differ(MPI_Comm comm, int rank, const char *name, const char *other)
{
    int one = 1, sum = 0;
    roundel_request *request = NULL;
    roundel_algorithm *how = NULL, *same = NULL;
    const char *mine = rank == 0 ? other : name;
    MPI_Comm fresh;
    expect(mine == NULL || roundel_algorithm_create(mine, &how) == MPI_SUCCESS, "a name", "handles that differ");
    expect(roundel_algorithm_create("allreduce/recursive-doubling", &same) == MPI_SUCCESS, "a name", "the same");
    MPI_Comm_dup(comm, &fresh);
    refused(roundel_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, fresh, how), MPI_ERR_OTHER, "the handles that they pass", 1, name);
    MPI_Comm_free(&fresh);
    MPI_Comm_dup(comm, &fresh);
    refused(roundel_iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, fresh, how, &request), MPI_ERR_OTHER, "the handles that they pass", 1, name);
    MPI_Comm_free(&fresh);
    if (mine == NULL || name == NULL || other == NULL)
        goto done;
    MPI_Comm_dup(comm, &fresh);
    expect(roundel_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, fresh, same) == MPI_SUCCESS, "the same", "handles");
    refused(roundel_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, fresh, how), MPI_ERR_OTHER, "the handles that they pass", 1, name);
    MPI_Comm_free(&fresh);
done:
    roundel_algorithm_free(&how), roundel_algorithm_free(&same);
}

/* On an intercommunicator the library does the call; a named algorithm cannot. */
static void two_groups(MPI_Comm comm, int rank, int p)
{
    int one = 1, sum = 0;
    roundel_request *request = NULL;
    roundel_algorithm *ring = NULL;
    MPI_Comm half, inter;
    roundel_algorithm_create("allreduce/ring", &ring);
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 0, &inter);
    MPI_Errhandler counting;
    MPI_Comm_get_errhandler(comm, &counting);
    MPI_Comm_set_errhandler(inter, counting);
    MPI_Errhandler_free(&counting);
    int code = roundel_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter, NULL);
    expect(code == MPI_SUCCESS && sum == (rank % 2 ? p - p / 2 : p / 2), "the sum", "between two groups");
    code = roundel_iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter, NULL, &request);
    expect(code == MPI_SUCCESS && roundel_wait(&request) == MPI_SUCCESS, "a request", "between two groups");
    refused(roundel_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter, ring), MPI_ERR_COMM, "intercommunicator", 1, "ring");
    roundel_algorithm_free(&ring);
    MPI_Comm_free(&inter), MPI_Comm_free(&half);
}

static void texts(void)
{
    char text[500], part[8];
    size_t needed = 0;
    roundel_algorithm *how = NULL;
    expect(roundel_algorithm_create("x/y", &how) == MPI_ERR_ARG, "a wrong name", "x/y");
    size_t length = roundel_last_error(text, sizeof text);
    expect(roundel_last_error(NULL, 0) == length, "the length", "the last error");
    expect(roundel_last_error(part, sizeof part) == length && strlen(part) == 7, "a part", "the last error");
    expect(strncmp(part, text, 7) == 0, "a part", "the last error");
    int code = roundel_explain(NULL, "allgather", 16, 4, 8, text, sizeof text, &needed);
    expect(code == MPI_SUCCESS && strstr(text, "allgather/") != NULL && needed == strlen(text), "allgather", "explain");
    roundel_algorithm_create("allgather/neighbor-exchange", &how);
    code = roundel_explain(how, "allgather", 5, 5, 8, text, sizeof text, NULL);
    expect(code == MPI_SUCCESS && strstr(text, "does not serve") != NULL, "neighbor-exchange", "explain");
    code = roundel_explain(how, "allreduce", 5, 5, 8, text, sizeof text, NULL);
    refused(code, MPI_ERR_ARG, "another collective", 0, "explain");
    code = roundel_explain(how, "nonsense", 5, 5, 8, text, sizeof text, NULL);
    refused(code, MPI_ERR_ARG, "nonsense", 0, "explain");
    roundel_algorithm_free(&how);
    expect(strlen(roundel_version()) > 0, "the version", "this library");
}

void test_errors(MPI_Comm comm, const char *wrong_file)
{
    int p, rank;
    MPI_Errhandler counting;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(comm, counting);
    names();
    files(wrong_file);
    if (p % 2 == 1)
        unserved(comm, "allgather/neighbor-exchange", p);
    else if ((p & (p - 1)) != 0)
        unserved(comm, "allgather/recursive-doubling", p);
    arguments(comm);
    of_the_library(comm);
    if (p > 1) {
        handles_that_differ(comm, rank, "allreduce/ring", "allreduce/rabenseifner");
        handles_that_differ(comm, rank, "allreduce/ring", "allreduce/library");
        handles_that_differ(comm, rank, "allreduce/ring", NULL);
        two_groups(comm, rank, p);
    }
    texts();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&counting);
}
