/* Matrix products: float32 and float64 from gemm.tmpl.h and gemm_rows.tmpl.h, float16 and
 * bfloat16 through float32, integers by plain loops. */
#include "kernel/gemm/gemm.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/openblas.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/bfloat16/pair_product.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/gemm/gemm_micro.h"
#include "kernel/target.h"

/* Measured on a Zen 4 with 32 KiB, 1 MiB and 32 MiB of cache. */
enum {
    GRAIN = 1 << 18, /* multiplications that are worth a thread */
    BLOCK_M = 144,
    BLOCK_N = 3072,
    BLOCK_K = 1024,      /* packed blocks: A's stays in the second cache, B's in the third */
    UNITS = 8,           /* pieces of a block per thread, */
    FINE_UNITS = 12,     /* and of a product with a packed B */
    FINE_WORK = 1 << 15, /* multiplications that are worth a thread that is awake */
    NEAR_BYTES = 16384,  /* room for packing that needs no allocation */
    NEAR_DEPTH = 128,    /* depth k up to which operands are more often read without packing */
    MOST_APART =
        1024, /* bytes: row distances that are multiples of this power of two cause cache misses */
    INNER_SUM = 8,        /* cost of summing a vector's elements, in vector instructions */
    INNER_ROOM = 1 << 16, /* elements of the smaller operand that stay cached in inner products */
    TINY_SIDE = 8,        /* rows, columns and depth up to which a plain loop is fastest */
    SHALLOW = 2,          /* k up to which rows are scaled and added */
    VECTOR_TILE = 4096,
    TAIL_PART = 1 << 14, /* elements of C that a tail takes at once: half of the second cache */
    BLAS_LEAST =
        16, /* smallest size of all three dimensions for OpenBLAS, and of the largest one */
    BLAS_MOST = 64
};

/* The cost of packing an element of B, in vector instructions. */
static const double PACK = 0.5;

struct mxl_gemm_packed {
    size_t bytes;
    _Alignas(64) char data[];
};

static const void *packed_data(const mxl_gemm_packed *packed)
{
    return packed->data;
}

/* The number of items, of `each` multiplications, that are worth a thread. */
static int64_t grain_of(int64_t each)
{
    return 1 + GRAIN / (each + 1);
}

/* The number of threads that a product of m x n x k may use. */
static int64_t workers_for(int64_t m, int64_t n, int64_t k)
{
    int64_t threads = mxl_thread_count(), most = INT64_MAX / GRAIN;
    int64_t work = m * n > most / k ? most : m * n * k;

    return work / GRAIN < 1 ? 1 : work / GRAIN < threads ? work / GRAIN : threads;
}

/* ---- what follows a product ---- */

typedef struct tail_job {
    const mxl_product *product;
    char *c;
} tail_job;

static void follow_rows(void *data, int64_t begin, int64_t end)
{
    const tail_job *job = data;
    const mxl_product *p = job->product;
    size_t at = (size_t)(begin * p->ldc) * mxl_dtype_size(p->dtype);

    p->tail->run(p->tail->context, job->c + at, begin, end - begin, 0, p->n);
}

/* The tail of all of C at once. */
static void follow_all(const mxl_product *p, void *c, bool alone)
{
    tail_job job = {p, c};

    if (p->tail != NULL)
        mxl_parallel_for(p->m, alone ? p->m : 1 + TAIL_PART / p->n, follow_rows, &job);
}

#define NAME(x) f32_##x
#define T       float
#define MICRO   mxl_gemm_micro_f32
#include "kernel/gemm/gemm_rows.tmpl.h"
#include "kernel/gemm/gemm.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define MICRO   mxl_gemm_micro_f64
#include "kernel/gemm/gemm_rows.tmpl.h"
#include "kernel/gemm/gemm.tmpl.h"

/* ---- integers ---- */
typedef struct int_job {
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, ldc, n, k;
    bool add;
} int_job;

/* One item of the range is a row of C. */
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

/* ---- float16 and bfloat16 ---- */

/* Converts rows x columns numbers of 16 bits, in rows ld elements apart, into contiguous floats; or
 * back. */
static void half_move(const mxl_product *p, bool to_float, void *half, int64_t ld, float *flat,
                      int64_t rows, int64_t columns)
{
    mxl_loop row = to_float ? mxl_cast_loop(p->dtype, MXL_F32) : mxl_cast_loop(MXL_F32, p->dtype);
    int64_t step = 1;

    for (int64_t i = 0; i < rows; i++) {
        void *h = (mxl_half *)half + i * ld, *f = flat + i * columns;
        const void *in = to_float ? h : f;

        row(to_float ? f : h, &in, &step, columns, NULL);
    }
}

