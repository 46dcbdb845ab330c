/* Profiler, engine, libraries, GPU code and packed functions of the MXNet-compatible C API.
 * Functions without "Supported" in their comment return -1 with an error so far. Include
 * mxlite/c_api.h. */
#ifndef MXLITE_C_API_PROCESS_H
#define MXLITE_C_API_PROCESS_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- environment and libraries ---- */

/* Supported. Get: a variable of the process's environment (lent; NULL if it is not set). Set: NULL
 * unsets the variable. */
MXL_API int MXGetEnv(const char *name, const char **value);
MXL_API int MXSetEnv(const char *name, const char *value);

/* Supported, for operators. Loads a library that was built for 1.9.1's lib_api.h: its operators can
 * be called by their names for the life of the process. All of them, or none after an error. A
 * library that is loaded is not loaded again. Its partitioners and graph passes cannot be used.
 * `verbose` says nothing, since mxlite prints nothing: MXLLibraryNames lists what there is. */
MXL_API int MXLoadLib(const char *path, unsigned verbose);
/* Refused: TVM's functions are not here. */
MXL_API int MXTVMBridge(void *pregister);

/* Supported. Registers an operator written with callbacks for the life of the process, which the
 * operator `Custom` runs as its op_type; another one of that name takes its place. All callbacks
 * run on the thread of the call or of the backward, without locks. Handles that forward and
 * backward are given are **new**; the callee frees them. Backward's requests are 0 or 1, and the
 * arrays for gradients hold zeros. Lists and shapes that a callback returns need to live until it
 * is called again. */
MXL_API int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator);

/* ---- GPUs ---- */

/* Refused: there is no GPU. Free and total memory, in MiB and in bytes. */
MXL_API int MXGetGPUMemoryInformation(int dev, int *free_mem, int *total_mem);
MXL_API int MXGetGPUMemoryInformation64(int dev, uint64_t *free_mem, uint64_t *total_mem);

/* Refused, as by 1.9.1: CUDA source compiled at run time. */
MXL_API int MXRtcCreate(char *name, uint32_t num_input, uint32_t num_output, char **input_names,
                        char **output_names, NDArrayHandle *inputs, NDArrayHandle *outputs,
                        char *kernel, RtcHandle *out);
MXL_API int MXRtcPush(RtcHandle handle, uint32_t num_input, uint32_t num_output,
                      NDArrayHandle *inputs, NDArrayHandle *outputs, uint32_t grid_dim_x,
                      uint32_t grid_dim_y, uint32_t grid_dim_z, uint32_t block_dim_x,
                      uint32_t block_dim_y, uint32_t block_dim_z);
MXL_API int MXRtcFree(RtcHandle handle);

/* Refused: there is no GPU. CUDA modules and their kernels. */
MXL_API int MXRtcCudaModuleCreate(const char *source, int num_options, const char **options,
                                  int num_exports, const char **exports, CudaModuleHandle *out);
MXL_API int MXRtcCudaModuleFree(CudaModuleHandle handle);
MXL_API int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char *name, int num_args,
                                  int *is_ndarray, int *is_const, int *arg_types,
                                  CudaKernelHandle *out);
MXL_API int MXRtcCudaKernelFree(CudaKernelHandle handle);
MXL_API int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void **args,
                                uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
                                uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
                                uint32_t shared_mem);

/* ---- engine ---- */

/* Supported. Run a function of the caller once the arrays that it reads and writes are ready, and
 * then `deleter` with func_param (NULL: none). All calls of this library are finished when they
 * return: the function runs in this call, on this thread. An asynchronous one is waited for until
 * it calls on_complete, from any thread, whatever `wait` says. It gets run_context, which begins
 * with the device's type and number, as two ints; on_complete, of {void (*)(void *, void *, const
 * void *), void *, void *}, whose function takes the other two and an error or NULL; and
 * func_param. The synchronous one gets run_context and func_param. ctx_handle points to the
 * device's type and number, a CPU. There are no engine variables: their numbers must be 0. */
MXL_API int MXEnginePushAsync(EngineAsyncFunc async_func, void *func_param,
                              EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                              EngineVarHandle const_vars_handle, int num_const_vars,
                              EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                              EngineFnPropertyHandle prop_handle MXL_DEFAULT(NULL),
                              int priority MXL_DEFAULT(0), const char *opr_name MXL_DEFAULT(NULL),
                              bool wait MXL_DEFAULT(false));
MXL_API int MXEnginePushSync(EngineSyncFunc sync_func, void *func_param,
                             EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                             EngineVarHandle const_vars_handle, int num_const_vars,
                             EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                             EngineFnPropertyHandle prop_handle MXL_DEFAULT(NULL),
                             int priority MXL_DEFAULT(0), const char *opr_name MXL_DEFAULT(NULL));
