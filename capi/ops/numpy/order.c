/* NumPy arrays in order: percentile, unique. */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <string.h>

#include "ops/index/take.h"
#include "ops/shape/movement.h"

/* ---- percentile ---- */

enum { HIGHER, LINEAR, LOWER, MIDPOINT, NEAREST };

static const char *const interpolations[] = {"higher",   "linear",  "lower",
                                             "midpoint", "nearest", NULL};

typedef struct percentile_params {
    mxl_tuple axis;
    int interpolation, keepdims;
    double q;
} percentile_params;

static int percentile_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = isnan(((const percentile_params *)params)->q) ? 2 : 1;
    return 0;
}

/* The array with the reduced axes last, merged into one, and sorted along it; and the shape of the
 * result. NULL with the error set. */
static mxl_array *sorted(mxl_scope *s, const mxl_call *call, int64_t *shape, int *ndim)
{
    const percentile_params *p = call->params;
    mxl_array *x = call->in[0];
    bool reduced[MXL_MAX_NDIM] = {false};
    int64_t order[MXL_MAX_NDIM], merged[MXL_MAX_NDIM + 1], last = 1;
    int kept = 0;

    for (int i = 0; i < p->axis.n; i++) {
        int axis = mxl_check_axis(call->op, p->axis.v[i], x->ndim);

        if (axis < 0)
            return NULL;
        reduced[axis] = true;
    }
    *ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        reduced[i] |= p->axis.n < 0;
        if (!reduced[i] || p->keepdims)
            shape[(*ndim)++] = reduced[i] ? 1 : x->shape[i];
        if (!reduced[i])
            order[kept++] = i;
    }
    for (int i = 0, at = kept; i < x->ndim; i++) {
        if (reduced[i])
            order[at++] = i;
        last *= reduced[i] ? x->shape[i] : 1;
    }
    if (last == 0)
        return mxl_error_null("takes arrays with elements, got shape %s", MXL_SHAPE_OF(x));
    for (int i = 0; i < kept; i++)
        merged[i] = x->shape[order[i]];
    merged[kept] = last;
    if (x->dtype != MXL_F64)
        x = mxl_cast(s, x, MXL_F32);
    return mxl_sort_axis(s, mxl_reshape(s, mxl_transpose(s, x, order), kept + 1, merged), -1);
}

/* The number at a fraction of the sorted ones: between two of them. */
static mxl_array *at_fraction(mxl_scope *s, mxl_array *x, double fraction, int how)
{
    int axis = x->ndim - 1;
    double at = fraction * (double)(x->shape[axis] - 1), part;
    int64_t low = (int64_t)floor(at), high = (int64_t)ceil(at);
    mxl_array *below, *above;

    part = how == HIGHER ? 1 : how == LOWER ? 0 : how == MIDPOINT ? 0.5 : at - (double)low;
    if (how == NEAREST)
        low = high = (int64_t)nearbyint(at);
    below = mxl_slice_axis(s, x, axis, low, low + 1);
    if (low == high || part == 0)
        return below;
    above = mxl_slice_axis(s, x, axis, high, high + 1);
    if (part == 1)
        return above;
    return mxl_add(s, mxl_mul_scalar(s, below, 1 - part), mxl_mul_scalar(s, above, part));
}

static mxl_array *percentile_compose(mxl_scope *s, const mxl_call *call)
{
    const percentile_params *p = call->params;
    int64_t shape[MXL_MAX_NDIM + 1] = {1}, count = 1;
    mxl_array *q = call->num_inputs > 1 ? call->in[1] : NULL, *x, *made = NULL;
    int many = q != NULL && q->ndim == 1, ndim = 0; /* many: an axis for them comes first */

    x = sorted(s, call, shape + 1, &ndim);
    if (q != NULL && q->ndim > 1)
        return mxl_error_null("q must have at most 1 axis, got %d", q->ndim);
    if (x == NULL)
        return NULL;
    if (q != NULL) {
        shape[0] = count = q->size;
        if (s->mode.meta || count == 0)
            return mxl_scope_new(s, x->dtype, ndim + many, shape + 1 - many);
        q = mxl_np_read(s, q, MXL_F64);
        shape[0] = 1;
    }
    for (int64_t i = 0; !s->failed && i < count; i++) {
        double percent = q == NULL ? p->q : ((const double *)mxl_array_read(q))[i];
        mxl_array *both[2] = {made, NULL};

        if (!(percent >= 0 && percent <= 100))
            return mxl_error_null("ValueError: q is %g, it must be between 0 and 100", percent);
        both[1] = mxl_reshape(s, at_fraction(s, x, percent / 100, p->interpolation), ndim + many,
                              shape + 1 - many);
        made = made == NULL ? both[1] : mxl_concat(s, 2, both, 0);
        if (made == NULL)
            return NULL;
    }
    return made;
}

