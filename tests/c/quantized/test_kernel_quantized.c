/* Loops over bytes against plain sums, at every vector level and with one to three threads: the
 * same integers everywhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "bytes_kit.h"
#include "harness.h"
#include "kernel/quantized/bytes.h"
#include "kernel/quantized/convolve.h"
#include "kernel/quantized/dots.h"
#include "kernel/quantized/byte_pool.h"
#include "kernel/target.h"

static uint32_t state = 1;

static uint8_t next_byte(void)
{
    state = state * 1664525U + 1013904223U;
    return (uint8_t)(state >> 24);
}

static void fill(void *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)bytes)[i] = next_byte();
}

/* Runs a test at each level that there is, with as many threads. */
static void at_levels(void (*test)(void))
{
    for (int level = MXL_BASELINE; level < MXL_LEVELS; level++) {
        int before;

        if (mxl_level_set(level) != 0)
            continue;
        before = mxl_thread_set_count(level + 1);
        test();
        mxl_thread_set_count(before);
    }
    mxl_level_set(mxl_level_find());
}

/* ---- convolution ---- */

static int32_t plain(const mxl_conv *v, const void *x, const int8_t *w, int64_t image, int64_t k,
                     const int64_t *o)
{
    int64_t group = image % v->groups, taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
    int64_t plane = v->x_size[0] * v->x_size[1] * v->x_size[2];
    int32_t sum = 0;

    for (int64_t t = 0; t < taps; t++) {
        const int64_t at[3] = {t / v->kernel[2] / v->kernel[1], t / v->kernel[2] % v->kernel[1],
                               t % v->kernel[2]};
        int64_t place = 0;
        bool inside = true;

        for (int i = 0; i < 3; i++) {
            int64_t p = o[i] * v->stride[i] + at[i] * v->dilate[i] - v->pad[i];

            inside = inside && p >= 0 && p < v->x_size[i];
            place = place * v->x_size[i] + p;
        }
        for (int64_t c = 0; c < v->in && inside; c++)
            sum += byte_at(v->dtype, x, (image * v->in + c) * plane + place) *
                   w[((group * v->out + k) * v->in + c) * taps + t];
    }
    return sum;
}

