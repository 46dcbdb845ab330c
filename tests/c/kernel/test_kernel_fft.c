/* Fourier transforms against sums over all elements: lengths of every kind, layouts, kinds, both
 * dtypes, at each vector level; on several threads; in place; without memory. */
#include <math.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "failing.h"
#include "harness.h"
#include "kernel/fourier/fft.h"
#include "kernel/fourier/fft_plan.h"
#include "kernel/target.h"

#define PI 3.14159265358979323846

enum { MOST = 400 * 40 * 2 };

static double in[MOST], out[MOST], again[MOST];
static float narrow_in[MOST], narrow_out[MOST];

/* 2, 67 .. 134: 67 is a convolution, 128 a matrix; 62 and 126 have stages of 31 and 7 */
static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   12,  15,  16,  25,  27,
                                  31, 49, 62, 63, 64, 67, 96, 100, 126, 128, 131, 134, 243, 256};

static double random_number(uint64_t *seed)
{
    return (double)(int64_t)harness_random(seed) / 9.3e18;
}

/* Element k of outer position o and column i: the sum. `im` gets the imaginary part. */
static double sum_of(const mxl_fft_job *job, int64_t o, int64_t k, int64_t i, double *im)
{
    const bool to = job->kind == MXL_FFT_TO_REAL, from = job->kind == MXL_FFT_FROM_REAL;
    const int64_t n = job->n, there = to ? n / 2 + 1 : n;
    double re = 0, factor = from && k > 0 && 2 * k != n ? job->middle : 1;

    *im = 0;
    for (int64_t j = 0; j < there; j++) {
        const int64_t at = (o * there + j) * job->inner + i;
        const double turn = (job->inverse ? 2 : -2) * PI * (double)(j * k % n) / (double)n;
        const double a = from ? in[at] : in[2 * at], b = from ? 0 : in[2 * at + 1];
        const double f = to && j > 0 && 2 * j != n ? job->middle : 1;

        re += f * (a * cos(turn) - b * sin(turn));
        *im += f * (a * sin(turn) + b * cos(turn));
    }
    re *= factor * job->scale;
    *im *= factor * job->scale;
    return re;
}

static void check_job(const mxl_fft_job *job, const char *what)
{
    const bool pairs = job->kind != MXL_FFT_TO_REAL;
    const int64_t n = job->kind == MXL_FFT_FROM_REAL ? job->n / 2 + 1 : job->n;
    const double near = job->dtype == MXL_F32 ? 2e-4 : 1e-12;
    double worst = 0, im;

    for (int64_t o = 0; o < job->outer; o++) {
        for (int64_t k = 0; k < n; k += 1 + n / 9) {
            for (int64_t i = 0; i < job->inner; i++) {
                const int64_t at = (o * n + k) * job->inner + i;
                double re = sum_of(job, o, k, i, &im);

                if (!pairs)
                    re -= job->dtype == MXL_F32 ? (double)narrow_out[at] : out[at];
                else
                    re -= job->dtype == MXL_F32 ? (double)narrow_out[2 * at] : out[2 * at];
                if (pairs)
                    im -= job->dtype == MXL_F32 ? (double)narrow_out[2 * at + 1] : out[2 * at + 1];
                worst = fmax(worst, fabs(re) + (pairs ? fabs(im) : 0));
            }
        }
    }
    if (!harness_check(worst <= near * sqrt((double)job->n), __FILE__, __LINE__, what))
        harness_check_int(job->n, -1, __FILE__, __LINE__, "length");
}

static void each_kind(int64_t outer, int64_t n, int64_t inner)
{
    static const char *const names[] = {"pairs", "from real", "to real"};

    for (int kind = MXL_FFT_PAIRS; kind <= MXL_FFT_TO_REAL; kind++) {
        for (int variant = 0; variant < 4; variant++) {
            mxl_fft_job job = {.dtype = variant < 2 ? MXL_F64 : MXL_F32,
                               .kind = (mxl_fft_kind)kind,
                               .inverse = variant % 2 == 1,
                               .outer = outer,
                               .n = n,
                               .inner = inner,
                               .scale = 0.75,
                               .middle = 1.5};

            job.in = variant < 2 ? (void *)in : narrow_in;
            job.out = variant < 2 ? (void *)out : narrow_out;
            CHECK_INT(mxl_fft(&job), 0);
            check_job(&job, names[kind]);
        }
    }
}

static void fill(void)
{
    uint64_t seed = 5;

    for (int i = 0; i < MOST; i++)
        in[i] = narrow_in[i] = (float)random_number(&seed);
}

