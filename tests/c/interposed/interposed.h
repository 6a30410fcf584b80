/*
 * Calls MPI_X, which may be interposed, and compares it with PMPI_X on copies of the same data.
 *
 * A file has one case per line. All references are computed first; then the cases run in their order, non-blocking ones
 * several at a time, while ranks exchange messages and complete requests, each in its own order.
 */
#ifndef INTERPOSED_H
#define INTERPOSED_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of datatypes, which determine the operations. */
enum class { SIGNED, UNSIGNED, REAL, COMPLEX, LOGICAL, BYTES, ADDRESS, PAIR, NO_NUMBER };

/* A predefined datatype, or a struct of several. Of each `period` bytes the first `value` ones count, and an int at
 * `place`, if that is not 0; the others are padding. */
typedef struct {
    const char *name;
    enum class class;
    size_t size;
    size_t period, value, place;
    void (*fill)(void *at, int first, int second);
    MPI_Datatype type;
} base;

/* The positions of base elements in one item of a datatype; offsets and extent count elements. */
typedef struct {
    const char *name;
    int elements;
    int offset[4];
    int extent;
} layout;

typedef struct {
    const base *of;
    const layout *as;
    MPI_Datatype type;
} datatype;

/* types.c */
void make_types(void);
void free_types(void);
const datatype *find_type(const char *base_name, const char *layout_name);
/* The datatype of a handle; NULL if the program did not make it. */
const datatype *type_of(MPI_Datatype handle);

/* operations.c */
typedef struct {
    const char *name;
    MPI_Op op;
    /* Whether its values must be small and positive. */
    int product;
    /* The function of a user-defined one. */
    MPI_User_function *function;
    int commutes;
} operation;
void make_operations(void);
void free_operations(void);
const operation *find_operation(const char *name);
int operation_serves(const operation *op, const datatype *type);

/* communicators.c */
typedef struct {
    char name[32];
    MPI_Comm comm;
    int rank, size;
    /* The size of the other group, if there is one. */
    int remote;
    /* Whether this rank is in the group that has the root. */
    int first;
} communicator;
const communicator *find_communicator(const char *name);
void free_communicators(void);

/* cases.c */
enum call {
    ALLGATHER, ALLGATHERV, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, ALLTOALL, ALLTOALLV, BCAST, REDUCE, GATHER, SCATTER,
    MESSAGE
};
enum form { BLOCKING, NONBLOCKING, PERSISTENT };
enum finish { NONE, WAIT, TEST, STATUS, WAITANY, TESTANY, WAITSOME, TESTSOME, WAITALL, TESTALL };

typedef struct {
    int number;
    char *line;
    enum call call;
    enum form form;
    enum finish finish;
    const datatype *type;
    /* Another one with the same signature, for the other side. */
    const datatype *other;
    const operation *op;
    const communicator *comm;
    int count, root, in_place, bottom, null, large, fresh, starts;
    char way[16];
    uint32_t seed;
} test_case;

/* Reads a line; NULL if it is empty or does not concern this rank. */
test_case *read_case(const char *line, int number);
void free_case(test_case *c);

/* buffers.c */
typedef struct {
    int blocks;
    /* Displacements are in extents. */
    int *counts, *displs;
    const datatype *type;
    /* NULL if insignificant on this rank. */
    char *memory, *origin;
    size_t bytes;
} buffer;
buffer new_buffer(const datatype *type, int blocks);
/* Memory for its blocks, with guards on both sides, filled with a pattern. */
void allocate(buffer *b);
void pattern(buffer *b);
void free_buffer(buffer *b);
/* Puts numbers into a block. */
void fill_block(buffer *b, int block, const test_case *c, int rank, int first);
/* A copy of the same memory. */
buffer copy_of(const buffer *b);
/* The position of the first byte that differs, or -1. */
long difference(const buffer *found, const buffer *expected);
long total(const buffer *b);

/* arguments.c: what one side of a case calls with. */
typedef struct {
    buffer send, recv;
    int has_send, has_recv;
    int in_place, bottom;
    MPI_Datatype send_type, recv_type;
    MPI_Comm comm;
    MPI_Op op;
    int root;
    MPI_Count *send_counts, *recv_counts;
    MPI_Aint *send_displs, *recv_displs;
} arguments;
void make_arguments(arguments *a, const test_case *c);
void copy_arguments(arguments *to, const arguments *from, const test_case *c, int bottom);
void free_arguments(arguments *a);

/* calls.c */
void call_reference(const test_case *c, const arguments *a);
void call_blocking(const test_case *c, const arguments *a);
void call_nonblocking(const test_case *c, const arguments *a, MPI_Request *request);
/* Whether the library has these. */
extern const int has_persistent;
void call_persistent(const test_case *c, const arguments *a, MPI_Request *request);

/* run.c: one case. */
typedef struct {
    test_case *about;
    arguments expected, found, before;
    int starts;
} run;
void prepare(run *r);
void execute(run *r);
/* At the end, in the order of lines. */
void free_run(run *r);
/* Compares the result. Returns whether the case is over; otherwise it must be started again. */
int completed(run *r, MPI_Request *request);
void restart(run *r, MPI_Request *request);

/* pending.c */
void add_pending(run *r, MPI_Request request);
void add_message(MPI_Request request, int *value, int expected);
void complete(enum finish how, uint32_t seed);
/* Waits for the oldest pending collective. */
void complete_oldest(void);
/* Starts persistent requests once more, on all ranks at the same point of the program. */
void start_again(void);
void complete_all(void);

/* messages.c */
void exchange(const test_case *c);

/* main.c */
extern int world_rank, world_size;
/* The line in which a received byte is changed on purpose; 0 for none. */
extern int spoilt_line;
extern size_t spoilt_byte;
/* Whether MPI_ functions are interposed. */
extern int interposed;
void failed(const test_case *c, const char *what, long where);
uint32_t mix(uint32_t seed, uint32_t a, uint32_t b);
void *memory(size_t bytes);
/* Ends the program, with a text. */
void stop(const char *what, const char *about);

#endif
