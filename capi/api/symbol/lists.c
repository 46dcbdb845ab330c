/* Names, attributes and lists of symbols. */
#include "api/symbol/handles.h"
#include "base/memory/mem.h"

/* ---- name and attributes ---- */

/* The only node of a symbol, or NULL. */
static const mxl_graph_node *only_node(const mxl_symbol *symbol)
{
    const mxl_graph_node *node = symbol->count > 0 ? symbol->entry[0].node : NULL;

    for (int i = 1; i < symbol->count; i++) {
        if (symbol->entry[i].node != node)
            return NULL;
    }
    return node;
}

/* Lends a text, or says that there is none. Unpins the symbol. */
static int lend_text(const char *function, SymbolHandle symbol, const char *text, const char **out,
                     int *success)
{
    mxl_str copy = {0};

    *success = text != NULL;
    *out = NULL;
    if (text != NULL) {
        mxl_str_add(&copy, text);
        *out = api_text_lend(&copy, function);
    }
    api_symbol_unpin(symbol);
    return text != NULL && *out == NULL ? -1 : 0;
}

int MXSymbolGetName(SymbolHandle symbol, const char **out, int *success)
{
    const mxl_graph_node *node;
    mxl_symbol *pinned;

    API_NEED(out);
    API_NEED(success);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    node = only_node(pinned);
    return lend_text(__func__, symbol, node != NULL ? node->name : NULL, out, success);
}

int MXSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success)
{
    mxl_str places = {0};
    mxl_symbol *pinned;
    const char *value;
    int status;

    API_NEED(key);
    API_NEED(out);
    API_NEED(success);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    if (strcmp(key, "_value_index") == 0) { /* Apache's package asks for it */
        mxl_symbol_places(pinned, &places);
        value = places.text;
    } else {
        value = mxl_symbol_get_attr(pinned, key);
    }
    status = lend_text(__func__, symbol, value, out, success);
    mxl_str_clear(&places);
    return status;
}

int MXSymbolSetAttr(SymbolHandle symbol, const char *key, const char *value)
{
    mxl_symbol *pinned;
    int status;

    API_NEED(key);
    API_NEED(value);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    status = mxl_symbol_set_attr(pinned, key, value);
    if (status != 0)
        (void)mxl_error_prefix(__func__);
    api_symbol_unpin(symbol);
    return status;
}

/* Adds a pair for each attribute; a hidden one also as users write it. `deep`: keys are node$key.
 */
static void add_attrs(api_texts *texts, const mxl_graph_node *node, bool deep)
{
    for (int i = 0; i < node->attrs.count; i++) {
        const mxl_attr *attr = &node->attrs.list[i];
        const char *keys[] = {attr->key, mxl_attr_shown(attr->key)};

        for (int k = 0; k < 2 && keys[k] != NULL; k++) {
            mxl_str name = {0};

            mxl_str_addf(&name, "%s%s%s", deep ? node->name : "", deep ? "$" : "", keys[k]);
            texts->bytes.failed |= name.failed;
            if (!name.failed)
                api_texts_add(texts, name.text);
            mxl_str_clear(&name);
            api_texts_add(texts, attr->value);
        }
    }
}

int MXSymbolListAttr(SymbolHandle symbol, uint32_t *out_size, const char ***out)
{
    mxl_symbol *pinned;
    api_texts texts = {0};
    mxl_node_walk walk;
    int status = -1;

    API_NEED(out_size);
    API_NEED(out);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    if (mxl_walk_begin(&walk, pinned) == 0) {
        for (int n = 0; n < walk.count; n++)
            add_attrs(&texts, walk.node[n], true);
        mxl_walk_end(&walk);
        status = api_texts_lend(&texts, out_size, out, __func__);
        if (status == 0)
            *out_size /= 2;
    }
    api_symbol_unpin(symbol);
    return status;
}

int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t *out_size, const char ***out)
{
    const mxl_graph_node *node;
    mxl_symbol *pinned;
    api_texts texts = {0};
    int status;

    API_NEED(out_size);
    API_NEED(out);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    node = only_node(pinned);
    if (node != NULL)
        add_attrs(&texts, node, false);
    status = api_texts_lend(&texts, out_size, out, __func__);
    if (status == 0)
        *out_size /= 2;
    api_symbol_unpin(symbol);
    return status;
}

/* ---- inputs and outputs ---- */

static int check_which(const char *function, int which)
{
    return which >= MXL_ALL_INPUTS && which <= MXL_AUXILIARY
               ? 0
               : mxl_error("%s: option %d is not 0, 1 or 2", function, which);
}

/* The variables of a kind; the symbol stays pinned. -1 with the error set. */
static int find_variables(const char *function, SymbolHandle symbol, int which, mxl_node_walk *walk)
{
    mxl_symbol *pinned =
        check_which(function, which) != 0 ? NULL : api_symbol_pin(symbol, function);

    if (pinned == NULL)
        return -1;
    if (mxl_walk_begin(walk, pinned) == 0) {
        if (mxl_walk_variables(walk, (mxl_which)which) == 0)
            return 0;
        mxl_walk_end(walk);
    }
    api_symbol_unpin(symbol);
    return mxl_error_prefix(function);
}

