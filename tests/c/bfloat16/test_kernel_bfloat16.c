/* Convolutions and matrix products of bfloat16 against sums in double precision, with one to three
 * threads: the same bits. Where the processor lacks the instructions there is nothing to test. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/bfloat16/pair_convolve.h"
#include "kernel/bfloat16/pairs.h"
#include "kernel/bfloat16/pair_product.h"
#include "kernel/target.h"

static uint32_t state = 1;

static double number(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

/* A number between 1/4 and 4, or below 0. */
static uint16_t next(void)
{
    state = state * 1664525U + 1013904223U;
    return (uint16_t)((state >> 31) << 15 | (0x3E80 + (state >> 16) % 0x180));
}

static uint16_t *numbers(int64_t n)
{
    uint16_t *made = malloc((size_t)(n + 1) * sizeof(*made));

    for (int64_t i = 0; i < n; i++)
        made[i] = next();
    return made;
}

/* Whether y is the sum r, of terms whose sizes add up to `size`: rounded to bfloat16. */
static bool is_near(uint16_t y, double r, double size)
{
    return fabs(number(y) - r) <= fabs(r) * 0x1p-8 + size * 0x1p-20;
}

/* ---- convolutions ---- */

static const mxl_conv shapes[] = {
    {0,
     2,
     1,
     17,
     33,
     {1, 9, 40},
     {1, 9, 40},
     {1, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {0, 1, 1},
     NULL,
     NULL},
    {0, 1, 3, 6, 5, {3, 9, 8}, {3, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 1, 2}, {1, 1, 2}, NULL, NULL},
    {0, 1, 1, 64, 15, {1, 7, 7}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
    {0,
     3,
     1,
     3,
     64,
     {1, 30, 33},
     {1, 14, 15},
     {1, 5, 7},
     {1, 2, 2},
     {1, 1, 1},
     {0, 1, 1},
     NULL,
     NULL},
    {0, 1, 2, 16, 4, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 1, 1, 40, 130, {1, 20, 20}, {1, 7, 7}, {1, 2, 2}, {1, 3, 3}, {1, 1, 1}, {0}, NULL, NULL},
};

static int64_t count(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

/* The sum of one element of the output, and of the sizes of its terms. */
static double sum_of(const mxl_conv *v, const uint16_t *x, const uint16_t *w, int64_t image,
                     int64_t k, int64_t place, double *size)
{
    const int64_t o[3] = {place / v->y_size[2] / v->y_size[1], place / v->y_size[2] % v->y_size[1],
                          place % v->y_size[2]};
    int64_t taps = count(v->kernel), plane = count(v->x_size), group = image % v->groups;
    double sum = 0;

    *size = 0;
    for (int64_t t = 0; t < taps; t++) {
        const int64_t at[3] = {t / v->kernel[2] / v->kernel[1], t / v->kernel[2] % v->kernel[1],
                               t % v->kernel[2]};
        int64_t from = 0;
        bool inside = true;

        for (int i = 0; i < 3; i++) {
            int64_t p = o[i] * v->stride[i] + at[i] * v->dilate[i] - v->pad[i];

            inside = inside && p >= 0 && p < v->x_size[i];
            from = from * v->x_size[i] + p;
        }
        for (int64_t c = 0; c < v->in && inside; c++) {
            double term = number(x[(image * v->in + c) * plane + from]) *
                          number(w[((group * v->out + k) * v->in + c) * taps + t]);

            sum += term;
            *size += fabs(term);
        }
    }
    return sum;
}

static void check_convolution(mxl_conv v, bool ends)
{
    int64_t positions = count(v.y_size), images = v.batch * v.groups;
    int64_t n = images * v.out * positions, channels = v.groups * v.out;
    uint16_t *x = numbers(images * v.in * count(v.x_size)), *add = numbers(n);
    uint16_t *w = numbers(channels * v.in * count(v.kernel)), *y[2] = {numbers(n), numbers(n)};
    float *bias = malloc((size_t)channels * sizeof(float));
    float *scale = malloc((size_t)channels * sizeof(float));
    mxl_conv_tail tail = {.scale = scale, .add = add, .low = -20, .high = 30};
    mxl_conv_form *form = NULL;

    for (int64_t i = 0; i < channels; i++) {
        bias[i] = (float)number(next());
        scale[i] = (float)number(next());
    }
    v.dtype = MXL_BF16;
    v.tail = ends ? &tail : NULL;
    v.form = ends ? &form : NULL;
    CHECK(mxl_bfloat16_convolves(&v));
    for (int threads = 1; threads <= 3; threads++) {
        int before = mxl_thread_set_count(threads);

        CHECK_INT(mxl_bfloat16_convolve(&v, x, w, ends ? bias : NULL, y[threads > 1]), 0);
        mxl_thread_set_count(before);
        CHECK(threads == 1 || memcmp(y[0], y[1], (size_t)n * sizeof(**y)) == 0);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t image = i / positions / v.out, k = i / positions % v.out;
        int64_t channel = image % v.groups * v.out + k;
        double size, r = sum_of(&v, x, w, image, k, i % positions, &size);

        if (ends) {
            r = r * (double)scale[channel] + (double)bias[channel] + number(add[i]);
            r = fmin(fmax(r, tail.low), tail.high);
            size = size * fabs((double)scale[channel]) + 8;
        }
        CHECK(is_near(y[0][i], r, size));
    }
    mxl_conv_form_free(form);
    free(x), free(w), free(add), free(y[0]), free(y[1]), free(bias), free(scale);
}

TEST(convolutions)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes) && mxl_pairs_are_fast(); i++) {
        check_convolution(shapes[i], false);
        check_convolution(shapes[i], true);
    }
}

