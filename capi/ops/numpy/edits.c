/* NumPy arrays with parts added, removed or replaced: pad, delete, insert, masked assignment; and
 * the positions of elements that are not 0. Positions are computed here, elements are moved by
 * `take`, which gives gradients. */
#include "ops/numpy/numpy.h"

#include <string.h>

#include "op/text.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/take.h"
#include "ops/shape/movement.h"

/* A list of so many positions, for mxl_scope_fill. */
static mxl_array *positions(mxl_scope *s, int64_t count)
{
    return mxl_scope_new(s, MXL_I64, 1, &count);
}

/* ---- pad ---- */

enum { CONSTANT, EDGE, MAXIMUM, MINIMUM, REFLECT, SYMMETRIC };

static const char *const pad_modes[] = {"constant", "edge",      "maximum", "minimum",
                                        "reflect",  "symmetric", NULL};

typedef struct pad_params {
    const char *pad_width;
    int mode;
    double constant_value;
    const char *reflect_type;
} pad_params;

/* The text is two integers for each axis, "((1, 2), (0, 1))". */
static int pad_check(void *params)
{
    const char *text = ((const pad_params *)params)->pad_width;
    int64_t width[2 * MXL_MAX_NDIM];
    int count;

    if (mxl_text_pairs(text, 2 * MXL_MAX_NDIM, width, &count) == MXL_TEXT_OK)
        return 0;
    return mxl_error("pad: parameter pad_width must be a tuple of pairs of integers, got \"%s\"",
                     text);
}

/* The position within n that lies at i in a mirror image without end; the ends count once
 * (reflect) or twice (symmetric). */
static int64_t mirrored(int64_t i, int64_t n, bool twice)
{
    int64_t period = twice ? 2 * n : 2 * n - 2;

    if (period == 0)
        return 0;
    i = (i % period + period) % period;
    return i < n ? i : twice ? period - 1 - i : period - i;
}

/* One axis, with elements of the array at both ends. */
static mxl_array *pad_by_positions(mxl_scope *s, mxl_array *x, int axis, int64_t before,
                                   int64_t after, int mode)
{
    int64_t n = x->shape[axis], count = before + n + after;
    mxl_array *from_which = positions(s, count);
    int64_t *at = mxl_scope_fill(s, from_which);

    for (int64_t i = 0; at != NULL && i < count; i++) {
        int64_t from = i - before;

        at[i] = mode == EDGE ? from < 0    ? 0
                               : from >= n ? n - 1
                                           : from
                             : mirrored(from, n, mode == SYMMETRIC);
    }
    return mxl_np_take(s, x, axis, from_which);
}

/* One axis, with a number, or the extremum along the axis, at both ends. */
static mxl_array *pad_by_value(mxl_scope *s, mxl_array *x, int axis, const int64_t *width,
                               const pad_params *p)
{
    mxl_array *value, *parts[3];
    int64_t shape[MXL_MAX_NDIM];
    int count = 0;

    value = p->mode == CONSTANT
                ? mxl_np_number(s, p->constant_value, x->dtype)
                : mxl_np_reduce(s, p->mode == MAXIMUM ? &mxl_op_np_max : &mxl_op_np_min, x,
                                (mxl_tuple){1, (int64_t[]){axis}}, true);
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    for (int side = 0; side < 2; side++) {
        shape[axis] = width[side];
        if (side == 1)
            parts[count++] = x;
        if (width[side] > 0)
            parts[count++] = mxl_broadcast_to(s, value, x->ndim, shape);
    }
    return mxl_concat(s, count, parts, axis);
}

static mxl_array *pad_compose(mxl_scope *s, const mxl_call *call)
{
    const pad_params *p = call->params;
    mxl_array *x = call->in[0];
    int64_t width[2 * MXL_MAX_NDIM];
    int count;

    (void)mxl_text_pairs(p->pad_width, 2 * MXL_MAX_NDIM, width, &count);
    if (count != 2 * x->ndim)
        return mxl_error_null("pad_width %s does not have two widths for each of %d axes",
                              p->pad_width, x->ndim);
    for (int axis = 0; x != NULL && axis < x->ndim; axis++) {
        const int64_t *sides = width + 2 * axis;

        if (sides[0] < 0 || sides[1] < 0)
            return mxl_error_null("pad_width %s has a negative width", p->pad_width);
        if (sides[0] > INT64_MAX / 4 || sides[1] > INT64_MAX / 4)
            return mxl_error_null("pad_width %s makes an axis that is too large", p->pad_width);
        if (sides[0] + sides[1] == 0)
            continue;
        if (p->mode != CONSTANT && x->shape[axis] == 0)
            return mxl_error_null("axis %d has no elements to pad with", axis);
        x = p->mode == CONSTANT || p->mode == MAXIMUM || p->mode == MINIMUM
                ? pad_by_value(s, x, axis, sides, p)
                : pad_by_positions(s, x, axis, sides[0], sides[1], p->mode);
    }
    return x == call->in[0] ? mxl_apply(s, &mxl_op_copy, x) : x;
}

