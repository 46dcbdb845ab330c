/* MXListFunctions, MXFunc*: functions of 1.9.1 from before operators, which write to an array that
 * the caller gives. Three of the four are operators too, and run as such; `_imdecode` takes bytes,
 * which no parameter of an operator can have (imdecode.c). */
#include "api/common.h"
#include "api/legacy/imdecode.h"

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
    {"_imdecode", 1, API_IMDECODE_SCALARS, 1, NULL, 5},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

static const char *const decode_names[] = {"mean", "index", "x0", "y0", "x1", "y1", "c", "size"};
static const char *const decode_types[] = {
    "NDArray-or-Symbol", "int", "int", "int", "int", "int", "int", "int"};
static const char *const decode_docs[] = {"What is subtracted, or an array without a shape.",
                                          "Which image of the output, if that has four axes.",
                                          "Left side of the part.",
                                          "Its top.",
                                          "Its right side; 0: the whole image.",
                                          "Its bottom.",
                                          "Channels: 1 or 3 (blue, green, red).",
                                          "How many bytes str_img has."};

static bool is_imdecode(const function *f)
{
    return f->scalars == API_IMDECODE_SCALARS;
}

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
    const function *f = find(fun, __func__);

    if (f == NULL || NNGetOpInfo((OpHandle)(size_t)fun, name, description, num_args, arg_names,
                                 arg_type_infos, arg_descriptions, return_type) != 0)
        return mxl_error_prefix(__func__);
    if (!is_imdecode(f))
        return 0;
    *description = "Decodes an image, and writes a part of it with the channels first.";
    *num_args = sizeof(decode_names) / sizeof(*decode_names);
    *arg_names = (const char **)(void *)decode_names;
    *arg_type_infos = (const char **)(void *)decode_types;
    *arg_descriptions = (const char **)(void *)decode_docs;
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

/* Calls _imdecode, whose one parameter is the bytes. */
static int imdecode(NDArrayHandle *use_vars, const float *scalars, NDArrayHandle *mutate_vars,
                    int num_params, char **keys, char **values)
{
    API_NEED(use_vars);
    API_NEED(scalars);
    if (num_params != 1 || keys == NULL || values == NULL || keys[0] == NULL || values[0] == NULL ||
        strcmp(keys[0], "str_img") != 0)
        return mxl_error("_imdecode: the parameter str_img, and no other, was expected");
    return api_imdecode(use_vars[0], scalars, values[0], mutate_vars[0]) == 0
               ? 0
               : mxl_error_prefix("_imdecode");
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
    if (is_imdecode(f))
        return imdecode(use_vars, scalar_args, mutate_vars, num_params, param_keys, param_vals) == 0
                   ? 0
                   : mxl_error_prefix(__func__);
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
