/* A tiny harness for C tests. Every test_*.c, thread_*.c and public_*.c is a program: test
 * functions made with TEST, listed at its end:
 *
 *     TEST(adds) { CHECK_INT(1 + 1, 2); }
 *     HARNESS_MAIN(ENTRY(adds))
 *
 * Arguments of the program are names of tests to run; none: all. Each test runs in a thread of its
 * own, so that what the library keeps per thread is gone when the counts are compared: live handles
 * and live bytes must be those it began with. (Where they are not, the test runs once more: what is
 * made once for the process does not come again, a leak does.) */
#ifndef HARNESS_H
#define HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <malloc.h>
#endif

typedef struct harness_test {
    const char *name;
    void (*run)(void);
} harness_test;

#define TEST(name)  static void name(void)
#define ENTRY(name) {#name, name}
/* A test that WebAssembly cannot run: of threads and what they keep, of numbers and addresses of 64
 * bits, of files that are none, or of the environment. NEEDS_THREADS: one that no build without
 * threads can run, since all tests have one thread there. */
#if defined(__wasm__)
#define NOT_WASM(name) {NULL, name}
#else
#define NOT_WASM(name) ENTRY(name)
#endif
#if defined(MXL_NO_THREADS)
#define NEEDS_THREADS(name) {NULL, name}
#else
#define NEEDS_THREADS(name) NOT_WASM(name)
#endif

/* Each returns whether it held; the test goes on. Usable from any thread. */
bool harness_check(bool held, const char *file, int line, const char *text);
bool harness_check_int(int64_t a, int64_t b, const char *file, int line, const char *text);
bool harness_check_str(const char *a, const char *b, const char *file, int line, const char *text);
bool harness_check_has(const char *a, const char *b, const char *file, int line, const char *text);
bool harness_check_near(double a, double b, double tolerance, const char *file, int line,
                        const char *text);

#define CHECK(condition) harness_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(a, b)                                                                            \
    harness_check_int((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_STR(a, b) harness_check_str((a), (b), __FILE__, __LINE__, #a " is " #b)
/* Text `a` contains text `b`. */
#define CHECK_HAS(a, b) harness_check_has((a), (b), __FILE__, __LINE__, #a " has " #b)
/* |a - b| <= tolerance * max(1, |b|); two NaN and two equal infinities are near. */
#define CHECK_NEAR(a, b, tolerance)                                                                \
    harness_check_near((a), (b), (tolerance), __FILE__, __LINE__, #a " near " #b)
/* Ends the test function where the rest of it makes no sense without `condition`. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!CHECK(condition))                                                                     \
            return;                                                                                \
    } while (0)

/* A fixed sequence of random 64-bit numbers; *seed is its state. */
uint64_t harness_random(uint64_t *seed);

/* Runs the tests and prints "program: N passed, M failed"; 0 when none failed. */
int harness_main(int argc, char **argv, const harness_test *tests, size_t count,
                 void (*live)(int64_t *bytes, int64_t *handles));

/* Tests of the public API are compiled without the folder of the internal headers. */
#if __has_include("base/state.h")
#include "base/state.h"
#define HARNESS_LIVE mxl_state_sums
#else
#include <mxlite/mxlite.h>
static inline void harness_public_live(int64_t *bytes, int64_t *handles)
{
    if (MXLGetLiveBytes(bytes) != 0 || MXLGetLiveHandles(handles) != 0)
        *bytes = *handles = -1;
}
#define HARNESS_LIVE harness_public_live
#endif

#define HARNESS_MAIN(...)                                                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const harness_test tests[] = {__VA_ARGS__};                                         \
        return harness_main(argc, argv, tests, sizeof tests / sizeof *tests, HARNESS_LIVE);        \
    }

/* Memory at a multiple of `align`; free it by kit_free. */
static inline void *kit_alloc(size_t bytes, size_t align)
{
    size_t whole = (bytes + align - 1) / align * align;

#if defined(_WIN32)
    return _aligned_malloc(whole, align);
#else
    return aligned_alloc(align, whole);
#endif
}

static inline void kit_free(void *block)
{
#if defined(_WIN32)
    _aligned_free(block);
#else
    free(block);
#endif
}

#endif