MXL_NP(
    pad, "_npi_pad", "The array with a rim along its axes.", .inputs = mxl_inputs_data,
    MXL_PARAMS_OF(pad_params,
                  MXL_PARAM(pad_params, pad_width, MXL_P_STRING, MXL_REQUIRED,
                            "The widths before and after each axis: ((1, 2), (0, 1)).",
                            .type_name = "tuple of <Shape(tuple)>"),
                  MXL_PARAM(pad_params, mode, MXL_P_ENUM, "constant", "What the rim consists of.",
                            .values = pad_modes),
                  MXL_PARAM(pad_params, constant_value, MXL_P_FLOAT, "0",
                            "The number of mode constant.", .type_name = "double"),
                  MXL_PARAM(pad_params, reflect_type, MXL_P_STRING, "even",
                            "Of mode reflect, which mirrors the elements whatever is asked for.")),
    .check = pad_check);

/* ---- positions of delete and insert ---- */

typedef struct obj_params {
    double val;
    int64_t start, stop, step, int_ind, axis;
} obj_params;

#define OBJ_PARAMS                                                                                 \
    MXL_PARAM(obj_params, start, MXL_P_OPT_INT, "None", "The first position of a slice."),         \
        MXL_PARAM(obj_params, stop, MXL_P_OPT_INT, "None", "The end of the slice."),               \
        MXL_PARAM(obj_params, step, MXL_P_OPT_INT, "None", "The step of the slice."),              \
        MXL_PARAM(obj_params, int_ind, MXL_P_OPT_INT, "None", "Or the only position."),            \
        MXL_PARAM(obj_params, axis, MXL_P_OPT_INT, "None",                                         \
                  "The axis; None: of all elements in one line.")

static mxl_array *beyond(int64_t at, int64_t n)
{
    return mxl_error_null("position %lld of an axis of %lld", (long long)at, (long long)n);
}

/* The positions that the parameters name, from 0 to n less `last`. */
static mxl_array *positions_of_params(mxl_scope *s, const obj_params *p, int64_t n, int64_t last)
{
    int64_t begin = p->int_ind, step = 1, count = 1, *at;
    mxl_array *made;

    if (begin == MXL_NONE) {
        step = p->step == MXL_NONE || p->step == 0 ? 1 : p->step;
        count = mxl_slice_part(n, p->start, p->stop, step, &begin);
    } else if (n >= 0 && (begin < -n || begin > n - last)) {
        return beyond(begin, n);
    } else {
        begin += begin < 0 ? n : 0;
    }
    made = positions(s, count);
    at = mxl_scope_fill(s, made);
    for (int64_t i = 0; at != NULL && i < count; i++)
        at[i] = begin + i * step;
    return made;
}

/* The same of an array; none where there are no positions to name. */
static mxl_array *positions_of_array(mxl_scope *s, mxl_array *obj, int64_t n, int64_t last)
{
    if (n == 0 && last == 1)
        return positions(s, 0);

    mxl_array *made = positions(s, obj->size);
    int64_t *at = mxl_scope_fill(s, made);
    mxl_array *values = at == NULL ? NULL : mxl_np_read(s, obj, MXL_I64);

    for (int64_t i = 0; values != NULL && i < obj->size; i++) {
        at[i] = ((const int64_t *)mxl_array_read(values))[i];
        if (at[i] < -n || at[i] > n - last)
            return beyond(at[i], n);
        at[i] += at[i] < 0 ? n : 0;
    }
    return s->failed ? NULL : made;
}

/* The array as it is, or in one line, and the axis; NULL with the error set. */
static mxl_array *along(mxl_scope *s, const mxl_call *call, int64_t wanted, int *axis)
{
    mxl_array *x = call->in[0];

    if (wanted == MXL_NONE) {
        *axis = 0;
        return mxl_np_line(s, x);
    }
    *axis = mxl_check_axis(call->op, wanted, x->ndim);
    return *axis < 0 ? NULL : x;
}

