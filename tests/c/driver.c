/*
 * Compares all emitted collectives with MPI's own: on a duplicate of the world, which is new for every case because
 * nodes are cached on it, and on a communicator with its ranks in reverse order. A collective that does not serve this
 * number of ranks must refuse the call.
 */
#include "driver.h"
#include "ending.h"

#include <stdio.h>

const int *number;
int numbers;
int shape;
element elements[ELEMENTS];
operation operations[OPERATIONS];
const int lengths[LENGTHS] = {0, 1, 7, 300};

static const test_case *now;

void expect(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s, nodes %d: %s is wrong\n", now->name, now->shape, what);
    end_the_job(1);
}

int node_of(int rank)
{
    return shape == PAIRS ? rank / 2 : shape == DEALT ? rank % 3 : 0;
}

int used(element of, int i)
{
    return of.ints == 4 ? i % 2 == 0 : of.ints == 3 ? i % 3 == 1 : 1;
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

/* Adds elements with a lower bound that is not 0. */
static void add_shifted(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        b[3 * i + 1] += a[3 * i + 1];
}

/* Elements with gaps are maps x -> a x + b modulo a prime; their composition does not commute. */
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

/* Two ints of every four, with gaps between them; and the second int of every three, with a lower bound at that int. */
static void make_types(void)
{
    MPI_Datatype two, second;
    int at = 1;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 4 * (MPI_Aint)sizeof(int), &elements[1].type);
    MPI_Type_create_indexed_block(1, 1, &at, MPI_INT, &second);
    MPI_Type_create_resized(second, (MPI_Aint)sizeof(int), 3 * (MPI_Aint)sizeof(int), &elements[2].type);
    MPI_Type_commit(&elements[1].type);
    MPI_Type_commit(&elements[2].type);
    MPI_Type_free(&two);
    MPI_Type_free(&second);
    elements[0].type = MPI_INT;
    elements[0].ints = 1;
    elements[1].ints = 4;
    elements[2].ints = 3;
}

/* MPICH 5.0 frees a wrong address when it reduces elements that do not begin at their address. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
enum { SHIFTED = 1 };
#else
enum { SHIFTED = 2 };
#endif

static void make_operations(void)
{
    const int of[OPERATIONS] = {0, 0, 1, SHIFTED, 1};
    for (int i = 0; i < OPERATIONS; i++) {
        operations[i].of = elements[of[i]];
        operations[i].commutes = i < 4;
    }
    operations[0].op = MPI_SUM;
    operations[1].op = MPI_MAX;
    MPI_Op_create(add, 1, &operations[2].op);
    MPI_Op_create(SHIFTED == 2 ? add_shifted : add, 1, &operations[3].op);
    MPI_Op_create(compose, 0, &operations[4].op);
}

/* An attribute of the program, which duplicates would copy: it must be deleted once, with its communicator. */
static int key = MPI_KEYVAL_INVALID, deleted;

static int delete(MPI_Comm comm, int of, void *value, void *extra)
{
    (void)comm, (void)of, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void run_case(MPI_Comm comm, int served)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(comm, key, NULL);
    deleted = 0;
    if (served)
        now->suite(comm);
    else
        expect(now->refused(comm) == MPI_ERR_ARG, "a call that must be refused");
    MPI_Comm_free(&comm);
    expect(deleted == 1, "how often an attribute was deleted");
}

static void run(int rank, int p)
{
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &key, NULL);
    for (int i = 0; i < cases_len; i++) {
        MPI_Comm same_order, reversed;
        now = &cases[i];
        number = now->number;
        numbers = now->numbers;
        shape = now->shape;
        MPI_Comm_dup(MPI_COMM_WORLD, &same_order);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
        run_case(same_order, now->served >> p & 1);
        run_case(reversed, now->served >> p & 1);
    }
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    int rank = 0, p = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    make_types();
    make_operations();
    run(rank, p);
    for (int i = 2; i < OPERATIONS; i++)
        MPI_Op_free(&operations[i].op);
    MPI_Type_free(&elements[1].type);
    MPI_Type_free(&elements[2].type);
    MPI_Finalize();
    if (rank == 0)
        printf("driver: p = %d, %d cases, all as expected\n", p, cases_len);
    return 0;
}

void each_root(MPI_Comm comm, void (*compare)(MPI_Comm, element, int, int))
{
    int p;
    MPI_Comm_size(comm, &p);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int root = 0; root < p; root++)
        for (int i = 0; i < ELEMENTS * LENGTHS; i++)
            compare(comm, elements[i / LENGTHS], lengths[i % LENGTHS], root);
}
