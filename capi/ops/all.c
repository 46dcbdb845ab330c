/* The list of operator families, one for each file: X(NAME) is the array mxl_ops_NAME. An operator
 * is registered only through it. The registry gets it as the library is loaded. */
#include "op/op.h"

/* clang-format off */
#define FAMILIES(X) \
    X(unary) X(binary) X(scalar) X(copy) X(init) X(strided) X(reduce) X(matrix) X(mm) X(sgd) \
    X(multi_sgd) X(adam) X(adamw) X(lamb) X(finite) X(amp) X(softmax) X(dropout) X(random) \
    X(sample) X(multinomial) X(shuffle) X(density) X(extents) X(slice) X(join) X(index) \
    X(one_hot) X(keys) X(gather_nd) X(allclose) X(sequence) X(positions) X(lookup) X(reshape) X(expand) \
    X(order) X(split) X(part) X(diag) X(pad) X(powers) X(trig) X(round) X(compare) X(bits) \
    X(cumprod) X(scatter) X(nonzero) X(median) X(extremum) X(hypot) X(division) X(exponent) \
    X(special) X(choose) X(activation) X(leaky) X(norm) X(range) X(batch) X(histogram) X(sort) \
    X(linalg) X(linalg_solve) X(linalg_triangle) X(linalg_factor) X(linalg_det) X(loss) \
    X(softmax_output) X(convolution) X(deconvolution) X(batch_norm) X(layer_norm) X(local_norm) \
    X(pooling) X(resample) X(im2col) X(upsampling) X(sampler) X(roi) X(boxes) X(nms) X(multibox) \
    X(multibox_target) X(image) X(image_random) X(resize) X(cv) X(rnn) X(ctc) X(attention) X(custom) \
    X(hawkes) X(svm_output) X(proposal) X(deformable) X(np_arithmetic) X(np_reductions) \
    X(np_moves) X(np_products) X(np_reshape) X(np_distributions) X(np_choice) X(np_tensordot) \
    X(np_solve) X(np_einsum) X(np_svd) X(np_eigen) X(np_norm) X(np_pairs) X(np_create) \
    X(np_diagonals) X(np_turns) X(np_values) X(np_edits) X(np_order) X(control) \
    X(correlation) X(pooling_v1) X(psroi) X(deformable_psroi) X(sparse_reg) X(refused)
/* clang-format on */

#define DECLARED(name) extern const mxl_op *const mxl_ops_##name[];
#define LISTED(name)   mxl_ops_##name,

FAMILIES(DECLARED)

extern const mxl_op *const *const mxl_families[]; /* what programs that link the archive ask for */
const mxl_op *const *const mxl_families[] = {FAMILIES(LISTED) NULL};

__attribute__((constructor)) static void start(void)
{
    mxl_registry_begin(mxl_families);
}