static int half_product(const mxl_product *p, const void *a, const void *b, void *c, bool alone)
{
    size_t bytes = (size_t)(p->m * p->k + p->k * p->n + p->m * p->n + p->n) * sizeof(float);
    float *fa = mxl_alloc(bytes), *fb, *fc, *added;
    mxl_product flat = *p;
    int status;

    if (fa == NULL)
        return -1;
    fb = fa + p->m * p->k;
    fc = fb + p->k * p->n;
    added = fc + p->m * p->n;
    flat.lda = p->ta ? p->m : p->k;
    flat.ldb = p->tb ? p->k : p->n;
    flat.ldc = p->n;
    flat.tail = NULL;
    /* Operands are only read. */
    half_move(p, true, (void *)(uintptr_t)a, p->lda, fa, p->ta ? p->k : p->m, flat.lda);
    half_move(p, true, (void *)(uintptr_t)b, p->ldb, fb, p->tb ? p->n : p->k, flat.ldb);
    if (p->accumulate)
        half_move(p, true, c, p->ldc, fc, p->m, p->n);
    if (p->bias != NULL) {
        half_move(p, true, (void *)(uintptr_t)p->bias, p->n, added, 1, p->n);
        flat.bias = added;
    }
    status = f32_product(&flat, fa, fb, fc, alone);
    if (status == 0)
        half_move(p, false, c, p->ldc, fc, p->m, p->n);
    mxl_free(fa, bytes);
    if (status == 0)
        follow_all(p, c, alone);
    return status;
}

/* ---- one product ---- */

static void int_product(const mxl_product *p, const void *a, const void *b, void *c)
{
    int_job job = {a,
                   b,
                   c,
                   p->ta ? 1 : p->lda,
                   p->ta ? p->lda : 1,
                   p->tb ? 1 : p->ldb,
                   p->tb ? p->ldb : 1,
                   p->ldc,
                   p->n,
                   p->k,
                   p->accumulate};

    mxl_parallel_for(p->m, 1 + 32768 / (1 + p->n * p->k),
                     p->dtype == MXL_I32 ? rows_int32_t : rows_int64_t, &job);
}

/* k is 0: C is the addend, or zeros. */
static void empty_sum(const mxl_product *p, void *c)
{
    size_t bytes = (size_t)p->n * mxl_dtype_size(p->dtype);

    for (int64_t i = 0; i < p->m && !p->accumulate; i++) {
        char *row = (char *)c + (size_t)(i * p->ldc) * mxl_dtype_size(p->dtype);

        if (p->bias != NULL)
            memcpy(row, p->bias, bytes);
        else
            memset(row, 0, bytes);
    }
}

/* One of the products; `alone` limits it to this thread. */
static int one(const mxl_product *p, int64_t i, bool alone)
{
    int64_t size = (int64_t)mxl_dtype_size(p->dtype);
    const char *a = (const char *)p->a + i * p->a_next * size;
    const char *b = (const char *)p->b + i * p->b_next * size;
    char *c = (char *)p->c + i * p->c_next * size;

    if (p->k == 0) {
        empty_sum(p, c);
        follow_all(p, c, alone);
        return 0;
    }
    switch (p->dtype) {
    case MXL_F32:
        return f32_product(p, a, b, c, alone);
    case MXL_F64:
        return f64_product(p, a, b, c, alone);
    case MXL_F16:
    case MXL_BF16:
#ifndef MXL_WITHOUT_BFLOAT16
        if (p->dtype == MXL_BF16 && mxl_bfloat16_multiplies(p))
            return mxl_bfloat16_product(p, a, b, c, alone);
#endif
        return half_product(p, a, b, c, alone);
    default:
        int_product(p, a, b, c);
        return 0;
    }
}

/* ---- OpenBLAS ---- */

/* True if OpenBLAS is worth a call. Above the baseline level the library's own kernels are as fast
 * as OpenBLAS's from 128 x 128 on and faster for skinny matrices, and their threads do not spin. At
 * the baseline OpenBLAS may have better kernels for this processor. */
static bool suits_openblas(const mxl_product *p)
{
    int64_t least = p->m < p->n ? p->m : p->n, most = p->m < p->n ? p->n : p->m;

    if (p->k > most)
        most = p->k;
    return mxl_level() == MXL_BASELINE && p->packed == NULL && !p->alone &&
           (p->dtype == MXL_F32 || p->dtype == MXL_F64) && least >= BLAS_LEAST &&
           p->k >= BLAS_LEAST && most >= BLAS_MOST && most <= INT32_MAX && p->lda <= INT32_MAX &&
           p->ldb <= INT32_MAX && p->ldc <= INT32_MAX;
}

/* Runs all products with OpenBLAS, if there is one: returns 1, 0 if there is none, -1 with the
 * error set. In column-major order the product is C' = op(B)' op(A)'. */
