/* The process's seed and how far its sequence has been used; see random.h. */
#include "engine/run/generator.h"

#include <stdatomic.h>

/* No lock, which a fork could leave locked: a thread that draws while another seeds may get numbers
 * of either sequence, as it might with a lock. */
static _Atomic uint64_t current_seed;
static _Atomic uint64_t used;
static _Atomic uint64_t seedings;

mxl_random_range mxl_random_next(uint64_t count)
{
    mxl_random_range range;

    range.seed = atomic_load_explicit(&current_seed, memory_order_acquire);
    range.offset = atomic_fetch_add_explicit(&used, count, memory_order_relaxed);
    return range;
}

mxl_rng mxl_random_stream(void)
{
    mxl_random_range range = mxl_random_next(1);

    return (mxl_rng){.seed = range.seed, .stream = range.offset};
}

void mxl_random_seed(uint64_t seed)
{
    atomic_store_explicit(&used, 0, memory_order_relaxed);
    atomic_store_explicit(&current_seed, seed, memory_order_release);
    atomic_fetch_add_explicit(&seedings, 1, memory_order_release);
}

uint64_t mxl_random_seedings(void)
{
    return atomic_load_explicit(&seedings, memory_order_acquire);
}

void mxl_random_get(uint64_t state[2])
{
    state[0] = atomic_load_explicit(&current_seed, memory_order_acquire);
    state[1] = atomic_load_explicit(&used, memory_order_relaxed);
}

void mxl_random_set(const uint64_t state[2])
{
    atomic_store_explicit(&used, state[1], memory_order_relaxed);
    atomic_store_explicit(&current_seed, state[0], memory_order_release);
}