TEST(nan_stays_in_its_place)
{
    mxl_conv v = shapes[2];
    int64_t positions = count(v.y_size), n = v.out * positions;
    uint16_t *x = numbers(v.in * positions), *w = numbers(v.out * v.in), *y = numbers(n);
    mxl_conv_tail tail = {.low = 0, .high = 1};

    if (mxl_pairs_are_fast()) {
        v.dtype = MXL_BF16;
        v.tail = &tail;
        x[5 * positions + 9] = 0x7FC0;
        CHECK_INT(mxl_bfloat16_convolve(&v, x, w, NULL, y), 0);
        for (int64_t i = 0; i < n; i++)
            CHECK(isnan(number(y[i])) == (i % positions == 9));
    }
    free(x), free(w), free(y);
}

TEST(few_channels_are_left_to_others)
{
    mxl_conv v = shapes[2];

    v.dtype = MXL_BF16;
    v.in = 1;
    CHECK(!mxl_bfloat16_convolves(&v));
}

/* ---- matrix products ---- */

static void check_product(int64_t m, int64_t n, int64_t k, bool ta, bool tb, bool biased)
{
    uint16_t *a = numbers(m * k + 3 * (m + k)), *b = numbers(n * k + 5 * (n + k));
    uint16_t *bias = numbers(n), *c[2] = {numbers(m * (n + 2)), numbers(m * (n + 2))};
    mxl_product p = {.dtype = MXL_BF16,
                     .ta = ta,
                     .tb = tb,
                     .count = 1,
                     .m = m,
                     .n = n,
                     .k = k,
                     .lda = (ta ? m : k) + 3,
                     .ldb = (tb ? k : n) + 5,
                     .ldc = n + 2,
                     .bias = biased ? bias : NULL};

    CHECK(mxl_bfloat16_multiplies(&p));
    memcpy(c[1], c[0], (size_t)(m * (n + 2)) * sizeof(**c));
    CHECK_INT(mxl_bfloat16_product(&p, a, b, c[1], true), 0);
    for (int threads = 1; threads <= 3; threads++) {
        int before = mxl_thread_set_count(threads);

        CHECK_INT(mxl_bfloat16_product(&p, a, b, c[0], false), 0);
        mxl_thread_set_count(before);
        CHECK(memcmp(c[0], c[1], (size_t)(m * (n + 2)) * sizeof(**c)) == 0);
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double r = biased ? number(bias[j]) : 0, size = fabs(r);

            for (int64_t q = 0; q < k; q++) {
                double term = number(ta ? a[q * p.lda + i] : a[i * p.lda + q]) *
                              number(tb ? b[j * p.ldb + q] : b[q * p.ldb + j]);

                r += term;
                size += fabs(term);
            }
            CHECK(is_near(c[0][i * p.ldc + j], r, size));
        }
    }
    free(a), free(b), free(bias), free(c[0]), free(c[1]);
}

TEST(products)
{
    static const int64_t sizes[][3] = {{1, 1, 1},    {1, 40, 65},  {8, 33, 7},    {9, 33, 16},
                                       {14, 32, 64}, {15, 31, 63}, {70, 129, 33}, {33, 300, 2}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && mxl_pairs_are_fast(); i++) {
        for (int which = 0; which < 8; which++)
            check_product(sizes[i][0], sizes[i][1], sizes[i][2], which & 1, which & 2, which & 4);
    }
}

/* ---- pairs ---- */

/* The second product of a pair is added before the first one. */
TEST(order_within_pairs)
{
    enum { PAIRS = 50, N = MXL_PAIRS_COLUMNS };
    uint32_t w[PAIRS], x[PAIRS * N];
    float sums[N];

    for (int p = 0; p < PAIRS * N; p++) {
        w[p % PAIRS] = (uint32_t)next() << 16 | next();
        x[p] = (uint32_t)next() << 16 | next();
    }
    if (mxl_pairs_are_fast())
        mxl_pairs_tile(1, N, PAIRS, w, x, sums);
    for (int i = 0; i < N && mxl_pairs_are_fast(); i++) {
        float sum = 0;

        for (int p = 0; p < PAIRS; p++) {
            uint32_t a = w[p], b = x[p * N + i];

            sum = fmaf((float)number((uint16_t)(a >> 16)), (float)number((uint16_t)(b >> 16)), sum);
            sum = fmaf((float)number(a & 0xFFFF), (float)number(b & 0xFFFF), sum);
        }
        CHECK(memcmp(&sum, &sums[i], sizeof(sum)) == 0);
    }
}

TEST(turning_and_weaving)
{
    enum { ROWS = 7, K = 13, WIDTH = 9, PAIRS = (K + 1) / 2 };
    uint16_t *x = numbers(ROWS * (K + 2));
    uint32_t to[PAIRS * WIDTH] = {0};

    if (mxl_pairs_are_fast())
        mxl_pairs_turn(x, K + 2, ROWS, K, to, WIDTH);
    for (int q = 0; q < PAIRS && mxl_pairs_are_fast(); q++) {
        for (int r = 0; r < WIDTH; r++) {
            const uint16_t *at = x + r * (K + 2) + 2 * q;
            uint32_t pair = r >= ROWS ? 0 : at[0] | (2 * q + 1 < K ? (uint32_t)at[1] << 16 : 0);

            CHECK_INT(to[q * WIDTH + r], pair);
        }
    }
    free(x);
}

HARNESS_MAIN(ENTRY(convolutions), ENTRY(nan_stays_in_its_place),
             ENTRY(few_channels_are_left_to_others), ENTRY(products), ENTRY(order_within_pairs),
             ENTRY(turning_and_weaving))
