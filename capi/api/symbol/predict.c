/* MXNet's interface for prediction alone: a symbol's JSON, the bytes of a .params file, shapes of
 * the inputs. A predictor is an executor whose arguments have no gradients. */
#include <string.h>

#include "api/symbol/bind.h"
#include "array/copy.h"
#include "array/failure.h"
#include "array/file.h"
#include "base/memory/mem.h"
#include "base/text/near.h"
#include "symbol/json.h"

typedef struct predictor {
    mxl_ref ref;
    mxl_executor *executor; /* kept */
    PredMonitorCallback monitor;
    void *monitor_payload;
    bool monitor_inputs;
} predictor;

static void predictor_free(mxl_ref *ref)
{
    predictor *p = (predictor *)ref;

    mxl_ref_release(&p->executor->ref);
    mxl_free(p, sizeof(*p));
}

/* Takes over the executor; -1 with the error set, also if it is NULL. */
static int give(mxl_executor *e, PredictorHandle *out, const char *function)
{
    predictor *p = e != NULL ? mxl_alloc_zero(sizeof(*p)) : NULL;
    uint64_t handle;

    if (p == NULL) {
        if (e != NULL)
            mxl_ref_release(&e->ref);
        return mxl_error_prefix(function);
    }
    mxl_ref_init(&p->ref, predictor_free);
    p->executor = e;
    handle = mxl_handle_new(MXL_KIND_PREDICTOR, &p->ref);
    if (handle == 0) {
        mxl_ref_release(&p->ref);
        return mxl_error_prefix(function);
    }
    *out = (PredictorHandle)(uintptr_t)handle;
    return 0;
}

static predictor *pin(const void *handle, const char *function)
{
    predictor *p = (predictor *)mxl_handle_pin(MXL_KIND_PREDICTOR, api_number(handle));

    if (p == NULL)
        (void)mxl_error_prefix(function);
    return p;
}

static void unpin(const void *handle)
{
    mxl_handle_unpin(api_number(handle));
}

/* ---- making one ---- */

/* The outputs of these names, of all nodes; NULL with the error set. A node's name stands for its
 * output. */
static mxl_symbol *choose_outputs(const mxl_symbol *symbol, uint32_t count, const char **keys)
{
    mxl_symbol *all = mxl_symbol_internals(symbol), *chosen = NULL;

    if (all != NULL)
        chosen = mxl_symbol_new((int)count);
    for (uint32_t k = 0; chosen != NULL && k < count; k++) {
        int at = -1;

        for (int i = 0; i < all->count && at < 0; i++) {
            mxl_str name = {0};

            mxl_entry_name(&all->entry[i], &name);
            if (!name.failed && name.text != NULL && keys[k] != NULL &&
                (strcmp(name.text, keys[k]) == 0 || strcmp(all->entry[i].node->name, keys[k]) == 0))
                at = i;
            mxl_str_clear(&name);
        }
        if (at < 0) {
            mxl_symbol_release(chosen);
            chosen = mxl_error_null("no node has an output %.200s",
                                    keys[k] != NULL ? keys[k] : "(NULL)");
        } else {
            mxl_entry_set(&chosen->entry[k], all->entry[at]);
        }
    }
    mxl_symbol_release(all);
    return chosen;
}

static mxl_symbol *read_symbol(const char *json, uint32_t outputs, const char **keys)
{
    mxl_symbol *symbol = mxl_symbol_read(json, mxl_state_get()->numpy_shape), *chosen;

    if (symbol == NULL || outputs == 0)
        return symbol;
    chosen = choose_outputs(symbol, outputs, keys);
    mxl_symbol_release(symbol);
    return chosen;
}

/* A name of a .params file without "arg:" or "aux:". */
static const char *plain_name(const char *name)
{
    return strncmp(name, "arg:", 4) == 0 || strncmp(name, "aux:", 4) == 0 ? name + 4 : name;
}

/* The executor's array of that name, or NULL. */
static mxl_array *find_array(const mxl_executor *e, const char *name)
{
    for (int i = 0; i < e->args; i++) {
        if (strcmp(mxl_executor_variable(e, i, false)->name, name) == 0)
            return e->arg[i];
    }
    for (int i = 0; i < e->aux; i++) {
        if (strcmp(mxl_executor_variable(e, i, true)->name, name) == 0)
            return e->state[i];
    }
    return NULL;
}

