/* Forked children: locks, counts and the thread pool, after a fork of an idle and of a busy parent;
 * and a system that refuses more threads. */
#define _GNU_SOURCE 1 /* fork, setrlimit */
#include "harness.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/handle.h"
#include "base/memory/mem.h"
#include "base/thread.h"

static void release_nothing(mxl_ref *ref)
{
    (void)ref;
}

static void add_range(void *data, int64_t begin, int64_t end)
{
    atomic_fetch_add((_Atomic int64_t *)data, end - begin);
}

/* Some of everything; 0 where it went well, else which step did not. */
static int work(void)
{
    mxl_ref ref;
    uint64_t handle;
    int64_t live = mxl_mem_live_bytes(), handles = mxl_handle_live();
    _Atomic int64_t sum = 0;

    for (size_t bytes = 1; bytes < 5000000; bytes = bytes * 3 + 1) {
        void *block = mxl_alloc(bytes);

        if (block == NULL)
            return 1;
        memset(block, 1, bytes);
        mxl_free(block, bytes);
    }
    mxl_ref_init(&ref, release_nothing);
    handle = mxl_handle_new(MXL_KIND_ARRAY, &ref);
    if (mxl_handle_pin(MXL_KIND_ARRAY, handle) != &ref)
        return 2;
    mxl_handle_unpin(handle);
    if (mxl_handle_free(MXL_KIND_ARRAY, handle) != 0)
        return 3;
    for (int i = 0; i < 20; i++)
        mxl_parallel_for(1000, 1, add_range, &sum);
    if (atomic_load(&sum) != 20000)
        return 4;
    mxl_mem_trim();
    if (mxl_mem_live_bytes() != live || mxl_handle_live() != handles)
        return 5;
    return 0;
}

static int threads_of_this_process(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2;
}

/* Runs `body` in a child; its result, or -1 where the child died (after 30 s by its alarm). */
static int in_child(int (*body)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        alarm(30);
        _exit(body());
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static int work_and_fork_again(void)
{
    int result = work();

    return result != 0 ? result : in_child(work);
}

static const char *wishes[2]; /* of MXLITE_NUM_THREADS and OMP_NUM_THREADS, NULL: none */

static int count_by_wish(void)
{
    static const char *const names[] = {"MXLITE_NUM_THREADS", "OMP_NUM_THREADS"};

    for (int i = 0; i < 2; i++)
        if ((wishes[i] != NULL ? setenv(names[i], wishes[i], 1) : unsetenv(names[i])) != 0)
            return 255;
    return mxl_thread_count();
}

/* First of all tests: the number is read once. */
TEST(the_environment_says_how_many_threads)
{
    static const struct {
        const char *wishes[2];
        int count; /* 0: one for each processor */
    } rows[] = {{{NULL, "3"}, 3},      {{"0", "3"}, 3},   {{"-1", "3"}, 3},
                {{"2", "3"}, 2},       {{"1", NULL}, 1},  {{"5,2", "3"}, 5},
                {{"many", "none"}, 0}, {{NULL, NULL}, 0}, {{"5x", " 3 , 2"}, 3}};
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);

#if defined(__linux__)
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        processors = CPU_COUNT(&set);
#endif
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(wishes, rows[i].wishes, sizeof wishes);
        CHECK_INT(in_child(count_by_wish), rows[i].count > 0 ? rows[i].count : processors);
    }
}

TEST(a_child_works_like_its_parent)
{
    mxl_thread_set_count(4);
    CHECK_INT(work(), 0);
    CHECK_INT(in_child(work), 0);
    CHECK_INT(in_child(work_and_fork_again), 0);
    CHECK_INT(work(), 0);
    mxl_thread_set_count(0);
}

static int count_pool(void)
{
    int before = threads_of_this_process();
    _Atomic int64_t sum = 0;

    if (before < 0)
        return 0; /* no /proc: not Linux */
    if (before != 1)
        return 10;
    mxl_parallel_for(1000, 1, add_range, &sum);
    return threads_of_this_process() == 4 ? 0 : 11;
}

