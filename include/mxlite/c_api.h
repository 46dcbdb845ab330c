/* mxlite's C API: the imperative functions of MXNet 1.9.1, name for name and argument for argument.
 * All that stands here works. In the c_api_*.h included at the end stand files, DLPack, shared
 * memory (c_api_data.h), the environment (c_api_process.h), and the names that exist so that
 * bindings load, and return -1 yet: what works there says "Supported". What mxlite adds (MXL*) is
 * in mxlite/mxlite.h.
 *
 * Every function returns 0, or -1 with one line in MXGetLastError, and never ends the process. Any
 * argument may be wrong: NULL, freed, foreign or wrong-kind handles and NULL out-pointers are
 * errors, unless a contract says that NULL is allowed. On failure results are NULL or 0; an array
 * that is both argument and result stays as passed. All functions may be called from several
 * threads; recording, training, numpy-shape mode and the last error belong to the calling thread. A
 * name that is not supported yet leaves its results untouched.
 *
 * Ownership: **new**: the caller frees it. **Borrowed**: valid while its owner lives. **Lent**: in
 * a buffer of the calling thread, valid until that thread's next call that lends the same kind
 * (handles, storage types, shapes of one width, strings). Arrays and strings given are copied as
 * needed.
 *
 * Shapes: extents in C order. In the mode that MXNet starts in, an extent of 0 means "unknown" and
 * operators answer with shape (1,) for a scalar, unless an input has no axes; in numpy-shape mode
 * (MXSetIsNumpyShape) () is a scalar, 0 an empty axis, -1 unknown. An array without axes has one
 * element in both modes. dtype: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6 int64,
 * 7 bool (kFloat32, ... in C); -1 none. Device: type 1 (cpu), 3 (cpu_pinned) or 5 (cpu_shared)
 * (kCPU, ...) and a number below 2^30, a negative one being 0: all of it is this machine's memory,
 * and arrays keep what they were made with. An operator's results are in cpu, with the number of
 * its first input. Storage type: 0 dense; -1 undefined (an array without shape). */
#ifndef MXLITE_C_API_H
#define MXLITE_C_API_H

#include "mxlite/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- process ---- */

/* The calling thread's last error, one line; "" before the first. Never NULL. Borrowed until the
 * thread's next failure. NNGetLastError is the same function. */
MXL_API const char *MXGetLastError(void);
MXL_API const char *NNGetLastError(void);

/* *out: MXNet's version that is spoken, 10901 for 1.9.1. mxlite's own: MXLGetVersion. */
MXL_API int MXGetVersion(int *out);

/* Waits for outstanding work. To be called, or not, before the process ends. */
MXL_API int MXNotifyShutdown(void);

/* Seeds the generator that the random operators draw from. Equal seeds give equal numbers, however
 * many threads compute. The second form names a device: any number of the CPU, else an error. */
MXL_API int MXRandomSeed(int seed);
MXL_API int MXRandomSeedContext(int seed, int dev_type, int dev_id);

/* How many threads one operator may use, the caller's included; 0: as many as at the start. */
MXL_API int MXSetNumOMPThreads(int thread_num);

/* Remembers a bulk size for the calling thread; *prev_bulk_size: the one before, 0 at first.
 * Operators run as they are called, so it changes no result. */
MXL_API int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size);

/* *libFeature: *size features of this build, borrowed for the life of the process. */
MXL_API int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size);

/* Gives the memory that freed arrays left in the pool back to the system. */
MXL_API int MXStorageEmptyCache(int dev_type, int dev_id);

/* *out: 0. */
MXL_API int MXGetGPUCount(int *out);

/* The calling thread's numpy-shape mode: 1 on, 0 off. */
MXL_API int MXIsNumpyShape(int *curr);
/* Sets it (0 off, else on); *prev: the mode before. */
MXL_API int MXSetIsNumpyShape(int is_np_shape, int *prev);

/* ---- arrays: life ---- */

/* *out: a **new** array without shape or dtype, to be handed over as the output of an operator. */
MXL_API int MXNDArrayCreateNone(NDArrayHandle *out);

