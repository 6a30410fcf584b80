/* Shared by the parts of the test program, which calls every function of roundel.h and compares with MPI's own. */
#ifndef CAPI_H
#define CAPI_H

#include <roundel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type of elements, and the distance between two of them in ints. */
typedef struct {
    MPI_Datatype type;
    int ints;
} element;

/* How something is called, and the expected outcome. */
typedef struct {
    const char *name;
    roundel_algorithm *how;
    /* The expected error class of all calls, and of those with an operation that does not commute. */
    int all, unordered;
    /* Whether the MPI library may do the call. */
    int library;
} way;

/* The buffer for a result: its contents before, and the expected contents after. */
typedef struct {
    int *found, *before, *after;
    size_t bytes, compared;
} result;

/* Ends the job if `right` is false. */
void expect(int right, const char *what, const char *of);

/* The error class of a return code. */
int class_of(int code);

/* Memory full of -1, for this many elements and one more, which must not change. */
int *blank(element of, int elements);

/* The same, with data that depends on the rank. */
int *data(element of, int elements, int rank);

/* A buffer for this many elements; for calls in place, with data. */
result result_of(element of, int elements, int in_place, int rank);
void release(result *buffer);

/* Compares the buffer with the expected one, unless an error is expected. */
void compare(const result *buffer, int code, int expected, const char *what, const char *of);

/* An int, and two of every four; operations on them, of which the last one does not commute. */
extern element elements[2];
extern MPI_Op operations[2][2];

/* One file each. */
void test_collective(MPI_Comm comm, const way *by, const char *collective);
void test_requests(MPI_Comm comm);
void test_errors(MPI_Comm comm, const char *wrong_file);

#endif
