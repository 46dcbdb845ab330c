/* Threads: parallel_for, and memory that moves between threads. Also run under ThreadSanitizer. */
#define _GNU_SOURCE 1 /* nanosleep, barriers */
#include "harness.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"

enum { MOST = 100000 };

typedef struct cover {
    int64_t count, grain;
    unsigned char *hits;
    atomic_int ranges;
} cover;

static void cover_range(void *data, int64_t begin, int64_t end)
{
    cover *c = data;

    CHECK(begin >= 0 && begin < end && end <= c->count);
    CHECK_INT(begin % c->grain, 0);
    CHECK(end % c->grain == 0 || end == c->count);
    for (int64_t i = begin; i < end; i++)
        c->hits[i]++;
    atomic_fetch_add(&c->ranges, 1);
}

static atomic_int others; /* ranges that ran on another thread than the caller's */

static void nothing(void *data, int64_t begin, int64_t end)
{
    (void)data;
    (void)begin;
    (void)end;
}

static void add_count(void *data, int64_t begin, int64_t end)
{
    atomic_fetch_add((_Atomic int64_t *)data, end - begin);
}

static void check_cover(int64_t count, int64_t grain)
{
    static _Thread_local unsigned char hits[MOST];
    cover c = {.count = count, .grain = grain, .hits = hits};

    memset(hits, 0, sizeof hits);
    mxl_parallel_for(count, grain, cover_range, &c);
    for (int64_t i = 0; i < MOST; i++)
        if (hits[i] != (i < count))
            CHECK_INT(i, -1);
    if (count > 0)
        CHECK(atomic_load(&c.ranges) >= 1 && atomic_load(&c.ranges) <= (count - 1) / grain + 1);
    else
        CHECK_INT(atomic_load(&c.ranges), 0);
}

TEST(every_index_comes_once)
{
    const int64_t counts[] = {0, 1, 2, 7, 100, 101, 4096, 65537, MOST};
    const int64_t grains[] = {1, 2, 16, 100, 1000, 70000, (int64_t)1 << 40};

    for (int threads = 1; threads <= 9; threads += 2) {
        mxl_thread_set_count(threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (size_t j = 0; j < sizeof grains / sizeof *grains; j++)
                check_cover(counts[i], grains[j]);
    }
    mxl_thread_set_count(0);
}

static void check_fine(int64_t count, int64_t unit, int64_t grain)
{
    static unsigned char hits[MOST];

    for (int back = 0; back < 2; back++) {
        cover c = {.count = count, .grain = unit, .hits = hits};

        memset(hits, 0, sizeof hits);
        (back ? mxl_parallel_back : mxl_parallel_fine)(count, unit, grain, cover_range, &c);
        for (int64_t i = 0; i < MOST; i++)
            if (hits[i] != (i < count))
                CHECK_INT(i, -1);
    }
}

TEST(fine_work_is_shared_out_whole)
{
    const int64_t counts[] = {0, 1, 63, 64, 65, 1000, 65537, MOST};

    for (int threads = 1; threads <= 6; threads++) {
        mxl_thread_set_count(threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            check_fine(counts[i], 64, 64);
            check_fine(counts[i], 64, 20000);
            check_fine(counts[i], 64, (int64_t)1 << 40);
            check_fine(counts[i], 1000, 1);
        }
    }
    mxl_thread_set_count(0);
}

/* Which numbers of workers are in use. */
typedef struct workers {
    atomic_int in_use[8];
    atomic_int wrong;
    _Atomic int64_t done;
} workers;

static void note_nested(void *data, int64_t begin, int64_t end)
{
    workers *w = data;

    (void)begin;
    (void)end;
    if (mxl_parallel_worker() != 0)
        atomic_fetch_add(&w->wrong, 1);
}

static void note_worker(void *data, int64_t begin, int64_t end)
{
    workers *w = data;
    int64_t number = mxl_parallel_worker();

    if (number < 0 || number >= 3 || atomic_fetch_add(&w->in_use[number], 1) != 0)
        atomic_fetch_add(&w->wrong, 1);
    mxl_parallel_for(100, 1, note_nested, w);
    if (mxl_parallel_worker() != number)
        atomic_fetch_add(&w->wrong, 1);
    atomic_fetch_sub(&w->in_use[number], 1);
    atomic_fetch_add(&w->done, end - begin);
}

TEST(each_worker_has_a_number_of_its_own)
{
    for (int threads = 1; threads <= 6; threads++) {
        workers w = {0};

        mxl_thread_set_count(threads);
        for (int i = 0; i < 300; i++)
            mxl_parallel_workers(200, 1, 3, note_worker, &w);
        CHECK_INT(atomic_load(&w.wrong), 0);
        CHECK_INT(atomic_load(&w.done), 60000);
    }
    mxl_thread_set_count(0);
}

/* The processor's time that this process has used, in microseconds. */
static int64_t time_used(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000000) + used.tv_nsec / 1000;
}

