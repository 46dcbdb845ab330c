/* Hooks of recording, and anomaly mode: saved-tensor hooks, the record hook, checks for NaN. */
#include "api/autograd/node.h"

#include <string.h>

#include "base/memory/mem.h"
#include "engine/tape/anomaly.h"
#include "engine/backward/callback.h"
#include "engine/tape/saved_hooks.h"
#include "engine/tape/record_hooks.h"

/* ---- saved-tensor hooks ---- */

int MXLPushSavedHooks(MXLPackFunction pack, MXLUnpackFunction unpack, MXLDropFunction drop,
                      void *payload, MXLReleaseFunction release)
{
    mxl_packer packer = {
        .pack = pack, .unpack = unpack, .drop = drop, .payload = payload, .release = release};

    API_NEED(pack);
    API_NEED(unpack);
    return mxl_packer_push(&packer) == 0 ? 0 : mxl_error_prefix(__func__);
}

int MXLPopSavedHooks(void)
{
    return mxl_packer_pop() == 0 ? 0 : mxl_error_prefix(__func__);
}

/* ---- the record hook ---- */

static int call_hook(const mxl_recorder *self, MXLNodeHandle node, const char *name,
                     int num_outputs, const NDArrayHandle *outputs)
{
    MXLRecordHook hook;
    const mxl_state *state = mxl_state_get();
    mxl_callback before;
    int status;

    memcpy(&hook, &self->function, sizeof(hook));
    mxl_callback_enter(&before, state->recording, state->training);
    mxl_state_get()->grad_off = before.grad_off; /* the call's own flags */
    status = hook(self->payload, node, num_outputs, outputs);
    return mxl_callback_leave(&before, status != 0, "%s: the hook on what is recorded", name);
}

static int on_recorded(mxl_recorder *self, mxl_node *node, int num_outputs,
                       mxl_array *const *outputs)
{
    size_t bytes = ((size_t)num_outputs + 1) * sizeof(NDArrayHandle);
    NDArrayHandle *handles = mxl_alloc(bytes);
    mxl_edge edge = {&node->ref, 0};
    MXLNodeHandle handle = NULL;
    int made = 0, status = -1;

    if (handles == NULL)
        return -1;
    while (made < num_outputs) {
        mxl_array_retain(outputs[made]);
        handles[made] = api_handle(outputs[made]);
        if (handles[made] == NULL)
            break;
        made++;
    }
    if (made == num_outputs)
        handle = api_node_handle(edge);
    if (handle != NULL)
        status = call_hook(self, handle, node->op->name, num_outputs, handles);
    else
        api_handles_free(handles, (size_t)made);
    mxl_free(handles, bytes);
    return status;
}

int MXLSetRecordHook(MXLRecordHook hook, void *payload)
{
    mxl_recorder recorder = {.recorded = on_recorded, .payload = payload};

    _Static_assert(sizeof(hook) == sizeof(recorder.function), "a function pointer in a pointer");
    memcpy(&recorder.function, &hook, sizeof(hook));
    if (mxl_record_hook_set(hook == NULL ? NULL : &recorder) == 0)
        return 0;
    return mxl_error_prefix(__func__);
}

/* ---- anomalies ---- */

static int check_kind(const char *function, int check)
{
    if (check >= 0 && check <= 2)
        return 0;
    return mxl_error("%s: check is %d; 0 is nothing, 1 NaN, 2 infinities too", function, check);
}

int MXLSetAnomaly(int check, int *before)
{
    mxl_state *state;

    if (check_kind(__func__, check) != 0)
        return -1;
    state = api_own_state(__func__);
    if (state == NULL)
        return -1;
    if (before != NULL)
        *before = state->anomaly;
    state->anomaly = (uint8_t)check;
    return 0;
}

int MXLAnomalyTakeNode(MXLNodeHandle *node)
{
    mxl_edge edge = {NULL, 0};
    mxl_node *taken;

    API_NEED(node);
    *node = NULL;
    taken = mxl_anomaly_take();
    if (taken == NULL)
        return 0;
    edge.target = &taken->ref;
    *node = api_node_handle(edge);
    mxl_ref_release(&taken->ref);
    return *node != NULL ? 0 : mxl_error_prefix(__func__);
}

int MXLNDArrayFindNonFinite(NDArrayHandle array, int check, int64_t *index)
{
    mxl_array *value;
    int64_t found;

    API_NEED(index);
    *index = -1;
    if (check_kind(__func__, check) != 0)
        return -1;
    value = api_pin_defined(array, __func__);
    if (value == NULL)
        return -1;
    found = mxl_anomaly_find(value, check);
    api_unpin(array);
    if (found == -2)
        return mxl_error_prefix(__func__);
    *index = found;
    return 0;
}
