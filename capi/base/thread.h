/* parallel_for: the only file that creates threads. A small pool is started by the
 * first large kernel, never at load. A caller that finds the pool busy runs its work by itself. A
 * forked child makes its own pool. */
#ifndef MXL_BASE_THREAD_H
#define MXL_BASE_THREAD_H

#include <stdint.h>

/* Called with a half-open range of the work. The ranges are disjoint and cover [0, count). */
typedef void (*mxl_range_fn)(void *data, int64_t begin, int64_t end);

/* Splits [0, count) into ranges of at least `grain` and runs them on as many threads as are set.
 * Range borders are multiples of `grain`; with the chunk of a reduction as `grain` they do not
 * depend on the number of threads. Returns when all ranges are done. Never fails: without threads
 * the caller does all the work. A call inside a range runs on that thread only. */
void mxl_parallel_for(int64_t count, int64_t grain, mxl_range_fn run, void *data);

/* The same for kernels of a few microseconds. Range borders are multiples of `unit`. One `unit` of
 * work is enough for a thread that spins; a sleeping thread is woken only for another `grain` of
 * work. */
void mxl_parallel_fine(int64_t count, int64_t unit, int64_t grain, mxl_range_fn run, void *data);

/* The same, but each thread takes the ranges of its own part from the last to the first. A kernel
 * that reads the same arrays again and again, in turns forwards and backwards, finds the last ones
 * in the thread's caches. */
void mxl_parallel_back(int64_t count, int64_t unit, int64_t grain, mxl_range_fn run, void *data);

/* mxl_parallel_for on at most `workers` threads, for kernels with a buffer for each: a range has
 * the one with the number that mxl_parallel_worker tells, in [0, workers). */
void mxl_parallel_workers(int64_t count, int64_t grain, int64_t workers, mxl_range_fn run,
                          void *data);
int64_t mxl_parallel_worker(void);

/* Sets the number of threads of later calls; n >= 1, clamped to 256. 0 restores the default
 * (MXLITE_NUM_THREADS, OMP_NUM_THREADS, else the processors that this process may use). Returns the
 * number before. */
int mxl_thread_set_count(int n);
int mxl_thread_count(void);

/* For state.c. Before a fork: waits until the threads that the pool has started run. (While one
 * starts it may hold a lock of an allocator that knows nothing of forks, as AddressSanitizer's.)
 * In the child: it has none of the pool's threads. */
void mxl_thread_fork_prepare(void);
void mxl_thread_fork_child(void);

#endif
