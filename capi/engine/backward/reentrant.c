/* Backwards of one thread, one inside the other: callbacks queued for their ends, and levels that
 * run on the stack of another thread. */
#include "engine/backward/reentrant.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/state.h"
#include "engine/backward/callback.h"
#include "engine/run/invoke.h"
#include "base/system/threads.h"

enum { STACK = 8 << 20 };

/* Levels on the threads that this one goes on for. */
static _Thread_local int levels_before MXL_TLS_FAST;

/* ---- another thread ---- */

typedef struct deep {
    const mxl_backward_args *args;
    mxl_state *caller; /* waits meanwhile */
    int levels;        /* on the threads that wait */
    int status;
    char error[MXL_ERROR_TEXT];
} deep;

static void *go_on(void *data)
{
    deep *d = data;
    mxl_state *state = mxl_state_get();

    if (state != mxl_state_here) {
        d->status = mxl_error_memory(sizeof(*state));
    } else {
        levels_before = d->levels;
        mxl_state_lend(state, d->caller);
        d->status = mxl_backward(d->args);
        mxl_state_return(state, d->caller);
    }
    memcpy(d->error, state->error, sizeof(d->error));
    return NULL;
}

static int run_on_new_thread(const mxl_backward_args *args)
{
    deep d = {.args = args, .caller = mxl_state_get(), .levels = levels_before + MXL_DEEP};
    mxl_thread thread;

    if (!mxl_thread_start(&thread, STACK, go_on, &d))
        return mxl_error(
            "backward: no thread can be started for what is more than %d levels inside of "
            "each other",
            d.levels);
    mxl_thread_join(thread);
    if (d.status != 0)
        memcpy(mxl_state_get()->error, d.error, sizeof(d.error));
    return d.status;
}

/* ---- backwards of one thread, one inside the other ---- */

typedef struct running {
    struct running *outer;
    int depth;
    bool only_some;
    mxl_queued *queue;
    size_t num_queue, room_queue;
} running;

static _Thread_local running *innermost MXL_TLS_FAST;

int mxl_backward_state(void)
{
    return innermost == NULL ? 0 : innermost->only_some ? 2 : 1;
}

int mxl_backward_queue(const mxl_queued *queued)
{
    running *here = innermost;

    if (here == NULL)
        return mxl_error("no backward is running on this thread");
    if (MXL_GROW(here->queue, here->num_queue, here->room_queue) != 0)
        return -1;
    here->queue[here->num_queue++] = *queued;
    return 0;
}

/* Calls the queued functions in order, those included that they queue; after a failure they are
 * only released. */
static int run_queue(running *here, mxl_mode mode, int status)
{
    for (size_t i = 0; i < here->num_queue; i++) {
        mxl_queued queued = here->queue[i];

        if (status == 0) {
            mxl_callback before;

            mxl_callback_enter(&before, mode.record, mode.training);
            status = queued.call(queued.payload);
            status = mxl_callback_leave(&before, status != 0, "a callback at the end of backward");
        }
        if (queued.release != NULL)
            queued.release(queued.payload);
    }
    mxl_free(here->queue, here->room_queue * sizeof(*here->queue));
    return status;
}

int mxl_backward(const mxl_backward_args *args)
{
    mxl_mode mode = {.record = args->create_graph,
                     .training = args->training,
                     .legacy_shape = false,
                     .dialect = args->dialect};
    running here = {.outer = innermost,
                    .depth = innermost == NULL ? 1 : innermost->depth + 1,
                    .only_some = args->num_variables > 0};
    int status;

    if (levels_before + here.depth > MXL_DEEPEST)
        return mxl_error("RecursionError: backward: called inside of %d others by hooks or "
                         "functions, each inside of the one before; no more are allowed",
                         MXL_DEEPEST);
    if (here.depth > MXL_DEEP)
        return run_on_new_thread(args);
    innermost = &here;
    status = mxl_backward_run(args, mode);
    if (here.num_queue > 0) {
        int queued = run_queue(&here, mode, status);

        for (int i = 0;
             i < args->num_variables && args->grads != NULL && status == 0 && queued != 0; i++) {
            mxl_array_release(args->grads[i]);
            args->grads[i] = NULL;
        }
        status = queued;
    }
    innermost = here.outer;
    return status;
}
