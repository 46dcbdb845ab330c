/* _mxl_special and _mxl_special_pair: special functions of one number and of two, by name, that are
 * computed one number at a time: Bessel's, Airy's, incomplete gamma functions, polynomials. And
 * _mxl_nextafter, _mxl_frexp and _mxl_signbit, the neighbours and parts of floating-point
 * numbers, and _mxl_gcd. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/half.h"
#include "kernel/math/bessel.h"
#include "kernel/math/incomplete.h"
#include "ops/elementwise/elementwise.h"

enum { WEIGHT = 60 }; /* an element costs as many additions, and more */

/* ---- of one number ---- */

#define BESSEL(X)                                                                                  \
    X(bessel_j0, mxl_bessel_j(0, x))                                                               \
    X(bessel_j1, mxl_bessel_j(1, x))                                                               \
    X(bessel_y0, mxl_bessel_y(0, x))                                                               \
    X(bessel_y1, mxl_bessel_y(1, x))                                                               \
    X(modified_bessel_i0, mxl_bessel_i(0, x))                                                      \
    X(modified_bessel_i1, mxl_bessel_i(1, x))                                                      \
    X(modified_bessel_k0, mxl_bessel_k(0, x))                                                      \
    X(modified_bessel_k1, mxl_bessel_k(1, x))                                                      \
    X(i0e, mxl_bessel_i_scaled(0, x))                                                              \
    X(i1e, mxl_bessel_i_scaled(1, x))                                                              \
    X(scaled_modified_bessel_k0, mxl_bessel_k_scaled(0, x))                                        \
    X(scaled_modified_bessel_k1, mxl_bessel_k_scaled(1, x))                                        \
    X(spherical_bessel_j0, mxl_spherical_j0(x))                                                    \
    X(airy_ai, mxl_airy_ai(x))

#define NORMAL(X)                                                                                  \
    X(erfc, erfc(x))                                                                               \
    X(erfcx, mxl_erfcx(x))                                                                         \
    X(log_ndtr, mxl_log_ndtr(x))                                                                   \
    X(ndtri, mxl_ndtri(x))

#define ONE(X) BESSEL(X) NORMAL(X)

#define NUMBER(name, ...)  OF_##name,
#define WORD(name, ...)    #name,
#define POINTER(name, ...) of_##name,
#define FUNCTION(name, ...)                                                                        \
    static double of_##name(double x)                                                              \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

ONE(FUNCTION)
typedef enum one { ONE(NUMBER) ONE_COUNT } one;
static double (*const one_of[ONE_COUNT])(double) = {ONE(POINTER)};
static const char *const one_names[] = {ONE(WORD) NULL};

static void special_f64(void *out, const void *const *in, const int64_t *step, int64_t n,
                        const void *params)
{
    double (*of)(double) = one_of[*(const int *)params];
    const double *x = in[0];
    double *z = out;

    (void)step;
    for (int64_t i = 0; i < n; i++)
        z[i] = of(x[i]);
}

static void special_f32(void *out, const void *const *in, const int64_t *step, int64_t n,
                        const void *params)
{
    double (*of)(double) = one_of[*(const int *)params];
    const float *x = in[0];
    float *z = out;

    (void)step;
    for (int64_t i = 0; i < n; i++)
        z[i] = (float)of((double)x[i]);
}

MXL_UNARY_LOOP_VIA(special, f16)
static const mxl_kernels special_kernels = {
    .row = {[MXL_F32] = special_f32, [MXL_F64] = special_f64, [MXL_F16] = special_f16},
    .weight = WEIGHT};

static const mxl_op op_special;

static mxl_array *special(mxl_scope *s, one which, mxl_array *x)
{
    int params = which;

    return mxl_scope_call(s, &op_special, &params, 1, &x);
}

/* by e^(x^2 times `rate`) */
static mxl_array *bell(mxl_scope *s, mxl_array *x, double rate, double by)
{
    return mxl_mul_scalar(s, mxl_exp(s, mxl_mul_scalar(s, mxl_square(s, x), rate)), by);
}

