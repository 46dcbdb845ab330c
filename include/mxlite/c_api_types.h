/* The types of the MXNet-compatible C API: handles, callbacks and structures, as in MXNet 1.9.1.
 * All other mxlite/c_api*.h include it. It declares no function. */
#ifndef MXLITE_C_API_TYPES_H
#define MXLITE_C_API_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The attribute of every exported function. Define it as empty for a tool that reads the headers
 * but does not know attributes. (MXL_EXPORTS: the library itself is compiled.) */
#ifndef MXL_API
#if defined(_WIN32) && defined(MXL_EXPORTS)
#define MXL_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(SWIG)
#define MXL_API __attribute__((visibility("default")))
#else
#define MXL_API
#endif
#endif

/* Default arguments of MXNet's headers for C++ callers; nothing in C. */
#ifndef MXL_DEFAULT
#ifdef __cplusplus
#define MXL_DEFAULT(value) = value
#else
#define MXL_DEFAULT(value)
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers ---- */
typedef uint32_t mx_uint;
typedef int mx_int;
typedef int64_t mx_int64;
typedef float mx_float;
typedef unsigned int nn_uint;
typedef int64_t dim_t;

/* ---- handles: opaque; never NULL when valid, never to be dereferenced ---- */
typedef void *NDArrayHandle;
typedef void *AtomicSymbolCreator; /* an operator; the same value as its OpHandle */
typedef void *OpHandle;
typedef const void *FunctionHandle;
typedef void *CachedOpHandle;
typedef void *SymbolHandle;
typedef void *AtomicSymbolHandle;
typedef void *GraphHandle;
typedef void *ExecutorHandle;
typedef void *DataIterCreator;
typedef void *DataIterHandle;
typedef void *KVStoreHandle;
typedef void *RecordIOHandle;
typedef void *RtcHandle;
typedef void *CudaModuleHandle;
typedef void *CudaKernelHandle;
typedef void *ProfileHandle;
typedef void *DLManagedTensorHandle;
typedef void *PredictorHandle;
typedef void *NDListHandle;
typedef void *MXNetFunctionHandle;
typedef void *MXNetObjectHandle;
typedef const void *ContextHandle;
typedef const void *EngineFnPropertyHandle;
typedef void *EngineVarHandle;

/* ---- numbers that the functions take as int, by MXNet's names ---- */

/* In C only: in C++ MXNet's own headers have these names, and mxlite/mxlite.hpp has an enumeration
 * of its own. */
#ifndef __cplusplus

/* dtype. Some operators know the name of the last one, but no array can have it. */
enum MXTypeFlag {
    kFloat32 = 0,
    kFloat64 = 1,
    kFloat16 = 2,
    kUint8 = 3,
    kInt32 = 4,
    kInt8 = 5,
    kInt64 = 6,
    kBool = 7,
    kBfloat16 = 12
};

/* dev_type. There are no arrays on a GPU. */
enum MXDeviceType { kCPU = 1, kGPU = 2, kCPUPinned = 3, kCPUShared = 5 };

/* How a computed gradient is stored: not at all, written, written (MXNet may reuse the memory of
 * another array), added. */
enum MXOpReqType { kNullOp = 0, kWriteTo = 1, kWriteInplace = 2, kAddTo = 3 };

#endif

/* ---- callbacks ---- */
typedef int (*MXGenericCallback)(void);
typedef void (*EngineAsyncFunc)(void *, void *, void *);
typedef void (*EngineSyncFunc)(void *, void *);
typedef void (*EngineFuncParamDeleter)(void *);
typedef void (*ExecutorMonitorCallback)(const char *name, NDArrayHandle array, void *payload);
typedef void (*CachedOpMonitorCallback)(const char *name, const char *op, NDArrayHandle array);
typedef void (*PredMonitorCallback)(const char *name, NDArrayHandle array, void *payload);

/* These three are function types, not pointers to functions, as in MXNet. */
typedef void(MXKVStoreUpdater)(int key, NDArrayHandle recv, NDArrayHandle local, void *payload);
typedef void(MXKVStoreStrUpdater)(const char *key, NDArrayHandle recv, NDArrayHandle local,
                                  void *payload);
typedef void(MXKVStoreServerController)(int head, const char *body, void *payload);

