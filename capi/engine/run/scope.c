/* Scopes: temporaries of rules and composed operators. */
#include "engine/run/scope.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"

/* A full set of temporaries, moved out of the scope to make room. */
struct mxl_scope_more {
    struct mxl_scope_more *next;
    mxl_array *arrays[MXL_SCOPE_ROOM];
};

void mxl_scope_begin(mxl_scope *scope, mxl_mode mode)
{
    scope->mode = mode;
    scope->failed = false;
    scope->count = 0;
    scope->more = NULL;
}

void mxl_scope_end(mxl_scope *scope)
{
    for (int i = 0; i < scope->count; i++)
        mxl_array_release(scope->arrays[i]);
    while (scope->more != NULL) {
        struct mxl_scope_more *more = scope->more;

        scope->more = more->next;
        for (int i = 0; i < MXL_SCOPE_ROOM; i++)
            mxl_array_release(more->arrays[i]);
        mxl_free(more, sizeof(*more));
    }
    scope->count = 0;
}

mxl_array *mxl_scope_own(mxl_scope *scope, mxl_array *array)
{
    if (array == NULL) {
        scope->failed = true;
        return NULL;
    }
    if (scope->count == MXL_SCOPE_ROOM) {
        struct mxl_scope_more *more = mxl_alloc(sizeof(*more));

        if (more == NULL) {
            mxl_array_release(array);
            scope->failed = true;
            return NULL;
        }
        memcpy(more->arrays, scope->arrays, sizeof(more->arrays));
        more->next = scope->more;
        scope->more = more;
        scope->count = 0;
    }
    scope->arrays[scope->count++] = array;
    return array;
}

mxl_array *mxl_scope_new(mxl_scope *scope, int dtype, int ndim, const int64_t *shape)
{
    return mxl_scope_own(scope, scope->mode.meta ? mxl_array_new_meta(dtype, ndim, shape)
                                                 : mxl_array_new(dtype, ndim, shape));
}

void *mxl_scope_fill(const mxl_scope *scope, mxl_array *array)
{
    return scope->mode.meta || array == NULL ? NULL : mxl_array_write(array);
}

int mxl_scope_call_many(mxl_scope *scope, const mxl_op *op, const void *params, int num_inputs,
                        mxl_array *const *inputs, int num_outputs, mxl_array **out)
{
    bool ready = !scope->failed;
    int status = 0;

    for (int i = 0; i < num_inputs; i++)
        ready = ready && inputs[i] != NULL;
    for (int i = 0; i < num_outputs; i++)
        out[i] = NULL;
    if (!ready || mxl_invoke(op, params, num_inputs, inputs, num_outputs, out, scope->mode) != 0) {
        scope->failed = true;
        return -1;
    }
    for (int i = 0; i < num_outputs; i++) {
        out[i] = mxl_scope_own(scope, out[i]);
        if (out[i] == NULL)
            status = -1;
    }
    return status;
}

mxl_array *mxl_scope_call(mxl_scope *scope, const mxl_op *op, const void *params, int num_inputs,
                          mxl_array *const *inputs)
{
    mxl_array *out;

    return mxl_scope_call_many(scope, op, params, num_inputs, inputs, 1, &out) == 0 ? out : NULL;
}
