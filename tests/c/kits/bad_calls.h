/* The calls of test_api_bad.c and their arguments. HANDLE_PLACES: every handle argument of every
 * function. BAD_ARGUMENTS: calls with NULL or otherwise invalid arguments. */
#ifndef BAD_CALLS_H
#define BAD_CALLS_H

#include "harness.h"

#include <stdlib.h>

#include "base/handle.h"
#include "mxlite/mxlite.h"

/* ---- what the calls below are given ---- */

enum { UNTOUCHED = 0x5a5a };

static NDArrayHandle good;     /* an array of shape (2, 3), float32 */
static NDArrayHandle variable; /* the same, marked */
static OpHandle exp_op;
static MXLCallHandle exp_call, scalar_call, list_call, int_call, split_call, torch_call;

/* Results, poisoned before every call. */
static NDArrayHandle out;
static int int_a, int_b;
static uint32_t u32, u32_b;
static uint64_t u64;
static const uint32_t *p_u32;
static const int *p_int;
static int *p_stypes;
static const int64_t *p_i64;
static void *p_data;
static const char *text_a, *text_b, *text_c, *text_d;
static const char **list_a, **list_b, **list_c;
static AtomicSymbolCreator *creators;
static NDArrayHandle *handles;
static const struct LibFeature *features;
static size_t size;
static float buffer[6];
static int64_t number, number_out;

static const uint32_t shape_u32[] = {2, 3};
static const int64_t shape_i64[] = {3, 2};
static int shape_int[] = {3, 2};
static int64_t dims[] = {3, 2};
static uint32_t write_req[] = {1};

static const char *axis_key[] = {"axis"}, *axis_value[] = {"(0,)"}, *null_text[] = {NULL};
static const int bfloat16 = 12, no_low_dtype = 0;
static const char *name_a[] = {"a"};
static const char no_list_at_all[16] = "neither magic";

static const char *scalar_key[] = {"scalar"}, *is_int_key[] = {"is_int"};
static const char *range_key[] = {"range"};
static const char *parts_key[] = {"num_outputs"};
static const MXLValue no_parts = {.i = 0};

static NDArrayHandle one[1], two[2];

static int invoke_in(void *op, void *input)
{
    int count = 0;

    one[0] = input;
    handles = NULL;
    return MXImperativeInvoke(op, 1, one, &count, &handles, 0, NULL, NULL);
}

static int invoke_ex_in(void *op, void *input)
{
    int count = 0;

    one[0] = input;
    handles = NULL;
    return MXImperativeInvokeEx(op, 1, one, &count, &handles, 0, NULL, NULL, &p_int);
}

static int invoke_out(void *output)
{
    int count = 1;
    NDArrayHandle *given = two;

    one[0] = good;
    two[0] = output;
    return MXImperativeInvokeEx(exp_op, 1, one, &count, &given, 0, NULL, NULL, &p_int);
}

static int backward(void *head, void *grad, void *var)
{
    NDArrayHandle heads[1] = {head}, grads[1] = {grad}, vars[1] = {var};

    return MXAutogradBackwardEx(1, heads, grads, 1, vars, 0, 0, 1, &handles, &p_stypes);
}

static int mark(void *var, void *grad)
{
    NDArrayHandle vars[1] = {var}, grads[1] = {grad};

    return MXAutogradMarkVariables(1, vars, write_req, grads);
}

static int never_called(void)
{
    abort();
}

static int never_creator(const char *op_type, int count, const char **keys, const char **values,
                         struct MXCallbackList *result)
{
    (void)op_type, (void)count, (void)keys, (void)values, (void)result;
    abort();
}

static int never_rule(void *payload, int num_outputs, const NDArrayHandle *output_grads,
                      int num_inputs, const int *wants, NDArrayHandle *results)
{
    (void)payload, (void)num_outputs, (void)output_grads, (void)num_inputs, (void)wants;
    (void)results;
    return -1;
}

static int record_function(void *call, void *input, void *output)
{
    return MXLFunctionRecord(call, 1, &input, 1, &output, never_rule, NULL, NULL, NULL, &int_a);
}

static int record(void *input, void *output)
{
    int (*list[2])(void) = {never_called, never_called};
    void *contexts[2] = {NULL, NULL};
    struct MXCallbackList callbacks = {2, list, contexts};
    NDArrayHandle ins[1] = {input}, outs[1] = {output};
    int status, prev;

    CHECK_INT(MXAutogradSetIsRecording(1, &prev), 0);
    status = MXCustomFunctionRecord(1, ins, 1, outs, &callbacks);
    CHECK_INT(MXAutogradSetIsRecording(prev, &prev), 0);
    return status;
}

static int call_into(void *call, void *input, void *output)
{
    int count = 1;

    one[0] = input;
    two[0] = output;
    return MXLCallInto(call, 1, one, NULL, &count, two);
}

static int status_of(NDArrayHandle h)
{
    return h == NULL ? -1 : 0;
}

#include "bad_graph.h"

/* ---- a bad handle in each place ---- */

/* Function, kind of handle that is expected in the place, whether NULL is legal there, the call. */
static int save(void *array)
{
    one[0] = array;
    return MXNDArraySave("/dev/null", 1, one, NULL);
}

