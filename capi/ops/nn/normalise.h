/* What BatchNorm, LayerNorm, InstanceNorm and GroupNorm share: a result that is normalised,
 * scaled and shifted, and its gradients. Their inputs begin with data, gamma (the scale) and beta
 * (the shift); their outputs are the result, the means, and what `second` says. */
#ifndef MXL_OPS_NN_NORMALISE_H
#define MXL_OPS_NN_NORMALISE_H

#include "ops/build.h"

/* The elements that are normalised together, of data seen as an array (a, b, c). */
typedef enum mxl_norm_over {
    MXL_OVER_OTHERS, /* a and c: a statistic for each position along b (BatchNorm) */
    MXL_OVER_AXIS,   /* b (LayerNorm) */
    MXL_OVER_REST    /* c (InstanceNorm, GroupNorm) */
} mxl_norm_over;

typedef struct mxl_normalise {
    mxl_norm_over over;
    int64_t shape[3]; /* (a, b, c); scale and shift belong to positions along b */
    int64_t kept[3];  /* the shape of the statistics: 1 where elements are normalised together */
    double eps;
    bool fixed;     /* the scale is 1, and has no gradient */
    bool given;     /* inputs 3 and 4 are the means and variances */
    bool deviation; /* output 2 is sqrt(variance + eps), else its inverse */
} mxl_normalise;

/* Data of these dimensions around an axis, or with b and c chosen freely. */
mxl_normalise mxl_normalise_axis(mxl_norm_over over, int axis, int ndim, const int64_t *shape);
mxl_normalise mxl_normalise_of(mxl_norm_over over, int64_t a, int64_t b, int64_t c);

int mxl_normalise_compute(const mxl_call *call, const mxl_normalise *n);

/* The vjp, written with operators, and in one pass. Both set the gradients of inputs 0, 1 and 2,
 * from those of all three outputs. Nodes save inputs 0 and (unless fixed) 1, and outputs 1 and 2.
 */
int mxl_normalise_grad(mxl_grad *g, const mxl_normalise *n);
int mxl_normalise_grad_kernel(mxl_grad *g, const mxl_normalise *n);
void mxl_normalise_saves(mxl_saves *saves);

#endif
