/* Texts that claim to be symbols, through MXSymbolCreateFromJSON: one clear line, or a symbol that
 * can be listed, written and read again to the same text, given shapes, bound and run; never a
 * crash or a loss. Operators that ask for more memory than there is meet a failing allocation.
 * Built with its own main (make fuzz), or with -fsanitize=fuzzer -DFUZZ_NO_MAIN; it starts from
 * tests/fuzz/corpus/symbols.
 */
#include <mxlite/mxlite.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ALLOWED = 64 << 20 };

static size_t held;

static void *limited(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    if (bytes > ALLOWED || held + bytes > ALLOWED)
        return NULL;
    held += bytes;
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
    fprintf(stderr, "fuzz_symbols: %s\n", what);
    abort();
}

static int checked(int status)
{
    if (status != 0 && (MXGetLastError()[0] == '\0' || strchr(MXGetLastError(), '\n') != NULL))
        die("a failure without its one line");
    return status;
}

/* ---- what is done with a symbol ---- */

static void list_all(SymbolHandle symbol)
{
    uint32_t count;
    const char **names, *text;
    SymbolHandle other;

    (void)checked(MXSymbolListArguments(symbol, &count, &names));
    (void)checked(MXSymbolListAuxiliaryStates(symbol, &count, &names));
    (void)checked(MXSymbolListOutputs(symbol, &count, &names));
    (void)checked(MXSymbolListAttr(symbol, &count, &names));
    (void)checked(MXSymbolPrint(symbol, &text));
    if (checked(MXSymbolGetInternals(symbol, &other)) == 0)
        (void)checked(MXSymbolFree(other));
    if (checked(MXSymbolRemoveAmpCast(symbol, &other)) == 0)
        (void)checked(MXSymbolFree(other));
}

/* Written and read again, it is what it was. */
static void write_again(SymbolHandle symbol)
{
    SymbolHandle again;
    const char *json;
    char *first;

    if (checked(MXSymbolSaveToJSON(symbol, &json)) != 0)
        return;
    first = malloc(strlen(json) + 1);
    if (first == NULL)
        return;
    strcpy(first, json);
    if (checked(MXSymbolCreateFromJSON(first, &again)) == 0) {
        if (checked(MXSymbolSaveToJSON(again, &json)) == 0 && strcmp(first, json) != 0)
            die("what was read is written differently");
        (void)checked(MXSymbolFree(again));
    } else if (strstr(MXGetLastError(), "memory") == NULL) {
        die(MXGetLastError());
    }
    free(first);
}

static const char *names[] = {"data"};
static const uint32_t places[] = {0, 2};

static void infer(SymbolHandle symbol, const int *sizes)
{
    uint32_t counts[3];
    const int *ndims[3], **data[3], *dtypes[3];
    int complete, half = 2;

    (void)checked(MXSymbolInferShapePartialEx(symbol, 1, names, places, sizes, &counts[0],
                                              &ndims[0], &data[0], &counts[1], &ndims[1], &data[1],
                                              &counts[2], &ndims[2], &data[2], &complete));
    (void)checked(MXSymbolInferTypePartial(symbol, 1, names, &half, &counts[0], &dtypes[0],
                                           &counts[1], &dtypes[1], &counts[2], &dtypes[2],
                                           &complete));
}

static void free_all(uint32_t count, NDArrayHandle *arrays)
{
    for (uint32_t i = 0; i < count; i++)
        (void)checked(MXNDArrayFree(arrays[i]));
}

static void run(SymbolHandle symbol)
{
    static const int sizes[] = {2, 5};
    NDArrayHandle *args, *grads, *states;
    ExecutorHandle executor;
    const char *req = "write";
    uint32_t num_args, num_states;

    if (checked(MXExecutorSimpleBindEx(symbol, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, 1, names,
                                       sizes, places, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL,
                                       NULL, NULL, NULL, NULL, &num_args, &args, &grads,
                                       &num_states, &states, NULL, &executor)) != 0)
        return;
    free_all(num_args, args);
    free_all(num_args, grads);
    free_all(num_states, states);
    if (checked(MXExecutorForward(executor, 1)) == 0)
        (void)checked(MXExecutorBackward(executor, 0, NULL));
    (void)checked(MXExecutorFree(executor));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int known[] = {2, 5}, unknown[] = {0, 5};
    static int started;
    char *text = malloc(size + 1);
    int64_t before = 0, after = 0;
    SymbolHandle symbol;

    if (text == NULL)
        return 0;
    if (!started++ && MXLSetAllocator(limited, limited_free, NULL, 0) != 0)
        die(MXGetLastError());
    memcpy(text, data, size);
    text[size] = '\0';
    (void)MXLGetLiveHandles(&before);
    if (checked(MXSymbolCreateFromJSON(text, &symbol)) == 0) {
        list_all(symbol);
        write_again(symbol);
        infer(symbol, known);
        infer(symbol, unknown);
        run(symbol);
        (void)checked(MXSymbolFree(symbol));
    }
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    free(text);
    return 0;
}

#define FUZZ_NAME   "fuzz_symbols"
#define FUZZ_MUTATE mutate_words
#include "fuzz_files.h"

#ifndef FUZZ_NO_MAIN
/* The beginning of the n-th text or number, and its length. */
static size_t token(const char *text, size_t size, size_t n, size_t *length)
{
    size_t at = n % size;

    while (at > 0 && strchr("\"0123456789", text[at]) == NULL)
        at--;
    *length =
        strspn(text + at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") +
        1;
    return at;
}

/* Replaces a piece of the text; the size then. */
static size_t splice(char *to, size_t size, size_t at, size_t length, const char *with, size_t more)
{
    length = length < size - at ? length : size - at;
    if (size - length + more >= MOST)
        return size;
    memmove(to + at + more, to + at + length, size - at - length);
    memcpy(to + at, with, more);
    return size - length + more;
}

/* A file with up to six changes: bytes, numbers that lie, words of this or another file, an end. */
static size_t mutate_text(uint64_t *seed, int files, char *to)
{
    static const char *const lies[] = {
        "0",    "1",    "-1",  "2",        "3",    "4294967295", "99999999999999",
        "-5",   "[]",   "{}",  "\"\"",     "null", "(0, 0)",     "(-1,)",
        "None", "True", "1e9", "\"axis\"", "[[",   "float64"};
    size_t from = random_next(seed) % (size_t)files, size = corpus[from].size;
    int changes = 1 + (int)(random_next(seed) % 6);

    memcpy(to, corpus[from].bytes, size);
    for (int i = 0; i < changes && size > 8; i++) {
        size_t length, more, at, other = random_next(seed) % (size_t)files, piece;
        const char *lie = lies[random_next(seed) % (sizeof lies / sizeof *lies)];

        to[size] = '\0';
        at = token(to, size, random_next(seed), &length);
        switch (random_next(seed) % 8) {
        case 0:
            to[random_next(seed) % size] = (char)(1 + random_next(seed) % 255);
            break;
        case 1:
        case 2:
        case 3:
            size = splice(to, size, at, length, lie, strlen(lie));
            break;
        case 4:
        case 5:
        case 6:
            piece = token((const char *)corpus[other].bytes, corpus[other].size - 1,
                          random_next(seed), &more);
            if (piece + more < corpus[other].size)
                size =
                    splice(to, size, at, length, (const char *)corpus[other].bytes + piece, more);
            break;
        default:
            if (random_next(seed) % 8 == 0)
                size = at;
        }
    }
    return size;
}

static size_t mutate_words(uint64_t *seed, int files, unsigned char *to)
{
    return mutate_text(seed, files, (char *)to);
}
#endif
