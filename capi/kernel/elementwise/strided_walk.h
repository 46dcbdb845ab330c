/* Walks strided operands together: merges axes and keeps positions. For the kernels that take
 * strides (loop.c, strided_copy.c, reduce.c). */
#ifndef MXL_KERNEL_ELEMENTWISE_STRIDED_WALK_H
#define MXL_KERNEL_ELEMENTWISE_STRIDED_WALK_H

#include <stdint.h>

#include "base/shape.h"

enum { MXL_WALK_OPERANDS = 9 };

/* Operands of one shape, reduced to the fewest axes that describe it; at least one axis. Strides in
 * elements. */
typedef struct mxl_walk {
    int ndim;
    int num; /* operands */
    int64_t size;
    int64_t shape[MXL_MAX_NDIM];
    int64_t stride[MXL_WALK_OPERANDS][MXL_MAX_NDIM];
} mxl_walk;

/* Fills `walk`: drops axes of size 1 and merges neighbouring axes if all operands step through them
 * evenly. num <= MXL_WALK_OPERANDS, ndim <= MXL_MAX_NDIM. */
void mxl_walk_init(mxl_walk *walk, int num, int ndim, const int64_t *shape,
                   const int64_t *const *strides);

/* The position of one operand in a walk: the start of row `index`, and the element within the row.
 */
typedef struct mxl_cursor {
    int64_t row;   /* elements from the operand's start to the row's start */
    int64_t inner; /* position along the last axis */
    int64_t index[MXL_MAX_NDIM];
} mxl_cursor;

/* Puts the cursor of operand k at element `pos` in row-major order. */
void mxl_cursor_seek(mxl_cursor *cursor, const mxl_walk *walk, int k, int64_t pos);

/* Moves to the beginning of the row that is `rows` rows further on, within the axis before the
 * last. */
static inline void mxl_cursor_next_rows(mxl_cursor *cursor, const mxl_walk *walk, int k,
                                        int64_t rows)
{
    cursor->inner = 0;
    for (int axis = walk->ndim - 2; axis >= 0; axis--) {
        cursor->row += rows * walk->stride[k][axis];
        cursor->index[axis] += rows;
        if (cursor->index[axis] < walk->shape[axis])
            return;
        cursor->row -= walk->stride[k][axis] * walk->shape[axis];
        cursor->index[axis] = 0;
        rows = 1;
    }
}

/* Moves n elements further, within the row. */
static inline void mxl_cursor_skip(mxl_cursor *cursor, const mxl_walk *walk, int k, int64_t n)
{
    cursor->inner += n;
    if (cursor->inner == walk->shape[walk->ndim - 1])
        mxl_cursor_next_rows(cursor, walk, k, 1);
}

/* The offset of the cursor's position, in elements. */
static inline int64_t mxl_cursor_offset(const mxl_cursor *cursor, const mxl_walk *walk, int k)
{
    return cursor->row + cursor->inner * walk->stride[k][walk->ndim - 1];
}

#endif
