/*
 * Runs an emitted collective against MPI's own: on the world, and on a communicator with its ranks the other way round.
 * `driver run NUMBER...` compares; `driver refused NUMBER...` expects that a call with so many ranks is refused.
 */
#include "driver.h"

#include <stdio.h>

int number[64];
int numbers;
element elements[2];
operation operations[4];
const int lengths[4] = {0, 1, 7, 300};

void expect(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s is wrong\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int *blank(element of, int count)
{
    size_t ints = (size_t)(count + 1) * (size_t)of.ints;
    int *buffer = malloc(ints * sizeof *buffer);
    expect(buffer != NULL, "memory");
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

int same(element of, int count, const int *found, const int *expected)
{
    return memcmp(found, expected, (size_t)(count + 1) * (size_t)of.ints * sizeof *found) == 0;
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

/* Elements with gaps as maps x -> a x + b modulo a prime, one after the other: that does not commute. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *left = in, prime = 30011;
    int *right = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        int a = left[4 * i] % prime, b = left[4 * i + 2] % prime;
        right[4 * i + 2] = (a * (right[4 * i + 2] % prime) + b) % prime;
        right[4 * i] = a * (right[4 * i] % prime) % prime;
    }
}

/* Two ints of every four, with the ones between left alone. */
static void make_types(void)
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
}

static void make_operations(void)
{
    for (int i = 0; i < 4; i++) {
        operations[i].of = elements[i / 2];
        operations[i].commutes = i < 3;
    }
    operations[0].op = MPI_SUM;
    operations[1].op = MPI_MAX;
    MPI_Op_create(add, 1, &operations[2].op);
    MPI_Op_create(compose, 0, &operations[3].op);
}

static void run(void)
{
    MPI_Comm reversed;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    suite(MPI_COMM_WORLD);
    suite(reversed);
    MPI_Comm_free(&reversed);
}

int main(int argc, char **argv)
{
    int rank = 0, p = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(argc >= 2, "the command line");
    for (numbers = 0; numbers + 2 < argc && numbers < 64; numbers++)
        number[numbers] = atoi(argv[numbers + 2]);
    make_types();
    make_operations();
    if (strcmp(argv[1], "refused") == 0)
        expect(refused(MPI_COMM_WORLD) == MPI_ERR_ARG, "a call that must be refused");
    else
        run();
    MPI_Op_free(&operations[2].op);
    MPI_Op_free(&operations[3].op);
    MPI_Type_free(&elements[1].type);
    MPI_Finalize();
    if (rank == 0)
        printf("driver: p = %d, all as expected\n", p);
    return 0;
}
