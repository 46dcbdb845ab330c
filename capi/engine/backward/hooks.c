/* Calls of hooks: handles for their arguments, checks of their results. */
#include "engine/backward/hooks.h"

#include "base/handle.h"
#include "base/memory/mem.h"
#include "engine/backward/callback.h"

/* Handles of one call. */
typedef struct hook_args {
    int count;
    void **handles; /* [count], the hook's own */
    void **results; /* [count], ours once it has returned */
    size_t bytes;
} hook_args;

/* MXL_NO_GRADIENT, which no handle is. */
#define NO_GRADIENT ((void *)(intptr_t)-1)

static void free_handle(void *handle)
{
    (void)mxl_handle_free(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)handle);
}

static void *new_handle(mxl_array *array)
{
    uint64_t handle;

    mxl_array_retain(array);
    handle = mxl_handle_new(MXL_KIND_ARRAY, &array->ref);
    if (handle == 0)
        mxl_array_release(array);
    return (void *)(uintptr_t)handle;
}

/* Handles of `count` arrays (NULL stays NULL), and as many results. */
static int args_begin(hook_args *a, int count, mxl_array *const *arrays)
{
    a->count = count;
    a->bytes = (2 * (size_t)count + 1) * sizeof(void *); /* a variable's node has no inputs */
    a->handles = mxl_alloc_zero(a->bytes);
    if (a->handles == NULL)
        return -1;
    a->results = a->handles + count;
    for (int i = 0; i < count; i++) {
        if (arrays[i] == NULL || (a->handles[i] = new_handle(arrays[i])) != NULL)
            continue;
        while (--i >= 0)
            free_handle(a->handles[i]);
        mxl_free(a->handles, a->bytes);
        return -1;
    }
    return 0;
}

/* Puts results into *edges[i] until one fails; frees the rest. */
static int args_end(hook_args *a, const mxl_hooked *hooked, const mxl_meta *const *metas,
                    mxl_array ***edges, int status)
{
    for (int i = 0; i < a->count; i++) {
        mxl_array *array;

        if (a->results[i] == NULL)
            continue;
        if (status != 0 || edges[i] == NULL) {
            if (a->results[i] != NO_GRADIENT)
                mxl_callback_free(a->results[i]);
            continue;
        }
        if (a->results[i] == NO_GRADIENT) {
            mxl_array_release(*edges[i]);
            *edges[i] = NULL;
            continue;
        }
        array =
            mxl_callback_take(a->results[i], metas[i], hooked->name, "a hook returned a gradient");
        if (array == NULL) {
            status = -1;
            continue;
        }
        if (!mxl_tape_recorded(array, hooked->mode.dialect))
            *hooked->constant = true;
        mxl_array_release(*edges[i]);
        *edges[i] = array;
    }
    mxl_free(a->handles, a->bytes);
    return status;
}

/* One call of a hook on gradients; `grads` and `metas` are `count` of them. */
static int call_grad(const mxl_hooked *hooked, const mxl_hook *hook, int count,
                     const mxl_meta *meta, mxl_array **grads)
{
    enum { ROOM = 8 };
    const mxl_meta *meta_room[ROOM], **metas = meta_room;
    mxl_array **edge_room[ROOM], ***edges = edge_room;
    size_t bytes = (size_t)count * (sizeof(*metas) + sizeof(*edges));
    mxl_callback before;
    hook_args a;
    int status = -1;

    if (count > ROOM) {
        metas = mxl_alloc(bytes);
        if (metas == NULL)
            return -1;
        edges = (mxl_array ***)(metas + count);
    }
    for (int i = 0; i < count; i++) {
        metas[i] = &meta[i];
        edges[i] = &grads[i];
    }
    if (args_begin(&a, count, grads) == 0) {
        mxl_callback_enter(&before, hooked->mode.record, hooked->mode.training);
        status = hook->call.grad(hook->payload, count, a.handles, a.results);
        status = mxl_callback_leave(&before, status != 0, "%s: a hook on %s", hooked->name,
                                    hook->kind == MXL_HOOK_BEFORE ? "its gradients" : "its output");
        status = args_end(&a, hooked, metas, edges, status);
    }
    if (count > ROOM)
        mxl_free(metas, bytes);
    return status;
}

