/* Reading, writing and adding by index, see scatter.h: one walk over the indices for all three. */
#include "kernel/index/scatter.h"

#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/elementwise/strided_walk.h"

enum { GRAIN = 1 << 15 }; /* indices that are worth another thread */

/* The operands of a walk over the indices. */
enum { INDEX, SOURCE, ARRAY, OPERANDS };

/* One thread's part of a walk: its sizes, the position of a row, and the row's offsets. */
typedef struct part {
    int64_t shape[MXL_MAX_NDIM], at[MXL_MAX_NDIM], offset[OPERANDS];
} part;

typedef struct scatter_job scatter_job;

typedef void (*scatter_loop)(const scatter_job *job, part *p);

struct scatter_job {
    mxl_walk walk;
    int split;     /* the dimension that threads share */
    int64_t along; /* the array's stride along the axis */
    const int64_t *index;
    const void *in;
    void *out;
    scatter_loop loop;
};

static bool next_row(const mxl_walk *walk, part *p)
{
    for (int i = walk->ndim - 2; i >= 0; i--) {
        bool within = ++p->at[i] < p->shape[i];

        for (int k = 0; k < OPERANDS; k++)
            p->offset[k] += walk->stride[k][i] * (within ? 1 : 1 - p->shape[i]);
        if (within)
            return true;
        p->at[i] = 0;
    }
    return false;
}

static void run_part(void *data, int64_t begin, int64_t end)
{
    const scatter_job *job = data;
    part p;

    for (int i = 0; i < job->walk.ndim; i++) {
        p.shape[i] = job->walk.shape[i];
        p.at[i] = 0;
    }
    p.shape[job->split] = end - begin;
    for (int k = 0; k < OPERANDS; k++)
        p.offset[k] = begin * job->walk.stride[k][job->split];
    job->loop(job, &p);
}

/* Threads share the largest dimension but the axis: no two of them have indices of one element, and
 * each works in the order of the indices. */
static void run(scatter_loop loop, const mxl_scatter *at, const void *in, void *out)
{
    int64_t index_strides[MXL_MAX_NDIM], strides[MXL_MAX_NDIM], units = 1;
    scatter_job job;

    mxl_shape_strides(at->ndim, at->shape, index_strides);
    memcpy(strides, at->strides, (size_t)at->ndim * sizeof(*strides));
    job.loop = loop;
    job.along = 1;
    if (at->axis >= 0) {
        job.along = strides[at->axis];
        strides[at->axis] = 0;
    }
    job.index = at->index;
    job.in = in;
    job.out = out;
    mxl_walk_init(&job.walk, OPERANDS, at->ndim, at->shape,
                  (const int64_t *[]){at->index_strides != NULL ? at->index_strides : index_strides,
                                      at->source_strides, strides});
    job.split = 0;
    for (int i = 0; i < job.walk.ndim; i++) {
        if (job.walk.stride[ARRAY][i] != 0 && job.walk.shape[i] > units) {
            job.split = i;
            units = job.walk.shape[i];
        }
    }
    if (job.walk.size == 0)
        return;
    if (units == 1)
        run_part(&job, 0, job.walk.shape[0]);
    else
        mxl_parallel_for(units, 1 + GRAIN / (job.walk.size / units), run_part, &job);
}

/* The loop `name`: runs `statement` for each index, from x[near] or x[far] to z[far] or z[near];
 * near is an element of the source, far one of the array. */
#define EACH_INDEX(name, T, statement)                                                             \
    static void name(const scatter_job *job, part *p)                                              \
    {                                                                                              \
        const mxl_walk *walk = &job->walk;                                                         \
        const int last = walk->ndim - 1;                                                           \
        const int64_t n = p->shape[last], step = walk->stride[SOURCE][last];                       \
        const int64_t along = job->along, across = walk->stride[ARRAY][last];                      \
        const int64_t pick = walk->stride[INDEX][last];                                            \
        const T *x = job->in;                                                                      \
        T *z = job->out;                                                                           \
                                                                                                   \
        do {                                                                                       \
            const int64_t *index = job->index + p->offset[INDEX];                                  \
            const int64_t begin = p->offset[ARRAY] + index[0] * along;                             \
                                                                                                   \
            for (int64_t j = 0; j < n && pick == 0; j++) {                                         \
                const int64_t near = p->offset[SOURCE] + j * step, far = begin + j * across;       \
                                                                                                   \
                statement;                                                                         \
            }                                                                                      \
            for (int64_t j = 0; j < n && pick != 0; j++) {                                         \
                const int64_t near = p->offset[SOURCE] + j * step;                                 \
                const int64_t far = p->offset[ARRAY] + index[j * pick] * along + j * across;       \
                                                                                                   \
                statement;                                                                         \
            }                                                                                      \
        } while (next_row(walk, p));                                                               \
    }

EACH_INDEX(read_8, uint8_t, z[near] = x[far])
EACH_INDEX(read_16, uint16_t, z[near] = x[far])
EACH_INDEX(read_32, uint32_t, z[near] = x[far])
EACH_INDEX(read_64, uint64_t, z[near] = x[far])

void mxl_scatter_read(size_t width, const mxl_scatter *at, const void *array, void *source)
{
    run(width == 4   ? read_32
        : width == 8 ? read_64
        : width == 2 ? read_16
                     : read_8,
        at, array, source);
}

EACH_INDEX(write_8, uint8_t, z[far] = x[near])
EACH_INDEX(write_16, uint16_t, z[far] = x[near])
EACH_INDEX(write_32, uint32_t, z[far] = x[near])
EACH_INDEX(write_64, uint64_t, z[far] = x[near])

void mxl_scatter_write(size_t width, const mxl_scatter *at, void *array, const void *source)
{
    run(width == 4   ? write_32
        : width == 8 ? write_64
        : width == 2 ? write_16
                     : write_8,
        at, source, array);
}

#define SUM_HALF mxl_half_from_float(mxl_half_to_float(z[far]) + mxl_half_to_float(x[near]))

EACH_INDEX(sum_f32, float, z[far] += x[near])
EACH_INDEX(sum_f64, double, z[far] += x[near])
EACH_INDEX(sum_f16, mxl_half, z[far] = SUM_HALF)
EACH_INDEX(sum_bool, uint8_t, z[far] |= x[near])
EACH_INDEX(sum_8, uint8_t, z[far] = (uint8_t)(z[far] + x[near]))
EACH_INDEX(sum_32, uint32_t, z[far] += x[near])
EACH_INDEX(sum_64, uint64_t, z[far] += x[near])

void mxl_scatter_sum(int dtype, const mxl_scatter *at, void *array, const void *source)
{
    static const scatter_loop loops[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = sum_f32, [MXL_F64] = sum_f64, [MXL_F16] = sum_f16, [MXL_U8] = sum_8,
        [MXL_I8] = sum_8,    [MXL_I32] = sum_32,  [MXL_I64] = sum_64,  [MXL_BOOL] = sum_bool,
    };

    run(loops[dtype], at, source, array);
}