TEST(workers_sleep_when_nothing_comes)
{
    const struct timespec while_away = {0, 200000000};
    int64_t before;

    mxl_thread_set_count(3);
    mxl_parallel_for(64, 1, nothing, NULL);
    before = time_used();
    nanosleep(&while_away, NULL);
    CHECK(time_used() - before < 20000);
    mxl_thread_set_count(0);
}

static void note_thread(void *data, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    if (!pthread_equal(pthread_self(), *(pthread_t *)data))
        atomic_fetch_add(&others, 1);
}

/* A worker sleeps when nothing came for a while, and is let sleep while there is little to do. */
TEST(little_work_wakes_nobody)
{
    const struct timespec while_away = {0, 5000000};
    pthread_t self = pthread_self();
    bool alone = false;

    mxl_thread_set_count(2);
    for (int i = 0; i < 200 && !alone; i++) {
        mxl_parallel_for(64, 1, nothing, NULL);
        nanosleep(&while_away, NULL);
        atomic_store(&others, 0);
        mxl_parallel_fine(1000, 10, 1000, note_thread, &self);
        alone = atomic_load(&others) == 0;
    }
    CHECK(alone);
    mxl_thread_set_count(0);
}

/* Jobs one after the other, with pauses in which workers go to sleep and wake, and none. */
TEST(many_jobs)
{
    uint64_t seed = 5;
    _Atomic int64_t sum = 0;
    int64_t want = 0;

    for (int i = 0; i < 3000; i++) {
        int64_t count = 1 + (int64_t)(harness_random(&seed) % 500);
        const struct timespec moment = {0, (long)(harness_random(&seed) % 3) * 40000};

        mxl_thread_set_count(1 + (int)(harness_random(&seed) % 5));
        mxl_parallel_for(count, 1 + i % 7, add_count, &sum);
        want += count;
        if (i % 3 == 0)
            nanosleep(&moment, NULL);
    }
    CHECK_INT(atomic_load(&sum), want);
    mxl_thread_set_count(0);
}

/* More threads than any machine has processors, and than the work has ranges. */
#if defined(__linux__)
/* Where the caller may run, and how often somebody else was not free to do the same. */
typedef struct freedom {
    pthread_t caller;
    cpu_set_t every;
    atomic_int less;
} freedom;

static void note_freedom(void *data, int64_t begin, int64_t end)
{
    freedom *f = data;
    cpu_set_t mine;

    (void)begin;
    (void)end;
    if (pthread_equal(pthread_self(), f->caller))
        return;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_EQUAL(&mine, &f->every))
        atomic_fetch_add(&f->less, 1);
}

