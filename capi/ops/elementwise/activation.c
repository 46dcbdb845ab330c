/* softsign, hard_sigmoid and Activation. */
#include <stddef.h>

#include "ops/elementwise/elementwise.h"

/* ---- softsign ---- */

MXL_PLAIN_KERNELS(softsign, MXL_UNARY_LOOP, x / (1 + fabs(x)));

/* dx = dy / (1 + |x|)^2 */
MXL_DX_OF_X(softsign,
            mxl_div(s, dy, mxl_square(s, mxl_add_scalar(s, mxl_apply(s, &mxl_op_abs, x), 1))))

MXL_GRAD_KERNEL(softsign, MXL_FLOAT_KERNELS, mxl_grad_in, y / ((fabs(x) + 1) * (fabs(x) + 1)))

MXL_UNARY(softsign, "x / (1 + |x|) of each element.", MXL_RULE_OF_X(softsign),
          .grad_kernel = softsign_grad_kernel);

/* ---- softrelu, available only through Activation ---- */

MXL_FLOAT_KERNELS(softrelu, MXL_UNARY_LOOP, mxl_loop_softrelu(x));

/* dx = dy * sigmoid(x) */
MXL_DX_OF_X(softrelu, mxl_mul(s, dy, mxl_apply(s, &mxl_op_sigmoid, x)))

MXL_GRAD_KERNEL(softrelu, MXL_FLOAT_KERNELS, mxl_grad_in, y * mxl_loop_sigmoid(x))

static MXL_UNARY_AS(softrelu, "_mxl_softrelu", softrelu, "log(1 + e^x) of each element.",
                    MXL_RULE_OF_X(softrelu), .grad_kernel = softrelu_grad_kernel);

/* ---- hard_sigmoid ---- */

typedef struct hard_params {
    double alpha;
    double beta;
} hard_params;

static inline double hard_line(double x, const void *params)
{
    const hard_params *p = params;
    double y = p->alpha * x + p->beta;

    return y > 1 ? 1 : y < 0 ? 0 : y;
}

MXL_FLOAT_KERNELS(hard, MXL_UNARY_LOOP, hard_line(x, params));

/* dx = dy * alpha where 0 < y < 1 */
static int hard_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);
    mxl_array *above = mxl_apply_scalar(g->s, &mxl_op_greater_scalar, y, 0);
    mxl_array *below = mxl_apply_scalar(g->s, &mxl_op_lesser_scalar, y, 1);
    mxl_array *dx =
        mxl_mul_scalar(g->s, g->grad_output[0], ((const hard_params *)g->params)->alpha);

    return mxl_grad_set(g, 0,
                        mxl_where(g->s, mxl_mul(g->s, above, below), dx, mxl_zeros_like(g->s, dx)));
}

static const mxl_op op_hard_sigmoid = {
    .name = "hard_sigmoid",
    .doc = "alpha x + beta of each element, cut to [0, 1].",
    MXL_PARAMS_OF(hard_params,
                  MXL_PARAM(hard_params, alpha, MXL_P_FLOAT, "0.200000003", "Slope of the line."),
                  MXL_PARAM(hard_params, beta, MXL_P_FLOAT, "0.5", "Its value at 0.")),
    .infer = mxl_infer_float_same,
    MXL_LOOPS(hard),
    .grad = hard_grad,
    .saves = mxl_saves_output,
};

/* ---- Activation: one of five operators, chosen by a parameter ---- */

static const char *const activation_names[] = {"relu",     "sigmoid", "softrelu",
                                               "softsign", "tanh",    NULL};
static const mxl_op *const activations[] = {&mxl_op_relu, &mxl_op_sigmoid, &mxl_op_softrelu,
                                            &mxl_op_softsign, &mxl_op_tanh};

const mxl_op *mxl_activation_of(const void *params)
{
    return activations[*(const int *)params];
}

const mxl_kernels *mxl_activation_kernels(const mxl_op *op, const void *params)
{
    if (op == &mxl_op_leaky_relu)
        return mxl_leaky_kernels(params);
    if (op == &mxl_op_activation)
        op = mxl_activation_of(params);
    return op->kernels != NULL && op->inputs == NULL && op->arity == NULL &&
                   (op->infer == mxl_infer_same || op->infer == mxl_infer_float_same)
               ? op->kernels
               : NULL;
}

static int activation_compute(const mxl_call *call)
{
    mxl_call chosen = *call;

    chosen.op = mxl_activation_of(call->params);
    return mxl_run_loops(&chosen);
}

static int activation_grad(mxl_grad *g)
{
    return mxl_activation_of(g->params)->grad(g);
}

static int activation_grad_kernel(mxl_grad *g)
{
    return mxl_activation_of(g->params)->grad_kernel(g);
}

static void activation_saves(mxl_saves *saves)
{
    mxl_activation_of(saves->params)->saves(saves);
}

const mxl_op mxl_op_activation = {
    .name = "Activation",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npx_activation"),
    .doc = "A function of each element: relu max(x, 0), sigmoid 1 / (1 + e^-x), softrelu "
           "log(1 + e^x), softsign x / (1 + |x|), or tanh.",
    MXL_ONLY_PARAM(int, act_type, MXL_P_ENUM, MXL_REQUIRED, "Which function.",
                   .values = activation_names),
    .infer = mxl_infer_float_same,
    .compute = activation_compute,
    .cheap = true,
    .grad = activation_grad,
    .grad_kernel = activation_grad_kernel,
    .saves = activation_saves,
};

const mxl_op *const mxl_ops_activation[] = {&mxl_op_softsign, &mxl_op_softrelu, &op_hard_sigmoid,
                                            &mxl_op_activation, NULL};
