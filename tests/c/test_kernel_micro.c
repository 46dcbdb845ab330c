/* The micro kernels of matrix products, those too that this processor would not choose: the source
 * is included, so that its own of each instruction set are in reach. */
#include "kernel/gemm_micro.c"

#include "harness.h"

enum { K = 5, PAD = 3 };

static double element(bool wide, const void *data, int64_t i)
{
    return wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void set(bool wide, void *data, int64_t i, double value)
{
    if (wide)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

/* Small integers, so that any order of additions gives the same; what lies behind a row stays. */
static void check_micro(const mxl_gemm_micro *micro, bool wide)
{
    static double a[K * MXL_GEMM_MR], b[K * MXL_GEMM_NR], c[MXL_GEMM_MR * (MXL_GEMM_NR + PAD)];
    int64_t ldc = micro->nr + PAD, wrong = 0;

    for (int add = 0; add < 2; add++) {
        for (int64_t i = 0; i < K * micro->mr; i++)
            set(wide, a, i, (double)(i * 7 % 11) - 5);
        for (int64_t i = 0; i < K * micro->nr; i++)
            set(wide, b, i, (double)(i * 5 % 13) - 6);
        for (int64_t i = 0; i < micro->mr * ldc; i++)
            set(wide, c, i, (double)i);
        micro->run(K, a, b, c, ldc, add);
        for (int64_t i = 0; i < micro->mr * ldc; i++) {
            int64_t row = i / ldc, column = i % ldc;
            double want = add || column >= micro->nr ? (double)i : 0;

            for (int64_t p = 0; p < K && column < micro->nr; p++)
                want += element(wide, a, p * micro->mr + row) *
                        element(wide, b, p * micro->nr + column);
            wrong += element(wide, c, i) != want;
        }
    }
    CHECK_INT(wrong, 0);
}

TEST(portable)
{
    check_micro(&micro_float, false);
    check_micro(&micro_double, true);
}

TEST(chosen_here)
{
    check_micro(mxl_gemm_micro_f32(), false);
    check_micro(mxl_gemm_micro_f64(), true);
}

/* Where the processor has the instructions; it cannot run the others. */
TEST(of_each_instruction_set)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        check_micro(&micro_avx2_f32, false);
        check_micro(&micro_avx2_f64, true);
    }
    if (__builtin_cpu_supports("avx512f")) {
        check_micro(&micro_avx512_f32, false);
        check_micro(&micro_avx512_f64, true);
    }
#endif
    CHECK(micro_float.mr <= MXL_GEMM_MR && micro_float.nr <= MXL_GEMM_NR);
}

HARNESS_MAIN(ENTRY(portable), ENTRY(chosen_here), ENTRY(of_each_instruction_set))
