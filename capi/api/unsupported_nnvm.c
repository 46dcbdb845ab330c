/* NNVM's symbols and graphs: names that bindings expect and that return -1 yet. Declared in
 * mxlite/c_api_nnvm.h. */
#include "mxlite/c_api.h"

#include "api/unsupported.h"

int NNListUniqueOps(nn_uint *out_size, OpHandle **out_array)
{
    MXL_NOT_YET;
}

int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char **keys, const char **vals,
                               SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNSymbolCreateVariable(const char *name, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle *symbols, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNSymbolCopy(SymbolHandle symbol, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNSymbolFree(SymbolHandle symbol)
{
    MXL_NOT_YET;
}

int NNSymbolCompose(SymbolHandle sym, const char *name, nn_uint num_args, const char **keys,
                    SymbolHandle *args)
{
    MXL_NOT_YET;
}

int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep)
{
    MXL_NOT_YET;
}

int NNSymbolPrint(SymbolHandle symbol, const char **out_str)
{
    MXL_NOT_YET;
}

int NNSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success)
{
    MXL_NOT_YET;
}

int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char **keys, const char **values)
{
    MXL_NOT_YET;
}

int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint *out_size,
                      const char ***out)
{
    MXL_NOT_YET;
}

int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint *out_size,
                               SymbolHandle **out_sym_array)
{
    MXL_NOT_YET;
}

int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint *out_size,
                           const char ***out_str_array)
{
    MXL_NOT_YET;
}

int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint *out_size, const char ***out_str_array)
{
    MXL_NOT_YET;
}

int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint *output_count)
{
    MXL_NOT_YET;
}

int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle *out)
{
    MXL_NOT_YET;
}

int NNGraphCreate(SymbolHandle symbol, GraphHandle *graph)
{
    MXL_NOT_YET;
}

int NNGraphFree(GraphHandle handle)
{
    MXL_NOT_YET;
}

int NNGraphGetSymbol(GraphHandle graph, SymbolHandle *symbol)
{
    MXL_NOT_YET;
}

int NNGraphSetJSONAttr(GraphHandle handle, const char *key, const char *json_value)
{
    MXL_NOT_YET;
}

int NNGraphGetJSONAttr(GraphHandle handle, const char *key, const char **json_out, int *success)
{
    MXL_NOT_YET;
}

int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char *key, SymbolHandle list)
{
    MXL_NOT_YET;
}

int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char **pass_names, GraphHandle *dst)
{
    MXL_NOT_YET;
}
