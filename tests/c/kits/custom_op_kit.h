/* A custom operator in C, for tests: y0 = k * data * weight, y1 = data + weight, and an auxiliary
 * state that counts the forwards. It notes what its callbacks see, and fails where it is told to.
 */
#ifndef CUSTOM_OP_KIT_H
#define CUSTOM_OP_KIT_H

#include <stdio.h>
#include <stdlib.h>

#include "engine_kit.h"

enum { IN, OUT, IN_GRAD, OUT_GRAD, AUX, KINDS };
enum { MOST = 16 };

/* Which callback fails; that of a callback in the list of the description, or these. */
enum { NOTHING_FAILS = -1, CREATOR_FAILS = 20, FORWARD_FAILS, BACKWARD_FAILS };

/* Of all calls; a test begins with a fresh one. */
typedef struct seen {
    int made, props_deleted, ops_deleted, forwards, backwards;
    int fails;                          /* NOTHING_FAILS, ... */
    int reads[8], num_reads;            /* for the next call; num_reads -1: everything */
    int missing;                        /* a callback that is left out; -1: none */
    int odd_ndim, odd_dtype, odd_stype; /* of output 1, if not -9 */
    int odd_input;                      /* shape of input 1, if not -9 */
    int size, tags[MOST], reqs[MOST], ndims[MOST], training, recording;
    char device[16];
    double k;
    bool attaches; /* forward attaches a gradient to what it is given */
} seen;

static seen saw;

/* The state of a description and of its instance: the parameter k. */
typedef struct scaled {
    double k;
    int (*callbacks[10])(void);
    void *contexts[10];
    int (*op_callbacks[3])(void);
} scaled;

static int list_of(char ***names, void *state, int which, const char *const *list)
{
    (void)state;
    *names = (char **)(uintptr_t)list;
    return saw.fails != which;
}

static int arguments(char ***names, void *state)
{
    static const char *const list[] = {"data", "weight", NULL};

    return list_of(names, state, kCustomOpPropListArguments, list);
}

static int outputs(char ***names, void *state)
{
    static const char *const list[] = {"product", "sum", NULL};

    return list_of(names, state, kCustomOpPropListOutputs, list);
}

static int states(char ***names, void *state)
{
    static const char *const list[] = {"count", NULL};

    return list_of(names, state, kCustomOpPropListAuxiliaryStates, list);
}

static int infer_shape(int count, int *ndims, int **shapes, void *state)
{
    static int one = 1;

    (void)state;
    CHECK_INT(count, 5);
    ndims[2] = ndims[3] = ndims[0];
    shapes[2] = shapes[3] = shapes[0];
    ndims[4] = 1;
    shapes[4] = &one;
    if (saw.odd_ndim != -9)
        ndims[3] = saw.odd_ndim;
    if (saw.odd_input != -9)
        ndims[1] = saw.odd_input;
    return saw.fails != kCustomOpPropInferShape;
}

static int infer_type(int count, int *types, void *state)
{
    (void)state;
    CHECK_INT(count, 5);
    CHECK_INT(types[0], F64);
    CHECK_INT(types[2], -1);
    CHECK_INT(types[4], F64);
    types[2] = types[3] = types[0];
    if (saw.odd_dtype != -9)
        types[3] = saw.odd_dtype;
    return saw.fails != kCustomOpPropInferType;
}

static int infer_storage_type(int count, int *stypes, void *state)
{
    (void)state;
    CHECK_INT(count, 5);
    stypes[2] = stypes[3] = 0;
    if (saw.odd_stype != -9)
        stypes[3] = saw.odd_stype;
    return saw.fails != kCustomOpPropInferStorageType;
}

static int dependencies(const int *out_grad, const int *in_data, const int *out_data, int *count,
                        int **listed, void *state)
{
    static int all[6];

    (void)state;
    for (int i = 0; i < 2; i++) {
        all[i] = out_grad[i];
        all[2 + i] = in_data[i];
        all[4 + i] = out_data[i];
        CHECK_INT(out_grad[i], i);
        CHECK_INT(in_data[i], 2 + i);
        CHECK_INT(out_data[i], 4 + i);
    }
    *count = saw.num_reads < 0 ? 6 : saw.num_reads;
    *listed = saw.num_reads < 0 ? all : saw.reads;
    return saw.fails != kCustomOpPropDeclareBackwardDependency;
}

