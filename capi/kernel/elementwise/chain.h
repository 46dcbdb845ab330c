/* Runs several element-wise loops, and reductions of what they make, over the same elements in one
 * pass: tile by tile, one loop after the other, so that what one loop writes is in the first-level
 * cache when the next reads it. Called by array/pass.c. */
#ifndef MXL_KERNEL_ELEMENTWISE_CHAIN_H
#define MXL_KERNEL_ELEMENTWISE_CHAIN_H

#include <stdbool.h>

#include "kernel/elementwise/loop.h"
#include "kernel/reduce/reduce_tiles.h"

enum {
    MXL_CHAIN_LINKS = 64, /* the most loops and reductions in one pass */
    MXL_CHAIN_TAKERS = 8, /* the most reductions */
    MXL_CHAIN_NDIM = 4    /* the most axes of an operand with strides */
};

/* How an operand lies that is not contiguous, or is broadcast: the sizes of the elements that the
 * pass goes along, and the operand's strides in elements. The last stride is 0 or 1. */
typedef struct mxl_strided {
    int ndim;
    int64_t shape[MXL_CHAIN_NDIM];
    int64_t stride[MXL_CHAIN_NDIM];
} mxl_strided;

/* Describes an operand by the fewest axes. False: it needs too many, its last stride is another
 * one, or its runs are too short. */
bool mxl_strided_init(mxl_strided *s, int ndim, const int64_t *shape, const int64_t *strides);

/* An operand of a loop. */
typedef struct mxl_stream {
    char *data;   /* the first element */
    size_t size;  /* bytes of an element */
    int64_t step; /* 1, or 0: one element for all */
    /* The values are needed within the pass alone: each thread writes all its tiles to one place
     * within `data`, which has room for as many elements as the pass has. */
    bool scratch;
    bool edits; /* scratch: the pass reads what is in its memory before, element by element */
    const mxl_reduce_tiles *window; /* scratch: the reduction whose window keeps its tiles, which
                                       then lie one after another; NULL: none */
    bool fetched; /* set by mxl_chain_run: elements are asked for before they are needed */
    const mxl_strided *strided; /* NULL: contiguous. At most one input of a loop has strides; it has
                                   elements of the output's size */
} mxl_stream;

/* A loop of the pass, or a reduction of in[0]. An operand may be the output of an earlier loop. */
typedef struct mxl_link {
    const mxl_reduce_tiles *taker; /* NULL: a loop; one that computes whole rows has an output */
    mxl_loop row;
    mxl_opcode opcode; /* what the loop computes, if it is an instruction */
    const void *params;
    int num_in;
    mxl_stream out;
    mxl_stream in[MXL_LOOP_INPUTS];
} mxl_link;

/* Runs 1 to MXL_CHAIN_LINKS loops over n elements, in the order of the list, on several threads if
 * n * weight is large. `weight` is the sum of the loops' (mxl_kernels). All reductions agree
 * (mxl_reduce_tiles_agree); they take all elements, and the caller ends them. */
void mxl_chain_run(mxl_link *links, int count, int weight, int64_t n);

#endif
