/* Handles to symbols and back, lists of texts for callers. */
#include <string.h>

#include "api/symbol/handles.h"

mxl_symbol *api_symbol_pin(const void *handle, const char *function)
{
    mxl_symbol *symbol = (mxl_symbol *)mxl_handle_pin(MXL_KIND_SYMBOL, api_number(handle));

    if (symbol == NULL)
        (void)mxl_error_prefix(function);
    return symbol;
}

int api_symbol_pin_many(const char *function, uint32_t count, SymbolHandle const *handles,
                        mxl_symbol **symbols)
{
    for (uint32_t i = 0; i < count; i++) {
        symbols[i] = api_symbol_pin(handles[i], function);
        if (symbols[i] == NULL) {
            api_symbol_unpin_many(i, handles);
            return -1;
        }
    }
    return 0;
}

void api_symbol_unpin_many(uint32_t count, SymbolHandle const *handles)
{
    for (uint32_t i = 0; i < count; i++)
        api_symbol_unpin(handles[i]);
}

int api_symbol_give(mxl_symbol *symbol, SymbolHandle *out, const char *function)
{
    uint64_t handle = symbol != NULL ? mxl_handle_new(MXL_KIND_SYMBOL, &symbol->ref) : 0;

    if (handle == 0) {
        mxl_symbol_release(symbol);
        return mxl_error_prefix(function);
    }
    *out = (SymbolHandle)(uintptr_t)handle;
    return 0;
}

void api_texts_add(api_texts *texts, const char *text)
{
    mxl_str_add(&texts->bytes, text);
    mxl_str_add(&texts->bytes, " ");
    if (!texts->bytes.failed)
        texts->bytes.text[texts->bytes.length - 1] = '\0';
    texts->count++;
}

int api_texts_lend(api_texts *texts, uint32_t *count, const char ***list, const char *function)
{
    size_t table = (size_t)texts->count * sizeof(char *);
    const char **lent = NULL;
    char *text;

    if (texts->bytes.failed)
        (void)mxl_error_memory(texts->bytes.capacity);
    else
        lent = api_buffer_get(API_BUFFER_STRINGS, table + texts->bytes.length + 1);
    if (lent != NULL) {
        text = (char *)lent + table;
        if (texts->bytes.length > 0)
            memcpy(text, texts->bytes.text, texts->bytes.length);
        for (uint32_t i = 0; i < texts->count; i++) {
            lent[i] = text;
            text += strlen(text) + 1;
        }
        *count = texts->count;
        *list = lent;
    }
    mxl_str_clear(&texts->bytes);
    return lent != NULL ? 0 : mxl_error_prefix(function);
}

const char *api_text_lend(mxl_str *text, const char *function)
{
    char *lent = NULL;

    if (text->failed)
        (void)mxl_error_memory(text->capacity);
    else
        lent = api_buffer_get(API_BUFFER_TEXT, text->length + 1);
    if (lent == NULL)
        (void)mxl_error_prefix(function);
    else if (text->length > 0)
        memcpy(lent, text->text, text->length + 1);
    else
        lent[0] = '\0';
    mxl_str_clear(text);
    return lent;
}
