/* Operators as expressions, for vjps and composites: mxl_mul(s, a, b). Results are scoped; any NULL
 * argument gives NULL (see engine/run/scope.h). Also inputs and structs that several families
 * share. */
#ifndef MXL_OPS_BUILD_H
#define MXL_OPS_BUILD_H

#include "engine/backward/grad.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/scope.h"
#include "kernel/elementwise/loop.h"
#include "op/op.h"
#include "op/promotion.h"
#include "op/rule.h"

/* ---- any operator of one array, of two, of an array and a number ---- */
mxl_array *mxl_apply(mxl_scope *s, const mxl_op *op, mxl_array *a);
mxl_array *mxl_apply2(mxl_scope *s, const mxl_op *op, mxl_array *a, mxl_array *b);
mxl_array *mxl_apply_scalar(mxl_scope *s, const mxl_op *op, mxl_array *a, double b);

/* ---- element-wise; two arrays broadcast ---- */
mxl_array *mxl_add(mxl_scope *s, mxl_array *a, mxl_array *b);
mxl_array *mxl_sub(mxl_scope *s, mxl_array *a, mxl_array *b);
mxl_array *mxl_mul(mxl_scope *s, mxl_array *a, mxl_array *b);
mxl_array *mxl_div(mxl_scope *s, mxl_array *a, mxl_array *b);
mxl_array *mxl_equal(mxl_scope *s, mxl_array *a, mxl_array *b); /* 1 or 0, in the dtype of a */

mxl_array *mxl_add_scalar(mxl_scope *s, mxl_array *a, double b);
mxl_array *mxl_mul_scalar(mxl_scope *s, mxl_array *a, double b);
mxl_array *mxl_div_scalar(mxl_scope *s, mxl_array *a, double b);
mxl_array *mxl_rdiv_scalar(mxl_scope *s, mxl_array *a, double b); /* b / a */
mxl_array *mxl_pow_scalar(mxl_scope *s, mxl_array *a, double b);
mxl_array *mxl_one_minus(mxl_scope *s, mxl_array *a); /* 1 - a */

mxl_array *mxl_negative(mxl_scope *s, mxl_array *a);
mxl_array *mxl_square(mxl_scope *s, mxl_array *a);
mxl_array *mxl_exp(mxl_scope *s, mxl_array *a);
mxl_array *mxl_positive(mxl_scope *s, mxl_array *a); /* 1 where a > 0, a where it is NaN, else 0 */
mxl_array *mxl_sign(mxl_scope *s, mxl_array *a);     /* -1, 0, 1; 0 for NaN */
mxl_array *mxl_zeros_like(mxl_scope *s, mxl_array *a);
mxl_array *mxl_cast(mxl_scope *s, mxl_array *a, int dtype); /* a itself if it has the dtype */
/* a itself if it is floating, else in float64: gradients of functions of integers are computed so,
 * and cut when they are set. */
mxl_array *mxl_real(mxl_scope *s, mxl_array *a);
/* The numbers 0, 1 ... below `count`. */
mxl_array *mxl_range(mxl_scope *s, int64_t count, int dtype);

/* ---- shapes ---- */

/* Sums over the dimensions that broadcasting expanded, down to `shape`; if the number of elements
 * is equal, reshapes. */
mxl_array *mxl_sum_to(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape);
mxl_array *mxl_broadcast_to(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape);
/* The same elements in another shape of as many. */
mxl_array *mxl_reshape(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape);

/* The arrays one after another along an axis. */
mxl_array *mxl_concat(mxl_scope *s, int count, mxl_array *const *arrays, int axis);
mxl_array *mxl_reverse(mxl_scope *s, mxl_array *a, int axis); /* the axis in reverse order */
mxl_array *mxl_swap_axes(mxl_scope *s, mxl_array *a, int first, int second);
/* Which axis of a each axis of the result is, counted from 0. */
mxl_array *mxl_transpose(mxl_scope *s, mxl_array *a, const int64_t *axes);

/* The parts of a at positions of an axis, of any dtype; positions out of bounds give the first or
 * the last one. Of axis 0. And the gradient of that: zeros of a shape with the parts of a added at
 * the positions. */
mxl_array *mxl_take_axis(mxl_scope *s, mxl_array *a, mxl_array *at, int axis);
mxl_array *mxl_take_rows(mxl_scope *s, mxl_array *a, mxl_array *at);
mxl_array *mxl_take_back(mxl_scope *s, mxl_array *a, mxl_array *at, int64_t axis, int ndim,
                         const int64_t *shape);

/* ---- ends of vjps ---- */

/* Sets the gradient of input i to grad_output times a derivative; the same for both of two inputs,
 * where an unwanted derivative may be NULL. */
int mxl_grad_times(mxl_grad *g, int i, mxl_array *derivative);
int mxl_grad_times_both(mxl_grad *g, mxl_array *of_a, mxl_array *of_b);

