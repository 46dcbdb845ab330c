/* Deferred calls from many threads: arrays whose loops wait are read, read by further calls,
 * reduced, edited and freed by other threads. Run under ThreadSanitizer. */
#define _GNU_SOURCE 1 /* usleep */
#include "engine_kit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#ifdef MXL_SANITIZER
enum { ROUNDS = 60 };
#else
enum { ROUNDS = 250 };
#endif
enum { THREADS = 6, SIZE = 66000 };

/* The newest array of each thread: every element has the same value. */
static _Atomic(H) newest[THREADS];

static H filled_of(const char *shape, double value)
{
    static const char *keys[] = {"shape", "value", "dtype"};
    char text[32];
    const char *values[] = {shape, text, "float64"};

    snprintf(text, sizeof(text), "%g", value);
    return try_op("_full", 0, NULL, 3, keys, values);
}

static H filled(double value)
{
    return filled_of("(66000,)", value);
}

static H plus(H array, const char *number, H into)
{
    static const char *keys[] = {"scalar"};
    OpHandle op;
    H *outputs = into == NULL ? NULL : &into;
    int num = into == NULL ? 0 : 1;
    const int *stypes;

    if (NNGetOpHandle("_plus_scalar", &op) != 0 ||
        MXImperativeInvokeEx(op, 1, &array, &num, &outputs, 1, keys, &number, &stypes) != 0)
        return NULL;
    return outputs[0];
}

/* The value of all elements; NaN where they differ or the array was freed. */
static double value_of(H array)
{
    static _Thread_local double values[SIZE];

    if (MXNDArraySyncCopyToCPU(array, values, SIZE) != 0)
        return (double)NAN;
    for (int i = 1; i < SIZE; i++) {
        if (values[i] != values[0])
            return (double)NAN;
    }
    return values[0];
}

/* A sum that takes the tiles of a result which dies, and is read while others run a part of them.
 */
static void check_sum(H array, H other, double value)
{
    H once = plus(array, "0.25", NULL), twice, both, sum, more;
    double got = 0;

    REQUIRE(once != NULL);
    twice = plus(once, "0.25", NULL);
    REQUIRE(twice != NULL);
    drop(once);
    sum = try_op("sum", 1, &twice, 0, NULL, NULL);
    REQUIRE(sum != NULL);
    both = try_op("broadcast_mul", 2, (H[]){twice, other}, 0, NULL, NULL);
    drop(twice);
    if (both != NULL) {
        more = try_op("max", 1, &both, 0, NULL, NULL);
        REQUIRE(more != NULL);
        drop(both);
        CHECK_INT(MXNDArraySyncCopyToCPU(more, &got, 1), 0);
        CHECK(fmod(got, value + 0.5) == 0);
        drop(more);
    }
    CHECK_INT(MXNDArraySyncCopyToCPU(sum, &got, 1), 0);
    CHECK(got == (value + 0.5) * SIZE);
    drop(sum);
}

/* A chain over the thread's own array and another thread's, which may be freed meanwhile. */
static void one_round(int number, int round)
{
    H other = atomic_load(&newest[(number + round) % THREADS]);
    H start = filled(number + 1), a = plus(start, "2", NULL), b, old;

    REQUIRE(a != NULL);
    b = try_op("broadcast_mul", 2, (H[]){a, other}, 0, NULL, NULL);
    if (b != NULL) {
        double value = value_of(b);

        CHECK(value > 0 && value == floor(value));
        drop(b);
    }
    CHECK(plus(a, "1", a) == a);
    b = plus(a, "0", NULL);
    CHECK(plus(start, "5", start) == start);
    if (round % 3 == 0)
        CHECK(value_of(b) == number + 4);
    if (round % 5 == 0)
        CHECK_INT(MXNDArrayWaitAll(), 0);
    if (round % 2 == 0)
        check_sum(a, other, number + 4);
    drop(a);
    CHECK(value_of(start) == number + 6);
    drop(start);
    old = atomic_exchange(&newest[number], b);
    if (old != NULL)
        drop(old);
}

static void *work(void *data)
{
    int number = *(const int *)data;

    for (int i = 0; i < ROUNDS; i++)
        one_round(number, i);
    return NULL;
}

TEST(arrays_that_wait)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++)
        atomic_store(&newest[i], filled(i + 4));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        REQUIRE(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(value_of(atomic_load(&newest[i])) == i + 4);
        drop(atomic_load(&newest[i]));
    }
}

static atomic_bool ending;

static void *run_all(void *data)
{
    (void)data;
    while (!atomic_load(&ending))
        CHECK_INT(MXNDArrayWaitAll(), 0);
    return NULL;
}

/* Of 4.8 MB: the block of such a result is exchanged when a pass stores it. */
TEST(large_results_dropped_while_another_thread_runs_them)
{
    H start = filled_of("(600000,)", 1);
    pthread_t other;

    REQUIRE(start != NULL && pthread_create(&other, NULL, run_all, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        H made = plus(start, "2", NULL);

        REQUIRE(made != NULL);
        if (i % 2 == 0)
            usleep((unsigned)(i % 7) * 20);
        drop(made);
    }
    atomic_store(&ending, true);
    CHECK_INT(pthread_join(other, NULL), 0);
    drop(start);
}

static H first_row(H big)
{
    H row;

    return MXNDArraySlice(big, 0, 1, &row) == 0 ? row : NULL;
}

static double first_value(H array)
{
    static _Thread_local double values[25000];

    return MXNDArraySyncCopyToCPU(array, values, 25000) == 0 ? values[0] : (double)NAN;
}

static void keep_rows(int number)
{
    enum { KEPT = 12 };
    H kept[KEPT];

    for (int i = 0; i < KEPT; i++) {
        H big = filled_of("(20, 25000)", number + i), half, row;

        REQUIRE(big != NULL);
        half = plus(big, "0.5", NULL);
        REQUIRE(half != NULL);
        row = first_row(i % 2 == 0 ? big : half);
        REQUIRE(row != NULL);
        kept[i] = plus(row, "1", NULL);
        drop(half);
        drop(big);
        drop(row);
    }
    for (int i = 0; i < KEPT; i++) {
        CHECK(first_value(kept[i]) == number + i + 1 + i % 2 * 0.5);
        drop(kept[i]);
    }
}

static void *keep(void *data)
{
    keep_rows(*(const int *)data);
    return NULL;
}

/* Of 4 MB each, of which more wait at once than may be left to expressions, so that each thread
 * runs what waits in others. */
TEST(rows_of_arrays_that_are_freed)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    int64_t before, after;

    CHECK_INT(MXLGetLiveBytes(&before), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        REQUIRE(pthread_create(&threads[i], NULL, keep, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(MXLGetLiveBytes(&after), 0);
    CHECK(after - before < 1 << 20);
}

HARNESS_MAIN(ENTRY(arrays_that_wait), ENTRY(large_results_dropped_while_another_thread_runs_them),
             ENTRY(rows_of_arrays_that_are_freed))
