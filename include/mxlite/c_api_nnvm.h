/* NNVM's part of the MXNet-compatible C API: symbols and graphs. Functions without "Supported" in
 * their comment return -1 with an error so far. Include mxlite/c_api.h. NNGetLastError,
 * NNListAllOpNames, NNGetOpHandle and NNGetOpInfo are declared in mxlite/c_api.h. */
#ifndef MXLITE_C_API_NNVM_H
#define MXLITE_C_API_NNVM_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Supported: makes msg the calling thread's last error (NULL: the empty text). */
MXL_API void NNAPISetLastError(const char *msg);

/* Supported: every operator once, as MXSymbolListAtomicSymbolCreators. */
MXL_API int NNListUniqueOps(nn_uint *out_size, OpHandle **out_array);

/* ---- symbols ---- */

/* Supported; each is the function of mxlite/c_api_symbol.h of the same name. */
MXL_API int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char **keys,
                                       const char **vals, SymbolHandle *out);
MXL_API int NNSymbolCreateVariable(const char *name, SymbolHandle *out);
MXL_API int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle *symbols, SymbolHandle *out);
MXL_API int NNSymbolCopy(SymbolHandle symbol, SymbolHandle *out);

/* Supported. */
MXL_API int NNSymbolFree(SymbolHandle symbol);

/* Supported: as MXSymbolCompose. */
MXL_API int NNSymbolCompose(SymbolHandle sym, const char *name, nn_uint num_args, const char **keys,
                            SymbolHandle *args);

/* Refused: an order of execution beside that of the inputs. */
MXL_API int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep);

/* Supported: text and attributes; recursive_option 0 lists those of all nodes, 1 of the only one.
 */
MXL_API int NNSymbolPrint(SymbolHandle symbol, const char **out_str);
MXL_API int NNSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success);
MXL_API int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char **keys,
                             const char **values);
MXL_API int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint *out_size,
                              const char ***out);

/* Supported: inputs (option 0: all, 1: arguments, 2: auxiliary states) and outputs. */
MXL_API int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint *out_size,
                                       SymbolHandle **out_sym_array);
MXL_API int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint *out_size,
                                   const char ***out_str_array);
MXL_API int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint *out_size,
                                    const char ***out_str_array);
MXL_API int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint *output_count);
MXL_API int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out);
MXL_API int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out);
MXL_API int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle *out);

/* ---- graphs ---- */

/* Refused: NNVM's passes over graphs are not here. A graph of a symbol, and back. */
MXL_API int NNGraphCreate(SymbolHandle symbol, GraphHandle *graph);
MXL_API int NNGraphFree(GraphHandle handle);
MXL_API int NNGraphGetSymbol(GraphHandle graph, SymbolHandle *symbol);

/* Refused. Attributes; passes over the graph. */
MXL_API int NNGraphSetJSONAttr(GraphHandle handle, const char *key, const char *json_value);
MXL_API int NNGraphGetJSONAttr(GraphHandle handle, const char *key, const char **json_out,
                               int *success);
MXL_API int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char *key, SymbolHandle list);
MXL_API int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char **pass_names,
                               GraphHandle *dst);

#ifdef __cplusplus
}
#endif

#endif
