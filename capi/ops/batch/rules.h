/* How whole batches run, of operators for which no field says it: the field `batch` of their
 * descriptors. The contract is that of the field; engine/batch/batch.h has what rules are made of.
 */
#ifndef MXL_OPS_BATCH_RULES_H
#define MXL_OPS_BATCH_RULES_H

#include "engine/batch/batch.h"

/* Products of two matrices (mm, dot), and with a third array added: one product where the second
 * factor is the same for all examples, else one for each example, by batch_dot. */
int mxl_vmap_mm(mxl_batch *b, mxl_array **out);
int mxl_vmap_addmm(mxl_batch *b, mxl_array **out);
int mxl_vmap_linear(mxl_batch *b, mxl_array **out);

/* Edits: values over a part that strides name, broadcast over all of an array, or into one that is
 * given. */
int mxl_vmap_strided_put(mxl_batch *b, mxl_array **out);
int mxl_vmap_copy_over(mxl_batch *b, mxl_array **out);
int mxl_vmap_copyto(mxl_batch *b, mxl_array **out);

/* Keys with index arrays, and positions along an axis: the examples are a further index array,
 * unless the array that is read is the same for all. Masks that differ among examples: 0. */
int mxl_vmap_index(mxl_batch *b, mxl_array **out);
int mxl_vmap_index_add(mxl_batch *b, mxl_array **out);
int mxl_vmap_index_put(mxl_batch *b, mxl_array **out);
int mxl_vmap_take(mxl_batch *b, mxl_array **out);
int mxl_vmap_take_grad(mxl_batch *b, mxl_array **out);
int mxl_vmap_searchsorted(mxl_batch *b, mxl_array **out);

/* Convolutions of which each example has its own kernels, or kernels' derivative: examples are
 * groups of channels. */
int mxl_vmap_conv(mxl_batch *b, mxl_array **out);
int mxl_vmap_conv_x(mxl_batch *b,
                    mxl_array **out); /* transposed: kernels begin with data's channels */
int mxl_vmap_conv_w(mxl_batch *b, mxl_array **out);

/* Normalisation of which each example has its own weight, bias or statistics; attention with a mask
 * for each; the loss of each. */
int mxl_vmap_normalise(mxl_batch *b, mxl_array **out);
int mxl_vmap_attention(mxl_batch *b, mxl_array **out);
int mxl_vmap_mse_loss(mxl_batch *b, mxl_array **out);

/* Recurrent networks with the same parameters, dropout and lengths' use for all examples: more rows
 * of the batch that they have. */
int mxl_vmap_rnn(mxl_batch *b, mxl_array **out);

/* Moves axis `from` of an array to place `to`; scoped, NULL after an error. */
mxl_array *mxl_vmap_move(mxl_batch *b, mxl_array *a, int from, int to);

#endif
