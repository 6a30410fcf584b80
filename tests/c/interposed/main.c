/*
 * `interposed FILE [--expect-served] [--spoil=LINE:BYTE]`: runs the cases of a file; see cases.c for their form. A
 * spoilt byte must be detected.
 */
#define _GNU_SOURCE
#include "../ending.h"
#include "interposed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int world_rank, world_size, interposed, spoilt_line;
size_t spoilt_byte;
static int failures;

void failed(const test_case *c, const char *what, long where)
{
    if (failures++ < 5)
        fprintf(stderr, "rank %d of %d, line %d: %s, at byte %ld\n  %s\n", world_rank, world_size, c->number, what, where,
                c->line);
}

void stop(const char *what, const char *about)
{
    fprintf(stderr, "rank %d: %s: %s\n", world_rank, what, about);
    end_the_job(2);
}

uint32_t mix(uint32_t seed, uint32_t a, uint32_t b)
{
    uint64_t x = (uint64_t)seed << 32 ^ (uint64_t)a << 17 ^ b;
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

void *memory(size_t bytes)
{
    void *found = malloc(bytes);
    if (found == NULL)
        stop("there is no memory", "");
    return found;
}

/* If Roundel is loaded, MPI's names resolve to its functions; PMPI_… is always MPI's own. */
static int is_interposed(void)
{
    Dl_info ours, own;
    void *function = dlsym(RTLD_DEFAULT, "MPI_Allreduce"), *other = dlsym(RTLD_DEFAULT, "PMPI_Allreduce");
    return function != NULL && dladdr(function, &ours) && dladdr(other, &own) && ours.dli_fbase != own.dli_fbase;
}

/* Prints a trace, to debug programs that hang. */
static int talks;

static int read_all(const char *name, run **runs, int *lines)
{
    FILE *file = fopen(name, "r");
    char line[512];
    int number = 0, count = 0, room = 64;
    if (file == NULL)
        stop("cannot read", name);
    *runs = memory(sizeof(run) * (size_t)room);
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (count == room)
            *runs = realloc(*runs, sizeof(run) * (size_t)(room *= 2));
        if (*runs == NULL)
            stop("there is no memory", "");
        memset(&(*runs)[count], 0, sizeof(run));
        (*runs)[count].about = read_case(line, number);
        if (talks)
            fprintf(stderr, "rank %d, reference of line %d: %s", world_rank, number, line);
        if ((*runs)[count].about != NULL)
            prepare(&(*runs)[count++]);
    }
    fclose(file);
    *lines = number;
    return count;
}

/* Not all ranks have every case, but all have the cases in the order of lines. */
static void advance(int *line, int to)
{
    for (; *line < to; ++*line)
        if (*line % 4 == 0)
            start_again();
}

static void run_all(run *runs, int count, int lines)
{
    int line = 0;
    for (int i = 0; i < count; i++) {
        const test_case *c = runs[i].about;
        advance(&line, c->number);
        if (talks)
            fprintf(stderr, "rank %d, line %d: %s\n", world_rank, c->number, c->line);
        execute(&runs[i]);
        complete(c->finish, c->seed);
    }
    advance(&line, lines);
    complete_all();
}

static int report(int cases)
{
    int all = 0;
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0 && all == 0)
        printf("all as expected: %d cases on %d ranks\n", cases, world_size);
    return all != 0;
}

int main(int argc, char **argv)
{
    run *runs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    interposed = is_interposed();
    if (argc < 2)
        stop("which file?", argv[0]);
    for (int i = 2; i < argc; i++)
        if (sscanf(argv[i], "--spoil=%d:%zu", &spoilt_line, &spoilt_byte) == 0 && !interposed)
            stop("MPI_Allreduce is not interposed", "");
    talks = getenv("INTERPOSED_TALKS") != NULL;
    make_types();
    make_operations();
    int lines, count = read_all(argv[1], &runs, &lines);
    run_all(runs, count, lines);
    int bad = report(count);
    for (int i = 0; i < count; i++)
        free_run(&runs[i]);
    free(runs);
    free_communicators();
    free_operations();
    free_types();
    MPI_Finalize();
    return bad;
}
