/* The Gaussian error linear unit and its approximation by tanh, each as one operator: of graphs
 * that only predict (symbol/passes/layers.c), so there is no gradient. */
#include "kernel/math/gelu.h"

#include "ops/elementwise/elementwise.h"

/* Not of float64: graphs have their constants in float32. x / (1 + e^-2u) is x (1 + tanh(u)) / 2.
 */
#define ROOT 0.797884561f /* of 2 / pi */

MXL_UNARY_LOOP(gelu_tanh_f32, f32, x *mxl_loop_sigmoid(2 * ROOT * (x + 0.044715f * x * x * x)))
MXL_UNARY_LOOP_VIA(gelu_tanh, f16)

static const mxl_kernels gelu_tanh_kernels = {
    .row = {[MXL_F32] = gelu_tanh_f32, [MXL_F16] = gelu_tanh_f16}, .weight = 2};

const mxl_op mxl_op_gelu = {
    .name = "_mxl_gelu",
    .doc = "x P(X < x) of each element, of the standard normal distribution.",
    .infer = mxl_infer_float_same,
    .compute = mxl_run_loops,
    .kernels = &mxl_gelu_narrow_kernels,
};

const mxl_op mxl_op_gelu_tanh = {
    .name = "_mxl_gelu_tanh",
    .doc = "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 of each element.",
    .infer = mxl_infer_float_same,
    MXL_LOOPS(gelu_tanh),
};

const mxl_op *const mxl_ops_gelu[] = {&mxl_op_gelu, &mxl_op_gelu_tanh, NULL};
