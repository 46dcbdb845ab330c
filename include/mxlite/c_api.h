/* mxlite's C API: the functions of MXNet 1.9.1, with the same names and arguments. All functions
 * that this file declares itself work: arrays, operators, autograd. The c_api_*.h files included at
 * the end declare files and data iterators (c_api_data.h), cached operators and executors,
 * key-value stores, symbols, prediction, and the environment (c_api_process.h). Some names exist so
 * that bindings load but return -1; the head of each file says how its comments mark them. mxlite's
 * own functions (MXL*) are in mxlite/mxlite.h.
 *
 * Errors: every function returns 0, or -1 with one line in MXGetLastError, and never ends the
 * process. Any argument may be wrong: NULL, freed or foreign handles, handles of another kind and
 * NULL out-pointers are errors, unless a comment allows NULL. On failure results are NULL or 0, and
 * an array that is both argument and result is unchanged. A function that is not supported yet does
 * not touch its results.
 *
 * Threads: all functions may be called from several threads. Recording, training, numpy-shape mode
 * and the last error belong to the calling thread.
 *
 * Ownership: **new**: the caller frees it. **Borrowed**: valid while its owner lives. **Lent**: in
 * a buffer of the calling thread, valid until that thread's next call that lends the same kind
 * (handles, storage types, shapes of one width, strings). The library copies arrays and strings
 * that it is given as far as it needs them after the call.
 *
 * Shapes: sizes of the dimensions, in C order. In the mode that MXNet starts in, a size of 0 means
 * "unknown", and operators return shape (1,) for a scalar unless an input has no dimensions. In
 * numpy-shape mode (MXSetIsNumpyShape) () is a scalar, 0 an empty dimension, -1 unknown. An array
 * without dimensions has one element in both modes.
 *
 * dtype: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6 int64, 7 bool (kFloat32, ...
 * in C); -1 none. Storage type: 0 dense; -1 undefined (an array without shape).
 *
 * Device: type 1 (cpu), 3 (cpu_pinned) or 5 (cpu_shared) (kCPU, ...), and a number below 2^30; a
 * negative number means 0. All of it is this machine's memory; the device is a label that an array
 * keeps. Results of an operator are in cpu, with the number of the first input. */
#ifndef MXLITE_C_API_H
#define MXLITE_C_API_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- process ---- */

/* The calling thread's last error, one line; "" before the first error. Never NULL. Borrowed until
 * the thread's next failure. NNGetLastError is the same function. */
MXL_API const char *MXGetLastError(void);
MXL_API const char *NNGetLastError(void);

/* *out: the version of MXNet whose API this is, 10901 for 1.9.1. MXLGetVersion returns mxlite's own
 * version. */
MXL_API int MXGetVersion(int *out);

/* Waits for outstanding work. Calling it before the process ends is allowed and not required. */
MXL_API int MXNotifyShutdown(void);

/* Seeds the generator of the random operators. Equal seeds give equal numbers, for any number of
 * threads. The second form names a device: any number of a CPU, anything else is an error. */
MXL_API int MXRandomSeed(int seed);
MXL_API int MXRandomSeedContext(int seed, int dev_type, int dev_id);

/* Sets the number of threads that one operator may use, the caller's included; 0 restores the
 * initial number. */
MXL_API int MXSetNumOMPThreads(int thread_num);

/* Sets the bulk size of the calling thread; *prev_bulk_size: the one before, initially 24. Above 1,
 * element-wise calls on 20,000 elements (MXLITE_DEFER) and more are checked and recorded at once,
 * but up to so many of them run together, in one pass over memory, when a result is read. Results
 * have the same bits. At 0 or 1 every call runs at once. */
MXL_API int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size);

/* *libFeature: *size features of this build, borrowed for the life of the process. */
MXL_API int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size);

/* Returns the freed memory in the pool to the system. */
MXL_API int MXStorageEmptyCache(int dev_type, int dev_id);

/* *out: 0. */
MXL_API int MXGetGPUCount(int *out);

/* The calling thread's numpy-shape mode: 1 on, 0 off. */
MXL_API int MXIsNumpyShape(int *curr);
/* Sets it (0 off, else on); *prev: the mode before. */
MXL_API int MXSetIsNumpyShape(int is_np_shape, int *prev);

/* ---- arrays: life ---- */

/* *out: a **new** array without shape or dtype, to be passed as the output of an operator. */
MXL_API int MXNDArrayCreateNone(NDArrayHandle *out);

/* *out: a **new** array of shape[0..ndim), with undefined values. delay_alloc is accepted and has
 * no effect. MXNDArrayCreate makes float32. dev_type 6 is mxlite's own device *meta*: the array has
 * dtype, shape and strides but no memory, and what operators make of it are such arrays; whatever
 * reads its values fails. Errors: a negative size, a total size that overflows,
 * an unknown dtype or device, no memory. */
