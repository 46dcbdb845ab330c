/* MXLNDArrayAddHook and similar functions: adding and removing hooks. */
#include "api/autograd/node.h"

#include "base/memory/mem.h"
#include "engine/tape/rebase.h"

/* Adds a new hook to its list (takes over the reference; NULL: out of memory). On success the
 * library owns the payload. The handle refers to the hook, which refers to no node or array. */
static int add(const char *function, mxl_hook_slot *edge, mxl_hook *hook, void *payload,
               MXLReleaseFunction release, MXLHookHandle *out)
{
    mxl_hook_store *store = hook == NULL ? NULL : mxl_hook_store_make(edge);
    uint64_t handle = 0;
    int status = store == NULL ? -1 : 0;

    if (status == 0 && out != NULL) {
        mxl_ref_retain(&hook->ref);
        handle = mxl_handle_new(MXL_KIND_HOOK, &hook->ref);
        if (handle == 0) {
            mxl_ref_release(&hook->ref);
            status = -1;
        }
    }
    if (status == 0) {
        /* Set before the hook can be called or released. */
        hook->payload = payload;
        hook->release = release;
        status = mxl_hook_store_add(store, hook);
        if (status != 0 && handle != 0)
            (void)mxl_handle_free(MXL_KIND_HOOK, handle);
        else if (status == 0 && out != NULL)
            *out = (MXLHookHandle)(uintptr_t)handle;
    }
    if (hook != NULL)
        mxl_ref_release(&hook->ref);
    return status == 0 ? 0 : mxl_error_prefix(function);
}

int MXLNDArrayAddHook(NDArrayHandle array, MXLGradHook hook, int last, void *payload,
                      MXLReleaseFunction release, MXLHookHandle *out)
{
    mxl_array *value;
    mxl_edge edge;
    mxl_hook *made;
    int status;

    API_NEED(hook);
    if (out != NULL)
        *out = NULL;
    value = api_pin_for(array, __func__);
    if (value == NULL)
        return -1;
    if (mxl_rebase_refresh(value) != 0) {
        api_unpin(array);
        return mxl_error_prefix(__func__);
    }
    edge = mxl_array_edge(value);
    api_unpin(array);
    if (edge.target == NULL)
        return mxl_error("%s: no gradient reaches the array: it is a constant", __func__);
    made = mxl_hook_new(MXL_HOOK_ARRAY);
    if (made != NULL) {
        made->call.grad = hook;
        made->last = last != 0;
        made->output = mxl_edge_slot(edge);
    }
    status = add(__func__, mxl_edge_hooks(edge), made, payload, release, out);
    mxl_ref_release(edge.target);
    return status;
}

int MXLNDArrayAddAccumulatedHook(NDArrayHandle variable, MXLVariableHook hook, void *payload,
                                 MXLReleaseFunction release, MXLHookHandle *out)
{
    mxl_array *value;
    mxl_leaf *leaf;
    int status = -1;

    API_NEED(hook);
    if (out != NULL)
        *out = NULL;
    value = api_pin_for(variable, __func__);
    if (value == NULL)
        return -1;
    leaf = mxl_array_leaf(value);
    if (leaf != NULL && mxl_leaf_wants(leaf)) {
        mxl_hook *made = mxl_hook_new(MXL_HOOK_ACCUMULATED);

        if (made != NULL)
            made->call.variable = hook;
        status = add(__func__, &leaf->store, made, payload, release, out);
    } else {
        mxl_error("%s: the array is not a variable: no gradient is accumulated into it", __func__);
    }
    api_unpin(variable);
    return status;
}

/* Adds a hook to a node (takes over the reference; NULL: out of memory). */
static int add_to_node(const char *function, MXLNodeHandle node, mxl_hook *made, void *payload,
                       MXLReleaseFunction release, MXLHookHandle *out)
{
    const api_node *n = api_node_pin(node, function);
    int status;

    if (n == NULL) {
        if (made != NULL)
            mxl_ref_release(&made->ref);
        return -1;
    }
    status = add(function, mxl_edge_hooks(n->edge), made, payload, release, out);
    api_unpin(node);
    return status;
}

int MXLNodeAddPreHook(MXLNodeHandle node, MXLGradHook hook, void *payload,
                      MXLReleaseFunction release, MXLHookHandle *out)
{
    mxl_hook *made;

    API_NEED(hook);
    if (out != NULL)
        *out = NULL;
    made = mxl_hook_new(MXL_HOOK_BEFORE);
    if (made != NULL)
        made->call.grad = hook;
    return add_to_node(__func__, node, made, payload, release, out);
}

int MXLNodeAddHook(MXLNodeHandle node, MXLNodeHook hook, void *payload, MXLReleaseFunction release,
                   MXLHookHandle *out)
{
    mxl_hook *made;

    API_NEED(hook);
    if (out != NULL)
        *out = NULL;
    made = mxl_hook_new(MXL_HOOK_AFTER);
    if (made != NULL)
        made->call.node = hook;
    return add_to_node(__func__, node, made, payload, release, out);
}

int MXLHookRemove(MXLHookHandle hook)
{
    mxl_hook *h = (mxl_hook *)mxl_handle_pin(MXL_KIND_HOOK, api_number(hook));

    if (h == NULL)
        return mxl_error_prefix(__func__);
    mxl_hook_remove(h);
    api_unpin(hook);
    /* If two threads remove it at once, only one of them frees the handle. */
    return mxl_handle_free(MXL_KIND_HOOK, api_number(hook)) == 0 ? 0 : mxl_error_prefix(__func__);
}

int MXLHookFree(MXLHookHandle hook)
{
    return mxl_handle_free(MXL_KIND_HOOK, api_number(hook)) == 0 ? 0 : mxl_error_prefix(__func__);
}
