/* Making, composing and taking apart symbols. */
#include "api/symbol/handles.h"
#include "base/memory/mem.h"

static int check_texts(const char *function, const char *what, uint32_t count,
                       const char *const *texts)
{
    if (count > 0 && texts == NULL)
        return mxl_error("%s: argument `%s` is NULL", function, what);
    for (uint32_t i = 0; i < count; i++) {
        if (texts[i] == NULL)
            return mxl_error("%s: %s %u is NULL", function, what, i);
    }
    return 0;
}

int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char **keys,
                               const char **vals, SymbolHandle *out)
{
    bool is_numpys;
    const mxl_op *op = api_op_named(creator, &is_numpys);
    mxl_symbol *made;

    API_NEED(out);
    if (op == NULL)
        return mxl_error_prefix(__func__);
    if (check_texts(__func__, "keys", num_param, keys) != 0 ||
        check_texts(__func__, "vals", num_param, vals) != 0)
        return -1;
    made = mxl_symbol_atomic(op, (int)num_param, keys, vals);
    if (made != NULL && made->count > 0)
        made->entry[0].node->is_numpys = is_numpys;
    return api_symbol_give(made, out, __func__);
}

int MXSymbolCreateVariable(const char *name, SymbolHandle *out)
{
    API_NEED(name);
    API_NEED(out);
    return api_symbol_give(mxl_symbol_variable(name), out, __func__);
}

int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle *symbols, SymbolHandle *out)
{
    mxl_symbol **list, *group = NULL;

    API_NEED(out);
    if (num_symbols > 0)
        API_NEED(symbols);
    list = mxl_alloc(((size_t)num_symbols + 1) * sizeof(*list));
    if (list == NULL)
        return mxl_error_prefix(__func__);
    if (api_symbol_pin_many(__func__, num_symbols, symbols, list) == 0) {
        group = mxl_symbol_group((int)num_symbols, list);
        api_symbol_unpin_many(num_symbols, symbols);
    }
    mxl_free(list, ((size_t)num_symbols + 1) * sizeof(*list));
    return api_symbol_give(group, out, __func__);
}

/* Hands over what `make` makes of a symbol. */
static int derive(const char *function, SymbolHandle handle,
                  mxl_symbol *(*make)(const mxl_symbol *), SymbolHandle *out)
{
    mxl_symbol *symbol, *made;

    if (out == NULL)
        return api_null(function, "out");
    symbol = api_symbol_pin(handle, function);
    if (symbol == NULL)
        return -1;
    made = make(symbol);
    api_symbol_unpin(handle);
    return api_symbol_give(made, out, function);
}

int MXSymbolCopy(SymbolHandle symbol, SymbolHandle *out)
{
    return derive(__func__, symbol, mxl_symbol_copy, out);
}

int MXShallowCopySymbol(SymbolHandle src, SymbolHandle *out)
{
    return derive(__func__, src, mxl_symbol_share, out);
}

/* The operator of a symbol's only node with its attributes, not yet composed. */
static mxl_symbol *uncomposed(const mxl_symbol *symbol)
{
    const mxl_graph_node *node = symbol->count > 0 ? symbol->entry[0].node : NULL;
    mxl_symbol *made = NULL;
    size_t count, bytes;
    const char **texts;

    for (int i = 1; node != NULL && i < symbol->count; i++)
        node = symbol->entry[i].node == node ? node : NULL;
    if (node == NULL)
        return mxl_error_null("the symbol has outputs of several nodes, or none; one is expected");
    if (node->op == NULL)
        return mxl_error_null("%.100s is a variable; an operator is expected", node->name);
    count = (size_t)node->attrs.count;
    bytes = (2 * count + 1) * sizeof(*texts);
    texts = mxl_alloc(bytes);
    if (texts == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        texts[i] = node->attrs.list[i].key;
        texts[count + i] = node->attrs.list[i].value;
    }
    made = mxl_symbol_atomic(node->op, (int)count, texts, texts + count);
    mxl_free(texts, bytes);
    return made;
}

int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle)
{
    return derive(__func__, sym_handle, uncomposed, ret_sym_handle);
}

int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out)
{
    return derive(__func__, symbol, mxl_symbol_internals, out);
}

int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle)
{
    return derive(__func__, sym_handle, mxl_symbol_without_casts, ret_sym_handle);
}

int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out)
{
    return derive(__func__, symbol, mxl_symbol_children, out);
}

int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle *out)
{
    mxl_symbol *pinned, *one;

    API_NEED(out);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    one = mxl_symbol_output(pinned, index > INT32_MAX ? -1 : (int)index);
    api_symbol_unpin(symbol);
    return api_symbol_give(one, out, __func__);
}

int MXSymbolFree(SymbolHandle symbol)
{
    return mxl_handle_free(MXL_KIND_SYMBOL, api_number(symbol)) == 0 ? 0
                                                                     : mxl_error_prefix(__func__);
}

int MXSymbolCompose(SymbolHandle sym, const char *name, uint32_t num_args, const char **keys,
                    SymbolHandle *args)
{
    mxl_symbol *symbol, **list;
    int status = -1;

    if (num_args > 0)
        API_NEED(args);
    if (keys != NULL && check_texts(__func__, "keys", num_args, keys) != 0)
        return -1;
    symbol = api_symbol_pin(sym, __func__);
    if (symbol == NULL)
        return -1;
    list = mxl_alloc(((size_t)num_args + 1) * sizeof(*list));
    if (list != NULL && api_symbol_pin_many(__func__, num_args, args, list) == 0) {
        status = mxl_symbol_compose(symbol, name, (int)num_args, keys, list);
        if (status != 0)
            (void)mxl_error_prefix(__func__);
        api_symbol_unpin_many(num_args, args);
    }
    if (list != NULL)
        mxl_free(list, ((size_t)num_args + 1) * sizeof(*list));
    api_symbol_unpin(sym);
    return status;
}

int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char **wrt, SymbolHandle *out)
{
    (void)sym, (void)num_wrt, (void)wrt, (void)out;
    return mxl_error("%s: not implemented, as in MXNet; an executor's backward and autograd give "
                     "gradients",
                     __func__);
}
