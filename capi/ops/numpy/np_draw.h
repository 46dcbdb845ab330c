/* Drawing numbers of a distribution whose parameters are numbers or arrays that broadcast: the
 * operator that the composites of distributions.c begin with. */
#ifndef MXL_OPS_NUMPY_NP_DRAW_H
#define MXL_OPS_NUMPY_NP_DRAW_H

#include "ops/numpy/numpy.h"
#include "ops/random/random_ops.h"

/* What a parameter must be. */
typedef enum mxl_bound { MXL_ANY, MXL_NOT_BELOW_0, MXL_ABOVE_0, MXL_WITHIN_0_1 } mxl_bound;

typedef struct mxl_distribution {
    const char *first, *second; /* names of the parameters; NULL: there is no second */
    mxl_bound first_bound, second_bound;
    mxl_sampler sampler; /* NULL: normal or exponential numbers by rng.h */
    bool standard;       /* draws numbers of parameters 0 and 1, which the composite scales */
    bool batch;          /* `size` comes before the parameters' shape, in place of it */
} mxl_distribution;

/* One call of the operator that draws; `shape` and `dtype` are the result's. Numbers are NaN where
 * an input takes their place. */
typedef struct mxl_draw_params {
    double first, second;
    mxl_tuple shape;
    int dtype;
    const mxl_distribution *of;
    const char *name; /* of the operator that errors are about */
} mxl_draw_params;

/* Draws; inputs get zeros as gradients. */
extern const mxl_op mxl_op_np_draw;

#endif