/* The callbacks of one object: callbacks[i] is cast to the type that the enumerations below give
 * for i, and gets contexts[i] as its last argument (`state`). A callback returns non-zero for
 * success and 0 for failure. */
struct MXCallbackList {
    int num_callbacks;
    int (**callbacks)(void);
    void **contexts;
};

/* Indices of the callbacks of a custom function (MXCustomFunctionRecord). */
enum CustomFunctionCallbacks {
    kCustomFunctionBackward, /* CustomFunctionBwdFunc */
    kCustomFunctionDelete    /* CustomFunctionDelFunc */
};

/* ptrs: num_ograds grad_outputs, then num_igrads arrays to fill with grad_inputs, all **new**
 * handles that the callee frees. reqs: how to fill each one (0 null, 1 write, 3 add). */
typedef int (*CustomFunctionBwdFunc)(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                                     int is_train, void *state);
/* Called once, when the node of the function is freed. */
typedef int (*CustomFunctionDelFunc)(void *state);

/* A custom operator (MXCustomOpRegister). */
enum CustomOpCallbacks { kCustomOpDelete, kCustomOpForward, kCustomOpBackward };

enum CustomOpPropCallbacks {
    kCustomOpPropDelete,
    kCustomOpPropListArguments,
    kCustomOpPropListOutputs,
    kCustomOpPropListAuxiliaryStates,
    kCustomOpPropInferShape,
    kCustomOpPropDeclareBackwardDependency,
    kCustomOpPropCreateOperator,
    kCustomOpPropInferType,
    kCustomOpPropInferStorageType,
    kCustomOpPropBackwardInferStorageType
};

typedef int (*CustomOpFBFunc)(int size, void **ptrs, int *tags, const int *reqs, int is_train,
                              void *state);
typedef int (*CustomOpDelFunc)(void *state);
typedef int (*CustomOpListFunc)(char ***names, void *state);
typedef int (*CustomOpInferShapeFunc)(int num_input, int *ndims, int **shapes, void *state);
typedef int (*CustomOpInferStorageTypeFunc)(int num_input, int *stypes, void *state);
typedef int (*CustomOpBackwardInferStorageTypeFunc)(int num_input, int *stypes, int *tags,
                                                    void *state);
typedef int (*CustomOpInferTypeFunc)(int num_input, int *types, void *state);
typedef int (*CustomOpBwdDepFunc)(const int *out_grad, const int *in_data, const int *out_data,
                                  int *num_deps, int **rdeps, void *state);
typedef int (*CustomOpCreateFunc)(const char *ctx, int num_inputs, unsigned **shapes,
                                  const int *ndims, const int *dtypes, struct MXCallbackList *ret,
                                  void *state);
typedef int (*CustomOpPropCreator)(const char *op_type, int num_kwargs, const char **keys,
                                   const char **values, struct MXCallbackList *ret);

/* ---- structures ---- */
/* One line of MXLibInfoFeatures. */
struct LibFeature {
    const char *name;
    bool enabled;
};

/* The two oldest kinds of custom operator, declared so that callers compile. */
struct NativeOpInfo {
    void (*forward)(int, float **, int *, unsigned **, int *, void *);
    void (*backward)(int, float **, int *, unsigned **, int *, void *);
    void (*infer_shape)(int, int *, unsigned **, void *);
    void (*list_outputs)(char ***, void *);
    void (*list_arguments)(char ***, void *);
    void *p_forward;
    void *p_backward;
    void *p_infer_shape;
    void *p_list_outputs;
    void *p_list_arguments;
};

struct NDArrayOpInfo {
    bool (*forward)(int, void **, int *, void *);
    bool (*backward)(int, void **, int *, void *);
    bool (*infer_shape)(int, int *, unsigned **, void *);
    bool (*list_outputs)(char ***, void *);
    bool (*list_arguments)(char ***, void *);
    bool (*declare_backward_dependency)(const int *, const int *, const int *, int *, int **,
                                        void *);
    void *p_forward;
    void *p_backward;
    void *p_infer_shape;
    void *p_list_outputs;
    void *p_list_arguments;
    void *p_declare_backward_dependency;
};

/* An argument or result of MXNetFuncCall; its type code says which member is valid. The last member
 * has the layout of DLPack's DLDataType. */
typedef union {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
    const char *v_str;
    struct {
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
    } v_type;
} MXNetValue;

#ifdef __cplusplus
}
#endif

#endif
