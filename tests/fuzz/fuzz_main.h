/* The driver of its own that fuzz_api.c and fuzz_graph.c have, and memory as they see it. Included
 * once, at the end of each; not with -DFUZZ_NO_MAIN, for libFuzzer. */
#ifndef FUZZ_MAIN_H
#define FUZZ_MAIN_H

#ifndef FUZZ_NO_MAIN
#include <time.h>

static uint64_t random_next(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* What is made once for the process (prepared calls, return buffers) does not come again; a leak
 * does. */
static void run_twice(const uint8_t *data, size_t size, uint64_t seed)
{
    int64_t before = 0, after = 0;

    (void)LLVMFuzzerTestOneInput(data, size);
    (void)MXLGetLiveBytes(&before);
    (void)LLVMFuzzerTestOneInput(data, size);
    (void)MXLGetLiveBytes(&after);
    if (before == after)
        return;
    fprintf(stderr, "seed %llu: %lld bytes stay\n", (unsigned long long)seed,
            (long long)(after - before));
    die("memory was lost");
}

/* fuzz_... [seconds [first seed]]: prints the seed of each input before it runs when FUZZ_VERBOSE
 * is set, so that a crash names it; `fuzz_... 0 seed` runs that one. */
int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, seed = first;
    bool verbose = getenv("FUZZ_VERBOSE") != NULL;
    time_t start_time = time(NULL);
    uint8_t data[1024];

    do {
        uint64_t state = seed;

        if (verbose)
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)random_next(&state);
        run_twice(data, sizeof data, seed);
        seed++;
    } while (difftime(time(NULL), start_time) < seconds);
    printf("%s: %llu inputs, none crashed\n", FUZZ_NAME, (unsigned long long)(seed - first));
    return 0;
}
#endif

#endif
