/* The thread's flags and error around a call of a caller's function. */
#include "engine/callback.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/state.h"

void mxl_callback_enter(mxl_callback *before, bool record, bool training)
{
    mxl_state *state = mxl_state_get();

    before->recording = state->recording;
    before->training = state->training;
    before->grad_off = state->grad_off;
    before->text = state->error[0];
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
