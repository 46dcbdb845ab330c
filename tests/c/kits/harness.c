/* The harness of the C tests: runs them, counts, prints failures. Independent of the library. */
#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int failures; /* of the running test */

static bool report(bool held, const char *file, int line, const char *text)
{
    if (!held) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    }
    return held;
}

bool harness_check(bool held, const char *file, int line, const char *text)
{
    return report(held, file, line, text);
}

bool harness_check_int(int64_t a, int64_t b, const char *file, int line, const char *text)
{
    if (!report(a == b, file, line, text))
        fprintf(stderr, "    %" PRId64 " and %" PRId64 "\n", a, b);
    return a == b;
}

bool harness_check_str(const char *a, const char *b, const char *file, int line, const char *text)
{
    bool held = a != NULL && b != NULL && strcmp(a, b) == 0;

    if (!report(held, file, line, text))
        fprintf(stderr, "    \"%s\" and \"%s\"\n", a != NULL ? a : "NULL", b != NULL ? b : "NULL");
    return held;
}

bool harness_check_has(const char *a, const char *b, const char *file, int line, const char *text)
{
    bool held = a != NULL && b != NULL && strstr(a, b) != NULL;

    if (!report(held, file, line, text))
        fprintf(stderr, "    \"%s\" and \"%s\"\n", a != NULL ? a : "NULL", b != NULL ? b : "NULL");
    return held;
}

bool harness_check_near(double a, double b, double tolerance, const char *file, int line,
                        const char *text)
{
    bool held = (isnan(a) && isnan(b)) || (isinf(b) && isinf(a) && signbit(a) == signbit(b)) ||
                (isfinite(a) && fabs(a - b) <= tolerance * fmax(1.0, fabs(b)));

    if (!report(held, file, line, text))
        fprintf(stderr, "    %.17g and %.17g\n", a, b);
    return held;
}

uint64_t harness_random(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Each test has a thread of its own, whose state ends with it; where the library knows no threads,
 * all tests have one. */
#if defined(MXL_NO_THREADS) || defined(__wasm__)
static void run_in_thread(const harness_test *test)
{
    test->run();
}
#else
static void *run_thread(void *data)
{
    const harness_test *test = data;

    test->run();
    return NULL;
}

static void run_in_thread(const harness_test *test)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_thread, (void *)(uintptr_t)test) != 0 ||
        pthread_join(thread, NULL) != 0)
        report(false, __FILE__, __LINE__, "a thread for the test");
}
#endif

static bool test_passes(const harness_test *test, void (*live)(int64_t *, int64_t *))
{
    int64_t bytes = 0, handles = 0, bytes_after = 0, handles_after = 0;

    atomic_store(&failures, 0);
    for (int round = 0; round < 2; round++) {
        live(&bytes, &handles);
        run_in_thread(test);
        live(&bytes_after, &handles_after);
        if (bytes == bytes_after && handles == handles_after)
            return atomic_load(&failures) == 0;
    }
    fprintf(stderr, "%s: leaves %" PRId64 " bytes and %" PRId64 " handles more than it found\n",
            test->name, bytes_after - bytes, handles_after - handles);
    return false;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

int harness_main(int argc, char **argv, const harness_test *tests, size_t count,
                 void (*live)(int64_t *bytes, int64_t *handles))
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "test";
    int passed = 0, failed = 0;

    for (size_t i = 0; i < count; i++) {
        if (tests[i].name == NULL || !wanted(tests[i].name, argc, argv))
            continue;
        if (test_passes(&tests[i], live)) {
            passed++;
        } else {
            failed++;
            printf("%s: %s failed\n", program, tests[i].name);
        }
    }
    printf("%s: %d passed, %d failed\n", program, passed, failed);
    /* A name that is no test's must not look like success. */
    return failed == 0 && passed > 0 ? 0 : 1;
}
