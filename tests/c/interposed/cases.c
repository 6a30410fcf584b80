/*
 * Cases as text: `KEY=VALUE` words. A call is
 *
 *   call=allgather form=nonblocking type=int:vector other=contiguous count=5 comm=split:3 op=sum root=1
 *     finish=waitany seed=7
 *
 * with `in_place=1`, `bottom=1`, `null=1`, `large=1`, `fresh=1`, `starts=3` where wanted; `call=message way=cross`
 * exchanges messages.
 */
#include "interposed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const calls[] = {"allgather", "allgatherv", "allreduce", "reduce_scatter", "reduce_scatter_block", "alltoall",
                                    "alltoallv", "bcast", "reduce", "gather", "scatter", "message", NULL};
static const char *const forms[] = {"blocking", "nonblocking", "persistent", NULL};
static const char *const finishes[] = {"none", "wait", "test", "status", "waitany", "testany", "waitsome", "testsome",
                                       "waitall", "testall", NULL};

static int place_in(const char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    stop("there is no such value", name);
    return 0;
}

/* The values of the words, before names are looked up. */
typedef struct {
    char base[16], layout[16], other[16], op[16], comm[32];
} names;

static void take_name(char *into, size_t room, const char *value)
{
    if (strlen(value) >= room)
        stop("a name is too long", value);
    strcpy(into, value);
}

static void take_type(names *n, char *value)
{
    char *colon = strchr(value, ':');
    if (colon == NULL)
        stop("a type is BASE:LAYOUT", value);
    *colon = 0;
    take_name(n->base, sizeof n->base, value);
    take_name(n->layout, sizeof n->layout, colon + 1);
}

static int take_number(test_case *c, const char *key, const char *value)
{
    static const char *const keys[] = {"count", "root", "in_place", "bottom", "null", "large", "fresh", "starts", NULL};
    int *numbers[] = {&c->count, &c->root, &c->in_place, &c->bottom, &c->null, &c->large, &c->fresh, &c->starts};
    for (int i = 0; keys[i] != NULL; i++)
        if (strcmp(keys[i], key) == 0) {
            *numbers[i] = atoi(value);
            return 1;
        }
    return 0;
}

static void take_word(test_case *c, names *n, char *word)
{
    char *value = strchr(word, '=');
    if (value == NULL)
        stop("a word is KEY=VALUE", word);
    *value++ = 0;
    if (strcmp(word, "call") == 0)
        c->call = (enum call)place_in(calls, value);
    else if (strcmp(word, "form") == 0)
        c->form = (enum form)place_in(forms, value);
    else if (strcmp(word, "finish") == 0)
        c->finish = (enum finish)place_in(finishes, value);
    else if (strcmp(word, "type") == 0)
        take_type(n, value);
    else if (strcmp(word, "other") == 0)
        take_name(n->other, sizeof n->other, value);
    else if (strcmp(word, "op") == 0)
        take_name(n->op, sizeof n->op, value);
    else if (strcmp(word, "comm") == 0)
        take_name(n->comm, sizeof n->comm, value);
    else if (strcmp(word, "way") == 0)
        take_name(c->way, sizeof c->way, value);
    else if (strcmp(word, "seed") == 0)
        c->seed = (uint32_t)strtoul(value, NULL, 10);
    else if (!take_number(c, word, value))
        stop("there is no such key", word);
}

static int reduces(enum call call)
{
    return call == ALLREDUCE || call == REDUCE || call == REDUCE_SCATTER || call == REDUCE_SCATTER_BLOCK;
}

/* Both sides have the same type signature if one has several items for each of the other. */
static void look_up_types(test_case *c, const names *n)
{
    c->type = find_type(n->base, n->layout);
    c->other = find_type(n->base, n->other[0] ? n->other : n->layout);
    if (c->type == NULL || c->other == NULL)
        stop("there is no such type", c->line);
    int ours = c->type->as->elements, theirs = c->other->as->elements;
    int fits = ours > 0 && theirs > 0 && ours % theirs == 0;
    if (!fits || c->in_place || reduces(c->call) || c->null)
        c->other = c->type;
}

static void look_up(test_case *c, const names *n)
{
    c->comm = find_communicator(n->comm);
    if (c->call == MESSAGE)
        return;
    look_up_types(c, n);
    if (reduces(c->call)) {
        c->op = find_operation(n->op);
        /* Open MPI does not reduce empty elements. */
        if (c->op == NULL || !operation_serves(c->op, c->type) || c->type->as->elements == 0)
            stop("this operation is not for this type", c->line);
    }
}

/* Some combinations are not valid MPI; the case is then changed in the same way on all ranks. */
static void adjust(test_case *c)
{
    if (c->null)
        c->count = 0;
    if (c->comm->remote > 0)
        c->in_place = 0;
    if (reduces(c->call) || c->null || c->count == 0)
        c->bottom = 0;
    if (c->form == PERSISTENT && !has_persistent)
        c->form = NONBLOCKING;
    if (c->form != PERSISTENT)
        c->starts = 1;
}