/* The derivative of I1, or of exp(-|x|) I1 but for that of the exponential: I0 - I1 / x, 1/2 near
 * 0.
 */
static mxl_array *slope_of_i1(mxl_scope *s, mxl_array *i0, mxl_array *i1, mxl_array *x)
{
    mxl_array *at_0 = mxl_apply_scalar(s, &mxl_op_lesser_scalar, mxl_square(s, x), 1e-14);
    mxl_array *slope = mxl_sub(s, i0, mxl_div(s, i1, mxl_add(s, x, at_0)));

    return mxl_add(s, mxl_mul(s, slope, mxl_one_minus(s, at_0)), mxl_mul_scalar(s, at_0, 0.5));
}

/* The derivative of a scaled function, without that of the exponential, less sign(x) y. */
static mxl_array *scaled(mxl_scope *s, mxl_array *slope, mxl_array *x, mxl_array *y)
{
    return mxl_sub(s, slope, mxl_mul(s, mxl_sign(s, x), y));
}

static mxl_array *derivative(mxl_grad *g, one which, mxl_array *x, mxl_array *y)
{
    const double pi = 3.14159265358979323846;
    mxl_scope *s = g->s;

    switch (which) {
    case OF_modified_bessel_i0:
        return special(s, OF_modified_bessel_i1, x);
    case OF_modified_bessel_i1:
        return slope_of_i1(s, special(s, OF_modified_bessel_i0, x), y, x);
    case OF_i0e:
        return scaled(s, special(s, OF_i1e, x), x, y);
    case OF_i1e:
        return scaled(s, slope_of_i1(s, special(s, OF_i0e, x), y, x), x, y);
    case OF_erfc:
        return bell(s, x, -1, -2 / sqrt(pi));
    case OF_erfcx:
        return mxl_add_scalar(s, mxl_mul_scalar(s, mxl_mul(s, x, y), 2), -2 / sqrt(pi));
    case OF_log_ndtr:
        return mxl_rdiv_scalar(s, special(s, OF_erfcx, mxl_mul_scalar(s, x, -1 / sqrt(2))),
                               sqrt(2 / pi));
    case OF_ndtri:
        return bell(s, y, 0.5, sqrt(2 * pi));
    default:
        mxl_error("_mxl_special: there is no derivative of %s", one_names[which]);
        return NULL;
    }
}

static int special_grad(mxl_grad *g)
{
    one which = *(const int *)g->params;

    return mxl_grad_times(g, 0, derivative(g, which, mxl_grad_in(g, 0), mxl_grad_out(g, 0)));
}

static const mxl_op op_special = {
    .name = "_mxl_special",
    .doc = "A special function of each element, computed in double.",
    MXL_ONLY_PARAM(int, function, MXL_P_ENUM, MXL_REQUIRED, "Which function.", .values = one_names),
    .infer = mxl_infer_float_same,
    MXL_LOOPS(special),
    .grad = special_grad,
    .saves = mxl_saves_input_and_output,
    .promotion = &mxl_promotes_floats,
};

/* ---- of two numbers ---- */

#define GAMMA(X)                                                                                   \
    X(igamma, mxl_gamma_lower(x, y))                                                               \
    X(igammac, mxl_gamma_upper(x, y))                                                              \
    X(igamma_slope, mxl_gamma_slope(x, y))                                                         \
    X(zeta, mxl_zeta(x, y))

