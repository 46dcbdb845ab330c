/* Images in another size: each output row and column is a sum of a few input rows and columns. For
 * ops/nn/resample.c. float32 and float64. */
#ifndef MXL_KERNEL_SPATIAL_RESAMPLE_H
#define MXL_KERNEL_SPATIAL_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mxl_resample_kind {
    MXL_RESAMPLE_BILINEAR, /* between the two nearest positions; pixels are areas */
    MXL_RESAMPLE_CORNERS,  /* the same; the first and last positions coincide */
    MXL_RESAMPLE_MEAN,     /* the mean of the positions that an output covers */
    MXL_RESAMPLE_NEAREST   /* the position in which an output lies */
} mxl_resample_kind;

/* One axis: output o is the sum of weight[t] * input index[t] for t in [start[o], start[o + 1]);
 * indices grow. */
typedef struct mxl_taps {
    int64_t in, out;
    int64_t *start, *index;
    double *weight;
    size_t bytes; /* of the block that begins at `start` */
} mxl_taps;

/* Fills the taps from `in` to `out` positions, both > 0; `adjoint`: those of the adjoint of the map
 * from `out` to `in` positions. -1 with the error set; otherwise mxl_taps_free must follow. */
int mxl_taps_make(mxl_taps *taps, mxl_resample_kind kind, int64_t in, int64_t out, bool adjoint);
void mxl_taps_free(mxl_taps *taps);

/* y (planes, rows.out, columns.out) from x (planes, rows.in, columns.in), contiguous. */
void mxl_resample(int dtype, int64_t planes, const mxl_taps *rows, const mxl_taps *columns,
                  const void *x, void *y);

#endif