int api_symbol_variable_names(const char *function, SymbolHandle symbol, int which,
                              uint32_t *out_size, const char ***out)
{
    api_texts texts = {0};
    mxl_node_walk walk;

    if (out_size == NULL || out == NULL)
        return api_null(function, out == NULL ? "out_str_array" : "out_size");
    if (find_variables(function, symbol, which, &walk) != 0)
        return -1;
    for (int n = 0; n < walk.count; n++)
        api_texts_add(&texts, walk.node[n]->name);
    mxl_walk_end(&walk);
    api_symbol_unpin(symbol);
    return api_texts_lend(&texts, out_size, out, function);
}

int MXSymbolListArguments(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array)
{
    return api_symbol_variable_names(__func__, symbol, MXL_ARGUMENTS, out_size, out_str_array);
}

int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t *out_size,
                                const char ***out_str_array)
{
    return api_symbol_variable_names(__func__, symbol, MXL_AUXILIARY, out_size, out_str_array);
}

int MXSymbolListOutputs(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array)
{
    mxl_symbol *pinned;
    api_texts texts = {0};

    API_NEED(out_size);
    API_NEED(out_str_array);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    for (int i = 0; i < pinned->count; i++) {
        mxl_str name = {0};

        mxl_entry_name(&pinned->entry[i], &name);
        texts.bytes.failed |= name.failed;
        if (!name.failed)
            api_texts_add(&texts, name.length > 0 ? name.text : "");
        mxl_str_clear(&name);
    }
    api_symbol_unpin(symbol);
    return api_texts_lend(&texts, out_size, out_str_array, __func__);
}

int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t *output_count)
{
    mxl_symbol *pinned;

    API_NEED(output_count);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    *output_count = (uint32_t)pinned->count;
    api_symbol_unpin(symbol);
    return 0;
}

/* A symbol for each variable; on failure none stays. */
static int give_variables(const char *function, const mxl_node_walk *walk, SymbolHandle *handles)
{
    for (int n = 0; n < walk->count; n++) {
        mxl_symbol *one = mxl_symbol_new(1);

        if (one != NULL)
            mxl_entry_set(&one->entry[0], (mxl_entry){walk->node[n], 0, 0});
        if (api_symbol_give(one, &handles[n], function) != 0) {
            while (n-- > 0)
                (void)mxl_handle_free(MXL_KIND_SYMBOL, api_number(handles[n]));
            return -1;
        }
    }
    return 0;
}

int api_symbol_variables(const char *function, SymbolHandle symbol, int which, uint32_t *out_size,
                         SymbolHandle **out)
{
    SymbolHandle *handles;
    mxl_node_walk walk;
    int status = -1;

    if (out_size == NULL || out == NULL)
        return api_null(function, out == NULL ? "out_sym_array" : "out_size");
    if (find_variables(function, symbol, which, &walk) != 0)
        return -1;
    handles = api_buffer_get(API_BUFFER_HANDLES, ((size_t)walk.count + 1) * sizeof(*handles));
    if (handles != NULL && give_variables(function, &walk, handles) == 0) {
        *out = handles;
        *out_size = (uint32_t)walk.count;
        status = 0;
    }
    mxl_walk_end(&walk);
    api_symbol_unpin(symbol);
    return status;
}

int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle **inputs, int *input_size)
{
    uint32_t count = 0;

    API_NEED(inputs);
    API_NEED(input_size);
    if (api_symbol_variables(__func__, sym, MXL_ALL_INPUTS, &count, inputs) != 0)
        return -1;
    *input_size = (int)count;
    return 0;
}

/* A handle for each output of a symbol, in a lent array; -1 with the error set and none made. */
static int give_outputs(const char *function, const mxl_symbol *symbol, SymbolHandle **out)
{
    SymbolHandle *handles =
        api_buffer_get(API_BUFFER_HANDLES, ((size_t)symbol->count + 1) * sizeof(*handles));

    if (handles == NULL)
        return mxl_error_prefix(function);
    for (int i = 0; i < symbol->count; i++) {
        if (api_symbol_give(mxl_symbol_output(symbol, i), &handles[i], function) == 0)
            continue;
        while (i-- > 0)
            (void)mxl_handle_free(MXL_KIND_SYMBOL, api_number(handles[i]));
        return -1;
    }
    *out = handles;
    return 0;
}

int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle **inputs, int *input_size)
{
    mxl_symbol *symbol, *cut;
    int status = -1;

    API_NEED(inputs);
    API_NEED(input_size);
    symbol = api_symbol_pin(sym, __func__);
    if (symbol == NULL)
        return -1;
    cut = mxl_symbol_cut(symbol);
    if (cut == NULL) {
        (void)mxl_error_prefix(__func__);
    } else if (give_outputs(__func__, cut, inputs) == 0) {
        *input_size = cut->count;
        status = 0;
    }
    mxl_symbol_release(cut);
    api_symbol_unpin(sym);
    return status;
}
