/* Dtypes and shapes of an operator's results: those that its infer says or, of a composite without
 * infer, those that its composition makes in a meta run. */
#include "engine/run/run.h"

#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/run/scope.h"

/* Runs the composition on arrays of which shape and dtype are all that there is. */
static int infer_composed(mxl_infer *infer, const mxl_dialect *dialect)
{
    size_t bytes = (size_t)infer->num_outputs * sizeof(mxl_array *);
    mxl_call call = {.op = infer->op,
                     .params = infer->params,
                     .num_inputs = infer->num_inputs,
                     .num_outputs = infer->num_outputs,
                     .in = (mxl_array **)infer->in,
                     .training = infer->training};
    mxl_scope scope;
    int status;

    call.out = mxl_alloc(bytes);
    if (call.out == NULL)
        return -1;
    mxl_scope_begin(&scope, (mxl_mode){.training = infer->training,
                                       .legacy_shape = infer->legacy_shape,
                                       .meta = true,
                                       .dialect = dialect->plain});
    status = mxl_compose(&scope, &call);
    for (int i = 0; i < infer->num_outputs && status == 0; i++) {
        infer->out_dtype[i] = call.out[i]->dtype;
        mxl_shape_set(&infer->out_shape[i], call.out[i]->ndim, call.out[i]->shape);
    }
    mxl_scope_end(&scope);
    mxl_free(call.out, bytes);
    return status;
}

int mxl_invoke_infer(mxl_infer *infer, const mxl_dialect *dialect)
{
    return infer->op->infer != NULL ? infer->op->infer(infer) : infer_composed(infer, dialect);
}

bool mxl_run_is_on_meta(const mxl_run *r)
{
    bool found = false;

    for (int i = 0; i < r->call.num_inputs && !found; i++)
        found = mxl_array_is_meta(r->given_in[i]);
    for (int i = 0; i < r->arity.visible && !found; i++)
        found = r->given_out[i] != NULL && mxl_array_is_meta(r->given_out[i]);
    return found;
}

static int refuse_values(const mxl_run *r)
{
    return mxl_error("%s: the shape of the result depends on values", r->call.op->name);
}

/* Whether the shape of a result depends on values that a meta array has not. */
static int check_values(const mxl_run *r)
{
    int by = r->call.op->by_values;

    for (int i = by - 1; by > 0 && i < r->call.num_inputs; i++) {
        int dtype = r->given_in[i]->dtype;

        if (mxl_array_is_meta(r->given_in[i]) &&
            (!r->call.op->by_masks || dtype == MXL_BOOL || dtype == MXL_U8))
            return refuse_values(r);
    }
    return 0;
}

int mxl_run_check_meta(const mxl_run *r)
{
    const char *name = r->call.op->name;

    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL && !mxl_array_is_meta(r->given_out[i]))
            return mxl_error("%s: an input is on the meta device and has no values, but output %d "
                             "is on the CPU",
                             name, i);
    }
    return check_values(r);
}

int mxl_run_infer(mxl_run *r)
{
    mxl_infer infer = mxl_run_infer_of(r, r->call.num_outputs);

    if (infer.op->infer == NULL && infer.op->compute == NULL && !r->mode.meta && !r->meta)
        return mxl_run_made(r); /* its composition runs now, and need not run for shapes first */
    for (int i = 0; i < r->call.num_outputs; i++) {
        const mxl_array *out = mxl_run_given(r, i);

        r->out_dtype[i] = MXL_DTYPE_UNKNOWN;
        r->out_shape[i].ndim = -1;
        if (out != NULL && out->storage != NULL) {
            r->out_dtype[i] = out->dtype;
            mxl_shape_set(&r->out_shape[i], out->ndim, out->shape);
        }
    }
    if (mxl_invoke_infer(&infer, r->mode.dialect) != 0)
        return -1;
    for (int i = 0; i < r->call.num_outputs; i++) {
        if (r->out_shape[i].ndim == 0)
            mxl_infer_legacy(&infer, i, mxl_run_given(r, i));
    }
    r->device = infer.device;
    return 0;
}

int mxl_run_meta(mxl_run *r)
{
    int by = r->call.op->by_values;

    if (by > 0 && by <= r->call.num_inputs)
        return refuse_values(r);
    if (mxl_run_infer(r) != 0 || mxl_run_check_given(r) != 0)
        return -1;
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL)
            continue;
        r->call.out[i] =
            mxl_array_new_meta(r->out_dtype[i], r->out_shape[i].ndim, r->out_shape[i].dim);
        if (r->call.out[i] == NULL)
            return -1;
        r->call.out[i]->device = r->device;
    }
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] == NULL)
            r->given_out[i] = r->call.out[i];
    }
    return 0;
}