/* *out: a **new** array of shape[0..ndim). Its values are undefined until written. delay_alloc is
 * accepted and changes nothing that can be seen. MXNDArrayCreate makes float32.
 * Errors: a negative extent, a size that overflows, an unknown dtype or device, no memory. */
MXL_API int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                            int delay_alloc, NDArrayHandle *out);
MXL_API int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                              int delay_alloc, int dtype, NDArrayHandle *out);
MXL_API int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id,
                                int delay_alloc, int dtype, NDArrayHandle *out);

/* Gives the handle back. The values live on where the recorder or a view needs them. NULL is
 * allowed; a handle freed before is an error. */
MXL_API int MXNDArrayFree(NDArrayHandle handle);

/* *out: a **new** handle of an array with src's memory, shape and place in the graph. */
MXL_API int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out);

/* Return when the array (or every array) may be read or written: at once, as operators run as they
 * are called. */
MXL_API int MXNDArrayWaitToRead(NDArrayHandle handle);
MXL_API int MXNDArrayWaitToWrite(NDArrayHandle handle);
MXL_API int MXNDArrayWaitAll(void);

/* ---- arrays: data ---- */

/* Copies size elements (not bytes) of the array's dtype from or to data, in C order. Any size but
 * the array's own is an error. */
MXL_API int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size);
MXL_API int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size);

/* Copies src into dst, which has its shape, or none yet; the dtype is converted. i is -1; parts of
 * sparse arrays (i >= 0) are an error. Not recorded. */
MXL_API int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, NDArrayHandle handle_src, int i);

/* *out_pdata: the first byte, borrowed from the array; the elements lie in C order. Who writes
 * through it calls MXLNDArrayBumpVersion afterwards. NULL for an array without elements. */
MXL_API int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata);

/* ---- arrays: views ---- */

/* *out is a **new** array that shares the memory; recorded while recording. */

/* Elements [begin, end) of axis 0. Errors: no axis 0, begin > end, end beyond the extent. */
MXL_API int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                           NDArrayHandle *out);
MXL_API int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                             NDArrayHandle *out);

/* Element idx of axis 0; the result has one axis fewer. Errors: idx out of range. */
MXL_API int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out);
MXL_API int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out);

/* The same elements in the shape dims[0..ndim), with the codes of operator Reshape: 0 keep, -1
 * infer; and with 64 bits -2 all that remain, -3 merge two, -4 split one; reverse reads them from
 * the right. Errors: sizes differ, more than one -1. */
MXL_API int MXNDArrayReshape(NDArrayHandle handle, int ndim, int *dims, NDArrayHandle *out);
MXL_API int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t *dims, bool reverse,
                               NDArrayHandle *out);

/* ---- arrays: what they are ---- */

/* *out_pdata: *out_dim extents, **lent**. An array without shape: 0 axes (in numpy-shape mode -1;
 * MXNDArrayGetShape cannot say that and fails). The width that a shape does not fit is an error. */
MXL_API int MXNDArrayGetShape(NDArrayHandle handle, uint32_t *out_dim, const uint32_t **out_pdata);
MXL_API int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata);
MXL_API int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata);

MXL_API int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype);
/* Type and number of the device; (0, 0) for an array without shape. */
MXL_API int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id);
MXL_API int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type);

/* ---- operators ---- */

/* *out_array: *out_size names, aliases included, borrowed for the life of the process. The two are
 * the same list. */
MXL_API int MXListAllOpNames(uint32_t *out_size, const char ***out_array);
MXL_API int NNListAllOpNames(nn_uint *out_size, const char ***out_array);

/* *op_out: the operator of that name or alias, for the life of the process; nothing to free. An
 * unknown name is an error. */
MXL_API int NNGetOpHandle(const char *op_name, OpHandle *op_out);

/* *out_array: every operator once, borrowed for the life of the process. */
MXL_API int MXSymbolListAtomicSymbolCreators(uint32_t *out_size, AtomicSymbolCreator **out_array);

/* *name: the operator's first name, borrowed for the life of the process. */
MXL_API int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name);

/* Name, documentation, and *num_args inputs and parameters: names, types ("NDArray-or-Symbol",
 * "float, optional, default=1"), descriptions. *key_var_num_args: the parameter that counts the
 * inputs, or "". *return_type: NULL, as in MXNet (the pointer may be NULL). All borrowed for the
 * life of the process. NNGetOpInfo is the same without key_var_num_args. */
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

