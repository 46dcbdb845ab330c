/* Calls this thread's record hook for each new node. */
#include "engine/tape/record_hooks.h"

#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/tape/saved_hooks.h"

static void recorder_free(void *slot)
{
    mxl_free(slot, sizeof(mxl_recorder));
}

void mxl_record_hook_update(mxl_state *state)
{
    state->watch = 0;
    if (state->record_hook_paused)
        return;
    if (state->slots[MXL_SLOT_SAVED_HOOKS] != NULL)
        state->watch |= MXL_WATCH_SAVED;
    if (state->slots[MXL_SLOT_RECORD_HOOK] != NULL)
        state->watch |= MXL_WATCH_RECORD;
}

int mxl_record_hook_set(const mxl_recorder *recorder)
{
    mxl_state *state = mxl_state_get();
    mxl_recorder *made = NULL, *old;

    if (state != mxl_state_here)
        return mxl_error_memory(sizeof(*state));
    if (recorder != NULL) {
        made = mxl_alloc(sizeof(*made));
        if (made == NULL)
            return -1;
        *made = *recorder;
    }
    old = state->slots[MXL_SLOT_RECORD_HOOK];
    state->slots[MXL_SLOT_RECORD_HOOK] = made;
    state->slot_free[MXL_SLOT_RECORD_HOOK] = recorder_free;
    mxl_record_hook_update(state);
    mxl_free(old, sizeof(*old));
    return 0;
}

int mxl_record_hook_before_write(mxl_node *node)
{
    bool paused = mxl_record_hook_pause();
    int status = mxl_node_pack_inputs(node);

    mxl_record_hook_resume(paused);
    return status;
}

int mxl_record_hook_call(mxl_node *node, int num_outputs, mxl_array *const *outputs)
{
    mxl_edge nowhere = {NULL, 0};
    mxl_recorder recorder; /* a copy: it may take itself away */
    bool paused = mxl_record_hook_pause();
    int status = mxl_node_pack(node);
    const mxl_recorder *slot = mxl_state_get()->slots[MXL_SLOT_RECORD_HOOK]; /* if still there */

    if (status == 0 && slot != NULL) {
        recorder = *slot;
        status = recorder.recorded(&recorder, node, num_outputs, outputs);
    }
    for (int i = 0; i < num_outputs && status != 0; i++)
        mxl_array_set_edge(outputs[i], nowhere);
    mxl_record_hook_resume(paused);
    return status;
}
