/* The list of operator families, one for each file: X(NAME) is the array mxl_ops_NAME. An operator
 * is registered only through it. The registry gets it as the library is loaded. A build may lack
 * the parts other than CORE (mk/parts.mk). */
#include "ops/families.h"

/* clang-format off */
#define CORE(X) \
    X(unary) X(binary) X(scalar) X(cast) X(cast_storage) X(embed_rows) X(fill) X(as_strided) X(reduce) X(dot) \
    X(mm) X(softmax) X(dropout) X(random) X(shuffle) X(shape_array) X(slice) \
    X(concat) X(take) X(keys) X(one_hot) X(gather_nd) X(allclose) X(sequence) X(ravel) \
    X(embedding) X(reshape) X(expand) X(transpose) X(split) X(slice_axis) X(diag) X(pad) X(powers) X(trig) \
    X(round) X(compare) X(bits) X(cumprod) X(scatter) X(nonzero) X(found) X(maximum) X(hypot) \
    X(division) X(exponent) X(special) X(where) X(activation) X(leaky) X(norm) X(variance) X(range) \
    X(batch_dot) X(linalg) X(histogram) X(sort) X(loss) X(softmax_output) X(convolution) \
    X(deconvolution) X(batch_norm) X(layer_norm) X(local_norm) X(pooling) X(custom) \
    X(svm_output) X(sparse_reg) X(sparse_rows)
#define FOURIER(X) X(fourier)
#define IMAGES(X) X(image) X(image_random) X(resize) X(cv)
#define LINALG(X) X(linalg_qr) X(linalg_solve) X(linalg_triangle) X(linalg_factor) X(linalg_det)
#define NUMPY(X) \
    X(np_arithmetic) X(np_reductions) X(np_where) X(np_products) X(np_reshape) X(np_distributions) \
    X(np_choice) X(np_solve) X(np_einsum) X(np_pinv) X(np_spectral) X(np_norm) X(np_pairs) \
    X(np_create) X(np_diagonals) X(np_turns) X(np_values) X(np_edits) X(np_order)
#define OLD(X)        X(refused)
#define OPTIMIZERS(X) X(sgd) X(multi_sgd) X(adam) X(adamw) X(lamb) X(finite) X(amp)
#define QUANTIZED(X) \
    X(quantize) X(layers) X(pieces) X(arithmetic) X(calibrate)
#define SEQUENCES(X) X(rnn) X(attention) X(scaled_attention) X(ctc)
#define SPARSE(X)     X(dgl) X(dgl_sample)
#define STATISTICS(X) X(density) X(sample) X(multinomial) X(hawkes) X(functions) X(ranks) X(scatter_reduce)
#define SYMBOLS(X) X(control) X(fused_convolution) X(fused_dense) X(gelu) X(fast_convolution) X(batch_norm_cut)
#define TORCH(X)   X(combined) X(nll) X(soft)
#define VISION(X) \
    X(resample) X(upsampling) X(im2col) X(sampler) X(roi) X(boxes) X(nms) X(multibox) \
    X(multibox_target) X(proposal) X(deformable) X(correlation) X(pooling_v1) X(psroi) X(deformable_psroi)

#define DECLARED(name) extern const mxl_op *const mxl_ops_##name[];
#define LISTED(name)   mxl_ops_##name,

CORE(DECLARED)
FOURIER(DECLARED)
IMAGES(DECLARED)
LINALG(DECLARED)
NUMPY(DECLARED)
OLD(DECLARED)
OPTIMIZERS(DECLARED)
QUANTIZED(DECLARED)
SEQUENCES(DECLARED)
SPARSE(DECLARED)
STATISTICS(DECLARED)
TORCH(DECLARED)
SYMBOLS(DECLARED)
VISION(DECLARED)

const mxl_op *const *const mxl_families[] = {
    CORE(LISTED)
#ifndef MXL_WITHOUT_FOURIER
    FOURIER(LISTED)
#endif
#ifndef MXL_WITHOUT_IMAGES
    IMAGES(LISTED)
#endif
#ifndef MXL_WITHOUT_LINALG
    LINALG(LISTED)
#endif
#ifndef MXL_WITHOUT_NUMPY
    NUMPY(LISTED)
#endif
#ifndef MXL_WITHOUT_OLD
    OLD(LISTED)
#endif
#ifndef MXL_WITHOUT_OPTIMIZERS
    OPTIMIZERS(LISTED)
#endif
#ifndef MXL_WITHOUT_QUANTIZED
    QUANTIZED(LISTED)
#endif
#ifndef MXL_WITHOUT_SEQUENCES
    SEQUENCES(LISTED)
#endif
#ifndef MXL_WITHOUT_SPARSE
    SPARSE(LISTED)
#endif
#ifndef MXL_WITHOUT_STATISTICS
    STATISTICS(LISTED)
#endif
#ifndef MXL_WITHOUT_TORCH
    TORCH(LISTED)
#endif
#ifndef MXL_WITHOUT_SYMBOLS
    SYMBOLS(LISTED)
#endif
#ifndef MXL_WITHOUT_VISION
    VISION(LISTED)
#endif
    NULL};
/* clang-format on */

__attribute__((constructor)) static void start(void)
{
    mxl_registry_begin(mxl_families);
}