TEST(a_child_makes_a_pool_of_its_own_when_it_needs_one)
{
    mxl_thread_set_count(4);
    CHECK_INT(work(), 0);
    CHECK_INT(in_child(count_pool), 0);
    mxl_thread_set_count(0);
}

static atomic_bool may_end;

static void until_told(void *began, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    atomic_store((atomic_bool *)began, true);
    while (!atomic_load(&may_end))
        sched_yield();
}

static void *hold_the_pool(void *began)
{
    mxl_parallel_for(2, 1, until_told, began);
    return NULL;
}

/* While another thread's job ran the pool was that thread's; the child, where it is not, has one.
 */
TEST(a_child_of_a_busy_pool_makes_one_of_its_own)
{
    atomic_bool began = false;
    pthread_t holder;

    mxl_thread_set_count(4);
    atomic_store(&may_end, false);
    REQUIRE(pthread_create(&holder, NULL, hold_the_pool, &began) == 0);
    while (!atomic_load(&began))
        sched_yield();
    CHECK_INT(in_child(count_pool), 0);
    atomic_store(&may_end, true);
    pthread_join(holder, NULL);
    mxl_thread_set_count(0);
}

/* What follows is too much for a sanitizer's runtime: its own allocator's locks are not taken over
 * a fork, and its own mappings fail with ours. */
#if !defined(MXL_SANITIZER)
static atomic_bool stop;

static void *busy(void *failed)
{
    while (!atomic_load(&stop)) {
        mxl_ref ref;
        void *blocks[200];
        _Atomic int64_t sum = 0;

        for (size_t i = 0; i < 200; i++)
            blocks[i] = mxl_alloc(100 * i);
        for (size_t i = 0; i < 200; i++)
            mxl_free(blocks[i], 100 * i);
        mxl_mem_trim();
        mxl_ref_init(&ref, release_nothing);
        if (mxl_handle_free(MXL_KIND_ARRAY, mxl_handle_new(MXL_KIND_ARRAY, &ref)) != 0)
            atomic_store((atomic_bool *)failed, true);
        mxl_parallel_for(1000, 1, add_range, &sum);
        if (atomic_load(&sum) != 1000)
            atomic_store((atomic_bool *)failed, true);
    }
    return NULL;
}

TEST(a_child_of_a_busy_parent_works)
{
    pthread_t threads[3];
    atomic_bool failed = false;

    mxl_thread_set_count(3);
    atomic_store(&stop, false);
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, busy, &failed) == 0);
    for (int i = 0; i < 40; i++)
        CHECK_INT(in_child(work), 0);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(!atomic_load(&failed));
    mxl_thread_set_count(0);
}

static int work_without_threads(void)
{
    struct rlimit before, none;
    _Atomic int64_t sum = 0;
    int threads;

    if (getrlimit(RLIMIT_AS, &before) != 0)
        return 20;
    none = before;
    none.rlim_cur = 1 << 20;
    if (setrlimit(RLIMIT_AS, &none) != 0)
        return 20;
    mxl_thread_set_count(200);
    for (int i = 0; i < 3; i++)
        mxl_parallel_for(100000, 1, add_range, &sum);
    if (atomic_load(&sum) != 300000)
        return 21;
    if (setrlimit(RLIMIT_AS, &before) != 0) /* counting needs memory */
        return 20;
    threads = threads_of_this_process();
    return threads > 0 && threads < 200 ? 0 : 22;
}

TEST(a_system_without_threads_to_give)
{
    CHECK_INT(in_child(work_without_threads), 0);
}
#define HARSHER , ENTRY(a_child_of_a_busy_parent_works), ENTRY(a_system_without_threads_to_give)
#else
#define HARSHER
#endif

HARNESS_MAIN(ENTRY(the_environment_says_how_many_threads), ENTRY(a_child_works_like_its_parent),
             ENTRY(a_child_makes_a_pool_of_its_own_when_it_needs_one),
             ENTRY(a_child_of_a_busy_pool_makes_one_of_its_own) HARSHER)
