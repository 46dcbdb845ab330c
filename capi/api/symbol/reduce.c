/* Graphs in 16 bits: MXReducePrecisionSymbol. */
#include "api/symbol/handles.h"
#include "symbol/passes/passes.h"

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
    if (api_check_names(__func__, "target_dtype_op_names", num_target_dtype_op_names,
                        target_dtype_op_names) != 0 ||
        api_check_names(__func__, "fp32_op_names", num_fp32_op_names, fp32_op_names) != 0 ||
        api_check_names(__func__, "widest_dtype_op_names", num_widest_dtype_op_names,
                        widest_dtype_op_names) != 0 ||
        api_check_names(__func__, "conditional_fp32_op_names", num_conditional_fp32_op_names,
                        conditional_fp32_op_names) != 0 ||
        api_check_names(__func__, "conditional_param_names", num_conditional_fp32_op_names,
                        conditional_param_names) != 0 ||
        api_check_names(__func__, "conditional_param_vals", num_conditional_fp32_op_names,
                        conditional_param_vals) != 0 ||
        api_check_names(__func__, "excluded_symbols", num_excluded_symbols, excluded_symbols) !=
            0 ||
        api_check_names(__func__, "model_param_names", num_model_params, model_param_names) != 0)
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
