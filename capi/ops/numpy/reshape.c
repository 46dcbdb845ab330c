/* _np_reshape and _npx_reshape, whose shape may have codes; _npi_concatenate and stacks, which are
 * joined after they get the axes that they lack. */
#include "ops/numpy/numpy.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/shape/movement.h"

/* ---- _np_reshape, _npx_reshape ---- */

static const mxl_op op_npx_reshape;

typedef struct reshape_params {
    mxl_tuple newshape;
    int reverse;
    const char *order;
} reshape_params;

/* Codes of a shape. */
enum { INFER = -1, SAME = -2, SKIP = -3, REST = -4, MERGE = -5, SPLIT = -6 };

/* Sizes from codes, from left to right. */
typedef struct reader {
    const mxl_plan *plan;
    int ndim; /* of the input */
    const int64_t *in;
    int at;      /* the input's axis that the next code is about */
    int unknown; /* the output's axis to infer, or -1 */
    mxl_shape out;
} reader;

static int cannot(const reader *r, const char *why)
{
    const reshape_params *p = r->plan->params;

    return mxl_error("%s: newshape %s of an array of shape %s: %s", r->plan->op->name,
                     MXL_SHAPE_TEXT(p->newshape.n, p->newshape.v),
                     MXL_SHAPE_TEXT(r->plan->shape.ndim, r->plan->shape.dim), why);
}

static int put(reader *r, int64_t extent)
{
    if (r->out.ndim == MXL_MAX_NDIM)
        return cannot(r, "too many axes");
    r->out.dim[r->out.ndim++] = extent;
    return 0;
}

/* A size, or the one to infer. */
static int put_size(reader *r, int64_t extent)
{
    if (extent == INFER) {
        if (r->unknown >= 0)
            return cannot(r, "two extents to infer");
        r->unknown = r->out.ndim;
    }
    return put(r, extent);
}

/* One axis in two, of which one may follow from the other. */
static int split(reader *r, int64_t first, int64_t second)
{
    int64_t whole = r->in[r->at++], product;

    if (first == INFER && second == INFER)
        return cannot(r, "two extents to infer");
    if (first == INFER && second > 0)
        first = whole / second;
    if (second == INFER && first > 0)
        second = whole / first;
    if (whole < 0)
        return put(r, first) != 0 ? -1 : put(r, second);
    if (first < 0 || second < 0 || __builtin_mul_overflow(first, second, &product) ||
        product != whole)
        return cannot(r, "an axis is split into parts that it has not");
    return put(r, first) != 0 ? -1 : put(r, second);
}

/* One code, with the two numbers behind that of a split; the number of codes read, or -1. */
static int read_code(reader *r, const int64_t *code, int left)
{
    int axes = *code == MERGE ? 2 : *code == SAME || *code == SKIP || *code == SPLIT ? 1 : 0;

    if (*code < INFER && r->plan->op != &op_npx_reshape)
        return cannot(r, "extents must not be negative, but for one of -1");
    if (axes > 0 && r->at + axes > r->ndim)
        return cannot(r, "a code is about an axis that there is not");
    switch (*code) {
    case SAME:
        return put(r, r->in[r->at++]) != 0 ? -1 : 1;
    case SKIP:
        return mxl_sizes_differ(r->in[r->at++], 1) ? cannot(r, "-3 is for axes of extent 1") : 1;
    case REST:
        while (r->at < r->ndim)
            if (put(r, r->in[r->at++]) != 0)
                return -1;
        return 1;
    case MERGE:
        r->at += 2;
        return put(r, mxl_shape_size(2, r->in + r->at - 2)) != 0 ? -1 : 1;
    case SPLIT:
        if (left < 3)
            return cannot(r, "-6 stands before two extents");
        return split(r, code[1], code[2]) != 0 ? -1 : 3;
    default:
        if (*code < SPLIT)
            return cannot(r, "codes are -1 to -6");
        r->at++; /* each size of the new shape skips one axis of the input, for the codes behind it
                  */
        return put_size(r, *code) != 0 ? -1 : 1;
    }
}

/* The numbers in reverse order, in `room`, which is returned. */
static const int64_t *turn(int n, const int64_t *v, int64_t *room)
{
    for (int i = 0; i < n; i++)
        room[i] = v[n - 1 - i];
    return room;
}

/* The size to infer; -1 with the error set where the sizes do not fit. */
static int complete(reader *r)
{
    int64_t size = mxl_shape_size(r->ndim, r->in), known = 1;

    if (size < 0) {
        if (r->unknown >= 0)
            r->out.dim[r->unknown] = size;
        return 0;
    }
    for (int i = 0; i < r->out.ndim; i++) {
        if (i != r->unknown && __builtin_mul_overflow(known, r->out.dim[i], &known))
            return cannot(r, "too many elements");
    }
    if (r->unknown >= 0) {
        if (known == 0 || size % known != 0)
            return cannot(r, "no extent fits");
        r->out.dim[r->unknown] = size / known;
        known = size;
    }
    return known == size ? 0 : cannot(r, "another number of elements");
}

