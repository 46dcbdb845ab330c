/* Quantized graphs: MXQuantizeSymbol and what belongs to it. */
#include <string.h>

#include "api/symbol/handles.h"
#include "symbol/passes/passes.h"

static int check_word(const char *what, const char *text, const char *const *known)
{
    for (int i = 0; known[i] != NULL; i++) {
        if (strcmp(text, known[i]) == 0)
            return 0;
    }
    return mxl_error("MXQuantizeSymbol: %s is \"%.100s\"; it may be \"%s\" or \"%s\"", what, text,
                     known[0], known[1]);
}

static int check_words(const char *dtype, const char *mode, const char *granularity)
{
    static const char *const dtypes[] = {"int8", "uint8", "auto", NULL};
    static const char *const modes[] = {"full", "smart", NULL};
    static const char *const granularities[] = {"tensor-wise", "channel-wise", NULL};

    return check_word("quantized_dtype", dtype, dtypes) != 0 ||
                   check_word("quantize_mode", mode, modes) != 0 ||
                   check_word("quantize_granularity", granularity, granularities) != 0
               ? -1
               : 0;
}

/* The names that the pass has found, as a list that is lent. */
static int lend_names(mxl_str *names, uint32_t *count, const char ***list, const char *function)
{
    api_texts texts = {0};

    for (size_t at = 0; at < names->length; at += strlen(names->text + at) + 1)
        api_texts_add(&texts, names->text + at);
    mxl_str_clear(names);
    return api_texts_lend(&texts, count, list, function);
}

int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle, const int *dev_type,
                     uint32_t num_excluded_sym_names, const char **excluded_sym_names,
                     uint32_t num_excluded_op_names, const char **excluded_op_names,
                     uint32_t num_offline, const char **offline_params, const char *quantized_dtype,
                     bool calib_quantize, const char *quantize_mode,
                     const char *quantize_granularity, uint32_t *out_num_calib_names,
                     const char ***out_calib_names)
{
    mxl_quantizing asked = {.dtype = quantized_dtype,
                            .num_nodes = (int)num_excluded_sym_names,
                            .num_ops = (int)num_excluded_op_names,
                            .num_params = (int)num_offline,
                            .nodes = excluded_sym_names,
                            .ops = excluded_op_names,
                            .params = offline_params};
    mxl_symbol *symbol, *made;
    mxl_str names = {0};

    (void)dev_type;
    API_NEED(ret_sym_handle);
    *ret_sym_handle = NULL;
    API_NEED(quantized_dtype);
    API_NEED(quantize_mode);
    API_NEED(quantize_granularity);
    if (num_excluded_sym_names > 0)
        API_NEED(excluded_sym_names);
    if (num_excluded_op_names > 0)
        API_NEED(excluded_op_names);
    if (num_offline > 0)
        API_NEED(offline_params);
    if (calib_quantize) {
        API_NEED(out_num_calib_names);
        API_NEED(out_calib_names);
        *out_num_calib_names = 0;
        *out_calib_names = NULL;
    }
    if (check_words(quantized_dtype, quantize_mode, quantize_granularity) != 0)
        return -1;
    asked.smart = strcmp(quantize_mode, "smart") == 0;
    symbol = api_symbol_pin(sym_handle, __func__);
    if (symbol == NULL)
        return -1;
    made = mxl_symbol_copy(symbol);
    api_symbol_unpin(sym_handle);
    if (made != NULL && mxl_pass_quantize(made, &asked, &names) != 0) {
        mxl_symbol_release(made);
        made = NULL;
    }
    if (made != NULL && calib_quantize &&
        lend_names(&names, out_num_calib_names, out_calib_names, __func__) != 0) {
        mxl_symbol_release(made);
        made = NULL;
    }
    mxl_str_clear(&names);
    return api_symbol_give(made, ret_sym_handle, __func__);
}

int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, uint32_t num_layers,
                                     const char **layer_names, const float *low_quantiles,
                                     const float *high_quantiles, SymbolHandle *ret_sym_handle)
{
    mxl_symbol *symbol, *made;

    API_NEED(ret_sym_handle);
    *ret_sym_handle = NULL;
    if (num_layers > 0) {
        API_NEED(layer_names);
        API_NEED(low_quantiles);
        API_NEED(high_quantiles);
    }
    symbol = api_symbol_pin(qsym_handle, __func__);
    if (symbol == NULL)
        return -1;
    made = mxl_symbol_copy(symbol);
    api_symbol_unpin(qsym_handle);
    if (made != NULL && mxl_pass_calibrate(made, (int)num_layers, layer_names, low_quantiles,
                                           high_quantiles) != 0) {
        mxl_symbol_release(made);
        made = NULL;
    }
    return api_symbol_give(made, ret_sym_handle, __func__);
}
