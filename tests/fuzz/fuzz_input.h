/* How the bytes of an input of fuzz_api.c and fuzz_graph.c are read: numbers, and handles, valid
 * and not. What includes it defines FUZZ_NAME. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <mxlite/mxlite.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 12, MAX_BLOCK = 1 << 22 };

typedef struct fuzz {
    const uint8_t *data;
    size_t left;
    NDArrayHandle slots[SLOTS];
    int functions; /* custom functions recorded and not deleted */
} fuzz;

static void die(const char *what)
{
    fprintf(stderr, FUZZ_NAME ": %s\n", what);
    abort();
}

/* Larger blocks than any case needs do not exist: a shape of 2^40 is an error, not a swapping host.
 */
static void *limited(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    return bytes > MAX_BLOCK ? NULL : aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void limited_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
    free(block);
}

static void limit_memory(void)
{
    static bool done;

    if (!done && MXLSetAllocator(limited, limited_free, NULL, 0) != 0)
        die(MXGetLastError());
    done = true;
}

/* What a failing call must leave. */
static int checked(int status)
{
    if (status != 0 && status != -1)
        die("a status that is neither 0 nor -1");
    if (status == -1 && (MXGetLastError()[0] == '\0' || strchr(MXGetLastError(), '\n') != NULL))
        die("a failure without its one line");
    return status;
}

static unsigned next(fuzz *f, unsigned below)
{
    if (f->left == 0)
        return 0;
    f->left--;
    return *f->data++ % below;
}

/* ---- handles ---- */

static NDArrayHandle pick(fuzz *f)
{
    unsigned kind = next(f, 256);
    uintptr_t wild = 0;

    if (kind == 0)
        return NULL;
    if (kind == 1) {
        for (int i = 0; i < 7; i++)
            wild = wild << 8 | next(f, 256);
        return (NDArrayHandle)(wild | 1);
    }
    if (kind == 2) {
        OpHandle op = NULL;

        (void)NNGetOpHandle("exp", &op);
        return op;
    }
    return f->slots[next(f, SLOTS)];
}

/* Ends what would keep an array alive through its own gradient, then frees it. */
static int discard(NDArrayHandle array)
{
    NDArrayHandle none = NULL;
    uint32_t req = 0;

    if (array != NULL && MXAutogradMarkVariables(1, &array, &req, &none) != 0)
        checked(-1);
    return checked(MXNDArrayFree(array));
}

static void put(fuzz *f, NDArrayHandle array)
{
    unsigned slot = next(f, SLOTS);

    if (array == NULL) {
        checked(-1);
        return;
    }
    (void)discard(f->slots[slot]); /* stale ones refuse */
    f->slots[slot] = array;
}

#endif
