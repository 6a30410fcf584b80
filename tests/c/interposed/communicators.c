/* Communicators of all kinds, made when a case first names them: `world`, `self`, `dup`, `reversed`, `shared`, `inter`,
 * and, followed by a colon and a number, `split`, `cart`, `group`. */
#include "interposed.h"

#include <stdlib.h>
#include <string.h>

static communicator known[256];
static int known_count;

static MPI_Comm split(uint32_t seed)
{
    MPI_Comm comm;
    int colors = 1 + (int)(mix(seed, 0, 1) % 3);
    int color = (int)(mix(seed, (uint32_t)world_rank, 2) % (uint32_t)colors);
    MPI_Comm_split(MPI_COMM_WORLD, color, (int)(mix(seed, (uint32_t)world_rank, 3) % 100), &comm);
    return comm;
}

static MPI_Comm cart(uint32_t seed)
{
    MPI_Comm comm;
    int sizes[2] = {0, 0}, periods[2] = {(int)(seed & 1), (int)(seed >> 1 & 1)};
    MPI_Dims_create(world_size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &comm);
    return comm;
}

/* Each rank is a member at random; the last one always is. */
static MPI_Comm group(uint32_t seed)
{
    MPI_Comm comm;
    MPI_Group all, some;
    int members[64], count = 0;
    for (int i = world_size - 1; i >= 0; i--)
        if (i == world_size - 1 || mix(seed, (uint32_t)i, 4) % 3 != 0)
            members[count++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, members, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return comm;
}

static MPI_Comm inter(void)
{
    MPI_Comm half, comm;
    int first = world_rank < (world_size + 1) / 2;
    if (world_size < 2)
        return MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, first, world_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? (world_size + 1) / 2 : 0, 5, &comm);
    MPI_Comm_free(&half);
    return comm;
}

static MPI_Comm make(const char *name)
{
    const char *colon = strchr(name, ':');
    uint32_t seed = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    MPI_Comm comm = MPI_COMM_NULL;
    if (strcmp(name, "world") == 0)
        return MPI_COMM_WORLD;
    if (strcmp(name, "self") == 0)
        return MPI_COMM_SELF;
    if (strcmp(name, "dup") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (strcmp(name, "reversed") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
    else if (strcmp(name, "shared") == 0)
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    else if (strcmp(name, "inter") == 0)
        comm = inter();
    else if (strncmp(name, "split:", 6) == 0)
        comm = split(seed);
    else if (strncmp(name, "cart:", 5) == 0)
        comm = cart(seed);
    else if (strncmp(name, "group:", 6) == 0)
        comm = group(seed);
    else
        stop("there is no such communicator", name);
    return comm;
}

static void describe(communicator *c)
{
    int is_inter = 0;
    if (c->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    MPI_Comm_test_inter(c->comm, &is_inter);
    if (is_inter)
        MPI_Comm_remote_size(c->comm, &c->remote);
    c->first = !is_inter || world_rank < (world_size + 1) / 2;
}

const communicator *find_communicator(const char *name)
{
    for (int i = 0; i < known_count; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    if (known_count == 256)
        stop("there are too many communicators", name);
    communicator *new = &known[known_count++];
    strncpy(new->name, name, sizeof new->name - 1);
    new->comm = make(name);
    describe(new);
    return new;
}

void free_communicators(void)
{
    for (int i = 0; i < known_count; i++)
        if (known[i].comm != MPI_COMM_NULL && known[i].comm != MPI_COMM_WORLD && known[i].comm != MPI_COMM_SELF)
            MPI_Comm_free(&known[i].comm);
}
