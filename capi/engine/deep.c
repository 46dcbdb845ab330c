/* Levels of backward that go on with the stack of a thread of their own. */
#include "engine/deep.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/state.h"

enum { STACK = 8 << 20 };

typedef struct deep {
    const mxl_backward_args *args;
    mxl_state *caller; /* who waits meanwhile */
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
        mxl_state_lend(state, d->caller);
        d->status = mxl_backward(d->args);
        mxl_state_return(state, d->caller);
    }
    memcpy(d->error, state->error, sizeof(d->error));
    return NULL;
}

int mxl_deep_backward(const mxl_backward_args *args)
{
    deep d = {.args = args, .caller = mxl_state_get()};
    pthread_attr_t attributes;
    pthread_t thread;
    int failed;

    if (pthread_attr_init(&attributes) != 0)
        return mxl_error("backward: no thread for %d levels inside of each other", MXL_DEEP + 1);
    failed = pthread_attr_setstacksize(&attributes, STACK);
    if (failed == 0)
        failed = pthread_create(&thread, &attributes, go_on, &d);
    pthread_attr_destroy(&attributes);
    if (failed != 0)
        return mxl_error(
            "backward: no thread can be started for what is more than %d levels inside of "
            "each other",
            MXL_DEEP);
    pthread_join(thread, NULL);
    if (d.status != 0)
        memcpy(mxl_state_get()->error, d.error, sizeof(d.error));
    return d.status;
}