static const mxl_conv shapes[] = {
    {0, 2, 5, 1, 1, {1, 9, 40}, {1, 9, 40}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, NULL, NULL},
    {0, 1, 3, 1, 1, {3, 9, 8}, {3, 9, 8}, {2, 3, 2}, {1, 2, 2}, {1, 1, 2}, {1, 0, 2}, NULL, NULL},
    {0, 1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 2, 1, 5, 17, {1, 6, 7}, {1, 6, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, NULL, NULL},
    {0, 1, 2, 3, 15, {1, 9, 8}, {1, 4, 3}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 1, 1, 8, 29, {1, 1, 70}, {1, 1, 70}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 3, 1, 4, 14, {4, 5, 9}, {4, 3, 5}, {2, 3, 2}, {1, 1, 2}, {1, 2, 2}, {0, 1, 1}, NULL, NULL},
    {0, 1, 70, 1, 1, {1, 5, 6}, {1, 5, 6}, {1, 3, 3}, {1, 2, 1}, {1, 1, 2}, {0, 1, 2}, NULL, NULL},
    {0, 2, 64, 1, 1, {1, 4, 4}, {1, 4, 4}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, NULL, NULL},
    {0,
     2,
     1,
     3,
     20,
     {1, 19, 18},
     {1, 1, 1},
     {1, 7, 7},
     {1, 2, 2},
     {1, 1, 1},
     {0, 3, 3},
     NULL,
     NULL},
    {0, 1, 1, 64, 70, {1, 4, 4}, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, NULL, NULL},
    {0, 2, 1, 68, 33, {1, 5, 5}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 1, 2, 8, 5, {1, 6, 6}, {1, 6, 6}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 1, 1, 12, 40, {1, 6, 6}, {1, 6, 6}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, NULL, NULL},
    {0, 1, 1, 0, 17, {1, 6, 9}, {1, 6, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, NULL, NULL},
    {0, 1, 1, 0, 5, {1, 3, 3}, {1, 3, 3}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0}, NULL, NULL},
    {0, 0, 1, 4, 14, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, NULL, NULL},
};

/* The third shape in depth: (4 + 0 - 2) / 1 + 1 = 3, and so on. */
static int64_t results(const mxl_conv *v, int i)
{
    return (v->x_size[i] + 2 * v->pad[i] - (v->kernel[i] - 1) * v->dilate[i] - 1) / v->stride[i] +
           1;
}

/* What the tail makes of a sum. */
static int ended(const mxl_quantized_tail *t, int32_t sum, int64_t i)
{
    int byte = to_byte(t->dtype, (float)sum * t->scale);
    float both;

    byte = byte < t->least ? t->least : byte;
    if (t->add == NULL)
        return byte;
    both = (float)byte * t->byte_scale + (float)byte_at(t->add_dtype, t->add, i) * t->add_scale;
    byte = to_byte(t->sum_dtype, (float)mxl_quantized_round_wide(both) * t->sum_scale);
    return byte < t->sum_least ? t->sum_least : byte;
}

/* Where the element of an array (image, channel, place) is. */
static int64_t place_of(bool last, int64_t channels, int64_t places, int64_t image, int64_t channel,
                        int64_t place)
{
    return last ? (image * places + place) * channels + channel
                : (image * channels + channel) * places + place;
}

/* The array with the channels as the last axis, or back. */
static void turn(bool back, int64_t images, int64_t channels, int64_t places, int size,
                 void *elements)
{
    int64_t n = images * channels * places;
    char *copy = malloc((size_t)(n * size) + 1), *to = elements;

    memcpy(copy, elements, (size_t)(n * size));
    for (int64_t i = 0; i < n; i++) {
        int64_t image = i / places / channels, channel = i / places % channels, place = i % places;
        int64_t first = place_of(false, channels, places, image, channel, place);
        int64_t last = place_of(true, channels, places, image, channel, place);

        memcpy(to + (back ? first : last) * size, copy + (back ? last : first) * size,
               (size_t)size);
    }
    free(copy);
}

static void check_convolution(const mxl_conv *v, mxl_quantized_order order,
                              const mxl_quantized_tail *tail)
{
    int64_t images = v->batch * v->groups, channels = v->groups * v->out;
    int64_t positions = v->y_size[0] * v->y_size[1] * v->y_size[2], n = images * v->out * positions;
    int64_t x_count = images * v->in * v->x_size[0] * v->x_size[1] * v->x_size[2];
    int64_t w_count = channels * v->in * v->kernel[0] * v->kernel[1] * v->kernel[2];
    uint8_t *x = malloc((size_t)x_count + 1), *add = malloc((size_t)n + 1);
    int8_t *w = malloc((size_t)w_count + 1);
    int32_t *y = malloc((size_t)n * 4 + 4), *bias = malloc((size_t)channels * 4);
    mxl_quantized_tail its = tail != NULL ? *tail : (mxl_quantized_tail){0};
    mxl_quantized_weights *weights;
    int wrong = 0, size = tail == NULL ? 4 : 1;

    fill(x, x_count);
    fill(w, w_count);
    fill(add, n);
    for (int64_t i = 0; i < channels; i++)
        bias[i] = (int32_t)next_byte() * 7 - 900;
    if (its.add_dtype != 0)
        its.add = add;
    weights = mxl_quantized_weights_new(v, w);
    CHECK(weights != NULL);
    if (order.x_last)
        turn(false, v->batch, v->groups * v->in, v->x_size[0] * v->x_size[1] * v->x_size[2], 1, x);
    if (order.y_last)
        turn(false, v->batch, channels, positions, 1, add);
    CHECK(mxl_quantized_convolve(v, order, x, weights, bias, tail != NULL ? &its : NULL, y) == 0);
    if (order.x_last)
        turn(true, v->batch, v->groups * v->in, v->x_size[0] * v->x_size[1] * v->x_size[2], 1, x);
    if (order.y_last) {
        turn(true, v->batch, channels, positions, 1, add);
        turn(true, v->batch, channels, positions, size, y);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t p = i % positions, k = i / positions % v->out, image = i / positions / v->out;
        const int64_t o[3] = {p / v->y_size[2] / v->y_size[1], p / v->y_size[2] % v->y_size[1],
                              p % v->y_size[2]};
        int32_t sum = plain(v, x, w, image, k, o) + bias[image % v->groups * v->out + k];

        if (tail == NULL)
            wrong += y[i] != sum;
        else
            wrong +=
                byte_at(its.add != NULL ? its.sum_dtype : its.dtype, y, i) != ended(&its, sum, i);
    }
    CHECK(wrong == 0);
    mxl_quantized_weights_free(weights);
    free(x);
    free(add);
    free(w);
    free(y);
    free(bias);
}

static void convolutions(void)
{
    const mxl_quantized_tail tails[] = {{.dtype = MXL_I8, .scale = 0.003F, .least = -128},
                                        {.dtype = MXL_U8, .scale = 0.004F},
                                        {.dtype = MXL_U8, .scale = 3e7F}, /* beyond int32 */
                                        {.dtype = MXL_I8, .scale = 1.5F, .least = 0},
                                        {.dtype = MXL_I8,
                                         .scale = 0.002F,
                                         .least = 0,
                                         .add_dtype = MXL_U8,
                                         .sum_dtype = MXL_U8,
                                         .byte_scale = 1.1e6F,
                                         .add_scale = 8.4e6F,
                                         .sum_scale = 1e-7F},
                                        {.dtype = MXL_U8,
                                         .scale = 0.002F,
                                         .add_dtype = MXL_I8,
                                         .sum_dtype = MXL_I8,
                                         .byte_scale = 8.4e6F,
                                         .add_scale = 1.7e7F,
                                         .sum_scale = 5e-8F,
                                         .sum_least = -128},
                                        {.dtype = MXL_I8, /* sums that no int32 cuts */
                                         .scale = 0.003F,
                                         .least = -128,
                                         .add_dtype = MXL_U8,
                                         .sum_dtype = MXL_U8,
                                         .byte_scale = 3e6F,
                                         .add_scale = 4e6F,
                                         .sum_scale = 2e-7F}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (int dtype = 0; dtype < 2; dtype++) {
            mxl_conv v = shapes[i];

            v.dtype = dtype == 0 ? MXL_I8 : MXL_U8;
            for (int d = 0; d < 3; d++)
                v.y_size[d] = results(&v, d);
            for (int o = 0; o < 4; o++) {
                mxl_quantized_order order = {o & 1, o & 2};

                check_convolution(&v, order, NULL);
                for (size_t t = 0; t < sizeof(tails) / sizeof(tails[0]); t++)
                    check_convolution(&v, order, &tails[t]);
            }
        }
    }
}

TEST(every_convolution)
{
    at_levels(convolutions);
}

/* The largest products: neighbouring ones do not fit into 16 bits. */
static void extremes(void)
{
    enum { K = 516 };
    static uint8_t x[K];
    static int8_t w[5 * K];
    int32_t y[5], tile[MXL_DOTS_COLUMNS];
    static int8_t block[K * MXL_DOTS_COLUMNS];
    static const int64_t from = 0;
    static const mxl_dots_runs runs = {1, K / 4, &from};

    memset(x, 255, sizeof(x));
    memset(w, -128, sizeof(w));
    mxl_dots_rows(true, K, x, w, 5, y);
    CHECK(y[0] == -255 * 128 * K && y[4] == y[0]);
    memset(x, 0x80, sizeof(x));
    mxl_dots_rows(false, K, x, w, 5, y);
    CHECK(y[0] == 128 * 128 * K && y[4] == y[0]);
    memset(block, -128, sizeof(block));
    memset(x, 255, sizeof(x));
    mxl_dots_tile(1, MXL_DOTS_COLUMNS, &runs, x, K, 0, block, tile);
    CHECK(tile[0] == -255 * 128 * K && tile[31] == tile[0]);
    memset(x, 127, sizeof(x));
    mxl_dots_tile(1, MXL_DOTS_COLUMNS, &runs, x, K, 128, block, tile);
    CHECK(tile[0] == -255 * 128 * K && tile[31] == tile[0]);
}

TEST(every_extremes)
{
    at_levels(extremes);
}

static void dense(void)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 65, 130}, {2, 5, 64}, {0, 3, 4}, {1, 33, 7}};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        static uint8_t x[3 * 130];
        static int8_t w[65 * 130];
        static int32_t y[3 * 65], bias[65];

        fill(x, m * k);
        fill(w, n * k);
        for (int64_t i = 0; i < n; i++)
            bias[i] = (int32_t)i - 7;
        for (int dtype = 0; dtype < 2; dtype++) {
            int kind = dtype == 0 ? MXL_I8 : MXL_U8, wrong = 0;

            mxl_quantized_dense(kind == MXL_U8, m, n, k, x, w, dtype == 0 ? bias : NULL, y);
            for (int64_t i = 0; i < m * n; i++) {
                int32_t sum = dtype == 0 ? bias[i % n] : 0;

                for (int64_t j = 0; j < k; j++)
                    sum += byte_at(kind, x, i / n * k + j) * w[i % n * k + j];
                wrong += sum != y[i];
            }
            CHECK(wrong == 0);
        }
    }
}