/* Runs an operator on inputs[0..num_inputs), and records it while recording. Parameters are text,
 * as in MXNet: param_keys[i]=param_vals[i]. With *outputs NULL the results are **new** arrays:
 * *outputs is a **lent** array of *num_outputs handles. Else *num_outputs and *outputs are the
 * caller's arrays, which are written (one without shape gets one), and nothing is returned.
 * *out_stypes: a **lent** array of the outputs' storage types.
 * Errors: number, shapes or dtypes of the inputs; unknown, malformed or missing parameters (an
 * operator that has none ignores what it is given); an output of the wrong shape or dtype; an
 * output that may not be written while recording. */
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

/* Makes var_handles[i] a variable whose gradient goes to grad_handles[i], of its shape and dtype;
 * NULL there means that it has none yet: the first backward that reaches it makes one.
 * reqs_array[i]: 0 null (no gradient is computed), 1 or 2 write, 3 add (kNullOp, ... in C). An
 * array that was recorded is cut off its graph. The gradient array is shared: the caller may free
 * the handle. */
MXL_API int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle *var_handles,
                                    uint32_t *reqs_array, NDArrayHandle *grad_handles);

/* Computes the gradients of the heads output_handles[0..num_output) (one that stands twice counts
 * twice), from the head gradients ograd_handles: NULL, or with NULL in it, means ones.
 * num_variables 0: into the gradient arrays of the marked variables that the heads reach; others
 * keep theirs. Else *grad_handles: **new** gradients of var_handles, one each, in a **lent** array,
 * and *grad_stypes (both may be NULL without variables): their storage types, **lent**.
 * retain_graph: the graph can be used again; else it is released, and its arrays are constants for
 * what is recorded later. create_graph: the gradients are recorded themselves. is_train: the
 * training flag while it runs. Errors, with every array and flag as before: a head that was not
 * recorded or whose graph was released, a head gradient of another size or dtype, an array that
 * was saved for backward and written since, a variable that the heads do not reach.
 * MXAutogradBackward: no variables, no create_graph, is_train 1. MXAutogradComputeGradient: with
 * ones and no retain_graph besides. */
MXL_API int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle *output_handles,
                                 NDArrayHandle *ograd_handles, uint32_t num_variables,
                                 NDArrayHandle *var_handles, int retain_graph, int create_graph,
                                 int is_train, NDArrayHandle **grad_handles, int **grad_stypes);
MXL_API int MXAutogradBackward(uint32_t num_output, NDArrayHandle *output_handles,
                               NDArrayHandle *ograd_handles, int retain_graph);
MXL_API int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle *output_handles);

/* *out: a **new** handle of the variable's gradient array; NULL where there is none. */
MXL_API int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out);

/* *out: a **new** array with the same memory and no place in the graph. */
MXL_API int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out);

/* A flag of the array, set to 1 by a backward that writes its gradient (Python's `_fresh_grad`). */
MXL_API int MXNDArraySetGradState(NDArrayHandle handle, int state);
MXL_API int MXNDArrayGetGradState(NDArrayHandle handle, int *out);

/* Records outputs as a function of inputs whose gradient callbacks computes
 * (kCustomFunctionBackward, kCustomFunctionDelete). The list is copied; its Delete is called
 * exactly once, when the recorded function is released, and never if this call fails. No lock is
 * held during a callback, which may call any function. Errors: not recording; an output that is
 * recorded already. */
MXL_API int MXCustomFunctionRecord(int num_inputs, NDArrayHandle *inputs, int num_outputs,
                                   NDArrayHandle *outputs, struct MXCallbackList *callbacks);

#ifdef __cplusplus
}
#endif

/* Names that bindings expect and that are not supported yet. */
#include "mxlite/c_api_data.h"
#include "mxlite/c_api_executor.h"
#include "mxlite/c_api_kvstore.h"
#include "mxlite/c_api_nnvm.h"
#include "mxlite/c_api_predict.h"
#include "mxlite/c_api_process.h"
#include "mxlite/c_api_symbol.h"

#endif