static int delete_prop(void *state)
{
    saw.props_deleted++;
    free(state);
    return 1;
}

static int delete_op(void *state)
{
    (void)state;
    saw.ops_deleted++;
    return 1;
}

/* ---- forward and backward ---- */

static void note(int size, void **arrays, const int *tags, const int *reqs, int num_reqs,
                 int is_train)
{
    bool on = false;

    saw.size = size;
    for (int i = 0; i < size && i < MOST; i++) {
        saw.tags[i] = tags[i];
        saw.ndims[i] = MXLNDArrayGetInfo(arrays[i], 0, NULL, NULL);
    }
    for (int i = 0; i < num_reqs; i++)
        saw.reqs[i] = reqs[i];
    saw.training = is_train;
    CHECK_INT(MXAutogradIsRecording(&on), 0);
    saw.recording = on;
}

static void free_all(int size, void **arrays)
{
    for (int i = 0; i < size; i++)
        CHECK_INT(MXNDArrayFree(arrays[i]), 0);
}

/* out = a * b, or a + b; with scale. False where a call failed. */
static bool combine(const char *name, H a, H b, double k, H out)
{
    char text[32];
    const char *key = "scalar", *value = text;
    H in[2] = {a, b}, made = try_op(name, 2, in, 0, NULL, NULL), scaled_up;
    bool done;

    snprintf(text, sizeof(text), "%.17g", k);
    scaled_up = made == NULL ? NULL : try_op("_mul_scalar", 1, &made, 1, &key, &value);
    done = scaled_up != NULL && op_into("_copyto", 1, &scaled_up, out) == 0;
    if (scaled_up != NULL)
        drop(scaled_up);
    if (made != NULL)
        drop(made);
    return done;
}

static bool add_one(H array)
{
    const char *key = "scalar", *value = "1";
    H more = try_op("_plus_scalar", 1, &array, 1, &key, &value);
    bool done = more != NULL && op_into("_copyto", 1, &more, array) == 0;

    if (more != NULL)
        drop(more);
    return done;
}

static int forward(int size, void **arrays, int *tags, const int *reqs, int is_train, void *state)
{
    scaled *s = state;
    bool done = saw.fails != FORWARD_FAILS;

    saw.forwards++;
    note(size, arrays, tags, reqs, 2, is_train);
    CHECK_INT(size, 5);
    if (saw.attaches)
        attach(arrays[0], REQ_WRITE);
    done = done && combine("broadcast_mul", arrays[0], arrays[1], s->k, arrays[2]) &&
           combine("broadcast_add", arrays[0], arrays[1], 1, arrays[3]) && add_one(arrays[4]);
    free_all(size, arrays);
    return done;
}

/* d data = k * g0 * weight + g1, d weight = k * g0 * data + g1 */
static bool gradient_of(scaled *s, void **arrays, int other, H result)
{
    H in[2] = {arrays[0], arrays[other]}, product, sum[2];
    char text[32];
    const char *key = "scalar", *value = text;
    bool done;

    snprintf(text, sizeof(text), "%.17g", s->k);
    product = try_op("broadcast_mul", 2, in, 0, NULL, NULL);
    sum[0] = product == NULL ? NULL : try_op("_mul_scalar", 1, &product, 1, &key, &value);
    sum[1] = arrays[1];
    done = sum[0] != NULL && op_into("broadcast_add", 2, sum, result) == 0;
    if (sum[0] != NULL)
        drop(sum[0]);
    if (product != NULL)
        drop(product);
    return done;
}

static int backward_of(int size, void **arrays, int *tags, const int *reqs, int is_train,
                       void *state)
{
    bool done = saw.fails != BACKWARD_FAILS;

    saw.backwards++;
    note(size, arrays, tags, reqs, 2, is_train);
    CHECK_INT(size, 9);
    if (saw.num_reads >= 0) { /* not all is there to compute with */
        free_all(size, arrays);
        return done;
    }
    for (int i = 0; i < 2; i++) {
        if (reqs[i] != REQ_NULL)
            done = done && gradient_of(state, arrays, 3 - i, arrays[6 + i]);
    }
    free_all(size, arrays);
    return done;
}