/* Defines the vjp `name`_grad, which sets the gradient of input 0 to an expression. The expression
 * may use the scope s and the grad_output dy; in MXL_DX_OF_X also the saved input x, in MXL_DX_OF_Y
 * the saved output y. */
#define MXL_DX(name, ...)                                                                          \
    static int name##_grad(mxl_grad *g)                                                            \
    {                                                                                              \
        mxl_scope *s = g->s;                                                                       \
        mxl_array *dy = g->grad_output[0];                                                         \
                                                                                                   \
        return mxl_grad_set(g, 0, __VA_ARGS__);                                                    \
    }
#define MXL_DX_OF_X(name, ...) MXL_DX_OF(name, x, mxl_grad_in, __VA_ARGS__)
#define MXL_DX_OF_Y(name, ...) MXL_DX_OF(name, y, mxl_grad_out, __VA_ARGS__)
#define MXL_DX_OF(name, letter, SAVED, ...)                                                        \
    static int name##_grad(mxl_grad *g)                                                            \
    {                                                                                              \
        mxl_scope *s = g->s;                                                                       \
        mxl_array *dy = g->grad_output[0], *letter = SAVED(g, 0);                                  \
                                                                                                   \
        return mxl_grad_set(g, 0, __VA_ARGS__);                                                    \
    }

/* Sets the gradients of the factors of a product of matrices, inputs `first` and the next, from dY.
 * `op` computes the products of a factor and dY, with the parameters of g but other transpositions:
 * its parameter struct begins as g's does, with the ints transpose_a and transpose_b, and has at
 * most 64 bytes. */
int mxl_grad_factors(mxl_grad *g, const mxl_op *op, int first, mxl_array *dy);
int mxl_grad_factors_of_op(mxl_grad *g); /* the vjp of an operator that is such a product */

/* ---- vjps in one pass (grad_kernel) ---- */

/* Runs the loop with a as x and grad_output as y. Overwrites grad_output if it is uniquely owned.
 * Scoped; NULL if a is. The loop must support a's dtype, and the result have grad_output's shape.
 */
mxl_array *mxl_grad_loop(mxl_grad *g, const mxl_kernels *kernels, mxl_array *a);

/* Sets the gradient of input 0 so, from a saved value with grad_output's shape; without a loop for
 * the dtype, uses the composed vjp. */
int mxl_grad_loops(mxl_grad *g, const mxl_kernels *kernels, mxl_array *saved);

/* `name`_grad_kernel: dx as an expression in x, the saved value (SAVED is mxl_grad_in or
 * mxl_grad_out), and y, the gradient of the output; it rounds in the same order as the composed
 * vjp. */
