/* Shared rules for results that share memory with their input: a shape over strides. Named by the
 * descriptors of operators that select or reorder, called by engine/invoke. */
#include "op/op.h"

/* Walks the input's axes from the last, in groups that lie as one run of evenly spaced elements;
 * each group must be filled by axes of the result exactly. */
bool mxl_view_reshaped(const void *params, const mxl_array *in, int output, const mxl_shape *out,
                       int64_t *strides, int64_t *skip)
{
    int64_t step = in->ndim > 0 ? in->strides[in->ndim - 1] : 1, run = 1;
    int o = out->ndim - 1;

    (void)params, (void)output;
    *skip = 0;
    if (in->size == 0) {
        for (int64_t next = 1; o >= 0; o--) {
            strides[o] = next;
            next *= out->dim[o] > 0 ? out->dim[o] : 1;
        }
        return true;
    }
    for (int i = in->ndim - 1; i >= 0; i--) {
        int64_t filled = 1;

        run *= in->shape[i];
        if (i > 0 && (in->shape[i - 1] == 1 || in->strides[i - 1] == run * step))
            continue; /* the next axis belongs to the group */
        for (; o >= 0 && (filled < run || out->dim[o] == 1); o--) {
            strides[o] = filled * step;
            filled *= out->dim[o];
        }
        if (filled != run)
            return false;
        if (i > 0)
            step = in->strides[i - 1];
        run = 1;
    }
    for (; o >= 0; o--) /* an array without axes: all extents are 1 */
        strides[o] = 1;
    return true;
}

bool mxl_view_broadcast(const void *params, const mxl_array *in, int output, const mxl_shape *out,
                        int64_t *strides, int64_t *skip)
{
    int lead = out->ndim - in->ndim;

    (void)params, (void)output;
    *skip = 0;
    for (int i = 0; i < out->ndim; i++) {
        bool repeats = i < lead || (in->shape[i - lead] == 1 && out->dim[i] != 1);

        strides[i] = repeats ? 0 : in->strides[i - lead];
    }
    return lead >= 0;
}
