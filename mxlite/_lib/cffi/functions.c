/* The functions of the cffi module mxlite._mxlite_cffi (mxlite/_lib/build_cffi.py). The module is
 * not linked with the library: `bind` fills the pointers p_MXL... with addresses in the library
 * that mxlite._lib opened. Handles are integers here; 0 is an error. cffi's own code, with
 * Python.h, comes before this file; owner.c and the others come after it. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#include "mxlite/graph.h"
#include "mxlite/mxlite.h"

/* clang-format off */
#define FUNCTIONS(X)                                                                               \
    X(MXLCall) X(MXLCall1) X(MXLCall2) X(MXLCall1Float) X(MXLCall1Int) X(MXLCall1List)             \
    X(MXLCallInto) X(MXLCallGetNumOutputs) X(MXLNDArraySlice) X(MXLNDArrayAt)                      \
    X(MXLNDArrayReshape) X(MXLNDArrayGetInfo) X(MXNDArraySyncCopyToCPU)                            \
    X(MXNDArraySyncCopyFromCPU) X(MXNDArrayFree) X(MXNDArrayGetContext)                            \
    X(MXNDArrayGetGrad) X(MXNDArrayGetGradState) X(MXNDArraySetGradState) X(MXLNDArrayGetId)       \
    X(MXAutogradSetIsRecording) X(MXAutogradSetIsTraining) X(MXInvokeCachedOp) X(MXAutogradIsRecording) \
    X(MXLNDArrayGetEdge) X(MXLNDArraySetGrad) X(MXLNDArraySetRequiresGrad) X(MXLBackward) X(MXLNodeFree)                        \
    X(MXLNDArrayGetAddress) X(MXLNDArrayGetStrides) X(MXLNDArrayGetEdgeKind) X(MXLNDArrayBatchOf) X(MXLNDArrayIsContiguous) X(MXLGetGradMode) X(MXLSetGradMode) X(MXLNDArrayFromData) X(MXNDArrayDetach) X(MXLNDArrayVisitPayloads) X(MXNDArrayGetStorageType)
/* clang-format on */

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)

#define NAME(name) #name " "
static char *const names = FUNCTIONS(NAME);

#define HANDLE(number) ((void *)(uintptr_t)(number))
#define NUMBER(handle) ((uint64_t)(uintptr_t)(handle))

/* The functions in the order of FUNCTIONS; -1 for a number beyond them. */
static int bind(int number, uint64_t address)
{
    int i = 0;

#define BIND(name)                                                                                 \
    if (i++ == number) {                                                                           \
        p_##name = (__typeof__(&name))(uintptr_t)address;                                          \
        return 0;                                                                                  \
    }
    FUNCTIONS(BIND)
    return -1;
}

/* Where an array is: 16 times the number of the device, plus its kind; -1 for an error. */
static int64_t device(uint64_t a)
{
    int kind, number;

    return p_MXNDArrayGetContext(HANDLE(a), &kind, &number) == 0 ? (int64_t)number * 16 + kind : -1;
}

/* Whether a backward has written the gradient of a variable; -1 for an error. */
static int fresh(uint64_t a)
{
    int state;

    return p_MXNDArrayGetGradState(HANDLE(a), &state) == 0 ? state : -1;
}

/* A new handle of the gradient of an array, 0 for none; all bits for an error. */
static uint64_t gradient(uint64_t a)
{
    NDArrayHandle grad;

    return p_MXNDArrayGetGrad(HANDLE(a), &grad) == 0 ? NUMBER(grad) : UINT64_MAX;
}

/* A new handle of the same memory without a place in the graph; 0 for an error. */
static uint64_t detached(uint64_t a)
{
    NDArrayHandle made;

    return p_MXNDArrayDetach(HANDLE(a), &made) == 0 ? NUMBER(made) : 0;
}

/* A number that all handles of one array share; 0 for an error. */
static uint64_t identity(uint64_t a)
{
    uint64_t number;

    return p_MXLNDArrayGetId(HANDLE(a), &number) == 0 ? number : 0;
}

enum { MAX_ARGUMENTS = 32, MAX_NDIM = 32 }; /* of a call; of an array, the library's */

static int into1(uint64_t call, uint64_t a, uint64_t out)
{
    NDArrayHandle inputs[1] = {HANDLE(a)}, outputs[1] = {HANDLE(out)};
    int count = 1;

    return p_MXLCallInto(HANDLE(call), 1, inputs, NULL, &count, outputs);
}

