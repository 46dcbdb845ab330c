/* Reductions, products, softmax, Dropout, random arrays and optimizers: values, and gradients of
 * order 1 and 2 by central differences. The full table of cases is in tests/python. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

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

HARNESS_MAIN(ENTRY(reduce_values), ENTRY(reduce_dtypes), ENTRY(reduce_edges),
             ENTRY(reduce_gradients), ENTRY(max_ties), ENTRY(dot_values), ENTRY(dot_empty),
             ENTRY(dot_gradients), ENTRY(fully_connected_values), ENTRY(fully_connected_agrees),
             ENTRY(fully_connected_gradients), ENTRY(sgd_step))
