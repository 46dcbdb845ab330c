/* Bytes that claim to be arrays, through MXNDArrayLoadFromBuffer and MXNDArrayLoadFromRawBytes: an
 * error or arrays whose values can be read, never a crash, a loss, or memory beyond the input's
 * size times a factor. What was read is written and read again, to the same bytes. Built with its
 * own main (make fuzz), or with -fsanitize=fuzzer -DFUZZ_NO_MAIN; it starts from tests/fuzz/corpus
 * and tests/reference/files. */
#include <mxlite/mxlite.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FACTOR = 32, EXTRA = 4096 };

static size_t held, allowed;

static void *limited(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    held += bytes;
    if (held > allowed) {
        fprintf(stderr, "fuzz_params: %zu bytes held, %zu allowed\n", held, allowed);
        abort();
    }
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void limited_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    held -= bytes;
    free(block);
}

static void die(const char *what)
{
    fprintf(stderr, "fuzz_params: %s\n", what);
    abort();
}

static void failed(void)
{
    if (MXGetLastError()[0] == '\0' || strchr(MXGetLastError(), '\n') != NULL)
        die("a failure without its one line");
}

#include "fuzz_read.h"

/* Kernels read the parts, where they are sound: conversions, if the dense array is no larger than
 * what may be held. */
static void convert(NDArrayHandle array)
{
    static const char *stypes[] = {"default", "row_sparse", "csr"}, *key = "stype";
    int64_t shape[32], count = 8;
    int ndim = MXLNDArrayGetInfo(array, 32, shape, NULL);
    OpHandle op = NULL;
    size_t before = allowed;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] > EXTRA || shape[i] < 0 || count * shape[i] > EXTRA * 64)
            return;
        count *= shape[i];
    }
    if (NNGetOpHandle("cast_storage", &op) != 0)
        die("no cast_storage");
    allowed = SIZE_MAX;
    for (int i = 0; i < 3; i++) {
        NDArrayHandle *out = NULL, made;
        int num_out = 0;

        if (MXImperativeInvoke(op, 1, &array, &num_out, &out, 1, &key, &stypes[i]) != 0) {
            failed();
            continue;
        }
        made = out[0];
        read_values(made);
        if (MXNDArrayFree(made) != 0)
            die("a handle that cannot be freed");
    }
    allowed = before;
}

/* Written and read again, an array is what it was. */
static void write_again(NDArrayHandle array)
{
    const char *bytes = NULL;
    char *first;
    size_t size = 0, again = 0;
    NDArrayHandle copy = NULL;

    if (MXNDArraySaveRawBytes(array, &size, &bytes) != 0) {
        failed();
        return;
    }
    first = malloc(size);
    if (first == NULL)
        return;
    memcpy(first, bytes, size);
    if (MXNDArrayLoadFromRawBytes(first, size, &copy) != 0)
        die("what was written cannot be read");
    if (MXNDArraySaveRawBytes(copy, &again, &bytes) != 0 || again != size ||
        memcmp(first, bytes, size) != 0)
        die("what was read is written differently");
    free(first);
    if (MXNDArrayFree(copy) != 0)
        die("a handle that cannot be freed");
}

static void finish(NDArrayHandle array)
{
    read_values(array);
    convert(array);
    write_again(array);
    if (MXNDArrayFree(array) != 0)
        die("a handle that cannot be freed");
}

static void try_list(const uint8_t *data, size_t size)
{
    uint32_t count = 0, named = 0;
    NDArrayHandle *handles = NULL;
    const char **names = NULL;
    size_t length = 0;

    if (MXNDArrayLoadFromBuffer(data, size, &count, &handles, &named, &names) != 0) {
        failed();
        if (count != 0 || named != 0 || handles != NULL || names != NULL)
            die("a failure with results");
        return;
    }
    if (named != 0 && named != count)
        die("names without arrays");
    for (uint32_t i = 0; i < named; i++)
        length += strlen(names[i]);
    if (length > size)
        die("names that are longer than the file");
    for (uint32_t i = 0; i < count; i++)
        finish(handles[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    NDArrayHandle array = NULL;
    int64_t before = 0, after = 0;
    int prev;

    allowed = SIZE_MAX;
    if (held == 0 && MXLSetAllocator(limited, limited_free, NULL, 0) != 0)
        die(MXGetLastError());
    (void)MXLGetLiveHandles(&before);
    for (int numpy = 0; numpy < 2; numpy++) {
        (void)MXSetIsNumpyShape(numpy, &prev);
        allowed = held + FACTOR * size + EXTRA;
        try_list(data, size);
        if (MXNDArrayLoadFromRawBytes(data, size, &array) == 0)
            finish(array);
        else
            failed();
    }
    (void)MXSetIsNumpyShape(0, &prev);
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    return 0;
}

#define FUZZ_NAME "fuzz_params"
#include "fuzz_files.h"
