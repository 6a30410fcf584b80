/*
 * More than 2^31 bytes in one call: MPI_Allgather, MPI_Allgatherv, MPI_Alltoall and, of ints, MPI_Allreduce, on two
 * ranks; and MPI_Bcast of one element of that size. Needs 14 GB of memory, and says so if there is less.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 4099 };
static const size_t block = ((size_t)1 << 30) + 5;
static int rank, failures;

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)(i * 31 + i / 65536 + (size_t)(from * 7 + to * 3 + 1));
}

static void fill(unsigned char *at, int from, int to, size_t length)
{
    for (size_t i = 0; i < length; i++)
        at[i] = byte_of(from, to, i);
}

static void check(const char *what, const unsigned char *at, int from, int to, size_t length)
{
    for (size_t i = 0; i < length; i += i + STEP < length || i == length - 1 ? STEP : length - 1 - i)
        if (at[i] != byte_of(from, to, i)) {
            fprintf(stderr, "rank %d: %s is wrong at byte %zu of the block of %d\n", rank, what, i, from);
            failures++;
            return;
        }
}

static void allgather(unsigned char *all)
{
    memset(all, 0, 2 * block);
    fill(all + (size_t)rank * block, rank, 0, block);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, all, (int)block, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        check("MPI_Allgather", all + (size_t)i * block, i, 0, block);
}

/* Blocks of different lengths, of which the second begins at the largest int. */
static void allgatherv(unsigned char *all)
{
    int counts[2] = {INT_MAX, 1000}, displs[2] = {0, INT_MAX};
    memset(all, 0, (size_t)INT_MAX + 1000);
    fill(all + displs[rank], rank, 0, (size_t)counts[rank]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_CHAR, all, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        check("MPI_Allgatherv", all + displs[i], i, 0, (size_t)counts[i]);
}

static void alltoall(unsigned char *to, unsigned char *from)
{
    for (int i = 0; i < 2; i++)
        fill(to + (size_t)i * block, rank, i, block);
    memset(from, 0, 2 * block);
    MPI_Alltoall(to, (int)block, MPI_CHAR, from, (int)block, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        check("MPI_Alltoall", from + (size_t)i * block, i, rank, block);
}

/* 2^29 + 7 ints are more than 2^31 bytes. */
static void allreduce(int *numbers)
{
    int length = (1 << 29) + 7;
    for (int i = 0; i < length; i++)
        numbers[i] = i % 1000 + rank;
    MPI_Allreduce(MPI_IN_PLACE, numbers, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++)
        if (numbers[i] != 2 * (i % 1000) + 1) {
            fprintf(stderr, "rank %d: MPI_Allreduce is wrong at %d\n", rank, i);
            failures++;
            return;
        }
}

/* One element of a large datatype, as made by programs whose counts are too small. */
static void broadcast(unsigned char *to)
{
    MPI_Datatype half, pieces, whole;
    MPI_Type_contiguous((int)block, MPI_CHAR, &half);
    MPI_Type_vector(2, 1, 1, half, &pieces);
    MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, &pieces, &whole);
    MPI_Type_commit(&whole);
    memset(to, 0, 2 * block);
    if (rank == 1)
        fill(to, 1, 0, 2 * block);
    MPI_Bcast(to, 1, whole, 1, MPI_COMM_WORLD);
    check("MPI_Bcast", to, 1, 0, 2 * block);
    MPI_Type_free(&half);
    MPI_Type_free(&pieces);
    MPI_Type_free(&whole);
}

static double available_gigabytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    double kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "MemAvailable: %lf", &kilobytes);
    if (file != NULL)
        fclose(file);
    return kilobytes / 1e6;
}

static void all(void)
{
    unsigned char *one = malloc(2 * block + 4096), *other = malloc(2 * block + 4096);
    if (one == NULL || other == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    allgather(one);
    allgatherv(one);
    alltoall(one, other);
    allreduce((int *)(void *)one);
    broadcast(one);
    free(one);
    free(other);
}

int main(int argc, char **argv)
{
    int p, sum, enough;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    enough = p == 2 && available_gigabytes() > 14;
    PMPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough)
        all();
    else if (rank == 0)
        printf("skipped: this needs two ranks and 14 GB of memory\n");
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("all as expected\n");
    MPI_Finalize();
    return sum != 0;
}