TEST(every_dense)
{
    at_levels(dense);
}

/* ---- numbers and bytes ---- */

static void conversions(void)
{
    enum { N = 131 };
    static float x[N], back[N];
    static int8_t bytes[N];
    static int32_t wide[N];
    int wrong = 0;
    float low, high;

    for (int i = 0; i < N; i++) {
        x[i] = (float)(i - 65) * 0.5F;
        wide[i] = (i - 65) * 1000003;
    }
    mxl_quantized_scale(MXL_F32, MXL_I8, x, bytes, N, 1);
    for (int i = 0; i < N; i++)
        wrong += bytes[i] != to_byte(MXL_I8, x[i]);
    CHECK(bytes[64] == 0 && bytes[62] == -2 && bytes[68] == 2); /* halves to even */
    mxl_quantized_scale(MXL_F32, MXL_U8, x, bytes, N, 9);
    for (int i = 0; i < N; i++)
        wrong += (uint8_t)bytes[i] != to_byte(MXL_U8, 9 * x[i]);
    mxl_quantized_scale(MXL_I32, MXL_I8, wide, bytes, N, 3e-6F);
    for (int i = 0; i < N; i++)
        wrong += bytes[i] != to_byte(MXL_I8, (float)wide[i] * 3e-6F);
    mxl_quantized_scale(MXL_I8, MXL_F32, bytes, back, N, 0.25F);
    for (int i = 0; i < N; i++)
        wrong += back[i] != (float)bytes[i] * 0.25F;
    CHECK(wrong == 0);
    x[3] = NAN;
    x[4] = INFINITY;
    x[5] = -INFINITY;
    mxl_quantized_scale(MXL_F32, MXL_I8, x, bytes, 6, 1);
    CHECK(bytes[3] == 127 && bytes[4] == 127 && bytes[5] == -128);
    x[4] = 700;
    mxl_quantized_bounds(MXL_F32, x, 5, &low, &high);
    CHECK(low == -32.5F && high == 700);
    mxl_quantized_bounds(MXL_I32, wide, N, &low, &high);
    CHECK(low == -65 * 1000003.0F && high == 65 * 1000003.0F);
}

