/* Runs of composite operators: as their parts, or as one node. */
#include "engine/run/run.h"

#include "array/copy.h"
#include "base/profile/profile.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/scope.h"

int mxl_compose(mxl_scope *scope, mxl_call *call)
{
    bool made = true;

    scope->mode.legacy_shape = scope->mode.legacy_shape && !call->op->keeps_scalars;
    for (int i = 1; i < call->num_outputs; i++)
        call->out[i] = NULL;
    call->out[0] = call->op->compose(scope, call);
    for (int i = 0; i < call->num_outputs; i++)
        made = made && call->out[i] != NULL;
    for (int i = 0; i < call->num_outputs && !made; i++)
        call->out[i] = NULL;
    return made ? 0 : mxl_error_prefix(call->op->name);
}

/* Begins a scope and runs the composition in it: call.out is scoped. */
static int run_parts(mxl_run *r, mxl_scope *scope, bool record)
{
    mxl_call call = r->call;
    mxl_mode mode = r->mode;
    bool measured = mxl_profile_runs();
    mxl_span span;
    int status;

    call.in = (mxl_array **)r->given_in;
    mode.record = record;
    mode.dialect = mode.dialect->plain; /* a label names the whole, not its parts */
    mxl_scope_begin(scope, mode);
    if (measured)
        span = mxl_span_begin(true);
    status = mxl_compose(scope, &call);
    if (measured)
        mxl_span_end(&span, "", call.op->name, status == 0);
    return status;
}

/* Sets out_dtype and out_shape by what a composition without infer made. */
static void note_made(mxl_run *r)
{
    for (int i = 0; i < r->call.num_outputs; i++) {
        r->out_dtype[i] = r->call.out[i]->dtype;
        mxl_shape_set(&r->out_shape[i], r->call.out[i]->ndim, r->call.out[i]->shape);
    }
}

int mxl_run_made(mxl_run *r)
{
    r->device = mxl_run_device(r);
    if (mxl_run_unrecorded(r) != 0)
        return -1;
    note_made(r);
    return 0;
}

int mxl_run_unrecorded(mxl_run *r)
{
    mxl_scope scope;
    int status = run_parts(r, &scope, false);

    for (int i = 0; i < r->call.num_outputs; i++) {
        r->call.out[i] = status != 0 ? NULL : mxl_array_alias(r->call.out[i]);
        if (r->call.out[i] == NULL)
            status = -1;
    }
    mxl_scope_end(&scope);
    for (int i = 0; i < r->call.num_outputs && status == 0; i++) {
        mxl_array *out = r->call.out[i];

        if (!mxl_array_is_unique(out)) {
            r->call.out[i] = mxl_array_copy(out);
            mxl_array_release(out);
        }
        if (r->call.out[i] == NULL)
            return -1;
        r->call.out[i]->device = r->device;
    }
    r->views = r->call.num_outputs; /* nothing is left to compute */
    return status;
}

/* Result i goes to the array that the caller gives; one without a shape becomes a copy, on the
 * device of results. */
static int write_to_given(mxl_run *r, int i, const mxl_builtin_ops *builtin)
{
    mxl_array **given = &r->given_out[i];
    bool becomes = (*given)->storage == NULL;

    if (mxl_invoke(mxl_builtin_into(builtin, *given), NULL, 1, &r->call.out[i], 1, given,
                   r->mode) != 0)
        return -1;
    if (becomes && r->call.op->infer != NULL)
        (*given)->device = r->device;
    return 0;
}

int mxl_run_composite(mxl_run *r)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_scope scope;
    int status;

    if (builtin == NULL)
        return -1;
    status = run_parts(r, &scope, r->mode.record);
    if (status == 0 && r->call.op->infer == NULL) {
        note_made(r);
        status = mxl_run_check_given(r);
    }
    for (int i = 0; i < r->arity.visible && status == 0; i++) {
        if (r->given_out[i] != NULL)
            status = write_to_given(r, i, builtin);
    }
    for (int i = 0; i < r->call.num_outputs; i++) {
        mxl_array *out = r->call.out[i];

        r->call.out[i] = NULL;
        if (status != 0 || i >= r->arity.visible || r->given_out[i] != NULL)
            continue;
        mxl_array_retain(out);
        if (r->call.op->infer != NULL && out->base == NULL && out != r->given_in[0])
            out->device = r->device;
        r->given_out[i] = out;
    }
    mxl_scope_end(&scope);
    return status;
}
