/* The error function: see erf.h. With AVX-512, floats use a table of polynomials (intervals.h),
 * which takes 0.6 of the time of the plain loop; all other numbers use the loops of
 * kernel/math/math.h. */
#include "kernel/math/erf.h"

#include "kernel/math/intervals.h"

MXL_UNARY_LOOP(plain_f32, f32a, mxl_loop_erf(x))

#ifdef MXL_INTERVALS
/* erf(a) = c0[k] + c1[k] v + ... + c5[k] v^5 for a = k STEP + v, |v| <= STEP / 2. Each k has its
 * own fit of the relative error. Its expression for tools/fit_polynomial.py is erf(x+K) with K = k
 * / 8; for k = 0 only x >= 0 and powers from 1 on. */
#define STEP  0.125f
#define LIMIT 3.93f /* erf is 1 from here on */
/* clang-format off */
static const float table[MXL_INTERVAL_POWERS][MXL_INTERVALS] = {
    {0.0f, 0.140316203f, 0.276326388f, 0.404116899f, 0.520499885f, 0.623240888f, 0.711155653f,
     0.784075081f, 0.842700779f, 0.888388216f, 0.92290014f, 0.948170066f, 0.966105163f,
     0.978443742f, 0.986671686f, 0.99199003f, 0.995322287f, 0.997345984f, 0.998537302f,
     0.999217033f, 0.999593019f, 0.999794602f, 0.999899387f, 0.999952137f, 0.999977887f,
     0.999990106f, 0.999995708f, 0.999998212f, 0.999999285f, 0.999999702f, 0.999999881f,
     0.99999994f},
    {0.128379166f, 1.11088526f, 1.06001413f, 0.980352819f, 0.87878257f, 0.763499558f, 0.642931044f,
     0.524745047f, 0.415107489f, 0.318273962f, 0.236521125f, 0.170359775f, 0.118930288f,
     0.0804722607f, 0.0527749956f, 0.0335458294f, 0.0206669848f, 0.0123408204f, 0.00714231888f,
     0.004006478f, 0.00217828434f, 0.0011478751f, 0.000586277281f, 0.000290228287f, 0.000139253054f,
     6.47586858e-05f, 2.91890265e-05f, 1.27517424e-05f, 5.39942721e-06f, 2.21592063e-06f,
     8.81432356e-07f, 3.39822464e-07f},
    {5.00133638e-07f, -0.13885729f, -0.264999032f, -0.367610097f, -0.439405769f, -0.477199018f,
     -0.482237697f, -0.459193349f, -0.415079892f, -0.35802719f, -0.295676202f, -0.234230727f,
     -0.178429618f, -0.130785048f, -0.0923869312f, -0.062841408f, -0.0413791575f, -0.0262515526f,
     -0.0161082949f, -0.00945720728f, -0.00538732763f, -0.00296836603f, -0.00163125864f,
     -0.00081864855f, -0.000371005503f, -0.000207208053f, -0.000117892145f, -9.86229861e-05f,
     -7.59191098e-05f, -2.12796181e-06f, 7.92197989e-06f, 3.36850135e-05f},
    {-0.376166761f, -0.358701855f, -0.309160203f, -0.234850392f, -0.146473095f, -0.0556982122f,
     0.0267854426f, 0.092904672f, 0.138384506f, 0.162456915f, 0.167529985f, 0.157937989f,
     0.138750628f, 0.114838563f, 0.090156585f, 0.0674416274f, 0.048222784f, 0.0330373757f,
     0.0217244849f, 0.0137305697f, 0.00835008081f, 0.00489047589f, 0.00276034721f, 0.00150253193f,
     0.000789100246f, 0.00040001559f, 0.000195807152f, 9.25805216e-05f, 4.22945341e-05f,
     1.86732468e-05f, 7.96937093e-06f, 3.28837291e-06f},
    {0.00104642892f, 0.0677576363f, 0.125670627f, 0.160704434f, 0.18658933f, 0.179319948f,
     0.16066502f, 0.122960135f, 0.0621398799f, 0.0200955831f, 0.000271846482f, -0.0339879692f,
     -0.0357726738f, -0.0451504253f, -0.0402113609f, -0.0568407662f, -0.0228757448f, -0.0193769392f,
     -0.00934704766f, -0.0280387681f, -0.0235792957f, -0.0168934297f, 0.00159840926f,
     -0.0059202062f, -0.0130162183f, 0.000678971061f, 0.00560752023f, 0.0140875196f, 0.0145293837f,
     -0.00154293911f, -0.00288811838f, -0.00896643475f},
    {0.104277141f, 0.0982157812f, 0.0768096149f, 0.0365357995f, 0.0110983672f, -0.0215880815f,
     -0.0495205708f, -0.0615249388f, -0.0729572251f, -0.0630164444f, -0.0456335843f, -0.0308790114f,
     -0.0142951449f, -0.00169698172f, 0.00685650902f, 0.0111831455f, 0.0131887579f, 0.0125210779f,
     0.0106910793f, 0.00833169278f, 0.00611040974f, 0.00420809072f, 0.00276752817f, 0.00171597989f,
     0.00101782742f, 0.000578917738f, 0.000315068057f, 0.000164716505f, 8.25750176e-05f,
     3.98200064e-05f, 1.84861601e-05f, 8.26435553e-06f},
};
/* clang-format on */

MXL_TARGET_AVX512 MXL_INLINE __m512 erf_16(__m512 x)
{
    const __m512 sign = _mm512_set1_ps(-0.0f), one = _mm512_set1_ps(1);
    const __m512 a = _mm512_min_ps(_mm512_set1_ps(LIMIT), _mm512_abs_ps(x)); /* NaN stays */
    const __mmask16 near = _mm512_cmp_ps_mask(a, _mm512_set1_ps(STEP / 2), _CMP_LE_OQ);
    const __m512 y = _mm512_min_ps(one, mxl_by_intervals(table, STEP, a, near));

    return _mm512_or_ps(y, _mm512_and_ps(sign, x));
}

MXL_TARGET_AVX512 static void by_table(float *z, const float *a, int64_t n)
{
    mxl_each_16(z, a, n, erf_16);
}

static void erf_f32 MXL_LOOP_PARAMETERS
{
    if (mxl_level() == MXL_AVX512)
        by_table(out, in[0], n);
    else
        plain_f32(out, in, step, n, params);
}
#else
#define erf_f32 plain_f32
#endif

MXL_UNARY_LOOP(erf_f64, f64, mxl_loop_erf(x))
MXL_UNARY_LOOP(erf_f16, f16, mxl_loop_erf(x))
MXL_UNARY_LOOP(erf_u8, u8, mxl_loop_erf((double)x))
MXL_UNARY_LOOP(erf_i8, i8, mxl_loop_erf((double)x))
MXL_UNARY_LOOP(erf_i32, i32, mxl_loop_erf((double)x))
MXL_UNARY_LOOP(erf_i64, i64, mxl_loop_erf((double)x))

const mxl_kernels mxl_erf_kernels = {.row = {[MXL_F32] = erf_f32,
                                             [MXL_F64] = erf_f64,
                                             [MXL_F16] = erf_f16,
                                             [MXL_U8] = erf_u8,
                                             [MXL_I32] = erf_i32,
                                             [MXL_I8] = erf_i8,
                                             [MXL_I64] = erf_i64},
                                     .weight = 2};