int mxl_hooks_array(const mxl_hooked *hooked, mxl_array **grads)
{
    mxl_hooks hooks;
    int status = mxl_hooks_begin(&hooks, hooked->store, MXL_HOOK_ARRAY);

    for (size_t i = 0; i < hooks.count && status == 0; i++) {
        const mxl_hook *hook = hooks.items[i];

        if (!atomic_load(&hook->removed))
            status = call_grad(hooked, hook, 1, &hooked->meta[hook->output], &grads[hook->output]);
    }
    mxl_hooks_end(&hooks);
    return status;
}

int mxl_hooks_before(const mxl_hooked *hooked, mxl_array **grads)
{
    mxl_hooks hooks;
    int status = mxl_hooks_begin(&hooks, hooked->store, MXL_HOOK_BEFORE);

    for (size_t i = 0; i < hooks.count && status == 0; i++) {
        if (!atomic_load(&hooks.items[i]->removed))
            status = call_grad(hooked, hooks.items[i], hooked->count, hooked->meta, grads);
    }
    mxl_hooks_end(&hooks);
    return status;
}

/* ---- after a node ---- */

/* The slots of a node's inputs: pointers to their gradients, with dtype and shape. */
typedef struct slot_view {
    int count;
    mxl_array **arrays;
    mxl_array ***edges;
    const mxl_meta **metas;
    size_t bytes;
} slot_view;

static int slots_begin(slot_view *view, int count, const int *slots, const mxl_meta *in_meta,
                       mxl_array **grads)
{
    view->count = count;
    view->bytes = ((size_t)count * 3 + 1) * sizeof(void *);
    view->arrays = mxl_alloc(view->bytes);
    if (view->arrays == NULL)
        return -1;
    view->edges = (mxl_array ***)(view->arrays + count);
    view->metas = (const mxl_meta **)(view->edges + count);
    for (int i = 0; i < count; i++) {
        view->edges[i] = slots[i] < 0 ? NULL : &grads[slots[i]];
        view->metas[i] = slots[i] < 0 ? NULL : &in_meta[slots[i]];
    }
    return 0;
}

static int call_node(const mxl_hooked *hooked, const mxl_hook *hook, slot_view *view,
                     mxl_array *const *heads)
{
    mxl_callback before;
    hook_args in, out;
    int status;

    for (int i = 0; i < view->count; i++)
        view->arrays[i] = view->edges[i] == NULL ? NULL : *view->edges[i];
    if (args_begin(&out, hooked->count, heads) != 0)
        return -1;
    if (args_begin(&in, view->count, view->arrays) != 0) {
        for (int i = 0; i < out.count; i++)
            free_handle(out.handles[i]);
        mxl_free(out.handles, out.bytes);
        return -1;
    }
    mxl_callback_enter(&before, hooked->mode.record, hooked->mode.training);
    status =
        hook->call.node(hook->payload, in.count, in.handles, out.count, out.handles, in.results);
    status =
        mxl_callback_leave(&before, status != 0, "%s: a hook after its backward", hooked->name);
    mxl_free(out.handles, out.bytes);
    return args_end(&in, hooked, view->metas, view->edges, status);
}

int mxl_hooks_after(const mxl_hooked *hooked, int num_slots, const int *slots,
                    const mxl_meta *in_meta, mxl_array **grads, mxl_array *const *heads)
{
    mxl_hooks hooks;
    slot_view view = {0};
    int status = mxl_hooks_begin(&hooks, hooked->store, MXL_HOOK_AFTER);

    if (hooks.count > 0)
        status = slots_begin(&view, num_slots, slots, in_meta, grads);
    for (size_t i = 0; i < hooks.count && status == 0; i++) {
        if (!atomic_load(&hooks.items[i]->removed))
            status = call_node(hooked, hooks.items[i], &view, heads);
    }
    mxl_free(view.arrays, view.bytes);
    mxl_hooks_end(&hooks);
    return status;
}

int mxl_hooks_accumulated(const mxl_hooked *hooked, mxl_array *variable)
{
    mxl_hooks hooks;
    int status = mxl_hooks_begin(&hooks, hooked->store, MXL_HOOK_ACCUMULATED);

    for (size_t i = 0; i < hooks.count && status == 0; i++) {
        const mxl_hook *hook = hooks.items[i];
        mxl_callback before;
        void *handle;

        if (atomic_load(&hook->removed))
            continue;
        handle = new_handle(variable);
        if (handle == NULL) {
            status = -1;
            break;
        }
        mxl_callback_enter(&before, hooked->mode.record, hooked->mode.training);
        status = hook->call.variable(hook->payload, handle);
        status = mxl_callback_leave(&before, status != 0, "a hook after accumulation");
    }
    mxl_hooks_end(&hooks);
    return status;
}
