/* The Gaussian error linear unit, x P(Z < x) for a normal Z: see gelu.h. With AVX-512, floats near
 * 0 use a table of polynomials (intervals.h). All other numbers use the plain loops of
 * kernel/math/math.h. */
#include "kernel/math/gelu.h"

#include "kernel/math/intervals.h"

/* Used up to AVX2. */
MXL_NEAR_LOOP(plain_f32, f32a, MXL_GELU_NEAR_F32, mxl_gelu_f32(level, x),
              mxl_gelu_far_f32(level, x))

#ifdef MXL_INTERVALS
/* a P(Z < -a) = c0[k] + c1[k] v + ... + c5[k] v^5 for a = k STEP + v, |v| <= STEP / 2; the table
 * has all c0, then all c1, ... Each k has its own fit of the relative error. Its expression for
 * tools/fit_polynomial.py is (x+K)*erfc((x+K)/sqrt(2))/2 with K = 9 k / 64; for k = 0 only x >= 0
 * and powers from 1 on. */
#define STEP  0.140625f
#define LIMIT 4.42f /* a little less than (MXL_INTERVALS - 0.5) STEP */
/* clang-format off */
static const float table[MXL_INTERVAL_POWERS][MXL_INTERVALS] = {
    {0.0f, 0.062449187f, 0.109479189f, 0.141985461f, 0.161374331f, 0.169445336f, 0.168247595f,
     0.159927055f, 0.146581337f, 0.130136222f, 0.112253837f, 0.09427692f, 0.0772092417f,
     0.0617273673f, 0.0482164659f, 0.0368214883f, 0.0275050644f, 0.0201048236f, 0.0143846897f,
     0.0100768087f, 0.00691284705f, 0.00464488985f, 0.003057305f, 0.00197150139f, 0.00124563975f,
     0.000771187828f, 0.000467875274f, 0.000278181134f, 0.000162096898f, 9.25741624e-05f,
     5.18190063e-05f, 2.84306298e-05f},
    {0.5f, 0.388533831f, 0.281407893f, 0.182584509f, 0.0953184292f, 0.0219161976f, -0.0363899432f,
     -0.0794457644f, -0.108066708f, -0.123842753f, -0.128890902f, -0.125592694f, -0.116350159f,
     -0.103386231f, -0.0886039957f, -0.0735090822f, -0.0591897443f, -0.0463428907f, -0.0353312939f,
     -0.0262568314f, -0.0190369282f, -0.0134745548f, -0.00931602716f, -0.00629418204f,
     -0.00415719766f, -0.00268503302f, -0.00169629103f, -0.00104845641f, -0.000634137832f,
     -0.000375381642f, -0.000217511391f, -0.00012338614f},
    {-0.398942262f, -0.391113222f, -0.368309468f, -0.332496136f, -0.286685884f, -0.234547094f,
     -0.179980412f, -0.12668106f, -0.0778067484f, -0.0356483608f, -0.00166721968f, 0.0236841887f,
     0.0407142378f, 0.0503400825f, 0.0538826697f, 0.0528151505f, 0.0485998876f, 0.0425450727f,
     0.035705328f, 0.0288765132f, 0.0225845147f, 0.0171231292f, 0.012608612f, 0.00903033186f,
     0.00629702304f, 0.00427922001f, 0.00283600972f, 0.00183409615f, 0.00115799904f,
     0.000714102585f, 0.00043025281f, 0.000253358652f},
    {-2.49336517e-06f, 0.0368349552f, 0.0704750568f, 0.0980829969f, 0.117612079f, 0.127998099f,
     0.129218355f, 0.122205324f, 0.108631007f, 0.0905942693f, 0.0703491867f, 0.0499723591f,
     0.0311333016f, 0.015041694f, 0.00233732862f, -0.00681553502f, -0.0126440916f, -0.0156533848f,
     -0.01645419f, -0.0157080423f, -0.0140076568f, -0.011839794f, -0.00956794713f, -0.00743484963f,
     -0.00557549018f, -0.00404663058f, -0.00284830201f, -0.00194739713f, -0.00129478064f,
     -0.000838053995f, -0.00052845641f, -0.000324868248f},
    {0.0665952414f, 0.063904658f, 0.055998411f, 0.0424321778f, 0.0261677969f, 0.00911992788f,
     -0.00632389914f, -0.019744318f, -0.0270481333f, -0.0364136249f, -0.0365764126f,
     -0.0350192226f, -0.0314403474f, -0.0253077559f, -0.0193904918f, -0.0131159341f,
     -0.00739620905f, -0.00351130008f, 0.000141264914f, 0.00247655273f, 0.00355710881f,
     0.00401370088f, 0.00398903294f, 0.00353520643f, 0.00300754467f, 0.00242235465f,
     0.00185724034f, 0.00136416173f, 0.000971932255f, 0.000667848682f, 0.000445786514f,
     0.000288685231f},
    {-0.00174049311f, -0.00540601974f, -0.0141023435f, -0.0207262021f, -0.0236380845f,
     -0.023496611f, -0.0208589509f, -0.0164718851f, -0.0120701315f, -0.00445437292f,
     0.000270258199f, 0.00318888901f, 0.00709613133f, 0.00822504703f, 0.00909953844f,
     0.00855868869f, 0.00666970015f, 0.00613195775f, 0.00377689023f, 0.00208523218f,
     0.00110140722f, 0.000263987487f, -0.000398373726f, -0.00060482556f, -0.000813693099f,
     -0.000842770154f, -0.000761364587f, -0.000620382256f, -0.000494004285f, -0.000366751483f,
     -0.000264319708f, -0.000182847492f},
};
/* clang-format on */

/* mxl_gelu_far_f32 for 16 numbers. */
MXL_TARGET_AVX512 static __attribute__((noinline)) __m512 far_16(__m512 x)
{
    float v[16];

    _mm512_storeu_ps(v, x);
    for (int i = 0; i < 16; i++)
        v[i] = mxl_gelu_far_f32(MXL_AVX512, v[i]);
    return _mm512_loadu_ps(v);
}

/* max(x, 0) - |x| P(Z < -|x|) */
MXL_TARGET_AVX512 MXL_INLINE __m512 gelu_16(__m512 x)
{
    const __m512 a = _mm512_abs_ps(x);
    const __mmask16 beyond = _mm512_cmp_ps_mask(a, _mm512_set1_ps(LIMIT), _CMP_GT_OQ);
    __m512 y =
        _mm512_sub_ps(_mm512_max_ps(_mm512_set1_ps(-0.0f), x), mxl_by_intervals(table, STEP, a, 0));

    if (__builtin_expect(beyond != 0, 0))
        y = _mm512_mask_mov_ps(y, beyond, far_16(x));
    return y;
}

MXL_TARGET_AVX512 static void by_table(float *z, const float *a, int64_t n)
{
    mxl_each_16(z, a, n, gelu_16);
}

static void gelu_f32 MXL_LOOP_PARAMETERS
{
    if (mxl_level() == MXL_AVX512)
        by_table(out, in[0], n);
    else
        plain_f32(out, in, step, n, params);
}
#else
#define gelu_f32 plain_f32
#endif

MXL_UNARY_LOOP(gelu_f64, f64, mxl_gelu_f64(level, x))
MXL_UNARY_LOOP_VIA(gelu, f16)

const mxl_kernels mxl_gelu_kernels = {
    .row = {[MXL_F32] = gelu_f32, [MXL_F64] = gelu_f64, [MXL_F16] = gelu_f16}, .weight = 2};
