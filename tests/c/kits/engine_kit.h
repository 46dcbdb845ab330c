/* Shared by the engine's tests: arrays of float64, operators by name, marking, recording, backward.
 * Everything uses the public API; a call that fails unexpectedly is a failed check. */
#ifndef ENGINE_KIT_H
#define ENGINE_KIT_H

#include <math.h>
#include <mxlite/mxlite.h>

#include "harness.h"

#if defined(__GNUC__)
#define KIT static inline __attribute__((unused))
#else
#define KIT static inline
#endif

typedef NDArrayHandle H;

enum { REQ_NULL = 0, REQ_WRITE = 1, REQ_ADD = 3, F32 = 0, F64 = 1, I32 = 4 };

KIT H make(int dtype, int ndim, const int64_t *shape)
{
    H out = NULL;

    CHECK_INT(MXNDArrayCreateEx64(shape, ndim, 1, 0, 0, dtype, &out), 0);
    return out;
}

KIT void fill(H array, const double *values, size_t count)
{
    CHECK_INT(MXNDArraySyncCopyFromCPU(array, values, count), 0);
}

/* A vector of float64. */
KIT H vec(int64_t n, const double *values)
{
    H out = make(F64, 1, &n);

    fill(out, values, (size_t)n);
    return out;
}

#define VEC(...)                                                                                   \
    vec((int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

/* Element i of a float64 array; NaN where it cannot be read. */
KIT double at(H array, int64_t i)
{
    double values[64];
    int64_t shape[32], size = 1;
    int ndim = MXLNDArrayGetInfo(array, 32, shape, NULL);

    for (int k = 0; k < ndim; k++)
        size *= shape[k];
    if (ndim < 0 || size > 64 || i >= size ||
        MXNDArraySyncCopyToCPU(array, values, (size_t)size) != 0)
        return (double)NAN;
    return values[i];
}

KIT void drop(H array)
{
    CHECK_INT(MXNDArrayFree(array), 0);
}

/* One operator; NULL with the message where it fails. */
KIT H try_op(const char *name, int count, H *in, int params, const char **keys, const char **values)
{
    OpHandle op;
    H *outputs = NULL;
    int num = 0;
    const int *stypes;

    if (NNGetOpHandle(name, &op) != 0 ||
        MXImperativeInvokeEx(op, count, in, &num, &outputs, params, keys, values, &stypes) != 0)
        return NULL;
    return outputs[0];
}

KIT H op1(const char *name, H a)
{
    H out = try_op(name, 1, &a, 0, NULL, NULL);

    if (!CHECK(out != NULL))
        CHECK_STR(MXGetLastError(), name);
    return out;
}

KIT H op2(const char *name, H a, H b)
{
    H in[2] = {a, b};
    H out = try_op(name, 2, in, 0, NULL, NULL);

    if (!CHECK(out != NULL))
        CHECK_STR(MXGetLastError(), name);
    return out;
}

KIT H op_scalar(const char *name, H a, const char *scalar)
{
    const char *key = "scalar";
    H out = try_op(name, 1, &a, 1, &key, &scalar);

    CHECK(out != NULL);
    return out;
}

/* Writes the operator's result into `out`; its status. */
KIT int op_into(const char *name, int count, H *in, H out)
{
    OpHandle op;
    H *outputs = &out;
    int num = 1;
    const int *stypes;

    if (NNGetOpHandle(name, &op) != 0)
        return -1;
    return MXImperativeInvokeEx(op, count, in, &num, &outputs, 0, NULL, NULL, &stypes);
}

#define MUL(a, b) op2("broadcast_mul", a, b)
#define ADD(a, b) op2("broadcast_add", a, b)

KIT bool record(bool on)
{
    int before = -1;

    CHECK_INT(MXAutogradSetIsRecording(on, &before), 0);
    return before != 0;
}

/* MXCustomFunctionRecord as a function's call does it: with recording on around it alone. */
KIT int custom_record(int num_inputs, H *inputs, int num_outputs, H *outputs,
                      struct MXCallbackList *callbacks)
{
    int before, status;

    CHECK_INT(MXAutogradSetIsRecording(1, &before), 0);
    status = MXCustomFunctionRecord(num_inputs, inputs, num_outputs, outputs, callbacks);
    CHECK_INT(MXAutogradSetIsRecording(before, &before), 0);
    return status;
}

/* Makes `array` a variable with a gradient buffer of its own that is full of `start`. */
KIT void attach_start(H array, uint32_t req, double start)
{
    int64_t shape[32], size = 1;
    int dtype = -1, ndim = MXLNDArrayGetInfo(array, 32, shape, &dtype);
    double values[64];
    H grad;

    for (int k = 0; k < ndim; k++)
        size *= shape[k];
    for (int64_t i = 0; i < size && i < 64; i++)
        values[i] = start;
    grad = make(dtype, ndim, shape);
    if (dtype == F64 && size <= 64)
        fill(grad, values, (size_t)size);
    CHECK_INT(MXAutogradMarkVariables(1, &array, &req, &grad), 0);
    drop(grad);
}

KIT void attach(H array, uint32_t req)
{
    attach_start(array, req, 0);
}

KIT H grad_of(H array)
{
    H grad = NULL;

    CHECK_INT(MXNDArrayGetGrad(array, &grad), 0);
    return grad;
}

/* Element i of the gradient. */
KIT double grad_at(H array, int64_t i)
{
    H grad = grad_of(array);
    double value = at(grad, i);

    drop(grad);
    return value;
}

KIT int fresh(H array)
{
    int state = -1;

    CHECK_INT(MXNDArrayGetGradState(array, &state), 0);
    return state;
}

KIT int backward_full(H head, H head_grad, int retain, int create)
{
    return MXAutogradBackwardEx(1, &head, &head_grad, 0, NULL, retain, create, 1, NULL, NULL);
}

KIT int backward(H head)
{
    return backward_full(head, NULL, 0, 0);
}

/* d head / d variable as a new array; NULL with the message. */
KIT H derivative(H head, H variable, int retain, int create)
{
    H *grads = NULL, result;
    int *stypes = NULL;

    if (MXAutogradBackwardEx(1, &head, NULL, 1, &variable, retain, create, 1, &grads, &stypes) != 0)
        return NULL;
    result = grads[0];
    CHECK_INT(stypes[0], 0);
    return result;
}

/* A callback as MXCallbackList holds it. */
#define CALLBACK(function) ((int (*)(void))(void (*)(void))(function))

#define CHECK_FAILS(call, text)                                                                    \
    do {                                                                                           \
        CHECK_INT((call), -1);                                                                     \
        CHECK_HAS(MXGetLastError(), text);                                                         \
    } while (0)

#endif
