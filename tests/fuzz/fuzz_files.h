/* The driver of fuzzers whose inputs are damaged files. Included once by each, with FUZZ_NAME; not
 * with -DFUZZ_NO_MAIN, for libFuzzer. FUZZ_MUTATE names a function of its own that damages a file:
 * one of the corpus, of which it writes at most MOST bytes to `to`. With FUZZ_VERBOSE the last
 * input is kept in the file that it names. */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef FUZZ_NO_MAIN
enum { MOST = 16384, FILES = 64 };

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

static int read_corpus(int count, char **paths)
{
    int files = 0;

    for (int i = 0; i < count && files < FILES; i++) {
        FILE *file = fopen(paths[i], "rb");

        if (file == NULL)
            die(paths[i]);
        corpus[files].size = fread(corpus[files].bytes, 1, MOST, file);
        fclose(file);
        files += corpus[files].size > 0;
    }
    return files;
}

#ifdef FUZZ_MUTATE
static size_t FUZZ_MUTATE(uint64_t *seed, int files, unsigned char *to);
#else
#define FUZZ_MUTATE mutate
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
#endif

static void keep_input(const unsigned char *bytes, size_t size)
{
    const char *name = getenv("FUZZ_VERBOSE");
    FILE *file = name == NULL ? NULL : fopen(name, "wb");

    if (file != NULL) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
}

/* fuzz_... seconds seed file...: mutations of the files, and before them the files themselves.
 */
int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, inputs = 0;
    int files = read_corpus(argc > 3 ? argc - 3 : 0, argv + 3);
    time_t start_time = time(NULL);

    if (files == 0)
        die("usage: " FUZZ_NAME " SECONDS SEED FILE...");
    for (int i = 0; i < files; i++)
        (void)LLVMFuzzerTestOneInput(corpus[i].bytes, corpus[i].size);
    do {
        for (int i = 0; i < 256; i++, inputs++) {
            unsigned char *bytes =
                malloc(MOST + 1); /* of its own, so that reading past its end is seen */
            size_t size = bytes == NULL ? 0 : FUZZ_MUTATE(&seed, files, bytes);
            unsigned char *exact = malloc(size == 0 ? 1 : size);

            if (bytes == NULL || exact == NULL)
                die("out of memory");
            memcpy(exact, bytes, size);
            keep_input(exact, size);
            (void)LLVMFuzzerTestOneInput(exact, size);
            free(exact);
            free(bytes);
        }
    } while (difftime(time(NULL), start_time) < seconds);
    printf(FUZZ_NAME ": %llu inputs, none crashed\n", (unsigned long long)inputs);
    return 0;
}
#endif

#endif