TEST(every_conversions)
{
    at_levels(conversions);
}

static void pairs(void)
{
    enum { N = 100 };
    static uint8_t a[N], b[N], y[N];
    static int32_t wide[N];

    fill(a, N);
    fill(b, N);
    for (int kinds = 0; kinds < 8; kinds++) {
        const int of[3] = {kinds & 1 ? MXL_U8 : MXL_I8, kinds & 2 ? MXL_U8 : MXL_I8,
                           kinds & 4 ? MXL_U8 : MXL_I8};
        mxl_quantized_pair p = {of[0], of[1], of[2], a, b, y, 0.5F, 0.75F};
        int wrong = 0;

        mxl_quantized_add(&p, N);
        for (int i = 0; i < N; i++)
            wrong +=
                byte_at(of[2], y, i) != to_byte(of[2], (float)byte_at(of[0], a, i) * 0.5F +
                                                           (float)byte_at(of[1], b, i) * 0.75F);
        p.a_scale = 0.01F;
        mxl_quantized_mul(&p, N);
        for (int i = 0; i < N; i++)
            wrong += byte_at(of[2], y, i) !=
                     to_byte(of[2], (float)(byte_at(of[0], a, i) * byte_at(of[1], b, i)) * 0.01F);
        p.to = MXL_I32;
        p.y = wide;
        mxl_quantized_mul(&p, N);
        for (int i = 0; i < N; i++)
            wrong += wide[i] != byte_at(of[0], a, i) * byte_at(of[1], b, i);
        p.a_scale = 1e9F;
        p.b_scale = 0;
        mxl_quantized_add(&p, N);
        for (int i = 0; i < N; i++) {
            double sum = (double)byte_at(of[0], a, i) * 1e9;

            wrong += wide[i] != (sum > INT32_MAX   ? INT32_MAX
                                 : sum < INT32_MIN ? INT32_MIN
                                                   : (int32_t)sum);
        }
        CHECK(wrong == 0);
    }
}

