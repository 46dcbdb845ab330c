/* Executors over arrays of the caller, and their life. */
#include "api/symbol/bind.h"
#include "base/memory/mem.h"

int api_executor_give(mxl_executor *e, ExecutorHandle *out, const char *function)
{
    uint64_t handle = e != NULL ? mxl_handle_new(MXL_KIND_EXECUTOR, &e->ref) : 0;

    if (handle == 0) {
        if (e != NULL)
            mxl_ref_release(&e->ref);
        return mxl_error_prefix(function);
    }
    *out = (ExecutorHandle)(uintptr_t)handle;
    return 0;
}

int MXExecutorFree(ExecutorHandle handle)
{
    return mxl_handle_free(MXL_KIND_EXECUTOR, api_number(handle)) == 0 ? 0
                                                                       : mxl_error_prefix(__func__);
}

/* ---- bind ---- */

static mxl_grad_req req_of(uint32_t type)
{
    return type == 0 ? MXL_GRAD_NULL : type == 3 ? MXL_GRAD_ADD : MXL_GRAD_WRITE;
}

int api_places(const char *function, int dev_type, int dev_id, uint32_t count, const char **groups,
               const int *types, const int *ids, mxl_places *places)
{
    if (mxl_device_of(dev_type, dev_id, &places->own) != 0)
        return mxl_error_prefix(function);
    if (count > 0 && (groups == NULL || types == NULL || ids == NULL))
        return mxl_error("%s: %u groups have devices, and a list of them is NULL", function, count);
    for (uint32_t i = 0; i < count; i++) {
        if (groups[i] == NULL)
            return mxl_error("%s: the name of group %u is NULL", function, i);
    }
    places->count = count;
    places->group = groups;
    places->types = types;
    places->ids = ids;
    return 0;
}

/* What is bound: the arguments of the functions. */
typedef struct binding {
    const char *function;
    mxl_places places;
    uint32_t len, states_len;
    NDArrayHandle *args, *grads, *states;
    const uint32_t *reqs;
} binding;

/* Arguments and their gradients are on the executor's own device, unless groups have theirs. */
static int check_place(const binding *b, const char *name, const char *what, const mxl_array *array)
{
    mxl_device own = b->places.own;

    if (b->places.count > 0 || array->device == own)
        return 0;
    return mxl_error("%s%s is on %s, and the executor on %s: without devices of groups (group2ctx) "
                     "they must be the same",
                     what, name, MXL_DEVICE_TEXT(array->device), MXL_DEVICE_TEXT(own));
}

/* Puts in one argument with its gradient. */
static int bind_arg(mxl_executor *e, int i, const binding *b)
{
    const char *name = mxl_executor_variable(e, i, false)->name;
    uint32_t req = b->reqs != NULL ? b->reqs[i] : 0;
    NDArrayHandle grad = b->grads != NULL ? b->grads[i] : NULL;
    mxl_array *array, *gradient = NULL;
    int status = -1;

    if (req > 3)
        return mxl_error("gradient request %u of argument %d is not 0 (null), 1 (write), 2 (write "
                         "in place) or 3 (add)",
                         req, i);
    array = api_pin_any(b->args[i], name);
    if (array == NULL)
        return -1;
    if (grad != NULL && req != 0)
        gradient = api_pin_any(grad, name);
    if ((grad == NULL || req == 0 || gradient != NULL) && check_place(b, name, "", array) == 0 &&
        (gradient == NULL || check_place(b, name, "the gradient of ", gradient) == 0))
        status = mxl_executor_set_arg(e, i, array, gradient, req_of(req));
    if (gradient != NULL)
        api_unpin(grad);
    api_unpin(b->args[i]);
    return status;
}

static int bind_state(mxl_executor *e, int i, NDArrayHandle state)
{
    mxl_array *array = api_pin_any(state, mxl_executor_variable(e, i, true)->name);

    if (array == NULL)
        return -1;
    (void)mxl_executor_set_state(e, i, array);
    api_unpin(state);
    return 0;
}