#define POLYNOMIALS(X)                                                                             \
    X(chebyshev_polynomial_t, mxl_polynomial_at(MXL_CHEBYSHEV_T, x, y))                            \
    X(chebyshev_polynomial_u, mxl_polynomial_at(MXL_CHEBYSHEV_U, x, y))                            \
    X(chebyshev_polynomial_v, mxl_polynomial_at(MXL_CHEBYSHEV_V, x, y))                            \
    X(chebyshev_polynomial_w, mxl_polynomial_at(MXL_CHEBYSHEV_W, x, y))                            \
    X(shifted_chebyshev_polynomial_t, mxl_polynomial_at(MXL_CHEBYSHEV_T, 2 * x - 1, y))            \
    X(shifted_chebyshev_polynomial_u, mxl_polynomial_at(MXL_CHEBYSHEV_U, 2 * x - 1, y))            \
    X(shifted_chebyshev_polynomial_v, mxl_polynomial_at(MXL_CHEBYSHEV_V, 2 * x - 1, y))            \
    X(shifted_chebyshev_polynomial_w, mxl_polynomial_at(MXL_CHEBYSHEV_W, 2 * x - 1, y))            \
    X(hermite_polynomial_h, mxl_polynomial_at(MXL_HERMITE_H, x, y))                                \
    X(hermite_polynomial_he, mxl_polynomial_at(MXL_HERMITE_HE, x, y))                              \
    X(laguerre_polynomial_l, mxl_polynomial_at(MXL_LAGUERRE, x, y))                                \
    X(legendre_polynomial_p, mxl_polynomial_at(MXL_LEGENDRE, x, y))

#define TWO(X) GAMMA(X) POLYNOMIALS(X)

#define FUNCTION_OF_TWO(name, ...)                                                                 \
    static double of_##name(double x, double y)                                                    \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

TWO(FUNCTION_OF_TWO)
typedef enum two { TWO(NUMBER) TWO_COUNT } two;
static double (*const two_of[TWO_COUNT])(double, double) = {TWO(POINTER)};
static const char *const two_names[] = {TWO(WORD) NULL};

static void special_pair_f64(void *out, const void *const *in, const int64_t *step, int64_t n,
                             const void *params)
{
    double (*of)(double, double) = two_of[*(const int *)params];
    const double *x = in[0], *y = in[1];
    double *z = out;

    for (int64_t i = 0; i < n; i++)
        z[i] = of(x[i * step[0]], y[i * step[1]]);
}

static void special_pair_f32(void *out, const void *const *in, const int64_t *step, int64_t n,
                             const void *params)
{
    double (*of)(double, double) = two_of[*(const int *)params];
    const float *x = in[0], *y = in[1];
    float *z = out;

    for (int64_t i = 0; i < n; i++)
        z[i] = (float)of((double)x[i * step[0]], (double)y[i * step[1]]);
}

MXL_BINARY_LOOP_VIA(special_pair, f16)
static const mxl_kernels special_pair_kernels = {.row = {[MXL_F32] = special_pair_f32,
                                                         [MXL_F64] = special_pair_f64,
                                                         [MXL_F16] = special_pair_f16},
                                                 .weight = WEIGHT};

static int floats_broadcast(mxl_infer *infer)
{
    return mxl_check_float(infer->op, infer->in[0]) != 0 ? -1 : mxl_infer_broadcast(infer);
}

/* bfloat16 is computed in float32, whose neighbours are nearer. */
static int neighbours_broadcast(mxl_infer *infer)
{
    if (infer->in[0]->dtype == MXL_BF16)
        return mxl_error("%s: bfloat16 is not supported", infer->op->name);
    return floats_broadcast(infer);
}

static const mxl_op op_special_pair;

static mxl_array *special_pair(mxl_scope *s, two which, mxl_array *x, mxl_array *y)
{
    int params = which;

    return mxl_scope_call(s, &op_special_pair, &params, 2, (mxl_array *[]){x, y});
}

/* The slope of P of order a is x^(a - 1) e^-x / gamma(a), of Q less that. */
static mxl_array *by_second(mxl_scope *s, two which, mxl_array *a, mxl_array *x, mxl_array *y)
{
    mxl_array *less;

    switch (which) {
    case OF_igamma:
        return special_pair(s, OF_igamma_slope, a, x);
    case OF_igammac:
        return mxl_negative(s, special_pair(s, OF_igamma_slope, a, x));
    case OF_igamma_slope:
        less = mxl_add_scalar(s, mxl_div(s, mxl_add_scalar(s, a, -1), x), -1);
        return mxl_mul(s, y, less);
    case OF_zeta:
        return mxl_negative(s, mxl_mul(s, a, special_pair(s, OF_zeta, mxl_add_scalar(s, a, 1), x)));
    default:
        mxl_error("NotImplementedError: %s: there is no derivative", two_names[which]);
        return NULL;
    }
}

