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

/* Every value is touched, as the sanitizer wants to see. */
static void read_values(NDArrayHandle array)
{
    int64_t shape[32], count = 1;
    int dtype = -1, ndim = MXLNDArrayGetInfo(array, 32, shape, &dtype);
    static const size_t sizes[] = {4, 8, 2, 1, 4, 1, 8, 1};
    static volatile unsigned sum;
    void *data = NULL;

    if (ndim < 0)
        return;
    if (dtype < 0 || dtype > 7 || MXNDArrayGetData(array, &data) != 0)
        die("an array that cannot be read");
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    for (size_t i = 0; i < (size_t)count * sizes[dtype]; i++)
        sum += ((const unsigned char *)data)[i];
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

/* ---- a driver of its own ---- */

#ifndef FUZZ_NO_MAIN
enum { MOST = 8192, FILES = 64 };

static uint64_t random_next(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static struct {
    unsigned char bytes[MOST];
    size_t size;
} corpus[FILES];

static int read_corpus(int count, char **names)
{
    int files = 0;

    for (int i = 0; i < count && files < FILES; i++) {
        FILE *file = fopen(names[i], "rb");

        if (file == NULL)
            die(names[i]);
        corpus[files].size = fread(corpus[files].bytes, 1, MOST, file);
        fclose(file);
        files += corpus[files].size > 0;
    }
    return files;
}

/* A file with up to eight changes: bits, bytes, numbers that lie, a piece of another file, an end.
 */
static size_t mutate(uint64_t *seed, int files, unsigned char *to)
{
    static const uint64_t lies[] = {0,         1,  2,   UINT64_MAX, INT64_MAX,  (uint64_t)INT64_MIN,
                                    32,        33, 255, UINT32_MAX, 0xF993FAC8, 0xF993FAC9,
                                    0xF993FACA};
    size_t from = random_next(seed) % (size_t)files, size = corpus[from].size;
    int changes = 1 + (int)(random_next(seed) % 8);

    memcpy(to, corpus[from].bytes, size);
    for (int i = 0; i < changes && size > 8; i++) {
        size_t at = random_next(seed) % size, other = random_next(seed) % (size_t)files, length;
        uint64_t lie = lies[random_next(seed) % (sizeof lies / sizeof *lies)];

        switch (random_next(seed) % 8) {
        case 0:
        case 1:
            to[at] ^= (unsigned char)(1u << random_next(seed) % 8);
            break;
        case 2:
            to[at] = (unsigned char)random_next(seed);
            break;
        case 3:
        case 4:
        case 5:
            at -= at % 4;
            length = random_next(seed) % 2 == 0 ? 4 : 8;
            memcpy(to + at, &lie, length < size - at ? length : size - at);
            break;
        case 6:
            length = corpus[other].size < size - at ? corpus[other].size : size - at;
            memcpy(to + at, corpus[other].bytes, length);
            break;
        default:
            size = at;
        }
    }
    return size;
}

/* fuzz_params seconds seed file...: mutations of the files, and before them the files themselves.
 */
int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, inputs = 0;
    int files = read_corpus(argc > 3 ? argc - 3 : 0, argv + 3);
    time_t start_time = time(NULL);

    if (files == 0)
        die("usage: fuzz_params SECONDS SEED FILE...");
    for (int i = 0; i < files; i++)
        (void)LLVMFuzzerTestOneInput(corpus[i].bytes, corpus[i].size);
    do {
        for (int i = 0; i < 256; i++, inputs++) {
            unsigned char *bytes =
                malloc(MOST); /* of its own, so that reading past its end is seen */
            size_t size = bytes == NULL ? 0 : mutate(&seed, files, bytes);
            unsigned char *exact = malloc(size == 0 ? 1 : size);

            if (bytes == NULL || exact == NULL)
                die("out of memory");
            memcpy(exact, bytes, size);
            (void)LLVMFuzzerTestOneInput(exact, size);
            free(exact);
            free(bytes);
        }
    } while (difftime(time(NULL), start_time) < seconds);
    printf("fuzz_params: %llu inputs, none crashed\n", (unsigned long long)inputs);
    return 0;
}
#endif
