/* Matrix products: float32 and float64 from gemm.tmpl.h, float16 through float32, integers by plain
 * loops. */
#include "kernel/gemm.h"

#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kernel/cast.h"
#include "kernel/gemm_micro.h"
#include "kernel/target.h"

enum {
    SMALL_SIDE = 16, /* no side longer: not worth packing */
    BLOCK_M = 960,
    BLOCK_N = 1024,
    BLOCK_K = 256, /* packed blocks: B's and A's stay in L2 or L3 */
    GROUP_ROWS = 8,
    GROUP_COLUMNS = 8, /* micro tiles of one unit of work */
    VECTOR_TILE = 512
};

#define NAME(x) f32_##x
#define T       float
#define MICRO   mxl_gemm_micro_f32
#include "kernel/gemm.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define MICRO   mxl_gemm_micro_f64
#include "kernel/gemm.tmpl.h"

/* ---- integers ---- */
typedef struct int_job {
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, ldc, n, k;
    bool add;
} int_job;

/* A unit is a row of C. */
#define INT_ROWS(T)                                                                                \
    static void rows_##T(void *data, int64_t begin, int64_t end)                                   \
    {                                                                                              \
        const int_job *job = data;                                                                 \
        const T *a = job->a, *b = job->b;                                                          \
                                                                                                   \
        for (int64_t i = begin; i < end; i++) {                                                    \
            T *restrict c = (T *)job->c + i * job->ldc;                                            \
                                                                                                   \
            if (!job->add)                                                                         \
                memset(c, 0, (size_t)job->n * sizeof(T));                                          \
            for (int64_t p = 0; p < job->k; p++) {                                                 \
                T s = a[i * job->a_row + p * job->a_col];                                          \
                for (int64_t j = 0; j < job->n; j++)                                               \
                    c[j] += s * b[p * job->b_row + j * job->b_col];                                \
            }                                                                                      \
        }                                                                                          \
    }

INT_ROWS(int32_t)
INT_ROWS(int64_t)

/* ---- float16 ---- */

/* rows x columns halves, rows ld elements apart, into contiguous floats; or back. */
static void half_move(bool to_float, void *half, int64_t ld, float *flat, int64_t rows,
                      int64_t columns)
{
    mxl_row row = to_float ? mxl_cast_row(MXL_F16, MXL_F32) : mxl_cast_row(MXL_F32, MXL_F16);
    int64_t step = 1;

    for (int64_t i = 0; i < rows; i++) {
        void *h = (mxl_half *)half + i * ld, *f = flat + i * columns;
        const void *in = to_float ? h : f;

        row(to_float ? f : h, &in, &step, columns, NULL);
    }
}

static int half_gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                     const void *b, int64_t ldb, void *c, int64_t ldc, bool add)
{
    size_t bytes = (size_t)(m * k + k * n + m * n) * sizeof(float);
    float *fa = mxl_alloc(bytes), *fb, *fc;
    int status;

    if (fa == NULL)
        return -1;
    fb = fa + m * k;
    fc = fb + k * n;
    /* Operands are only read. */
    half_move(true, (void *)(uintptr_t)a, lda, fa, ta ? k : m, ta ? m : k);
    half_move(true, (void *)(uintptr_t)b, ldb, fb, tb ? n : k, tb ? k : n);
    if (add)
        half_move(true, c, ldc, fc, m, n);
    status = f32_gemm(ta, tb, m, n, k, fa, ta ? m : k, fb, tb ? k : n, fc, n, add);
    if (status == 0)
        half_move(false, c, ldc, fc, m, n);
    mxl_free(fa, bytes);
    return status;
}

int mxl_gemm(int dtype, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t lda, const void *b, int64_t ldb, void *c, int64_t ldc, bool accumulate)
{
    int_job job = {a,   b, c, ta ? 1 : lda, ta ? lda : 1, tb ? 1 : ldb, tb ? ldb : 1,
                   ldc, n, k, accumulate};
    int64_t grain = 1 + 32768 / (1 + n * k);

    if (dtype != MXL_F32 && dtype != MXL_F64 && dtype != MXL_F16 && dtype != MXL_I32 &&
        dtype != MXL_I64)
        return mxl_error("matrix product: dtype %s is not supported", mxl_dtype_name(dtype));
    if (m == 0 || n == 0)
        return 0;
    if (k == 0) {
        for (int64_t i = 0; i < m && !accumulate; i++)
            memset((char *)c + i * ldc * (int64_t)mxl_dtype_size(dtype), 0,
                   (size_t)n * mxl_dtype_size(dtype));
        return 0;
    }
    switch (dtype) {
    case MXL_F32:
        return f32_gemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
    case MXL_F64:
        return f64_gemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
    case MXL_F16:
        return half_gemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
    case MXL_I32:
        mxl_parallel_for(m, grain, rows_int32_t, &job);
        return 0;
    default:
        mxl_parallel_for(m, grain, rows_int64_t, &job);
        return 0;
    }
}
