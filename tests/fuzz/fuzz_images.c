/* Bytes that claim to be images, through _cvimdecode: an error of one line or pixels that can be
 * read, never a crash or a loss. Built with its own main (make fuzz), or with -fsanitize=fuzzer
 * -DFUZZ_NO_MAIN; it starts from tests/fuzz/corpus/images. */
#include <mxlite/mxlite.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what)
{
    fprintf(stderr, "fuzz_images: %s\n", what);
    abort();
}

/* Every pixel is touched, as the sanitizer wants to see. */
static void read_pixels(NDArrayHandle image, int64_t channels)
{
    int64_t shape[32];
    int dtype = -1, ndim = MXLNDArrayGetInfo(image, 32, shape, &dtype);
    static volatile unsigned sum;
    void *pixels = NULL;

    if (ndim != 3 || dtype != 3 || shape[2] != channels || MXNDArrayGetData(image, &pixels) != 0)
        die("no image of uint8");
    for (int64_t i = 0; i < shape[0] * shape[1] * channels; i++)
        sum += ((const unsigned char *)pixels)[i];
}

static void decode(OpHandle op, NDArrayHandle bytes, const char *flag)
{
    const char *keys[] = {"flag"}, *values[] = {flag};
    NDArrayHandle *images = NULL;
    int count = 0;

    if (MXImperativeInvoke(op, 1, &bytes, &count, &images, 1, keys, values) != 0) {
        if (MXGetLastError()[0] == '\0' || strchr(MXGetLastError(), '\n') != NULL)
            die("a failure without its one line");
        return;
    }
    if (count != 1)
        die("more than one image");
    read_pixels(images[0], flag[0] == '0' ? 1 : 3);
    if (MXNDArrayFree(images[0]) != 0)
        die("a handle that cannot be freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t shape[] = {(uint32_t)size};
    int64_t before = 0, after = 0;
    NDArrayHandle bytes = NULL;
    OpHandle op = NULL;

    if (size == 0)
        return 0;
    (void)MXLGetLiveHandles(&before);
    if (NNGetOpHandle("_cvimdecode", &op) != 0 ||
        MXNDArrayCreateEx(shape, 1, 1, 0, 0, 3, &bytes) != 0 ||
        MXNDArraySyncCopyFromCPU(bytes, data, size) != 0)
        die(MXGetLastError());
    decode(op, bytes, "1");
    decode(op, bytes, "0");
    if (MXNDArrayFree(bytes) != 0)
        die("a handle that cannot be freed");
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    return 0;
}

#define FUZZ_NAME "fuzz_images"
#include "fuzz_files.h"
