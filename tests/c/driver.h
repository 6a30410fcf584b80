/* What the drivers of emitted collectives share. Each kind has a file that implements `suite` and `refused`. */
#ifndef DRIVER_H
#define DRIVER_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/*
 * The parameters of the algorithm, from the command line. `CALL` takes them as `VALUES`, which have the types `TYPES`; `ORDERED`
 * says whether p ranks reduce in their order.
 */
extern int number[64];
extern int numbers;

/* A type of elements, and how many ints lie between two of them. */
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

/* Compares what the emitted function gives with what MPI's own gives, for all lengths that matter. */
void suite(MPI_Comm comm);

/* What a call gives that must be refused, whatever its buffers are. */
int refused(MPI_Comm comm);

/* Ends the job unless something is right. */
void expect(int right, const char *what);

/* Memory full of -1, for so many elements and one more, which nobody may touch. */
int *blank(element of, int elements);

/* The same, with data that depends on the rank. */
int *data(element of, int elements, int rank);

/* Whether two buffers are the same, gaps and what lies behind included. */
int same(element of, int elements, const int *found, const int *expected);

/* The types of elements: one without gaps and one with, and their number. */
extern element elements[2];

/* The operations, and their number. */
extern operation operations[4];

/* Lengths of blocks. */
extern const int lengths[4];

#endif
