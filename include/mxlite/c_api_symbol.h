/* Symbols of the MXNet-compatible C API: graphs of operators as data. Include mxlite/c_api.h.
 * Functions whose comment does not say otherwise are supported. What is **new** is the caller's,
 * who frees it with MXSymbolFree; what is **lent** stays valid until the thread's next call that
 * returns the same kind. A symbol must not be composed or given attributes while another thread
 * uses it. */
#ifndef MXLITE_C_API_SYMBOL_H
#define MXLITE_C_API_SYMBOL_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- life ---- */

/* Supported. **New**: an operator without inputs, which MXSymbolCompose gives it, with parameters
 * and attributes as text (attributes begin with two underscores, or are ctx_group, lr_mult,
 * wd_mult, force_mirroring, mirror_stage); a variable; the outputs of several symbols; a copy of
 * all nodes, or a symbol over the same nodes. Errors: unknown, malformed and missing parameters. */
MXL_API int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param,
                                       const char **keys, const char **vals, SymbolHandle *out);
MXL_API int MXSymbolCreateVariable(const char *name, SymbolHandle *out);
MXL_API int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle *symbols, SymbolHandle *out);
MXL_API int MXSymbolCopy(SymbolHandle symbol, SymbolHandle *out);
MXL_API int MXShallowCopySymbol(SymbolHandle src, SymbolHandle *out);

/* Supported. The graph that an array was recorded in, as a **new** symbol: variables are var0,
 * var1,
 * ..., constants null2, ... (one count for both), operators node_0, ... An error where there is
 * none, or it holds a function of the caller's. */
MXL_API int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle *out);

/* Supported. Frees one; NULL is legal. */
MXL_API int MXSymbolFree(SymbolHandle symbol);

/* Supported. JSON in 1.9.1's format, byte for byte, **lent** or in a file; reading JSON of
 * every 1.x version and of 0.8, **new**. Errors give the line or the node. MXSymbolPrint: a
 * **lent** text for people.
 */
MXL_API int MXSymbolCreateFromFile(const char *fname, SymbolHandle *out);
MXL_API int MXSymbolCreateFromJSON(const char *json, SymbolHandle *out);
MXL_API int MXSymbolSaveToFile(SymbolHandle symbol, const char *fname);
MXL_API int MXSymbolSaveToJSON(SymbolHandle symbol, const char **out_json);
MXL_API int MXSymbolPrint(SymbolHandle symbol, const char **out_str);

/* ---- structure ---- */

/* Supported. Applies sym to args, in place: an operator without inputs takes them by position (keys
 * NULL) or by name, and missing ones become variables called name_input; in any other symbol the
 * variables of those names are replaced. On failure sym is unchanged. MXSymbolGrad is an error, as
 * in MXNet.
 */
MXL_API int MXSymbolCompose(SymbolHandle sym, const char *name, uint32_t num_args,
                            const char **keys, SymbolHandle *args);
MXL_API int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char **wrt, SymbolHandle *out);

/* Supported. Name and attributes, **lent**. *success: 0 where there is none, or where the symbol
 * has outputs of several nodes. Lists have *out_size pairs of key and value; the deep one, of all
 * nodes, with keys node$key. */
MXL_API int MXSymbolGetName(SymbolHandle symbol, const char **out, int *success);
MXL_API int MXSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success);
MXL_API int MXSymbolSetAttr(SymbolHandle symbol, const char *key, const char *value);
MXL_API int MXSymbolListAttr(SymbolHandle symbol, uint32_t *out_size, const char ***out);
MXL_API int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t *out_size, const char ***out);

/* Supported. Inputs and outputs: **lent** names (auxiliary states are the variables that an
 * operator writes into); **new** symbols of an output, of all nodes' outputs, of the inputs of its
 * nodes (NULL if there are none), of each variable (a **lent** array). */
MXL_API int MXSymbolListArguments(SymbolHandle symbol, uint32_t *out_size,
                                  const char ***out_str_array);
MXL_API int MXSymbolListOutputs(SymbolHandle symbol, uint32_t *out_size,
                                const char ***out_str_array);
MXL_API int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t *out_size,
                                        const char ***out_str_array);
MXL_API int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t *output_count);
MXL_API int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle *out);
MXL_API int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out);
MXL_API int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out);
MXL_API int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle **inputs, int *input_size);

/* Supported. Makes a part of a graph a graph by itself, in place: the nodes whose attribute
 * __subgraph_name__ is that of the first output's node. Variables, named as outputs are, take the
 * place of the inputs that other nodes make; these are the **new** symbols in a **lent** array, as
 * often as they are read. *input_size is 0 where there is no such attribute. */
MXL_API int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle **inputs, int *input_size);

