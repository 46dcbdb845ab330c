/* For tests of operators: calls by name, arrays from lists, and gradients of order 1 and 2 by
 * central differences. A header, because the test helpers use only the public API. */
#ifndef OPS_KIT_H
#define OPS_KIT_H

#include <math.h>
#include <stdarg.h>

#include "base/error.h"
#include "engine/backward/backward.h"
#include "engine/run/invoke.h"
#include "engine/run/generator.h"
#include "harness.h"
#include "op/op.h"

enum { MOST_INPUTS = 3 };

static inline mxl_mode mode_of(bool record, bool training)
{
    mxl_mode mode = {.record = record, .training = training, .dialect = &mxl_dialect_mxnet};

    return mode;
}

/* ---- calling operators by name; parameters as "key=value key=value" ---- */

static inline int split(char *text, const char **keys, const char **values)
{
    int count = 0;

    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');

        *equals = 0;
        keys[count] = word;
        values[count++] = equals + 1;
    }
    return count;
}

/* Runs it into *out (NULL: a new array); -1 with the error set. */
static inline int run_into(const char *name, const char *params, mxl_mode mode, int num_inputs,
                           mxl_array *const *inputs, mxl_array **out)
{
    const mxl_op *op = mxl_op_find(name);
    _Alignas(16) char room[512];
    char text[256];
    const char *keys[8], *values[8];
    mxl_arena arena;
    int count, status;

    if (op == NULL)
        return -1;
    strncpy(text, params, sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    count = split(text, keys, values);
    mxl_arena_init(&arena);
    status = mxl_params_parse(op, count, keys, values, room, &arena);
    if (status == 0)
        status = mxl_invoke(op, room, num_inputs, inputs, 1, out, mode);
    mxl_arena_clear(&arena);
    return status;
}

static inline mxl_array *run(const char *name, const char *params, mxl_mode mode, int num_inputs,
                             ...)
{
    mxl_array *inputs[4], *out = NULL;
    va_list list;

    va_start(list, num_inputs);
    for (int i = 0; i < num_inputs; i++)
        inputs[i] = va_arg(list, mxl_array *);
    va_end(list);
    CHECK_INT(run_into(name, params, mode, num_inputs, inputs, &out), 0);
    if (out == NULL)
        CHECK_STR(mxl_error_text(), "");
    return out;
}

/* The call fails with a message that holds `text`. */
static inline void fails(const char *text, const char *name, const char *params, int num_inputs,
                         ...)
{
    mxl_array *inputs[4], *out = NULL;
    va_list list;

    va_start(list, num_inputs);
    for (int i = 0; i < num_inputs; i++)
        inputs[i] = va_arg(list, mxl_array *);
    va_end(list);
    CHECK_INT(run_into(name, params, mode_of(false, false), num_inputs, inputs, &out), -1);
    CHECK_HAS(mxl_error_text(), text);
    CHECK(out == NULL);
    mxl_array_release(out);
}

/* ---- arrays ---- */

static inline double value_at(int dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case MXL_F32:
        return (double)((const float *)data)[i];
    case MXL_F64:
        return ((const double *)data)[i];
    case MXL_F16:
        return (double)mxl_half_to_float(((const mxl_half *)data)[i]);
    case MXL_I8:
        return ((const int8_t *)data)[i];
    case MXL_I32:
        return ((const int32_t *)data)[i];
    case MXL_I64:
        return (double)((const int64_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

static inline void set_value(int dtype, void *data, int64_t i, double v)
{
    switch (dtype) {
    case MXL_F32:
        ((float *)data)[i] = (float)v;
        break;
    case MXL_F64:
        ((double *)data)[i] = v;
        break;
    case MXL_F16:
        ((mxl_half *)data)[i] = mxl_half_from_float((float)v);
        break;
    case MXL_I8:
        ((int8_t *)data)[i] = (int8_t)v;
        break;
    case MXL_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    case MXL_I64:
        ((int64_t *)data)[i] = (int64_t)v;
        break;
    default:
        ((uint8_t *)data)[i] = (uint8_t)v;
    }
}

static inline double item(const mxl_array *array, int64_t i)
{
    return value_at(array->dtype, mxl_array_read(array), i);
}

static inline void set_item(mxl_array *array, int64_t i, double value)
{
    set_value(array->dtype, mxl_array_write(array), i, value);
}

/* Shapes as lists that end with -1. */
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, -1})
#define SCALAR     ((const int64_t[]){-1})

static inline int shape_ndim(const int64_t *shape)
{
    int n = 0;

    while (shape[n] >= 0)
        n++;
    return n;
}

static inline mxl_array *filled(int dtype, const int64_t *shape, const double *values)
{
    mxl_array *array = mxl_array_new(dtype, shape_ndim(shape), shape);

    for (int64_t i = 0; i < array->size; i++)
        set_item(array, i, values[i]);
    return array;
}

#define ARRAY(dtype, shape, ...) filled(dtype, shape, (const double[]){__VA_ARGS__})

/* Numbers in [0.5, 1.5), all different. */
static inline mxl_array *random_array(uint64_t *seed, const int64_t *shape)
{
    mxl_array *array = mxl_array_new(MXL_F64, shape_ndim(shape), shape);

    for (int64_t i = 0; i < array->size; i++)
        set_item(array, i, 0.5 + (double)(harness_random(seed) >> 11) * 0x1p-53);
    return array;
}

/* Makes it something that gradients are asked for. */
static inline void make_variable(mxl_array *array)
{
    mxl_leaf *spare = NULL;

    CHECK_INT(mxl_array_reserve_leaf(array, &spare), 0);
    mxl_array_set_leaf(array, MXL_GRAD_WRITE, NULL, spare);
}

/* Checks dtype, shape and values, and drops the array. */
static inline void is(mxl_array *array, int dtype, const int64_t *shape, const double *values)
{
    REQUIRE(array != NULL);
    CHECK_INT(array->dtype, dtype);
    CHECK(mxl_shape_same(array->ndim, array->shape, shape_ndim(shape), shape));
    for (int64_t i = 0; i < array->size && i < mxl_shape_size(shape_ndim(shape), shape); i++)
        CHECK_NEAR(item(array, i), values[i], 1e-6);
    mxl_array_release(array);
}

#define IS(array, dtype, shape, ...) is(array, dtype, shape, (const double[]){__VA_ARGS__})
#define EMPTY                        ((const double[]){0})
#define PLAIN                        mode_of(false, false)

/* ---- gradients by differences ---- */

/* One operator under test; its result is squared, and so are its inputs before, so that every rule
 * is seen with a head that depends on the inputs. `constant` is a last input of no gradient. */
typedef struct probe {
    const char *op, *params;
    int num_inputs;
    mxl_array *constant;
    bool training;
    mxl_array *weight; /* of the result's elements; made at the first run */
    uint64_t seed;
} probe;

static inline mxl_array *call1(const char *op, mxl_array *a, mxl_mode mode)
{
    mxl_array *out = NULL;

    if (a != NULL)
        run_into(op, "", mode, 1, &a, &out);
    mxl_array_release(a);
    return out;
}

static inline mxl_array *probe_forward(probe *p, mxl_array *const *x, mxl_mode mode)
{
    mxl_array *in[MOST_INPUTS + 1], *y = NULL;
    int count = p->num_inputs;

    mxl_random_seed(7);
    for (int i = 0; i < count; i++) {
        mxl_array_retain(x[i]);
        in[i] = call1("square", x[i], mode);
    }
    if (p->constant != NULL)
        in[count++] = p->constant;
    CHECK_INT(run_into(p->op, p->params, mode, count, in, &y), 0);
    for (int i = 0; i < p->num_inputs; i++)
        mxl_array_release(in[i]);
    y = call1("square", y, mode);
    if (y != NULL && p->weight == NULL) {
        int64_t shape[MXL_MAX_NDIM + 1];

        memcpy(shape, y->shape, (size_t)y->ndim * sizeof(*shape));
        shape[y->ndim] = -1;
        p->weight = random_array(&p->seed, shape);
    }
    return y;
}

/* First gradients of sum(weight * result) with respect to all inputs; recorded with `again`. */
static inline bool probe_first(probe *p, mxl_array *const *x, mxl_array **grads, bool again)
{
    mxl_array *y = probe_forward(p, x, mode_of(true, p->training));
    mxl_backward_args args = {.num_heads = 1,
                              .heads = &y,
                              .head_grads = &p->weight,
                              .num_variables = p->num_inputs,
                              .variables = x,
                              .grads = grads,
                              .retain_graph = again,
                              .create_graph = again,
                              .training = true,
                              .dialect = &mxl_dialect_mxnet};
    bool done = y != NULL && mxl_backward(&args) == 0;

    if (!CHECK(done))
        CHECK_STR(mxl_error_text(), "");
    mxl_array_release(y);
    return done;
}

static inline double weighted(const mxl_array *a, const mxl_array *weight)
{
    double sum = 0;

    for (int64_t i = 0; i < a->size; i++)
        sum += item(a, i) * item(weight, i);
    return sum;
}

/* What is differentiated: the weighted result, or with order 2 the weighted first gradients. */
static inline double probe_value(probe *p, mxl_array *const *x, mxl_array *const *v, int order)
{
    mxl_array *grads[MOST_INPUTS] = {NULL};
    double value = 0;

    if (order == 1) {
        mxl_array *y = probe_forward(p, x, mode_of(false, p->training));

        value = y == NULL ? NAN : weighted(y, p->weight);
        mxl_array_release(y);
        return value;
    }
    if (!probe_first(p, x, grads, false))
        return NAN;
    for (int i = 0; i < p->num_inputs; i++) {
        value += weighted(grads[i], v[i]);
        mxl_array_release(grads[i]);
    }
    return value;
}

static inline void compare(probe *p, mxl_array *const *x, mxl_array *const *v,
                           mxl_array *const *grads, int order)
{
    const double h = 1e-5;

    for (int i = 0; i < p->num_inputs; i++) {
        for (int64_t k = 0; k < x[i]->size; k++) {
            double at = item(x[i], k), above, below;

            set_item(x[i], k, at + h);
            above = probe_value(p, x, v, order);
            set_item(x[i], k, at - h);
            below = probe_value(p, x, v, order);
            set_item(x[i], k, at);
            if (!CHECK_NEAR(item(grads[i], k), (above - below) / (2 * h), 1e-6))
                CHECK_STR(p->op, p->params);
        }
    }
}

/* Both orders, inputs of the given shapes. */
static inline void check_gradients(const char *op, const char *params, mxl_array *constant,
                                   int num_inputs, const int64_t *a, const int64_t *b,
                                   const int64_t *c)
{
    const int64_t *shapes[MOST_INPUTS] = {a, b, c};
    probe p = {.op = op,
               .params = params,
               .num_inputs = num_inputs,
               .constant = constant,
               .training = true,
               .seed = 11};
    mxl_array *x[MOST_INPUTS] = {NULL}, *v[MOST_INPUTS] = {NULL};
    mxl_array *first[MOST_INPUTS] = {NULL}, *second[MOST_INPUTS] = {NULL};
    mxl_backward_args args = {.num_heads = num_inputs,
                              .heads = first,
                              .head_grads = v,
                              .num_variables = num_inputs,
                              .variables = x,
                              .grads = second,
                              .training = true,
                              .dialect = &mxl_dialect_mxnet};

    for (int i = 0; i < num_inputs; i++) {
        x[i] = random_array(&p.seed, shapes[i]);
        v[i] = random_array(&p.seed, shapes[i]);
        make_variable(x[i]);
    }
    if (probe_first(&p, x, first, true)) {
        bool twice = CHECK(mxl_backward(&args) == 0);

        /* Only now: comparing edits the inputs. */
        compare(&p, x, v, first, 1);
        if (twice)
            compare(&p, x, v, second, 2);
        else
            CHECK_STR(mxl_error_text(), op);
    }
    for (int i = 0; i < num_inputs; i++) {
        mxl_array_release(first[i]);
        mxl_array_release(second[i]);
        mxl_array_release(x[i]);
        mxl_array_release(v[i]);
    }
    mxl_array_release(p.weight);
}

/* The gradient of input 0 for a head gradient (kept by the caller). */
static inline mxl_array *gradient(const char *op, const char *params, bool training, mxl_array *x,
                                  mxl_array *other, mxl_array *head)
{
    mxl_array *inputs[2] = {x, other}, *y = NULL, *grad = NULL;
    mxl_backward_args args = {.num_heads = 1,
                              .heads = &y,
                              .head_grads = &head,
                              .num_variables = 1,
                              .variables = &x,
                              .grads = &grad,
                              .training = true,
                              .dialect = &mxl_dialect_mxnet};

    make_variable(x);
    if (CHECK(run_into(op, params, mode_of(true, training), other == NULL ? 1 : 2, inputs, &y) ==
              0))
        CHECK_INT(mxl_backward(&args), 0);
    mxl_array_release(y);
    return grad;
}

#endif
