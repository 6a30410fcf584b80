#if MPI_VERSION >= 4
typedef MPI_Count rdl_count;
typedef MPI_Count rdl_displ;
#define RDL_MOST INT64_MAX
#define RDL_TYPE_CREATE_HINDEXED MPI_Type_create_hindexed_c
#else
typedef int rdl_count;
typedef MPI_Aint rdl_displ;
#define RDL_MOST INT_MAX
#define RDL_TYPE_CREATE_HINDEXED MPI_Type_create_hindexed
#endif

enum { RDL_TAG };

#define RDL_TRY(call) \
    do { \
        int error_ = (call); \
        if (error_ != MPI_SUCCESS) \
            return error_; \
    } while (0)

/* The number of plans kept for a communicator; the least recently used one is replaced. */
#ifndef ROUNDEL_PLANS
#define ROUNDEL_PLANS 8
#endif

/* Messages of several pieces are packed up to this many bytes; longer ones use a datatype. */
#ifndef ROUNDEL_PACK
#define ROUNDEL_PACK 65536
#endif

/* Memory: the caller's buffers; blocks that a plan holds; messages that leave and arrive in one piece. */
enum { RDL_FROM, RDL_INTO, RDL_HELD, RDL_LEAVING, RDL_ARRIVING, RDL_AREAS };

typedef struct {
    int area;
    MPI_Aint at; /* bytes from its beginning */
} rdl_spot;

/* What a call does: copies bytes; sends and receives at once, or one by one and waits for all of them@REDUCES@. */
enum { RDL_BYTES, RDL_SENDRECV, RDL_SEND, RDL_RECV, RDL_WAIT@REDUCE_VERB@ };

typedef struct {
    int verb;
    int dest, source;
    rdl_spot from, to;
    size_t bytes;          /* of a copy */
    rdl_count count, room; /* elements of the source and of the target */
    MPI_Datatype type, into;
} rdl_step;

/* An array that grows. */
typedef struct {
    void *items;
    size_t len, room;
} rdl_array;

@if vectors@
/* Numbers of a call, one for each rank. */
typedef struct {
    const void *items; /* NULL: none */
    size_t size;       /* of one: functions that end in _c have larger ones */
} rdl_vector;

@end@
/* What a plan depends on. */
typedef struct {
    int in_place;
    int64_t sendcount, recvcount;
    MPI_Datatype types[2]; /* of what is sent, and of what is received */
@if reduces@
    MPI_Op op; /* may differ: a plan does not depend on it */
@end@
@if vectors@
    rdl_vector vectors[@VECTORS@];
@end@
@ARG_FIELDS@
} rdl_args;

/* A kind of call: its rounds as steps. */
typedef struct {
    rdl_args args;
    int64_t numbers[2]; /* of the datatypes */
    void *kept;         /* the lists that the arguments point to */
    rdl_array steps;
    rdl_array types; /* datatypes of its messages */
} rdl_plan;

static void rdl_discard(rdl_plan *plan)
{
    MPI_Datatype *types = plan->types.items;
    for (size_t i = 0; i < plan->types.len; i++)
        MPI_Type_free(&types[i]);
    free(plan->steps.items);
    free(plan->types.items);
    free(plan->kept);
    free(plan);
}

