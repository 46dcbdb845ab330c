/* Cached operators and executors: names that bindings expect and that return -1 yet. Declared in
 * mxlite/c_api_executor.h. */
#include "mxlite/c_api.h"

#include "api/unsupported.h"

int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle *out)
{
    MXL_NOT_YET;
}

int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                       CachedOpHandle *out)
{
    MXL_NOT_YET;
}

int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                       CachedOpHandle *out, bool thread_safe)
{
    MXL_NOT_YET;
}

int MXFreeCachedOp(CachedOpHandle handle)
{
    MXL_NOT_YET;
}

int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs, int *num_outputs,
                     NDArrayHandle **outputs)
{
    MXL_NOT_YET;
}

int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                       int *num_outputs, NDArrayHandle **outputs, const int **out_stypes)
{
    MXL_NOT_YET;
}

int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback,
                             bool monitor_all)
{
    MXL_NOT_YET;
}

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                   NDArrayHandle *in_args, NDArrayHandle *arg_grad_store, uint32_t *grad_req_type,
                   uint32_t aux_states_len, NDArrayHandle *aux_states, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                    const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                    uint32_t len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                    uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle *aux_states,
                    ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                     const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                     uint32_t len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                     uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle *aux_states,
                     ExecutorHandle shared_exec, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorSimpleBind(
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
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorSimpleBindEx(
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
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorSimpleBindEx64(
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
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                      uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,
                      const int *map_dev_ids, uint32_t num_provided_arg_shapes,
                      const char **provided_arg_shape_names,
                      const uint32_t *provided_arg_shape_data,
                      const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args,
                      NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                      NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                        uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,
                        const int *map_dev_ids, uint32_t num_provided_arg_shapes,
                        const char **provided_arg_shape_names, const int *provided_arg_shape_data,
                        const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args,
                        NDArrayHandle **in_args, NDArrayHandle **arg_grads,
                        uint32_t *num_aux_states, NDArrayHandle **aux_states,
                        ExecutorHandle shared_exec, ExecutorHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorForward(ExecutorHandle handle, int is_train)
{
    MXL_NOT_YET;
}

int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads)
{
    MXL_NOT_YET;
}

int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads,
                         int is_train)
{
    MXL_NOT_YET;
}

int MXExecutorOutputs(ExecutorHandle handle, uint32_t *out_size, NDArrayHandle **out)
{
    MXL_NOT_YET;
}

int MXExecutorFree(ExecutorHandle handle)
{
    MXL_NOT_YET;
}

int MXExecutorPrint(ExecutorHandle handle, const char **out_str)
{
    MXL_NOT_YET;
}

int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                 void *callback_handle)
{
    MXL_NOT_YET;
}

int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                   void *callback_handle, bool monitor_all)
{
    MXL_NOT_YET;
}
