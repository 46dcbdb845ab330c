/* Samples that are in memory, of a text file or of MNIST's files; for csv.c, libsvm.c and mnist.c.
 */
#ifndef MXL_DATA_FILES_H
#define MXL_DATA_FILES_H

#include "data/batches.h"

typedef struct mxl_samples {
    char *data, *label; /* one sample behind the other; `label` NULL: zeros */
    size_t data_bytes, label_bytes;
} mxl_samples;

/* The kinds of iterator over them. */
extern const mxl_batches_kind mxl_batches_csv, mxl_batches_mnist, mxl_batches_libsvm;

/* A shape parameter as a shape, and the number of its elements. -1 with the error set. */
int64_t mxl_samples_shape(const char *name, mxl_tuple given, mxl_shape *shape);

#endif
