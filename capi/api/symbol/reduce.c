/* Mixed precision: MXReducePrecisionSymbol of graphs, MXLSetMixedPrecision of calls. */
#include "api/symbol/handles.h"
#include "engine/run/amp.h"
#include "symbol/passes/passes.h"

/* -1 with the error set: a list of names is announced, but NULL, or with a NULL in it. */
static int check_names(const char *function, const char *what, uint32_t count,
                       const char *const *names)
{
    for (uint32_t i = 0; i < count; i++) {
        if (names == NULL || names[i] == NULL)
            return mxl_error("%s: %s has %u names, of which one is NULL", function, what, count);
    }
    return 0;
}

int MXReducePrecisionSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle,
                            uint32_t num_args, const int *arg_type_data, uint32_t num_ind_ptr,
                            const int *ind_ptr, const int *target_dtype, int cast_optional_params,
                            uint32_t num_target_dtype_op_names, uint32_t num_fp32_op_names,
                            uint32_t num_widest_dtype_op_names,
                            uint32_t num_conditional_fp32_op_names, uint32_t num_excluded_symbols,
                            uint32_t num_model_params, const char **target_dtype_op_names,
                            const char **fp32_op_names, const char **widest_dtype_op_names,
                            const char **conditional_fp32_op_names, const char **excluded_symbols,
                            const char **conditional_param_names,
                            const char **conditional_param_vals, const char **model_param_names,
                            const char **arg_names)
{
    mxl_reducing asked = {.cast_params = cast_optional_params != 0,
                          .num_low = (int)num_target_dtype_op_names,
                          .num_single = (int)num_fp32_op_names,
                          .num_widest = (int)num_widest_dtype_op_names,
                          .num_conditional = (int)num_conditional_fp32_op_names,
                          .num_excluded = (int)num_excluded_symbols,
                          .num_params = (int)num_model_params,
                          .low_ops = target_dtype_op_names,
                          .single_ops = fp32_op_names,
                          .widest_ops = widest_dtype_op_names,
                          .excluded = excluded_symbols,
                          .params = model_param_names,
                          .conditional_ops = conditional_fp32_op_names,
                          .conditional_params = conditional_param_names,
                          .conditional_values = conditional_param_vals};
    mxl_symbol *symbol, *made;

    (void)num_args;
    (void)arg_type_data;
    (void)num_ind_ptr;
    (void)ind_ptr;
    (void)arg_names;
    API_NEED(ret_sym_handle);
    *ret_sym_handle = NULL;
    API_NEED(target_dtype);
    asked.dtype = *target_dtype;
    if (asked.dtype != MXL_F16 && asked.dtype != MXL_BF16)
        return mxl_error("MXReducePrecisionSymbol: target_dtype is %s; it may be float16 (2) or "
                         "bfloat16 (12)",
                         mxl_dtype_name(asked.dtype));
    if (check_names(__func__, "target_dtype_op_names", num_target_dtype_op_names,
                    target_dtype_op_names) != 0 ||
        check_names(__func__, "fp32_op_names", num_fp32_op_names, fp32_op_names) != 0 ||
        check_names(__func__, "widest_dtype_op_names", num_widest_dtype_op_names,
                    widest_dtype_op_names) != 0 ||
        check_names(__func__, "conditional_fp32_op_names", num_conditional_fp32_op_names,
                    conditional_fp32_op_names) != 0 ||
        check_names(__func__, "conditional_param_names", num_conditional_fp32_op_names,
                    conditional_param_names) != 0 ||
        check_names(__func__, "conditional_param_vals", num_conditional_fp32_op_names,
                    conditional_param_vals) != 0 ||
        check_names(__func__, "excluded_symbols", num_excluded_symbols, excluded_symbols) != 0 ||
        check_names(__func__, "model_param_names", num_model_params, model_param_names) != 0)
        return -1;
    symbol = api_symbol_pin(sym_handle, __func__);
    if (symbol == NULL)
        return -1;
    made = mxl_symbol_copy(symbol);
    api_symbol_unpin(sym_handle);
    if (made != NULL && mxl_pass_reduce(made, &asked) != 0) {
        mxl_symbol_release(made);
        made = NULL;
    }
    return api_symbol_give(made, ret_sym_handle, __func__);
}

/* ---- mixed precision ---- */

int MXLSetMixedPrecision(int dtype, uint32_t num_low, const char **low, uint32_t num_single,
                         const char **single, uint32_t num_widest, const char **widest,
                         uint32_t num_conditional, const char **conditional, const char **params,
                         const char **values)
{
    mxl_amp_lists lists = {.dtype = dtype,
                           .num_low = (int)num_low,
                           .num_single = (int)num_single,
                           .num_widest = (int)num_widest,
                           .num_conditional = (int)num_conditional,
                           .low = low,
                           .single = single,
                           .widest = widest,
                           .conditional = conditional,
                           .params = params,
                           .values = values};

    if (dtype == MXL_DTYPE_UNKNOWN)
        return mxl_amp_set(NULL);
    if (dtype != MXL_F16 && dtype != MXL_BF16)
        return mxl_error("MXLSetMixedPrecision: the dtype is %s; it may be float16 (2), bfloat16 "
                         "(12) or none (-1)",
                         mxl_dtype_name(dtype));
    if (check_names(__func__, "low", num_low, low) != 0 ||
        check_names(__func__, "single", num_single, single) != 0 ||
        check_names(__func__, "widest", num_widest, widest) != 0 ||
        check_names(__func__, "conditional", num_conditional, conditional) != 0 ||
        check_names(__func__, "parameter", num_conditional, params) != 0 ||
        check_names(__func__, "value", num_conditional, values) != 0)
        return -1;
    return mxl_amp_set(&lists) != 0 ? mxl_error_prefix(__func__) : 0;
}
