/* Correlations of float32 (and float16, which is computed so) and of float64. */
#include "kernel/conv/correlate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/conv_form.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/conv/conv_store.h"
#include "kernel/conv/depthwise.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/target.h"

/* Measured on a Sapphire Rapids with 48 KiB, 2 MiB and 260 MiB of cache. */
enum {
    DEPTH = 1280,             /* products that one pass over the output adds to an element */
    CHUNK_BYTES = 16 << 20,   /* planes and panels that are made at a time */
    WEIGHT_BYTES = 512 << 10, /* weights that stay in the second cache while positions pass by */
    UNIT_STRIPS = 32,         /* most strips of a unit of work */
    LINE_BYTES = 64,
    UNITS = 8,           /* units for each thread, */
    LEAST_TALL = 4,      /* of at least so many tallest tiles where strips are few */
    UNIT_WORK = 1 << 17, /* multiplications that are worth a thread */
    WIDEST = MXL_CONV_LINE * MXL_CONV_LANES
};

/* Consecutive elements of a strip that are consecutive in the output, or `apart`. */
typedef struct run {
    int64_t at, from, n;
} run;

/* Joins runs, whose elements are neighbours in the output, where one goes on at the end of the one
 * before. Returns their number. */
static int join_runs(run *runs, int count)
{
    int joined = 0;

    for (int i = 0; i < count; i++) {
        run *last = joined > 0 ? &runs[joined - 1] : NULL;

        if (last != NULL && last->at + last->n == runs[i].at &&
            last->from + last->n == runs[i].from)
            last->n += runs[i].n;
        else
            runs[joined++] = runs[i];
    }
    return joined;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Vectors are divided into strips of the widths for which there are tiles: strip number s has the
 * returned number of vectors from *first on, 0 if there is no such strip. `line`: there is one row,
 * whose tile is wider. One vector alone would leave the units for multiplication waiting, so 4 are
 * 2 and 2. */
static int64_t strip_at(int64_t vectors, bool line, int64_t s, int64_t *first)
{
    int64_t lines = line ? vectors / MXL_CONV_LINE : 0, threes;

    if (s < lines) {
        *first = s * MXL_CONV_LINE;
        return MXL_CONV_LINE;
    }
    *first = lines * MXL_CONV_LINE;
    vectors -= *first;
    s -= lines;
    threes = vectors % 3 == 1 && vectors > 1 ? vectors / 3 - 1 : vectors / 3;
    if (s < threes) {
        *first += 3 * s;
        return 3;
    }
    *first += 3 * threes;
    vectors -= 3 * threes;
    s -= threes;
    if (vectors == 4) {
        *first += 2 * s;
        return s < 2 ? 2 : 0;
    }
    return s == 0 ? vectors : 0;
}

static int64_t strip_count(int64_t vectors, bool line)
{
    int64_t lines = line ? vectors / MXL_CONV_LINE : 0, rest = vectors - lines * MXL_CONV_LINE;

    return lines + (rest + 2) / 3;
}

static bool has_end(const mxl_correlation *c)
{
    return c->bias != NULL || c->tail != NULL;
}

/* The end of the tiles that store to the output, without rows' bias and what is added there. */
static mxl_conv_end ends_of(const mxl_correlation *c)
{
    return (mxl_conv_end){.low = c->tail != NULL ? (float)c->tail->low : -INFINITY,
                          .high = c->tail != NULL ? (float)c->tail->high : INFINITY};
}

#define NAME(x) f32_##x
#define T       float
#define MICRO   mxl_conv_micro_f32
#define STORE   mxl_conv_store_f32
#include "kernel/conv/correlate.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define MICRO   mxl_conv_micro_f64
#define STORE   mxl_conv_store_f64
#include "kernel/conv/correlate.tmpl.h"

int mxl_correlate(const mxl_correlation *c)
{
    if (c->batch * c->groups * c->out * c->dst_size[0] * c->dst_size[1] * c->dst_size[2] == 0)
        return 0;
    if (mxl_depthwise_fits(c))
        return mxl_depthwise(c);
    return c->planes.dtype == MXL_F64 ? f64_correlate(c) : f32_correlate(c);
}
