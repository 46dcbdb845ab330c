/* Reductions, products, softmax, Dropout, random arrays and optimizers: values, and gradients of
 * order 1 and 2 by central differences. The full table of cases is in tests/python. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/thread.h"
#include "engine/backward.h"
#include "engine/invoke.h"
#include "engine/random.h"
#include "harness.h"
#include "op/op.h"

enum { MOST_INPUTS = 3, MOST_ELEMENTS = 64 };

static mxl_mode mode_of(bool record, bool training)
{
    mxl_mode mode = {.record = record, .training = training, .dialect = &mxl_dialect_mxnet};

    return mode;
}

/* ---- calling operators by name; parameters as "key=value key=value" ---- */

static int split(char *text, const char **keys, const char **values)
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
static int run_into(const char *name, const char *params, mxl_mode mode, int num_inputs,
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

static mxl_array *run(const char *name, const char *params, mxl_mode mode, int num_inputs, ...)
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
static void fails(const char *text, const char *name, const char *params, int num_inputs, ...)
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
    mxl_array_drop(out);
}

/* ---- arrays ---- */

static double item(const mxl_array *array, int64_t i)
{
    switch (array->dtype) {
    case MXL_F32:
        return ((const float *)mxl_array_read(array))[i];
    case MXL_F64:
        return ((const double *)mxl_array_read(array))[i];
    case MXL_I32:
        return ((const int32_t *)mxl_array_read(array))[i];
    case MXL_U8:
        return ((const uint8_t *)mxl_array_read(array))[i];
    case MXL_F16:
        return mxl_half_to_float(((const mxl_half *)mxl_array_read(array))[i]);
    default:
        return (double)((const int64_t *)mxl_array_read(array))[i];
    }
}

static void set_item(mxl_array *array, int64_t i, double value)
{
    void *data = mxl_array_write(array);

    switch (array->dtype) {
    case MXL_F32:
        ((float *)data)[i] = (float)value;
        break;
    case MXL_F64:
        ((double *)data)[i] = value;
        break;
    case MXL_I32:
        ((int32_t *)data)[i] = (int32_t)value;
        break;
    case MXL_U8:
        ((uint8_t *)data)[i] = (uint8_t)value;
        break;
    case MXL_F16:
        ((mxl_half *)data)[i] = mxl_half_from_float((float)value);
        break;
    default:
        ((int64_t *)data)[i] = (int64_t)value;
    }
}

/* Shapes as lists that end with -1. */
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, -1})
#define SCALAR     ((const int64_t[]){-1})

static int shape_ndim(const int64_t *shape)
{
    int n = 0;

    while (shape[n] >= 0)
        n++;
    return n;
}

static mxl_array *filled(int dtype, const int64_t *shape, const double *values)
{
    mxl_array *array = mxl_array_new(dtype, shape_ndim(shape), shape);

    for (int64_t i = 0; i < array->size; i++)
        set_item(array, i, values[i]);
    return array;
}

#define ARRAY(dtype, shape, ...) filled(dtype, shape, (const double[]){__VA_ARGS__})

/* Numbers in [0.5, 1.5), all different. */
static mxl_array *random_array(uint64_t *seed, const int64_t *shape)
{
    mxl_array *array = mxl_array_new(MXL_F64, shape_ndim(shape), shape);

    for (int64_t i = 0; i < array->size; i++)
        set_item(array, i, 0.5 + (double)(harness_random(seed) >> 11) * 0x1p-53);
    return array;
}

/* Checks dtype, shape and values, and drops the array. */
static void is(mxl_array *array, int dtype, const int64_t *shape, const double *values)
{
    REQUIRE(array != NULL);
    CHECK_INT(array->dtype, dtype);
    CHECK(mxl_shape_same(array->ndim, array->shape, shape_ndim(shape), shape));
    for (int64_t i = 0; i < array->size && i < mxl_shape_size(shape_ndim(shape), shape); i++)
        CHECK_NEAR(item(array, i), values[i], 1e-6);
    mxl_array_drop(array);
}

#define IS(array, dtype, shape, ...) is(array, dtype, shape, (const double[]){__VA_ARGS__})
#define EMPTY                        ((const double[]){0})
#define PLAIN                        mode_of(false, false)

/* ---- gradients by differences ---- */

/* One operator under test; its result is squared, and so are its inputs before, so that every rule is
 * seen with a head that depends on the inputs. `constant` is a last input of no gradient. */
