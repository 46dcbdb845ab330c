/* The generator state of the process: which part of the seed's number sequence each random operator
 * gets. A counter-based generator (Philox) turns (seed, position) into numbers, so that they do not
 * depend on the number of threads. Called by random operators and by api_random. */
#ifndef MXL_ENGINE_RUN_GENERATOR_H
#define MXL_ENGINE_RUN_GENERATOR_H

#include <stdint.h>

#include "kernel/random/rng.h"

/* Positions [offset, offset + count) of the sequence that belongs to `seed`. */
typedef struct mxl_random_range {
    uint64_t seed;
    uint64_t offset;
} mxl_random_range;

/* Takes the next `count` positions (counter values of the generator); no two calls get the same,
 * but where the seed is set between them. Any thread; never fails. */
mxl_random_range mxl_random_next(uint64_t count);

/* A stream of numbers that no other fill gets. */
mxl_rng mxl_random_stream(void);

/* Begins the sequence of `seed` at its start. The process begins with seed 0. */
void mxl_random_seed(uint64_t seed);
/* How often that has happened: who keeps generators of its own seeds them again. */
uint64_t mxl_random_seedings(void);

/* The state of the process's sequence: seed and positions used. */
void mxl_random_get(uint64_t state[2]);
void mxl_random_set(const uint64_t state[2]);

#endif