MXL_API int MXEnginePushAsyncND(EngineAsyncFunc async_func, void *func_param,
                                EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                NDArrayHandle *const_nds_handle, int num_const_nds,
                                NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                                EngineFnPropertyHandle prop_handle MXL_DEFAULT(NULL),
                                int priority MXL_DEFAULT(0), const char *opr_name MXL_DEFAULT(NULL),
                                bool wait MXL_DEFAULT(false));
MXL_API int MXEnginePushSyncND(EngineSyncFunc sync_func, void *func_param,
                               EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                               NDArrayHandle *const_nds_handle, int num_const_nds,
                               NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                               EngineFnPropertyHandle prop_handle MXL_DEFAULT(NULL),
                               int priority MXL_DEFAULT(0), const char *opr_name MXL_DEFAULT(NULL));

/* ---- profiler ---- */

/* Supported. Settings (MXNet 1.9.1's keys, values as text), state 1 (run) and 0 (stop), pauses.
 * While it runs, operators, their backward rules and fused passes of deferred calls are recorded,
 * on all threads, with the memory of arrays after each; a child process records nothing. With
 * continuous_dump the file is written when the profiler stops. There are no servers, so that a
 * profile_process but 0 is an error. */
MXL_API int MXSetProfilerConfig(int num_params, const char *const *keys, const char *const *vals);
MXL_API int MXSetProcessProfilerConfig(int num_params, const char *const *keys,
                                       const char *const *vals, KVStoreHandle kvstore_handle);
MXL_API int MXSetProfilerState(int state);
MXL_API int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvstore_handle);
MXL_API int MXProfilePause(int paused);
MXL_API int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvstore_handle);

/* Supported. Results: a Chrome trace, written to the file of the settings, of all records since the
 * last finished one; and sums by name, kept with aggregate_stats, as text (lent). `finished` stops
 * the profiler. format: 0 table, 1 JSON; sort_by: 0 total, 1 average, 2 min, 3 max, 4 count. The
 * time of an operator in the sums is without that of passes within it. */
MXL_API int MXDumpProfile(int finished);
MXL_API int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvstore_handle);
MXL_API int MXAggregateProfileStatsPrint(const char **out_str, int reset);
MXL_API int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format, int sort_by,
                                           int ascending);

/* Supported. Things that a program measures; handles are **new**. A domain may be freed first. */
MXL_API int MXProfileCreateDomain(const char *domain, ProfileHandle *out);
MXL_API int MXProfileCreateTask(ProfileHandle domain, const char *task_name, ProfileHandle *out);
MXL_API int MXProfileCreateFrame(ProfileHandle domain, const char *frame_name, ProfileHandle *out);
MXL_API int MXProfileCreateEvent(const char *event_name, ProfileHandle *out);
MXL_API int MXProfileCreateCounter(ProfileHandle domain, const char *counter_name,
                                   ProfileHandle *out);
MXL_API int MXProfileDestroyHandle(ProfileHandle frame_handle);

/* Supported. Measuring them, from any thread; recorded while the profiler runs. A stop without a
 * start is ignored. scope: global, process, thread, task, marker. */
MXL_API int MXProfileDurationStart(ProfileHandle duration_handle);
MXL_API int MXProfileDurationStop(ProfileHandle duration_handle);
MXL_API int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value);
MXL_API int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value);
MXL_API int MXProfileSetMarker(ProfileHandle domain, const char *instant_marker_name,
                               const char *scope);

/* ---- packed functions ---- */

/* Supported. Those of 1.9.1: `_Integer` and `_ADT` make objects, `_npi.zeros` and `_npi.tensordot`
 * take them, `_nop` does nothing. A list that is lent until this thread's next call of a function
 * that returns texts. */
MXL_API int MXNetFuncListGlobalNames(int *out_size, const char ***out_array);

/* Supported. *out is NULL if there is none of the name; else it lives as long as the library. */
MXL_API int MXNetFuncGetGlobal(const char *name, MXNetFunctionHandle *out);

/* Supported. A call gives an array or an object that the caller frees, or nothing: see the type
 * code. Freeing a function changes nothing. */
MXL_API int MXNetFuncCall(MXNetFunctionHandle func, MXNetValue *arg_values, int *type_codes,
                          int num_args, MXNetValue *ret_val, int *ret_type_code);
MXL_API int MXNetFuncFree(MXNetFunctionHandle func);

/* Supported. Frees an object that a packed function returned; lists keep theirs. */
MXL_API int MXNetObjectFree(MXNetObjectHandle obj);

#ifdef __cplusplus
}
#endif

#endif