typedef struct probe {
    const char *op, *params;
    int num_inputs;
    mxl_array *constant;
    bool training;
    mxl_array *weight; /* of the result's elements; made at the first run */
    uint64_t seed;
} probe;

static mxl_array *call1(const char *op, mxl_array *a, mxl_mode mode)
{
    mxl_array *out = NULL;

    if (a != NULL)
        run_into(op, "", mode, 1, &a, &out);
    mxl_array_drop(a);
    return out;
}

static mxl_array *probe_forward(probe *p, mxl_array *const *x, mxl_mode mode)
{
    mxl_array *in[MOST_INPUTS + 1], *y = NULL;
    int count = p->num_inputs;

    mxl_random_seed(7);
    for (int i = 0; i < count; i++) {
        mxl_array_keep(x[i]);
        in[i] = call1("square", x[i], mode);
    }
    if (p->constant != NULL)
        in[count++] = p->constant;
    CHECK_INT(run_into(p->op, p->params, mode, count, in, &y), 0);
    for (int i = 0; i < p->num_inputs; i++)
        mxl_array_drop(in[i]);
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
static bool probe_first(probe *p, mxl_array *const *x, mxl_array **grads, bool again)
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
    mxl_array_drop(y);
    return done;
}

static double weighted(const mxl_array *a, const mxl_array *weight)
{
    double sum = 0;

    for (int64_t i = 0; i < a->size; i++)
        sum += item(a, i) * item(weight, i);
    return sum;
}

/* What is differentiated: the weighted result, or with order 2 the weighted first gradients. */
static double probe_value(probe *p, mxl_array *const *x, mxl_array *const *v, int order)
{
    mxl_array *grads[MOST_INPUTS] = {NULL};
    double value = 0;

    if (order == 1) {
        mxl_array *y = probe_forward(p, x, mode_of(false, p->training));

        value = y == NULL ? NAN : weighted(y, p->weight);
        mxl_array_drop(y);
        return value;
    }
    if (!probe_first(p, x, grads, false))
        return NAN;
    for (int i = 0; i < p->num_inputs; i++) {
        value += weighted(grads[i], v[i]);
        mxl_array_drop(grads[i]);
    }
    return value;
}

static void compare(probe *p, mxl_array *const *x, mxl_array *const *v, mxl_array *const *grads,
                    int order)
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
static void check_gradients(const char *op, const char *params, mxl_array *constant, int num_inputs,
                            const int64_t *a, const int64_t *b, const int64_t *c)
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
        CHECK_INT(mxl_array_set_leaf(x[i], MXL_GRAD_WRITE, NULL), 0);
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
        mxl_array_drop(first[i]);
        mxl_array_drop(second[i]);
        mxl_array_drop(x[i]);
        mxl_array_drop(v[i]);
    }
    mxl_array_drop(p.weight);
}

/* ---- reductions ---- */

