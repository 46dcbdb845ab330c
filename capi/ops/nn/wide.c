/* float32 copies of half arrays; see wide.h. */
#include "ops/nn/wide.h"

#include <stddef.h>

#include "array/copy.h"

static void drop(mxl_wide *wide)
{
    for (int i = 0; i < wide->call->num_inputs; i++)
        mxl_array_release(wide->in[i]);
    mxl_array_release(wide->out);
}

/* The array itself, or a float32 array of its shape; new. */
static mxl_array *widened(mxl_array *a)
{
    if (a->dtype == MXL_F16)
        return mxl_array_new(MXL_F32, a->ndim, a->shape);
    mxl_array_retain(a);
    return a;
}

int mxl_wide_begin(mxl_wide *wide, const mxl_call *call)
{
    *wide = (mxl_wide){.call = call};
    wide->out = widened(call->out[0]);
    if (wide->out == NULL)
        return -1;
    wide->dtype = wide->out->dtype;
    for (int i = 0; i < call->num_inputs; i++) {
        wide->in[i] = widened(call->in[i]);
        if (wide->in[i] == NULL ||
            (wide->in[i] != call->in[i] && mxl_array_copy_into(wide->in[i], call->in[i]) != 0)) {
            drop(wide);
            return -1;
        }
    }
    return 0;
}

int mxl_wide_end(mxl_wide *wide, int status)
{
    mxl_array *out = wide->call->out[0];

    if (status == 0 && wide->out != out)
        status = mxl_array_copy_into(out, wide->out);

    drop(wide);
    return status;
}
