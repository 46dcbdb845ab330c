/* Where operands of a pass (chain.h) are. */
#ifndef MXL_KERNEL_ELEMENTWISE_CHAIN_TILE_H
#define MXL_KERNEL_ELEMENTWISE_CHAIN_TILE_H

#include "kernel/elementwise/chain.h"

/* The elements that all links compute before the first one goes on: n from `pos`, in the part from
 * `begin`. Scratch of the thread lies from element `place` on. */
typedef struct mxl_chain_tile {
    int64_t begin, place, pos, n;
} mxl_chain_tile;

/* The address of element `into` of the tile. */
static inline char *mxl_stream_at(const mxl_stream *s, const mxl_chain_tile *tile, int64_t into)
{
    int64_t pos = tile->pos;

    if (s->scratch)
        pos = (s->edits ? tile->begin : tile->place) +
              (s->window == NULL ? 0 : pos % s->window->part % s->window->window);
    return s->data + (pos + into) * s->step * (int64_t)s->size;
}

/* The address of element `pos` of an operand with strides, and how many follow it in its run. */
static inline const char *mxl_strided_at(const mxl_stream *s, int64_t pos, int64_t *run)
{
    const mxl_strided *lies = s->strided;
    int last = lies->ndim - 1;
    int64_t inner = pos % lies->shape[last], offset = inner * lies->stride[last];

    *run = lies->shape[last] - inner;
    pos /= lies->shape[last];
    for (int axis = last - 1; axis >= 0; axis--) {
        offset += pos % lies->shape[axis] * lies->stride[axis];
        pos /= lies->shape[axis];
    }
    return s->data + offset * (int64_t)s->size;
}

#endif