#define HANDLE_PLACES(X)                                                                           \
    X(MXNDArrayFree, ARRAY, true, MXNDArrayFree(h))                                                \
    X(MXShallowCopyNDArray, ARRAY, false, MXShallowCopyNDArray(h, &out))                           \
    X(MXNDArrayWaitToRead, ARRAY, false, MXNDArrayWaitToRead(h))                                   \
    X(MXNDArrayWaitToWrite, ARRAY, false, MXNDArrayWaitToWrite(h))                                 \
    X(MXNDArraySyncCopyFromCPU, ARRAY, false, MXNDArraySyncCopyFromCPU(h, buffer, 6))              \
    X(MXNDArraySyncCopyToCPU, ARRAY, false, MXNDArraySyncCopyToCPU(h, buffer, 6))                  \
    X(MXNDArraySyncCopyFromNDArray, ARRAY, false, MXNDArraySyncCopyFromNDArray(h, good, -1))       \
    X(MXNDArraySyncCopyFromNDArray, ARRAY, false, MXNDArraySyncCopyFromNDArray(good, h, -1))       \
    X(MXNDArraySlice, ARRAY, false, MXNDArraySlice(h, 0, 1, &out))                                 \
    X(MXNDArraySlice64, ARRAY, false, MXNDArraySlice64(h, 0, 1, &out))                             \
    X(MXNDArrayAt, ARRAY, false, MXNDArrayAt(h, 0, &out))                                          \
    X(MXNDArrayAt64, ARRAY, false, MXNDArrayAt64(h, 0, &out))                                      \
    X(MXNDArrayReshape, ARRAY, false, MXNDArrayReshape(h, 2, shape_int, &out))                     \
    X(MXNDArrayReshape64, ARRAY, false, MXNDArrayReshape64(h, 2, dims, false, &out))               \
    X(MXNDArrayGetShape, ARRAY, false, MXNDArrayGetShape(h, &u32, &p_u32))                         \
    X(MXNDArrayGetShapeEx, ARRAY, false, MXNDArrayGetShapeEx(h, &int_a, &p_int))                   \
    X(MXNDArrayGetShapeEx64, ARRAY, false, MXNDArrayGetShapeEx64(h, &int_a, &p_i64))               \
    X(MXNDArrayGetData, ARRAY, false, MXNDArrayGetData(h, &p_data))                                \
    X(MXNDArrayGetDType, ARRAY, false, MXNDArrayGetDType(h, &int_a))                               \
    X(MXNDArrayGetContext, ARRAY, false, MXNDArrayGetContext(h, &int_a, &int_b))                   \
    X(MXNDArrayGetStorageType, ARRAY, false, MXNDArrayGetStorageType(h, &int_a))                   \
    X(MXNDArrayGetGrad, ARRAY, false, MXNDArrayGetGrad(h, &out))                                   \
    X(MXNDArrayDetach, ARRAY, false, MXNDArrayDetach(h, &out))                                     \
    X(MXNDArrayGetGradState, ARRAY, false, MXNDArrayGetGradState(h, &int_a))                       \
    X(MXNDArraySetGradState, ARRAY, false, MXNDArraySetGradState(h, 1))                            \
    X(MXNDArraySave, ARRAY, false, save(h))                                                        \
    X(MXNDArraySaveRawBytes, ARRAY, false, MXNDArraySaveRawBytes(h, &size, &text_a))               \
    X(MXNDArrayToDLPack, ARRAY, false, MXNDArrayToDLPack(h, &p_data))                              \
    X(MXLNDArrayToDLPackVersioned, ARRAY, false, MXLNDArrayToDLPackVersioned(h, &p_data))          \
    X(MXNDArrayGetSharedMemHandle, ARRAY, false, MXNDArrayGetSharedMemHandle(h, &int_a, &int_b))   \
    X(MXNDArraySyncCheckFormat, ARRAY, false, MXNDArraySyncCheckFormat(h, true))                   \
    X(MXSymbolGetAtomicSymbolName, OP, false, MXSymbolGetAtomicSymbolName(h, &text_a))             \
    X(MXSymbolGetAtomicSymbolInfo, OP, false,                                                      \
      MXSymbolGetAtomicSymbolInfo(h, &text_a, &text_b, &u32, &list_a, &list_b, &list_c, &text_c,   \
                                  &text_d))                                                        \
    X(NNGetOpInfo, OP, false,                                                                      \
      NNGetOpInfo(h, &text_a, &text_b, &u32, &list_a, &list_b, &list_c, &text_c))                  \
    X(MXImperativeInvoke, OP, false, invoke_in(h, good))                                           \
    X(MXImperativeInvoke, ARRAY, false, invoke_in(exp_op, h))                                      \
    X(MXImperativeInvokeEx, OP, false, invoke_ex_in(h, good))                                      \
    X(MXImperativeInvokeEx, ARRAY, false, invoke_ex_in(exp_op, h))                                 \
    X(MXImperativeInvokeEx, ARRAY, false, invoke_out(h))                                           \
    X(MXAutogradMarkVariables, ARRAY, false, mark(h, good))                                        \
    X(MXAutogradMarkVariables, ARRAY, true, mark(variable, h))                                     \
    X(MXAutogradBackwardEx, ARRAY, false, backward(h, NULL, variable))                             \
    X(MXAutogradBackwardEx, ARRAY, false, backward(variable, NULL, h))                             \
    X(MXAutogradBackwardEx, ARRAY, true, backward(variable, h, variable))                          \
    X(MXAutogradBackward, ARRAY, false, (one[0] = h, MXAutogradBackward(1, one, NULL, 0)))         \
    X(MXAutogradComputeGradient, ARRAY, false, (one[0] = h, MXAutogradComputeGradient(1, one)))    \
    X(MXCustomFunctionRecord, ARRAY, false, record(h, good))                                       \
    X(MXCustomFunctionRecord, ARRAY, false, record(variable, h))                                   \
    X(MXLCustomFunctionOutput, ARRAY, false, status_of(MXLCustomFunctionOutput(h, 0)))             \
    X(MXLFunctionRecord, ARRAY, false, record_function(torch_call, h, good))                       \
    X(MXLFunctionRecord, ARRAY, false, record_function(torch_call, variable, h))                   \
    X(MXLFunctionRecord, CALL, false, record_function(h, variable, good))                          \
    X(MXLNDArrayGetStrides, ARRAY, false, MXLNDArrayGetStrides(h, 0, NULL, NULL) < 0 ? -1 : 0)     \
    X(MXLNDArrayIsContiguous, ARRAY, false, MXLNDArrayIsContiguous(h))                             \
    X(MXLNDArrayGetAddress, ARRAY, false, MXLNDArrayGetAddress(h, &p_data))                        \
    X(MXLNDArrayGetMemory, ARRAY, false, status_of(MXLNDArrayGetMemory(h, &u64)))                  \
    X(MXLNDArrayCheckEdit, ARRAY, false, MXLNDArrayCheckEdit(h))                                   \
    X(MXLNDArrayNoteReturned, ARRAY, false, MXLNDArrayNoteReturned(h))                             \
    X(MXLNDArrayAssume, ARRAY, false, MXLNDArrayAssume(h, good))                                   \
    X(MXLNDArrayBatch, ARRAY, false, MXLNDArrayBatch(h, 1, 0, &p_data))                            \
    X(MXLNDArrayBatchOf, ARRAY, false, MXLNDArrayBatchOf(h, NULL, &int_a))                         \
    X(MXLNDArraySlice, ARRAY, false, status_of(MXLNDArraySlice(h, 0, 1)))                          \
    X(MXLNDArrayAt, ARRAY, false, status_of(MXLNDArrayAt(h, 0)))                                   \
    X(MXLNDArrayReshape, ARRAY, false, status_of(MXLNDArrayReshape(h, 2, shape_i64, 0)))           \
    X(MXLNDArrayGetInfo, ARRAY, false, MXLNDArrayGetInfo(h, 2, dims, &int_a) == -2 ? -1 : 0)       \
    X(MXLNDArrayTurn, ARRAY, false, MXLNDArrayTurn(h, good, &int_a))                               \
    X(MXLNDArrayTurn, ARRAY, false, MXLNDArrayTurn(good, h, &int_a))                               \
    X(MXLNDArrayBumpVersion, ARRAY, false, MXLNDArrayBumpVersion(h))                               \
    X(MXLNDArrayShare, ARRAY, false, MXLNDArrayShare(h, &int_a))                                   \
    X(MXLNDArrayProtect, ARRAY, false, MXLNDArrayProtect(h))                                       \
    X(MXLNDArrayIsInference, ARRAY, false, MXLNDArrayIsInference(h))                               \
    X(MXLNDArrayGetBase, ARRAY, false, MXLNDArrayGetBase(h, &out))                                 \
    X(MXLNDArrayGetVersion, ARRAY, false, MXLNDArrayGetVersion(h, &u64))                           \
    X(MXLCall, CALL, false, (one[0] = good, status_of(MXLCall(h, 1, one, NULL))))                  \
    X(MXLCall, ARRAY, false, (one[0] = h, status_of(MXLCall(exp_call, 1, one, NULL))))             \
    X(MXLCall1, CALL, false, status_of(MXLCall1(h, good)))                                         \
    X(MXLCall1, ARRAY, false, status_of(MXLCall1(exp_call, h)))                                    \
    X(MXLCall2, CALL, false, status_of(MXLCall2(h, good, good)))                                   \
    X(MXLCall1Float, CALL, false, status_of(MXLCall1Float(h, good, 1)))                            \
    X(MXLCall1Float, ARRAY, false, status_of(MXLCall1Float(scalar_call, h, 1)))                    \
    X(MXLCall1Int, CALL, false, status_of(MXLCall1Int(h, good, 1)))                                \
    X(MXLCall1Int, ARRAY, false, status_of(MXLCall1Int(int_call, h, 1)))                           \
    X(MXLCall1List, CALL, false, status_of(MXLCall1List(h, good, 0, NULL)))                        \
    X(MXLCall1List, ARRAY, false, status_of(MXLCall1List(list_call, h, 0, NULL)))                  \
    X(MXLCallGetNumOutputs, CALL, false, MXLCallGetNumOutputs(h, NULL, &int_a))                    \
    X(MXLCallInto, CALL, false, call_into(h, good, NULL))                                          \
    X(MXLCallInto, ARRAY, false, call_into(exp_call, h, NULL))                                     \
    X(MXLCallInto, ARRAY, true, call_into(exp_call, good, h))

