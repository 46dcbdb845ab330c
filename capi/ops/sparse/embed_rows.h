/* Embeddings by rows, for Embedding. */
#ifndef MXL_OPS_SPARSE_EMBED_ROWS_H
#define MXL_OPS_SPARSE_EMBED_ROWS_H

#include "ops/build.h"

/* The rows of a dense or row_sparse matrix that the index names; its gradient is row_sparse. */
mxl_array *mxl_embed_rows(mxl_scope *s, mxl_array *index, mxl_array *weight);

#endif
