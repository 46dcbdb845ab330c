/* Reductions over axes: sum, mean, max, min, prod, nansum, nanprod; argmax, argmin. A result
 * without dimensions gets shape (1,), as in 1.9.1 (with PyTorch's front end: ()). */
#include "kernel/sparse/csr_parts.h"
#include "ops/reduce/reduce_ops.h"
#include "ops/sparse/forms.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "array/batch/batched.h"
#include "array/copy.h"
#include "array/expression.h"
#include "kernel/reduce/argmax.h"
#include "kernel/reduce/reduce.h"
#include "ops/elementwise/elementwise.h"

/* ---- which axes ---- */

int mxl_reduce_axes(const char *name, const mxl_reduce_params *p, int ndim, bool *reduced)
{
    bool named = p->axis.n > 0;

    for (int i = 0; i < ndim; i++)
        reduced[i] = !named || p->exclude;
    if (!named)
        return 0;
    for (int i = 0; i < p->axis.n; i++) {
        int64_t axis = p->axis.v[i] < 0 ? p->axis.v[i] + ndim : p->axis.v[i];

        if (axis < 0 || axis >= ndim)
            return mxl_error("%s: axis %lld is out of range for an array of %d axes", name,
                             (long long)p->axis.v[i], ndim);
        if (reduced[axis] != (bool)p->exclude)
            return mxl_error("%s: axis %lld is named twice", name, (long long)p->axis.v[i]);
        reduced[axis] = !p->exclude;
    }
    return 0;
}

/* The shape of the result: reduced dimensions have size 1, or are removed. */
static void reduced_shape(int ndim, const int64_t *shape, const bool *reduced, bool keepdims,
                          bool scalars, mxl_shape *out)
{
    int n = 0;

    for (int i = 0; i < ndim; i++) {
        if (!reduced[i])
            out->dim[n++] = shape[i];
        else if (keepdims)
            out->dim[n++] = 1;
    }
    if (n == 0 && !keepdims && !scalars)
        out->dim[n++] = 1;
    out->ndim = n;
}

int mxl_reduce_infer(mxl_infer *infer)
{
    const mxl_reduce_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    bool reduced[MXL_MAX_NDIM];

    if (mxl_reduce_axes(infer->op->name, p, x->ndim, reduced) != 0)
        return -1;
    reduced_shape(x->ndim, x->shape, reduced, p->keepdims, infer->scalars, &infer->out_shape[0]);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

int mxl_reduce_call(const mxl_call *call, mxl_reduction kind)
{
    mxl_array *x = call->in[0];
    bool reduced[MXL_MAX_NDIM];

    if (mxl_reduce_axes(call->op->name, call->params, x->ndim, reduced) != 0)
        return -1;
    if (mxl_defers(x->size) && mxl_defer_reduction(kind, call->op->name, x, reduced, call->out[0]))
        return 0;
    return mxl_reduce(kind, x->dtype, x->ndim, x->shape, x->strides, reduced, mxl_array_read(x),
                      mxl_array_write(call->out[0]));
}

/* ---- for vjps ---- */

double mxl_reduce_count(const mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *y = mxl_grad_out_meta(g, 0);

    return (double)mxl_shape_size(x->ndim, x->shape) / (double)mxl_shape_size(y->ndim, y->shape);
}

mxl_array *mxl_reduce_back(mxl_grad *g, mxl_array *y)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    bool reduced[MXL_MAX_NDIM];
    mxl_shape shape;

    if (mxl_reduce_axes(g->op->name, g->params, x->ndim, reduced) != 0)
        return NULL;
    reduced_shape(x->ndim, x->shape, reduced, true, false, &shape);
    return mxl_reshape(g->s, y, shape.ndim, shape.dim);
}

/* The same expanded to the input's shape. */
static mxl_array *spread(mxl_grad *g, mxl_array *y)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return mxl_broadcast_to(g->s, mxl_reduce_back(g, y), x->ndim, x->shape);
}

/* ---- the operators ---- */

