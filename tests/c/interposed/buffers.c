/* Memory for blocks of a datatype, with guards around it and a pattern in every gap. */
#include "interposed.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 };

buffer new_buffer(const datatype *type, int blocks)
{
    buffer b = {blocks, NULL, NULL, type, NULL, NULL, 0};
    b.counts = memory(sizeof(int) * (size_t)(blocks + 1));
    b.displs = memory(sizeof(int) * (size_t)(blocks + 1));
    memset(b.counts, 0, sizeof(int) * (size_t)(blocks + 1));
    memset(b.displs, 0, sizeof(int) * (size_t)(blocks + 1));
    return b;
}

/* The range of elements, relative to the origin. */
static void bounds(const buffer *b, long *low, long *high)
{
    const layout *as = b->type->as;
    int some = 0;
    *low = *high = 0;
    for (int i = 0; i < b->blocks; i++)
        for (int j = 0; b->counts[i] > 0 && j < as->elements; j++) {
            long first = (long)b->displs[i] * as->extent + as->offset[j];
            long last = first + (long)(b->counts[i] - 1) * as->extent;
            *low = some && *low < first ? *low : first;
            *high = some && *high > last + 1 ? *high : last + 1;
            some = 1;
        }
}

void pattern(buffer *b)
{
    for (size_t i = 0; i < b->bytes; i++)
        b->memory[i] = (char)(0x5a + i * 7);
}

void allocate(buffer *b)
{
    long low, high, size = (long)b->type->of->size;
    bounds(b, &low, &high);
    b->bytes = (size_t)((high - low) * size) + 2 * GUARD;
    b->memory = memory(b->bytes);
    b->origin = b->memory + GUARD - low * size;
    pattern(b);
}

void free_buffer(buffer *b)
{
    free(b->memory);
    free(b->counts);
    free(b->displs);
}

/* Numbers with which every operation is exact; some are equal. Sums of nine of them fit a byte: Open MPI's own sums of
   short integers saturate on some processors, which would make the order of operands visible. */
static int number_for(const operation *op, uint32_t random, int is_signed)
{
    if (op == NULL)
        return (int)(random & 0xffffff);
    if (op->product)
        return 1 + (int)(random % 2);
    if (op->function != NULL)
        return (int)(random % 63001);
    return (int)(random % 13) - (is_signed && random % 2 ? 13 : 0);
}

void fill_block(buffer *b, int block, const test_case *c, int rank, int first)
{
    const layout *as = b->type->as;
    const base *of = b->type->of;
    for (int i = 0; i < b->counts[block]; i++)
        for (int j = 0; j < as->elements; j++) {
            uint32_t random = mix(c->seed, (uint32_t)rank, (uint32_t)(first + i * as->elements + j));
            long place = ((long)b->displs[block] + i) * as->extent + as->offset[j];
            /* Products of complex numbers may have zeros of either sign, so these numbers have no imaginary part. */
            int second = c->op && c->op->product ? 0 : (int)(random >> 8);
            of->fill(b->origin + place * (long)of->size, number_for(c->op, random, of->class == REAL), second);
        }
}

buffer copy_of(const buffer *b)
{
    buffer copy = new_buffer(b->type, b->blocks);
    memcpy(copy.counts, b->counts, sizeof(int) * (size_t)b->blocks);
    memcpy(copy.displs, b->displs, sizeof(int) * (size_t)b->blocks);
    if (b->memory != NULL) {
        allocate(&copy);
        memcpy(copy.memory, b->memory, b->bytes);
    }
    return copy;
}

static int counts_for_something(const base *of, size_t offset)
{
    size_t at = offset % of->period;
    return at < of->value || (of->place > 0 && at >= of->place && at < of->place + sizeof(int));
}

long difference(const buffer *found, const buffer *expected)
{
    if (found->memory == NULL || memcmp(found->memory, expected->memory, found->bytes) == 0)
        return -1;
    for (size_t i = 0; i < found->bytes; i++) {
        size_t offset = i < GUARD ? 0 : i - GUARD;
        if (found->memory[i] != expected->memory[i] && counts_for_something(found->type->of, offset))
            return (long)i - GUARD;
    }
    return -1;
}

long total(const buffer *b)
{
    long sum = 0;
    for (int i = 0; i < b->blocks; i++)
        sum += b->counts[i];
    return sum;
}
