/* Shared by the drivers of emitted collectives. Each kind has a file that implements `suite` and `refused`. */
#ifndef DRIVER_H
#define DRIVER_H

#include "nodes.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/*
 * One case: an algorithm with parameters, on a placement of ranks. Its functions are those of a driver file, which is
 * compiled for each algorithm: `CALL` takes parameters as `VALUES`, which have the types `TYPES`; `ORDERED` says
 * whether p ranks reduce in rank order. The cases are in a file that the tests write.
 */
typedef struct {
    const char *name;
    void (*suite)(MPI_Comm);
    int (*refused)(MPI_Comm);
    int shape;      /* see nodes.h */
    int served;     /* bit p: whether p ranks are served; others are refused */
    int number[16]; /* the parameters */
    int numbers;
} test_case;

extern const test_case cases[];
extern const int cases_len;

/* The parameters of the current case. */
extern const int *number;
extern int numbers;

/* A type of elements, and the distance between two of them in ints. */
typedef struct {
    MPI_Datatype type;
    int ints;
} element;

/* An operation on elements. */
typedef struct {
    element of;
    MPI_Op op;
    int commutes;
} operation;

/*
 * A driver file has two functions. `suite` compares the results of the emitted function with those of MPI's own, for
 * all relevant lengths; `refused` returns the code of a call that must be refused, whatever its buffers.
 */
void suite(MPI_Comm comm);
int refused(MPI_Comm comm);

/* Ends the job if `right` is false. */
void expect(int right, const char *what);

/* Memory full of -1, for this many elements and one more, which must not change. */
int *blank(element of, int elements);

/* The same, with data that depends on the rank. */
int *data(element of, int elements, int rank);

/* Whether two buffers are equal, including gaps and the guard after them. */
int same(element of, int elements, const int *found, const int *expected);

/* Whether int number i of a buffer is part of an element, and not of a gap. */
int used(element of, int i);

enum { ELEMENTS = 3, OPERATIONS = 5, LENGTHS = 4 };

/* Without gaps; with gaps; with gaps and a lower bound that is not 0. */
extern element elements[ELEMENTS];

/* Two of MPI's own operations; and user-defined ones: a commutative one for each type with gaps, and one that does not
 * commute. */
extern operation operations[OPERATIONS];

/* Lengths of blocks. */
extern const int lengths[LENGTHS];

/* Compares calls with every root, type and length. */
void each_root(MPI_Comm comm, void (*compare)(MPI_Comm, element, int, int));

#endif
