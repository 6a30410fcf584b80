/* Operations: all predefined ones, and two that the program defines. */
#include "interposed.h"

#include <string.h>

static operation operations[16];
static int operation_count;

typedef void combine(const int *in, int *inout);

/* Goes through the ints of any layout. */
static void each(void *in, void *inout, int *length, MPI_Datatype *handle, combine *with)
{
    const datatype *type = type_of(*handle);
    if (type == NULL)
        stop("an operation got a datatype that is not the call's", "");
    for (int i = 0; i < *length; i++)
        for (int j = 0; j < type->as->elements; j++) {
            int place = i * type->as->extent + type->as->offset[j];
            with((const int *)in + place, (int *)inout + place);
        }
}

static void add_one(const int *in, int *inout)
{
    *inout = (int)(((unsigned)*in + (unsigned)*inout) & 0xffffff);
}

/* An int is a map x -> a x + b modulo 251; composition does not commute. */
static void compose_one(const int *in, int *inout)
{
    int a = *in / 251 % 251, b = *in % 251, c = *inout / 251 % 251, d = *inout % 251;
    *inout = a * c % 251 * 251 + (a * d + b) % 251;
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    each(in, inout, length, type, add_one);
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    each(in, inout, length, type, compose_one);
}

/* Items of four ints as 2x2 matrices modulo 251. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *handle)
{
    const datatype *type = type_of(*handle);
    if (type == NULL || type->as->elements != 4)
        stop("an operation got a datatype that is not the call's", "");
    const int *o = type->as->offset;
    for (int i = 0; i < *length; i++) {
        const int *a = (const int *)in + i * type->as->extent;
        int *b = (int *)inout + i * type->as->extent;
        int product[4];
        for (int j = 0; j < 4; j++) {
            int row = j / 2 * 2, column = j % 2;
            product[j] = (a[o[row]] % 251 * (b[o[column]] % 251) + a[o[row + 1]] % 251 * (b[o[2 + column]] % 251)) % 251;
        }
        for (int j = 0; j < 4; j++)
            b[o[j]] = product[j];
    }
}

static void known(const char *name, MPI_Op op, int product)
{
    operation new = {name, op, product, NULL, 1};
    operations[operation_count++] = new;
}

static void defined(const char *name, MPI_User_function *function, int commutes)
{
    operation new = {name, MPI_OP_NULL, 0, function, commutes};
    MPI_Op_create(function, commutes, &new.op);
    operations[operation_count++] = new;
}

void make_operations(void)
{
    known("max", MPI_MAX, 0);
    known("min", MPI_MIN, 0);
    known("sum", MPI_SUM, 0);
    known("prod", MPI_PROD, 1);
    known("land", MPI_LAND, 0);
    known("lor", MPI_LOR, 0);
    known("lxor", MPI_LXOR, 0);
    known("band", MPI_BAND, 0);
    known("bor", MPI_BOR, 0);
    known("bxor", MPI_BXOR, 0);
    known("maxloc", MPI_MAXLOC, 0);
    known("minloc", MPI_MINLOC, 0);
    defined("add", add, 1);
    defined("compose", compose, 0);
    defined("matrix", multiply, 0);
}

void free_operations(void)
{
    for (int i = 0; i < operation_count; i++)
        if (operations[i].function != NULL)
            MPI_Op_free(&operations[i].op);
}

const operation *find_operation(const char *name)
{
    for (int i = 0; i < operation_count; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

static int among(const char *name, const char *list)
{
    const char *at = strstr(list, name);
    return at != NULL && at[-1] == ' ' && at[strlen(name)] == ' ';
}

static int predefined_serves(const char *name, enum class class)
{
    switch (class) {
    case SIGNED:
    case UNSIGNED: return !among(name, " maxloc minloc ");
    case REAL: return among(name, " max min sum prod ");
    case COMPLEX: return among(name, " sum prod ");
    case LOGICAL: return among(name, " land lor lxor ");
    case BYTES: return among(name, " band bor bxor ");
    case ADDRESS: return among(name, " max min sum prod band bor bxor ");
    case PAIR: return among(name, " maxloc minloc ");
    default: return 0;
    }
}

int operation_serves(const operation *op, const datatype *type)
{
    if (op->function == NULL)
        return type->as->elements == 1 && type->as->extent == 1 && predefined_serves(op->name, type->of->class);
    if (strcmp(type->of->name, "int") != 0)
        return 0;
    return op->function != multiply || type->as->elements == 4;
}