const mxl_param mxl_reduce_table[] = {
    MXL_PARAM(mxl_reduce_params, axis, MXL_P_OPT_SHAPE, "None",
              "The axes to reduce, counted from either end; none named: all."),
    MXL_PARAM(mxl_reduce_params, keepdims, MXL_P_BOOL, "0",
              "Whether the reduced axes stay, with extent 1."),
    MXL_PARAM(mxl_reduce_params, exclude, MXL_P_BOOL, "0",
              "Whether to reduce the axes that are not named instead."),
    {0},
};

/* The operator ID, mxl_op_ID, whose kernel is the reduction KIND. After `shapes`, its infer, comes
 * the documentation, then the other fields by their names. */
#define REDUCTION(id, kind, shapes, ...)                                                           \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return mxl_reduce_call(call, kind);                                                        \
    }                                                                                              \
    const mxl_op mxl_op_##id = {                                                                   \
        .name = #id,                                                                               \
        MXL_PARAMS(mxl_reduce_params, mxl_reduce_table),                                           \
        .infer = shapes,                                                                           \
        .compute = id##_compute,                                                                   \
        .doc = __VA_ARGS__,                                                                        \
    }

/* dx = dy, expanded */
static int sum_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, spread(g, g->grad_output[0]));
}

/* ---- sums and means of csr matrices ---- */

/* The only axis, 2 for both, -1 for anything else. */
static int csr_axis(const mxl_reduce_params *p)
{
    int64_t axis = p->axis.n == 1 ? p->axis.v[0] : 0;

    if (p->exclude || p->axis.n > 1 || axis < -2 || axis > 1)
        return -1;
    return p->axis.n <= 0 ? 2 : (int)(axis + (axis < 0 ? 2 : 0));
}

static bool csr_stypes(mxl_stypes *call)
{
    bool sums = call->arrays == NULL || call->arrays[0]->dtype == MXL_F32 ||
                call->arrays[0]->dtype == MXL_F64;

    return call->in[0] == MXL_CSR && sums && csr_axis(call->params) >= 0;
}

static int csr_reduce(const mxl_call *call, bool mean)
{
    const mxl_array *x = call->in[0];
    int axis = csr_axis(call->params);
    double count = (double)(axis == 2 ? x->size : x->shape[axis]), scale = mean ? 1 / count : 1;
    mxl_parts *parts = mxl_sparse_read(x);
    void *out = mxl_array_write(call->out[0]);
    int64_t ends[2];
    mxl_csr m;

    if (parts == NULL)
        return -1;
    m = mxl_sparse_csr(parts);
    if (axis == 0) {
        mxl_sparse_column_sums(x->dtype, &m, x->shape[1], scale, out);
    } else {
        ends[0] = 0;
        ends[1] = mxl_parts_stored(parts);
        if (axis == 2)
            m = (mxl_csr){1, ends, m.indices, m.values};
        mxl_sparse_row_sums(x->dtype, &m, scale, out);
    }
    mxl_parts_release(parts);
    return 0;
}

static int csr_sum(const mxl_call *call)
{
    return csr_reduce(call, false);
}

static int csr_mean(const mxl_call *call)
{
    return csr_reduce(call, true);
}

static const mxl_sparse_forms sum_forms = {.stypes = csr_stypes, .compute = csr_sum};
static const mxl_sparse_forms mean_forms = {.stypes = csr_stypes, .compute = csr_mean};

REDUCTION(sum, MXL_REDUCE_SUM, mxl_reduce_infer, "Sum over axes.", .sparse = &sum_forms,
          .aliases = MXL_ALIASES("_sparse_sum", "sum_axis"), .grad = sum_grad,
          .u64 = MXL_U64_WRAPS);

/* dx = dy / count, expanded */
static int mean_grad(mxl_grad *g)
{
    mxl_array *dy = mxl_div_scalar(g->s, g->grad_output[0], mxl_reduce_count(g));

    return mxl_grad_set(g, 0, spread(g, dy));
}

