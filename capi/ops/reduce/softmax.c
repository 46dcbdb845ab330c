/* softmax and log_softmax over an axis or its first elements; softmin. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "array/expression.h"
#include "kernel/reduce/softmax.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce_ops.h"

enum { WEIGHT = 8 /* of an element, in additions */ };

typedef struct softmax_params {
    int64_t axis;
    double temperature; /* NaN: 1 */
    int dtype;
    int use_length;
} softmax_params;

static const mxl_input softmax_inputs[] = {
    MXL_INPUT(data, "Input array, of a floating dtype."),
    MXL_INPUT(length, "Only with use_length: int32 or int64 in the shape of data without the axis; "
                      "how many elements of each row count. The others become 0."),
    {0},
};

static const mxl_param softmax_params_table[] = {
    MXL_PARAM(softmax_params, axis, MXL_P_INT, "-1",
              "The axis along which the results sum to 1, counted from either end."),
    MXL_PARAM(softmax_params, temperature, MXL_P_OPT_FLOAT, "None",
              "The divisor of the input; None: 1.", .type_name = "double or None"),
    MXL_PARAM(softmax_params, dtype, MXL_P_DTYPE, "None",
              "dtype of the result; None: that of data.", .values = mxl_float_names),
    MXL_PARAM(softmax_params, use_length, MXL_P_OPT_BOOL, "0",
              "Whether there is an input `length`. Not for softmin and log_softmax."),
    {0},
};

/* The axis of an array. A scalar counts as a row of one element, whose axis is 0 or -1. */
static int softmax_axis(const char *name, const softmax_params *p, int ndim)
{
    int64_t axis = p->axis < 0 ? p->axis + (ndim > 0 ? ndim : 1) : p->axis;

    if (axis < 0 || axis >= (ndim > 0 ? ndim : 1))
        return mxl_error("%s: axis %lld is out of range for an array of %d axes", name,
                         (long long)p->axis, ndim);
    return (int)axis;
}

static int softmax_infer(mxl_infer *infer)
{
    const softmax_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int axis = softmax_axis(infer->op->name, p, x->ndim);

    if (axis < 0)
        return -1;
    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (infer->num_inputs > 1 && infer->in[1]->dtype != MXL_I32 && infer->in[1]->dtype != MXL_I64)
        return mxl_error("%s: length must be int32 or int64, got %s", infer->op->name,
                         mxl_dtype_name(infer->in[1]->dtype));
    if (infer->num_inputs > 1)
        return mxl_infer_said(infer);
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    infer->out_dtype[0] = p->dtype == MXL_DTYPE_UNKNOWN ? x->dtype : p->dtype;
    return 0;
}

/* ---- lengths ---- */

/* The lengths as int64, within a row of this size; new, NULL with the error set. */
static mxl_array *checked_length(const mxl_op *op, const mxl_array *given, int64_t extent)
{
    mxl_array *length = mxl_array_new(MXL_I64, given->ndim, given->shape);
    const int64_t *value;

    if (length == NULL)
        return NULL;
    if (mxl_array_copy_into(length, given) != 0)
        goto failed;
    value = mxl_array_read(length);
    for (int64_t i = 0; i < length->size; i++) {
        if (value[i] < 0 || value[i] > extent) {
            mxl_error("%s: length %lld is not in [0, %lld]", op->name, (long long)value[i],
                      (long long)extent);
            goto failed;
        }
    }
    return length;
failed:
    mxl_array_release(length);
    return NULL;
}

/* For the vjp: `a` with zeros beyond the lengths. */
static mxl_array *keep_first(mxl_grad *g, mxl_array *a)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_split r = mxl_shape_split(softmax_axis(g->op->name, g->params, x->ndim), x->ndim, x->shape);
    mxl_array *length = mxl_grad_in(g, 1), *beyond = NULL;
    const int64_t *counted;
    uint8_t *flag;

    if (length != NULL)
        length = mxl_scope_own(g->s, checked_length(g->op, length, r.n));
    if (length != NULL)
        beyond = mxl_scope_own(g->s, mxl_array_new(MXL_BOOL, x->ndim, x->shape));
    if (beyond == NULL)
        return NULL;
    counted = mxl_array_read(length);
    flag = mxl_array_write(beyond);
    for (int64_t o = 0; o < r.outer; o++, counted += r.inner) {
        for (int64_t k = 0; k < r.n; k++) {
            for (int64_t i = 0; i < r.inner; i++)
                *flag++ = k >= counted[i];
        }
    }
    return mxl_zero_where(g->s, beyond, a);
}

/* ---- compute ---- */

static const mxl_op op_softmin, op_log_softmax;

/* The divisor of the input. */
static double temperature_of(const mxl_op *op, const softmax_params *p)
{
    double temperature = isnan(p->temperature) ? 1 : p->temperature;

    return op == &op_softmin ? -temperature : temperature;
}