/* ---- inference of shapes and types; the forms differ in the type of the sizes ---- */

/* Supported. What follows from the shapes, or dtypes, of arguments given by name, or (keys NULL) by
 * position: sizes of argument i are arg_shape_data[arg_ind_ptr[i]] up to arg_ind_ptr[i + 1]. A size
 * of -1 and, outside NumPy-shape mode, a size of 0 and a shape without axes are unknown, as in the
 * **lent** answers for arguments, outputs and auxiliary states. A dtype of -1 is unknown.
 * *complete: whether everything is known. Errors: contradictions, which name the node; names that
 * the symbol does not have. */
MXL_API int MXSymbolInferShape(SymbolHandle sym, uint32_t num_args, const char **keys,
                               const uint32_t *arg_ind_ptr, const uint32_t *arg_shape_data,
                               uint32_t *in_shape_size, const uint32_t **in_shape_ndim,
                               const uint32_t ***in_shape_data, uint32_t *out_shape_size,
                               const uint32_t **out_shape_ndim, const uint32_t ***out_shape_data,
                               uint32_t *aux_shape_size, const uint32_t **aux_shape_ndim,
                               const uint32_t ***aux_shape_data, int *complete);
MXL_API int MXSymbolInferShapeEx(SymbolHandle sym, uint32_t num_args, const char **keys,
                                 const uint32_t *arg_ind_ptr, const int *arg_shape_data,
                                 uint32_t *in_shape_size, const int **in_shape_ndim,
                                 const int ***in_shape_data, uint32_t *out_shape_size,
                                 const int **out_shape_ndim, const int ***out_shape_data,
                                 uint32_t *aux_shape_size, const int **aux_shape_ndim,
                                 const int ***aux_shape_data, int *complete);
MXL_API int MXSymbolInferShapeEx64(SymbolHandle sym, uint32_t num_args, const char **keys,
                                   const int64_t *arg_ind_ptr, const int64_t *arg_shape_data,
                                   size_t *in_shape_size, const int **in_shape_ndim,
                                   const int64_t ***in_shape_data, size_t *out_shape_size,
                                   const int **out_shape_ndim, const int64_t ***out_shape_data,
                                   size_t *aux_shape_size, const int **aux_shape_ndim,
                                   const int64_t ***aux_shape_data, int *complete);
MXL_API int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char **keys,
                              const int *arg_type_data, uint32_t *in_type_size,
                              const int **in_type_data, uint32_t *out_type_size,
                              const int **out_type_data, uint32_t *aux_type_size,
                              const int **aux_type_data, int *complete);

/* Supported: the same; *complete is 1 in any case. */
MXL_API int MXSymbolInferShapePartial(SymbolHandle sym, uint32_t num_args, const char **keys,
                                      const uint32_t *arg_ind_ptr, const uint32_t *arg_shape_data,
                                      uint32_t *in_shape_size, const uint32_t **in_shape_ndim,
                                      const uint32_t ***in_shape_data, uint32_t *out_shape_size,
                                      const uint32_t **out_shape_ndim,
                                      const uint32_t ***out_shape_data, uint32_t *aux_shape_size,
                                      const uint32_t **aux_shape_ndim,
                                      const uint32_t ***aux_shape_data, int *complete);
MXL_API int MXSymbolInferShapePartialEx(SymbolHandle sym, uint32_t num_args, const char **keys,
                                        const uint32_t *arg_ind_ptr, const int *arg_shape_data,
                                        uint32_t *in_shape_size, const int **in_shape_ndim,
                                        const int ***in_shape_data, uint32_t *out_shape_size,
                                        const int **out_shape_ndim, const int ***out_shape_data,
                                        uint32_t *aux_shape_size, const int **aux_shape_ndim,
                                        const int ***aux_shape_data, int *complete);
MXL_API int MXSymbolInferShapePartialEx64(SymbolHandle sym, uint32_t num_args, const char **keys,
                                          const int64_t *arg_ind_ptr, const int64_t *arg_shape_data,
                                          size_t *in_shape_size, const int **in_shape_ndim,
                                          const int64_t ***in_shape_data, size_t *out_shape_size,
                                          const int **out_shape_ndim,
                                          const int64_t ***out_shape_data, size_t *aux_shape_size,
                                          const int **aux_shape_ndim,
                                          const int64_t ***aux_shape_data, int *complete);
MXL_API int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char **keys,
                                     const int *arg_type_data, uint32_t *in_type_size,
                                     const int **in_type_data, uint32_t *out_type_size,
                                     const int **out_type_data, uint32_t *aux_type_size,
                                     const int **aux_type_data, int *complete);

/* ---- rewriting ---- */