static int put_params(const mxl_executor *e, const mxl_file_list *params)
{
    const char *name = params->names;

    for (int64_t i = 0; i < params->count; i++, name += strlen(name) + 1) {
        mxl_array *to = find_array(e, plain_name(name)), *from = params->arrays[i];

        if (to == NULL)
            continue;
        if (!mxl_array_same_shape(to, from))
            return mxl_error("%s has shape %s in the file, %s in the graph", plain_name(name),
                             MXL_SHAPE_OF(from), MXL_SHAPE_OF(to));
        if (mxl_array_copy_into(to, from) != 0)
            return -1;
    }
    return 0;
}

/* What is asked for, as an api_wish reads it. */
typedef struct inputs {
    uint32_t count;
    const char **keys;
    const uint32_t *index, *sizes;
    uint32_t dtypes;
    const char **dtype_names;
    const int *dtype_data;
} inputs;

static api_wish wish_of(const char *function, const inputs *in)
{
    return (api_wish){.function = function,
                      .shapes = in->count,
                      .shape_names = in->keys,
                      .shape_data = in->sizes,
                      .shape_index = in->index,
                      .size_at = api_size_u32,
                      .dtypes = in->dtypes,
                      .dtype_names = in->dtype_names,
                      .dtype_data = in->dtype_data};
}

static int check_inputs(const char *function, const inputs *in, const void *out)
{
    if (out == NULL)
        return api_null(function, "out");
    if (in->count > 0 && (in->keys == NULL || in->index == NULL || in->sizes == NULL))
        return mxl_error("%s: the names or shapes of the inputs are NULL", function);
    for (uint32_t i = 0; i < in->count; i++) {
        if (in->keys[i] == NULL)
            return mxl_error("%s: the name of input %u is NULL", function, i);
    }
    if (in->dtypes > 0 && (in->dtype_names == NULL || in->dtype_data == NULL))
        return mxl_error("%s: the names or numbers of the dtypes are NULL", function);
    return 0;
}

static mxl_executor *make(const char *function, const char *json, const void *bytes, int size,
                          const inputs *in, uint32_t outputs, const char **output_keys)
{
    api_wish wish = wish_of(function, in);
    mxl_file_list params = {0};
    mxl_executor *e = NULL;
    mxl_symbol *symbol = read_symbol(json, outputs, output_keys);

    if (symbol == NULL)
        return NULL;
    if (bytes == NULL || mxl_file_parse(bytes, size > 0 ? (size_t)size : 0, false, &params) == 0)
        e = api_executor_make(&wish, symbol);
    if (e != NULL && params.count > 0 && params.names == NULL)
        (void)mxl_error("the parameters have no names");
    if (e != NULL && params.count > 0 && (params.names == NULL || put_params(e, &params) != 0)) {
        mxl_ref_release(&e->ref);
        e = NULL;
    }
    mxl_file_list_clear(&params);
    mxl_symbol_release(symbol);
    return e;
}

static int create(const char *function, const char *json, const void *bytes, int size, int dev_type,
                  const inputs *in, uint32_t outputs, const char **output_keys,
                  PredictorHandle *out)
{
    if (json == NULL)
        return api_null(function, "symbol_json_str");
    if (size > 0 && bytes == NULL)
        return api_null(function, "param_bytes");
    if (outputs > 0 && output_keys == NULL)
        return api_null(function, "output_keys");
    if (check_inputs(function, in, out) != 0 || api_check_device(function, dev_type) != 0)
        return -1;
    return give(make(function, json, bytes, size, in, outputs, output_keys), out, function);
}

int MXPredCreate(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                 int dev_id, uint32_t num_input_nodes, const char **input_keys,
                 const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                 PredictorHandle *out)
{
    const inputs in = {
        num_input_nodes, input_keys, input_shape_indptr, input_shape_data, 0, NULL, NULL};

    (void)dev_id;
    return create(__func__, symbol_json_str, param_bytes, param_size, dev_type, &in, 0, NULL, out);
}

int MXPredCreateEx(const char *symbol_json_str, const void *param_bytes, int param_size,
                   int dev_type, int dev_id, uint32_t num_input_nodes, const char **input_keys,
                   const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                   uint32_t num_provided_arg_dtypes, const char **provided_arg_dtype_names,
                   const int *provided_arg_dtypes, PredictorHandle *out)
{
    const inputs in = {num_input_nodes,         input_keys,
                       input_shape_indptr,      input_shape_data,
                       num_provided_arg_dtypes, provided_arg_dtype_names,
                       provided_arg_dtypes};

    (void)dev_id;
    return create(__func__, symbol_json_str, param_bytes, param_size, dev_type, &in, 0, NULL, out);
}

