/* Datatypes: every predefined one of C, in several layouts. */
#include "interposed.h"

#include <complex.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#define NUMBER(name, C)                                                                                                 \
    static void fill_##name(void *at, int first, int second)                                                            \
    {                                                                                                                   \
        C value = (C)first;                                                                                             \
        (void)second;                                                                                                   \
        memcpy(at, &value, sizeof value);                                                                               \
    }
#define COUPLE(name, C)                                                                                                 \
    typedef struct {                                                                                                    \
        C value;                                                                                                        \
        int place;                                                                                                      \
    } name;                                                                                                             \
    static void fill_##name(void *at, int first, int second)                                                            \
    {                                                                                                                   \
        name *pair = at;                                                                                                \
        pair->value = (C)(first % 4);                                                                                   \
        pair->place = second % 1000;                                                                                    \
    }
#define IMAGINARY(name, C)                                                                                              \
    static void fill_##name(void *at, int first, int second)                                                            \
    {                                                                                                                   \
        C value = first + second % 2 * I;                                                                               \
        memcpy(at, &value, sizeof value);                                                                               \
    }

NUMBER(char, char)
NUMBER(wchar, wchar_t)
NUMBER(schar, signed char)
NUMBER(uchar, unsigned char)
NUMBER(short, short)
NUMBER(ushort, unsigned short)
NUMBER(int, int)
NUMBER(uint, unsigned)
NUMBER(long, long)
NUMBER(ulong, unsigned long)
NUMBER(llong, long long)
NUMBER(ullong, unsigned long long)
NUMBER(int8, int8_t)
NUMBER(int16, int16_t)
NUMBER(int32, int32_t)
NUMBER(int64, int64_t)
NUMBER(uint8, uint8_t)
NUMBER(uint16, uint16_t)
NUMBER(uint32, uint32_t)
NUMBER(uint64, uint64_t)
NUMBER(float, float)
NUMBER(double, double)
NUMBER(ldouble, long double)
NUMBER(logical, bool)
NUMBER(byte, unsigned char)
NUMBER(aint, MPI_Aint)
NUMBER(offset, MPI_Offset)
NUMBER(count, MPI_Count)
IMAGINARY(cfloat, float complex)
IMAGINARY(cdouble, double complex)
IMAGINARY(cldouble, long double complex)
COUPLE(float_int, float)
COUPLE(double_int, double)
COUPLE(long_int, long)
COUPLE(two_int, int)
COUPLE(short_int, short)
COUPLE(ldouble_int, long double)

/* Gaps of all kinds: after the first, between, and at the end. */
typedef struct {
    char letter;
    double number;
    short word;
} mixed;

static void fill_mixed(void *at, int first, int second)
{
    mixed *value = at;
    value->letter = (char)first;
    value->number = second % 100000;
    value->word = (short)(first / 7);
}

static base bases[64];
static int base_count;
static datatype types[64 * 16];
static int type_count;

