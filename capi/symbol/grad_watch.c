/* A watch is a hook on an array: it takes the gradient and changes nothing. */
#include "symbol/grad_watch.h"

#include "base/handle.h"
#include "base/memory/mem.h"
#include "engine/tape/hook_store.h"
#include "engine/tape/tape.h"

static void watch_free(mxl_ref *ref)
{
    mxl_grad_watch *watch = (mxl_grad_watch *)ref;

    mxl_array_release(watch->grad);
    mxl_free(watch, sizeof(*watch));
}

static void drop_payload(void *payload)
{
    mxl_grad_watch_release(payload);
}

/* The hook: takes the gradient, whose handle is its own. */
static int keep(void *payload, int count, void *const *grads, void **results)
{
    mxl_grad_watch *watch = payload;
    uint64_t handle = (uint64_t)(uintptr_t)grads[0];
    mxl_array *grad;

    (void)count, (void)results;
    if (handle == 0)
        return 0;
    grad = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, handle);
    if (grad != NULL) {
        mxl_array_retain(grad);
        mxl_handle_unpin(handle);
        mxl_array_release(watch->grad);
        watch->grad = grad;
    }
    return mxl_handle_free(MXL_KIND_ARRAY, handle);
}

static int add_hook(mxl_edge edge, mxl_grad_watch *watch)
{
    mxl_hook_store *store = mxl_hook_store_make(mxl_edge_hooks(edge));
    mxl_hook *hook = store != NULL ? mxl_hook_new(MXL_HOOK_ARRAY) : NULL;
    int status;

    if (hook == NULL)
        return -1;
    hook->call.grad = keep;
    hook->last = true;
    hook->output = mxl_edge_slot(edge);
    hook->payload = watch;
    hook->release = drop_payload;
    mxl_ref_retain(&watch->ref);
    status = mxl_hook_store_add(store, hook);
    if (status != 0)
        mxl_ref_release(&watch->ref);
    mxl_ref_release(&hook->ref);
    return status;
}

int mxl_grad_watch_set(mxl_grad_watch **watch, mxl_array *array)
{
    mxl_edge edge = mxl_array_edge(array);
    mxl_grad_watch *made;
    int status = -1;

    mxl_grad_watch_release(*watch);
    *watch = NULL;
    if (edge.target == NULL)
        return 0;
    made = mxl_alloc_zero(sizeof(*made));
    if (made != NULL) {
        mxl_ref_init(&made->ref, watch_free);
        status = add_hook(edge, made);
        if (status == 0)
            *watch = made;
        else
            mxl_grad_watch_release(made);
    }
    mxl_ref_release(edge.target);
    return status;
}