/* ---- delete ---- */

static int delete_arity(const void *params, mxl_arity *arity)
{
    const obj_params *p = params;
    bool from_params = p->int_ind != MXL_NONE || p->start != MXL_NONE || p->stop != MXL_NONE ||
                       p->step != MXL_NONE;

    arity->inputs = from_params || arity->inputs == 1 ? 1 : 2;
    return 0;
}

/* The positions within n that are not in `gone`. A meta run has no array of them, so that none is
 * there twice. */
static mxl_array *rest_of(mxl_scope *s, int64_t n, mxl_array *gone)
{
    int64_t left = gone->size < 0 ? gone->size : n - gone->size, *at;
    mxl_array *flags = mxl_scope_new(s, MXL_BOOL, 1, &n), *rest;
    uint8_t *stays = mxl_scope_fill(s, flags);

    if (stays != NULL) {
        const int64_t *goes = mxl_array_read(gone);

        memset(stays, 1, (size_t)n);
        left = n;
        for (int64_t i = 0; i < gone->size; i++) {
            left -= stays[goes[i]];
            stays[goes[i]] = 0;
        }
    }
    rest = positions(s, left);
    at = stays == NULL ? NULL : mxl_scope_fill(s, rest);
    for (int64_t i = 0; at != NULL && i < n; i++)
        if (stays[i])
            *at++ = i;
    return rest;
}

static mxl_array *delete_compose(mxl_scope *s, const mxl_call *call)
{
    const obj_params *p = call->params;
    mxl_array *x, *gone;
    int axis;

    if (call->in[0]->ndim == 0 && (p->axis == 0 || p->axis == -1))
        return mxl_apply(s, &mxl_op_copy, call->in[0]);
    x = along(s, call, p->axis, &axis);
    if (x == NULL)
        return NULL;
    gone = call->num_inputs > 1 ? positions_of_array(s, call->in[1], x->shape[axis], 1)
                                : positions_of_params(s, p, x->shape[axis], 1);
    return gone == NULL ? NULL : mxl_np_take(s, x, axis, rest_of(s, x->shape[axis], gone));
}

MXL_NP(delete, "_npi_delete", "The array without some positions of an axis.",
       MXL_INPUTS(MXL_INPUT(arr, "Input array."),
                  MXL_INPUT(obj, "Positions, if they are an array.")),
       MXL_PARAMS_OF(obj_params, OBJ_PARAMS), .arity = delete_arity, .by_values = 2,
       .dtypes = "A>A");

/* ---- insert ---- */

/* The values in the array's axes: `count` along the axis, or, for one position, as many as there
 * are. */
static mxl_array *spread_values(mxl_scope *s, mxl_array *x, int axis, mxl_array *values,
                                int64_t *count, bool one)
{
    int64_t shape[MXL_MAX_NDIM];
    int lacking;

    if (values->ndim > x->ndim)
        return mxl_error_null("insert: values have %d axes, the array has %d", values->ndim,
                              x->ndim);
    lacking = x->ndim - values->ndim;
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i < lacking ? 1 : values->shape[i - lacking];
    values = mxl_reshape(s, mxl_cast(s, values, x->dtype), x->ndim, shape);
    if (one && axis > 0) { /* the first axis of the values goes along the axis */
        int64_t order[MXL_MAX_NDIM], at = 0;

        for (int i = 0; i < x->ndim; i++)
            order[i] = i == axis ? 0 : ++at;
        values = mxl_transpose(s, values, order);
    }
    if (values == NULL)
        return NULL;
    if (one)
        *count = values->shape[axis];
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    shape[axis] = *count;
    return mxl_broadcast_to(s, values, x->ndim, shape);
}

/* For each position of the result where it comes from in the array with the values behind it: value
 * i stands before the element that was at at[i], in the order of the positions. */
static void order_of(int64_t n, int64_t count, const int64_t *at, bool one, int64_t *order)
{
    int64_t to = 0;

    for (int64_t i = 0; i <= n; i++) {
        for (int64_t k = 0; k < count; k++)
            if (at[one ? 0 : k] == i)
                order[to++] = n + k;
        if (i < n)
            order[to++] = i;
    }
}

