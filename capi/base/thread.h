/* parallel_for: the only place that knows threads. A small pool of pthreads, started by the first
 * large kernel and never at load; a caller that finds it busy runs alone; a forked child makes a
 * pool of its own. */
#ifndef MXL_BASE_THREAD_H
#define MXL_BASE_THREAD_H

#include <stdint.h>

/* Called with a half-open range of the work; ranges are disjoint and cover [0, count). */
typedef void (*mxl_range_fn)(void *data, int64_t begin, int64_t end);

/* Splits [0, count) into ranges of at least `grain` and runs them, on as many threads as are set.
 * Range borders are multiples of `grain`, so they do not depend on the number of threads when
 * `grain` is the unit of a reduction. Returns when all are done. Never fails: without threads the
 * caller does all the work. Not nested: inside a range it runs alone. */
void mxl_parallel_for(int64_t count, int64_t grain, mxl_range_fn run, void *data);

/* The same in ranges whose borders are multiples of `unit`, which is worth a thread that is awake:
 * one that sleeps is woken only for `grain` more. For kernels of some microseconds. */
void mxl_parallel_fine(int64_t count, int64_t unit, int64_t grain, mxl_range_fn run, void *data);

/* Threads used by later calls; n >= 1, clamped to 256. 0: back to the default (MXLITE_NUM_THREADS,
 * OMP_NUM_THREADS, else the processors this process may use). Returns the number in force before.
 */
int mxl_thread_set_count(int n);
int mxl_thread_count(void);

/* For state.c: a forked child has none of the pool's threads. */
void mxl_thread_fork_child(void);

#endif
