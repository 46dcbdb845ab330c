/* Where the inputs of a layer are that passes join with what follows it: data, weight; the bias;
 * gamma, beta, moving_mean and moving_var of a normalisation; an array that is added. For
 * ops/conv/fused_convolution.c and ops/linalg/fused_dense.c. */
#ifndef MXL_OPS_FUSED_PLACES_H
#define MXL_OPS_FUSED_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* -1: the input is absent. `gamma` is the first of four. */
typedef struct mxl_fused_places {
    int bias, gamma, added, count;
} mxl_fused_places;

static inline mxl_fused_places mxl_fused_places_of(bool bias, bool normalises, bool adds)
{
    mxl_fused_places at = {.bias = -1, .gamma = -1, .added = -1, .count = 2};

    if (bias)
        at.bias = at.count++;
    if (normalises) {
        at.gamma = at.count;
        at.count += 4;
    }
    if (adds)
        at.added = at.count++;
    return at;
}

/* The name of input i behind data, weight and bias; NULL for these. */
static inline const char *mxl_fused_input_name(mxl_fused_places at, int i)
{
    static const char *const norm[] = {"gamma", "beta", "moving_mean", "moving_var"};

    if (i == at.added)
        return "added";
    return at.gamma >= 0 && i >= at.gamma && i < at.gamma + 4 ? norm[i - at.gamma] : NULL;
}

#endif
