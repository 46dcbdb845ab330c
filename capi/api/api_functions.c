/* MXListFunctions, MXFunc*: functions of 1.9.1 from before operators, which write to an array that
 * the caller gives. Three of its four are operators too, and run as such. */
#include "api/common.h"

#include <stdio.h>
#include <string.h>

typedef struct function {
    const char *name;
    uint32_t arrays, scalars, outputs;
    const char *scalar; /* the operator's parameter that the scalar is */
    int type_mask;      /* as 1.9.1 answers */
} function;

static const function functions[] = {
    {"_set_value", 0, 1, 1, "src", 0},
    {"_onehot_encode", 2, 0, 1, NULL, 5},
    {"fill_element_0index", 3, 0, 1, NULL, 5},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

/* The function of a handle, which is the operator's; NULL with the error set. */
static const function *find(FunctionHandle handle, const char *caller)
{
    const mxl_op *op = api_op(handle);

    for (int i = 0; op != NULL && i < FUNCTIONS; i++) {
        if (strcmp(op->name, functions[i].name) == 0)
            return &functions[i];
    }
    if (op != NULL)
        (void)mxl_error("%s is an operator, and none of MXListFunctions", op->name);
    (void)mxl_error_prefix(caller);
    return NULL;
}

int MXListFunctions(uint32_t *out_size, FunctionHandle **out_array)
{
    OpHandle *list;

    API_NEED(out_size);
    API_NEED(out_array);
    list = api_buffer_get(API_BUFFER_HANDLES, sizeof(*list) * FUNCTIONS);
    if (list == NULL)
        return mxl_error_prefix(__func__);
    for (int i = 0; i < FUNCTIONS; i++) {
        if (NNGetOpHandle(functions[i].name, &list[i]) != 0)
            return mxl_error_prefix(__func__);
    }
    *out_size = FUNCTIONS;
    *out_array = (FunctionHandle *)list;
    return 0;
}

int MXGetFunction(const char *name, FunctionHandle *out)
{
    OpHandle op = NULL;

    API_NEED(name);
    API_NEED(out);
    for (int i = 0; i < FUNCTIONS; i++) {
        if (strcmp(name, functions[i].name) == 0 && NNGetOpHandle(name, &op) != 0)
            return mxl_error_prefix(__func__);
    }
    *out = op; /* NULL if there is none, as in 1.9.1 */
    return 0;
}

int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description,
                  uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                  const char ***arg_descriptions, const char **return_type)
{
    if (find(fun, __func__) == NULL ||
        NNGetOpInfo((OpHandle)(size_t)fun, name, description, num_args, arg_names, arg_type_infos,
                    arg_descriptions, return_type) != 0)
        return mxl_error_prefix(__func__);
    return 0;
}

int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars,
                   uint32_t *num_mutate_vars, int *type_mask)
{
    const function *f = find(fun, __func__);

    API_NEED(num_use_vars);
    API_NEED(num_scalars);
    API_NEED(num_mutate_vars);
    API_NEED(type_mask);
    if (f == NULL)
        return -1;
    *num_use_vars = f->arrays;
    *num_scalars = f->scalars;
    *num_mutate_vars = f->outputs;
    *type_mask = f->type_mask;
    return 0;
}

int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                   NDArrayHandle *mutate_vars, int num_params, char **param_keys, char **param_vals)
{
    const function *f = find(fun, __func__);
    char text[40];
    const char *key, *value = text;
    int outputs = 1;

    if (f == NULL)
        return -1;
    API_NEED(mutate_vars);
    if (num_params != 0)
        return mxl_error("%s: %s has no parameters, %d were given", __func__, f->name, num_params);
    (void)param_keys;
    (void)param_vals;
    key = f->scalar;
    if (f->scalars > 0) {
        API_NEED(scalar_args);
        snprintf(text, sizeof(text), "%.9g", (double)scalar_args[0]);
    }
    return MXImperativeInvoke((OpHandle)(size_t)fun, (int)f->arrays, use_vars, &outputs,
                              &mutate_vars, (int)f->scalars, &key, &value);
}

int MXFuncInvoke(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                 NDArrayHandle *mutate_vars)
{
    return MXFuncInvokeEx(fun, use_vars, scalar_args, mutate_vars, 0, NULL, NULL) == 0
               ? 0
               : mxl_error_prefix(__func__);
}
