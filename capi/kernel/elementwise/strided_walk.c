/* Merges axes of strided operands and moves through them. */
#include "kernel/elementwise/strided_walk.h"

/* True if axis `next` continues the walk's last axis for every operand. */
static int walk_continues(const mxl_walk *walk, const int64_t *const *strides, int next,
                          int64_t extent)
{
    int last = walk->ndim - 1;

    for (int k = 0; k < walk->num; k++) {
        if (walk->stride[k][last] != strides[k][next] * extent)
            return 0;
    }
    return 1;
}

void mxl_walk_init(mxl_walk *walk, int num, int ndim, const int64_t *shape,
                   const int64_t *const *strides)
{
    walk->ndim = 0;
    walk->num = num;
    walk->size = 1;
    for (int axis = 0; axis < ndim; axis++) {
        walk->size *= shape[axis];
        if (shape[axis] == 1)
            continue;
        if (walk->ndim > 0 && walk_continues(walk, strides, axis, shape[axis])) {
            walk->shape[walk->ndim - 1] *= shape[axis];
        } else {
            walk->shape[walk->ndim] = shape[axis];
            walk->ndim++;
        }
        for (int k = 0; k < num; k++)
            walk->stride[k][walk->ndim - 1] = strides[k][axis];
    }
    if (walk->ndim == 0) {
        walk->ndim = 1;
        walk->shape[0] = 1;
        for (int k = 0; k < num; k++)
            walk->stride[k][0] = 1;
    }
}

void mxl_cursor_seek(mxl_cursor *cursor, const mxl_walk *walk, int k, int64_t pos)
{
    int last = walk->ndim - 1;

    cursor->inner = pos % walk->shape[last];
    pos /= walk->shape[last];
    cursor->row = 0;
    for (int axis = last - 1; axis >= 0; axis--) {
        cursor->index[axis] = pos % walk->shape[axis];
        cursor->row += cursor->index[axis] * walk->stride[k][axis];
        pos /= walk->shape[axis];
    }
}
