/* MXNetFunc*: packed functions, which take typed values. 1.9.1's NumPy front end makes lists of
 * numbers with `_Integer` and `_ADT`, and calls two of its operators with them. */
#include "api/packed/object.h"

#include <stdlib.h>
#include <string.h>

/* Type codes, as 1.9.1 has them. */
enum {
    CODE_INT = 0,
    CODE_NULL = 4,
    CODE_OBJECT = 8,
    CODE_STR = 11,
    CODE_ARRAY = 14,
};

/* The arguments of a call, and its result. */
typedef struct packed_call {
    const char *name;
    const MXNetValue *value;
    const int *code;
    int count;
    MXNetValue result;
    int result_code;
} packed_call;

static int wrong(const packed_call *call, int i, const char *expected)
{
    return mxl_error("%s: argument %d has type code %d, %s was expected", call->name, i,
                     call->code[i], expected);
}

static int need(const packed_call *call, int count)
{
    if (call->count < count)
        return mxl_error("%s: takes %d arguments, got %d", call->name, count, call->count);
    return 0;
}

static int give_object(packed_call *call, MXNetObjectHandle object)
{
    call->result.v_handle = object;
    call->result_code = CODE_OBJECT;
    return object != NULL ? 0 : -1;
}

/* ---- arguments as the text of parameters ---- */

/* A list of numbers, or one number. */
static int list_text(const packed_call *call, int i, mxl_str *text)
{
    const packed_object *object;
    int status;

    if (call->code[i] == CODE_INT) {
        mxl_str_addf(text, "(%lld,)", (long long)call->value[i].v_int64);
        return 0;
    }
    if (call->code[i] != CODE_OBJECT)
        return wrong(call, i, "a number or an object");
    object = packed_pin(call->value[i].v_handle);
    if (object == NULL)
        return mxl_error_prefix(call->name);
    status = packed_text(object, call->name, text);
    packed_unpin(call->value[i].v_handle);
    return status;
}

/* Two lists of numbers, from a list of two. */
static int pair_text(const packed_call *call, int i, mxl_str *first, mxl_str *second)
{
    const packed_object *object;
    int status = -1;

    if (call->code[i] != CODE_OBJECT)
        return wrong(call, i, "a number or an object");
    object = packed_pin(call->value[i].v_handle);
    if (object == NULL)
        return mxl_error_prefix(call->name);
    if (object->count != 2)
        (void)mxl_error("%s: argument %d has %d lists, 2 were expected", call->name, i,
                        object->count);
    else if (packed_text(object->item[0], call->name, first) == 0)
        status = packed_text(object->item[1], call->name, second);
    packed_unpin(call->value[i].v_handle);
    return status;
}

/* A text that may be left out (NULL). */
static int optional_text(const packed_call *call, int i, const char **text)
{
    *text = call->code[i] == CODE_STR ? call->value[i].v_str : NULL;
    if (call->code[i] == CODE_STR || call->code[i] == CODE_NULL)
        return 0;
    return wrong(call, i, "a text");
}

/* Runs an operator with one output. */
static int invoke(packed_call *call, const char *op, int inputs, int params, const char **keys,
                  const char **values)
{
    NDArrayHandle in[2], *out = NULL;
    OpHandle handle;
    int outputs = 0;

    for (int i = 0; i < inputs; i++)
        in[i] = call->value[i].v_handle;
    if (NNGetOpHandle(op, &handle) != 0 ||
        MXImperativeInvoke(handle, inputs, in, &outputs, &out, params, keys, values) != 0)
        return -1;
    call->result.v_handle = out[0];
    call->result_code = CODE_ARRAY;
    return 0;
}

/* ---- the functions ---- */

static int nothing(packed_call *call)
{
    call->result_code = CODE_NULL;
    return 0;
}

static int integer(packed_call *call)
{
    if (need(call, 1) != 0)
        return -1;
    if (call->code[0] != CODE_INT)
        return wrong(call, 0, "an integer");
    return give_object(call, packed_number(call->value[0].v_int64));
}

static int list(packed_call *call)
{
    for (int i = 0; i < call->count; i++) {
        if (call->code[i] != CODE_OBJECT)
            return wrong(call, i, "an object");
    }
    return give_object(call, packed_list(call->count, call->value));
}

