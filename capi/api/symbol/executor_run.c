/* Running executors, and looking into them. */
#include "api/symbol/bind.h"
#include "base/memory/mem.h"
#include "symbol/fast.h"

/* ---- forward and backward ---- */

static void call_monitor(void *payload, const mxl_graph_node *node, const char *name,
                         mxl_array *array)
{
    const mxl_executor *e = payload;
    NDArrayHandle handle;

    (void)node;
    mxl_array_retain(array);
    handle = api_handle(array);
    if (handle != NULL)
        ((ExecutorMonitorCallback)e->monitor)(name, handle, e->monitor_payload);
}

static mxl_mode mode_of(bool training)
{
    mxl_mode mode = api_mode();

    mode.training = training;
    mode.record = false;
    return mode;
}

/* The monitor of the executor's callback in *room; NULL: it has none. */
static const mxl_monitor *monitor_of(mxl_executor *e, mxl_monitor *room)
{
    *room = (mxl_monitor){
        .call = call_monitor, .payload = e, .operands = e->monitor_inputs, .variables = true};
    return e->monitor != NULL ? room : NULL;
}

int MXExecutorForward(ExecutorHandle handle, int is_train)
{
    mxl_executor *e = api_executor_pin(handle, __func__);
    mxl_monitor monitor;
    int status;

    if (e == NULL)
        return -1;
    status = mxl_executor_forward(e, mode_of(is_train != 0), monitor_of(e, &monitor));
    api_executor_unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

static int backward(mxl_executor *e, const char *function, uint32_t len, NDArrayHandle *head_grads,
                    bool training)
{
    mxl_monitor room;
    const mxl_monitor *monitor = monitor_of(e, &room);
    mxl_array **grads;
    int status = -1;

    if (len == 0)
        return mxl_executor_backward(e, NULL, mode_of(training), monitor);
    if ((int64_t)len > e->outputs)
        len = (uint32_t)e->outputs; /* 1.9.1 ignores the rest */
    grads = mxl_alloc_zero((size_t)e->outputs * sizeof(*grads));
    if (grads == NULL)
        return -1;
    if (api_pin_many(function, "head gradient", (int)len, head_grads, grads, true) == 0) {
        status = mxl_executor_backward(e, grads, mode_of(training), monitor);
        api_unpin_many((int)len, head_grads);
    }
    mxl_free(grads, (size_t)e->outputs * sizeof(*grads));
    return status;
}

int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads,
                         int is_train)
{
    mxl_executor *e;
    int status;

    if (len > 0)
        API_NEED(head_grads);
    e = api_executor_pin(handle, __func__);
    if (e == NULL)
        return -1;
    status = backward(e, __func__, len, head_grads, is_train != 0);
    api_executor_unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle *head_grads)
{
    return MXExecutorBackwardEx(handle, len, head_grads, 1);
}

int MXExecutorOutputs(ExecutorHandle handle, uint32_t *out_size, NDArrayHandle **out)
{
    NDArrayHandle *handles;
    mxl_executor *e;
    int status = -1;

    API_NEED(out_size);
    API_NEED(out);
    e = api_executor_pin(handle, __func__);
    if (e == NULL)
        return -1;
    handles = api_buffer_get(API_BUFFER_HANDLES, ((size_t)e->outputs + 1) * sizeof(*handles));
    if (handles != NULL && api_handles(e->output, (size_t)e->outputs, handles) == 0) {
        *out = handles;
        *out_size = (uint32_t)e->outputs;
        status = 0;
    }
    api_executor_unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}

/* ---- looking into it ---- */

int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                   void *callback_handle, bool monitor_all)
{
    mxl_executor *e = api_executor_pin(handle, __func__);

    if (e == NULL)
        return -1;
    e->monitor = (void (*)(void))callback;
    e->monitor_payload = callback_handle;
    e->monitor_inputs = monitor_all;
    api_executor_unpin(handle);
    return 0;
}

int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                 void *callback_handle)
{
    return MXExecutorSetMonitorCallbackEX(handle, callback, callback_handle, false);
}

int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out)
{
    mxl_executor *e;
    mxl_symbol *copy;

    API_NEED(out);
    e = api_executor_pin(handle, __func__);
    if (e == NULL)
        return -1;
    copy = mxl_symbol_copy(mxl_fast_symbol(&e->program));
    api_executor_unpin(handle);
    return api_symbol_give(copy, out, __func__);
}

int MXExecutorPrint(ExecutorHandle handle, const char **out_str)
{
    mxl_executor *e;
    mxl_str text = {0};
    int status;

    API_NEED(out_str);
    e = api_executor_pin(handle, __func__);
    if (e == NULL)
        return -1;
    status = api_symbol_print(e->program.graph.symbol, &text);
    api_executor_unpin(handle);
    if (status != 0) {
        mxl_str_clear(&text);
        return mxl_error_prefix(__func__);
    }
    /* the lines that Module looks for; memory comes from a pool */
    mxl_str_add(&text, "Total 0 MB allocated\nTotal 0 TempSpace resource requested\n");
    *out_str = api_text_lend(&text, __func__);
    return *out_str != NULL ? 0 : -1;
}
