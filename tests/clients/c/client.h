/* What the programs of this folder share: checks that count, calls of operators, symbols by name.
 * They are written as clients in R, Perl, Go and C++ call the library, with MXNet's headers alone.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>

static int failures;

static inline void client_check(bool right, const char *file, int line, const char *what)
{
    if (right)
        return;
    failures++;
    fprintf(stderr, "%s:%d: %s; last error: %.200s\n", file, line, what, MXGetLastError());
}

#define EXPECT(condition) client_check((condition), __FILE__, __LINE__, #condition)
#define CALL(call)        client_check((call) == 0, __FILE__, __LINE__, #call)
/* The call fails, and its error has a text. */
#define REFUSED(call, text)                                                                        \
    client_check((call) == -1 && strstr(MXGetLastError(), text) != NULL, __FILE__, __LINE__, #call)

/* A parameter of an operator. */
typedef struct client_param {
    const char *key, *value;
} client_param;

enum { MOST = 8 };

static inline void client_split(const client_param *params, int *count, const char **keys,
                                const char **values)
{
    for (*count = 0; params != NULL && params[*count].key != NULL; ++*count) {
        keys[*count] = params[*count].key;
        values[*count] = params[*count].value;
    }
}

/* Runs an operator into arrays that exist. `params` end with {NULL, NULL}; NULL: none. */
static inline int run_into(const char *op, const client_param *params, int num_inputs,
                           NDArrayHandle *inputs, int num_outputs, NDArrayHandle *outputs)
{
    const char *keys[MOST], *values[MOST];
    NDArrayHandle *given = outputs;
    OpHandle handle;
    int count;

    client_split(params, &count, keys, values);
    if (NNGetOpHandle(op, &handle) != 0 ||
        MXImperativeInvoke(handle, num_inputs, inputs, &num_outputs, &given, count, keys, values))
        return -1;
    EXPECT(given == outputs);
    return 0;
}

static inline SymbolHandle variable(const char *name)
{
    SymbolHandle made = NULL;

    CALL(MXSymbolCreateVariable(name, &made));
    return made;
}

/* A symbol of an operator on its first inputs, by position. */
static inline SymbolHandle symbol(const char *op, const char *name, const client_param *params,
                                  int num_inputs, SymbolHandle *inputs)
{
    const char *keys[MOST], *values[MOST];
    SymbolHandle made = NULL;
    OpHandle handle;
    int count;

    client_split(params, &count, keys, values);
    CALL(NNGetOpHandle(op, &handle));
    CALL(MXSymbolCreateAtomicSymbol(handle, (uint32_t)count, keys, values, &made));
    CALL(MXSymbolCompose(made, name, (uint32_t)num_inputs, NULL, inputs));
    return made;
}

/* A float32 array of one number. */
static inline NDArrayHandle filled(uint32_t rows, uint32_t columns, float value, int device)
{
    uint32_t shape[] = {rows, columns};
    NDArrayHandle made = NULL;
    float numbers[256];

    for (uint32_t i = 0; i < rows * columns; i++)
        numbers[i] = value;
    CALL(MXNDArrayCreateEx(shape, 2, 1, device, 0, 0, &made));
    CALL(MXNDArraySyncCopyFromCPU(made, numbers, rows * columns));
    return made;
}

static inline NDArrayHandle none(void)
{
    NDArrayHandle made = NULL;

    CALL(MXNDArrayCreateNone(&made));
    return made;
}

/* The first number of a float32 array of at most 256. */
static inline float first(NDArrayHandle array)
{
    float numbers[256] = {0};
    const uint32_t *shape;
    uint32_t ndim = 0;
    size_t size = 1;

    CALL(MXNDArrayGetShape(array, &ndim, &shape));
    for (uint32_t i = 0; i < ndim; i++)
        size *= shape[i];
    EXPECT(size <= 256);
    if (size <= 256)
        CALL(MXNDArraySyncCopyToCPU(array, numbers, size));
    return numbers[0];
}

static inline int device_of(NDArrayHandle array)
{
    int type = -1, number = -1;

    CALL(MXNDArrayGetContext(array, &type, &number));
    EXPECT(type == 1);
    return number;
}

static inline bool has_shape(NDArrayHandle array, uint32_t ndim, const uint32_t *shape)
{
    const uint32_t *has;
    uint32_t count = 0;

    CALL(MXNDArrayGetShape(array, &count, &has));
    return count == ndim && memcmp(has, shape, ndim * sizeof(*shape)) == 0;
}

#endif