/* zeros(shape, dtype or nothing, context or nothing) */
static int zeros(packed_call *call)
{
    static const char *const names[] = {"shape", "dtype", "ctx"};
    const char *keys[3], *values[3], *text;
    int params = 1, status;
    mxl_str shape = {0};

    if (need(call, 3) != 0)
        return -1;
    for (int i = 1; i < 3; i++) {
        if (optional_text(call, i, &text) != 0)
            return -1;
        keys[params] = names[i];
        values[params] = text;
        params += text != NULL;
    }
    status = list_text(call, 0, &shape);
    if (status == 0 && shape.failed)
        status = mxl_error_memory(shape.capacity);
    keys[0] = names[0];
    values[0] = shape.text;
    if (status == 0)
        status = invoke(call, "_npi_zeros", 0, params, keys, values);
    mxl_str_clear(&shape);
    return status;
}

/* tensordot(a, b, number of axes), or tensordot(a, b, [axes of a, axes of b]) */
static int tensordot(packed_call *call)
{
    const char *keys[] = {"a_axes_summed", "b_axes_summed"}, *values[2];
    mxl_str text[2] = {{0}, {0}};
    int status;

    if (need(call, 3) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        if (call->code[i] != CODE_ARRAY)
            return wrong(call, i, "an array");
    }
    if (call->code[2] == CODE_INT) {
        mxl_str_addf(&text[0], "%lld", (long long)call->value[2].v_int64);
        status = 0;
    } else {
        status = pair_text(call, 2, &text[0], &text[1]);
    }
    for (int i = 0; i < 2 && status == 0; i++) {
        values[i] = text[i].text;
        if (text[i].failed)
            status = mxl_error_memory(text[i].capacity);
    }
    if (status == 0 && call->code[2] == CODE_INT) {
        keys[0] = "axes";
        status = invoke(call, "_npi_tensordot_int_axes", 2, 1, keys, values);
    } else if (status == 0) {
        status = invoke(call, "_npi_tensordot", 2, 2, keys, values);
    }
    for (int i = 0; i < 2; i++)
        mxl_str_clear(&text[i]);
    return status;
}

/* A handle is the address of a row, which is never odd as other handles are. */
typedef struct packed_function {
    const char *name;
    int (*run)(packed_call *call);
} packed_function;

static const packed_function functions[] = {
    {"_npi.tensordot", tensordot}, {"_npi.zeros", zeros}, {"_nop", nothing}, {"_ADT", list},
    {"_Integer", integer},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

static const packed_function *find(const void *handle, const char *caller)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        if (handle == &functions[i])
            return &functions[i];
    }
    (void)mxl_error("%s: %p is not a packed function", caller, handle);
    return NULL;
}

int MXNetFuncListGlobalNames(int *out_size, const char ***out_array)
{
    const char **names;

    API_NEED(out_size);
    API_NEED(out_array);
    names = api_buffer_get(API_BUFFER_STRINGS, sizeof(*names) * FUNCTIONS);
    if (names == NULL)
        return mxl_error_prefix(__func__);
    for (int i = 0; i < FUNCTIONS; i++)
        names[i] = functions[i].name;
    *out_size = FUNCTIONS;
    *out_array = names;
    return 0;
}

int MXNetFuncGetGlobal(const char *name, MXNetFunctionHandle *out)
{
    API_NEED(name);
    API_NEED(out);
    *out = NULL;
    for (int i = 0; i < FUNCTIONS; i++) {
        if (strcmp(functions[i].name, name) == 0)
            *out = (MXNetFunctionHandle)(uintptr_t)&functions[i];
    }
    return 0;
}

int MXNetFuncCall(MXNetFunctionHandle func, MXNetValue *arg_values, int *type_codes, int num_args,
                  MXNetValue *ret_val, int *ret_type_code)
{
    const packed_function *function = find(func, __func__);
    packed_call call = {.value = arg_values, .code = type_codes, .count = num_args};

    API_NEED(ret_val);
    API_NEED(ret_type_code);
    if (function == NULL)
        return -1;
    if (num_args < 0 || (num_args > 0 && (arg_values == NULL || type_codes == NULL)))
        return mxl_error("%s: %d arguments are announced, and their list is NULL", __func__,
                         num_args);
    call.name = function->name;
    if (function->run(&call) != 0)
        return mxl_error_prefix(__func__);
    *ret_val = call.result;
    *ret_type_code = call.result_code;
    return 0;
}

int MXNetFuncFree(MXNetFunctionHandle func)
{
    return func == NULL || find(func, __func__) != NULL ? 0 : -1;
}
