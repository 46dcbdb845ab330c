/* Shared by the files of api/symbol: handles to symbols and back, lists of texts for callers. */
#ifndef MXL_API_SYMBOL_HANDLES_H
#define MXL_API_SYMBOL_HANDLES_H

#include "api/common.h"
#include "symbol/symbol.h"

/* Pins a symbol (borrowed until api_symbol_unpin); NULL with the error set. */
mxl_symbol *api_symbol_pin(const void *handle, const char *function);

static inline void api_symbol_unpin(const void *handle)
{
    mxl_handle_unpin(api_number(handle));
}

/* Pins several; -1 with the error set and none pinned. */
int api_symbol_pin_many(const char *function, uint32_t count, SymbolHandle const *handles,
                        mxl_symbol **symbols);
void api_symbol_unpin_many(uint32_t count, SymbolHandle const *handles);

/* Hands a symbol over to the caller, or releases it; -1 with the error set, also if it is NULL. */
int api_symbol_give(mxl_symbol *symbol, SymbolHandle *out, const char *function);

/* The variables of one kind (0: all, 1: arguments, 2: auxiliary states), as new handles in a lent
 * array, and their names. */
int api_symbol_variables(const char *function, SymbolHandle symbol, int which, uint32_t *out_size,
                         SymbolHandle **out);
int api_symbol_variable_names(const char *function, SymbolHandle symbol, int which,
                              uint32_t *out_size, const char ***out);

/* Appends a description to read. -1 with the error set. */
int api_symbol_print(const mxl_symbol *symbol, mxl_str *out);

/* A list of texts that is lent to the caller. An empty one is {0}. */
typedef struct api_texts {
    mxl_str bytes; /* texts, each with its final zero */
    uint32_t count;
} api_texts;

void api_texts_add(api_texts *texts, const char *text);
/* Lends them, and clears the list. -1 with the error set. */
int api_texts_lend(api_texts *texts, uint32_t *count, const char ***list, const char *function);
/* Lends one text, and clears it; NULL with the error set. */
const char *api_text_lend(mxl_str *text, const char *function);

#endif