static int into2(uint64_t call, uint64_t a, uint64_t b, uint64_t out)
{
    NDArrayHandle inputs[2] = {HANDLE(a), HANDLE(b)}, outputs[1] = {HANDLE(out)};
    int count = 1;

    return p_MXLCallInto(HANDLE(call), 2, inputs, NULL, &count, outputs);
}

static int into1_float(uint64_t call, uint64_t a, double value, uint64_t out)
{
    NDArrayHandle inputs[1] = {HANDLE(a)}, outputs[1] = {HANDLE(out)};
    MXLValue values[1];
    int count = 1;

    values[0].f = value;
    return p_MXLCallInto(HANDLE(call), 1, inputs, values, &count, outputs);
}

/* The outputs of a cached operator, of which there are `num_outputs`: 0, or -1. */
static int graph_into(uint64_t op, int num_inputs, const uint64_t *inputs, int num_outputs,
                      uint64_t *outputs)
{
    NDArrayHandle *made = NULL;
    int count = 0;

    if (p_MXInvokeCachedOp(HANDLE(op), num_inputs, (NDArrayHandle *)inputs, &count, &made) != 0)
        return -1;
    for (int i = 0; i < count && i < num_outputs; i++)
        outputs[i] = NUMBER(made[i]);
    return 0;
}

/* The output of a cached operator that has one. */
static uint64_t graph_one(uint64_t op, int num_inputs, const uint64_t *inputs)
{
    uint64_t made = 0;

    return graph_into(op, num_inputs, inputs, 1, &made) == 0 ? made : 0;
}

/* Rows as Python's x[begin:end] counts them: negative from the end, cut to what there is. */
static uint64_t slice_rows(uint64_t a, int64_t begin, int64_t end)
{
    int64_t n;

    if (p_MXLNDArrayGetInfo(HANDLE(a), 1, &n, NULL) < 1)
        n = 0;
    if (begin < 0)
        begin = begin + n < 0 ? 0 : begin + n;
    else if (begin > n)
        begin = n;
    if (end < 0)
        end = end + n < 0 ? 0 : end + n;
    else if (end > n)
        end = n;
    return NUMBER(p_MXLNDArraySlice(HANDLE(a), begin, end));
}

static uint64_t at(uint64_t a, int64_t index)
{
    int64_t n = 0;

    if (index < 0 && p_MXLNDArrayGetInfo(HANDLE(a), 1, &n, NULL) > 0)
        index += n;
    return NUMBER(p_MXLNDArrayAt(HANDLE(a), index));
}

static uint64_t reshape(uint64_t a, int ndim, const int64_t *shape)
{
    return NUMBER(p_MXLNDArrayReshape(HANDLE(a), ndim, shape, 0));
}

/* Backward to all leaves from an array of one element, with 1 as its gradient: 0, or -1; 1 for
 * another array, or one that no gradient flows from, for which nothing has been done. */
static int backward_of_one(uint64_t a, int keep_graph, int dialect)
{
    MXLBackwardOptions options = {.keep_graph = keep_graph,
                                  .allow_unreachable = 1,
                                  .accumulate_grad = 1,
                                  .training = 1,
                                  .dialect = dialect};
    int64_t shape[MAX_NDIM];
    int ndim = p_MXLNDArrayGetInfo(HANDLE(a), MAX_NDIM, shape, NULL), output, status;
    MXLNodeHandle node;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] != 1)
            return 1;
    }
    if (ndim < 0 || p_MXLNDArrayGetEdge(HANDLE(a), &node, &output) != 0 || node == NULL)
        return 1;
    status = p_MXLBackward(1, &node, &output, NULL, &options, 0, NULL, NULL, NULL);
    p_MXLNodeFree(node);
    return status;
}

/* A function that sets a flag: the flag before, or -1. */
#define SETTER(name, function)                                                                     \
    static int name(int flag)                                                                      \
    {                                                                                              \
        int before = -1;                                                                           \
                                                                                                   \
        return p_##function(flag, &before) == 0 ? before : -1;                                     \
    }
SETTER(set_recording, MXAutogradSetIsRecording)
SETTER(set_training, MXAutogradSetIsTraining)
SETTER(set_grad_mode, MXLSetGradMode)

/* Whether PyTorch's front end records on this thread; -1 for an error. */
static int grad_mode(void)
{
    int flag = -1;

    return p_MXLGetGradMode(&flag) == 0 ? flag : -1;
}