REDUCTION(mean, MXL_REDUCE_MEAN, mxl_reduce_infer,
          "Mean over axes; of integers the sum in their dtype, divided and cut towards zero. The "
          "mean of nothing is NaN.",
          .aliases = MXL_ALIASES("_sparse_mean"), .sparse = &mean_forms, .grad = mean_grad);

static int max_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    bool reduced[MXL_MAX_NDIM];

    if (mxl_reduce_axes(infer->op->name, infer->params, x->ndim, reduced) != 0)
        return -1;
    for (int i = 0; i < x->ndim; i++) {
        if (reduced[i] && x->shape[i] == 0)
            return mxl_error("%s: an array of shape %s has no elements along axis %d",
                             infer->op->name, MXL_SHAPE_OF(x), i);
    }
    return mxl_reduce_infer(infer);
}

/* dx = dy where x == y, else 0; all tied elements get it, and NaN equals nothing */
static int max_grad(mxl_grad *g)
{
    mxl_array *hit = mxl_equal(g->s, mxl_grad_in(g, 0), mxl_reduce_back(g, mxl_grad_out(g, 0)));

    return mxl_grad_set(g, 0, mxl_mul(g->s, hit, mxl_reduce_back(g, g->grad_output[0])));
}

REDUCTION(max, MXL_REDUCE_MAX, max_infer,
          "Largest element over axes; NaN where one is among them. Where several are largest, each "
          "has the whole gradient.",
          .aliases = MXL_ALIASES("max_axis"), .grad = max_grad, .u64 = MXL_U64_ORDERED,
          .saves = mxl_saves_input_and_output);

REDUCTION(min, MXL_REDUCE_MIN, max_infer,
          "Smallest element over axes; NaN where one is among them. Where several are smallest, "
          "each has the whole gradient.",
          .aliases = MXL_ALIASES("min_axis"), .grad = max_grad, .u64 = MXL_U64_ORDERED,
          .saves = mxl_saves_input_and_output);

/* ---- products ---- */

/* Whether every element is finite and has its full precision, so that a factor can be divided out
 * of it; -1 with the error set. */
static int is_divisible(mxl_array *y)
{
    double least = y == NULL             ? 0
                   : y->dtype == MXL_F64 ? DBL_MIN
                   : y->dtype == MXL_F32 ? (double)FLT_MIN
                                         : 1.0 / 16384;
    mxl_array *wide;
    const double *value;
    int answer;

    if (y != NULL && mxl_array_is_batched(y))
        return 0;
    wide = y == NULL ? NULL : mxl_array_new(MXL_F64, y->ndim, y->shape);
    answer = wide == NULL || mxl_array_copy_into(wide, y) != 0 ? -1 : 1;
    value = answer < 0 ? NULL : mxl_array_read(wide);

    for (int64_t i = 0; answer > 0 && i < wide->size; i++)
        answer = isfinite(value[i]) && fabs(value[i]) >= least;
    mxl_array_release(wide);
    return answer;
}

/* For each element of x the product of the others in its line along an axis: of those before it and
 * of those after it. */
static mxl_array *others_along(mxl_scope *s, mxl_array *x, int axis)
{
    mxl_array *before = mxl_products_before(s, x, axis);
    mxl_array *after = mxl_products_before(s, mxl_reverse(s, x, axis), axis);

    return mxl_mul(s, before, mxl_reverse(s, after, axis));
}

/* The product of the others in each reduced part, axis by axis: of the others along one axis, then
 * of the lines along the next, each the product of the axes before. */