TEST(every_pairs)
{
    at_levels(pairs);
}

/* ---- pooling ---- */

static void pools(void)
{
    static const mxl_window axes[][3] = {
        {{1, 1, 1, 1, 0}, {7, 4, 3, 2, 1}, {70, 35, 3, 2, 1}},
        {{2, 1, 2, 2, 0}, {5, 5, 1, 1, 0}, {9, 3, 3, 3, 0}},
        {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}},
    };
    static uint8_t x[2 * 7 * 70], y[2 * 4 * 35];

    for (int i = 0; i < 3 * 2 * 3; i++) {
        mxl_pool p = {.dtype = i % 2 ? MXL_U8 : MXL_I8,
                      .outer = 2,
                      .inner = 1,
                      .divide = (mxl_pool_divide)(i / 2 % 3),
                      .power = 1};
        const mxl_window *w = p.axis;
        int64_t outs, wrong = 0;

        memcpy(p.axis, axes[i / 6], sizeof(p.axis));
        fill(x, (int64_t)sizeof(x));
        CHECK(mxl_quantized_pool(&p, x, y) == 0);
        outs = w[0].out * w[1].out * w[2].out;
        for (int64_t o = 0; o < 2 * outs; o++) {
            int64_t at[3] = {o % outs / w[2].out / w[1].out, o % outs / w[2].out % w[1].out,
                             o % w[2].out};
            int64_t inside = 0, padded = 0, sum = 0, most = INT64_MIN, want;

            for (int64_t d = 0; d < w[0].kernel; d++)
                for (int64_t h = 0; h < w[1].kernel; h++)
                    for (int64_t c = 0; c < w[2].kernel; c++) {
                        const int64_t k[3] = {d, h, c};
                        int64_t place = o / outs;
                        bool in = true, near = true;

                        for (int a = 0; a < 3; a++) {
                            int64_t pos = at[a] * w[a].stride - w[a].pad + k[a];

                            in = in && pos >= 0 && pos < w[a].in;
                            near = near && pos < w[a].in + w[a].pad;
                            place = place * w[a].in + pos;
                        }
                        padded += near;
                        inside += in;
                        if (!in)
                            continue;
                        sum += byte_at(p.dtype, x, place);
                        most =
                            byte_at(p.dtype, x, place) > most ? byte_at(p.dtype, x, place) : most;
                    }
            want = p.divide == MXL_POOL_SUM
                       ? most
                       : to_byte(p.dtype,
                                 (float)sum /
                                     (float)(p.divide == MXL_POOL_MEAN_PADDED ? padded : inside));
            wrong += want != byte_at(p.dtype, y, o);
        }
        CHECK(wrong == 0);
    }
}

TEST(every_pools)
{
    at_levels(pools);
}

HARNESS_MAIN(ENTRY(every_convolution), ENTRY(every_extremes), ENTRY(every_dense),
             ENTRY(every_conversions), ENTRY(every_pairs), ENTRY(every_pools))