/* Defers a call along the last axis whose input waits too. */
static bool softmax_later(const mxl_call *call, const mxl_split *r, bool take_log,
                          double temperature)
{
    mxl_softmax_rows rows = {take_log, call->in[0]->dtype, r->n, temperature};
    mxl_deferral later = {.name = call->op->name,
                          .weight = WEIGHT,
                          .num_in = 1,
                          .in = call->in,
                          .out = call->out[0],
                          .is_new = call->is_new,
                          .params = &rows,
                          .params_bytes = sizeof(rows)};

    return r->inner == 1 && mxl_defer_rows(later, mxl_softmax_take, r->n);
}

/* If the dtypes differ, computes in the wider one. */
static int softmax_run(const mxl_call *call, const mxl_split *r, const int64_t *length)
{
    bool take_log = call->op == &op_log_softmax;
    mxl_array *x = call->in[0], *out = call->out[0], *wide = NULL;
    bool narrows = mxl_dtype_size(out->dtype) < mxl_dtype_size(x->dtype);
    double temperature = temperature_of(call->op, call->params);
    int status = -1;

    if (x->dtype == out->dtype && length == NULL && mxl_defers(x->size) &&
        softmax_later(call, r, take_log, temperature))
        return 0;
    if (x->dtype == out->dtype)
        return mxl_softmax(take_log, x->dtype, r->outer, r->n, r->inner, temperature, length,
                           mxl_array_read(x), mxl_array_write(out));
    if (!narrows) {
        if (mxl_array_copy_into(out, x) != 0)
            return -1;
        return mxl_softmax(take_log, out->dtype, r->outer, r->n, r->inner, temperature, length,
                           mxl_array_read(out), mxl_array_write(out));
    }
    wide = mxl_array_new(x->dtype, x->ndim, x->shape);
    if (wide != NULL && mxl_softmax(take_log, x->dtype, r->outer, r->n, r->inner, temperature,
                                    length, mxl_array_read(x), mxl_array_write(wide)) == 0)
        status = mxl_array_copy_into(out, wide);
    mxl_array_release(wide);
    return status;
}

static int softmax_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_split r =
        mxl_shape_split(softmax_axis(call->op->name, call->params, x->ndim), x->ndim, x->shape);
    mxl_array *length;
    int status;

    if (call->num_inputs < 2)
        return softmax_run(call, &r, NULL);
    length = checked_length(call->op, call->in[1], r.n);
    if (length == NULL)
        return -1;
    status = softmax_run(call, &r, mxl_array_read(length));
    mxl_array_release(length);
    return status;
}

/* ---- vjps ---- */

/* Casts an array of the result's dtype to the input's if that is wider: computing the gradient in
 * the narrower one would lose small values. */
static mxl_array *widened(mxl_grad *g, mxl_array *a)
{
    int dtype = mxl_grad_in_meta(g, 0)->dtype;

    if (mxl_dtype_size(dtype) <= mxl_dtype_size(mxl_grad_out_meta(g, 0)->dtype))
        return a;
    return mxl_cast(g->s, a, dtype);
}

/* Sum over the operator's axis; a scalar itself. */
static mxl_array *row_sum(mxl_grad *g, mxl_array *a)
{
    int ndim = mxl_grad_in_meta(g, 0)->ndim;

    return ndim == 0 ? a : mxl_sum_axis(g->s, a, softmax_axis(g->op->name, g->params, ndim));
}

static mxl_array *by_temperature(mxl_grad *g, mxl_array *a)
{
    double temperature = temperature_of(g->op, g->params);

    return temperature == 1 ? a : mxl_div_scalar(g->s, a, temperature);
}

/* dx = y * (dy - sum(dy * y)) / temperature; beyond the length y = 0 and dy is ignored */
static int softmax_grad(mxl_grad *g)
{
    mxl_array *y = widened(g, mxl_grad_out(g, 0)), *dy = widened(g, g->grad_output[0]), *dx;

    if (!mxl_grad_wants(g, 0))
        return 0;
    if (g->num_inputs > 1)
        dy = keep_first(g, dy);
    dx = mxl_mul(g->s, y, mxl_sub(g->s, dy, row_sum(g, mxl_mul(g->s, dy, y))));
    return mxl_grad_set(g, 0, by_temperature(g, dx));
}

/* dx = (dy - e^y * sum(dy)) / temperature */
static int log_softmax_grad(mxl_grad *g)
{
    mxl_array *y = widened(g, mxl_grad_out(g, 0)), *dy = widened(g, g->grad_output[0]);
    mxl_array *dx = mxl_sub(g->s, dy, mxl_mul(g->s, mxl_exp(g->s, y), row_sum(g, dy)));

    return mxl_grad_set(g, 0, by_temperature(g, dx));
}

