/* parallel_for over a pool of pthreads that sleep on a condition variable between jobs. */
#define _GNU_SOURCE 1 /* sched_getaffinity, sigset_t */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/state.h"

enum {
    MAX_THREADS = 256,
    PIECES = 4, /* ranges per thread, so that a late thread does not hold up the others */
    SPINS = 200 /* looks before sleeping, some microseconds in all */
};

typedef struct split_work {
    mxl_range_fn run;
    void *data;
    int64_t count;
    int64_t piece;
    int64_t pieces;
    _Atomic int64_t next;
} split_work;

static struct {
    pthread_mutex_t owner; /* held by the caller whose job runs */
    pthread_mutex_t lock;  /* of what follows */
    pthread_cond_t wake;
    pthread_cond_t done;
    split_work *job;
    int wanted;         /* workers that may still join the job */
    int started;        /* threads of the pool */
    atomic_int number;  /* of the job; workers look at it while they spin */
    atomic_int working; /* workers in the job */
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static atomic_int set_count; /* 0: the default */
static atomic_int default_count;
static _Thread_local bool inside MXL_TLS_FAST; /* of a range */

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void work(split_work *job)
{
    for (;;) {
        int64_t i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        int64_t begin;

        if (i >= job->pieces)
            return;
        begin = i * job->piece;
        job->run(job->data, begin,
                 job->count - begin < job->piece ? job->count : begin + job->piece);
    }
}

/* Waits for a job later than `seen`; the lock is held before and after. */
static void held_await_job(int seen)
{
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool.number, memory_order_relaxed) != seen)
            break;
        pause_briefly();
    }
    pthread_mutex_lock(&pool.lock);
    while (atomic_load_explicit(&pool.number, memory_order_relaxed) == seen)
        pthread_cond_wait(&pool.wake, &pool.lock);
}

static void *worker(void *unused)
{
    int seen = 0;

    (void)unused;
    inside = true;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        held_await_job(seen);
        seen = atomic_load_explicit(&pool.number, memory_order_relaxed);
        if (pool.wanted > 0) {
            split_work *job = pool.job;

            pool.wanted--;
            atomic_fetch_add_explicit(&pool.working, 1, memory_order_relaxed);
            pthread_mutex_unlock(&pool.lock);
            work(job);
            pthread_mutex_lock(&pool.lock);
            if (atomic_fetch_sub_explicit(&pool.working, 1, memory_order_release) == 1)
                pthread_cond_signal(&pool.done);
        }
    }
    return NULL;
}

/* Brings the pool to `count` threads, or as many as the system gives. Called with the lock held. */
static void held_start(int count)
{
    sigset_t every, before;

    if (pool.started >= count)
        return;
    /* Signals are for the threads of the program. */
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    while (pool.started < count) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, worker, NULL) != 0)
            break;
        pthread_detach(thread);
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void run_on_pool(split_work *job, int helpers)
{
    pthread_mutex_lock(&pool.lock);
    held_start(helpers);
    pool.job = job;
    pool.wanted = helpers < pool.started ? helpers : pool.started;
    atomic_fetch_add_explicit(&pool.number, 1, memory_order_relaxed);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);

    inside = true;
    work(job);
    inside = false;

    /* A worker that was late finds nothing left to do: it must not join. */
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool.working, memory_order_acquire) == 0)
            break;
        pause_briefly();
    }
    pthread_mutex_lock(&pool.lock);
    pool.wanted = 0;
    while (atomic_load_explicit(&pool.working, memory_order_acquire) != 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pool.job = NULL;
    pthread_mutex_unlock(&pool.lock);
}

void mxl_parallel_for(int64_t count, int64_t grain, mxl_range_fn run, void *data)
{
    int64_t units, threads;
    split_work job;

    if (count <= 0)
        return;
    if (grain < 1)
        grain = 1;
    units = (count - 1) / grain + 1;
    if (units == 1 || inside || (threads = mxl_thread_count()) == 1 ||
        pthread_mutex_trylock(&pool.owner) != 0) {
        run(data, 0, count);
        return;
    }
    if (threads > units)
        threads = units;
    job.run = run;
    job.data = data;
    job.count = count;
    job.piece = ((units - 1) / (threads * PIECES) + 1) * grain;
    job.pieces = (count - 1) / job.piece + 1;
    atomic_init(&job.next, 0);
    run_on_pool(&job, (int)threads - 1);
    pthread_mutex_unlock(&pool.owner);
}

static int clamp(long n)
{
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}

/* The number an environment variable begins with ("4", "4,2"), or 0. */
static long number_in(const char *variable)
{
    const char *text = getenv(variable);

    return text != NULL ? strtol(text, NULL, 10) : 0;
}

static int find_default(void)
{
    long n = number_in("MXLITE_NUM_THREADS");

    if (n < 1)
        n = number_in("OMP_NUM_THREADS");
#if defined(__linux__)
    if (n < 1) {
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof set, &set) == 0)
            n = CPU_COUNT(&set);
    }
#endif
    if (n < 1)
        n = sysconf(_SC_NPROCESSORS_ONLN);
    return clamp(n);
}

int mxl_thread_count(void)
{
    int n = atomic_load_explicit(&set_count, memory_order_relaxed);

    if (n == 0)
        n = atomic_load_explicit(&default_count, memory_order_relaxed);
    if (n == 0) {
        n = find_default();
        atomic_store_explicit(&default_count, n, memory_order_relaxed);
    }
    return n;
}

int mxl_thread_set_count(int n)
{
    int before = mxl_thread_count();

    atomic_store_explicit(&set_count, n <= 0 ? 0 : clamp(n), memory_order_relaxed);
    return before;
}

void mxl_thread_fork_child(void)
{
    /* Whoever held these locks does not exist here. */
    pool.owner = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.job = NULL;
    pool.wanted = 0;
    pool.started = 0;
    atomic_store(&pool.number, 0);
    atomic_store(&pool.working, 0);
}