static mxl_array *insert(mxl_scope *s, const mxl_call *call, mxl_array *values, mxl_array *obj)
{
    const obj_params *p = call->params;
    int64_t n, count, *to;
    mxl_array *x, *at, *order, *both[2];
    bool one;
    int axis;

    x = along(s, call, p->axis, &axis);
    if (x == NULL)
        return NULL;
    n = x->shape[axis];
    at = obj != NULL ? positions_of_array(s, obj, n, 0) : positions_of_params(s, p, n, 0);
    one = obj != NULL ? obj->size == 1 && obj->ndim == 0 : p->int_ind != MXL_NONE;
    if (at == NULL)
        return NULL;
    count = at->size;
    if (values == NULL)
        values = mxl_np_number(s, p->val, x->dtype);
    both[0] = x;
    both[1] = values == NULL ? NULL : spread_values(s, x, axis, values, &count, one);
    order = positions(s, n + count);
    to = mxl_scope_fill(s, order);
    if (to != NULL && both[1] != NULL)
        order_of(n, count, mxl_array_read(at), one, to);
    return mxl_np_take(s, mxl_concat(s, 2, both, axis), axis, order);
}

static int insert_arity(const void *params, mxl_arity *arity)
{
    const obj_params *p = params;

    arity->inputs = p->val == p->val ? 1 : 2;
    return 0;
}

static int insert_at_arity(const void *params, mxl_arity *arity)
{
    const obj_params *p = params;

    arity->inputs = p->val == p->val ? 2 : 3;
    return 0;
}

static mxl_array *insert_compose(mxl_scope *s, const mxl_call *call)
{
    return insert(s, call, call->num_inputs > 1 ? call->in[1] : NULL, NULL);
}

static mxl_array *insert_at_compose(mxl_scope *s, const mxl_call *call)
{
    return insert(s, call, call->num_inputs > 2 ? call->in[1] : NULL,
                  call->in[call->num_inputs - 1]);
}

#define INSERT(id, kind, ...)                                                                      \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_npi_" #id),                                                            \
        .doc = "The array with values before some positions of an axis.",                          \
        .dtypes = "A>A",                                                                           \
        MXL_INPUTS(MXL_INPUT(arr, "Input array."),                                                 \
                   MXL_INPUT(values, "What is inserted, unless `val` is given."), __VA_ARGS__),    \
        MXL_PARAMS_OF(obj_params,                                                                  \
                      MXL_PARAM(obj_params, val, MXL_P_OPT_FLOAT, "None", "A number to insert.",   \
                                .type_name = "double or None"),                                    \
                      OBJ_PARAMS),                                                                 \
        .arity = kind##_arity,                                                                     \
        .compose = kind##_compose,                                                                 \
    }

INSERT(insert_scalar, insert, {0});
INSERT(insert_slice, insert, {0});
INSERT(insert_tensor, insert_at, MXL_INPUT(obj, "The positions, in one axis or none."));

/* ---- masked assignment ---- */

typedef struct mask_params {
    double value;
    int64_t start_axis;
} mask_params;

/* The mask in the shape of x, from an axis on; NULL with the error set if it does not fit. */
static mxl_array *whole_mask(mxl_scope *s, const mxl_call *call, int64_t start)
{
    const mxl_array *x = call->in[0], *mask = call->in[1];
    int64_t shape[MXL_MAX_NDIM];
    bool fits = start >= 0 && start + mask->ndim <= x->ndim;

    for (int i = 0; i < mask->ndim && fits; i++)
        fits = mask->shape[i] == x->shape[start + i];
    if (!fits)
        return mxl_error_null("a mask of shape %s from axis %lld on of an array of shape %s",
                              MXL_SHAPE_OF(mask), (long long)start, MXL_SHAPE_OF(x));
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i >= start && i < start + mask->ndim ? x->shape[i] : 1;
    return mxl_broadcast_to(s, mxl_reshape(s, call->in[1], x->ndim, shape), x->ndim, x->shape);
}

static mxl_array *mask_scalar_compose(mxl_scope *s, const mxl_call *call)
{
    const mask_params *p = call->params;
    mxl_array *x = call->in[0], *mask = whole_mask(s, call, p->start_axis);
    mxl_array *value = mxl_broadcast_to(s, mxl_np_number(s, p->value, x->dtype), x->ndim, x->shape);

    return mxl_where(s, mask, value, x);
}

