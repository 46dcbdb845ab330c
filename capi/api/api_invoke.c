/* MXImperativeInvoke and MXImperativeInvokeEx: operators with parameters as text. */
#include "api/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call: the arguments of MXImperativeInvokeEx and the values derived from them. */
typedef struct invocation {
    const mxl_op *op;
    int num_inputs, num_outputs;
    mxl_array **in, **out;
    void *params;
    mxl_arena arena;
} invocation;

/* Checks the number of inputs that a caller may give as a parameter (num_args), and copies the
 * other parameters. If the operator reads that parameter, it is added in any case. */
static int count_inputs(invocation *v, int *count, const char **keys, const char **values)
{
    const char *key = v->op->key_var_num_args;
    int kept = 0;

    if (key == NULL)
        return 0;
    for (int i = 0; i < *count; i++) {
        char *end;

        if (strcmp(keys[i], key) != 0) {
            keys[kept] = keys[i];
            values[kept++] = values[i];
            continue;
        }
        if (strtol(values[i], &end, 10) != v->num_inputs || *end != '\0')
            return mxl_error("%s: parameter \"%s\" is %s, but %d inputs were given", v->op->name,
                             key, values[i], v->num_inputs);
    }
    if (mxl_param_find(v->op, key) != NULL) {
        char *text = mxl_arena_alloc(&v->arena, 16);

        if (text == NULL)
            return -1;
        snprintf(text, 16, "%d", v->num_inputs);
        keys[kept] = key;
        values[kept++] = text;
    }
    *count = kept;
    return 0;
}

static int parse(invocation *v, int count, const char **keys, const char **values)
{
    size_t bytes = ((size_t)count + 1) * sizeof(char *);
    const char **own_keys = mxl_arena_alloc(&v->arena, bytes);
    const char **own_values = own_keys == NULL ? NULL : mxl_arena_alloc(&v->arena, bytes);

    if (mxl_op_check_refused(v->op) != 0)
        return -1;
    v->params = own_values == NULL ? NULL : mxl_arena_alloc(&v->arena, v->op->params_size + 1);
    if (v->params == NULL)
        return -1;
    for (int i = 0; i < count; i++) {
        if (keys[i] == NULL || values[i] == NULL)
            return mxl_error("%s: parameter %d has a NULL name or value", v->op->name, i);
        own_keys[i] = keys[i];
        own_values[i] = values[i];
    }
    if (count_inputs(v, &count, own_keys, own_values) != 0)
        return -1;
    return mxl_params_parse(v->op, count, own_keys, own_values, v->params, &v->arena);
}

/* Returns new outputs through the thread's buffer. Releases the arrays in every case. */
static int return_handles(invocation *v, NDArrayHandle **outputs, int *num_outputs)
{
    size_t count = (size_t)v->num_outputs;
    NDArrayHandle *handles = api_buffer_get(API_BUFFER_HANDLES, count * sizeof(*handles));
    int made = 0;

    while (handles != NULL && made < v->num_outputs) {
        mxl_array *array = v->out[made];

        v->out[made] = NULL;
        handles[made] = api_handle(array);
        if (handles[made] == NULL)
            break;
        made++;
    }
    if (made == v->num_outputs) {
        *outputs = handles;
        *num_outputs = made;
        return 0;
    }
    api_handles_free(handles, (size_t)made);
    for (int i = 0; i < v->num_outputs; i++)
        mxl_array_release(v->out[i]);
    return -1;
}

/* Room for the storage types of outputs, taken before the operator runs, so that nothing can fail
 * after outputs are written. */
static int *stypes_room(int count)
{
    return api_buffer_get(API_BUFFER_STYPES, ((size_t)count + 1) * sizeof(int));
}

/* The same room again, which calls within a custom operator may have used, with the storage types
 * of the outputs. */
static int return_stypes(const invocation *v, const int **stypes)
{
    int *list = stypes_room(v->num_outputs);

    for (int i = 0; i < v->num_outputs && list != NULL; i++)
        list[i] = v->out[i]->stype;
    *stypes = list;
    return list == NULL ? -1 : 0;
}

static int run(invocation *v, NDArrayHandle *inputs, int *num_outputs, NDArrayHandle **outputs,
               const int **stypes)
{
    bool given = *num_outputs > 0 && *outputs != NULL;
    mxl_arity arity;
    int status;

    if (mxl_invoke_arity(v->op, v->params, v->num_inputs, &arity) != 0)
        return -1;
    v->num_outputs = given ? *num_outputs : arity.visible;
    if (v->num_outputs > arity.outputs)
        return mxl_error("%s: has %d output%s, %d were given", v->op->name, arity.visible,
                         arity.visible == 1 ? "" : "s", v->num_outputs);
    v->in = mxl_arena_alloc(&v->arena, ((size_t)v->num_inputs + 1) * sizeof(*v->in));
    v->out = mxl_arena_alloc(&v->arena, ((size_t)v->num_outputs + 1) * sizeof(*v->out));
    if (v->in == NULL || v->out == NULL)
        return -1;
    memset(v->out, 0, (size_t)v->num_outputs * sizeof(*v->out));
    if (stypes != NULL && stypes_room(v->num_outputs) == NULL)
        return -1;
    if (api_pin_many(v->op->name, "input", v->num_inputs, inputs, v->in, false) != 0)
        return -1;
    if (given &&
        api_pin_many(v->op->name, "output", v->num_outputs, *outputs, v->out, false) != 0) {
        api_unpin_many(v->num_inputs, inputs);
        return -1;
    }
    status = mxl_invoke(v->op, v->params, v->num_inputs, v->in, v->num_outputs, v->out, api_mode());
    if (status == 0 && stypes != NULL)
        status = return_stypes(v, stypes);
    api_unpin_many(v->num_inputs, inputs);
    if (given)
        api_unpin_many(v->num_outputs, *outputs);
    else if (status == 0)
        status = return_handles(v, outputs, num_outputs);
    return status;
}

static int invoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                  int *num_outputs, NDArrayHandle **outputs, int num_params,
                  const char **param_keys, const char **param_vals, const int **stypes)
{
    invocation v = {.op = api_op(creator), .num_inputs = num_inputs};
    int status;

    if (v.op == NULL)
        return mxl_error_prefix("MXImperativeInvoke");
    if (num_inputs < 0 || num_params < 0 || *num_outputs < 0)
        return mxl_error("%s: a negative number of inputs, outputs or parameters", v.op->name);
    if ((num_inputs > 0 && inputs == NULL) ||
        (num_params > 0 && (param_keys == NULL || param_vals == NULL)))
        return mxl_error("%s: inputs or parameters are announced, but their list is NULL",
                         v.op->name);
    mxl_arena_init(&v.arena);
    status = parse(&v, num_params, param_keys, param_vals);
    if (status == 0)
        status = run(&v, inputs, num_outputs, outputs, stypes);
    mxl_arena_clear(&v.arena);
    return status;
}

int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                       int *num_outputs, NDArrayHandle **outputs, int num_params,
                       const char **param_keys, const char **param_vals)
{
    API_NEED(num_outputs);
    API_NEED(outputs);
    return invoke(creator, num_inputs, inputs, num_outputs, outputs, num_params, param_keys,
                  param_vals, NULL);
}

int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                         int *num_outputs, NDArrayHandle **outputs, int num_params,
                         const char **param_keys, const char **param_vals, const int **out_stypes)
{
    API_NEED(num_outputs);
    API_NEED(outputs);
    API_NEED(out_stypes);
    return invoke(creator, num_inputs, inputs, num_outputs, outputs, num_params, param_keys,
                  param_vals, out_stypes);
}
