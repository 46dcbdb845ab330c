/* Convolutions that are asked for speed rather than bits; see passes.h. */
#include "ops/conv/fast_convolution.h"
#include "symbol/passes/passes.h"

int mxl_pass_tiles(mxl_symbol *symbol)
{
    mxl_node_walk walk = {0};
    int changed = 0;

    if (!mxl_pass_is_on(MXL_PASS_TILES))
        return 0;
    if (mxl_walk_begin(&walk, symbol) != 0)
        return -1;
    for (int n = 0; n < walk.count; n++) {
        if (walk.node[n]->op != &mxl_op_convolution)
            continue;
        walk.node[n]->op = &mxl_op_fast_convolution; /* their parameters are the same */
        changed = 1;
    }
    mxl_walk_end(&walk);
    return changed;
}