static int create(const char *device, int count, unsigned **shapes, const int *ndims,
                  const int *dtypes, struct MXCallbackList *result, void *state)
{
    scaled *s = state;

    snprintf(saw.device, sizeof(saw.device), "%s", device);
    CHECK_INT(count, 3);
    CHECK_INT(ndims[2], 1);
    CHECK_INT(shapes[2][0], 1);
    CHECK_INT(dtypes[2], F64);
    s->op_callbacks[kCustomOpDelete] = CALLBACK(delete_op);
    s->op_callbacks[kCustomOpForward] = CALLBACK(forward);
    s->op_callbacks[kCustomOpBackward] = CALLBACK(backward_of);
    *result = (struct MXCallbackList){3, s->op_callbacks, s->contexts};
    return saw.fails != kCustomOpPropCreateOperator;
}

static int creator(const char *op_type, int count, const char **keys, const char **values,
                   struct MXCallbackList *result)
{
    scaled *s = calloc(1, sizeof(*s));

    CHECK_STR(op_type, "scaled");
    if (s == NULL || saw.fails == CREATOR_FAILS) {
        free(s);
        return 0;
    }
    s->k = 1;
    for (int i = 0; i < count; i++) {
        CHECK_STR(keys[i], "k");
        s->k = atof(values[i]);
    }
    saw.made++;
    saw.k = s->k;
    s->callbacks[kCustomOpPropDelete] = CALLBACK(delete_prop);
    s->callbacks[kCustomOpPropListArguments] = CALLBACK(arguments);
    s->callbacks[kCustomOpPropListOutputs] = CALLBACK(outputs);
    s->callbacks[kCustomOpPropListAuxiliaryStates] = CALLBACK(states);
    s->callbacks[kCustomOpPropInferShape] = CALLBACK(infer_shape);
    s->callbacks[kCustomOpPropDeclareBackwardDependency] = CALLBACK(dependencies);
    s->callbacks[kCustomOpPropCreateOperator] = CALLBACK(create);
    s->callbacks[kCustomOpPropInferType] = CALLBACK(infer_type);
    s->callbacks[kCustomOpPropInferStorageType] = CALLBACK(infer_storage_type);
    if (saw.missing >= 0)
        s->callbacks[saw.missing] = NULL;
    for (int i = 0; i < 10; i++)
        s->contexts[i] = s;
    *result = (struct MXCallbackList){10, s->callbacks, s->contexts};
    return 1;
}

/* Forgets what was seen, and registers the operator. */
KIT void begin_scaled(void)
{
    saw = (seen){.fails = NOTHING_FAILS,
                 .num_reads = -1,
                 .missing = -1,
                 .odd_ndim = -9,
                 .odd_dtype = -9,
                 .odd_stype = -9,
                 .odd_input = -9};
    CHECK_INT(MXCustomOpRegister("scaled", creator), 0);
}

/* Runs it; the status. With out[0] NULL the outputs are new. */
KIT int run_scaled(H data, H weight, H count, const char *k, H *out)
{
    const char *keys[2] = {"op_type", "k"}, *values[2] = {"scaled", k};
    H in[3] = {data, weight, count}, *made = out;
    int num = out[0] == NULL ? 0 : 2;
    const int *stypes = NULL;
    OpHandle op;

    CHECK_INT(NNGetOpHandle("Custom", &op), 0);
    if (num == 0)
        made = NULL;
    if (MXImperativeInvokeEx(op, 3, in, &num, &made, k == NULL ? 1 : 2, keys, values, &stypes) != 0)
        return -1;
    CHECK_INT(num, 2);
    CHECK_INT(stypes[0], 0);
    CHECK_INT(stypes[1], 0);
    for (int i = 0; i < 2; i++)
        out[i] = made[i];
    return 0;
}

#endif
