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

/* Puts in one argument with its gradient. */
static int bind_arg(mxl_executor *e, int i, NDArrayHandle arg, NDArrayHandle grad, uint32_t req)
{
    mxl_array *array, *gradient = NULL;
    int status = -1;

    if (req > 3)
        return mxl_error("gradient request %u of argument %d is not 0 (null), 1 (write), 2 (write "
                         "in place) or 3 (add)",
                         req, i);
    array = api_pin_defined(arg, mxl_executor_variable(e, i, false)->name);
    if (array == NULL)
        return -1;
    if (grad != NULL && req != 0)
        gradient = api_pin_defined(grad, mxl_executor_variable(e, i, false)->name);
    if (grad == NULL || req == 0 || gradient != NULL)
        status = mxl_executor_set_arg(e, i, array, gradient, req_of(req));
    if (gradient != NULL)
        api_unpin(grad);
    api_unpin(arg);
    return status;
}

static int bind_state(mxl_executor *e, int i, NDArrayHandle state)
{
    mxl_array *array = api_pin_defined(state, mxl_executor_variable(e, i, true)->name);

    if (array == NULL)
        return -1;
    (void)mxl_executor_set_state(e, i, array);
    api_unpin(state);
    return 0;
}

static mxl_executor *bind_all(const mxl_symbol *symbol, uint32_t len, NDArrayHandle *in_args,
                              NDArrayHandle *grads, const uint32_t *reqs, uint32_t states_len,
                              NDArrayHandle *states)
{
    mxl_executor *e = mxl_executor_new(symbol);
    int status = e == NULL ? -1 : 0;

    if (status == 0 && ((int64_t)len != e->args || (int64_t)states_len != e->aux))
        status = mxl_error("the symbol has %d arguments and %d auxiliary states, %u and %u were "
                           "given",
                           e->args, e->aux, len, states_len);
    for (uint32_t i = 0; i < len && status == 0; i++)
        status = bind_arg(e, (int)i, in_args[i], grads != NULL ? grads[i] : NULL,
                          reqs != NULL ? reqs[i] : 0);
    for (uint32_t i = 0; i < states_len && status == 0; i++)
        status = bind_state(e, (int)i, states[i]);
    if (status == 0)
        status = mxl_executor_finish(e, api_mode().legacy_shape);
    if (status != 0 && e != NULL) {
        mxl_ref_release(&e->ref);
        return NULL;
    }
    return e;
}

static int bind(const char *function, SymbolHandle handle, int dev_type, uint32_t len,
                NDArrayHandle *in_args, NDArrayHandle *grads, const uint32_t *reqs,
                uint32_t states_len, NDArrayHandle *states, ExecutorHandle *out)
{
    mxl_symbol *symbol;
    mxl_executor *e;

    if (out == NULL)
        return api_null(function, "out");
    if ((len > 0 && in_args == NULL) || (states_len > 0 && states == NULL))
        return api_null(function, len > 0 && in_args == NULL ? "in_args" : "aux_states");
    if (api_check_device(function, dev_type) != 0)
        return -1;
    symbol = api_symbol_pin(handle, function);
    if (symbol == NULL)
        return -1;
    e = bind_all(symbol, len, in_args, grads, reqs, states_len, states);
    api_symbol_unpin(handle);
    return api_executor_give(e, out, function);
}

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                   NDArrayHandle *in_args, NDArrayHandle *arg_grad_store, uint32_t *grad_req_type,
                   uint32_t aux_states_len, NDArrayHandle *aux_states, ExecutorHandle *out)
{
    (void)dev_id;
    return bind(__func__, symbol_handle, dev_type, len, in_args, arg_grad_store, grad_req_type,
                aux_states_len, aux_states, out);
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                    const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                    uint32_t len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                    uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle *aux_states,
                    ExecutorHandle *out)
{
    (void)dev_id, (void)num_map_keys, (void)map_keys, (void)map_dev_types, (void)map_dev_ids;
    return bind(__func__, symbol_handle, dev_type, len, in_args, arg_grad_store, grad_req_type,
                aux_states_len, aux_states, out);
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys,
                     const char **map_keys, const int *map_dev_types, const int *map_dev_ids,
                     uint32_t len, NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                     uint32_t *grad_req_type, uint32_t aux_states_len, NDArrayHandle *aux_states,
                     ExecutorHandle shared_exec, ExecutorHandle *out)
{
    (void)dev_id, (void)num_map_keys, (void)map_keys, (void)map_dev_types, (void)map_dev_ids;
    (void)shared_exec; /* memory comes from one pool anyway */
    return bind(__func__, symbol_handle, dev_type, len, in_args, arg_grad_store, grad_req_type,
                aux_states_len, aux_states, out);
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
