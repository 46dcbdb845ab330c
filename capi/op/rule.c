/* What rules are made of, and the rules that operators of several families have. */
#include "op/rule.h"

#include <string.h>

#include "base/dtype.h"
#include "op/shapes/shapes.h"

/* ---- shapes ---- */

static int contradicts(const mxl_shape *to, const mxl_shape *from)
{
    return mxl_error("Shape inconsistent, Provided = %s, inferred shape=%s",
                     MXL_SHAPE_TEXT(to->ndim, to->dim), MXL_SHAPE_TEXT(from->ndim, from->dim));
}

int mxl_shape_complete(mxl_shape *to, const mxl_shape *from)
{
    int changed = 0;

    if (from->ndim < 0)
        return 0;
    if (to->ndim < 0) {
        *to = *from;
        return 1;
    }
    if (to->ndim != from->ndim)
        return contradicts(to, from);
    for (int i = 0; i < to->ndim; i++) {
        if (to->dim[i] >= 0 && from->dim[i] >= 0 && to->dim[i] != from->dim[i])
            return contradicts(to, from);
    }
    for (int i = 0; i < to->ndim; i++) {
        if (to->dim[i] < 0 && from->dim[i] >= 0) {
            to->dim[i] = from->dim[i];
            changed = 1;
        }
    }
    return changed;
}

int mxl_rule_merge(mxl_rule *rule, mxl_shape *to, const mxl_shape *from)
{
    int status = mxl_shape_complete(to, from);

    rule->changed |= status > 0;
    return status < 0 ? -1 : 0;
}

int mxl_rule_say(mxl_rule *rule, int i, int ndim, const int64_t *dim)
{
    mxl_shape said;
    char room[MXL_NAME];

    if (i >= rule->num_in)
        return 0;
    mxl_shape_set(&said, ndim, dim);
    return mxl_rule_merge(rule, mxl_rule_in(rule, i), &said) == 0
               ? 0
               : mxl_error_prefix(mxl_op_input_name(rule->op, rule->params, rule->num_in, i, room));
}

int mxl_rule_same(mxl_rule *rule, mxl_shape *a, mxl_shape *b)
{
    return mxl_rule_merge(rule, a, b) != 0 ? -1 : mxl_rule_merge(rule, b, a);
}

/* Sizes that both inputs have are known in the result, whatever the others are. */
static int broadcast(mxl_rule *rule)
{
    const mxl_shape *a = mxl_rule_in(rule, 0), *b = mxl_rule_in(rule, 1);
    mxl_shape both = {.ndim = a->ndim > b->ndim ? a->ndim : b->ndim};

    if (a->ndim < 0 || b->ndim < 0)
        return 0;
    for (int i = 0; i < both.ndim; i++) {
        int at_a = i - (both.ndim - a->ndim), at_b = i - (both.ndim - b->ndim);
        int64_t x = at_a < 0 ? 1 : a->dim[at_a], y = at_b < 0 ? 1 : b->dim[at_b];

        if (x >= 0 && y >= 0 && x != y && x != 1 && y != 1)
            return 0; /* the operator's own function has the error */
        both.dim[i] = x < 0 || y < 0 ? -1 : x == 1 ? y : x;
    }
    return mxl_rule_merge(rule, mxl_rule_out(rule, 0), &both);
}

/* The result has the shape of the parameter `shape`, if that has at least so many axes. */
static int of_parameter(mxl_rule *rule, int least, bool legacy_shape)
{
    mxl_tuple list = mxl_op_shape_parameter(rule->op, rule->params);
    mxl_shape said;

    if (list.n < least || list.n > MXL_MAX_NDIM)
        return 0;
    mxl_shape_set(&said, list.n, list.v);
    mxl_shape_from_caller(&said, legacy_shape);
    return mxl_rule_merge(rule, mxl_rule_out(rule, 0), &said);
}

int mxl_rule_creation(mxl_rule *rule)
{
    return of_parameter(rule, 0, rule->legacy_shape);
}

int mxl_rule_by_parameter(mxl_rule *rule)
{
    return of_parameter(rule, 1, false);
}

int mxl_rule_reshape(mxl_rule *rule)
{
    mxl_shape *in = mxl_rule_in(rule, 0), *out = mxl_rule_out(rule, 0);
    int64_t size = 1, total;
    int unknown = -1;

    if (in->ndim < 0 || !mxl_shape_known(out))
        return 0;
    for (int i = 0; i < in->ndim; i++) {
        if (in->dim[i] < 0 && unknown >= 0)
            return 0;
        if (in->dim[i] < 0)
            unknown = i;
        else
            size *= in->dim[i];
    }
    total = mxl_shape_size(out->ndim, out->dim);
    /* A product beyond 64 bits tells nothing: a size below 0 would stay unknown for ever. */
    if (unknown < 0 || size <= 0 || total < 0 || total % size != 0)
        return 0;
    in->dim[unknown] = total / size;
    rule->changed = true;
    return 0;
}

