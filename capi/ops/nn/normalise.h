/* What BatchNorm, LayerNorm, InstanceNorm and GroupNorm share: a result that is normalised,
 * scaled and shifted, and its gradients. Their inputs begin with data; their outputs are the
 * result, the means, and what `deviation` says. */
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
    int scale, shift; /* their inputs; 0: there is none */
    int given;        /* the input of means, before that of variances; 0: they are computed */
    bool fixed;       /* the scale is 1, and has no gradient */
    bool relu;        /* the result is max(result, 0): there is no gradient */
    bool deviation;   /* output 2 is sqrt(variance + eps), else its inverse */
    bool cut;         /* the result is relu of what is normalised, where mxl_normalise_joins */
} mxl_normalise;

/* The parameters of _mxl_normalise. */
enum { MXL_NORM_LAST, MXL_NORM_OTHERS, MXL_NORM_REST };

typedef struct mxl_normalise_params {
    int over;
    int64_t count;
    double eps;
    int scaled, shifted, given;
} mxl_normalise_params;

/* Data of these dimensions around an axis, or with b and c chosen freely; scale and shift are
 * inputs 1 and 2. */
mxl_normalise mxl_normalise_axis(mxl_norm_over over, int axis, int ndim, const int64_t *shape);
mxl_normalise mxl_normalise_of(mxl_norm_over over, int64_t a, int64_t b, int64_t c);

/* Whether the kernel has relu in its pass, for data of a dtype. */
bool mxl_normalise_joins(const mxl_normalise *n, int dtype);

int mxl_normalise_compute(const mxl_call *call, const mxl_normalise *n);

/* The vjp, written with operators, and in one pass. Both set the gradients of data, scale and
 * shift, from those of all three outputs. Nodes save data and (unless fixed) scale, and outputs 1
 * and 2. */
int mxl_normalise_grad(mxl_grad *g, const mxl_normalise *n);
int mxl_normalise_grad_kernel(mxl_grad *g, const mxl_normalise *n);
void mxl_normalise_saves(mxl_saves *saves);
/* Whether the second can run: of a dense gradient of the result alone. With `cut` it needs output
 * 0; the first knows nothing of `cut`. */
bool mxl_normalise_in_one(mxl_grad *g);

/* LayerNorm of the last axis alone. */
extern const mxl_op mxl_op_last_norm;

#endif
