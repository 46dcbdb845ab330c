/* Arrays of the caller that a call writes to: whether its results fit them, whether they can be
 * written there directly, and the copies where not. Called by invoke.c. */
#include "engine/run/run.h"

#include "array/copy.h"
#include "base/error.h"

static int check_fits(const mxl_run *r, int i)
{
    const mxl_array *out = r->given_out[i];
    const mxl_shape *want = &r->out_shape[i];

    if (out->dtype != r->out_dtype[i] && r->out_dtype[i] == MXL_BOOL && r->call.num_inputs == 1)
        return mxl_error("TypeError: %s: the output given is %s, the result is bool",
                         r->call.op->name, mxl_dtype_name(out->dtype));
    if (out->dtype != r->out_dtype[i])
        return mxl_error("%s: the output given is %s, the result is %s", r->call.op->name,
                         mxl_dtype_name(out->dtype), mxl_dtype_name(r->out_dtype[i]));
    if (mxl_shape_same(out->ndim, out->shape, want->ndim, want->dim))
        return 0;
    return mxl_error("%s: the output given has shape %s, the result has %s", r->call.op->name,
                     MXL_SHAPE_OF(out), MXL_SHAPE_TEXT(want->ndim, want->dim));
}

int mxl_run_check_given(const mxl_run *r)
{
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL && r->given_out[i]->storage != NULL && check_fits(r, i) != 0)
            return -1;
    }
    return 0;
}

bool mxl_run_overlaps(const mxl_run *r, const mxl_array *out)
{
    if (r->call.op->writes_last)
        return false;
    for (int i = 0; i < r->call.num_inputs; i++) {
        const mxl_array *in = r->given_in[i];

        if (in->storage != out->storage)
            continue;
        if (!(r->call.op->kernels != NULL || r->call.op->in_place) || in->offset != out->offset ||
            in->dtype != out->dtype || !mxl_array_same_shape(in, out) || !in->contiguous ||
            !out->contiguous)
            return true;
    }
    return false;
}

int mxl_run_copy_to_given(const mxl_run *r)
{
    for (int i = 0; i < r->arity.visible; i++) {
        mxl_array *given = r->given_out[i], *out = r->call.out[i];

        if (given != NULL && given->storage != NULL && given != out &&
            mxl_array_copy_into(given, out) != 0)
            return -1;
    }
    return 0;
}

int mxl_run_write_back(const mxl_run *r)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (r->call.in[i] != r->given_in[i] && mxl_run_mutates(&r->call, i) &&
            mxl_array_copy_into(r->given_in[i], r->call.in[i]) != 0)
            return -1;
    }
    return 0;
}