/* float32, but of float64 that. */
static int percentile_dtypes(mxl_rule *rule)
{
    int data = mxl_rule_in_dtype(rule, 0);

    return data == MXL_DTYPE_UNKNOWN ? 0
                                     : mxl_rule_said_dtypes(rule, data == MXL_F64 ? ">d" : ">f");
}

MXL_NP(percentile, "_npi_percentile",
       "The numbers below which a part of the elements lies, along axes.",
       MXL_INPUTS(MXL_INPUT(a, "Input array."), MXL_INPUT(q, "Percentages, in one axis or none.")),
       MXL_PARAMS_OF(
           percentile_params,
           MXL_PARAM(percentile_params, axis, MXL_P_OPT_SHAPE, "None", "The axes; None: all."),
           MXL_PARAM(percentile_params, interpolation, MXL_P_ENUM, "linear",
                     "What is taken between two elements.", .values = interpolations),
           MXL_PARAM(percentile_params, keepdims, MXL_P_BOOL, "0",
                     "Whether the axes stay, with size 1."),
           MXL_PARAM_AS("q_scalar", percentile_params, q, MXL_P_OPT_FLOAT, "None",
                        "The percentage, if it is one number.", .type_name = "double or None")),
       .arity = percentile_arity, .complete_dtypes = percentile_dtypes);

/* ---- unique ---- */

typedef struct unique_params {
    int index, inverse, counts;
    int64_t axis;
} unique_params;

static int unique_arity(const void *params, mxl_arity *arity)
{
    const unique_params *p = params;

    arity->inputs = 1;
    arity->outputs = arity->visible = 1 + p->index + p->inverse + p->counts;
    return 0;
}

/* Rows of a contiguous array, which are compared number by number. */
typedef struct rows {
    const char *data;
    int64_t count, width; /* numbers of a row */
    int dtype;
} rows;

#define COMPARE(T)                                                                                 \
    for (int64_t i = 0; i < r->width; i++) {                                                       \
        T x = ((const T *)(const void *)r->data)[a * r->width + i];                                \
        T y = ((const T *)(const void *)r->data)[b * r->width + i];                                \
                                                                                                   \
        if (x != y && (x == x || y == y)) /* NaN comes last, and equals itself */                  \
            return x != x ? 1 : y != y ? -1 : x < y ? -1 : 1;                                      \
    }                                                                                              \
    return 0

/* The dtype in which elements are compared: one of those that compare_rows has. */
static int compared_dtype(int dtype)
{
    return dtype == MXL_F16 ? MXL_F32 : dtype == MXL_U64 ? dtype : mxl_dtype_carrier(dtype);
}

/* Rows a and b; below 0 if a comes first. */
static int compare_rows(const rows *r, int64_t a, int64_t b)
{
    switch (r->dtype) {
    case MXL_F32:
        COMPARE(float);
    case MXL_F64:
        COMPARE(double);
    case MXL_I32:
        COMPARE(int32_t);
    case MXL_I64:
        COMPARE(int64_t);
    case MXL_I8:
        COMPARE(int8_t);
    case MXL_U64:
        COMPARE(uint64_t);
    default:
        COMPARE(uint8_t);
    }
}

/* Merge sort of row numbers: equal rows keep their order. */
static void sort_rows(const rows *r, int64_t *at, int64_t *room, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * width) {
            int64_t middle = begin + width < n ? begin + width : n;
            int64_t end = begin + 2 * width < n ? begin + 2 * width : n, a = begin, b = middle;

            for (int64_t to = begin; to < end; to++)
                room[to] = b >= end || (a < middle && compare_rows(r, at[a], at[b]) <= 0) ? at[a++]
                                                                                          : at[b++];
        }
        memcpy(at, room, (size_t)n * sizeof(*at));
    }
}

