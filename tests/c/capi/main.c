/*
 * Calls libroundel and compares with MPI. `capi algorithms (served|ordered|refused NAME)...` does so for algorithms,
 * with the expected error class where they do not serve a call; `capi selection FILE` by rules, and by the environment;
 * `capi requests` and `capi errors FILE`, with a wrong selection file, are described in their sources; `capi fatal`
 * fails in a call whose error handler ends the job.
 */
#include "../ending.h"
#include "capi.h"

element elements[2];
MPI_Op operations[2][2];

void expect(int right, const char *what, const char *of)
{
    char text[1000];
    if (right)
        return;
    roundel_last_error(text, sizeof text);
    fprintf(stderr, "%s of %s is wrong; the last error: %s\n", what, of, text);
    end_the_job(1);
}

int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

int *blank(element of, int count)
{
    size_t ints = (size_t)(count + 1) * (size_t)of.ints;
    int *buffer = malloc(ints * sizeof *buffer);
    expect(buffer != NULL, "memory", "the test");
    memset(buffer, -1, ints * sizeof *buffer);
    return buffer;
}

int *data(element of, int count, int rank)
{
    int *buffer = blank(of, count);
    for (int i = 0; i < count * of.ints; i++)
        buffer[i] = rank * 1000 + i * 7 % 311 + 1;
    return buffer;
}

result result_of(element of, int count, int in_place, int rank)
{
    result buffer;
    buffer.compared = buffer.bytes = (size_t)(count + 1) * (size_t)of.ints * sizeof(int);
    buffer.found = blank(of, count);
    buffer.before = in_place ? data(of, count, rank) : blank(of, count);
    buffer.after = in_place ? data(of, count, rank) : blank(of, count);
    return buffer;
}

void release(result *buffer)
{
    free(buffer->found), free(buffer->before), free(buffer->after);
}

void compare(const result *buffer, int code, int expected, const char *what, const char *of)
{
    expect(class_of(code) == expected, what, of);
    /* A refused call changes nothing. */
    const int *right = expected == MPI_SUCCESS ? buffer->after : buffer->before;
    expect(memcmp(buffer->found, right, buffer->compared) == 0, what, of);
}

/* Adds elements with gaps. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        b[4 * i] += a[4 * i];
        b[4 * i + 2] += a[4 * i + 2];
    }
}

/* Elements are maps x -> a x + b modulo a prime; their composition does not commute. `step` is the distance from a to b
 * in ints. */
static void compose(const int *left, int *right, int step)
{
    const int prime = 30011;
    int a = left[0] % prime, b = left[step] % prime;
    right[step] = (a * (right[step] % prime) + b) % prime;
    right[0] = a * (right[0] % prime) % prime;
}

static void compose_gaps(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        compose((const int *)in + 4 * i, (int *)inout + 4 * i, 2);
}

/* Returns the left operand: associative, and any other order of ranks gives a different result. */
static void left(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] = ((const int *)in)[i];
}

static void make(void)
{
    MPI_Datatype two, gaps;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 4 * (MPI_Aint)sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_free(&two);
    elements[0].type = MPI_INT;
    elements[0].ints = 1;
    elements[1].type = gaps;
    elements[1].ints = 4;
    operations[0][0] = MPI_SUM;
    MPI_Op_create(left, 0, &operations[0][1]);
    MPI_Op_create(add, 1, &operations[1][0]);
    MPI_Op_create(compose_gaps, 0, &operations[1][1]);
}

static void clean(void)
{
    MPI_Op_free(&operations[0][1]);
    MPI_Op_free(&operations[1][0]);
    MPI_Op_free(&operations[1][1]);
    MPI_Type_free(&elements[1].type);
}

static void algorithm(const char *expected, const char *name)
{
    way by = {name, NULL, MPI_SUCCESS, MPI_SUCCESS, 0};
    char collective[64] = "";
    sscanf(name, "%63[^/]", collective);
    if (strcmp(expected, "ordered") != 0)
        by.unordered = MPI_ERR_OP;
    if (strcmp(expected, "refused") == 0)
        by.all = by.unordered = MPI_ERR_ARG;
    expect(roundel_algorithm_create(name, &by.how) == MPI_SUCCESS, "the name", name);
    test_collective(MPI_COMM_WORLD, &by, collective);
    expect(roundel_algorithm_free(&by.how) == MPI_SUCCESS && by.how == NULL, "the end", name);
}

static void selection(const char *file)
{
    const char *all[] = {"allgather", "allreduce", "reduce-scatter", "alltoall", "broadcast", "reduce", "gather", "scatter"};
    way by = {file, NULL, MPI_SUCCESS, MPI_SUCCESS, 1};
    expect(roundel_selection_create(file, &by.how) == MPI_SUCCESS, "the rules", file);
    for (int i = 0; i < 8; i++) {
        way environment = {"the environment", NULL, MPI_SUCCESS, MPI_SUCCESS, 1};
        test_collective(MPI_COMM_WORLD, &by, all[i]);
        test_collective(MPI_COMM_WORLD, &environment, all[i]);
    }
    roundel_algorithm_free(&by.how);
}

static void fatal(void)
{
    int number = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    roundel_bcast(&number, -1, MPI_INT, 0, MPI_COMM_WORLD, NULL);
}

int main(int argc, char **argv)
{
    int rank = 0, p = 0, nothing = 0;
    int early = roundel_bcast(&nothing, 1, MPI_INT, 0, MPI_COMM_WORLD, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(early == MPI_ERR_OTHER, "a call before MPI_Init", "this program");
    expect(argc >= 2, "the command line", "this program");
    make();
    if (strcmp(argv[1], "algorithms") == 0)
        for (int i = 2; i + 1 < argc; i += 2)
            algorithm(argv[i], argv[i + 1]);
    else if (strcmp(argv[1], "selection") == 0 && argc == 3)
        selection(argv[2]);
    else if (strcmp(argv[1], "requests") == 0)
        test_requests(MPI_COMM_WORLD);
    else if (strcmp(argv[1], "errors") == 0 && argc == 3)
        test_errors(MPI_COMM_WORLD, argv[2]);
    else if (strcmp(argv[1], "fatal") == 0)
        fatal();
    else
        expect(0, "the command line", "this program");
    clean();
    MPI_Finalize();
    if (rank == 0)
        printf("capi: p = %d, all as expected\n", p);
    return 0;
}