static const layout layouts[] = {
    {"plain", 1, {0}, 1},
    {"contiguous", 3, {0, 1, 2}, 3},
    {"vector", 4, {0, 1, 3, 4}, 5},
    {"indexed", 4, {5, 0, 1, 3}, 6},
    {"hindexed", 3, {4, 1, 2}, 4},
    {"wide", 1, {0}, 3},
    {"tight", 2, {0, 3}, 2},
    {"negative", 2, {-1, 1}, 3},
    {"shifted", 2, {0, 1}, 5},
    {"structure", 3, {0, 2, 3}, 4},
    {"subarray", 4, {5, 6, 9, 10}, 12},
    {"empty", 0, {0}, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void add_base(base new)
{
    if (new.type != MPI_DATATYPE_NULL)
        bases[base_count++] = new;
}

static MPI_Datatype make_mixed(void)
{
    int lengths[3] = {1, 1, 1};
    MPI_Aint places[3] = {offsetof(mixed, letter), offsetof(mixed, number), offsetof(mixed, word)};
    MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, packed, type;
    MPI_Type_create_struct(3, lengths, places, parts, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(mixed), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    return type;
}

#define ADD_PADDED(name, class, C, period, value, place, type)                                                          \
    add_base((base){#name, class, sizeof(C), period, value, place, fill_##name, type})
#define ADD(name, class, C, type) ADD_PADDED(name, class, C, 1, 1, 0, type)
#define ADD_PAIR(name, value, type) ADD_PADDED(name, PAIR, name, sizeof(name), value, offsetof(name, place), type)

static void make_bases(void)
{
    ADD(char, NO_NUMBER, char, MPI_CHAR);
    ADD(wchar, NO_NUMBER, wchar_t, MPI_WCHAR);
    ADD(schar, SIGNED, signed char, MPI_SIGNED_CHAR);
    ADD(uchar, UNSIGNED, unsigned char, MPI_UNSIGNED_CHAR);
    ADD(short, SIGNED, short, MPI_SHORT);
    ADD(ushort, UNSIGNED, unsigned short, MPI_UNSIGNED_SHORT);
    ADD(int, SIGNED, int, MPI_INT);
    ADD(uint, UNSIGNED, unsigned, MPI_UNSIGNED);
    ADD(long, SIGNED, long, MPI_LONG);
    ADD(ulong, UNSIGNED, unsigned long, MPI_UNSIGNED_LONG);
    ADD(llong, SIGNED, long long, MPI_LONG_LONG);
    ADD(ullong, UNSIGNED, unsigned long long, MPI_UNSIGNED_LONG_LONG);
    ADD(int8, SIGNED, int8_t, MPI_INT8_T);
    ADD(int16, SIGNED, int16_t, MPI_INT16_T);
    ADD(int32, SIGNED, int32_t, MPI_INT32_T);
    ADD(int64, SIGNED, int64_t, MPI_INT64_T);
    ADD(uint8, UNSIGNED, uint8_t, MPI_UINT8_T);
    ADD(uint16, UNSIGNED, uint16_t, MPI_UINT16_T);
    ADD(uint32, UNSIGNED, uint32_t, MPI_UINT32_T);
    ADD(uint64, UNSIGNED, uint64_t, MPI_UINT64_T);
    ADD(float, REAL, float, MPI_FLOAT);
    ADD(double, REAL, double, MPI_DOUBLE);
    ADD(logical, LOGICAL, bool, MPI_C_BOOL);
    ADD(byte, BYTES, char, MPI_BYTE);
    ADD(aint, ADDRESS, MPI_Aint, MPI_AINT);
    ADD(offset, ADDRESS, MPI_Offset, MPI_OFFSET);
    ADD(count, ADDRESS, MPI_Count, MPI_COUNT);
    ADD(cfloat, COMPLEX, float complex, MPI_C_FLOAT_COMPLEX);
    ADD(cdouble, COMPLEX, double complex, MPI_C_DOUBLE_COMPLEX);
    /* 10 of the 16 bytes hold the number. */
    ADD_PADDED(ldouble, REAL, long double, 16, 10, 0, MPI_LONG_DOUBLE);
    ADD_PADDED(cldouble, COMPLEX, long double complex, 16, 10, 0, MPI_C_LONG_DOUBLE_COMPLEX);
    ADD_PAIR(float_int, sizeof(float), MPI_FLOAT_INT);
    ADD_PAIR(two_int, sizeof(int), MPI_2INT);
    ADD_PAIR(double_int, sizeof(double), MPI_DOUBLE_INT);
    ADD_PAIR(long_int, sizeof(long), MPI_LONG_INT);
    ADD_PAIR(short_int, sizeof(short), MPI_SHORT_INT);
    ADD_PAIR(ldouble_int, 10, MPI_LONG_DOUBLE_INT);
    ADD(mixed, NO_NUMBER, mixed, make_mixed());
}

static void make_structure(const base *of, MPI_Datatype *type)
{
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {0, 2 * (MPI_Aint)of->size};
    MPI_Datatype parts[2] = {of->type, of->type};
    MPI_Type_create_struct(2, lengths, places, parts, type);
}

static void make_hindexed(const base *of, MPI_Datatype *type)
{
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {4 * (MPI_Aint)of->size, (MPI_Aint)of->size};
    MPI_Type_create_hindexed(2, lengths, places, of->type, type);
}

static void resize(MPI_Datatype *type, const base *of, int lower, int extent)
{
    MPI_Datatype resized;
    MPI_Type_create_resized(*type, lower * (MPI_Aint)of->size, extent * (MPI_Aint)of->size, &resized);
    MPI_Type_free(type);
    *type = resized;
}

static MPI_Datatype make_type(const base *of, int which)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    switch (which) {
    case 1: MPI_Type_contiguous(3, of->type, &type); break;
    case 2: MPI_Type_vector(2, 2, 3, of->type, &type); break;
    case 3: MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){5, 0, 3}, of->type, &type); break;
    case 4: make_hindexed(of, &type); break;
    case 5: MPI_Type_contiguous(1, of->type, &type); resize(&type, of, 0, 3); break;
    case 6: MPI_Type_vector(2, 1, 3, of->type, &type); resize(&type, of, 0, 2); break;
    case 7: MPI_Type_indexed(2, (int[]){1, 1}, (int[]){-1, 1}, of->type, &type); break;
    case 8: MPI_Type_contiguous(2, of->type, &type); resize(&type, of, -2, 5); break;
    case 9: make_structure(of, &type); break;
    case 10:
        MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 2}, (int[]){1, 1}, MPI_ORDER_C, of->type, &type);
        break;
    case 11: MPI_Type_contiguous(0, of->type, &type); break;
    default: return of->type;
    }
    MPI_Type_commit(&type);
    return type;
}

void make_types(void)
{
    make_bases();
    for (int i = 0; i < base_count; i++)
        for (int j = 0; j < LAYOUTS; j++) {
            datatype new = {&bases[i], &layouts[j], make_type(&bases[i], j)};
            types[type_count++] = new;
        }
}

void free_types(void)
{
    for (int i = 0; i < type_count; i++)
        if (types[i].as != &layouts[0])
            MPI_Type_free(&types[i].type);
    /* The last base is the only one that is not predefined. */
    MPI_Type_free(&bases[base_count - 1].type);
}

const datatype *find_type(const char *base_name, const char *layout_name)
{
    for (int i = 0; i < type_count; i++)
        if (strcmp(types[i].of->name, base_name) == 0 && strcmp(types[i].as->name, layout_name) == 0)
            return &types[i];
    return NULL;
}

const datatype *type_of(MPI_Datatype handle)
{
    for (int i = 0; i < type_count; i++)
        if (types[i].type == handle)
            return &types[i];
    return NULL;
}
