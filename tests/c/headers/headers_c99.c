/* The public header as a C99 caller sees it: types of the documented sizes and signedness, and the
 * prototypes of MXNet 1.9.1 written out. Compiled only: cc -std=c99 -pedantic -Iinclude. */
#include <mxnet/c_api.h>

/* An array of negative size where the condition is false. */
#define MUST(name, condition) extern int name[(condition) ? 1 : -1]

MUST(uint_is_32_bits, sizeof(mx_uint) == 4 && (mx_uint)-1 > 0);
MUST(float_is_32_bits, sizeof(mx_float) == 4);
MUST(dim_is_64_bits, sizeof(dim_t) == 8 && (dim_t)-1 < 0);
MUST(handle_is_a_pointer, sizeof(NDArrayHandle) == sizeof(void *));
MUST(callbacks, sizeof(struct MXCallbackList) == 3 * sizeof(void *));
MUST(feature, sizeof(struct LibFeature) == 2 * sizeof(void *));
MUST(native_op, sizeof(struct NativeOpInfo) == 10 * sizeof(void *));
MUST(ndarray_op, sizeof(struct NDArrayOpInfo) == 12 * sizeof(void *));
MUST(value_is_64_bits, sizeof(MXNetValue) == 8);
MUST(function_callbacks, kCustomFunctionBackward == 0 && kCustomFunctionDelete == 1);
MUST(operator_callbacks, kCustomOpDelete == 0 && kCustomOpForward == 1 && kCustomOpBackward == 2);
MUST(prop_callbacks, kCustomOpPropDelete == 0 && kCustomOpPropCreateOperator == 6 &&
                         kCustomOpPropBackwardInferStorageType == 9);

/* A declaration again: an error unless it is the same type. */
const char *MXGetLastError(void);
const char *NNGetLastError(void);
void NNAPISetLastError(const char *);
int MXGetVersion(int *);
int MXLibInfoFeatures(const struct LibFeature **, size_t *);
int MXRandomSeedContext(int, int, int);
int MXNDArrayCreateEx(const uint32_t *, uint32_t, int, int, int, int, void **);
int MXNDArrayCreateEx64(const int64_t *, int, int, int, int, int, void **);
int MXNDArraySyncCopyFromCPU(void *, const void *, size_t);
int MXNDArraySyncCopyToCPU(void *, void *, size_t);
int MXNDArraySlice(void *, uint32_t, uint32_t, void **);
int MXNDArrayAt64(void *, int64_t, void **);
int MXNDArrayReshape64(void *, int, int64_t *, bool, void **);
int MXNDArrayGetShape(void *, uint32_t *, const uint32_t **);
int MXNDArrayGetShapeEx(void *, int *, const int **);
int MXNDArrayGetShapeEx64(void *, int *, const int64_t **);
int MXNDArrayGetData(void *, void **);
int MXListAllOpNames(uint32_t *, const char ***);
int MXSymbolListAtomicSymbolCreators(uint32_t *, void ***);
int MXSymbolGetAtomicSymbolInfo(void *, const char **, const char **, uint32_t *, const char ***,
                                const char ***, const char ***, const char **, const char **);
int NNGetOpHandle(const char *, void **);
int MXImperativeInvokeEx(void *, int, void **, int *, void ***, int, const char **, const char **,
                         const int **);
int MXAutogradSetIsRecording(int, int *);
int MXAutogradIsRecording(bool *);
int MXAutogradMarkVariables(uint32_t, void **, uint32_t *, void **);
int MXAutogradBackwardEx(uint32_t, void **, void **, uint32_t, void **, int, int, int, void ***,
                         int **);
int MXCustomFunctionRecord(int, void **, int, void **, struct MXCallbackList *);
int MXCustomOpRegister(const char *, CustomOpPropCreator);
int MXKVStoreSetUpdater(void *, void (*)(int, void *, void *, void *), void *);
int MXRecordIOReaderReadRecord(void *, char const **, size_t *);
int MXGetEnv(const char *, const char **);
int MXNDArrayGetAuxType64(void *, int64_t, int *);
int MXNDArrayGetAuxNDArray64(void *, int64_t, void **);

/* How a custom function's table is made. */
static int backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs, int is_train,
                    void *state)
{
    return num_ograds + num_igrads > 0 && ptrs != state && reqs != NULL && is_train >= 0;
}

static int delete_state(void *state)
{
    return state == NULL;
}

int record_function(NDArrayHandle *inputs, NDArrayHandle *outputs);
int record_function(NDArrayHandle *inputs, NDArrayHandle *outputs)
{
    CustomFunctionBwdFunc run = backward;
    CustomFunctionDelFunc end = delete_state;
    MXGenericCallback callbacks[2];
    void *contexts[2] = {NULL, NULL};
    struct MXCallbackList list = {2, NULL, NULL};

    callbacks[kCustomFunctionBackward] = (MXGenericCallback)(void (*)(void))run;
    callbacks[kCustomFunctionDelete] = (MXGenericCallback)(void (*)(void))end;
    list.callbacks = callbacks;
    list.contexts = contexts;
    return MXCustomFunctionRecord(1, inputs, 1, outputs, &list);
}