int MXPredCreatePartialOut(const char *symbol_json_str, const void *param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char **input_keys, const uint32_t *input_shape_indptr,
                           const uint32_t *input_shape_data, uint32_t num_output_nodes,
                           const char **output_keys, PredictorHandle *out)
{
    const inputs in = {
        num_input_nodes, input_keys, input_shape_indptr, input_shape_data, 0, NULL, NULL};

    (void)dev_id;
    return create(__func__, symbol_json_str, param_bytes, param_size, dev_type, &in,
                  num_output_nodes, output_keys, out);
}

/* The same executor with other inputs; arrays whose shape stays are shared. */
static mxl_executor *reshaped(const char *function, mxl_executor *from, const inputs *in)
{
    api_wish wish = wish_of(function, in);

    wish.from = from;
    wish.reshapes = wish.partial = wish.larger = true;
    return api_executor_make(&wish, from->program.graph.symbol);
}

/* Another predictor over the same parameters; its inputs are its own. */
static mxl_executor *sibling(const char *function, mxl_executor *from, const inputs *in)
{
    mxl_executor *e = reshaped(function, from, in);

    for (uint32_t i = 0; e != NULL && i < in->count; i++) {
        for (int k = 0; k < e->args; k++) {
            mxl_array *own;

            if (strcmp(mxl_executor_variable(e, k, false)->name, in->keys[i]) != 0)
                continue;
            own = mxl_array_new(e->arg[k]->dtype, e->arg[k]->ndim, e->arg[k]->shape);
            if (own == NULL || mxl_executor_set_arg(e, k, own, NULL, MXL_GRAD_NULL) != 0) {
                mxl_ref_release(&e->ref);
                mxl_array_release(own);
                return NULL;
            }
            mxl_array_release(own);
        }
    }
    if (e != NULL)
        mxl_executor_list_inputs(e);
    return e;
}

int MXPredCreateMultiThread(const char *symbol_json_str, const void *param_bytes, int param_size,
                            int dev_type, int dev_id, uint32_t num_input_nodes,
                            const char **input_keys, const uint32_t *input_shape_indptr,
                            const uint32_t *input_shape_data, int num_threads, PredictorHandle *out)
{
    const inputs in = {
        num_input_nodes, input_keys, input_shape_indptr, input_shape_data, 0, NULL, NULL};
    predictor *first;
    int made = 1;

    (void)dev_id;
    if (num_threads < 1)
        return mxl_error("%s: num_threads is %d; it must be 1 or more", __func__, num_threads);
    if (create(__func__, symbol_json_str, param_bytes, param_size, dev_type, &in, 0, NULL, out) !=
        0)
        return -1;
    first = pin(out[0], __func__);
    while (made < num_threads &&
           give(sibling(__func__, first->executor, &in), &out[made], __func__) == 0)
        made++;
    unpin(out[0]);
    if (made == num_threads)
        return 0;
    while (made-- > 0)
        (void)mxl_handle_free(MXL_KIND_PREDICTOR, api_number(out[made]));
    return -1;
}

int MXPredReshape(uint32_t num_input_nodes, const char **input_keys,
                  const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                  PredictorHandle handle, PredictorHandle *out)
{
    const inputs in = {
        num_input_nodes, input_keys, input_shape_indptr, input_shape_data, 0, NULL, NULL};
    predictor *p;
    mxl_executor *e;

    if (check_inputs(__func__, &in, out) != 0)
        return -1;
    p = pin(handle, __func__);
    if (p == NULL)
        return -1;
    e = reshaped(__func__, p->executor, &in);
    unpin(handle);
    return give(e, out, __func__);
}

int MXPredFree(PredictorHandle handle)
{
    return mxl_handle_free(MXL_KIND_PREDICTOR, api_number(handle)) == 0
               ? 0
               : mxl_error_prefix(__func__);
}

/* ---- running it ---- */

static int no_input(const mxl_executor *e, const char *key)
{
    mxl_near near;

    mxl_near_begin(&near, key);
    for (int i = 0; i < e->args; i++)
        mxl_near_offer(&near, mxl_executor_variable(e, i, false)->name);
    return mxl_error("there is no input %.200s%s", key, mxl_near_text(&near));
}

static int copy_in(const predictor *p, const char *key, const float *data, uint32_t size)
{
    mxl_array *to = find_array(p->executor, key);

    if (to == NULL)
        return no_input(p->executor, key);
    if (to->size != (int64_t)size)
        return mxl_error("input %.200s has shape %s, %u numbers were given", key, MXL_SHAPE_OF(to),
                         size);
    memcpy(mxl_array_write(to), data, size * mxl_dtype_size(to->dtype));
    return 0;
}