TEST(sums)
{
    static const int64_t layouts[][2] = {{1, 1}, {3, 1}, {35, 1}, {2, 3}, {1, 21}};
    int level = mxl_level();

    fill();
    for (int at = MXL_BASELINE; at <= level; at += level > 0 ? level : 1) {
        CHECK_INT(mxl_level_set(at), 0);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (int k = 0; k < 5; k++)
                each_kind(layouts[k][0], lengths[i], layouts[k][1]);
        }
    }
    each_kind(0, 4, 3);
    each_kind(3, 4, 0);
}

static mxl_fft_job columns_job(int64_t outer, int64_t n, int64_t inner, double *to)
{
    return (mxl_fft_job){MXL_F64, MXL_FFT_PAIRS, false, outer, n, inner, 1, 1, in, to};
}

TEST(threads_and_places)
{
    static const int64_t shapes[][3] = {{40, 200, 2}, {160, 67, 1}, {1, 100, 160}, {400, 26, 1}};
    int before = mxl_thread_set_count(1);

    fill();
    for (int i = 0; i < 4; i++) {
        mxl_fft_job job = columns_job(shapes[i][0], shapes[i][1], shapes[i][2], out);
        size_t bytes = (size_t)(job.outer * job.n * job.inner * 2) * sizeof(double);

        mxl_thread_set_count(1);
        CHECK_INT(mxl_fft(&job), 0);
        mxl_thread_set_count(5);
        job.out = again;
        CHECK_INT(mxl_fft(&job), 0);
        CHECK_INT(memcmp(out, again, bytes), 0);
        memcpy(again, in, bytes);
        job.in = again;
        CHECK_INT(mxl_fft(&job), 0);
        CHECK_INT(memcmp(out, again, bytes), 0);
    }
    mxl_thread_set_count(before);
}

TEST(no_memory)
{
    static const int64_t sizes[] = {12, 67, 128};

    fill();
    CHECK_INT(mxl_mem_set_allocator(counted, counted_free, NULL, false), 0);
    for (int i = 0; i < 3; i++) {
        mxl_fft_job job = columns_job(1, sizes[i], 1, out);
        int status = -1, k = 0;

        for (; status != 0 && k < 50; k++) {
            int64_t bytes = mxl_mem_live_bytes();

            until_failure = k;
            status = mxl_fft(&job);
            until_failure = -1;
            CHECK_INT(mxl_mem_live_bytes(), bytes);
            CHECK(status == 0 || mxl_error_text()[0] != '\0');
        }
        CHECK(k > 3 && k < 50);
    }
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
}

TEST(roots_of_unity)
{
    static double places[4099], cosines[4099], sines[4099];

    for (int64_t n = 1; n < 4100; n = n * 2 + 1 + n % 3) {
        double worst = 0;

        for (int64_t k = 0; k < n; k++)
            places[k] = (double)k;
        mxl_fft_roots(n, n, places, cosines, sines);
        for (int64_t k = 0; k < n; k++) {
            long double angle = 2 * 3.14159265358979323846264338327950288L * k / n;

            worst = fmax(worst, (double)fabsl(cosl(angle) - cosines[k]));
            worst = fmax(worst, (double)fabsl(sinl(angle) + sines[k]));
        }
        CHECK(worst < 1.2e-16);
    }
    CHECK_NEAR(cosines[0], 1, 0);
}

TEST(plans)
{
    int factors[MXL_FFT_STAGES];

    CHECK_INT(mxl_fft_factors(1, factors), 0);
    CHECK_INT(mxl_fft_factors(3 * 64 * 2 * 61, factors), 6);
    CHECK_INT(factors[5], 61);
    CHECK_INT(mxl_fft_factors(67, factors), 0);
    CHECK(mxl_fft_convolves(67) && mxl_fft_convolves(10007) && !mxl_fft_convolves(61));
    CHECK(!mxl_fft_convolves(1024) && !mxl_fft_convolves(30030));
    for (int64_t n = 64; n < 3000; n += 37) {
        int64_t size = mxl_fft_padded(n);

        CHECK(size >= 2 * n - 1 && size < 3 * n && size % 16 == 0);
        CHECK(mxl_fft_columns(size) > 0);
    }
    CHECK_INT(mxl_fft_columns(63), 0);
    CHECK_INT(mxl_fft_columns(1024), 16);
}

HARNESS_MAIN(ENTRY(sums), ENTRY(threads_and_places), ENTRY(no_memory), ENTRY(roots_of_unity),
             ENTRY(plans))
