/* Cached operators and executors of the MXNet-compatible C API. Include mxlite/c_api.h. All
 * functions are supported. **new** and **lent** mean what they mean in mxlite/c_api_symbol.h. */
#ifndef MXLITE_C_API_EXECUTOR_H
#define MXLITE_C_API_EXECUTOR_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cached operators: a symbol that is called like an operator ---- */

/* Supported. **New**, of a copy of the symbol. The flags are MXNet's (static_alloc, static_shape,
 * inline_limit,
 * ...) and change nothing: all runs take memory from the pool. (The last two functions differ in
 * the case of one letter, as in MXNet.) Errors: a flag that MXNet does not have. */
MXL_API int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle *out);
MXL_API int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char **keys,
                               const char **vals, CachedOpHandle *out);
MXL_API int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char **keys,
                               const char **vals, CachedOpHandle *out,
                               bool thread_safe MXL_DEFAULT(false));

/* Supported. */
MXL_API int MXFreeCachedOp(CachedOpHandle handle);

/* Supported. Calls it with an array for each variable, in the order of MXSymbolGetInputSymbols;
 * recorded if the thread is recording. Outputs as in MXImperativeInvokeEx. Several threads may call
 * one at a time. */
MXL_API int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                             int *num_outputs, NDArrayHandle **outputs);
MXL_API int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                               int *num_outputs, NDArrayHandle **outputs, const int **out_stypes);

/* Supported. Sets a callback that is called with every array computed inside, by its name. It owns
 * the handles that it is given; with monitor_all it is given inputs, too. */
MXL_API int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback,
                                     bool monitor_all);

/* ---- executors: a symbol bound to arrays ---- */

/* Supported. **New**: bound to arrays of the caller, one for each argument and auxiliary state in
 * the order of their lists, with gradients (entries may be NULL) and requests (0 null, 1 write, 2
 * write in place, 3 add). The map (group2ctx) has devices of groups of nodes, which are those of
 * one attribute __ctx_group__: an output says its node's, or that of the node's first input.
 * Errors: shapes that contradict the graph; without a map an argument or gradient on another device
 * than the executor; a group that the map lacks. Executors are for one thread at a time. */
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

/* Supported. **New**: bound to arrays that are made for it, by the shapes and dtypes (default:
 * float32) that follow from those given, on the device of their variable's group, or on the
 * executor's; **lent** lists of **new** handles of them. With *shared_buffer_len of 0 or more:
 * arguments in shared_arg_name_list and all auxiliary states are those of the shared executor, or
 * new without one; other arguments and their gradients ("grad of NAME") are the first elements of
 * the buffer's arrays of these names, where those have enough; else they are made, and take their
 * places in the buffer. All its arrays are returned, as **lent** lists of names and of **new**
 * handles. Without a buffer nothing is shared. The forms differ in the type of the sizes. Errors:
 * an array of the buffer has another dtype; the shared executor lacks what is shared, or has it in
 * another shape or dtype; a group that the map lacks. */
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

/* Supported. **New**: with other shapes; arrays whose shape stays are the same ones, and new ones
 * on the devices given. Errors: other shapes change without partial_shaping, or arrays grow without
 * allow_up_sizing. */
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

/* Supported. Forward: the outputs, which stay the same arrays, get the results. Backward: gradients
 * of the last forward (one without is_train is run again for it), into the arrays bound; head_grads
 * have the outputs' shapes and any dtypes, and may be missing (ones). Outputs: a **lent** list of
 * **new** handles. */
MXL_API int MXExecutorForward(ExecutorHandle handle, int is_train);
MXL_API int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads);
MXL_API int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads,
                                 int is_train);
MXL_API int MXExecutorOutputs(ExecutorHandle handle, uint32_t *out_size, NDArrayHandle **out);

/* Supported. Freeing it (NULL is legal), and looking into it: a **lent** text; a **new** symbol. */
MXL_API int MXExecutorFree(ExecutorHandle handle);
MXL_API int MXExecutorPrint(ExecutorHandle handle, const char **out_str);
MXL_API int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out);

/* Supported. Sets a callback that is called with every array computed inside, by its name. It owns
 * the handles that it is given; with monitor_all it is given inputs, too. */
MXL_API int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                         void *callback_handle);
MXL_API int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                           void *callback_handle, bool monitor_all);

#ifdef __cplusplus
}
#endif

#endif