/* The same in one pass if there is only one dtype and no length; otherwise by the vjp. */
static int softmax_grad_kernel(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *y, *dy, *dx;
    mxl_split r;

    if (!mxl_grad_wants(g, 0) || g->num_inputs > 1 || x->dtype != mxl_grad_out_meta(g, 0)->dtype)
        return g->op->grad(g);
    y = mxl_grad_out(g, 0);
    dy = g->grad_output[0];
    if (y == NULL || dy->dtype != y->dtype)
        return g->op->grad(g);
    y = mxl_scope_own(g->s, mxl_array_contiguous(y));
    dy = mxl_scope_own(g->s, mxl_array_contiguous(dy));
    dx = mxl_scope_own(g->s, mxl_array_new(x->dtype, x->ndim, x->shape));
    if (y == NULL || dy == NULL || dx == NULL)
        return -1;
    r = mxl_shape_split(softmax_axis(g->op->name, g->params, y->ndim), y->ndim, y->shape);
    if (!mxl_softmax_back(g->op == &op_log_softmax, y->dtype, r.outer, r.n, r.inner,
                          temperature_of(g->op, g->params), mxl_array_read(y), mxl_array_read(dy),
                          mxl_array_write(dx)))
        return g->op->grad(g);
    return mxl_grad_set(g, 0, dx);
}

static void softmax_saves(mxl_saves *saves)
{
    saves->out[0] = true;
    if (saves->num_inputs > 1)
        saves->in[1] = true;
}

/* ---- the operators ---- */

static int softmax_check(void *params)
{
    if (((const softmax_params *)params)->use_length < 0)
        return mxl_error("softmax: use_length must be True or False, got None");
    return 0;
}

static int softmax_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const softmax_params *)params)->use_length > 0 ? 2 : 1;
    return 0;
}

/* As in 1.9.1 every call of softmin or log_softmax with use_length fails. */
static int softmin_check(void *params)
{
    if (((const softmax_params *)params)->use_length != 0)
        return mxl_error("softmin: use_length is not supported; apply softmax to -data");
    return 0;
}

static int log_softmax_check(void *params)
{
    if (((const softmax_params *)params)->use_length != 0)
        return mxl_error("log_softmax: use_length is not supported; apply log to softmax");
    return 0;
}

static const char *length_shapes(const void *params)
{
    return ((const softmax_params *)params)->use_length > 0
               ? "data[*A,N@axis,*B] length[*A,*B|1] -> [*A,N,*B]"
               : NULL;
}

/* The operator op_ID, called ID, with this vjp. After the inputs comes the documentation, then the
 * other fields by their names. */
#define SOFTMAX(id, vjp, op_inputs, ...)                                                           \
    static const mxl_op op_##id = {                                                                \
        .name = #id,                                                                               \
        .inputs = op_inputs,                                                                       \
        MXL_PARAMS(softmax_params, softmax_params_table),                                          \
        .check = id##_check,                                                                       \
        .infer = softmax_infer,                                                                    \
        MXL_SHAPES_TABLE("data[*S] -> [*S]"),                                                      \
        .dtypes = "An>t",                                                                          \
        .compute = softmax_compute,                                                                \
        .grad = vjp,                                                                               \
        .grad_kernel = softmax_grad_kernel,                                                        \
        .doc = __VA_ARGS__,                                                                        \
    }

SOFTMAX(softmax, softmax_grad, softmax_inputs,
        "Softmax along an axis: e^x / sum(e^x), of x divided by the temperature.",
        .aliases = MXL_ALIASES("_npx_softmax"), .output_names = "output", .arity = softmax_arity,
        .shapes_of = length_shapes, .saves = softmax_saves);

/* softmax with the temperature negative */
SOFTMAX(softmin, softmax_grad, mxl_inputs_data,
        "Softmin along an axis: e^-x / sum(e^-x), of x divided by the temperature.",
        .saves = mxl_saves_output, .output_names = "output", .numbers_inputs = true);

SOFTMAX(log_softmax, log_softmax_grad, mxl_inputs_data,
        "Logarithm of softmax along an axis: x - log(sum(e^x)), of x divided by the temperature.",
        .aliases = MXL_ALIASES("_npx_log_softmax"), .saves = mxl_saves_output);

mxl_array *mxl_softmax_axis(mxl_scope *s, mxl_array *a, int axis)
{
    softmax_params p = {.axis = axis, .temperature = NAN, .dtype = MXL_DTYPE_UNKNOWN};

    return mxl_scope_call(s, &op_softmax, &p, 1, &a);
}

mxl_array *mxl_log_softmax_axis(mxl_scope *s, mxl_array *a, int axis)
{
    softmax_params p = {.axis = axis, .temperature = NAN, .dtype = MXL_DTYPE_UNKNOWN};

    return mxl_scope_call(s, &op_log_softmax, &p, 1, &a);
}

const mxl_op *const mxl_op_plain_softmax = &op_softmax;

bool mxl_softmax_is_plain(const void *params)
{
    const softmax_params *p = params;

    return (isnan(p->temperature) || p->temperature == 1) && p->dtype == MXL_DTYPE_UNKNOWN &&
           p->use_length == 0;
}

int64_t mxl_softmax_axis_of(const void *params)
{
    return ((const softmax_params *)params)->axis;
}

const mxl_op *const mxl_ops_softmax[] = {&op_softmax, &op_softmin, &op_log_softmax, NULL};
