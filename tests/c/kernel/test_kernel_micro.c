/* The micro kernels of matrix products, also those that this processor would not choose: includes
 * the source to reach the kernels of each instruction set. */
#include "kernel/gemm/gemm_micro.c"

#include "harness.h"

enum { MOST_K = 37, PAD = 3, R = MXL_GEMM_INNER };

static double element(bool wide, const void *data, int64_t i)
{
    return wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

/* Small integers, so that any order of additions gives the same. */
static void fill(bool wide, void *data, int64_t count, int factor, int modulus)
{
    for (int64_t i = 0; i < count; i++) {
        int value = (int)(i * factor % modulus) - modulus / 2;

        if (wide)
            ((double *)data)[i] = value;
        else
            ((float *)data)[i] = (float)value;
    }
}

/* How many elements of a tile are wrong; what lies behind its rows must stay. */
static int64_t check_tile(const mxl_gemm_micro *micro, bool of_doubles, int height, int vectors,
                          bool down, int addend, int64_t k)
{
    enum { LD = MXL_GEMM_NR + PAD, B_STEP = MXL_GEMM_NR + 1 };
    static double a[(MXL_GEMM_MR + PAD) * (MOST_K + PAD)], b[MOST_K * B_STEP], c[MXL_GEMM_MR * LD];
    static double before[MXL_GEMM_MR * LD], more[LD];
    int64_t step = down ? height + PAD : k + PAD, wrong = 0,
            width = (int64_t)vectors * micro->width;
    const void *added = addend == 0 ? NULL : addend == 1 ? (const void *)c : more;

    fill(of_doubles, a, (MXL_GEMM_MR + PAD) * (MOST_K + PAD), 7, 11);
    fill(of_doubles, b, MOST_K * B_STEP, 5, 13);
    fill(of_doubles, c, MXL_GEMM_MR * LD, 3, 17);
    fill(of_doubles, more, LD, 3, 19);
    memcpy(before, c, sizeof(c));
    (down ? micro->down : micro->along)[height][vectors - 1](k, a, step, b, B_STEP, added,
                                                             addend == 1 ? LD : 0, c, LD);
    for (int64_t i = 0; i < MXL_GEMM_MR; i++) {
        for (int64_t j = 0; j < LD; j++) {
            bool inside = i < height && j < width;
            double want = !inside || addend == 1 ? element(of_doubles, before, i * LD + j)
                          : addend == 2          ? element(of_doubles, more, j)
                                                 : 0;

            for (int64_t p = 0; p < k && inside; p++)
                want += element(of_doubles, a, down ? p * step + i : i * step + p) *
                        element(of_doubles, b, p * B_STEP + j);
            wrong += element(of_doubles, c, i * LD + j) != want;
        }
    }
    return wrong;
}

/* The same of inner products, of one row or of four. */
static int64_t check_inner(const mxl_gemm_micro *micro, bool of_doubles, int rows, int64_t k)
{
    static double a[R * (MOST_K + PAD)], b[R * (MOST_K + PAD)], out[R * R];
    size_t size = of_doubles ? sizeof(double) : sizeof(float);
    const void *few[R], *many[R];
    int64_t wrong = 0;

    fill(of_doubles, a, R * (MOST_K + PAD), 7, 11);
    fill(of_doubles, b, R * (MOST_K + PAD), 5, 13);
    fill(of_doubles, out, R * R, 1, 100);
    for (int i = 0; i < R; i++) {
        few[i] = (char *)a + (size_t)(i * (k + PAD)) * size;
        many[i] = (char *)b + (size_t)(i * (k + PAD)) * size;
    }
    (rows == 1 ? micro->inner_row : micro->inner)(k, few, many, out);
    for (int i = 0; i < R; i++) {
        for (int j = 0; j < R; j++) {
            double want = i < rows ? 0 : i * R + j - 50;

            for (int64_t p = 0; p < k && i < rows; p++)
                want += element(of_doubles, few[i], p) * element(of_doubles, many[j], p);
            wrong += element(of_doubles, out, i * R + j) != want;
        }
    }
    return wrong;
}

static void check(const mxl_gemm_micro *micro, bool of_doubles)
{
    int64_t wrong = 0;
    const int *height = micro->heights;

    CHECK(*height <= MXL_GEMM_MR && 2 * micro->width <= MXL_GEMM_NR);
    for (;; height++) {
        for (int i = 0; i < 2 * 2 * 3 * 3; i++) {
            static const int64_t depths[] = {0, 1, MOST_K};

            wrong += check_tile(micro, of_doubles, *height, 1 + i % 2, i / 2 % 2, i / 4 % 3,
                                depths[i / 12]);
        }
        if (*height == 1)
            break;
        CHECK(height[1] < height[0]);
    }
    for (int64_t k = 0; k <= MOST_K; k++)
        wrong += check_inner(micro, of_doubles, 1, k) + check_inner(micro, of_doubles, R, k);
    CHECK_INT(wrong, 0);
}

TEST(baseline)
{
    check(&base_f32_micro, false);
    check(&base_f64_micro, true);
}

TEST(chosen_here)
{
    check(mxl_gemm_micro_f32(), false);
    check(mxl_gemm_micro_f64(), true);
}

/* Where the processor has the instructions; it cannot run the others. */
TEST(of_each_level)
{
    int before = mxl_level();

    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) == 0) {
            check(mxl_gemm_micro_f32(), false);
            check(mxl_gemm_micro_f64(), true);
        }
    }
    CHECK_INT(mxl_level_set(before), 0);
}

HARNESS_MAIN(ENTRY(baseline), ENTRY(chosen_here), ENTRY(of_each_level))