/* A worker that makes room for the caller may come back later. */
TEST(workers_are_bound_to_no_processor)
{
    const struct timespec moment = {0, 200000};
    freedom f = {.caller = pthread_self()};

    CHECK_INT(sched_getaffinity(0, sizeof f.every, &f.every), 0);
    mxl_thread_set_count(2);
    for (int i = 0; i < 300; i++) {
        mxl_parallel_for(64, 1, note_freedom, &f);
        if (i % 3 == 0)
            nanosleep(&moment, NULL);
    }
    CHECK_INT(atomic_load(&f.less), 0);
    mxl_thread_set_count(0);
}
/* Workers that were made room for, and had nothing to do then, do not stay where they were sent. */
TEST(workers_that_slept_on_are_not_bound_either)
{
    const struct timespec moment = {0, 400000};
    freedom f = {.caller = pthread_self()};

    CHECK_INT(sched_getaffinity(0, sizeof f.every, &f.every), 0);
    for (int i = 0; i < 100; i++) {
        mxl_thread_set_count(8);
        mxl_parallel_for(64, 1, note_freedom, &f);
        nanosleep(&moment, NULL);
        mxl_thread_set_count(2);
        mxl_parallel_for(64, 1, note_freedom, &f);
        nanosleep(&moment, NULL);
    }
    CHECK_INT(atomic_load(&f.less), 0);
    mxl_thread_set_count(0);
}
#define ON_LINUX                                                                                   \
    , ENTRY(workers_are_bound_to_no_processor), ENTRY(workers_that_slept_on_are_not_bound_either)
#else
#define ON_LINUX
#endif

TEST(the_most_threads)
{
    mxl_thread_set_count(256);
    for (int i = 0; i < 3; i++) {
        check_cover(MOST, 100);
        check_cover(40, 1);
    }
    mxl_thread_set_count(0);
}

TEST(thread_counts)
{
    int normal = mxl_thread_count();

    CHECK(normal >= 1 && normal <= 256);
    CHECK_INT(mxl_thread_set_count(3), normal);
    CHECK_INT(mxl_thread_count(), 3);
    CHECK_INT(mxl_thread_set_count(100000), 3);
    CHECK_INT(mxl_thread_set_count(-5), 256);
    CHECK_INT(mxl_thread_count(), normal);
    CHECK_INT(mxl_thread_set_count(0), normal);
}

/* Each range waits until `want` ranges run at the same time, or two seconds have gone. */
typedef struct meeting {
    atomic_int inside;
    int want;
    atomic_bool met;
} meeting;

static void meet(void *data, int64_t begin, int64_t end)
{
    meeting *m = data;
    const struct timespec moment = {0, 1000000};

    (void)begin;
    (void)end;
    atomic_fetch_add(&m->inside, 1);
    for (int i = 0; i < 2000 && !atomic_load(&m->met); i++) {
        if (atomic_load(&m->inside) >= m->want)
            atomic_store(&m->met, true);
        nanosleep(&moment, NULL);
    }
    atomic_fetch_sub(&m->inside, 1);
}

TEST(ranges_run_at_the_same_time)
{
    for (int threads = 2; threads <= 5; threads++) {
        meeting m = {.want = threads};

        mxl_thread_set_count(threads);
        mxl_parallel_for(threads, 1, meet, &m);
        CHECK(atomic_load(&m.met));
    }
    mxl_thread_set_count(0);
}

static int threads_of_this_process(void)
{
#if defined(__linux__)
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2;
#else
    return -1;
#endif
}

/* First of all tests: later the pool is there. */
TEST(small_work_starts_no_thread)
{
    int before = threads_of_this_process();

    if (before < 0)
        return; /* no /proc: not Linux */
    mxl_free(mxl_alloc(10), 10);
    mxl_parallel_for(100, 100, nothing, NULL);
    mxl_thread_set_count(1);
    mxl_parallel_for(100, 1, nothing, NULL);
    CHECK_INT(threads_of_this_process(), before);
    mxl_thread_set_count(3);
    mxl_parallel_for(100, 1, nothing, NULL);
    CHECK_INT(threads_of_this_process(), before + 2);
    mxl_parallel_for(100, 1, nothing, NULL);
    CHECK_INT(threads_of_this_process(), before + 2);
    mxl_thread_set_count(0);
}

static void nest(void *data, int64_t begin, int64_t end)
{
    (void)data;
    for (int64_t i = begin; i < end; i++)
        check_cover(1000 + i, 10);
}

TEST(nested_work_runs_alone)
{
    mxl_thread_set_count(4);
    mxl_parallel_for(40, 1, nest, NULL);
    mxl_thread_set_count(0);
}

static void *many_covers(void *unused)
{
    (void)unused;
    for (int64_t i = 0; i < 60; i++)
        check_cover(i * 97, 1 + i % 5);
    return NULL;
}

