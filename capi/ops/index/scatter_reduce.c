/* _mxl_scatter_reduce: elements along one axis of an array, multiplied with, or replaced by the
 * larger or smaller of, elements of a source, at indices as those of _mxl_scatter. Its derivatives
 * are the front end's (mxlite/torch/_shape/putting.py). */
#include <stddef.h>

#include "base/half.h"
#include "kernel/copy/strided_copy.h"
#include "ops/build.h"

enum { PRODUCT, LARGEST, SMALLEST };

static const char *const reductions[] = {"prod", "amax", "amin", NULL};

typedef struct reduce_params {
    int64_t axis;
    int reduce, include_self;
} reduce_params;

static int reduce_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *indices = infer->in[1], *source = infer->in[2];
    int axis = mxl_shape_axis(((const reduce_params *)infer->params)->axis, x->ndim);
    bool fits = indices->ndim == x->ndim && source->ndim == x->ndim;

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    for (int i = 0; fits && i < x->ndim; i++)
        fits = indices->shape[i] <= source->shape[i] &&
               (i == axis || indices->shape[i] <= x->shape[i]);
    if (!fits)
        return mxl_error("%s: indices of shape %s do not fit arrays of shapes %s and %s",
                         infer->op->name, MXL_SHAPE_OF(indices), MXL_SHAPE_OF(x),
                         MXL_SHAPE_OF(source));
    if (indices->dtype != MXL_I64)
        return mxl_error("%s: indices must be int64, got %s", infer->op->name,
                         mxl_dtype_name(indices->dtype));
    return mxl_check_dtypes(infer->op, x, source) != 0 ? -1 : mxl_infer_like_first(infer);
}

/* A walk over the indices: each one's offset in the array and in the source. */
typedef struct walk {
    const mxl_array *x, *indices, *source;
    const int64_t *index;
    int axis;
    int64_t at[MXL_MAX_NDIM], place;
} walk;

static void walk_offsets(const walk *w, int64_t *to, int64_t *from)
{
    *to = *from = 0;
    for (int i = 0; i < w->x->ndim; i++) {
        *to += (i == w->axis ? w->index[w->place] : w->at[i]) * w->x->strides[i];
        *from += w->at[i] * w->source->strides[i];
    }
}

static bool walk_next(walk *w)
{
    if (++w->place == w->indices->size)
        return false;
    for (int i = w->x->ndim - 1; i >= 0; i--) {
        if (++w->at[i] < w->indices->shape[i])
            break;
        w->at[i] = 0;
    }
    return true;
}

/* The loop of a dtype, computed as type C: products wrap as U does. First the number that changes
 * nothing, where elements do not count themselves. */
#define REDUCE(name, T, C, U, LOAD, STORE, LEAST, MOST)                                            \
    static void reduce_##name(walk *w, int reduce, bool include_self, void *out)                   \
    {                                                                                              \
        const T *source = mxl_array_read(w->source);                                               \
        T *z = out;                                                                                \
        const C start = reduce == PRODUCT ? (C)1 : reduce == LARGEST ? (C)(LEAST) : (C)(MOST);     \
        walk again = *w;                                                                           \
        int64_t to, from;                                                                          \
                                                                                                   \
        do {                                                                                       \
            walk_offsets(&again, &to, &from);                                                      \
            if (!include_self)                                                                     \
                z[to] = STORE(start);                                                              \
        } while (walk_next(&again));                                                               \
        do {                                                                                       \
            C a, b;                                                                                \
                                                                                                   \
            walk_offsets(w, &to, &from);                                                           \
            a = LOAD(z[to]);                                                                       \
            b = LOAD(source[from]);                                                                \
            if (reduce == PRODUCT)                                                                 \
                a = (C)((U)a * (U)b);                                                              \
            else if (b != b || (reduce == LARGEST ? b > a : b < a))                                \
                a = b;                                                                             \
            z[to] = STORE(a);                                                                      \
        } while (walk_next(w));                                                                    \
    }

#define PLAIN(x) (x)
REDUCE(f32, float, float, float, PLAIN, PLAIN, -HUGE_VALF, HUGE_VALF)
REDUCE(f64, double, double, double, PLAIN, PLAIN, -HUGE_VAL, HUGE_VAL)
REDUCE(f16, mxl_half, float, float, mxl_half_to_float, mxl_half_from_float, -HUGE_VALF, HUGE_VALF)
REDUCE(u8, uint8_t, uint8_t, unsigned, PLAIN, PLAIN, 0, UINT8_MAX)
REDUCE(i8, int8_t, int8_t, unsigned, PLAIN, PLAIN, INT8_MIN, INT8_MAX)
REDUCE(i32, int32_t, int32_t, uint32_t, PLAIN, PLAIN, INT32_MIN, INT32_MAX)
REDUCE(i64, int64_t, int64_t, uint64_t, PLAIN, PLAIN, INT64_MIN, INT64_MAX)
REDUCE(bool, uint8_t, uint8_t, unsigned, PLAIN, PLAIN, 0, 1)

static int reduce_compute(const mxl_call *call)
{
    static void (*const loops[MXL_DTYPE_LOOPS])(walk *, int, bool, void *) = {
        [MXL_F32] = reduce_f32, [MXL_F64] = reduce_f64,   [MXL_F16] = reduce_f16,
        [MXL_U8] = reduce_u8,   [MXL_I8] = reduce_i8,     [MXL_I32] = reduce_i32,
        [MXL_I64] = reduce_i64, [MXL_BOOL] = reduce_bool,
    };
    const reduce_params *p = call->params;
    const mxl_array *x = call->in[0], *indices = call->in[1];
    void *out = mxl_array_write(call->out[0]);
    walk w = {.x = x, .indices = indices, .source = call->in[2]};

    w.axis = mxl_shape_axis(p->axis, x->ndim);
    w.index = mxl_array_read(indices);
    for (int64_t i = 0; i < indices->size; i++)
        if (w.index[i] < 0 || w.index[i] >= x->shape[w.axis])
            return mxl_error("%s: index %lld is not in an axis of %lld", call->op->name,
                             (long long)w.index[i], (long long)x->shape[w.axis]);
    mxl_copy_bytes(out, mxl_array_read(x), (size_t)x->size * mxl_dtype_size(x->dtype));
    if (indices->size > 0)
        loops[x->dtype](&w, p->reduce, p->include_self, out);
    return 0;
}

static const mxl_op op_scatter_reduce = {
    .name = "_mxl_scatter_reduce",
    .doc = "data, whose elements at the indices along an axis are reduced with those of source: "
           "their product, the largest or the smallest; of numbers and NaN a NaN.",
    MXL_INPUTS(MXL_INPUT(data, "The array to write into."),
               MXL_INPUT(indices, "int64 positions along the axis."),
               MXL_INPUT(source, "The elements: at least as many along each axis as there are "
                                 "indices.")),
    MXL_PARAMS_OF(reduce_params,
                  MXL_PARAM(reduce_params, axis, MXL_P_INT, MXL_REQUIRED,
                            "The axis, counted from either end."),
                  MXL_PARAM(reduce_params, reduce, MXL_P_ENUM, MXL_REQUIRED,
                            "What is made of several elements.", .values = reductions),
                  MXL_PARAM(reduce_params, include_self, MXL_P_BOOL, "1",
                            "Whether the elements of data count too where there are others.")),
    .infer = reduce_infer,
    .dtypes = "AlA>A",
    .compute = reduce_compute,
    .along = true,
};

const mxl_op *const mxl_ops_scatter_reduce[] = {&op_scatter_reduce, NULL};
