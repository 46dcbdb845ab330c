/* A small network as a symbol: softmax output over two layers with a normalisation between. */
#ifndef SYMBOL_KIT_H
#define SYMBOL_KIT_H

#include "harness.h"

#include <string.h>

#include "mxlite/mxlite.h"

enum { NET_ARGS = 8, NET_STATES = 2 };

/* An operator with one parameter (key NULL: none) applied to an input; NULL after a failure. */
static inline SymbolHandle apply(const char *op, const char *name, const char *key,
                                 const char *value, SymbolHandle input)
{
    SymbolHandle symbol = NULL;
    OpHandle handle;

    if (NNGetOpHandle(op, &handle) != 0 ||
        MXSymbolCreateAtomicSymbol(handle, key != NULL, &key, &value, &symbol) != 0)
        return NULL;
    if (MXSymbolCompose(symbol, name, 1, NULL, &input) == 0)
        return symbol;
    (void)MXSymbolFree(symbol);
    return NULL;
}

/* The same, which frees its input. */
static inline SymbolHandle then(const char *op, const char *name, const char *key,
                                const char *value, SymbolHandle input)
{
    SymbolHandle symbol = input == NULL ? NULL : apply(op, name, key, value, input);

    (void)MXSymbolFree(input);
    return symbol;
}

static inline SymbolHandle make_net(void)
{
    SymbolHandle data;

    if (MXSymbolCreateVariable("data", &data) != 0)
        return NULL;
    data = then("FullyConnected", "fc1", "num_hidden", "4", data);
    data = then("BatchNorm", "bn", "fix_gamma", "False", data);
    data = then("Activation", "relu", "act_type", "relu", data);
    data = then("FullyConnected", "fc2", "num_hidden", "3", data);
    return then("SoftmaxOutput", "softmax", NULL, NULL, data);
}

/* An array of float64, of at most 64 equal numbers; NULL after a failure. */
static inline NDArrayHandle filled(int ndim, const int64_t *shape, double value)
{
    NDArrayHandle array = NULL;
    double values[64];
    size_t size = 1;

    for (int i = 0; i < ndim; i++)
        size *= (size_t)shape[i];
    for (size_t i = 0; i < size; i++)
        values[i] = value;
    if (MXNDArrayCreateEx64(shape, ndim, 1, 0, 0, 1, &array) != 0)
        return NULL;
    if (MXNDArraySyncCopyFromCPU(array, values, size) == 0)
        return array;
    (void)MXNDArrayFree(array);
    return NULL;
}

/* A cached operator of a convolution of 3 x 3 to `filters` channels, without bias; its inputs are
 * data and weight. */
static inline int make_convolution(const char *filters, CachedOpHandle *op)
{
    static const char *keys[] = {"kernel", "pad", "num_filter", "no_bias"}, *key = "static_alloc",
                      *value = "True";
    const char *values[] = {"(3, 3)", "(1, 1)", filters, "True"};
    SymbolHandle data = NULL, symbol = NULL;
    OpHandle handle;
    int status = -1;

    if (MXSymbolCreateVariable("data", &data) == 0 && NNGetOpHandle("Convolution", &handle) == 0 &&
        MXSymbolCreateAtomicSymbol(handle, 4, keys, values, &symbol) == 0 &&
        MXSymbolCompose(symbol, "conv", 1, NULL, &data) == 0)
        status = MXCreateCachedOpEx(symbol, 1, &key, &value, op);
    (void)MXSymbolFree(data);
    (void)MXSymbolFree(symbol);
    return status;
}

/* simple_bind for a batch of two rows of five, in float64; lends the arrays. */
typedef struct bound {
    ExecutorHandle executor;
    uint32_t num_args, num_states;
    NDArrayHandle args[NET_ARGS], grads[NET_ARGS], states[NET_STATES];
} bound;

typedef struct shared_buffer {
    int count;
    const char **names;
    NDArrayHandle *arrays; /* lent after bind_shared: new handles */
} shared_buffer;

static inline int bind_shared(SymbolHandle net, shared_buffer *shared, bound *b)
{
    static const char *names[] = {"data"};
    static const int sizes[] = {2, 5}, dtypes[] = {1};
    static const uint32_t places[] = {0, 2};
    const char *req = "write";
    NDArrayHandle *args, *grads, *states;

    memset(b, 0, sizeof(*b));
    if (MXExecutorSimpleBindEx(net, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, 1, names, sizes,
                               places, 1, names, dtypes, 0, NULL, NULL, 0, NULL, &shared->count,
                               shared->names, shared->arrays, &shared->names, &shared->arrays,
                               &b->num_args, &args, &grads, &b->num_states, &states, NULL,
                               &b->executor) != 0)
        return -1;
    memcpy(b->args, args, b->num_args * sizeof(*args));
    memcpy(b->grads, grads, b->num_args * sizeof(*grads));
    memcpy(b->states, states, b->num_states * sizeof(*states));
    return 0;
}

static inline int bind_net(SymbolHandle net, bound *b)
{
    shared_buffer none = {.count = -1};

    return bind_shared(net, &none, b);
}

static inline void unbind(bound *b)
{
    for (uint32_t i = 0; i < b->num_args; i++) {
        (void)MXNDArrayFree(b->args[i]);
        (void)MXNDArrayFree(b->grads[i]);
    }
    for (uint32_t i = 0; i < b->num_states; i++)
        (void)MXNDArrayFree(b->states[i]);
    (void)MXExecutorFree(b->executor);
    memset(b, 0, sizeof(*b));
}

#endif
