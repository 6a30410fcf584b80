/* A stand-in for a GPU runtime: memory that the processor cannot access, and the functions that identify and copy it.
 *
 * Compiled with CUDA, DRIVER (of CUDA), HIP or nothing (Level Zero), it has the functions of that one. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define MOST 64
static struct {
    char *at;
    size_t bytes;
} areas[MOST];
static int count;

void *device_alloc(size_t bytes)
{
    size_t whole = (bytes + 4095) / 4096 * 4096;
    char *at = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || count == MOST)
        return NULL;
    areas[count].at = at;
    areas[count++].bytes = whole;
    return at;
}

static int area_of(uintptr_t address)
{
    for (int i = 0; i < count; i++)
        if (address >= (uintptr_t)areas[i].at && address < (uintptr_t)areas[i].at + areas[i].bytes)
            return i;
    return -1;
}

static void open_to(uintptr_t address, int rights)
{
    int area = area_of(address);
    if (area >= 0)
        mprotect(areas[area].at, areas[area].bytes, rights);
}

int device_copy(void *to, const void *from, size_t bytes)
{
    open_to((uintptr_t)to, PROT_READ | PROT_WRITE);
    open_to((uintptr_t)from, PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    open_to((uintptr_t)to, PROT_NONE);
    open_to((uintptr_t)from, PROT_NONE);
    return 0;
}

/* Makes the memory accessible, for tests in which the MPI library acts as if it supported device memory. */
void device_open(void)
{
    for (int i = 0; i < count; i++)
        mprotect(areas[i].at, areas[i].bytes, PROT_READ | PROT_WRITE);
}

#if defined(CUDA)
struct attributes {
    int type, device;
    void *on_device, *on_host;
};

int cudaPointerGetAttributes(struct attributes *to, const void *address)
{
    int device = area_of((uintptr_t)address) >= 0;
    to->type = device ? 2 : 0;
    to->device = 0;
    to->on_device = device ? (void *)(uintptr_t)address : NULL;
    to->on_host = NULL;
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    return kind == 4 ? device_copy(to, from, bytes) : 1;
}
#elif defined(DRIVER)
int cuPointerGetAttribute(void *to, int attribute, uint64_t address)
{
    if (area_of((uintptr_t)address) < 0)
        return 1;
    if (attribute == 1)
        *(void **)to = (void *)areas;
    else
        *(unsigned *)to = 2;
    return 0;
}

static int pushed;

int cuCtxPushCurrent_v2(void *context)
{
    pushed += context == (void *)areas;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = (void *)areas;
    pushed--;
    return 0;
}

/* Fails without the context of the memory. */
int cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
    return pushed > 0 ? device_copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes) : 201;
}
#elif defined(HIP)
struct attributes {
    int type, device;
    void *on_device, *on_host;
};

/* Asking about host memory is an error, which is remembered. */
static int remembered;

int hipPointerGetAttributes(struct attributes *to, const void *address)
{
    if (area_of((uintptr_t)address) < 0)
        return remembered = 1;
    to->type = 1;
    to->device = 0;
    to->on_device = (void *)(uintptr_t)address;
    to->on_host = NULL;
    return 0;
}

int hipGetLastError(void)
{
    int last = remembered;
    remembered = 0;
    return last;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    return kind == 4 && remembered == 0 ? device_copy(to, from, bytes) : 1;
}
#else
int zeMemGetAllocProperties(void *context, const void *address, void *properties, void **device)
{
    (void)context;
    (void)address;
    (void)properties;
    (void)device;
    return 1;
}
#endif
