/* Macros for descriptors of element-wise operators, used once for each operator, after its vjp. */
#ifndef MXL_OPS_ELEMENTWISE_ELEMENTWISE_H
#define MXL_OPS_ELEMENTWISE_ELEMENTWISE_H

#include "kernel/elementwise/loop_of.h"
#include "ops/build.h"
#include "ops/sparse/forms.h"

/* A function of one array, without parameters: the operator mxl_op_ID, called ID, with the loops
 * ID_kernels. After these comes its documentation, then the other fields by their names: aliases,
 * grad, saves ... MXL_UNARY_AS takes the name and the loops too. */
#define MXL_UNARY(id, ...) MXL_UNARY_AS(id, #id, id, __VA_ARGS__)
#define MXL_UNARY_AS(id, op_name, kernel, ...)                                                     \
    const mxl_op mxl_op_##id = {                                                                   \
        .name = op_name,                                                                           \
        .infer = mxl_infer_same,                                                                   \
        MXL_LOOPS(kernel),                                                                         \
        .doc = __VA_ARGS__,                                                                        \
    }

/* The fields of a descriptor for a vjp that MXL_DX_OF_X or MXL_DX_OF_Y defines: the vjp, and the
 * tensor that it reads. */
#define MXL_RULE_OF_X(id) .grad = id##_grad, .saves = mxl_saves_input
#define MXL_RULE_OF_Y(id) .grad = id##_grad, .saves = mxl_saves_output

/* A function of two arrays whose shapes broadcast (mxl_infer_broadcast), or are equal
 * (mxl_infer_same). */
#define MXL_BINARY(id, op_name, shapes, kernel, ...)                                               \
    const mxl_op mxl_op_##id = {                                                                   \
        .name = op_name,                                                                           \
        .inputs = mxl_inputs_lhs_rhs,                                                              \
        .infer = shapes,                                                                           \
        MXL_LOOPS(kernel),                                                                         \
        .doc = __VA_ARGS__,                                                                        \
    }

/* One function of two arrays as its two operators: broadcast_ID, and PREFIX ID of equal shapes,
 * mxl_op_same_ID; with the sparse forms of both, or NULL. */
#define MXL_BINARY_PAIR(id, prefix, text, broadcast_aliases, same_aliases, ...)                    \
    MXL_SPARSE_PAIR(id, prefix, text, broadcast_aliases, NULL, same_aliases, NULL, __VA_ARGS__)
#define MXL_SPARSE_PAIR(id, prefix, text, broadcast_aliases, broadcast_forms, same_aliases,        \
                        same_forms, ...)                                                           \
    MXL_BINARY(broadcast_##id, "broadcast_" #id, mxl_infer_broadcast, id,                          \
               text " The shapes are broadcast by NumPy's rule.", .aliases = broadcast_aliases,    \
               .sparse = broadcast_forms, __VA_ARGS__);                                            \
    static MXL_BINARY(same_##id, prefix #id, mxl_infer_same, id,                                   \
                      text " The shapes must be equal.", .aliases = same_aliases,                  \
                      .sparse = same_forms, __VA_ARGS__)

/* A function of an array and a number: _ID, or of another name. */
#define MXL_SCALAR(id, ...) MXL_SCALAR_AS(id, "_" #id, id, __VA_ARGS__)
#define MXL_SCALAR_AS(id, op_name, kernel, ...)                                                    \
    const mxl_op mxl_op_##id = {                                                                   \
        .name = op_name,                                                                           \
        MXL_PARAMS(mxl_scalar_params, mxl_params_scalar),                                          \
        .infer = mxl_scalar_infer,                                                                 \
        .dtypes_of = mxl_scalar_dtypes,                                                            \
        .compute = mxl_scalar_compute,                                                             \
        .kernels = &kernel##_kernels,                                                              \
        .doc = __VA_ARGS__,                                                                        \
    }

/* The field of an operator of an array and a number, of which a front end that promotes makes the
 * operator of two arrays where the array is not floating; `first`: the number comes first. */
#define MXL_OF_TWO(op, first)                                                                      \
    .promotion = &(const mxl_promotion)                                                            \
    {                                                                                              \
        .as_is = MXL_SET_FLOATS, .of_two = &(op), .number_first = (first)                          \
    }

/* In a vjp: the number of an operator made with MXL_SCALAR. */
static inline double mxl_grad_scalar(const mxl_grad *g)
{
    return ((const mxl_scalar_params *)g->params)->scalar;
}

/* |x|, and the greatest common divisor by Euclid's algorithm: of 0 and another the other one. */
static inline uint64_t mxl_size_of(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static inline uint64_t mxl_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The loop of uint64 of operators that change none of its numbers. */
void mxl_same_u64(void *out, const void *const *in, const int64_t *step, int64_t n,
                  const void *params);

/* The same of signs: 1, and 0 of 0. */
void mxl_sign_u64(void *out, const void *const *in, const int64_t *step, int64_t n,
                  const void *params);

/* Quotients of uint64, cut; 0 where the divisor is 0. */
void mxl_quotient_u64(void *out, const void *const *in, const int64_t *step, int64_t n,
                      const void *params);

/* Operators that several of these files call. */
extern const mxl_op mxl_op_sin, mxl_op_cos, mxl_op_sinh, mxl_op_cosh, mxl_op_floor, mxl_op_log,
    mxl_op_sqrt, mxl_op_rsqrt, mxl_op_reciprocal, mxl_op_erf, mxl_op_tanh, mxl_op_sigmoid,
    mxl_op_relu, mxl_op_abs, mxl_op_softsign, mxl_op_minimum_scalar, mxl_op_greater,
    mxl_op_greater_equal, mxl_op_lesser, mxl_op_lesser_equal, mxl_op_equal_scalar,
    mxl_op_greater_scalar, mxl_op_greater_equal_scalar, mxl_op_lesser_scalar,
    mxl_op_lesser_equal_scalar, mxl_op_broadcast_power, mxl_op_hypot_scalar, mxl_op_clip,
    mxl_op_where, mxl_op_not_equal, mxl_op_not_equal_scalar, mxl_op_broadcast_mod,
    mxl_op_broadcast_maximum, mxl_op_rpower_scalar, mxl_op_logical_not, mxl_op_trunc,
    mxl_op_round_even, mxl_op_expm1, mxl_op_atan2, mxl_op_and, mxl_op_or, mxl_op_xor, mxl_op_lcm;

/* The operator that Activation's parameters choose. */
extern const mxl_op mxl_op_activation;
extern const mxl_op mxl_op_amp_cast, mxl_op_amp_multicast;
const mxl_op *mxl_activation_of(const void *params);
/* The loops of an operator with these parameters that computes each element of one floating array
 * from that element, and has its dtype; NULL: it is none. */
const mxl_kernels *mxl_activation_kernels(const mxl_op *op, const void *params);
/* The same of LeakyReLU's parameters. */
extern const mxl_op mxl_op_leaky_relu;
const mxl_kernels *mxl_leaky_kernels(const void *params);
extern const mxl_op mxl_op_gelu, mxl_op_gelu_tanh; /* in the part symbols */

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
