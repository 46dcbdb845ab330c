/* The thread's flags and error around a call of a caller's function, and what it returns. */
#include "engine/backward/callback.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/handle.h"
#include "base/profile/profile.h"
#include "base/state.h"

void mxl_callback_enter(mxl_callback *before, bool record, bool training)
{
    mxl_state *state = mxl_state_get();

    before->recording = state->recording;
    before->training = state->training;
    before->grad_off = state->grad_off;
    before->text = state->error[0];
    before->inside = mxl_span_leave();
    state->recording = record;
    state->training = training;
    state->grad_off = !record;
    state->error[0] = '\0';
}

int mxl_callback_leave(const mxl_callback *before, bool failed, const char *fmt, ...)
{
    mxl_state *state = mxl_state_get();
    char who[256];
    va_list args;

    state->recording = before->recording;
    state->training = before->training;
    state->grad_off = before->grad_off;
    mxl_span_return(before->inside);
    if (!failed) {
        if (state->error[0] == '\0')
            state->error[0] = before->text;
        return 0;
    }
    va_start(args, fmt);
    vsnprintf(who, sizeof(who), fmt, args);
    va_end(args);
    if (state->error[0] == '\0')
        return mxl_error("%s failed", who);
    snprintf(who + strlen(who), sizeof(who) - strlen(who), " failed");
    return mxl_error_prefix(who);
}

mxl_array *mxl_callback_take(void *handle, const mxl_meta *meta, const char *who, const char *what)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    mxl_array *array = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, number);

    if (array == NULL) {
        mxl_error_prefix(what);
        mxl_error_prefix(who);
        return NULL;
    }
    mxl_array_retain(array);
    mxl_handle_unpin(number);
    (void)mxl_handle_free(MXL_KIND_ARRAY, number);
    if (array->storage != NULL && array->dtype == meta->dtype &&
        mxl_shape_same(array->ndim, array->shape, meta->ndim, meta->shape))
        return array;
    mxl_error("%s: %s with shape %s and dtype %s, expected %s and %s", who, what,
              MXL_SHAPE_OF(array), array->storage == NULL ? "none" : mxl_dtype_name(array->dtype),
              MXL_SHAPE_OF(meta), mxl_dtype_name(meta->dtype));
    mxl_array_release(array);
    return NULL;
}

void mxl_callback_free(void *handle)
{
    mxl_state *state = mxl_state_get();
    char text[MXL_ERROR_TEXT];

    memcpy(text, state->error, sizeof(text));
    if (mxl_handle_free(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)handle) != 0)
        memcpy(state->error, text, sizeof(text));
}
