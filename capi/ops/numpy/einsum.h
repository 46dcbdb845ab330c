/* The subscripts of _npi_einsum as labels, one for each axis. */
#ifndef MXL_OPS_NUMPY_EINSUM_H
#define MXL_OPS_NUMPY_EINSUM_H

#include "op/op.h"

/* Labels are characters; from MXL_EINSUM_ELLIPSIS on the axes of the ellipsis, the last one first.
 */
enum { MXL_EINSUM_ELLIPSIS = 128, MXL_EINSUM_LABELS = MXL_EINSUM_ELLIPSIS + MXL_MAX_NDIM };

typedef struct mxl_einsum_params {
    int64_t num_args, optimize;
    const char *subscripts;
} mxl_einsum_params;

/* The axes of one operand, or of the result. */
typedef struct mxl_einsum_term {
    int count;
    bool dots;      /* has an ellipsis, */
    int dots_at;    /* before this label; */
    int dots_count; /* which stands for that many axes */
    int label[MXL_MAX_NDIM];
} mxl_einsum_term;

/* A parsed call. */
typedef struct mxl_einsum {
    const char *name;
    int count;
    mxl_einsum_term *terms; /* count of them, owned, and the result's */
    int64_t size[MXL_EINSUM_LABELS];
} mxl_einsum;

/* Parses a call of `count` operands; mxl_einsum_free after success. -1 with the error set. */
int mxl_einsum_parse(const mxl_op *op, const mxl_einsum_params *p, int count, mxl_array *const *in,
                     mxl_einsum *e);
void mxl_einsum_free(mxl_einsum *e);

#endif