/* Whether the codes are sizes alone, of so many elements. */
static bool are_sizes(const mxl_tuple *codes, int64_t elements)
{
    int64_t known = 1;

    for (int i = 0; i < codes->n; i++) {
        if (codes->v[i] < 0 || __builtin_mul_overflow(known, codes->v[i], &known))
            return false;
    }
    return known == elements && codes->n <= MXL_MAX_NDIM;
}

static int reshape_plan(mxl_plan *p)
{
    const reshape_params *params = p->params;
    const int64_t *codes = params->newshape.v;
    int64_t turned_in[MXL_MAX_NDIM], turned_codes[MXL_MAX_NDIM * 3];
    int n = params->newshape.n;
    reader r; /* its shape is filled as far as it is read */

    r.plan = p;
    r.ndim = p->shape.ndim;
    r.in = p->shape.dim;
    r.at = r.out.ndim = 0;
    r.unknown = -1;
    if (strcmp(params->order, "C") != 0)
        return mxl_error("NotImplementedError: %s: order must be 'C', got '%s'", p->op->name,
                         params->order);
    if (are_sizes(&params->newshape, mxl_shape_size(p->shape.ndim, p->shape.dim))) {
        mxl_plan_reshape(p, n, codes);
        return 0;
    }
    if (n > MXL_MAX_NDIM * 3)
        return cannot(&r, "too many axes");
    if (params->reverse) {
        r.in = turn(r.ndim, r.in, turned_in);
        codes = turn(n, codes, turned_codes); /* a split stands behind its two extents then */
    }
    for (int i = 0, count; i < n; i += count) {
        count = read_code(&r, codes + i, n - i);
        if (count < 0)
            return -1;
    }
    if (complete(&r) != 0)
        return -1;
    mxl_plan_reshape(p, r.out.ndim,
                     params->reverse ? turn(r.out.ndim, r.out.dim, turned_in) : r.out.dim);
    return 0;
}

#define RESHAPE(symbol, op_name, its_aliases, shape_text, ...)                                     \
    static const mxl_op symbol = {                                                                 \
        .name = op_name,                                                                           \
        .aliases = its_aliases,                                                                    \
        .doc = "The same elements in another shape, which must be of as many.",                    \
        .inputs = mxl_inputs_np,                                                                   \
        MXL_PARAMS_OF(reshape_params,                                                              \
                      MXL_PARAM(reshape_params, newshape, MXL_P_SHAPE, MXL_REQUIRED, shape_text,   \
                                .type_name = "Shape(tuple)"),                                      \
                      __VA_ARGS__),                                                                \
        MXL_MOVEMENT_BACK(reshape_plan, mxl_reshape_grad),                                         \
        .complete_shapes = mxl_rule_reshape,                                                       \
    }
#define REVERSE                                                                                    \
    MXL_PARAM(reshape_params, reverse, MXL_P_BOOL, "0",                                            \
              "Whether codes are read from the right; -6 stands behind its extents then.")
#define ORDER                                                                                      \
    MXL_PARAM(reshape_params, order, MXL_P_STRING, "C",                                            \
              "The order of elements, which must be that of C.")

RESHAPE(op_np_reshape, MXL_NUMPY("_np_reshape"), NULL,
        "The shape; one extent may be -1: what is left.", ORDER);
RESHAPE(op_npx_reshape, MXL_NUMPY("_npx_reshape"), MXL_ALIASES("_npi_reshape"),
        "Extents, and codes: -1 what is left, -2 the axis as it is, -3 drops an axis of extent 1, "
        "-4 all axes that follow, -5 two axes in one, -6 one axis in the two extents behind the "
        "code.",
        REVERSE, ORDER);

/* ---- _npi_concatenate ---- */

typedef struct concatenate_params {
    int64_t num_args, axis;
} concatenate_params;

/* Arrays get axes of extent 1 up to `least`; the axis of a vector becomes axis `place`. Then they
 * are joined along `axis`, or along the only one. */
typedef struct stack_op {
    mxl_op op;
    int least, place, axis;
} stack_op;

static mxl_shape lifted(const stack_op *stack, const mxl_array *x)
{
    mxl_shape shape = {.ndim = x->ndim > stack->least ? x->ndim : stack->least};
    int first = x->ndim == 1 ? stack->place : 0;

    for (int i = 0; i < shape.ndim; i++)
        shape.dim[i] = i >= first && i < first + x->ndim ? x->shape[i - first] : 1;
    return shape;
}