static mxl_array *product_of_others(mxl_grad *g, mxl_array *x)
{
    int wide = x != NULL && x->dtype == MXL_F16 ? MXL_F32 : x == NULL ? 0 : x->dtype;
    mxl_array *lines = x == NULL ? NULL : mxl_cast(g->s, x, wide), *others = NULL;
    bool reduced[MXL_MAX_NDIM];

    if (lines == NULL || mxl_reduce_axes(g->op->name, g->params, x->ndim, reduced) != 0)
        return NULL;
    for (int i = 0; i < x->ndim; i++) {
        mxl_array *along = reduced[i] ? others_along(g->s, lines, i) : NULL;
        const int64_t axis[1] = {i};
        mxl_reduce_params p = {.axis = {1, axis}, .keepdims = 1};

        if (!reduced[i])
            continue;
        others = others == NULL ? along : mxl_mul(g->s, others, along);
        lines = mxl_scope_call(g->s, &mxl_op_prod, &p, 1, &lines);
    }
    if (others == NULL && !g->s->failed)
        others = mxl_apply(g->s, &mxl_op_ones_like, lines);
    return mxl_cast(g->s, others, x->dtype);
}

/* dy times the product of the others, which is y / x where y can be divided: the quick way. First
 * that product, as dy y may overflow. */
static mxl_array *prod_back(mxl_grad *g, mxl_array *x)
{
    mxl_array *y = mxl_grad_out(g, 0), *others;
    int quick = x != NULL && mxl_dtype_is_float(x->dtype) ? is_divisible(y) : 0;

    if (quick < 0)
        return NULL;
    others = quick ? mxl_div(g->s, mxl_reduce_back(g, y), x) : product_of_others(g, x);
    return mxl_mul(g->s, mxl_reduce_back(g, g->grad_output[0]), others);
}

/* dx = dy times the product of the others */
static int prod_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, prod_back(g, mxl_grad_in(g, 0)));
}

REDUCTION(prod, MXL_REDUCE_PROD, mxl_reduce_infer, "Product over axes.", .grad = prod_grad,
          .saves = mxl_saves_input_and_output, .u64 = MXL_U64_WRAPS);

/* Sets dx = a where x is a number, else 0: NaN equals nothing. */
static int set_at_numbers(mxl_grad *g, mxl_array *a)
{
    mxl_array *x = mxl_grad_in(g, 0);

    return mxl_grad_set(g, 0, mxl_where(g->s, mxl_equal(g->s, x, x), a, mxl_zeros_like(g->s, a)));
}

/* dx = dy where x is a number, else 0 */
static int nansum_grad(mxl_grad *g)
{
    return set_at_numbers(g, spread(g, g->grad_output[0]));
}

REDUCTION(nansum, MXL_REDUCE_NANSUM, mxl_reduce_infer, "Sum over axes of what is not NaN.",
          .grad = nansum_grad, .saves = mxl_saves_input);

/* x with 1 in place of NaN, for one-element products. */
static mxl_array *nan_to_one(mxl_scope *s, mxl_array *x)
{
    const int64_t shape[2] = {x == NULL ? 0 : x->size, 1}, last[1] = {1};
    mxl_reduce_params params = {.axis = {1, last}};
    mxl_array *column = mxl_reshape(s, x, 2, shape);
    mxl_array *numbers = mxl_scope_call(s, &mxl_op_nanprod, &params, 1, &column);

    return x == NULL ? NULL : mxl_reshape(s, numbers, x->ndim, x->shape);
}

/* dx = dy times the product of the other numbers, where x is one, else 0 */
static int nanprod_grad(mxl_grad *g)
{
    return set_at_numbers(g, prod_back(g, nan_to_one(g->s, mxl_grad_in(g, 0))));
}

REDUCTION(nanprod, MXL_REDUCE_NANPROD, mxl_reduce_infer, "Product over axes of what is not NaN.",
          .grad = nanprod_grad, .saves = mxl_saves_input_and_output);

/* ---- argmax, argmin ---- */

typedef struct arg_params {
    int64_t axis;
    int keepdims;
} arg_params;

static const mxl_param arg_table[] = {
    MXL_PARAM(arg_params, axis, MXL_P_OPT_INT, "None",
              "The axis to search along, counted from either end; None: the flattened array."),
    MXL_PARAM(arg_params, keepdims, MXL_P_BOOL, "0", "Whether the axis stays, with extent 1."),
    {0},
};