MXL_API int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                            int delay_alloc, NDArrayHandle *out);
MXL_API int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                              int delay_alloc, int dtype, NDArrayHandle *out);
MXL_API int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id,
                                int delay_alloc, int dtype, NDArrayHandle *out);

/* Frees the handle. The memory lives on while the graph or a view needs it. NULL is allowed; a
 * handle that was freed before is an error. */
MXL_API int MXNDArrayFree(NDArrayHandle handle);

/* *out: a **new** handle of an array with src's memory, shape and edge. */
MXL_API int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out);

/* Run what the array (or every array) waits for: see MXEngineSetBulkSize. Before a write that
 * includes deferred calls that read the array. */
MXL_API int MXNDArrayWaitToRead(NDArrayHandle handle);
MXL_API int MXNDArrayWaitToWrite(NDArrayHandle handle);
MXL_API int MXNDArrayWaitAll(void);

/* ---- arrays: data ---- */

/* Copies size elements (not bytes) of the array's dtype from or to data, in C order. A size other
 * than the array's is an error. */
MXL_API int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size);
MXL_API int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size);

/* Copies src into dst, which has the same shape or no shape yet; the dtype is converted. i must be
 * -1: parts of sparse arrays (i >= 0) are an error. Not recorded. */
MXL_API int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, NDArrayHandle handle_src, int i);

/* *out_pdata: the address of the first element, borrowed from the array; the elements are in C
 * order. A caller that writes through it calls MXLNDArrayBumpVersion afterwards. NULL for an array
 * without elements. */
MXL_API int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata);

/* ---- arrays: views ---- */

/* *out is a **new** view, which shares the array's memory; recorded if the thread is recording. */

/* Positions [begin, end) of dimension 0. Errors: no dimensions, begin > end, end beyond the
 * dimension. */
MXL_API int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                           NDArrayHandle *out);
MXL_API int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                             NDArrayHandle *out);

/* Position idx of dimension 0; the result has one dimension fewer. Errors: idx out of range. */
MXL_API int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out);
MXL_API int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out);

/* The same elements in the shape dims[0..ndim), with the codes of operator Reshape: 0 keeps a size,
 * -1 infers one; the 64-bit form also has -2 (all remaining dimensions), -3 (merges two) and -4
 * (splits one), and reverse reads the codes from the right. Errors: a different number of elements,
 * more than one -1. */
MXL_API int MXNDArrayReshape(NDArrayHandle handle, int ndim, int *dims, NDArrayHandle *out);
MXL_API int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t *dims, bool reverse,
                               NDArrayHandle *out);

/* ---- arrays: properties ---- */

/* *out_pdata: *out_dim sizes, **lent**. *out_dim is 0 for an array without shape, in numpy-shape
 * mode -1 (MXNDArrayGetShape cannot return that and fails). A size that does not fit the type of
 * the result is an error. */
MXL_API int MXNDArrayGetShape(NDArrayHandle handle, uint32_t *out_dim, const uint32_t **out_pdata);
MXL_API int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata);
MXL_API int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata);

MXL_API int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype);
/* Type and number of the device; 6 is meta (MXNDArrayCreate); (0, 0) for an array without shape. */
MXL_API int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id);
MXL_API int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type);

/* ---- operators ---- */

/* *out_array: *out_size names, including aliases, borrowed for the life of the process. Both
 * functions return the same list. */
MXL_API int MXListAllOpNames(uint32_t *out_size, const char ***out_array);
MXL_API int NNListAllOpNames(nn_uint *out_size, const char ***out_array);

/* *op_out: the operator with that name or alias, valid for the life of the process; there is
 * nothing to free. An unknown name is an error. */
MXL_API int NNGetOpHandle(const char *op_name, OpHandle *op_out);

/* *out_array: every operator once, borrowed for the life of the process. */
MXL_API int MXSymbolListAtomicSymbolCreators(uint32_t *out_size, AtomicSymbolCreator **out_array);

/* *name: the operator's first name, borrowed for the life of the process. */
MXL_API int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name);

/* Name, documentation, and *num_args inputs and parameters: names, types ("NDArray-or-Symbol",
 * "float, optional, default=1"), descriptions. *key_var_num_args: the parameter that counts the
 * inputs, or "". *return_type: NULL, as in MXNet (the pointer may be NULL). All results are
 * borrowed for the life of the process. NNGetOpInfo is the same without key_var_num_args. */
MXL_API int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char **name,
                                        const char **description, uint32_t *num_args,
                                        const char ***arg_names, const char ***arg_type_infos,
                                        const char ***arg_descriptions,
                                        const char **key_var_num_args,
                                        const char **return_type MXL_DEFAULT(NULL));
MXL_API int NNGetOpInfo(OpHandle op, const char **real_name, const char **description,
                        nn_uint *num_doc_args, const char ***arg_names,
                        const char ***arg_type_infos, const char ***arg_descriptions,
                        const char **return_type);

