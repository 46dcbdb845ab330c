/* Loops of a pass that follow each other and are instructions (instructions.h) run as one program,
 * in registers: a segment. Between kernel/elementwise/chain.c, which runs passes, and
 * instructions.c. */
#ifndef MXL_KERNEL_ELEMENTWISE_SEGMENTS_H
#define MXL_KERNEL_ELEMENTWISE_SEGMENTS_H

#include "kernel/elementwise/chain_tile.h"
#include "kernel/elementwise/instructions.h"

enum { MXL_SEGMENT_ROOM = 3 * MXL_CHAIN_LINKS /* a load, an operation and a store for each */ };

/* An instruction, and where its operand is. */
typedef struct mxl_segment_instruction {
    mxl_code_fn run;
    const mxl_stream *stream; /* NULL: the operand is the scalar of `params`, or there is none */
    const void *params;       /* NULL: there is no scalar */
} mxl_segment_instruction;

/* The segments of a pass. */
typedef struct mxl_segments {
    int links[MXL_CHAIN_LINKS]; /* how many links the segment has that begins here; 0: none does */
    int first[MXL_CHAIN_LINKS]; /* its instructions are first[i] to end[i] - 1 of the list */
    int end[MXL_CHAIN_LINKS];
    bool in_registers; /* the pass is one segment, and only stores what is not scratch */
    int count;
    mxl_segment_instruction list[MXL_SEGMENT_ROOM];
} mxl_segments;

/* Finds the segments. `whole` says of each link whether its operands with strides are contiguous,
 * or one number, in every tile. */
void mxl_segments_find(mxl_segments *s, const mxl_link *links, int count, const bool *whole);

/* Runs the segment that begins with link i on the first elements of a tile. The number of elements
 * that are done: all but what is left of the last block. */
int64_t mxl_segment_run(const mxl_segments *s, int i, size_t size, const mxl_chain_tile *tile);

#endif
