/* The actions of this thread for each new node: saved tensors are packed, the record hook is
 * called. One byte of the thread's state says whether there are any. */
#ifndef MXL_ENGINE_TAPE_RECORD_HOOKS_H
#define MXL_ENGINE_TAPE_RECORD_HOOKS_H

#include "base/state.h"
#include "engine/tape/tape.h"

/* Told of a node when its values have been computed. Not 0, with the error set: the call fails. */
typedef struct mxl_recorder {
    int (*recorded)(struct mxl_recorder *self, mxl_node *node, int num_outputs,
                    mxl_array *const *outputs);
    void *function, *payload; /* for `recorded` */
} mxl_recorder;

/* Sets this thread's recorder (copied), or takes it away (NULL). -1 with the error set. */
int mxl_record_hook_set(const mxl_recorder *recorder);

/* For mxl_node_attach, where the state's `watch` is not 0. On failure the outputs are constants. */
int mxl_record_hook_call(mxl_node *node, int num_outputs, mxl_array *const *outputs);

/* For a node whose call is about to write to an array: its saved inputs are packed while they are
 * as they were. -1 with the error set. */
int mxl_record_hook_before_write(mxl_node *node);

/* Sets the state's `watch` by the hooks that are set; 0 in a pause. */
void mxl_record_hook_update(mxl_state *state);

/* Between these no hook is called, also none that is set meanwhile: a lock is held, or such a hook
 * runs. Pause returns the argument of resume: whether there was a pause already. */
static inline bool mxl_record_hook_pause(void)
{
    mxl_state *state = mxl_state_get();
    bool paused = state->record_hook_paused;

    state->record_hook_paused = true;
    state->watch = 0;
    return paused;
}

static inline void mxl_record_hook_resume(bool paused)
{
    mxl_state *state = mxl_state_get();

    state->record_hook_paused = paused;
    mxl_record_hook_update(state);
}

#endif