/* ---- other bad arguments ---- */

static int no_count = 0, negative_count = -1, two_outputs = 2;
static NDArrayHandle *no_list = NULL;

static int record_bad(int num_inputs, NDArrayHandle *inputs, int num_outputs,
                      NDArrayHandle *outputs, struct MXCallbackList *callbacks)
{
    int prev, status;

    CHECK_INT(MXAutogradSetIsRecording(1, &prev), 0);
    status = MXCustomFunctionRecord(num_inputs, inputs, num_outputs, outputs, callbacks);
    CHECK_INT(MXAutogradSetIsRecording(prev, &prev), 0);
    return status;
}

static struct MXCallbackList *no_callbacks(void)
{
    static struct MXCallbackList list;

    return &list;
}

static NDArrayHandle *good_list(void)
{
    one[0] = good;
    return one;
}

static NDArrayHandle *variable_list(void)
{
    two[0] = variable;
    two[1] = NULL;
    return two;
}

static void bad_free(void *payload, void *block, size_t bytes);

#define BAD_ARGUMENTS(X)                                                                           \
    X(MXGetVersion, MXGetVersion(NULL))                                                            \
    X(MXGetGPUCount, MXGetGPUCount(NULL))                                                          \
    X(MXLibInfoFeatures, MXLibInfoFeatures(NULL, &size))                                           \
    X(MXLibInfoFeatures, MXLibInfoFeatures(&features, NULL))                                       \
    X(MXRandomSeedContext, MXRandomSeedContext(1, 2, 0))                                           \
    X(MXSetNumOMPThreads, MXSetNumOMPThreads(-1))                                                  \
    X(MXEngineSetBulkSize, MXEngineSetBulkSize(1, NULL))                                           \
    X(MXStorageEmptyCache, MXStorageEmptyCache(2, 0))                                              \
    X(MXIsNumpyShape, MXIsNumpyShape(NULL))                                                        \
    X(MXSetIsNumpyShape, MXSetIsNumpyShape(1, NULL))                                               \
    X(MXNDArrayCreateNone, MXNDArrayCreateNone(NULL))                                              \
    X(MXNDArrayCreate, MXNDArrayCreate(shape_u32, 2, 1, 0, 0, NULL))                               \
    X(MXNDArrayCreate, MXNDArrayCreate(NULL, 2, 1, 0, 0, &out))                                    \
    X(MXNDArrayCreateEx, MXNDArrayCreateEx(shape_u32, 2, 1, 0, 0, 0, NULL))                        \
    X(MXNDArrayCreateEx, MXNDArrayCreateEx(shape_u32, 2, 1, 0, 0, 77, &out))                       \
    X(MXNDArrayCreateEx64, MXNDArrayCreateEx64(shape_i64, 2, 1, 0, 0, 0, NULL))                    \
    X(MXNDArrayCreateEx64, MXNDArrayCreateEx64(shape_i64, -2, 1, 0, 0, 0, &out))                   \
    X(MXShallowCopyNDArray, MXShallowCopyNDArray(good, NULL))                                      \
    X(MXNDArraySyncCopyFromCPU, MXNDArraySyncCopyFromCPU(good, NULL, 6))                           \
    X(MXNDArraySyncCopyToCPU, MXNDArraySyncCopyToCPU(good, NULL, 6))                               \
    X(MXNDArraySyncCopyFromNDArray, MXNDArraySyncCopyFromNDArray(good, good, -2))                  \
    X(MXNDArraySlice, MXNDArraySlice(good, 0, 1, NULL))                                            \
    X(MXNDArraySlice64, MXNDArraySlice64(good, 0, 1, NULL))                                        \
    X(MXNDArrayAt, MXNDArrayAt(good, 0, NULL))                                                     \
    X(MXNDArrayAt64, MXNDArrayAt64(good, 0, NULL))                                                 \
    X(MXNDArrayReshape, MXNDArrayReshape(good, 2, shape_int, NULL))                                \
    X(MXNDArrayReshape64, MXNDArrayReshape64(good, 2, dims, false, NULL))                          \
    X(MXNDArrayGetShape, MXNDArrayGetShape(good, NULL, &p_u32))                                    \
    X(MXNDArrayGetShape, MXNDArrayGetShape(good, &u32, NULL))                                      \
    X(MXNDArrayGetShapeEx, MXNDArrayGetShapeEx(good, NULL, &p_int))                                \
    X(MXNDArrayGetShapeEx, MXNDArrayGetShapeEx(good, &int_a, NULL))                                \
    X(MXNDArrayGetShapeEx64, MXNDArrayGetShapeEx64(good, NULL, &p_i64))                            \
    X(MXNDArrayGetShapeEx64, MXNDArrayGetShapeEx64(good, &int_a, NULL))                            \
    X(MXNDArrayGetData, MXNDArrayGetData(good, NULL))                                              \
    X(MXLNDArrayGetAddress, MXLNDArrayGetAddress(good, NULL))                                      \
    X(MXLNDArrayGetMemory, status_of(MXLNDArrayGetMemory(good, NULL)))                             \
    X(MXNDArrayGetDType, MXNDArrayGetDType(good, NULL))                                            \
    X(MXNDArrayGetContext, MXNDArrayGetContext(good, NULL, &int_b))                                \
    X(MXNDArrayGetContext, MXNDArrayGetContext(good, &int_a, NULL))                                \
    X(MXNDArrayGetStorageType, MXNDArrayGetStorageType(good, NULL))                                \
    X(MXNDArrayGetGrad, MXNDArrayGetGrad(good, NULL))                                              \
    X(MXNDArrayDetach, MXNDArrayDetach(good, NULL))                                                \
    X(MXNDArrayGetGradState, MXNDArrayGetGradState(good, NULL))                                    \
    X(MXNDArraySetGradState, MXNDArraySetGradState(good, 1))                                       \
    X(MXNDArraySave, MXNDArraySave(NULL, 1, good_list(), NULL))                                    \
    X(MXNDArraySave, MXNDArraySave("/dev/null", 1, NULL, NULL))                                    \
    X(MXNDArraySave, MXNDArraySave("/dev/null", 1, good_list(), null_text))                        \
    X(MXNDArraySave, MXNDArraySave("/nosuchfolder/a", 1, good_list(), name_a))                     \
    X(MXNDArrayLoad, MXNDArrayLoad(NULL, &u32, &handles, &u32_b, &list_a))                         \
    X(MXNDArrayLoad, MXNDArrayLoad("/nosuchfolder/a", &u32, &handles, &u32_b, &list_a))            \
    X(MXNDArrayLoad, MXNDArrayLoad("/", &u32, &handles, &u32_b, &list_a))                          \
    X(MXNDArrayLoad, MXNDArrayLoad("Makefile", &u32, &handles, &u32_b, &list_a))                   \
    X(MXNDArrayLoad, MXNDArrayLoad("Makefile", NULL, &handles, &u32_b, &list_a))                   \
    X(MXNDArrayLoadFromBuffer, MXNDArrayLoadFromBuffer(NULL, 8, &u32, &handles, &u32_b, &list_a))  \
    X(MXNDArrayLoadFromBuffer,                                                                     \
      MXNDArrayLoadFromBuffer(no_list_at_all, 16, &u32, &handles, &u32_b, &list_a))                \
    X(MXNDArrayLoadFromBuffer,                                                                     \
      MXNDArrayLoadFromBuffer(no_list_at_all, 16, &u32, NULL, &u32_b, &list_a))                    \
    X(MXNDArraySaveRawBytes, MXNDArraySaveRawBytes(good, NULL, &text_a))                           \
    X(MXNDArraySaveRawBytes, MXNDArraySaveRawBytes(good, &size, NULL))                             \
    X(MXNDArrayLoadFromRawBytes, MXNDArrayLoadFromRawBytes(NULL, 8, &out))                         \
    X(MXNDArrayLoadFromRawBytes, MXNDArrayLoadFromRawBytes(no_list_at_all, 16, &out))              \
    X(MXNDArrayLoadFromRawBytes, MXNDArrayLoadFromRawBytes(no_list_at_all, 16, NULL))              \
    X(MXNDArrayToDLPack, MXNDArrayToDLPack(good, NULL))                                            \
    X(MXNDArrayFromDLPack, MXNDArrayFromDLPack(NULL, &out))                                        \
    X(MXNDArrayFromDLPackEx, MXNDArrayFromDLPackEx(NULL, true, &out))                              \
    X(MXNDArrayFromDLPackEx, MXNDArrayFromDLPackEx(shape_int, false, NULL))                        \
    X(MXNDArrayGetSharedMemHandle, MXNDArrayGetSharedMemHandle(good, NULL, &int_b))                \
    X(MXNDArrayGetSharedMemHandle, MXNDArrayGetSharedMemHandle(good, &int_a, NULL))                \
    X(MXLNDArrayShare, MXLNDArrayShare(good, NULL))                                                \
    X(MXNDArrayCreateFromSharedMem, MXNDArrayCreateFromSharedMem(1, -1, shape_u32, 2, 0, &out))    \
    X(MXNDArrayCreateFromSharedMem, MXNDArrayCreateFromSharedMem(1, 0, NULL, 2, 0, &out))          \
    X(MXNDArrayCreateFromSharedMemEx,                                                              \
      MXNDArrayCreateFromSharedMemEx(1, -1, shape_int, 2, 0, &out))                                \
    X(MXNDArrayCreateFromSharedMemEx,                                                              \
      MXNDArrayCreateFromSharedMemEx(1, 0, shape_int, 2, 77, &out))                                \
    X(MXNDArrayCreateFromSharedMemEx,                                                              \
      MXNDArrayCreateFromSharedMemEx(1, 0, shape_int, -1, 0, &out))                                \
    X(MXNDArrayCreateFromSharedMemEx, MXNDArrayCreateFromSharedMemEx(1, 0, shape_int, 2, 0, NULL)) \
    X(MXGetEnv, MXGetEnv(NULL, &text_a))                                                           \
    X(MXGetEnv, MXGetEnv("HOME", NULL))                                                            \
    X(MXSetEnv, MXSetEnv(NULL, "a"))                                                               \
    X(MXSetEnv, MXSetEnv("", NULL))                                                                \
    X(MXSetEnv, MXSetEnv("a=b", "c"))                                                              \
    X(MXLNDArrayFromMemory, status_of(MXLNDArrayFromMemory(NULL, 2, shape_i64, 0, NULL, NULL)))    \
    X(MXLNDArrayFromMemory, status_of(MXLNDArrayFromMemory(buffer, 2, NULL, 0, NULL, NULL)))       \
    X(MXLNDArrayFromMemory, status_of(MXLNDArrayFromMemory(buffer, 33, shape_i64, 0, NULL, NULL))) \
    X(MXLNDArrayFromMemory, status_of(MXLNDArrayFromMemory(buffer, 2, shape_i64, 13, NULL, NULL))) \
    X(MXLNDArrayFromMemory,                                                                        \
      status_of(MXLNDArrayFromMemory((char *)buffer + 1, 2, shape_i64, 0, NULL, NULL)))            \
    X(MXLNDArrayFromData, status_of(MXLNDArrayFromData(NULL, 2, shape_i64, 0)))                    \
    X(MXLNDArrayFromData, status_of(MXLNDArrayFromData(buffer, 2, NULL, 0)))                       \
    X(MXLNDArrayFromData, status_of(MXLNDArrayFromData(buffer, 33, shape_i64, 0)))                 \
    X(MXLNDArrayFromData, status_of(MXLNDArrayFromData(buffer, 2, shape_i64, 13)))                 \
    X(MXLNDArrayToDLPackVersioned, MXLNDArrayToDLPackVersioned(good, NULL))                        \
    X(MXLNDArrayFromDLPackVersioned, status_of(MXLNDArrayFromDLPackVersioned(NULL)))               \
    X(MXLSetPython, MXLSetPython(NULL))                                                            \
    X(MXListAllOpNames, MXListAllOpNames(NULL, &list_a))                                           \
    X(MXListAllOpNames, MXListAllOpNames(&u32, NULL))                                              \
    X(NNListAllOpNames, NNListAllOpNames(NULL, &list_a))                                           \
    X(NNListAllOpNames, NNListAllOpNames(&u32, NULL))                                              \
    X(NNGetOpHandle, NNGetOpHandle(NULL, &out))                                                    \
    X(NNGetOpHandle, NNGetOpHandle("exp", NULL))                                                   \
    X(NNGetOpHandle, NNGetOpHandle("nosuch", &out))                                                \
    X(MXSymbolListAtomicSymbolCreators, MXSymbolListAtomicSymbolCreators(NULL, &creators))         \
    X(MXSymbolListAtomicSymbolCreators, MXSymbolListAtomicSymbolCreators(&u32, NULL))              \
    X(MXSymbolGetAtomicSymbolName, MXSymbolGetAtomicSymbolName(exp_op, NULL))                      \
    X(MXSymbolGetAtomicSymbolInfo,                                                                 \
      MXSymbolGetAtomicSymbolInfo(exp_op, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))         \
    X(NNGetOpInfo, NNGetOpInfo(exp_op, NULL, NULL, NULL, NULL, NULL, NULL, NULL))                  \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, 1, good_list(), NULL, &no_list, 0, NULL, NULL))                   \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, 1, good_list(), &no_count, NULL, 0, NULL, NULL))                  \
    X(MXImperativeInvoke, MXImperativeInvoke(exp_op, 1, NULL, &no_count, &no_list, 0, NULL, NULL)) \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, -1, good_list(), &no_count, &no_list, 0, NULL, NULL))             \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, INT32_MAX, NULL, &no_count, &no_list, 0, NULL, NULL))             \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, 1, good_list(), &negative_count, &no_list, 0, NULL, NULL))        \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, 1, good_list(), &no_count, &no_list, -1, NULL, NULL))             \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, 1, good_list(), &no_count, &no_list, 1, NULL, NULL))              \
    X(MXImperativeInvoke,                                                                          \
      MXImperativeInvoke(exp_op, 1, good_list(), &no_count, &no_list, 1, null_text, null_text))    \
    X(MXImperativeInvoke, MXImperativeInvoke(exp_op, 0, NULL, &no_count, &no_list, 0, NULL, NULL)) \
    X(MXImperativeInvokeEx,                                                                        \
      MXImperativeInvokeEx(exp_op, 1, good_list(), NULL, &no_list, 0, NULL, NULL, &p_int))         \
    X(MXImperativeInvokeEx,                                                                        \
      MXImperativeInvokeEx(exp_op, 1, good_list(), &no_count, NULL, 0, NULL, NULL, &p_int))        \
    X(MXImperativeInvokeEx,                                                                        \
      MXImperativeInvokeEx(exp_op, 1, good_list(), &no_count, &no_list, 0, NULL, NULL, NULL))      \
    X(MXImperativeInvokeEx,                                                                        \
      MXImperativeInvokeEx(exp_op, -1, good_list(), &no_count, &no_list, 0, NULL, NULL, &p_int))   \
    X(MXAutogradSetIsRecording, MXAutogradSetIsRecording(1, NULL))                                 \
    X(MXAutogradSetIsTraining, MXAutogradSetIsTraining(1, NULL))                                   \
    X(MXAutogradIsRecording, MXAutogradIsRecording(NULL))                                          \
    X(MXAutogradIsTraining, MXAutogradIsTraining(NULL))                                            \
    X(MXAutogradMarkVariables, MXAutogradMarkVariables(1, NULL, write_req, good_list()))           \
    X(MXAutogradMarkVariables, MXAutogradMarkVariables(1, variable_list(), NULL, good_list()))     \
    X(MXAutogradMarkVariables, MXAutogradMarkVariables(1, variable_list(), write_req, NULL))       \
    X(MXAutogradMarkVariables,                                                                     \
      MXAutogradMarkVariables(UINT32_MAX, variable_list(), write_req, good_list()))                \
    X(MXAutogradBackwardEx,                                                                        \
      MXAutogradBackwardEx(0, variable_list(), NULL, 0, NULL, 0, 0, 1, &handles, &p_stypes))       \
    X(MXAutogradBackwardEx,                                                                        \
      MXAutogradBackwardEx(1, NULL, NULL, 0, NULL, 0, 0, 1, &handles, &p_stypes))                  \
    X(MXAutogradBackwardEx, MXAutogradBackwardEx(UINT32_MAX, variable_list(), NULL, 0, NULL, 0, 0, \
                                                 1, &handles, &p_stypes))                          \
    X(MXAutogradBackwardEx,                                                                        \
      MXAutogradBackwardEx(1, variable_list(), NULL, 1, NULL, 0, 0, 1, &handles, &p_stypes))       \
    X(MXAutogradBackwardEx, MXAutogradBackwardEx(1, variable_list(), NULL, 1, variable_list(), 0,  \
                                                 0, 1, NULL, &p_stypes))                           \
    X(MXAutogradBackwardEx,                                                                        \
      MXAutogradBackwardEx(1, variable_list(), NULL, 1, variable_list(), 0, 0, 1, &handles, NULL)) \
    X(MXAutogradBackwardEx, MXAutogradBackwardEx(1, variable_list(), NULL, UINT32_MAX,             \
                                                 variable_list(), 0, 0, 1, &handles, &p_stypes))   \
    X(MXAutogradBackwardEx,                                                                        \
      MXAutogradBackwardEx(1, good_list(), NULL, 0, NULL, 0, 0, 1, NULL, NULL))                    \
    X(MXAutogradBackward, MXAutogradBackward(1, NULL, NULL, 0))                                    \
    X(MXAutogradBackward, MXAutogradBackward(0, NULL, NULL, 0))                                    \
    X(MXAutogradComputeGradient, MXAutogradComputeGradient(1, NULL))                               \
    X(MXCustomFunctionRecord, MXCustomFunctionRecord(1, variable_list(), 1, good_list(),           \
                                                     no_callbacks())) /* not recording */          \
    X(MXCustomFunctionRecord, record_bad(1, variable_list(), 1, good_list(), NULL))                \
    X(MXCustomFunctionRecord, record_bad(1, variable_list(), 1, good_list(), no_callbacks()))      \
    X(MXCustomFunctionRecord, record_bad(1, NULL, 1, good_list(), no_callbacks()))                 \
    X(MXCustomFunctionRecord, record_bad(1, variable_list(), 1, NULL, no_callbacks()))             \
    X(MXCustomFunctionRecord, record_bad(-1, variable_list(), 1, good_list(), no_callbacks()))     \
    X(MXCustomFunctionRecord, record_bad(1, variable_list(), -1, good_list(), no_callbacks()))     \
    X(MXCustomOpRegister, MXCustomOpRegister(NULL, never_creator))                                 \
    X(MXCustomOpRegister, MXCustomOpRegister("bad", NULL))                                         \
    X(MXLNDArrayTurn, MXLNDArrayTurn(variable, good, &int_a)) /* not its memory */                 \
    X(MXLNDArrayTurn, MXLNDArrayTurn(good, good, NULL))                                            \
    X(MXLCustomFunctionOutput, status_of(MXLCustomFunctionOutput(good, 0))) /* no callback */      \
    X(MXLCustomFunctionOutput, status_of(MXLCustomFunctionOutput(good, -1)))                       \
    X(MXLFunctionRecord,                                                                           \
      MXLFunctionRecord(torch_call, 1, NULL, 1, &good, never_rule, NULL, NULL, NULL, &int_a))      \
    X(MXLFunctionRecord,                                                                           \
      MXLFunctionRecord(torch_call, 1, &good, 1, NULL, never_rule, NULL, NULL, NULL, &int_a))      \
    X(MXLFunctionRecord,                                                                           \
      MXLFunctionRecord(torch_call, 1, &good, 1, &good, NULL, NULL, NULL, NULL, &int_a))           \
    X(MXLFunctionRecord,                                                                           \
      MXLFunctionRecord(torch_call, 1, &good, 1, &good, never_rule, NULL, NULL, NULL, NULL))       \
    X(MXLFunctionRecord,                                                                           \
      MXLFunctionRecord(torch_call, 1, &good, 0, &good, never_rule, NULL, NULL, NULL, &int_a))     \
    X(MXLFunctionRecord,                                                                           \
      MXLFunctionRecord(exp_call, 1, &variable, 1, &good, never_rule, NULL, NULL, NULL, &int_a))   \
    X(MXLGetVersion, MXLGetVersion(NULL))                                                          \
    X(MXLPrepare, MXLPrepare("exp", 0, NULL, NULL, 0, NULL, NULL))                                 \
    X(MXLPrepare, MXLPrepare(NULL, 0, NULL, NULL, 0, NULL, &out))                                  \
    X(MXLPrepare, MXLPrepare("nosuch", 0, NULL, NULL, 0, NULL, &out))                              \
    X(MXLPrepare, MXLPrepare("exp", -1, NULL, NULL, 0, NULL, &out))                                \
    X(MXLPrepare, MXLPrepare("exp", 0, NULL, NULL, -1, NULL, &out))                                \
    X(MXLPrepare, MXLPrepare("sum", 1, NULL, axis_value, 0, NULL, &out))                           \
    X(MXLPrepare, MXLPrepare("sum", 1, axis_key, NULL, 0, NULL, &out))                             \
    X(MXLPrepare, MXLPrepare("sum", 1, axis_key, null_text, 0, NULL, &out))                        \
    X(MXLPrepare, MXLPrepare("sum", 1, null_text, axis_value, 0, NULL, &out))                      \
    X(MXLPrepare, MXLPrepare("sum", 1, axis_key, axis_value, 1, axis_key, &out))                   \
    X(MXLPrepare, MXLPrepare("sum", 0, NULL, NULL, 1, NULL, &out))                                 \
    X(MXLPrepare, MXLPrepare("sum", 0, NULL, NULL, 1, null_text, &out))                            \
    X(MXLPrepare, MXLPrepare("sum", 0, NULL, NULL, 1, scalar_key, &out))                           \
    X(MXLPrepare, MXLPrepare("_histogram", 0, NULL, NULL, 1, range_key, &out))                     \
    X(MXLCall, status_of(MXLCall(exp_call, -1, good_list(), NULL)))                                \
    X(MXLCall, status_of(MXLCall(exp_call, 1, NULL, NULL)))                                        \
    X(MXLCall, status_of(MXLCall(exp_call, 0, NULL, NULL)))                                        \
    X(MXLCall, status_of(MXLCall(scalar_call, 1, good_list(), NULL)))                              \
    X(MXLCall1, status_of(MXLCall1(scalar_call, good)))                                            \
    X(MXLCall2, status_of(MXLCall2(exp_call, good, good)))                                         \
    X(MXLCall1Float, status_of(MXLCall1Float(exp_call, good, 1)))                                  \
    X(MXLCall1Float, status_of(MXLCall1Float(list_call, good, 1)))                                 \
    X(MXLCall1Int, status_of(MXLCall1Int(exp_call, good, 1)))                                      \
    X(MXLCall1Int, status_of(MXLCall1Int(scalar_call, good, 1)))                                   \
    X(MXLCall1Int, status_of(MXLCall1Int(int_call, good, 2)))                                      \
    X(MXLCall1List, status_of(MXLCall1List(scalar_call, good, 0, NULL)))                           \
    X(MXLCall1List, status_of(MXLCall1List(list_call, good, 1, NULL)))                             \
    X(MXLCall1List, status_of(MXLCall1List(list_call, good, -2, dims)))                            \
    X(MXLCall1List, status_of(MXLCall1List(list_call, good, INT64_MAX, dims)))                     \
    X(MXLCallInto, MXLCallInto(exp_call, 1, good_list(), NULL, NULL, two))                         \
    X(MXLCallInto, MXLCallInto(exp_call, 1, good_list(), NULL, &two_outputs, NULL))                \
    X(MXLCallInto, MXLCallInto(exp_call, 1, good_list(), NULL, &no_count, variable_list()))        \
    X(MXLCallInto, MXLCallInto(exp_call, 1, NULL, NULL, &two_outputs, variable_list()))            \
    X(MXLCallInto, MXLCallInto(exp_call, -1, good_list(), NULL, &two_outputs, variable_list()))    \
    X(MXLCallGetNumOutputs, MXLCallGetNumOutputs(exp_call, NULL, NULL))                            \
    X(MXLCallGetNumOutputs, MXLCallGetNumOutputs(split_call, &no_parts, &int_a))                   \
    X(MXLNDArraySlice, status_of(MXLNDArraySlice(good, 1, 0)))                                     \
    X(MXLNDArrayAt, status_of(MXLNDArrayAt(good, 2)))                                              \
    X(MXLNDArrayReshape, status_of(MXLNDArrayReshape(good, 2, NULL, 0)))                           \
    X(MXLNDArrayGetInfo, MXLNDArrayGetInfo(good, -1, dims, &int_a) == -2 ? -1 : 0)                 \
    X(MXLNDArrayGetBase, MXLNDArrayGetBase(good, NULL))                                            \
    X(MXLNDArrayGetVersion, MXLNDArrayGetVersion(good, NULL))                                      \
    X(MXLGetLiveHandles, MXLGetLiveHandles(NULL))                                                  \
    X(MXLGetGradMode, MXLGetGradMode(NULL))                                                        \
    X(MXLSetDefaultDtype, MXLSetDefaultDtype(4, NULL))                                             \
    X(MXLSetDefaultDtype, MXLSetDefaultDtype(-1, NULL))                                            \
    X(MXLSetMixedPrecision,                                                                        \
      MXLSetMixedPrecision(0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL))                     \
    X(MXLSetMixedPrecision,                                                                        \
      MXLSetMixedPrecision(12, 1, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL))                    \
    X(MXLSetMixedPrecision,                                                                        \
      MXLSetMixedPrecision(12, 0, NULL, 0, NULL, 0, NULL, 1, (const char *[]){"Activation"},       \
                           (const char *[]){"nothing"}, (const char *[]){"relu"}))                 \
    X(MXLPrepareAs, MXLPrepareAs(1, NULL, NULL, "exp", 0, NULL, NULL, 0, NULL, NULL))              \
    X(MXLPrepareAs, MXLPrepareAs(1, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, &out))               \
    X(MXLPrepareAs, MXLPrepareAs(-1, NULL, NULL, "exp", 0, NULL, NULL, 0, NULL, &out))             \
    X(MXLPrepareAs, MXLPrepareAs(2, NULL, NULL, "exp", 0, NULL, NULL, 0, NULL, &out))              \
    X(MXLPrepareAs, MXLPrepareAs(1, NULL, "0x", "exp", 0, NULL, NULL, 0, NULL, &out))              \
    X(MXLPrepareAs, MXLPrepareAs(1, NULL, NULL, "nosuch", 0, NULL, NULL, 0, NULL, &out))           \
    X(MXLGetPoolBytes, MXLGetPoolBytes(NULL))                                                      \
    X(MXLSetPoolCap, MXLSetPoolCap(1, NULL))                                                       \
    X(MXLGetLiveBytes, MXLGetLiveBytes(NULL))                                                      \
    X(MXLSetAllocator, MXLSetAllocator(NULL, bad_free, NULL, 0))                                   \
    X(MXLSetBackend, MXLSetBackend(NULL, ""))                                                      \
    X(MXLSetBackend, MXLSetBackend("blas", NULL))                                                  \
    X(MXLSetBackend, MXLSetBackend("openblas", "/nowhere/libopenblas.so"))                         \
    X(MXLBatchLevels, MXLBatchLevels(-1, NULL, NULL))                                              \
    X(MXLBatchLevels, MXLBatchLevels(1, NULL, NULL))                                               \
    X(MXLBatchLooped, MXLBatchLooped(NULL))                                                        \
    X(MXLHintBackend, MXLHintBackend(NULL, "/nowhere"))                                            \
    X(MXLHintBackend, MXLHintBackend("openblas", NULL))                                            \
    X(MXLHintBackend, MXLHintBackend("blas", "/nowhere"))                                          \
    X(MXLOpGetRefusal, MXLOpGetRefusal(NULL, &text_a))                                             \
    X(MXLOpGetRefusal, MXLOpGetRefusal("tanh", NULL))                                              \
    X(MXLOpGetRefusal, MXLOpGetRefusal("no such operator", &text_a))                               \
    X(MXLGetInfo, MXLGetInfo(NULL, &text_a))                                                       \
    X(MXLGetInfo, MXLGetInfo("version", NULL))

/* WebAssembly's builds lack them, in a form without parameters that C cannot call there. */
#if defined(__wasm__)
#define LIBRARY_ARGUMENTS(X)
#else
#define LIBRARY_ARGUMENTS(X)                                                                       \
    X(MXLLibraryNames, MXLLibraryNames(0, NULL, &list_a))                                          \
    X(MXLLibraryNames, MXLLibraryNames(0, &u32, NULL))                                             \
    X(MXLLibraryNames, MXLLibraryNames(3, &u32, &list_a))                                          \
    X(MXLoadLib, MXLoadLib(NULL, 0))                                                               \
    X(MXLoadLib, MXLoadLib("/nowhere/library.so", 0))
#endif

#endif