TEST(reduce_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 5, 2, 4, 3, 6);

    IS(run("sum", "", PLAIN, 1, x), MXL_F32, SHAPE(1), 21);
    IS(run("sum", "axis=() exclude=1", PLAIN, 1, x), MXL_F32, SHAPE(1), 21);
    IS(run("sum", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(3), 5, 8, 8);
    IS(run("sum", "axis=(-1,)", PLAIN, 1, x), MXL_F32, SHAPE(2), 8, 13);
    IS(run("sum", "axis=0 exclude=1", PLAIN, 1, x), MXL_F32, SHAPE(2), 8, 13);
    IS(run("sum", "axis=(1,0) exclude=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), 1, 5, 2, 4, 3, 6);
    IS(run("sum", "keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(1, 1), 21);
    IS(run("mean", "axis=1 keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 1), 8.0 / 3, 13.0 / 3);
    IS(run("max", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(3), 4, 5, 6);
    IS(run("argmax", "", PLAIN, 1, x), MXL_F32, SHAPE(1), 5);
    IS(run("argmax", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(3), 1, 0, 1);
    IS(run("argmax", "axis=-1 keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 1), 1, 2);
    mxl_array_drop(x);
}

TEST(reduce_dtypes)
{
    mxl_array *bytes = ARRAY(MXL_U8, SHAPE(2), 200, 101), *ints = ARRAY(MXL_I32, SHAPE(2), -3, 0);
    mxl_array *nan = ARRAY(MXL_F64, SHAPE(3), 1, NAN, 2);

    IS(run("sum", "", PLAIN, 1, bytes), MXL_U8, SHAPE(1), 45);
    IS(run("mean", "", PLAIN, 1, bytes), MXL_U8, SHAPE(1), 22);
    IS(run("mean", "", PLAIN, 1, ints), MXL_I32, SHAPE(1), -1);
    IS(run("argmax", "axis=0", PLAIN, 1, ints), MXL_I32, SHAPE(1), 1);
    IS(run("max", "", PLAIN, 1, nan), MXL_F64, SHAPE(1), NAN);
    IS(run("argmax", "", PLAIN, 1, nan), MXL_F64, SHAPE(1), 1);
    mxl_array_drop(bytes);
    mxl_array_drop(ints);
    mxl_array_drop(nan);
}

TEST(reduce_edges)
{
    mxl_array *none = ARRAY(MXL_F32, SHAPE(0, 3), 0), *one = ARRAY(MXL_F32, SCALAR, 5);
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4);

    IS(run("sum", "", PLAIN, 1, none), MXL_F32, SHAPE(1), 0);
    IS(run("sum", "axis=0", PLAIN, 1, none), MXL_F32, SHAPE(3), 0, 0, 0);
    IS(run("mean", "axis=0", PLAIN, 1, none), MXL_F32, SHAPE(3), NAN, NAN, NAN);
    is(run("argmax", "axis=1", PLAIN, 1, none), MXL_F32, SHAPE(0), EMPTY);
    IS(run("sum", "", PLAIN, 1, one), MXL_F32, SHAPE(1), 5);
    IS(run("max", "keepdims=1", PLAIN, 1, one), MXL_F32, SCALAR, 5);
    IS(run("argmax", "", PLAIN, 1, one), MXL_F32, SHAPE(1), 0);
    fails("no elements", "max", "axis=1", 1, none);
    fails("nothing to search", "argmax", "axis=0", 1, none);
    fails("out of range", "sum", "axis=2", 1, x);
    fails("out of range", "sum", "axis=-3", 1, x);
    fails("out of range", "argmax", "axis=2", 1, x);
    fails("out of range", "sum", "axis=0", 1, one);
    fails("twice", "mean", "axis=(0,-2)", 1, x);
    fails("twice", "mean", "axis=(0,0) exclude=1", 1, x);
    mxl_array_drop(none);
    mxl_array_drop(one);
    mxl_array_drop(x);
}

TEST(reduce_gradients)
{
    const char *params[] = {"",       "keepdims=1",       "axis=1",          "axis=(0,2)",
                            "axis=0", "axis=1 exclude=1", "axis=1 keepdims=1"};

    for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
        check_gradients("sum", params[i], NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
        check_gradients("mean", params[i], NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
        check_gradients("max", params[i], NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
    }
    check_gradients("sum", "", NULL, 1, SCALAR, NULL, NULL);
}

/* The gradient of input 0 for a head gradient (kept by the caller). */
static mxl_array *gradient(const char *op, const char *params, bool training, mxl_array *x,
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

    CHECK_INT(mxl_array_set_leaf(x, MXL_GRAD_WRITE, NULL), 0);
    if (CHECK(run_into(op, params, mode_of(true, training), other == NULL ? 1 : 2, inputs, &y) == 0))
        CHECK_INT(mxl_backward(&args), 0);
    mxl_array_drop(y);
    return grad;
}

TEST(max_ties)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(4), 1, 3, 3, 2), *head = ARRAY(MXL_F32, SHAPE(1), 5);
    mxl_array *nan = ARRAY(MXL_F32, SHAPE(3), 1, NAN, 3);
    mxl_array *ints = ARRAY(MXL_I32, SHAPE(3), 1, 3, 3), *six = ARRAY(MXL_I32, SHAPE(1), 6);

    IS(gradient("max", "", false, x, NULL, head), MXL_F32, SHAPE(4), 0, 5, 5, 0);
    IS(gradient("max", "", false, nan, NULL, head), MXL_F32, SHAPE(3), 0, 0, 0);
    IS(gradient("max", "", false, ints, NULL, six), MXL_I32, SHAPE(3), 0, 6, 6);
    IS(gradient("mean", "", false, ints, NULL, six), MXL_I32, SHAPE(3), 2, 2, 2);
    IS(gradient("argmax", "", false, x, NULL, head), MXL_F32, SHAPE(4), 0, 0, 0, 0);
    mxl_array_drop(x);
    mxl_array_drop(head);
    mxl_array_drop(nan);
    mxl_array_drop(ints);
    mxl_array_drop(six);
}

/* ---- products ---- */

TEST(dot_values)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    mxl_array *v = ARRAY(MXL_F32, SHAPE(3), 1, 0, -1), *w = ARRAY(MXL_F32, SHAPE(2), 1, 2);
    mxl_array *deep = ARRAY(MXL_F32, SHAPE(3, 2, 1), 1, 2, 3, 4, 5, 6);
    mxl_array *f64 = ARRAY(MXL_F64, SHAPE(3), 1, 2, 3), *ints = ARRAY(MXL_I32, SHAPE(1), 1);

    IS(run("dot", "", PLAIN, 2, v, v), MXL_F32, SHAPE(1), 2);
    IS(run("dot", "", PLAIN, 2, a, v), MXL_F32, SHAPE(2), -2, -2);
    IS(run("dot", "transpose_b=1", PLAIN, 2, a, v), MXL_F32, SHAPE(2), -2, -2);
    IS(run("dot", "", PLAIN, 2, w, a), MXL_F32, SHAPE(3), 9, 12, 15);
    IS(run("dot", "transpose_a=1", PLAIN, 2, a, w), MXL_F32, SHAPE(3), 9, 12, 15);
    IS(run("dot", "transpose_b=1", PLAIN, 2, a, a), MXL_F32, SHAPE(2, 2), 14, 32, 32, 77);
    IS(run("dot", "", PLAIN, 2, a, deep), MXL_F32, SHAPE(2, 2, 1), 22, 28, 49, 64);
    IS(run("dot", "transpose_a=1", PLAIN, 2, deep, v), MXL_F32, SHAPE(2, 1), -4, -4);
    fails("vectors", "dot", "transpose_a=1", 2, v, v);
    fails("3 and 2 differ", "dot", "", 2, a, a);
    fails("dtypes", "dot", "", 2, v, f64);
    fails("float32 or float64", "dot", "", 2, ints, ints);
    mxl_array_drop(a);
    mxl_array_drop(v);
    mxl_array_drop(w);
    mxl_array_drop(deep);
    mxl_array_drop(f64);
    mxl_array_drop(ints);
}

TEST(dot_empty)
{
    mxl_array *wide = ARRAY(MXL_F64, SHAPE(2, 0), 0), *tall = ARRAY(MXL_F64, SHAPE(0, 3), 0);
    mxl_array *v = ARRAY(MXL_F64, SHAPE(0), 0), *b = ARRAY(MXL_F64, SHAPE(3, 1), 1, 2, 3);

    IS(run("dot", "", PLAIN, 2, wide, tall), MXL_F64, SHAPE(2, 3), 0, 0, 0, 0, 0, 0);
    IS(run("dot", "", PLAIN, 2, v, v), MXL_F64, SHAPE(1), 0);
    is(run("dot", "", PLAIN, 2, tall, b), MXL_F64, SHAPE(0, 1), EMPTY);
    mxl_array_drop(wide);
    mxl_array_drop(tall);
    mxl_array_drop(v);
    mxl_array_drop(b);
}

TEST(dot_gradients)
{
    check_gradients("dot", "", NULL, 2, SHAPE(3), SHAPE(3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(2, 3), SHAPE(3), NULL);
    check_gradients("dot", "transpose_a=1", NULL, 2, SHAPE(3, 2), SHAPE(3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(3), SHAPE(3, 2), NULL);
    check_gradients("dot", "transpose_b=1", NULL, 2, SHAPE(3), SHAPE(2, 3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(2, 3), SHAPE(3, 4), NULL);
    check_gradients("dot", "transpose_a=1", NULL, 2, SHAPE(3, 2), SHAPE(3, 4), NULL);
    check_gradients("dot", "transpose_b=1", NULL, 2, SHAPE(2, 3), SHAPE(4, 3), NULL);
    check_gradients("dot", "transpose_a=1 transpose_b=1", NULL, 2, SHAPE(3, 2), SHAPE(4, 3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(2, 1, 3), SHAPE(3, 2, 2), NULL);
    check_gradients("dot", "transpose_a=1 transpose_b=1", NULL, 2, SHAPE(3, 2, 2), SHAPE(2, 1, 3),
                    NULL);
}

TEST(fully_connected_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 1, 2), 1, 2, 3, 4), *b = ARRAY(MXL_F32, SHAPE(2), 10, 20);
    mxl_array *w = ARRAY(MXL_F32, SHAPE(2, 2), 1, 0, 1, 1), *v = ARRAY(MXL_F32, SHAPE(2), 1, 2);
    mxl_array *tall = ARRAY(MXL_F32, SHAPE(2, 1), 1, 2);

    IS(run("FullyConnected", "num_hidden=2", PLAIN, 3, x, w, b), MXL_F32, SHAPE(2, 2), 11, 23, 13,
       27);
    IS(run("FullyConnected", "num_hidden=2 no_bias=1 flatten=0", PLAIN, 2, x, w), MXL_F32,
       SHAPE(2, 1, 2), 1, 3, 3, 7);
    IS(run("FullyConnected", "num_hidden=2 flatten=0", PLAIN, 3, v, w, b), MXL_F32, SHAPE(2), 11,
       23);
    IS(run("FullyConnected", "num_hidden=2 no_bias=1", PLAIN, 2, v, tall), MXL_F32, SHAPE(2, 2), 1,
       2, 2, 4);
    fails("weight must have shape (3,2)", "FullyConnected", "num_hidden=3", 3, x, w, b);
    fails("bias must have shape (2,)", "FullyConnected", "num_hidden=2", 3, x, w, tall);
    fails("takes 3 inputs", "FullyConnected", "num_hidden=2", 2, x, w);
    fails("takes 2 inputs", "FullyConnected", "num_hidden=2 no_bias=1", 3, x, w, b);
    fails("num_hidden", "FullyConnected", "num_hidden=0", 3, x, w, b);
    mxl_array_drop(x);
    mxl_array_drop(b);
    mxl_array_drop(w);
    mxl_array_drop(v);
    mxl_array_drop(tall);
}

/* What is recorded (its parts) and what is not (one product with the bias added in place) agree to the
 * last bit, also into an array that is given. */
TEST(fully_connected_agrees)
{
    uint64_t seed = 5;
    mxl_array *x = random_array(&seed, SHAPE(7, 2, 9)), *w = random_array(&seed, SHAPE(5, 18));
    mxl_array *b = random_array(&seed, SHAPE(5)), *plain, *recorded, *in[3] = {x, w, b};
    mxl_array *given = mxl_array_new(MXL_F64, 2, SHAPE(7, 5));

    plain = run("FullyConnected", "num_hidden=5", PLAIN, 3, x, w, b);
    CHECK_INT(run_into("FullyConnected", "num_hidden=5", PLAIN, 3, in, &given), 0);
    CHECK_INT(mxl_array_set_leaf(w, MXL_GRAD_WRITE, NULL), 0);
    recorded = run("FullyConnected", "num_hidden=5", mode_of(true, true), 3, x, w, b);
    CHECK(recorded->place.target != NULL);
    for (int64_t i = 0; i < plain->size; i++) {
        CHECK(item(plain, i) == item(recorded, i));
        CHECK(item(plain, i) == item(given, i));
    }
    mxl_array_drop(x);
    mxl_array_drop(w);
    mxl_array_drop(b);
    mxl_array_drop(plain);
    mxl_array_drop(recorded);
    mxl_array_drop(given);
}

TEST(fully_connected_gradients)
{
    check_gradients("FullyConnected", "num_hidden=2", NULL, 3, SHAPE(3, 2, 2), SHAPE(2, 4),
                    SHAPE(2));
    check_gradients("FullyConnected", "num_hidden=2 flatten=0", NULL, 3, SHAPE(3, 2, 2),
                    SHAPE(2, 2), SHAPE(2));
    check_gradients("FullyConnected", "num_hidden=2 no_bias=1", NULL, 2, SHAPE(3), SHAPE(2, 1),
                    NULL);
}

/* ---- optimizers ---- */

TEST(sgd_step)
{
    mxl_array *w = ARRAY(MXL_F32, SHAPE(3), 1, 2, -3), *g = ARRAY(MXL_F32, SHAPE(3), 0.5, -10, 2);
    mxl_array *m = ARRAY(MXL_F32, SHAPE(3), 0.1, 0.2, 0.3), *in[3] = {w, g, m}, *out = w;
    mxl_array *f64 = ARRAY(MXL_F64, SHAPE(3), 1, 2, 3), *i32 = ARRAY(MXL_I32, SHAPE(3), 1, 2, 3);

    IS(run("sgd_mom_update", "lr=0.1", PLAIN, 3, w, g, m), MXL_F32, SHAPE(3), 0.95, 3, -3.2);
    mxl_array_keep(m);
    IS(m, MXL_F32, SHAPE(3), -0.05, 1, -0.2);
    CHECK_INT(run_into("sgd_mom_update",
                       "lr=0.1 momentum=0.9 wd=0.5 rescale_grad=0.5 clip_gradient=1", PLAIN, 3, in,
                       &out),
              0);
    mxl_array_keep(m);
    IS(m, MXL_F32, SHAPE(3), -0.12, 0.9, -0.13);
    mxl_array_keep(w);
    IS(w, MXL_F32, SHAPE(3), 0.88, 2.9, -3.13);
    fails("dtypes", "sgd_mom_update", "lr=1", 3, w, g, f64);
    fails("floating-point", "sgd_mom_update", "lr=1", 3, i32, i32, i32);
    fails("lr", "sgd_mom_update", "", 3, w, g, m);
    mxl_array_drop(w);
    mxl_array_drop(g);
    mxl_array_drop(m);
    mxl_array_drop(f64);
    mxl_array_drop(i32);
}

/* ---- softmax ---- */

TEST(softmax_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 4, 5), *ints = ARRAY(MXL_I32, SHAPE(1), 1);
    mxl_array *length = ARRAY(MXL_I32, SHAPE(2), 2, 0), *far = ARRAY(MXL_I64, SHAPE(2), 2, 4);
    mxl_array *low = ARRAY(MXL_I64, SHAPE(2), -1, 2), *three = ARRAY(MXL_I64, SHAPE(3), 2, 1, 0);
    mxl_array *real = ARRAY(MXL_F32, SHAPE(2), 2, 1), *one = ARRAY(MXL_F64, SCALAR, 3);
    const double e = exp(1), s = 1 + e + e * e;

    IS(run("softmax", "", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), 1 / s, e / s, e * e / s, 1 / (2 + e),
       1 / (2 + e), e / (2 + e));
    IS(run("softmax", "temperature=-1 dtype=float64", PLAIN, 1, x), MXL_F64, SHAPE(2, 3), e * e / s,
       e / s, 1 / s, e / (1 + 2 * e), e / (1 + 2 * e), 1 / (1 + 2 * e));
    IS(run("softmax", "use_length=1", PLAIN, 2, x, length), MXL_F32, SHAPE(2, 3), 1 / (1 + e),
       e / (1 + e), 0, 0, 0, 0);
    IS(run("softmax", "use_length=1 axis=0", PLAIN, 2, x, three), MXL_F32, SHAPE(2, 3),
       1 / (1 + e * e * e), 1, 0, 1 / (1 + exp(-3)), 0, 0);
    IS(run("softmax", "", PLAIN, 1, one), MXL_F64, SCALAR, 1);
    IS(run("log_softmax", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), -log(1 + e * e * e),
       -log(1 + e * e), -log(1 + e * e), -log(1 + exp(-3)), -log(1 + exp(-2)), -log(1 + exp(-2)));
    fails("out of range", "softmax", "axis=2", 1, x);
    fails("floating-point", "log_softmax", "", 1, ints);
    fails("not in [0, 3]", "softmax", "use_length=1", 2, x, far);
    fails("not in [0, 3]", "softmax", "use_length=1", 2, x, low);
    fails("shape (2,)", "softmax", "use_length=1", 2, x, three);
    fails("int32 or int64", "softmax", "use_length=1", 2, x, real);
    fails("takes 2 inputs", "softmax", "use_length=1", 1, x);
    fails("use_length", "softmax", "use_length=None", 1, x);
    fails("use_length", "log_softmax", "use_length=1", 1, x);
    mxl_array_drop(x);
    mxl_array_drop(ints);
    mxl_array_drop(length);
    mxl_array_drop(far);
    mxl_array_drop(low);
    mxl_array_drop(three);
    mxl_array_drop(real);
    mxl_array_drop(one);
}

TEST(softmax_gradients)
{
    mxl_array *length = ARRAY(MXL_I32, SHAPE(2, 2), 3, 1, 0, 2);

    check_gradients("softmax", "", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("softmax", "axis=0 temperature=0.7", NULL, 1, SHAPE(3, 2), NULL, NULL);
    check_gradients("softmax", "axis=1 use_length=1", length, 1, SHAPE(2, 3, 2), NULL, NULL);
    check_gradients("softmax", "", NULL, 1, SCALAR, NULL, NULL);
    check_gradients("log_softmax", "", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("log_softmax", "axis=1 temperature=2", NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
    mxl_array_drop(length);
}

/* What stands behind the length of a row is not looked at, in the array or the head; and a gradient
 * has the dtype of the input. */
TEST(softmax_ignores)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(1, 3), 1, 2, NAN), *n = ARRAY(MXL_I64, SHAPE(1), 2);
    mxl_array *head = ARRAY(MXL_F64, SHAPE(1, 3), 1, 2, NAN);
    const double d = exp(1) / (1 + exp(1)) / (1 + exp(1));

    IS(gradient("softmax", "use_length=1 dtype=float64", false, x, n, head), MXL_F32, SHAPE(1, 3),
       -d, d, 0);
    mxl_array_drop(x);
    mxl_array_drop(n);
    mxl_array_drop(head);
}

/* ---- Dropout ---- */

static mxl_array *ones(int dtype, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {rows, columns};
    mxl_array *x = mxl_array_new(dtype, 2, shape);

    for (int64_t i = 0; i < x->size; i++)
        set_item(x, i, 1);
    return x;
}

TEST(dropout_shares)
{
    const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16};

    for (int k = 0; k < 3; k++) {
        mxl_array *x = ones(dtypes[k], 200, 200);
        mxl_array *y = run("Dropout", "p=0.25", mode_of(false, true), 1, x);
        int64_t dropped = 0;

        REQUIRE(y != NULL);
        for (int64_t i = 0; i < y->size; i++) {
            dropped += item(y, i) == 0;
            CHECK(item(y, i) == 0 || fabs(item(y, i) - 4.0 / 3) < 1e-3);
        }
        /* 10000 are expected, with a deviation of 87. */
        CHECK(dropped > 9600 && dropped < 10400);
        mxl_array_drop(x);
        mxl_array_drop(y);
    }
}

TEST(dropout_modes)
{
    mxl_array *x = ones(MXL_F32, 40, 6), *ints = ones(MXL_I32, 1, 1), *y;
    int kept = 0;

    y = run("Dropout", "p=0.5 axes=(1,)", mode_of(false, true), 1, x);
    for (int64_t i = 0; i < 240; i++)
        CHECK(item(y, i) == item(y, i / 6 * 6));
    for (int64_t i = 0; i < 40; i++)
        kept += item(y, 6 * i) == 2;
    CHECK(kept > 5 && kept < 35);
    mxl_array_drop(y);
    for (int k = 0; k < 3; k++) {
        y = run("Dropout", k == 2 ? "p=0" : "", mode_of(k == 1, k == 2), 1, x);
        for (int64_t i = 0; i < 240; i++)
            CHECK(item(y, i) == 1);
        mxl_array_drop(y);
    }
    y = run("Dropout", "mode=always p=1", mode_of(false, false), 1, x);
    for (int64_t i = 0; i < 240; i++)
        CHECK(item(y, i) == 0);
    mxl_array_drop(y);
    fails("in [0, 1]", "Dropout", "p=1.1", 1, x);
    fails("in [0, 1]", "Dropout", "p=-0.1", 1, x);
    fails("axis 2", "Dropout", "axes=(2,)", 1, x);
    fails("axis -1", "Dropout", "axes=(-1,)", 1, x);
    fails("floating-point", "Dropout", "", 1, ints);
    mxl_array_drop(x);
    mxl_array_drop(ints);
}

/* The gradient of ones is the result itself: both are the mask. */
TEST(dropout_gradients)
{
    mxl_array *x = ones(MXL_F32, 20, 20), *head = ones(MXL_F32, 20, 20), *y, *grad;

    mxl_random_seed(3);
    y = run("Dropout", "", mode_of(false, true), 1, x);
    mxl_random_seed(3);
    grad = gradient("Dropout", "", true, x, NULL, head);
    for (int64_t i = 0; i < 400; i++)
        CHECK(item(grad, i) == item(y, i));
    mxl_array_drop(grad);
    grad = gradient("Dropout", "", false, x, NULL, head);
    for (int64_t i = 0; i < 400; i++)
        CHECK(item(grad, i) == 1);
    mxl_array_drop(grad);
    mxl_array_drop(y);
    mxl_array_drop(x);
    mxl_array_drop(head);
    check_gradients("Dropout", "", NULL, 1, SHAPE(3, 4), NULL, NULL);
    check_gradients("Dropout", "p=0.3 axes=(0,)", NULL, 1, SHAPE(3, 4), NULL, NULL);
    check_gradients("Dropout", "p=0", NULL, 1, SHAPE(3, 4), NULL, NULL);
}

/* ---- random arrays ---- */

static void moments(const mxl_array *a, double *mean, double *deviation)
{
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < a->size; i++)
        sum += item(a, i);
    *mean = sum / (double)a->size;
    for (int64_t i = 0; i < a->size; i++)
        squares += (item(a, i) - *mean) * (item(a, i) - *mean);
    *deviation = sqrt(squares / (double)a->size);
}

TEST(random_moments)
{
    const char *dtypes[] = {"float32", "float64", "float16"};

    for (int k = 0; k < 3; k++) {
        char params[96];
        double mean, deviation;
        mxl_array *a;

        snprintf(params, sizeof(params), "low=-1 high=3 shape=(200,300) dtype=%s", dtypes[k]);
        a = run("_random_uniform", params, PLAIN, 0);
        CHECK_STR(mxl_dtype_name(a->dtype), dtypes[k]);
        moments(a, &mean, &deviation);
        CHECK_NEAR(mean, 1, 0.03);
        CHECK_NEAR(deviation, 4 / sqrt(12), 0.03);
        mxl_array_drop(a);
        snprintf(params, sizeof(params), "loc=2 scale=0.5 shape=(60000,) dtype=%s", dtypes[k]);
        a = run("_random_normal", params, PLAIN, 0);
        moments(a, &mean, &deviation);
        CHECK_NEAR(mean, 2, 0.01);
        CHECK_NEAR(deviation, 0.5, 0.01);
        mxl_array_drop(a);
    }
}

/* The seed decides, the number of threads does not; two calls never give the same. */
TEST(random_repeats)
{
    const char *ops[] = {"_random_uniform", "_random_normal"};
    int before = mxl_thread_set_count(1);

    for (int k = 0; k < 2; k++) {
        mxl_array *made[3];

        for (int i = 0; i < 3; i++) {
            mxl_thread_set_count(i == 1 ? 4 : 1);
            if (i < 2)
                mxl_random_seed(42);
            made[i] = run(ops[k], "shape=(300000,)", PLAIN, 0);
        }
        CHECK(memcmp(mxl_array_read(made[0]), mxl_array_read(made[1]), 1200000) == 0);
        CHECK(memcmp(mxl_array_read(made[0]), mxl_array_read(made[2]), 4000) != 0);
        for (int i = 0; i < 3; i++)
            mxl_array_drop(made[i]);
    }
    mxl_thread_set_count(before);
}

TEST(random_shapes)
{
    mxl_array *out = mxl_array_new(MXL_F64, 1, SHAPE(3)), *ints = mxl_array_new(MXL_I32, 1, SHAPE(3));

    CHECK_INT(run_into("_random_uniform", "low=2 high=2", PLAIN, 0, NULL, &out), 0);
    mxl_array_keep(out);
    IS(out, MXL_F64, SHAPE(3), 2, 2, 2);
    is(run("_random_normal", "shape=(2,0)", PLAIN, 0), MXL_F32, SHAPE(2, 0), EMPTY);
    CHECK_INT(run_into("_random_uniform", "shape=(2,)", PLAIN, 0, NULL, &out), -1);
    CHECK_INT(run_into("_random_uniform", "dtype=float32", PLAIN, 0, NULL, &out), -1);
    CHECK_INT(run_into("_random_uniform", "", PLAIN, 0, NULL, &ints), -1);
    fails("low must not be above high", "_random_uniform", "low=3 high=1 shape=(2,)", 0);
    fails("scale must be above 0", "_random_normal", "scale=0 shape=(2,)", 0);
    fails("negative extent", "_random_normal", "shape=(-1,)", 0);
    mxl_array_drop(out);
    mxl_array_drop(ints);
}

HARNESS_MAIN(ENTRY(reduce_values), ENTRY(reduce_dtypes), ENTRY(reduce_edges),
             ENTRY(reduce_gradients), ENTRY(max_ties), ENTRY(dot_values), ENTRY(dot_empty),
             ENTRY(dot_gradients), ENTRY(fully_connected_values), ENTRY(fully_connected_agrees),
             ENTRY(fully_connected_gradients), ENTRY(sgd_step), ENTRY(softmax_values),
             ENTRY(softmax_gradients), ENTRY(softmax_ignores), ENTRY(dropout_shares),
             ENTRY(dropout_modes), ENTRY(dropout_gradients), ENTRY(random_moments),
             ENTRY(random_repeats), ENTRY(random_shapes))
