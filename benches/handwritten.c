/* Allgathers written by hand, with the care that a library needs: messages travel on a duplicate of the user's
 * communicator, which is cached on it together with all scratch memory; every return code is checked, and so is the
 * length of every message. The generated collectives are measured against these. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) do { int code_ = (call); if (code_ != MPI_SUCCESS) return code_; } while (0)

enum { TAG = 0, PACK_UP_TO = 64 * 1024 };

struct scratch { char *memory; size_t size; };
struct state { MPI_Comm comm; int rank, p; struct scratch layout, out, in; int *displs; };

static int key = MPI_KEYVAL_INVALID;

static int free_state(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct state *s = value;
    int over = 0, code = MPI_SUCCESS;
    (void)comm, (void)keyval, (void)extra;
    MPI_Finalized(&over);
    if (!over) code = MPI_Comm_free(&s->comm);
    free(s->layout.memory), free(s->out.memory), free(s->in.memory), free(s->displs), free(s);
    return code;
}

static int new_state(MPI_Comm user, struct state **result)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s) return MPI_ERR_NO_MEM;
    if (key == MPI_KEYVAL_INVALID) TRY(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_state, &key, NULL));
    TRY(MPI_Comm_dup(user, &s->comm));
    TRY(MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN));
    TRY(MPI_Comm_rank(s->comm, &s->rank));
    TRY(MPI_Comm_size(s->comm, &s->p));
    if (!(s->displs = malloc(s->p * sizeof *s->displs))) return MPI_ERR_NO_MEM;
    TRY(MPI_Comm_set_attr(user, key, s));
    *result = s;
    return MPI_SUCCESS;
}

static inline int find_state(MPI_Comm user, struct state **s)
{
    int found = 0;
    if (key != MPI_KEYVAL_INVALID) TRY(MPI_Comm_get_attr(user, key, s, &found));
    return found ? MPI_SUCCESS : new_state(user, s);
}

static inline int reserve(struct scratch *scratch, size_t size)
{
    if (size > scratch->size) {
        char *memory = realloc(scratch->memory, size);
        if (!memory) return MPI_ERR_NO_MEM;
        scratch->memory = memory, scratch->size = size;
    }
    return MPI_SUCCESS;
}

/* One round: a message to one rank and a message from another. */
static inline int exchange(const struct state *s, const void *out, int to, void *in, int from, int count, MPI_Datatype type,
                           int elements, MPI_Datatype element)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int found;
    TRY(MPI_Irecv(in, count, type, from, TAG, s->comm, &requests[0]));
    TRY(MPI_Isend(out, count, type, to, TAG, s->comm, &requests[1]));
    TRY(MPI_Waitall(2, requests, statuses));
    TRY(MPI_Get_count(&statuses[0], element, &found));
    return found == elements ? MPI_SUCCESS : MPI_ERR_COUNT;
}

/* The receive buffer's length is checked as the generated code does, by its length in elements. */
static inline int begin(MPI_Comm user, int count, size_t length, struct state **s)
{
    TRY(find_state(user, s));
    if ((size_t)count * (*s)->p != length) return MPI_ERR_COUNT;
    return length > INT_MAX ? MPI_ERR_COUNT : MPI_SUCCESS;
}

int handwritten_ring(const void *send, int count, MPI_Datatype type, size_t size, char *recv, size_t length, MPI_Comm user)
{
    struct state *s;
    TRY(begin(user, count, length, &s));
    size_t block = count * size;
    int rank = s->rank, p = s->p, next = rank + 1 < p ? rank + 1 : 0, previous = rank > 0 ? rank - 1 : p - 1;
    memcpy(recv + rank * block, send, block);
    for (int i = 0, out = rank; i < p - 1; i++) {
        int in = out > 0 ? out - 1 : p - 1;
        TRY(exchange(s, recv + out * block, next, recv + in * block, previous, count, type, count, type));
        out = in;
    }
    return MPI_SUCCESS;
}

int handwritten_bruck(const void *send, int count, MPI_Datatype type, size_t size, char *recv, size_t length, MPI_Comm user)
{
    struct state *s;
    TRY(begin(user, count, length, &s));
    size_t block = count * size;
    int rank = s->rank, p = s->p;
    char *all = recv;
    if (rank != 0) {
        TRY(reserve(&s->layout, p * block));
        all = s->layout.memory;
    }
    memcpy(all, send, block);
    for (int d = 1; d < p; d *= 2) {
        int n = d < p - d ? d : p - d;
        int to = rank >= d ? rank - d : rank - d + p, from = rank + d < p ? rank + d : rank + d - p;
        TRY(exchange(s, all, to, all + d * block, from, n * count, type, n * count, type));
    }
    if (rank != 0) {
        size_t front = (p - rank) * block;
        memcpy(recv + rank * block, all, front);
        memcpy(recv, all + front, rank * block);
    }
    return MPI_SUCCESS;
}

static int describe(struct state *s, int first, int step, int n, int count, MPI_Datatype type, MPI_Datatype *result)
{
    for (int j = 0, b = first; j < n; j++) {
        s->displs[j] = b * count;
        b = b >= step ? b - step : b - step + s->p;
    }
    TRY(MPI_Type_create_indexed_block(n, count, s->displs, type, result));
    return MPI_Type_commit(result);
}

static int exchange_described(struct state *s, char *recv, int first, int to, int arriving, int from, int step, int n,
                              int count, MPI_Datatype type)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Datatype out, in;
    int found;
    TRY(describe(s, arriving, step, n, count, type, &in));
    TRY(MPI_Irecv(recv, 1, in, from, TAG, s->comm, &requests[0]));
    TRY(describe(s, first, step, n, count, type, &out));
    TRY(MPI_Isend(recv, 1, out, to, TAG, s->comm, &requests[1]));
    TRY(MPI_Type_free(&in));
    TRY(MPI_Type_free(&out));
    TRY(MPI_Waitall(2, requests, statuses));
    TRY(MPI_Get_count(&statuses[0], type, &found));
    return found == n * count ? MPI_SUCCESS : MPI_ERR_COUNT;
}

int handwritten_sparbit(const void *send, int count, MPI_Datatype type, size_t size, char *recv, size_t length, MPI_Comm user)
{
    struct state *s;
    TRY(begin(user, count, length, &s));
    size_t block = count * size;
    int rank = s->rank, p = s->p, d = 1;
    memcpy(recv + rank * block, send, block);
    while (d < p) d *= 2;
    for (d /= 2; d > 0; d /= 2) {
        int n = (p + d - 1) / d - (p + 2 * d - 1) / (2 * d), step = 2 * d % p;
        int to = rank + d < p ? rank + d : rank + d - p, from = rank >= d ? rank - d : rank - d + p;
        if (n == 1) {
            TRY(exchange(s, recv + rank * block, to, recv + from * block, from, count, type, count, type));
        } else if (n * block > PACK_UP_TO) {
            TRY(exchange_described(s, recv, rank, to, from, from, step, n, count, type));
        } else {
            TRY(reserve(&s->out, n * block));
            TRY(reserve(&s->in, n * block));
            for (int j = 0, b = rank; j < n; j++) {
                memcpy(s->out.memory + j * block, recv + b * block, block);
                b = b >= step ? b - step : b - step + p;
            }
            TRY(exchange(s, s->out.memory, to, s->in.memory, from, n * count, type, n * count, type));
            for (int j = 0, b = from; j < n; j++) {
                memcpy(recv + b * block, s->in.memory + j * block, block);
                b = b >= step ? b - step : b - step + p;
            }
        }
    }
    return MPI_SUCCESS;
}