static int arg_infer(mxl_infer *infer)
{
    const arg_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    bool reduced[MXL_MAX_NDIM];
    int64_t length = x->size;

    for (int i = 0; i < x->ndim; i++)
        reduced[i] = p->axis == MXL_NONE;
    if (p->axis != MXL_NONE) {
        int axis = mxl_check_axis(infer->op, p->axis, x->ndim);

        if (axis < 0)
            return -1;
        reduced[axis] = true;
        length = x->shape[axis];
    }
    if (x->dtype == MXL_BOOL)
        return mxl_error("%s: dtype bool is not supported", infer->op->name);
    if (length == 0)
        return mxl_error("%s: nothing to search in an array of shape %s", infer->op->name,
                         MXL_SHAPE_OF(x));
    reduced_shape(x->ndim, x->shape, reduced, p->keepdims, infer->scalars, &infer->out_shape[0]);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static const mxl_op op_argmin;

/* The kernel gives int64; other dtypes are cast. */
static int arg_compute(const mxl_call *call)
{
    bool least = call->op == &op_argmin || call->op == &mxl_op_argmin_int64;
    const arg_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *out = call->out[0], *index = NULL;
    mxl_split along = mxl_shape_split(p->axis, x->ndim, x->shape);
    int status = 0;

    if (out->dtype != MXL_I64) {
        index = mxl_array_new(MXL_I64, out->ndim, out->shape);
        if (index == NULL)
            return -1;
    }
    (least ? mxl_argmin : mxl_argmax)(x->dtype, along.outer, along.n, along.inner,
                                      mxl_array_read(x),
                                      mxl_array_write(index == NULL ? out : index));
    if (index != NULL)
        status = mxl_array_copy_into(out, index);
    mxl_array_release(index);
    return status;
}

/* As int64, exact for an axis of any length. */
static int int64_infer(mxl_infer *infer)
{
    if (arg_infer(infer) != 0)
        return -1;
    infer->out_dtype[0] = MXL_I64;
    return 0;
}

#define ARG(symbol, op_name, which, op_dtype, ...)                                                 \
    const mxl_op symbol = {                                                                        \
        .name = op_name,                                                                           \
        .doc = "Index of the " which " element along an axis, " op_dtype                           \
               "; of equal ones the first, and a NaN counts as the " which ".",                    \
        MXL_PARAMS(arg_params, arg_table),                                                         \
        .compute = arg_compute,                                                                    \
        .u64 = MXL_U64_COMPARED,                                                                   \
        __VA_ARGS__,                                                                               \
    }

static ARG(op_argmax, "argmax", "largest", "in the array's dtype", .infer = arg_infer,
           .grad = mxl_grad_zero, .axis_was_none = true);
static ARG(op_argmin, "argmin", "smallest", "in the array's dtype", .infer = arg_infer,
           .grad = mxl_grad_zero, .axis_was_none = true);
ARG(mxl_op_argmax_int64, "_mxl_argmax", "largest", "as int64", .infer = int64_infer);
ARG(mxl_op_argmin_int64, "_mxl_argmin", "smallest", "as int64", .infer = int64_infer);

/* argmax along axis 1. */
static int channel_infer(mxl_infer *infer)
{
    const arg_params params = {.axis = 1};
    mxl_infer along = *infer;

    along.params = &params;
    return arg_infer(&along);
}

static int channel_compute(const mxl_call *call)
{
    const arg_params params = {.axis = 1};
    mxl_call along = *call;

    along.params = &params;
    return arg_compute(&along);
}

static const mxl_op op_argmax_channel = {
    .name = "argmax_channel",
    .doc = "Index of the largest element along axis 1, in the array's dtype.",
    .infer = channel_infer,
    .compute = channel_compute,
    .u64 = MXL_U64_COMPARED,
};

const mxl_op *const mxl_ops_reduce[] = {
    &mxl_op_sum,          &mxl_op_mean,         &mxl_op_max, &mxl_op_min, &mxl_op_prod,
    &mxl_op_nansum,       &mxl_op_nanprod,      &op_argmax,  &op_argmin,  &op_argmax_channel,
    &mxl_op_argmax_int64, &mxl_op_argmin_int64, NULL,
};
