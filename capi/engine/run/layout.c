/* How a new result lies in memory in a front end that has views: its axes in the order of those of
 * the inputs, so that what is computed of a transposed array is transposed too, as in PyTorch. */
#include "engine/run/run.h"

/* An input's stride along an axis of the result; 0: it is broadcast there. */
static int64_t stride_along(const mxl_array *in, const mxl_array *out, int axis)
{
    int from = axis - (out->ndim - in->ndim);

    if (from < 0 || (in->shape[from] == 1 && out->shape[axis] != 1))
        return 0;
    return in->strides[from];
}

/* Whether axis `a`, now the inner one, is to lie inside of axis `b` (-1) or outside (1), as the
 * first input says that moves along both. 0: none does. */
static int order_of(const mxl_run *r, const mxl_array *out, int a, int b)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        int64_t of_a = stride_along(r->given_in[i], out, a);
        int64_t of_b = stride_along(r->given_in[i], out, b);

        if (of_a == 0 || of_b == 0)
            continue;
        if (of_a != of_b)
            return of_a < of_b ? -1 : 1;
        if (out->shape[a] > out->shape[b])
            return 1;
    }
    return 0;
}

void mxl_run_lay(const mxl_run *r, mxl_array *out)
{
    int order[MXL_MAX_NDIM];

    if (out->size == 0)
        return;
    for (int i = 0; i < out->ndim; i++)
        order[i] = out->ndim - 1 - i;
    for (int i = 1; i < out->ndim; i++) {
        for (int at = i, inner = i - 1; inner >= 0; inner--) {
            int axis = order[inner], found = order_of(r, out, axis, order[at]);

            if (found < 0)
                break;
            if (found == 0)
                continue;
            order[inner] = order[at];
            order[at] = axis;
            at = inner;
        }
    }
    mxl_array_lay(out, order);
}