/* Joins the arrays as the stack has them or, if that is NULL, each in one line. */
static mxl_array *join(mxl_scope *s, const mxl_call *call, const stack_op *stack)
{
    size_t bytes = (size_t)call->num_inputs * sizeof(mxl_array *);
    mxl_array *joined, **parts = mxl_alloc(bytes);
    int axis = 0;

    if (parts == NULL)
        return NULL;
    for (int i = 0; i < call->num_inputs; i++) {
        mxl_array *x = call->in[i];
        mxl_shape shape = {1, {x->size}};

        if (stack != NULL)
            shape = lifted(stack, x);
        if (stack != NULL && i == 0)
            axis = stack->axis < shape.ndim ? stack->axis : shape.ndim - 1;
        parts[i] = mxl_reshape(s, x, shape.ndim, shape.dim);
    }
    joined = mxl_concat(s, call->num_inputs, parts, axis);
    mxl_free(parts, bytes);
    return joined;
}

static mxl_array *concatenate_compose(mxl_scope *s, const mxl_call *call)
{
    int64_t wanted = ((const concatenate_params *)call->params)->axis;
    int axis;

    if (wanted == MXL_NONE)
        return join(s, call, NULL);
    axis = mxl_check_axis(call->op, wanted, call->in[0]->ndim);
    return axis < 0 ? NULL : mxl_concat(s, call->num_inputs, call->in, axis);
}

static mxl_array *stack_compose(mxl_scope *s, const mxl_call *call)
{
    return join(s, call, (const stack_op *)(const void *)call->op);
}

/* Without an axis the inputs are flat, whatever they have. */
static const char *concatenate_shapes(const void *params)
{
    return ((const concatenate_params *)params)->axis == MXL_NONE ? "(data[*S_i])... -> [N]" : NULL;
}

MXL_NP(concatenate, "_npi_concatenate",
       "Joins arrays along an axis; their other extents must be the same.",
       MXL_INPUTS(MXL_INPUT(data, "The arrays to join.")),
       MXL_PARAMS_OF(concatenate_params,
                     MXL_PARAM(concatenate_params, num_args, MXL_P_INT, MXL_REQUIRED,
                               "Number of arrays to join.", MXL_AT_LEAST(1)),
                     MXL_PARAM(concatenate_params, axis, MXL_P_OPT_INT, "0",
                               "The axis to join along; None: the arrays are flattened.")),
       .key_var_num_args = "num_args", .arity = mxl_join_arity, .output_names = "out",
       MXL_SHAPES_TABLE("(data[*A,D_i@axis,*B])... -> [*A,sum(D_i),*B]"),
       .shapes_of = concatenate_shapes);

/* ---- _npi_vstack, _npi_hstack, _npi_dstack, _npi_column_stack ---- */

typedef struct stack_params {
    int64_t num_args, dim;
} stack_params;

#define NUM_ARGS                                                                                   \
    MXL_PARAM(stack_params, num_args, MXL_P_INT, MXL_REQUIRED, "Number of arrays to join.",        \
              MXL_AT_LEAST(1))
#define DIM MXL_PARAM(stack_params, dim, MXL_P_INT, "1", "Of no effect.")
#define STACK(id, text, names, least_axes, vector_place, join_axis, ...)                           \
    static const stack_op op_##id = {                                                              \
        .op = {.name = MXL_NUMPY("_npi_" #id),                                                     \
               .doc = text " Their other extents must be the same.",                               \
               MXL_INPUTS(MXL_INPUT(data, "The arrays to join.")),                                 \
               MXL_PARAMS_OF(stack_params, __VA_ARGS__),                                           \
               .key_var_num_args = "num_args",                                                     \
               .arity = mxl_join_arity,                                                            \
               .compose = stack_compose,                                                           \
               .output_names = names},                                                             \
        .least = least_axes,                                                                       \
        .place = vector_place,                                                                     \
        .axis = join_axis,                                                                         \
    }

STACK(vstack, "Joins arrays along axis 0; vectors are rows.", NULL, 2, 1, 0, NUM_ARGS);
STACK(hstack, "Joins arrays along axis 1, vectors along their only one.", "out", 1, 0, 1, NUM_ARGS,
      DIM);
STACK(dstack, "Joins arrays along axis 2, which those of fewer axes get.", "out", 3, 1, 2, NUM_ARGS,
      DIM);
STACK(column_stack, "Joins arrays along axis 1; vectors are columns.", NULL, 2, 0, 1, NUM_ARGS);

const mxl_op *const mxl_ops_np_reshape[] = {
    &op_np_reshape, &op_npx_reshape, &op_concatenate,     &op_vstack.op,
    &op_hstack.op,  &op_dstack.op,   &op_column_stack.op, NULL,
};