int MXPredSetInput(PredictorHandle handle, const char *key, const float *data, uint32_t size)
{
    predictor *p;
    int status;

    API_NEED(key);
    API_NEED(data);
    p = pin(handle, __func__);
    if (p == NULL)
        return -1;
    status = copy_in(p, key, data, size);
    unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

static void call_monitor(void *payload, const mxl_graph_node *node, const char *name,
                         mxl_array *array)
{
    const predictor *p = payload;
    NDArrayHandle handle;

    (void)node;
    mxl_array_retain(array);
    handle = api_handle(array);
    if (handle != NULL)
        p->monitor(name, handle, p->monitor_payload);
}

static int forward(predictor *p)
{
    mxl_monitor monitor = {
        .call = call_monitor, .payload = p, .operands = p->monitor_inputs, .variables = true};
    mxl_mode mode = api_mode();

    mode.record = mode.training = false;
    return mxl_executor_forward(p->executor, mode, p->monitor != NULL ? &monitor : NULL);
}

int MXPredForward(PredictorHandle handle)
{
    predictor *p = pin(handle, __func__);
    int status;

    if (p == NULL)
        return -1;
    status = forward(p);
    unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

int MXPredPartialForward(PredictorHandle handle, int step, int *step_left)
{
    predictor *p;
    int left, status = 0;

    API_NEED(step_left);
    p = pin(handle, __func__);
    if (p == NULL)
        return -1;
    left = p->executor->program.graph.walk.count - step - 1;
    if (step < 0)
        status = mxl_error("step %d is negative", step);
    else if (left <= 0) /* the last one runs them all */
        status = forward(p);
    if (status == 0)
        *step_left = left > 0 ? left : 0;
    unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                             void *callback_handle, bool monitor_all)
{
    predictor *p = pin(handle, __func__);

    if (p == NULL)
        return -1;
    p->monitor = callback;
    p->monitor_payload = callback_handle;
    p->monitor_inputs = monitor_all;
    unpin(handle);
    return 0;
}

/* ---- results ---- */

/* An output with a shape; NULL with the error set. */
static mxl_array *output_at(const predictor *p, uint32_t index)
{
    if ((int64_t)index >= p->executor->outputs)
        return mxl_error_null("output %u of %d", index, p->executor->outputs);
    return p->executor->output[index]->storage != NULL
               ? p->executor->output[index]
               : mxl_error_null("output %u has no shape before a forward", index);
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t **shape_data,
                         uint32_t *shape_ndim)
{
    const mxl_array *array;
    uint32_t *sizes = NULL;
    predictor *p;

    API_NEED(shape_data);
    API_NEED(shape_ndim);
    p = pin(handle, __func__);
    if (p == NULL)
        return -1;
    array = output_at(p, index);
    if (array != NULL)
        sizes = api_buffer_get(API_BUFFER_SHAPE_U32, ((size_t)array->ndim + 1) * sizeof(*sizes));
    for (int i = 0; sizes != NULL && i < array->ndim; i++)
        sizes[i] = (uint32_t)array->shape[i];
    if (sizes != NULL) {
        *shape_data = sizes;
        *shape_ndim = (uint32_t)array->ndim;
    }
    unpin(handle);
    return sizes != NULL ? 0 : mxl_error_prefix(__func__);
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int *out_dtype)
{
    const mxl_array *array;
    predictor *p;

    API_NEED(out_dtype);
    p = pin(handle, __func__);
    if (p == NULL)
        return -1;
    array = output_at(p, out_index);
    if (array != NULL)
        *out_dtype = array->dtype;
    unpin(handle);
    return array != NULL ? 0 : mxl_error_prefix(__func__);
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float *data, uint32_t size)
{
    const mxl_array *array;
    predictor *p;
    int status = -1;

    API_NEED(data);
    p = pin(handle, __func__);
    if (p == NULL)
        return -1;
    array = output_at(p, index);
    if (array != NULL && array->size != (int64_t)size)
        (void)mxl_error("output %u has shape %s, %u numbers were asked for", index,
                        MXL_SHAPE_OF(array), size);
    else if (array != NULL && mxl_failure_report(array) == 0) {
        memcpy(data, mxl_array_read(array), size * mxl_dtype_size(array->dtype));
        status = 0;
    }
    unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}