/* Supported. A new symbol whose layers take bytes: mx.contrib.quantization calls it,
 * `mxlite help quantization` tells what becomes of which node. Nodes and operators of the excluded
 * names stay. Variables that offline_params names become three: NAME_quantize, NAME_quantize_min
 * and NAME_quantize_max. quantized_dtype is "int8", "uint8" or "auto"; quantize_mode "full", or
 * "smart": layers and what is between them; quantize_granularity "tensor-wise" or "channel-wise",
 * of no effect. dev_type is not read. With calib_quantize a lent list names the arrays whose limits
 * the next function takes. */
MXL_API int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle,
                             const int *dev_type, uint32_t num_excluded_sym_names,
                             const char **excluded_sym_names, uint32_t num_excluded_op_names,
                             const char **excluded_op_names, uint32_t num_offline,
                             const char **offline_params, const char *quantized_dtype,
                             bool calib_quantize, const char *quantize_mode,
                             const char *quantize_granularity, uint32_t *out_num_calib_names,
                             const char ***out_calib_names);
/* Supported. A new symbol that has the limits of arrays, by these names, in its nodes; others are
 * ignored. */
MXL_API int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, uint32_t num_layers,
                                             const char **layer_names, const float *low_quantiles,
                                             const float *high_quantiles,
                                             SymbolHandle *ret_sym_handle);
/* Supported. A new symbol with amp_cast and amp_multicast before the inputs of its nodes: operators
 * of the first list compute in *target_dtype (2: float16, 12: bfloat16), those of the second, and
 * those whose parameter has the value of a list, and nodes of excluded_symbols in float32, those of
 * the third in the widest dtype of their inputs. With cast_optional_params variables of
 * model_param_names that the first read have the target dtype. arg_names, arg_type_data and ind_ptr
 * are not read. */
MXL_API int MXReducePrecisionSymbol(
    SymbolHandle sym_handle, SymbolHandle *ret_sym_handle, uint32_t num_args,
    const int *arg_type_data, uint32_t num_ind_ptr, const int *ind_ptr, const int *target_dtype,
    int cast_optional_params, uint32_t num_target_dtype_op_names, uint32_t num_fp32_op_names,
    uint32_t num_widest_dtype_op_names, uint32_t num_conditional_fp32_op_names,
    uint32_t num_excluded_symbols, uint32_t num_model_params, const char **target_dtype_op_names,
    const char **fp32_op_names, const char **widest_dtype_op_names,
    const char **conditional_fp32_op_names, const char **excluded_symbols,
    const char **conditional_param_names, const char **conditional_param_vals,
    const char **model_param_names, const char **arg_names);

/* Supported. **New**: a copy without amp_cast and amp_multicast. */
MXL_API int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle);

/* Refused. For a back end. */
MXL_API int MXGenBackendSubgraph(SymbolHandle sym_handle, const char *backend,
                                 SymbolHandle *ret_sym_handle);

/* Supported. **New**: the operator of a symbol's only node with its attributes, not yet composed.
 */
MXL_API int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle);

/* Refused. For a back end. */
MXL_API int MXOptimizeForBackend(
    SymbolHandle sym_handle, const char *backend_name, int dev_type, SymbolHandle *ret_sym_handle,
    uint32_t args_len, NDArrayHandle *in_args_handle, uint32_t aux_len,
    NDArrayHandle *in_aux_handle, uint32_t num_options, const char **keys, const char **vals,
    uint32_t num_input_shapes, const char **input_shape_names, const int64_t *input_shape_data,
    const uint32_t *input_shape_idx, uint32_t num_input_dtypes, const char **input_dtype_names,
    const int *input_dtypes, uint32_t num_input_stypes, const char **input_stype_names,
    const int *input_stypes, bool skip_infer, int *new_args_cnt, NDArrayHandle **new_args_handle,
    char ***new_arg_names_handle, int *new_aux_cnt, NDArrayHandle **new_aux_handle,
    char ***new_aux_names_handle);

/* Refused. MXNet's own tests of subgraphs. */
MXL_API int MXBuildSubgraphByOpNames(SymbolHandle sym_handle, const char *prop_name,
                                     uint32_t num_ops, const char **op_names,
                                     SymbolHandle *ret_sym_handle);
MXL_API int MXSetSubgraphPropertyOpNames(const char *prop_name, uint32_t num_ops,
                                         const char **op_names);
MXL_API int MXSetSubgraphPropertyOpNamesV2(const char *prop_name, uint32_t num_ops,
                                           const char **op_names);
MXL_API int MXRemoveSubgraphPropertyOpNames(const char *prop_name);
MXL_API int MXRemoveSubgraphPropertyOpNamesV2(const char *prop_name);

#ifdef __cplusplus
}
#endif

#endif
