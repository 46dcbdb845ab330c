/* Cached operators and executors of the MXNet-compatible C API. All of these functions return -1
 * with an error so far. Include mxlite/c_api.h. */
#ifndef MXLITE_C_API_EXECUTOR_H
#define MXLITE_C_API_EXECUTOR_H

#include "mxlite/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cached operators: a symbol that is called like an operator ---- */

/* Making one. (The last two differ in the case of one letter, as in MXNet.) */
MXL_API int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle *out);
MXL_API int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char **keys,
                               const char **vals, CachedOpHandle *out);
MXL_API int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char **keys,
                               const char **vals, CachedOpHandle *out,
                               bool thread_safe MXL_DEFAULT(false));

/* Freeing it. */
MXL_API int MXFreeCachedOp(CachedOpHandle handle);

/* Calling it; outputs as in MXImperativeInvokeEx. */
MXL_API int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                             int *num_outputs, NDArrayHandle **outputs);
MXL_API int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                               int *num_outputs, NDArrayHandle **outputs, const int **out_stypes);

/* Sets a callback that is called with every array computed inside. */
MXL_API int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback,
                                     bool monitor_all);

/* ---- executors: a symbol bound to arrays ---- */

/* Binding to arrays of the caller. */
MXL_API int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                           NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                           uint32_t *grad_req_type, uint32_t aux_states_len,
                           NDArrayHandle *aux_states, ExecutorHandle *out);
MXL_API int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id,
                            uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,
                            const int *map_dev_ids, uint32_t len, NDArrayHandle *in_args,
                            NDArrayHandle *arg_grad_store, uint32_t *grad_req_type,
                            uint32_t aux_states_len, NDArrayHandle *aux_states,
                            ExecutorHandle *out);
MXL_API int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id,
                             uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,
                             const int *map_dev_ids, uint32_t len, NDArrayHandle *in_args,
                             NDArrayHandle *arg_grad_store, uint32_t *grad_req_type,
                             uint32_t aux_states_len, NDArrayHandle *aux_states,
                             ExecutorHandle shared_exec, ExecutorHandle *out);

/* Binding to arrays made for it; the forms differ in the type of the sizes. */
MXL_API int MXExecutorSimpleBind(
    SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    uint32_t provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, uint32_t num_provided_arg_shapes,
    const char **provided_arg_shape_names, const uint32_t *provided_arg_shape_data,
    const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    uint32_t num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, uint32_t num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out);
MXL_API int MXExecutorSimpleBindEx(
    SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    uint32_t provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, uint32_t num_provided_arg_shapes,
    const char **provided_arg_shape_names, const int *provided_arg_shape_data,
    const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    uint32_t num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, uint32_t num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out);
MXL_API int MXExecutorSimpleBindEx64(
    SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    uint32_t provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, uint32_t num_provided_arg_shapes,
    const char **provided_arg_shape_names, const int64_t *provided_arg_shape_data,
    const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    uint32_t num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, uint32_t num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out);

/* Another executor with other input shapes. */
MXL_API int
MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                  uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,
                  const int *map_dev_ids, uint32_t num_provided_arg_shapes,
                  const char **provided_arg_shape_names, const uint32_t *provided_arg_shape_data,
                  const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args,
                  NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                  NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out);
MXL_API int
MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                    uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,
                    const int *map_dev_ids, uint32_t num_provided_arg_shapes,
                    const char **provided_arg_shape_names, const int *provided_arg_shape_data,
                    const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args,
                    NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                    NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out);

/* Running it. */
MXL_API int MXExecutorForward(ExecutorHandle handle, int is_train);
MXL_API int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads);
MXL_API int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads,
                                 int is_train);
MXL_API int MXExecutorOutputs(ExecutorHandle handle, uint32_t *out_size, NDArrayHandle **out);

/* Freeing it, and looking into it. */
MXL_API int MXExecutorFree(ExecutorHandle handle);
MXL_API int MXExecutorPrint(ExecutorHandle handle, const char **out_str);
MXL_API int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out);

/* Sets a callback that is called with every array computed inside. */
MXL_API int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                         void *callback_handle);
MXL_API int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                           void *callback_handle, bool monitor_all);

#ifdef __cplusplus
}
#endif

#endif