int mxl_rule_sized_by_axis(mxl_rule *rule, int64_t axis)
{
    mxl_shape *data = mxl_rule_in(rule, 0);

    if (mxl_rule_same(rule, mxl_rule_out(rule, 0), data) != 0)
        return -1;
    axis = axis < 0 ? axis + data->ndim : axis;
    if (data->ndim < 0 || axis < 0 || axis >= data->ndim)
        return 0;
    for (int i = 1; i < rule->num_in; i++) {
        if (mxl_rule_say(rule, i, 1, &data->dim[axis]) != 0)
            return -1;
    }
    return 0;
}

int64_t mxl_rule_product(int ndim, const int64_t *dim)
{
    int64_t size = 1;

    for (int i = 0; i < ndim; i++) {
        if (dim[i] < 0)
            return -1;
        size *= dim[i];
    }
    return size;
}

/* Of an operator that says nothing. */
static int shapes_of_all(mxl_rule *rule)
{
    const mxl_op *op = rule->op;

    if (op->infer == mxl_infer_same || op->infer == mxl_infer_float_same ||
        (op->kernels != NULL && op->arity == NULL && mxl_op_inputs(op)[1].name == NULL))
        return mxl_rule_said_shapes(rule, "A*>A*");
    return op->infer == mxl_infer_broadcast ? broadcast(rule) : 0;
}

int mxl_rule_shapes(mxl_rule *rule)
{
    const mxl_op *op = rule->op;

    const char *text = mxl_op_shapes(op, rule->params);

    if (text != NULL && mxl_rule_said_shapes(rule, text) != 0)
        return -1;
    if (op->complete_shapes != NULL)
        return op->complete_shapes(rule);
    return text != NULL ? 0 : shapes_of_all(rule);
}

/* ---- dtypes ---- */

int mxl_dtype_complete(int *known, int dtype)
{
    if (*known != MXL_DTYPE_UNKNOWN && dtype != MXL_DTYPE_UNKNOWN && *known != dtype)
        return mxl_error("Type inconsistent, Provided = %s, inferred type = %s",
                         mxl_dtype_name(*known), mxl_dtype_name(dtype));
    if (dtype != MXL_DTYPE_UNKNOWN)
        *known = dtype;
    return 0;
}

int mxl_rule_say_dtype(mxl_rule *rule, int entry, int dtype)
{
    if (dtype == MXL_DTYPE_UNKNOWN)
        return 0;
    rule->changed |= rule->dtypes[entry] == MXL_DTYPE_UNKNOWN;
    return mxl_dtype_complete(&rule->dtypes[entry], dtype);
}

int mxl_rule_say_out_dtypes(mxl_rule *rule, int dtype)
{
    for (int i = 0; i < rule->num_out; i++) {
        if (mxl_rule_say_dtype(rule, rule->out + i, dtype) != 0)
            return -1;
    }
    return 0;
}

int mxl_rule_dtypes(mxl_rule *rule)
{
    const mxl_op *op = rule->op;
    int said;

    if (op->complete_dtypes != NULL)
        return op->complete_dtypes(rule);
    if (op->dtypes != NULL || op->dtypes_of != NULL)
        return mxl_rule_said_dtypes(rule, mxl_op_dtypes(op, rule->params));
    said = mxl_rule_dtype_parameter(rule);
    if (said != MXL_DTYPE_UNKNOWN)
        return mxl_rule_say_out_dtypes(rule, said);
    return mxl_rule_said_dtypes(rule, "A*>A*");
}

/* ---- parameters that many operators have ---- */

/* The field of a parameter of this name and one of two types; NULL: there is none. */
static const void *field_of(const mxl_op *op, const void *params, const char *name,
                            mxl_param_type type, mxl_param_type other)
{
    const mxl_param *param = mxl_param_find(op, name);

    return param != NULL && (param->type == type || param->type == other)
               ? (const char *)params + param->offset
               : NULL;
}

int mxl_rule_dtype_parameter(const mxl_rule *rule)
{
    const int *said = field_of(rule->op, rule->params, "dtype", MXL_P_DTYPE, MXL_P_DTYPE);

    return said != NULL ? *said : MXL_DTYPE_UNKNOWN;
}

int mxl_rule_creation_dtypes(mxl_rule *rule)
{
    int said = mxl_rule_dtype_parameter(rule);

    return mxl_rule_say_out_dtypes(rule, said == MXL_DTYPE_UNKNOWN ? MXL_F32 : said);
}

mxl_tuple mxl_op_shape_parameter(const mxl_op *op, const void *params)
{
    const mxl_tuple *shape = field_of(op, params, "shape", MXL_P_SHAPE, MXL_P_OPT_SHAPE);

    return shape != NULL ? *shape : (mxl_tuple){-1, NULL};
}