TEST(callers_on_many_threads)
{
    pthread_t threads[6];

    mxl_thread_set_count(3);
    for (int i = 0; i < 6; i++)
        REQUIRE(pthread_create(&threads[i], NULL, many_covers, NULL) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    mxl_thread_set_count(0);
}

typedef struct sums {
    const float *values;
    double parts[1000];
} sums;

static void add_up(void *data, int64_t begin, int64_t end)
{
    sums *s = data;

    for (int64_t at = begin; at < end; at += 100) {
        float sum = 0;

        for (int64_t i = at; i < at + 100 && i < end; i++)
            sum += s->values[i];
        s->parts[at / 100] = sum;
    }
}

TEST(a_sum_by_grains_is_the_same_on_any_number_of_threads)
{
    static float values[MOST];
    static sums s;
    double first = 0;
    uint64_t seed = 3;

    for (int i = 0; i < MOST; i++)
        values[i] = (float)(harness_random(&seed) % 1000003) * 1e-3f;
    s.values = values;
    for (int threads = 1; threads < 8; threads++) {
        double sum = 0;

        mxl_thread_set_count(threads);
        memset(s.parts, 0, sizeof s.parts);
        mxl_parallel_for(MOST, 100, add_up, &s);
        for (int i = 0; i < 1000; i++)
            sum += s.parts[i];
        if (threads == 1)
            first = sum;
        CHECK(sum == first);
    }
    mxl_thread_set_count(0);
}

/* Blocks change hands through a board; whoever takes one checks and frees it. */
enum { BOARD = 128, ROUNDS = 20000, TRADERS = 8 };

typedef struct parcel {
    size_t bytes;
    unsigned char fill;
} parcel;

static _Atomic(parcel *) board[BOARD];

static void check_and_free(parcel *p)
{
    const unsigned char *bytes = (const unsigned char *)p;

    if (p == NULL)
        return;
    for (size_t i = sizeof *p; i < p->bytes; i += 61)
        CHECK_INT(bytes[i], p->fill);
    mxl_free(p, p->bytes);
}

static void *trade(void *data)
{
    uint64_t seed = (uintptr_t)data;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t r = harness_random(&seed);
        size_t most = r % 256 == 0 ? 0x2FFFFF : r % 16 == 0 ? 0xFFFF : 0x7FF;
        size_t bytes = sizeof(parcel) + (size_t)(r >> 8 & 0xFFFFFF) % most;
        parcel *p = mxl_alloc(bytes);

        memset(p, (int)(r >> 24 & 255), bytes);
        p->bytes = bytes;
        p->fill = (unsigned char)(r >> 24 & 255);
        check_and_free(atomic_exchange(&board[r >> 40 & (BOARD - 1)], p));
        if (i % 5000 == 0)
            mxl_mem_trim();
        if (i % 1000 == 0)
            mxl_error("thread %d", (int)(uintptr_t)data);
    }
    CHECK_INT(atoi(mxl_error_text() + 7), (uintptr_t)data);
    return NULL;
}

TEST(blocks_go_from_thread_to_thread)
{
    pthread_t threads[TRADERS];

    for (int i = 0; i < TRADERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, trade, (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 0; i < 100; i++)
        CHECK(mxl_mem_kept_bytes() >= 0 && mxl_mem_live_bytes() > INT64_MIN / 2);
    for (int i = 0; i < TRADERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BOARD; i++)
        check_and_free(atomic_exchange(&board[i], NULL));
}

HARNESS_MAIN(ENTRY(small_work_starts_no_thread), ENTRY(every_index_comes_once),
             ENTRY(fine_work_is_shared_out_whole), ENTRY(each_worker_has_a_number_of_its_own),
             ENTRY(little_work_wakes_nobody), ENTRY(workers_sleep_when_nothing_comes),
             ENTRY(many_jobs), ENTRY(the_most_threads), ENTRY(thread_counts),
             ENTRY(ranges_run_at_the_same_time), ENTRY(nested_work_runs_alone),
             ENTRY(callers_on_many_threads),
             ENTRY(a_sum_by_grains_is_the_same_on_any_number_of_threads),
             ENTRY(blocks_go_from_thread_to_thread) ON_LINUX)
