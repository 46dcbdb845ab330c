/* Resampling: the taps of an axis, and the division of the work. image_resize.tmpl.h has the loops.
 */
#include "kernel/vision/image_resize.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/shape.h"
#include "base/thread.h"
#include "kernel/target.h"

/* ---- taps ---- */

/* Positions of the image for one of the result, rounded as OpenCV does it. */
static double scale_of(const mxl_image_taps *t)
{
    return 1 / ((double)t->out / (double)t->in);
}

/* Weights of the four positions around x, the distance from the second of them; in float32, whose
 * rounding counts where weights are rounded to fixed point. */
static void cubic_weights(float x, float *weight)
{
    const float a = -0.75f, y = 1 - x;

    weight[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
    weight[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
    weight[2] = ((a + 2) * y - (a + 3)) * y * y + 1;
    weight[3] = 1 - weight[0] - weight[1] - weight[2];
}

/* The same of eight positions, x from the fourth: sinc(t) sinc(t / 4) at the distances t. */
static void lanczos_weights(double x, float *weight)
{
    const double pi = 3.14159265358979323846;
    float sum = 0;

    memset(weight, 0, 8 * sizeof(*weight));
    if (x < 1e-6) {
        weight[3] = 1;
        return;
    }
    for (int i = 0; i < 8; i++) {
        double angle = (x + 3 - i) * pi / 4;

        weight[i] = (float)((i % 2 == 0 ? -1 : 1) * sin(angle) / (angle * angle));
        sum += weight[i];
    }
    sum = 1 / sum;
    for (int i = 0; i < 8; i++)
        weight[i] *= sum;
}

void mxl_tap_weights(int count, double x, float *weight)
{
    if (count == 2) {
        weight[0] = 1 - (float)x;
        weight[1] = (float)x;
    } else if (count == 4) {
        cubic_weights((float)x, weight);
    } else {
        lanczos_weights(x, weight);
    }
}

static int64_t within(int64_t i, int64_t size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

/* The mean of the positions that one of the result covers, in parts. */
static void area_taps(const mxl_image_taps *t, int64_t i, int64_t *from, float *weight)
{
    double scale = scale_of(t), begin = (double)i * scale, end = begin + scale;
    double width = fmin(scale, (double)t->in - begin);
    int64_t last = within((int64_t)floor(end), t->in), first = (int64_t)ceil(begin), k = 0;

    first = first < last ? first : last;
    for (int64_t pad = 0; pad < t->count; pad++) {
        from[pad] = within(first, t->in);
        weight[pad] = 0;
    }
    if ((double)first - begin > 1e-3) {
        from[k] = first - 1;
        weight[k++] = (float)(((double)first - begin) / width);
    }
    for (int64_t at = first; at < last; at++) {
        from[k] = at;
        weight[k++] = (float)(1 / width);
    }
    if (end - (double)last > 1e-3) {
        from[k] = last;
        weight[k] = (float)(fmin(fmin(end - (double)last, 1), width) / width);
    }
}

/* Two positions and how far the result's position is from the first. Beyond the image's edge both
 * are its last one; their weights count where they are rounded, that is, between rows. */
static void linear_taps(const mxl_image_taps *t, bool area, bool rows, int64_t i, int64_t *from,
                        float *weight)
{
    double scale = scale_of(t);
    float away = area ? 0 : (float)(((double)i + 0.5) * scale - 0.5);
    int64_t at = (int64_t)floor(area ? (double)i * scale : (double)away);

    if (area) {
        away = (float)((double)(i + 1) - (double)(at + 1) * ((double)t->out / (double)t->in));
        away = away <= 0 ? 0 : away - floorf(away);
    } else {
        away -= (float)at;
    }
    if (!rows && (at < 0 || at >= t->in - 1))
        away = 0;
    from[0] = within(at, t->in);
    from[1] = within(at + 1, t->in);
    weight[0] = 1 - away;
    weight[1] = away;
}

static void many_taps(const mxl_image_taps *t, int64_t i, int64_t *from, float *weight)
{
    double scale = scale_of(t);
    float place = (float)(((double)i + 0.5) * scale - 0.5);
    int64_t at = (int64_t)floorf(place);

    mxl_tap_weights((int)t->count, (double)(place - (float)at), weight);
    for (int64_t k = 0; k < t->count; k++)
        from[k] = within(at + k + 1 - t->count / 2, t->in);
}

static int taps_fill(mxl_image_taps *t, mxl_interpolation how, bool rows, bool average)
{
    double scale = scale_of(t);

    t->count = average              ? (int64_t)ceil(scale) + 2
               : how == MXL_NEAREST ? 1
               : how == MXL_CUBIC   ? 4
               : how == MXL_LANCZOS ? 8
                                    : 2;
    if (mxl_shape_count(2, (int64_t[]){t->out, t->count}) < 0)
        return -1;
    t->bytes = (size_t)(t->out * t->count) * (sizeof(int64_t) + sizeof(float));
    t->from = mxl_alloc(t->bytes);
    if (t->from == NULL)
        return -1;
    t->weight = (float *)(void *)(t->from + t->out * t->count);
    for (int64_t i = 0; i < t->out; i++) {
        int64_t *from = t->from + i * t->count;
        float *weight = t->weight + i * t->count;

        if (average) {
            area_taps(t, i, from, weight);
        } else if (how == MXL_NEAREST) {
            from[0] = within((int64_t)floor((double)i * scale), t->in);
            weight[0] = 1;
        } else if (t->count == 2) {
            linear_taps(t, how == MXL_AREA, rows, i, from, weight);
        } else {
            many_taps(t, i, from, weight);
        }
    }
    return 0;
}

/* True if positions are averaged. */
static bool averages(mxl_interpolation how, const mxl_image_taps taps[2])
{
    if (how == MXL_LINEAR)
        return taps[0].in == 2 * taps[0].out && taps[1].in == 2 * taps[1].out;
    return how == MXL_AREA && taps[0].in >= taps[0].out && taps[1].in >= taps[1].out;
}

int mxl_image_taps_make(mxl_interpolation how, const int64_t in[2], const int64_t out[2],
                        mxl_image_taps taps[2])
{
    for (int k = 0; k < 2; k++)
        taps[k] = (mxl_image_taps){.in = in[k], .out = out[k]};
    for (int k = 0; k < 2; k++) {
        if (taps_fill(&taps[k], how, k == 0, averages(how, taps)) != 0) {
            mxl_image_taps_free(taps);
            return -1;
        }
    }
    return 0;
}

void mxl_image_taps_free(mxl_image_taps taps[2])
{
    for (int k = 0; k < 2; k++) {
        if (taps[k].from != NULL)
            mxl_free(taps[k].from, taps[k].bytes);
    }
}

/* ---- images ---- */

enum { GRAIN = 1 << 14 }; /* elements that are worth a thread */

typedef struct resize_job {
    const mxl_image_taps *rows, *columns;
    int64_t channels;
    mxl_interpolation how;
    int shift;     /* of the 1 of weights in fixed point */
    bool halved;   /* the mean of 2 x 2 pixels */
    bool whole;    /* the mean of whole pixels: their sum, then */
    float of_area; /* times this */
    const void *in;
    void *row_weights, *column_weights;
    uint8_t *needed;  /* rows of the image that the result needs */
    void *wide, *out; /* wide: (rows of the image, columns of the result, channels) */
} resize_job;

#define NAME(x)   f32_##x
#define T         float
#define C         float
#define WEIGHT(w) (w)
#include "kernel/vision/image_resize.tmpl.h"

#define NAME(x)   f64_##x
#define T         double
#define C         double
#define WEIGHT(w) (double)(w)
#include "kernel/vision/image_resize.tmpl.h"

/* Averages of uint8. */
#define NAME(x)    mean_##x
#define T          uint8_t
#define C          float
#define WEIGHT(w)  (job->whole ? (w) > 0 ? 1 : 0 : (w))
#define STORE(sum) (uint8_t)(job->halved ? floorf((sum) + 0.5f) : rintf((sum) * job->of_area))
#include "kernel/vision/image_resize.tmpl.h"

static inline uint8_t from_fixed(int32_t sum, int shift)
{
    int32_t value = (sum + (1 << (2 * shift - 1))) >> (2 * shift);

    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Four taps down, in float32 as OpenCV sums eight elements at a time; it sums the rest of a row as
 * any other taps. */
static inline uint8_t cubic_sum(const int32_t *at, const int64_t *from, int64_t row,
                                const int32_t *weight)
{
    float sum = (float)at[from[0] * row] * ((float)weight[0] * 0x1p-22f);

    for (int k = 1; k < 4; k++)
        sum += (float)at[from[k] * row] * ((float)weight[k] * 0x1p-22f);
    sum = rintf(sum);
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

#define NAME(x)    u8_##x
#define CUBIC      cubic_sum
#define T          uint8_t
#define C          int32_t
#define WEIGHT(w)  (int32_t)rintf((w) * (float)(1 << job->shift))
#define STORE(sum) from_fixed(sum, job->shift)
#define LINEAR(a, wa, b, wb)                                                                       \
    (uint8_t)(((((wa) * ((a) >> 4)) >> 16) + (((wb) * ((b) >> 4)) >> 16) + 2) >> 2)
#include "kernel/vision/image_resize.tmpl.h"

int mxl_image_resize(int dtype, mxl_interpolation how, const mxl_image_taps taps[2], int64_t images,
                     int64_t channels, const void *in, void *out)
{
    bool mean = averages(how, taps);
    resize_job job = {.rows = &taps[0],
                      .columns = &taps[1],
                      .channels = channels,
                      .how = how,
                      .shift = how == MXL_LINEAR_EXACT ? 8 : 11,
                      .halved =
                          mean && taps[0].in == 2 * taps[0].out && taps[1].in == 2 * taps[1].out,
                      .of_area = 1};
    int64_t row = taps[1].out * channels, width = (int64_t)mxl_dtype_size(dtype);
    int64_t grain = GRAIN / (row + 1) + 1, shape[3] = {taps[0].in, taps[1].out, channels};
    mxl_range_fn across = dtype == MXL_F32   ? f32_across
                          : dtype == MXL_F64 ? f64_across
                          : mean             ? mean_across
                                             : u8_across;
    mxl_range_fn down = dtype == MXL_F32   ? f32_down
                        : dtype == MXL_F64 ? f64_down
                        : mean             ? mean_down
                                           : u8_down;
    void (*weigh)(const resize_job *, const mxl_image_taps *, void *) = dtype == MXL_F32 ? f32_weigh
                                                                        : dtype == MXL_F64
                                                                            ? f64_weigh
                                                                        : mean ? mean_weigh
                                                                               : u8_weigh;
    size_t bytes, weights[2];

    if (mxl_shape_count(3, shape) < 0)
        return -1;
    if (images == 0 || row == 0)
        return 0;
    if (mean && !job.halved && taps[0].in % taps[0].out == 0 && taps[1].in % taps[1].out == 0) {
        job.whole = true;
        job.of_area = 1 / (float)(taps[0].in / taps[0].out * (taps[1].in / taps[1].out));
    }
    for (int k = 0; k < 2; k++)
        weights[k] = (size_t)(taps[k].out * taps[k].count) * sizeof(double);
    bytes = (size_t)(taps[0].in * row) * sizeof(double);
    job.wide = mxl_alloc(bytes + weights[0] + weights[1] + (size_t)taps[0].in);
    if (job.wide == NULL)
        return -1;
    job.row_weights = (char *)job.wide + bytes;
    job.column_weights = (char *)job.row_weights + weights[0];
    job.needed = (uint8_t *)job.column_weights + weights[1];
    weigh(&job, job.rows, job.row_weights);
    weigh(&job, job.columns, job.column_weights);
    memset(job.needed, 0, (size_t)taps[0].in);
    for (int64_t i = 0; i < taps[0].out * taps[0].count; i++)
        job.needed[taps[0].from[i]] = 1;
    for (int64_t i = 0; i < images; i++) {
        job.in = (const char *)in + i * taps[0].in * taps[1].in * channels * width;
        job.out = (char *)out + i * taps[0].out * row * width;
        mxl_parallel_for(taps[0].in, grain, across, &job);
        mxl_parallel_for(taps[0].out, grain, down, &job);
    }
    mxl_free(job.wide, bytes + weights[0] + weights[1] + (size_t)taps[0].in);
    return 0;
}