static int is_gappy(const test_case *c)
{
    if (c->call == MESSAGE)
        return 0;
    int tree = c->call == GATHER || c->call == SCATTER;
    return c->type->of->place > 0 || c->type->of->class == NO_NUMBER || (tree && c->type->as->extent > 1);
}

static int is_passed_on(const test_case *c)
{
    int none = c->count == 0 || c->null || (c->call != MESSAGE && c->type->as->elements == 0);
    int rooted = c->call == BCAST || c->call == REDUCE || c->call == GATHER || c->call == SCATTER;
    return none || (rooted && c->count > 200);
}

/* In blocking reduce_scatters. */
#ifdef OPEN_MPI
enum { KEEPS_ORDER = 1 };
#else
enum { KEEPS_ORDER = 0 };
#endif

/* Whether data begins before the address of an element, or after it. */
static int begins_elsewhere(const layout *as)
{
    int first = as->offset[0];
    for (int i = 1; i < as->elements; i++)
        if (as->offset[i] < first)
            first = as->offset[i];
    return first != 0;
}

/* MPICH 5.0 frees a wrong address in reductions of elements that do not begin at their address, and overwrites the data
 * that is sent if they overlap. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
static int is_misreduced(const test_case *c)
{
    const layout *as = c->type->as;
    return c->call != MESSAGE && c->op != NULL && (begins_elsewhere(as) || strcmp(as->name, "tight") == 0);
}
#else
static int is_misreduced(const test_case *c)
{
    (void)c;
    return 0;
}
#endif

/* Changes cases in which Open MPI 4.1.4, MPICH 4.0.2 or MPICH 5.0.2 are wrong themselves. */
static void spare(test_case *c)
{
    if (is_misreduced(c)) {
        int elements = c->type->as->elements;
        const char *begins_there = elements == 4 ? "vector" : elements == 3 ? "contiguous" : "plain";
        c->type = c->other = find_type(c->type->of->name, begins_there);
    }
    /* MPICH uses datatypes that were freed after a persistent call was made, and stops at assertions between groups. */
    if (c->form == PERSISTENT)
        c->fresh = 0;
    if (c->comm->remote > 0)
        c->form = BLOCKING;
    /* Over UCX it truncates long messages with gaps. */
    if (c->count > 20 && is_gappy(c))
        c->count = 20;
    /* Open MPI's unpacking overflows its own memory if a long message is cut within an element of more than 16 bytes. */
    if (c->count > 4 && c->call != MESSAGE && c->type->of->size > 16)
        c->count = 4;
    /* So do its long reductions, if elements do not begin at their address. */
    if (c->count > 20 && c->op != NULL && begins_elsewhere(c->type->as))
        c->count = 20;
    /* MPICH's reduce of more than 2048 bytes reads from MPI_IN_PLACE if the root is not rank 0. */
    if (c->call == REDUCE && c->count > 60)
        c->in_place = 0;
    /* After it, the next collective of Open MPI on this communicator never ends. */
    if (c->call == ALLTOALLV && c->in_place)
        c->form = BLOCKING;
    /* Calls without data, and long ones with a root, go to the library; and MPICH's persistent collectives free memory
     * that they do not own. */
    if (c->form == PERSISTENT && (!interposed || is_passed_on(c)))
        c->form = NONBLOCKING;
    /* So do reduce_scatters that must keep the order of ranks, which neither library gets right in all forms. */
    if ((c->call == REDUCE_SCATTER || c->call == REDUCE_SCATTER_BLOCK) && !c->op->commutes) {
        c->form = BLOCKING;
        if (!KEEPS_ORDER)
            c->op = find_operation("add");
    }
    /* Open MPI writes before the beginning of its own memory if a lower bound is negative, and beyond its end if
     * reduced elements begin after their address. It does the first non-blocking calls on a communicator. */
    int outside = c->call != MESSAGE && (c->type->as->offset[0] < 0 || (c->op != NULL && begins_elsewhere(c->type->as)));
    if (outside && MPI_VERSION < 4)
        c->form = BLOCKING;
}

static int concerns_us(const test_case *c)
{
    /* The sums of lengths of both groups would have to be equal. */
    if (c->comm->remote > 0 && (c->call == REDUCE_SCATTER || c->call == REDUCE_SCATTER_BLOCK))
        return 0;
    return c->comm->comm != MPI_COMM_NULL;
}

static char *copied(const char *line)
{
    char *copy = memory(strlen(line) + 1);
    strcpy(copy, line);
    copy[strcspn(copy, "\n")] = 0;
    return copy;
}

test_case *read_case(const char *line, int number)
{
    names n = {"int", "plain", "", "sum", "world"};
    test_case *c = memory(sizeof *c);
    char *words = copied(line);
    memset(c, 0, sizeof *c);
    c->number = number;
    c->line = copied(line);
    c->starts = 1;
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        take_word(c, &n, word);
    free(words);
    look_up(c, &n);
    spare(c);
    adjust(c);
    if (c->line[0] != 0 && concerns_us(c))
        return c;
    free_case(c);
    return NULL;
}

void free_case(test_case *c)
{
    free(c->line);
    free(c);
}
