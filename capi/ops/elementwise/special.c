/* The error function, its inverse, the gamma function and its logarithm, with the polygamma
 * functions that their gradients need. */
#include "kernel/math/erf.h"
#include "kernel/math/special.h"

#include <stddef.h>

#include "ops/elementwise/elementwise.h"

static const double TWO_BY_ROOT_PI = 1.12837916709551257390;

/* dx = dy * 2 / sqrt(pi) * e^(-x^2) */
MXL_DX_OF_X(erf, mxl_mul(s, dy,
                         mxl_mul_scalar(s, mxl_exp(s, mxl_negative(s, mxl_square(s, x))),
                                        TWO_BY_ROOT_PI)))

MXL_UNARY_AS(erf, "erf", mxl_erf, "Error function of each element.",
             .aliases = MXL_ALIASES("_npx_erf"), MXL_RULE_OF_X(erf),
             .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(erfinv, MXL_UNARY_LOOP, mxl_loop_erfinv(x));

/* dx = dy * sqrt(pi) / 2 * e^(y^2) */
MXL_DX_OF_Y(erfinv,
            mxl_mul(s, dy, mxl_mul_scalar(s, mxl_exp(s, mxl_square(s, y)), 1 / TWO_BY_ROOT_PI)))

static MXL_UNARY(erfinv, "Inverse error function of each element; NaN outside of [-1, 1].",
                 .aliases = MXL_ALIASES("_npx_erfinv"), MXL_RULE_OF_Y(erfinv));

/* ---- gamma ---- */

static int polygamma_check(void *params)
{
    int64_t n = *(const int64_t *)params;

    if (n < 0 || n > MXL_POLYGAMMA_MOST)
        return mxl_error("polygamma: its order must be in [0, %d], got %lld",
                         (int)MXL_POLYGAMMA_MOST, (long long)n);
    return 0;
}

static int polygamma_infer(mxl_infer *infer)
{
    int64_t n = *(const int64_t *)infer->params;

    return polygamma_check(&n) != 0 ? -1 : mxl_infer_float_same(infer);
}

static void polygamma_f64(void *out, const void *const *in, const int64_t *step, int64_t n,
                          const void *params)
{
    (void)step;
    mxl_polygamma((int)*(const int64_t *)params, n, in[0], out);
}

static void polygamma_f32(void *out, const void *const *in, const int64_t *step, int64_t n,
                          const void *params)
{
    const float *x = in[0];
    double tile[MXL_LOOP_TILE];
    float *y = out;

    (void)step;
    for (int64_t first = 0; first < n; first += MXL_LOOP_TILE) {
        int64_t count = n - first < MXL_LOOP_TILE ? n - first : MXL_LOOP_TILE;

        for (int64_t i = 0; i < count; i++)
            tile[i] = (double)x[first + i];
        mxl_polygamma((int)*(const int64_t *)params, count, tile, tile);
        for (int64_t i = 0; i < count; i++)
            y[first + i] = (float)tile[i];
    }
}

MXL_UNARY_LOOP_VIA(polygamma, f16)
static const mxl_kernels polygamma_kernels = {
    .row = {[MXL_F32] = polygamma_f32, [MXL_F64] = polygamma_f64, [MXL_F16] = polygamma_f16},
    .weight = 2};

static int polygamma_grad(mxl_grad *g);

static const mxl_op op_polygamma = {
    .name = "_mxl_polygamma",
    .doc = "The n-th derivative of digamma, of each element.",
    MXL_ONLY_PARAM(int64_t, n, MXL_P_INT, "0", "Which derivative of digamma."),
    .check = polygamma_check,
    .infer = polygamma_infer,
    MXL_LOOPS(polygamma),
    MXL_RULE_OF_X(polygamma),
};

static mxl_array *polygamma(mxl_scope *s, int64_t n, mxl_array *x)
{
    return mxl_scope_call(s, &op_polygamma, &n, 1, &x);
}

mxl_array *mxl_digamma(mxl_scope *s, mxl_array *x)
{
    return polygamma(s, 0, x);
}

/* dx = dy * the next polygamma of x */
MXL_DX_OF_X(polygamma, mxl_mul(s, dy, polygamma(s, *(const int64_t *)g->params + 1, x)))

/* In double for every dtype. */
MXL_MATH_KERNELS(gamma, MXL_UNARY_LOOP, mxl_gamma_f64(level, x));

/* dx = dy * y * digamma(x) */
MXL_DX_OF_X(gamma,
            mxl_mul(s, mxl_real(s, dy),
                    mxl_mul(s, mxl_real(s, mxl_grad_out(g, 0)), polygamma(s, 0, mxl_real(s, x)))))

static MXL_UNARY(gamma, "Gamma function of each element; NaN at -1, -2, ...",
                 .aliases = MXL_ALIASES("_npx_gamma", "_sparse_gamma"), .grad = gamma_grad,
                 .saves = mxl_saves_input_and_output);

MXL_MATH_KERNELS(gammaln, MXL_UNARY_LOOP, mxl_loop_gammaln(x));

/* dx = dy * digamma(x) */
MXL_DX_OF_X(gammaln, mxl_mul(s, mxl_real(s, dy), polygamma(s, 0, mxl_real(s, x))))

static MXL_UNARY(gammaln, "log |gamma(x)| of each element x.",
                 .aliases = MXL_ALIASES("_npx_gammaln", "_sparse_gammaln"), MXL_RULE_OF_X(gammaln));

const mxl_op *const mxl_ops_special[] = {
    &mxl_op_erf, &mxl_op_erfinv, &mxl_op_gamma, &mxl_op_gammaln, &op_polygamma, NULL,
};