static mxl_executor *bind_all(const mxl_symbol *symbol, const binding *b)
{
    mxl_executor *e = mxl_executor_new(symbol);
    int status = e == NULL ? -1 : 0;

    if (status == 0 && ((int64_t)b->len != e->args || (int64_t)b->states_len != e->aux))
        status = mxl_error("the symbol has %d arguments and %d auxiliary states, %u and %u were "
                           "given",
                           e->args, e->aux, b->len, b->states_len);
    for (uint32_t i = 0; i < b->len && status == 0; i++)
        status = bind_arg(e, (int)i, b);
    for (uint32_t i = 0; i < b->states_len && status == 0; i++)
        status = bind_state(e, (int)i, b->states[i]);
    if (status == 0)
        status = mxl_executor_finish(e, &b->places, api_mode().legacy_shape);
    if (status != 0 && e != NULL) {
        mxl_ref_release(&e->ref);
        return NULL;
    }
    return e;
}

static int bind(const binding *b, SymbolHandle handle, ExecutorHandle *out)
{
    mxl_symbol *symbol;
    mxl_executor *e;

    if (out == NULL)
        return api_null(b->function, "out");
    if ((b->len > 0 && b->args == NULL) || (b->states_len > 0 && b->states == NULL))
        return api_null(b->function, b->len > 0 && b->args == NULL ? "in_args" : "aux_states");
    symbol = api_symbol_pin(handle, b->function);
    if (symbol == NULL)
        return -1;
    e = bind_all(symbol, b);
    api_symbol_unpin(handle);
    return api_executor_give(e, out, b->function);
}

/* The parameters of the three forms that are named alike. */
#define BINDING                                                                                    \
    {.function = __func__,                                                                         \
     .len = len,                                                                                   \
     .args = in_args,                                                                              \
     .grads = arg_grad_store,                                                                      \
     .reqs = grad_req_type,                                                                        \
     .states_len = aux_states_len,                                                                 \
     .states = aux_states}

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                   NDArrayHandle *in_args, NDArrayHandle *arg_grad_store, uint32_t *grad_req_type,
                   uint32_t aux_states_len, NDArrayHandle *aux_states, ExecutorHandle *out)
{
    binding b = BINDING;

    if (api_places(__func__, dev_type, dev_id, 0, NULL, NULL, NULL, &b.places) != 0)
        return -1;
    return bind(&b, symbol_handle, out);
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                    const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                    uint32_t len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                    uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle *aux_states,
                    ExecutorHandle *out)
{
    binding b = BINDING;

    if (api_places(__func__, dev_type, dev_id, num_map_keys, map_keys, map_dev_types, map_dev_ids,
                   &b.places) != 0)
        return -1;
    return bind(&b, symbol_handle, out);
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                     const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                     uint32_t len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                     uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle *aux_states,
                     ExecutorHandle shared_exec, ExecutorHandle *out)
{
    binding b = BINDING;

    (void)shared_exec; /* memory comes from one pool anyway */
    if (api_places(__func__, dev_type, dev_id, num_map_keys, map_keys, map_dev_types, map_dev_ids,
                   &b.places) != 0)
        return -1;
    return bind(&b, symbol_handle, out);
}

/* ---- lending the arrays ---- */

int api_executor_lend(const mxl_executor *e, uint32_t *num_in_args, NDArrayHandle **in_args,
                      NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                      NDArrayHandle **aux_states)
{
    size_t args = (size_t)e->args, aux = (size_t)e->aux;
    NDArrayHandle *handles =
        api_buffer_get(API_BUFFER_HANDLES, (2 * args + aux + 1) * sizeof(*handles));

    if (handles == NULL || api_handles(e->arg, args, handles) != 0)
        return -1;
    if (api_handles(e->grad, args, handles + args) != 0) {
        api_handles_free(handles, args);
        return -1;
    }
    if (api_handles(e->state, aux, handles + 2 * args) != 0) {
        api_handles_free(handles, 2 * args);
        return -1;
    }
    *in_args = handles;
    *arg_grads = handles + args;
    *aux_states = handles + 2 * args;
    *num_in_args = (uint32_t)args;
    *num_aux_states = (uint32_t)aux;
    return 0;
}
