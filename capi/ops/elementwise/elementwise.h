/* Macros for descriptors of element-wise operators, used once for each operator, after its vjp. */
#ifndef MXL_OPS_ELEMENTWISE_ELEMENTWISE_H
#define MXL_OPS_ELEMENTWISE_ELEMENTWISE_H

#include "ops/build.h"

/* A function of one array, without parameters. */
#define MXL_UNARY_OP(op_symbol, op_name, op_aliases, op_doc, op_kernels, op_grad, op_saves)        \
    const mxl_op op_symbol = {                                                                     \
        .name = op_name,                                                                           \
        .aliases = op_aliases,                                                                     \
        .doc = op_doc,                                                                             \
        .inputs = mxl_inputs_data,                                                                 \
        .params = mxl_params_none,                                                                 \
        .infer = mxl_infer_same,                                                                   \
        .compute = mxl_run_loops,                                                                  \
        .kernels = &op_kernels,                                                                    \
        .grad = op_grad,                                                                           \
        .saves = op_saves,                                                                         \
    }

/* The same with `op_grad_kernel` (MXL_GRAD_KERNEL). */
#define MXL_UNARY_OP_FAST(op_symbol, op_name, op_aliases, op_doc, op_kernels, op_grad, op_saves,   \
                          op_grad_kernel)                                                          \
    const mxl_op op_symbol = {                                                                     \
        .name = op_name,                                                                           \
        .aliases = op_aliases,                                                                     \
        .doc = op_doc,                                                                             \
        .inputs = mxl_inputs_data,                                                                 \
        .params = mxl_params_none,                                                                 \
        .infer = mxl_infer_same,                                                                   \
        .compute = mxl_run_loops,                                                                  \
        .kernels = &op_kernels,                                                                    \
        .grad = op_grad,                                                                           \
        .saves = op_saves,                                                                         \
        .grad_kernel = op_grad_kernel,                                                             \
    }

/* A function of two arrays, whose shapes broadcast or are equal, depending on op_infer. */
#define MXL_BINARY_OP(op_symbol, op_name, op_aliases, op_doc, op_infer, op_kernels, op_grad,       \
                      op_saves)                                                                    \
    const mxl_op op_symbol = {                                                                     \
        .name = op_name,                                                                           \
        .aliases = op_aliases,                                                                     \
        .doc = op_doc,                                                                             \
        .inputs = mxl_inputs_lhs_rhs,                                                              \
        .params = mxl_params_none,                                                                 \
        .infer = op_infer,                                                                         \
        .compute = mxl_run_loops,                                                                  \
        .kernels = &op_kernels,                                                                    \
        .grad = op_grad,                                                                           \
        .saves = op_saves,                                                                         \
    }

/* One function of two arrays as its two operators: broadcast_verb, and _verb of equal shapes. */
#define MXL_ARRAYS_OPS(verb, broadcast_aliases, same_alias, text, op_grad, op_saves)               \
    MXL_BINARY_OP(mxl_op_broadcast_##verb, "broadcast_" #verb, broadcast_aliases,                  \
                  text " The shapes are broadcast by NumPy's rule.", mxl_infer_broadcast,          \
                  verb##_kernels, op_grad, op_saves);                                              \
    static MXL_BINARY_OP(op_same_##verb, "_" #verb, MXL_ALIASES(same_alias),                       \
                         text " The shapes must be equal.", mxl_infer_same, verb##_kernels,        \
                         op_grad, op_saves)

/* A function of an array and a number. */
#define MXL_SCALAR_OP(op_symbol, op_name, op_aliases, op_doc, op_kernels, op_grad, op_saves)       \
    const mxl_op op_symbol = {                                                                     \
        .name = op_name,                                                                           \
        .aliases = op_aliases,                                                                     \
        .doc = op_doc,                                                                             \
        .inputs = mxl_inputs_data,                                                                 \
        .params = mxl_params_scalar,                                                               \
        .params_size = sizeof(mxl_scalar_params),                                                  \
        .infer = mxl_scalar_infer,                                                                 \
        .compute = mxl_scalar_compute,                                                             \
        .kernels = &op_kernels,                                                                    \
        .grad = op_grad,                                                                           \
        .saves = op_saves,                                                                         \
    }

/* In a vjp: the number of an operator made with MXL_SCALAR_OP. */
static inline double mxl_grad_scalar(const mxl_grad *g)
{
    return ((const mxl_scalar_params *)g->params)->scalar;
}

/* Operators that several of these files call. */
extern const mxl_op mxl_op_sin, mxl_op_cos, mxl_op_sinh, mxl_op_cosh, mxl_op_floor, mxl_op_log,
    mxl_op_sqrt, mxl_op_rsqrt, mxl_op_reciprocal, mxl_op_erf, mxl_op_tanh, mxl_op_sigmoid,
    mxl_op_relu, mxl_op_abs, mxl_op_softsign, mxl_op_minimum_scalar, mxl_op_greater,
    mxl_op_greater_equal, mxl_op_lesser, mxl_op_lesser_equal, mxl_op_equal_scalar,
    mxl_op_greater_scalar, mxl_op_greater_equal_scalar, mxl_op_lesser_scalar,
    mxl_op_lesser_equal_scalar, mxl_op_broadcast_power, mxl_op_hypot_scalar, mxl_op_clip,
    mxl_op_where;

typedef struct mxl_clip_params {
    double a_min;
    double a_max;
} mxl_clip_params;

/* scope: x clamped between two numbers; a where the condition is not 0, else b; and a, but 0 where
 * the condition is not 0, even for NaN and infinity. The condition has the shape of a. */
mxl_array *mxl_digamma(mxl_scope *s, mxl_array *x); /* the derivative of log(gamma(x)) */
mxl_array *mxl_clip(mxl_scope *s, mxl_array *x, double a_min, double a_max);
mxl_array *mxl_where(mxl_scope *s, mxl_array *condition, mxl_array *a, mxl_array *b);
mxl_array *mxl_zero_where(mxl_scope *s, mxl_array *condition, mxl_array *a);

#endif
