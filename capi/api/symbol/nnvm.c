/* NNVM's names of functions of symbols. */
#include "api/symbol/handles.h"

int NNListUniqueOps(nn_uint *out_size, OpHandle **out_array)
{
    return MXSymbolListAtomicSymbolCreators(out_size, (AtomicSymbolCreator **)out_array);
}

int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char **keys, const char **vals,
                               SymbolHandle *out)
{
    return MXSymbolCreateAtomicSymbol((AtomicSymbolCreator)op, num_param, keys, vals, out);
}

int NNSymbolCreateVariable(const char *name, SymbolHandle *out)
{
    return MXSymbolCreateVariable(name, out);
}

int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle *symbols, SymbolHandle *out)
{
    return MXSymbolCreateGroup(num_symbols, symbols, out);
}

int NNSymbolCopy(SymbolHandle symbol, SymbolHandle *out)
{
    return MXSymbolCopy(symbol, out);
}

int NNSymbolFree(SymbolHandle symbol)
{
    return MXSymbolFree(symbol);
}

int NNSymbolCompose(SymbolHandle sym, const char *name, nn_uint num_args, const char **keys,
                    SymbolHandle *args)
{
    return MXSymbolCompose(sym, name, num_args, keys, args);
}

int NNSymbolPrint(SymbolHandle symbol, const char **out_str)
{
    return MXSymbolPrint(symbol, out_str);
}

int NNSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success)
{
    return MXSymbolGetAttr(symbol, key, out, success);
}

int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char **keys, const char **values)
{
    if (num_param > 0) {
        API_NEED(keys);
        API_NEED(values);
    }
    for (nn_uint i = 0; i < num_param; i++) {
        if (MXSymbolSetAttr(symbol, keys[i], values[i]) != 0)
            return -1;
    }
    return 0;
}

int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint *out_size,
                      const char ***out)
{
    return recursive_option == 0 ? MXSymbolListAttr(symbol, out_size, out)
                                 : MXSymbolListAttrShallow(symbol, out_size, out);
}

int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint *out_size,
                               SymbolHandle **out_sym_array)
{
    return api_symbol_variables(__func__, symbol, option, out_size, out_sym_array);
}

int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint *out_size,
                           const char ***out_str_array)
{
    return api_symbol_variable_names(__func__, symbol, option, out_size, out_str_array);
}

int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint *out_size, const char ***out_str_array)
{
    return MXSymbolListOutputs(symbol, out_size, out_str_array);
}

int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint *output_count)
{
    return MXSymbolGetNumOutputs(symbol, output_count);
}

int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out)
{
    return MXSymbolGetInternals(symbol, out);
}

int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out)
{
    return MXSymbolGetChildren(symbol, out);
}

int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle *out)
{
    return MXSymbolGetOutput(symbol, index, out);
}
