/* Symbols as JSON, in files, and as text to read. */
#include <errno.h>
#include <string.h>

#include "api/symbol/handles.h"
#include "base/system/file_io.h"
#include "base/system/replace.h"
#include "base/memory/mem.h"
#include "symbol/json.h"

int MXSymbolSaveToJSON(SymbolHandle symbol, const char **out_json)
{
    mxl_symbol *pinned;
    mxl_str text = {0};
    int status;

    API_NEED(out_json);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    status = mxl_symbol_write(pinned, mxl_state_get()->numpy_shape, &text);
    api_symbol_unpin(symbol);
    if (status != 0) {
        mxl_str_clear(&text);
        return mxl_error_prefix(__func__);
    }
    *out_json = api_text_lend(&text, __func__);
    return *out_json != NULL ? 0 : -1;
}

int MXSymbolCreateFromJSON(const char *json, SymbolHandle *out)
{
    API_NEED(json);
    API_NEED(out);
    return api_symbol_give(mxl_symbol_read(json, mxl_state_get()->numpy_shape), out, __func__);
}

/* ---- files ---- */

static int write_file(const char *path, const mxl_str *text)
{
    mxl_replace r;

    if (mxl_replace_begin(&r, path) != 0)
        return -1;
    return mxl_replace_end(&r, mxl_replace_put(&r, text->text, text->length) == 0);
}

int MXSymbolSaveToFile(SymbolHandle symbol, const char *fname)
{
    mxl_symbol *pinned;
    mxl_str text = {0};
    int status;

    API_NEED(fname);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    status = mxl_symbol_write(pinned, mxl_state_get()->numpy_shape, &text);
    api_symbol_unpin(symbol);
    if (status == 0)
        status = write_file(fname, &text);
    mxl_str_clear(&text);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

/* Adds the rest of a file to a text. */
static int read_rest(FILE *file, mxl_str *text)
{
    char block[4096];
    size_t count;

    while ((count = mxl_file_get(file, block, sizeof(block) - 1)) > 0) {
        block[count] = '\0';
        if (strlen(block) != count)
            return mxl_error("the file has a zero byte: it is no JSON");
        mxl_str_add(text, block);
    }
    if (mxl_file_failed(file))
        return mxl_error("reading failed");
    return text->failed ? mxl_error_memory(text->capacity) : 0;
}

int MXSymbolCreateFromFile(const char *fname, SymbolHandle *out)
{
    mxl_symbol *symbol = NULL;
    mxl_str text = {0};
    FILE *file;

    API_NEED(fname);
    API_NEED(out);
    file = mxl_file_open(fname, true, NULL, NULL);
    if (file == NULL)
        return mxl_error("%s: %s: cannot be opened: %s", __func__, fname, mxl_file_why(errno));
    if (read_rest(file, &text) == 0)
        symbol = mxl_symbol_read(text.length > 0 ? text.text : "", mxl_state_get()->numpy_shape);
    (void)mxl_file_close(file);
    mxl_str_clear(&text);
    if (symbol == NULL)
        (void)mxl_error_prefix(fname);
    return api_symbol_give(symbol, out, __func__);
}

/* ---- text to read ---- */

static void print_input(mxl_str *out, int i, const mxl_entry *entry)
{
    mxl_str_addf(out, "\targ[%d]=%s(%d)", i, entry->node->name, entry->output);
    if (entry->node->op == NULL)
        mxl_str_addf(out, " version=%d", entry->version);
    mxl_str_add(out, "\n");
}

static void print_node(mxl_str *out, const mxl_graph_node *node)
{
    if (node->op == NULL) {
        mxl_str_addf(out, "Variable:%s\n", node->name);
        return;
    }
    mxl_str_addf(out, "--------------------\nOp:%s, Name=%s\n", mxl_graph_node_op_name(node),
                 node->name);
    if (node->num_inputs > 0)
        mxl_str_add(out, "Inputs:\n");
    for (int i = 0; i < node->num_inputs; i++)
        print_input(out, i, &node->inputs[i]);
    if (node->attrs.count > 0)
        mxl_str_add(out, "Attrs:\n");
    for (int i = 0; i < node->attrs.count; i++)
        mxl_str_addf(out, "\t%s=%s\n", node->attrs.list[i].key, node->attrs.list[i].value);
}

int api_symbol_print(const mxl_symbol *symbol, mxl_str *out)
{
    const mxl_graph_node *first = symbol->count > 0 ? symbol->entry[0].node : NULL;
    mxl_node_walk walk;

    if (symbol->count == 1 && first->op != NULL && first->num_inputs == 0) {
        mxl_str_addf(out, "AtomicFunctor  Op:%s\n", mxl_graph_node_op_name(first));
        return 0;
    }

    if (symbol->count == 1 && first->op == NULL) {
        print_node(out, first);
        return 0;
    }
    if (mxl_walk_begin(&walk, symbol) != 0)
        return -1;
    mxl_str_add(out, "Symbol Outputs:\n");
    for (int i = 0; i < symbol->count; i++)
        mxl_str_addf(out, "\toutput[%d]=%s(%d)\n", i, symbol->entry[i].node->name,
                     symbol->entry[i].output);
    for (int n = 0; n < walk.count; n++)
        print_node(out, walk.node[n]);
    mxl_walk_end(&walk);
    return 0;
}

int MXSymbolPrint(SymbolHandle symbol, const char **out_str)
{
    mxl_symbol *pinned;
    mxl_str text = {0};
    int status;

    API_NEED(out_str);
    pinned = api_symbol_pin(symbol, __func__);
    if (pinned == NULL)
        return -1;
    status = api_symbol_print(pinned, &text);
    api_symbol_unpin(symbol);
    if (status != 0) {
        mxl_str_clear(&text);
        return mxl_error_prefix(__func__);
    }
    *out_str = api_text_lend(&text, __func__);
    return *out_str != NULL ? 0 : -1;
}
