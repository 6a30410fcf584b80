/* What the parts of the test program share: it calls every function of roundel.h and compares with MPI's own. */
#ifndef CAPI_H
#define CAPI_H

#include <roundel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type of elements, and how many ints lie between two of them. */
typedef struct {
    MPI_Datatype type;
    int ints;
} element;

/* How something is called, and what must come of it. */
typedef struct {
    const char *name;
    roundel_algorithm *how;
    /* The class of all calls, and of those with an operation that does not commute. */
    int all, unordered;
    /* Whether the MPI library may do it. */
    int library;
} way;

/* The buffer for a result: what is in it before, and what must be in it after. */
typedef struct {
    int *found, *before, *after;
    size_t bytes, compared;
} result;

/* Ends the job unless something is right. */
void expect(int right, const char *what, const char *of);

/* The class of what a function returned. */
int class_of(int code);

/* Memory full of -1, for so many elements and one more, which nobody may touch. */
int *blank(element of, int elements);

/* The same, with data that depends on the rank. */
int *data(element of, int elements, int rank);

/* A buffer for so many elements; for calls in place, with data. */
result result_of(element of, int elements, int in_place, int rank);
void release(result *buffer);

/* Compares with what is expected, unless an error is. */
void compare(const result *buffer, int code, int expected, const char *what, const char *of);

/* An int, and two of every four; operations on them, of which the last one does not commute. */
extern element elements[2];
extern MPI_Op operations[2][2];

/* One file each. */
void test_collective(MPI_Comm comm, const way *by, const char *collective);
void test_requests(MPI_Comm comm);
void test_errors(MPI_Comm comm, const char *wrong_file);

#endif
