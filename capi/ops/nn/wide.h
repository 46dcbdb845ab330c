/* For operators with loops for float32 and float64 alone: half arrays are computed in float32. */
#ifndef MXL_OPS_NN_WIDE_H
#define MXL_OPS_NN_WIDE_H

#include "op/op.h"

enum { MXL_WIDE_INPUTS = 4 };

/* The arrays of a call with one output: its own, or float32 copies of those that are float16. */
typedef struct mxl_wide {
    int dtype; /* of the output: MXL_F32 or MXL_F64 */
    mxl_array *in[MXL_WIDE_INPUTS], *out;
    const mxl_call *call;
} mxl_wide;

/* Makes the copies. -1 with the error set; otherwise mxl_wide_end must follow. */
int mxl_wide_begin(mxl_wide *wide, const mxl_call *call);

/* Unless `status` is -1 (an error that is set), writes the result to the output of the call; drops
 * the copies. 0, or -1 with the error set. */
int mxl_wide_end(mxl_wide *wide, int status);

#endif