static mxl_array *by_first(mxl_scope *s, two which, mxl_array *a, mxl_array *x, mxl_array *y)
{
    if (which == OF_igamma_slope)
        return mxl_mul(s, y, mxl_sub(s, mxl_apply(s, &mxl_op_log, x), mxl_digamma(s, a)));
    mxl_error("NotImplementedError: %s: there is no derivative by the first array",
              two_names[which]);
    return NULL;
}

static int special_pair_grad(mxl_grad *g)
{
    two which = *(const int *)g->params;
    mxl_array *a = mxl_grad_in(g, 0), *x = mxl_grad_in(g, 1), *y = mxl_grad_out(g, 0);

    if (mxl_grad_wants(g, 0) && mxl_grad_times(g, 0, by_first(g->s, which, a, x, y)) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_times(g, 1, by_second(g->s, which, a, x, y)) : 0;
}

static void special_pair_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = true;
    saves->out[0] = true;
}

static const mxl_op op_special_pair = {
    .name = "_mxl_special_pair",
    .doc = "A special function of the elements of two arrays, computed in double: incomplete gamma "
           "functions P and Q of order lhs and P's derivative, Hurwitz's zeta function, orthogonal "
           "polynomials of order rhs. P, Q and zeta have derivatives by rhs.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_ONLY_PARAM(int, function, MXL_P_ENUM, MXL_REQUIRED, "Which function.", .values = two_names),
    .infer = floats_broadcast,
    MXL_LOOPS(special_pair),
    .grad = special_pair_grad,
    .saves = special_pair_saves,
};

/* ---- floating-point numbers ---- */

MXL_BINARY_LOOP(nextafter_f32, f32a, nextafter(x, y))
MXL_BINARY_LOOP(nextafter_f64, f64a, nextafter(x, y))

/* Bits of numbers of one sign are in their order. */
static mxl_half next_half(mxl_half x, mxl_half y)
{
    float from = mxl_half_to_float(x), to = mxl_half_to_float(y);

    if (isnan(from) || isnan(to))
        return 0x7E00;
    if (from == to)
        return y;
    if (from == 0)
        return to > 0 ? 0x0001 : 0x8001;
    return (mxl_half)((from < to) == (from > 0) ? x + 1 : x - 1);
}

static void nextafter_f16(void *out, const void *const *in, const int64_t *step, int64_t n,
                          const void *params)
{
    const mxl_half *x = in[0], *y = in[1];
    mxl_half *z = out;

    (void)params;
    for (int64_t i = 0; i < n; i++)
        z[i] = next_half(x[i * step[0]], y[i * step[1]]);
}

static const mxl_kernels nextafter_kernels = {
    .row = {[MXL_F32] = nextafter_f32, [MXL_F64] = nextafter_f64, [MXL_F16] = nextafter_f16},
    .weight = 4};

/* dlhs = dy where both differ */
static int nextafter_grad(mxl_grad *g)
{
    mxl_array *apart = mxl_apply2(g->s, &mxl_op_not_equal, mxl_grad_in(g, 0), mxl_grad_in(g, 1));

    return mxl_grad_times(g, 0, apart) != 0 ? -1 : mxl_grad_set(g, 1, mxl_zeros_like(g->s, apart));
}

static MXL_BINARY(nextafter, "_mxl_nextafter", neighbours_broadcast, nextafter,
                  "The number of the floating dtype that is next to lhs towards rhs.",
                  .grad = nextafter_grad, .saves = mxl_saves_inputs);

static int frexp_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        mxl_shape_set(&infer->out_shape[i], x->ndim, x->shape);
    infer->out_dtype[0] = x->dtype;
    infer->out_dtype[1] = MXL_I32;
    return 0;
}

static int frexp_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_array *wide = mxl_array_new(MXL_F64, x->ndim, x->shape);
    int32_t *exponent = mxl_array_write(call->out[1]);
    int status = -1;

    if (wide != NULL && mxl_array_copy_into(wide, x) == 0) {
        double *value = mxl_array_write(wide);

        for (int64_t i = 0; i < x->size; i++) {
            int power = 0;

            value[i] = frexp(value[i], &power);
            exponent[i] = isfinite(value[i]) ? power : 0;
        }
        status = mxl_array_copy_into(call->out[0], wide);
    }
    mxl_array_release(wide);
    return status;
}