#define MXL_GRAD_KERNEL(name, KERNELS, SAVED, ...)                                                 \
    KERNELS(name##_derivative, MXL_BINARY_LOOP, __VA_ARGS__);                                      \
    MXL_GRAD_LOOPS(name, SAVED)

/* The same for the floats, of an expression that is an instruction
 * (kernel/elementwise/instructions.h).
 */
#define MXL_GRAD_OPCODE(name, STEP, SAVED, ...)                                                    \
    MXL_FLOAT_OPCODE(name##_derivative, MXL_BINARY_LOOP, STEP, __VA_ARGS__);                       \
    MXL_GRAD_LOOPS(name, SAVED)

#define MXL_GRAD_LOOPS(name, SAVED)                                                                \
    static int name##_grad_kernel(mxl_grad *g)                                                     \
    {                                                                                              \
        return mxl_grad_loops(g, &name##_derivative_kernels, SAVED(g, 0));                         \
    }

/* ---- sums and products ---- */

/* The sum over one axis, which keeps size 1. */
mxl_array *mxl_sum_axis(mxl_scope *s, mxl_array *a, int axis);
/* For each element the product of those before it along an axis. */
mxl_array *mxl_products_before(mxl_scope *s, mxl_array *a, int axis);
/* softmax and log_softmax along one axis. */
mxl_array *mxl_softmax_axis(mxl_scope *s, mxl_array *a, int axis);
mxl_array *mxl_log_softmax_axis(mxl_scope *s, mxl_array *a, int axis);
/* The operator dot: contracts the last axis of a (or its first) with the first of b (or its last).
 */
mxl_array *mxl_dot(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a, bool transpose_b);

/* What Dropout multiplies an array of this shape with: 0 with probability p, else 1 / (1 - p). */
mxl_array *mxl_dropout_factors(mxl_scope *s, double p, int dtype, int ndim, const int64_t *shape);

/* ---- shared by families ---- */

/* The aliases of a descriptor: MXL_ALIASES("_sparse_exp"). */
#define MXL_ALIASES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* In place of aliases: the name of the NumPy operator that the descriptor is, too. */
#define MXL_AS_NUMPY(op_name) NULL, .numpy_name = op_name

/* The name of an operator of NumPy arrays: .name = MXL_NUMPY("_npi_add"). It says too that MXNet's
 * legacy mode is not for it: results without dimensions stay so, and its composition runs with
 * NumPy's shapes. */
#define MXL_NUMPY(op_name) op_name, .keeps_scalars = true

/* Parameters of sum, mean and max, and of dot. */
typedef struct mxl_reduce_params {
    mxl_tuple axis;
    int keepdims;
    int exclude;
} mxl_reduce_params;

typedef struct mxl_dot_params {
    int transpose_a;
    int transpose_b;
    int forward_stype; /* a position in mxl_storage_types */
} mxl_dot_params;

enum { MXL_DOT_DENSE = 2 };

/* The parameters of a product, with the documentation of the two transpositions. */
#define MXL_DOT_PARAMS(a_doc, b_doc)                                                               \
    MXL_PARAMS_OF(mxl_dot_params, MXL_PARAM(mxl_dot_params, transpose_a, MXL_P_BOOL, "0", a_doc),  \
                  MXL_PARAM(mxl_dot_params, transpose_b, MXL_P_BOOL, "0", b_doc),                  \
                  MXL_PARAM(mxl_dot_params, forward_stype, MXL_P_ENUM, "None",                     \
                            "Storage type of the result; None: as the operands' say.",             \
                            .values = mxl_storage_types))

extern const char *const mxl_storage_types[]; /* of forward_stype */
extern const mxl_input mxl_inputs_lhs_rhs[];  /* lhs, rhs */
extern const mxl_input mxl_inputs_none[];
extern const mxl_input mxl_inputs_np[];      /* a, of NumPy's operators of one array */
extern const char *const mxl_dtype_names[];  /* all but bfloat16's arithmetic; ends with NULL */
extern const char *const mxl_number_names[]; /* the same without bool */
extern const char *const mxl_float_names[];  /* None and the floating ones */

/* The shape of an array made from nothing: the parameter `shape`, with missing sizes taken from the
 * array given as output. -1 with the error set if a size is unknown, or ctx is not a CPU. */
int mxl_infer_fresh(mxl_infer *infer, mxl_tuple shape, const char *ctx);

/* The same for a shape and dtype that are computed. */
int mxl_infer_made(mxl_infer *infer, const char *ctx, int dtype, int ndim, const int64_t *shape);

/* An operator without inputs. After its name come the struct and table of its parameters, infer and
 * compute, documentation, then the other fields by their names. */
#define MXL_CREATOR(symbol, op_name, type, table, op_infer, op_compute, ...)                       \
    static const mxl_op symbol = {                                                                 \
        .name = op_name,                                                                           \
        .inputs = mxl_inputs_none,                                                                 \
        MXL_PARAMS(type, table),                                                                   \
        .infer = op_infer,                                                                         \
        .compute = op_compute,                                                                     \
        .grad = mxl_grad_zero,                                                                     \
        .doc = __VA_ARGS__,                                                                        \
    }

/* What graphs know of an operator that makes an array with the parameters `shape` and `dtype`. */
#define MXL_CREATES                                                                                \
    .complete_shapes = mxl_rule_creation, .complete_dtypes = mxl_rule_creation_dtypes

/* The parameters, infer, dtypes and compute of operators of an array and a number
 * (mxl_scalar_params). */
extern const mxl_param mxl_params_scalar[];
int mxl_scalar_infer(mxl_infer *infer);
const char *mxl_scalar_dtypes(const void *params);
/* The dtype in which an array and a number are computed, and that of the result. */
int mxl_scalar_dtype(int dtype, const mxl_scalar_params *params);
int mxl_scalar_compute(const mxl_call *call);

/* A vjp that passes grad_output on to input 0. */
int mxl_grad_pass(mxl_grad *g);

/* Operators that build.c and other families call. */
extern const mxl_op mxl_op_broadcast_add, mxl_op_broadcast_sub, mxl_op_broadcast_mul,
    mxl_op_broadcast_div, mxl_op_equal, mxl_op_plus_scalar, mxl_op_mul_scalar, mxl_op_div_scalar,
    mxl_op_rminus_scalar, mxl_op_rdiv_scalar, mxl_op_power_scalar, mxl_op_negative, mxl_op_square,
    mxl_op_exp, mxl_op_positive, mxl_op_sign, mxl_op_zeros_like, mxl_op_ones_like, mxl_op_cast,
    mxl_op_block_grad, mxl_op_sum_to, mxl_op_broadcast_to, mxl_op_reshape_to, mxl_op_copy,
    mxl_op_sum, mxl_op_dot, mxl_op_strided_put, mxl_op_add_n;
/* The sum and the product of two arrays of one shape. */
extern const mxl_op *const mxl_op_add_alike, *const mxl_op_mul_alike;

#endif