/* For each element of the mask how many are set before it, or the last one that is set. Scoped. */
static mxl_array *count_before(mxl_scope *s, mxl_array *mask, int64_t *set)
{
    mxl_array *flags = mxl_np_read(s, mask, MXL_BOOL), *before = positions(s, mask->size);
    int64_t *to = flags == NULL ? NULL : mxl_scope_fill(s, before);

    *set = 0;
    for (int64_t i = 0; to != NULL && i < mask->size; i++) {
        to[i] = *set;
        *set += ((const uint8_t *)mxl_array_read(flags))[i] != 0;
    }
    for (int64_t i = 0; to != NULL && i < mask->size; i++)
        to[i] = to[i] < *set ? to[i] : *set - 1;
    return to == NULL ? NULL : before;
}

/* Each element of the array has the value that it would be set to: value number k along an axis
 * that stands for the mask's axes, for the k-th element that is set. */
static mxl_array *mask_tensor_compose(mxl_scope *s, const mxl_call *call)
{
    const int64_t *start = call->params;
    mxl_array *x = call->in[0], *mask = call->in[1], *value = call->in[2], *whole, *before;
    int64_t set, shape[MXL_MAX_NDIM];
    int rest = x->ndim - (int)*start - mask->ndim, at = value->ndim - rest - 1;

    whole = whole_mask(s, call, *start);
    before = count_before(s, mask, &set);
    if (whole == NULL || before == NULL)
        return NULL;
    if (at > *start)
        return mxl_error_null("values of shape %s have more axes than the elements of the mask, "
                              "%lld",
                              MXL_SHAPE_OF(value), (long long)*start + 1 + rest);
    if (at >= 0) {
        bool each = value->shape[at] != 1;

        if (each && value->shape[at] != set)
            return mxl_error_null("%lld values for %lld elements of the mask",
                                  (long long)value->shape[at], (long long)set);
        if (each && set == 0)
            return mxl_apply(s, &mxl_op_copy, x);
        memcpy(shape, value->shape, (size_t)at * sizeof(*shape));
        for (int i = 0; i < mask->ndim; i++)
            shape[at + i] = each ? mask->shape[i] : 1;
        memcpy(shape + at + mask->ndim, value->shape + at + 1, (size_t)rest * sizeof(*shape));
        value = mxl_reshape(s, each ? mxl_np_take(s, value, at, before) : value,
                            at + mask->ndim + rest, shape);
    }
    value = mxl_cast(s, value, x->dtype);
    return mxl_where(s, whole, mxl_broadcast_to(s, value, x->ndim, x->shape), x);
}

#define MASK_INPUTS MXL_INPUT(data, "Input array."), MXL_INPUT(mask, "Which elements are replaced.")
#define START(type)                                                                                \
    MXL_PARAM(type, start_axis, MXL_P_INT, MXL_REQUIRED,                                           \
              "The array's axis that the mask begins at.", .type_text = "int")

MXL_NP(mask_scalar, "_npi_boolean_mask_assign_scalar",
       "The array with a number where a mask is True.", .shapes = "A.>A", .dtypes = "A.>A",
       MXL_INPUTS(MASK_INPUTS),
       MXL_PARAMS_OF(mask_params,
                     MXL_PARAM(mask_params, value, MXL_P_FLOAT, MXL_REQUIRED, "The number.",
                               .type_text = "float"),
                     START(mask_params)),
       .completes_alone = true);

MXL_NP(mask_tensor, "_npi_boolean_mask_assign_tensor",
       "The array with values, one after the other, where a mask is True.", .shapes = "A..>A",
       .dtypes = "A.e>A", MXL_INPUTS(MASK_INPUTS, MXL_INPUT(value, "The values.")),
       MXL_ONLY_PARAM(int64_t, start_axis, MXL_P_INT, MXL_REQUIRED,
                      "The array's axis that the mask begins at.", .type_text = "int"),
       .completes_alone = true);

/* ---- nonzero ---- */

static mxl_array *nonzero_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = call->in[0];

    if (x->ndim == 0) /* counts as a line of one, as in NumPy 1 */
        x = mxl_np_line(s, x);
    return mxl_nonzero(s, x, false);
}

MXL_NP(nonzero, "_npx_nonzero", "The positions of elements that are not 0: a row for each, int64.",
       .aliases = MXL_ALIASES("_npi_nonzero"), MXL_INPUTS(MXL_INPUT(x, "Input array.")),
       .by_values = 1, .dtypes = ">l");

const mxl_op *const mxl_ops_np_edits[] = {
    &op_pad,          &op_delete,        &op_insert_scalar,
    &op_insert_slice, &op_insert_tensor, &op_mask_scalar,
    &op_mask_tensor,  &op_nonzero,       NULL,
};