static int by_openblas(const mxl_product *p)
{
    static const float one32 = 1, zero32 = 0;
    static const double one64 = 1, zero64 = 0;
    const mxl_openblas *held;
    size_t size = mxl_dtype_size(p->dtype);
    bool single = p->dtype == MXL_F32, add = p->accumulate || p->bias != NULL;
    const void *alpha = single ? (const void *)&one32 : &one64;
    const void *beta = add ? alpha : single ? (const void *)&zero32 : &zero64;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    int lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;

    if (mxl_openblas_begin(&held, workers_for(p->m, p->n, p->k) > 1) != 0)
        return -1;
    for (int64_t i = 0; i < p->count && held != NULL; i++) {
        char *c = (char *)p->c + (size_t)(i * p->c_next) * size;

        if (p->bias != NULL)
            empty_sum(p, c);
        (single ? held->f32 : held->f64)
            .gemm(p->tb ? "T" : "N", p->ta ? "T" : "N", &n, &m, &k, alpha,
                  (const char *)p->b + (size_t)(i * p->b_next) * size, &ldb,
                  (const char *)p->a + (size_t)(i * p->a_next) * size, &lda, beta, c, &ldc, 1, 1);
    }
    mxl_openblas_end(held);
    return held != NULL;
}

/* ---- all ---- */

typedef struct many_job {
    const mxl_product *product;
    atomic_bool failed;
} many_job;

static void many(void *data, int64_t begin, int64_t end)
{
    many_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        if (one(job->product, i, true) != 0)
            atomic_store(&job->failed, true);
    }
}

int mxl_products(const mxl_product *p)
{
    many_job job = {.product = p};
    bool real = mxl_dtype_is_float(p->dtype);

    if (!real && p->dtype != MXL_I32 && p->dtype != MXL_I64)
        return mxl_error("matrix product: dtype %s is not supported", mxl_dtype_name(p->dtype));
    if (!real && p->bias != NULL)
        return mxl_error("matrix product: a bias of dtype %s is not supported",
                         mxl_dtype_name(p->dtype));
    if (p->m == 0 || p->n == 0 || p->count == 0)
        return 0;
    if (suits_openblas(p)) {
        int done = by_openblas(p);

        if (done > 0)
            follow_all(p, p->c, false);
        if (done != 0)
            return done < 0 ? -1 : 0;
    }
    /* A few large products run one after another, each on all threads; many run in parallel. */
    if (p->alone || p->count < mxl_thread_count()) {
        for (int64_t i = 0; i < p->count; i++) {
            if (one(p, i, p->alone) != 0)
                return -1;
        }
        return 0;
    }
    mxl_parallel_for(p->count, grain_of(p->m * p->n * p->k), many, &job);
    return atomic_load(&job.failed) ? mxl_error("out of memory: room for a matrix product") : 0;
}

bool mxl_gemm_takes_packed(const mxl_product *p)
{
    return (p->dtype == MXL_F32 || p->dtype == MXL_F64) && p->m >= MXL_GEMM_INNER &&
           p->n >= MXL_GEMM_NR / 2 && p->k > 0 && !suits_openblas(p);
}

bool mxl_gemm_packs(const mxl_product *p)
{
    return mxl_gemm_takes_packed(p) && (p->dtype == MXL_F32 ? f32_packs(p) : f64_packs(p));
}

mxl_gemm_packed *mxl_gemm_pack(int dtype, bool tb, int64_t n, int64_t k, const void *b, int64_t ldb)
{
    bool single = dtype == MXL_F32;
    int64_t size = single ? f32_packed_size(n, k) : f64_packed_size(n, k);
    size_t bytes = sizeof(mxl_gemm_packed) + (size_t)size * mxl_dtype_size(dtype);
    mxl_gemm_packed *packed = mxl_alloc(bytes);

    if (packed == NULL)
        return NULL;
    packed->bytes = bytes;
    if (single)
        f32_pack_all(tb, n, k, b, ldb, (float *)packed->data);
    else
        f64_pack_all(tb, n, k, b, ldb, (double *)packed->data);
    return packed;
}

void mxl_gemm_unpack(mxl_gemm_packed *packed)
{
    if (packed != NULL)
        mxl_free(packed, packed->bytes);
}

int mxl_gemm(int dtype, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t lda, const void *b, int64_t ldb, void *c, int64_t ldc, bool accumulate)
{
    mxl_product p = {.dtype = dtype,
                     .ta = ta,
                     .tb = tb,
                     .accumulate = accumulate,
                     .count = 1,
                     .m = m,
                     .n = n,
                     .k = k,
                     .a = a,
                     .b = b,
                     .c = c,
                     .lda = lda,
                     .ldb = ldb,
                     .ldc = ldc};

    return mxl_products(&p);
}