/* dx = dm 2^-e, in two steps, for 2^-e may be too large */
static int frexp_grad(mxl_grad *g)
{
    mxl_scope *s = g->s;
    mxl_array *dy = g->grad_output[0], *e, *half;

    if (dy == NULL)
        return mxl_grad_zero(g);
    e = mxl_cast(s, mxl_grad_out(g, 1), dy->dtype);
    half = mxl_apply(s, &mxl_op_trunc, mxl_mul_scalar(s, e, 0.5));
    e = mxl_apply_scalar(s, &mxl_op_rpower_scalar, mxl_sub(s, half, e), 2);
    half = mxl_apply_scalar(s, &mxl_op_rpower_scalar, mxl_negative(s, half), 2);
    return mxl_grad_set(g, 0, mxl_mul(s, mxl_mul(s, dy, half), e));
}

static void frexp_saves(mxl_saves *saves)
{
    saves->out[1] = true;
}

static int signbit_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];

    return mxl_check_float(infer->op, x) != 0 ? -1
                                              : mxl_infer_set(infer, MXL_BOOL, x->ndim, x->shape);
}

static int signbit_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_array *wide = mxl_array_new(MXL_F64, x->ndim, x->shape);
    bool *out = mxl_array_write(call->out[0]);
    int status = -1;

    if (wide != NULL && mxl_array_copy_into(wide, x) == 0) {
        const double *value = mxl_array_read(wide);

        for (int64_t i = 0; i < x->size; i++)
            out[i] = signbit(value[i]) != 0;
        status = 0;
    }
    mxl_array_release(wide);
    return status;
}

static const mxl_op op_signbit = {
    .name = "_mxl_signbit",
    .doc = "Whether each element is negative, as bool: so is -0, and a NaN with that sign.",
    .infer = signbit_infer,
    .dtypes = "A>b",
    .compute = signbit_compute,
    .along = true,
};

static const mxl_op op_frexp = {
    .name = "_mxl_frexp",
    .doc =
        "Fractions from 0.5 to 1 with the signs of the elements, and int32 exponents: an element "
        "is fraction * 2^exponent. Of infinities and NaN the exponent is 0.",
    .arity = mxl_arity_two,
    .infer = frexp_infer,
    .dtypes = "A>Ai",
    .compute = frexp_compute,
    .grad = frexp_grad,
    .saves = frexp_saves,
    .along = true,
};

/* ---- integers ---- */

static int64_t gcd_of(int64_t x, int64_t y)
{
    return (int64_t)mxl_gcd(mxl_size_of(x), mxl_size_of(y));
}

MXL_BINARY_LOOP(gcd_u8, u8, (uint8_t)gcd_of(x, y))
MXL_BINARY_LOOP(gcd_i8, i8, (int8_t)gcd_of(x, y))
MXL_BINARY_LOOP(gcd_i32, i32, (int32_t)gcd_of(x, y))
MXL_BINARY_LOOP(gcd_i64, i64, gcd_of(x, y))
MXL_BINARY_LOOP(gcd_u64, u64, mxl_gcd(x, y))
static const mxl_kernels gcd_kernels = {
    .row = {[MXL_U8] = gcd_u8, [MXL_I8] = gcd_i8, [MXL_I32] = gcd_i32, [MXL_I64] = gcd_i64},
    .weight = WEIGHT};

static MXL_BINARY(gcd, "_mxl_gcd", mxl_infer_broadcast, gcd,
                  "The greatest common divisor of two integers; of 0 and another the size of it.",
                  .grad = mxl_grad_zero, .u64_loop = gcd_u64);

const mxl_op *const mxl_ops_functions[] = {
    &op_special, &op_special_pair, &mxl_op_nextafter, &op_frexp, &op_signbit, &mxl_op_gcd, NULL};