/* Runs an operator on inputs[0..num_inputs); recorded if the thread is recording. Parameters are
 * text, as in MXNet: param_keys[i]=param_vals[i]. With *outputs NULL the results are **new**
 * arrays: *outputs becomes a **lent** array of *num_outputs handles. Otherwise *outputs holds
 * *num_outputs arrays of the caller, which are written to; an array without shape gets one.
 * *out_stypes: a **lent** array of the outputs' storage types. Errors: the number, shapes or dtypes
 * of the inputs; unknown, malformed or missing parameters (an operator without parameters ignores
 * any); an output of the wrong shape or dtype; an output that may not be written to while
 * recording. */
MXL_API int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                               int *num_outputs, NDArrayHandle **outputs, int num_params,
                               const char **param_keys, const char **param_vals);
MXL_API int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                                 int *num_outputs, NDArrayHandle **outputs, int num_params,
                                 const char **param_keys, const char **param_vals,
                                 const int **out_stypes);

/* ---- autograd ---- */

/* Set the calling thread's flags; *prev: the flag before. Both start off. */
MXL_API int MXAutogradSetIsRecording(int is_recording, int *prev);
MXL_API int MXAutogradSetIsTraining(int is_training, int *prev);
MXL_API int MXAutogradIsRecording(bool *curr);
MXL_API int MXAutogradIsTraining(bool *curr);

/* Makes var_handles[i] a leaf whose gradient goes to grad_handles[i], which has its shape and
 * dtype; with NULL the first backward that reaches the leaf makes the gradient. reqs_array[i]: 0
 * null (no gradient is computed), 1 or 2 write, 3 add (kNullOp, ... in C). A recorded array loses
 * its edge. The gradient array is shared, so the caller may free the handle. */
MXL_API int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle *var_handles,
                                    uint32_t *reqs_array, NDArrayHandle *grad_handles);

/* Runs backward from the roots output_handles[0..num_output); a root that is listed twice counts
 * twice. ograd_handles are their grad_outputs: NULL, or an entry NULL, means ones.
 *
 * num_variables 0: gradients go into the gradient arrays of all leaves that the roots reach; other
 * leaves keep theirs. Otherwise *grad_handles is a **lent** array of **new** gradients, one for
 * each of var_handles, and *grad_stypes a **lent** array of their storage types; both pointers may
 * be NULL without variables.
 *
 * retain_graph: the graph stays usable; otherwise its saved tensors are released, and its arrays
 * count as constants for later recording. create_graph: the backward is recorded. is_train: the
 * training flag while it runs.
 *
 * Errors leave all arrays and flags as they were: a root that was not recorded or whose graph was
 * released, a grad_output of another size or dtype, a saved tensor that was edited after it was
 * saved, a variable that the roots do not reach.
 *
 * MXAutogradBackward is the same with no variables, no create_graph and is_train 1;
 * MXAutogradComputeGradient also with ones and no retain_graph. */
MXL_API int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle *output_handles,
                                 NDArrayHandle *ograd_handles, uint32_t num_variables,
                                 NDArrayHandle *var_handles, int retain_graph, int create_graph,
                                 int is_train, NDArrayHandle **grad_handles, int **grad_stypes);
MXL_API int MXAutogradBackward(uint32_t num_output, NDArrayHandle *output_handles,
                               NDArrayHandle *ograd_handles, int retain_graph);
MXL_API int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle *output_handles);

/* *out: a **new** handle of the leaf's gradient array; NULL if it has none. */
MXL_API int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out);

/* *out: a **new** array with the same memory and without an edge. */
MXL_API int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out);

/* A flag of the array, set to 1 by a backward that writes its gradient (Python's `_fresh_grad`). */
MXL_API int MXNDArraySetGradState(NDArrayHandle handle, int state);
MXL_API int MXNDArrayGetGradState(NDArrayHandle handle, int *out);

/* Records outputs as a function of inputs whose gradient `callbacks` computes
 * (kCustomFunctionBackward, kCustomFunctionDelete). The list is copied. Its Delete is called
 * exactly once, when the node is freed, and never if this call fails. No lock is held during a
 * callback, which may call any function. Errors: the thread is not recording; an output that is
 * recorded already. */
MXL_API int MXCustomFunctionRecord(int num_inputs, NDArrayHandle *inputs, int num_outputs,
                                   NDArrayHandle *outputs, struct MXCallbackList *callbacks);

#ifdef __cplusplus
}
#endif

/* Further names that bindings expect; those without "Supported" in their comment return -1 so far.
 */
#include "c_api_data.h"
#include "c_api_executor.h"
#include "c_api_kvstore.h"
#include "c_api_nnvm.h"
#include "c_api_predict.h"
#include "c_api_process.h"
#include "c_api_symbol.h"

#endif