/* A list of int64; its bytes are *data. Scoped. */
static mxl_array *list_of(mxl_scope *s, int64_t count, int64_t **data)
{
    mxl_array *made = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, &count));

    *data = made == NULL ? NULL : mxl_array_write(made);
    return made;
}

/* The array with the axis first. */
static mxl_array *axis_first(mxl_scope *s, mxl_array *x, int axis)
{
    int64_t order[MXL_MAX_NDIM] = {axis};

    if (axis == 0)
        return x;
    for (int i = 1; i < x->ndim; i++)
        order[i] = i <= axis ? i - 1 : i;
    return mxl_transpose(s, x, order);
}

/* Sets first (positions of the unique rows), inverse and counts; returns how many are unique. */
static int64_t find_unique(const rows *r, int64_t *at, int64_t *room, int64_t *first,
                           int64_t *inverse, int64_t *counts)
{
    int64_t found = -1;

    for (int64_t i = 0; i < r->count; i++)
        at[i] = i;
    sort_rows(r, at, room, r->count);
    for (int64_t i = 0; i < r->count; i++) {
        if (i == 0 || compare_rows(r, at[i - 1], at[i]) != 0) {
            first[++found] = at[i];
            counts[found] = 0;
        }
        inverse[at[i]] = found;
        counts[found]++;
    }
    return found + 1;
}

static mxl_array *first_of(mxl_scope *s, mxl_array *list, int64_t count)
{
    return mxl_slice_axis(s, list, 0, 0, count);
}

static mxl_array *unique_compose(mxl_scope *s, const mxl_call *call)
{
    const unique_params *p = call->params;
    mxl_array *x = call->in[0], *values, *lists[5];
    int64_t *data[5], count;
    int axis = 0, next = 1;
    rows r;

    if (p->axis == MXL_NONE) {
        x = mxl_np_line(s, x);
    } else {
        axis = mxl_check_axis(call->op, p->axis, x->ndim);
        if (axis < 0)
            return NULL;
    }
    values = x == NULL ? NULL : axis_first(s, x, axis);
    values = values == NULL ? NULL : mxl_np_read(s, values, compared_dtype(x->dtype));
    if (values == NULL)
        return NULL;
    r = (rows){.data = mxl_array_read(values), .count = values->shape[0], .dtype = values->dtype};
    r.width = r.count > 0 ? values->size / r.count : 0;
    for (int i = 0; i < 5; i++) {
        lists[i] = list_of(s, r.count, &data[i]);
        if (lists[i] == NULL)
            return NULL;
    }
    count = find_unique(&r, data[0], data[1], data[2], data[3], data[4]);
    for (int i = 2; i < 5; i++) {
        bool wanted = i == 2 ? p->index : i == 3 ? p->inverse : p->counts;

        if (wanted)
            call->out[next++] =
                i == 3 || count == r.count ? lists[i] : first_of(s, lists[i], count);
    }
    return mxl_np_take(s, x, axis, first_of(s, lists[2], count));
}

MXL_NP(unique, "_npi_unique",
       "The different elements, or parts along an axis, in order; where each is first, which one "
       "each element is, and how often each occurs.",
       .inputs = mxl_inputs_data,
       MXL_PARAMS_OF(
           unique_params,
           MXL_PARAM_AS("return_index", unique_params, index, MXL_P_BOOL, "0",
                        "Whether first positions are given.", .sets_outputs = true),
           MXL_PARAM_AS("return_inverse", unique_params, inverse, MXL_P_BOOL, "0",
                        "Whether it is given which one each element is.", .sets_outputs = true),
           MXL_PARAM_AS("return_counts", unique_params, counts, MXL_P_BOOL, "0",
                        "Whether counts are given.", .sets_outputs = true),
           MXL_PARAM(unique_params, axis, MXL_P_OPT_INT, "None", "The axis; None: elements.")),
       .arity = unique_arity, .dtypes = "A>Al*", .by_values = 1);

const mxl_op *const mxl_ops_np_order[] = {&op_percentile, &op_unique, NULL};
