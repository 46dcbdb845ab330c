/* Changes of colours: a tile of pixels at a time is widened, changed and narrowed again. */
#include "kernel/vision/colour.h"

#include <math.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"

enum { TILE = 512, GRAIN = 16 }; /* pixels; tiles that are worth a thread */

typedef struct colour_job {
    int dtype, wide; /* wide: float64 or float32 */
    int64_t pixels, channels;
    const mxl_colour *change;
    const void *in;
    void *out;
} colour_job;

/* A pixel with its hue turned. Red, green and blue are the least of them and, above it, a part of
 * the range: 1 within a third of the circle around its own hue, then falling to 0. */
#define COLOUR(T, name)                                                                            \
    static T part_##name(T away)                                                                   \
    {                                                                                              \
        away = away < 0 ? -away : away;                                                            \
        away = away > 3 ? 6 - away : away;                                                         \
        return away <= 1 ? 1 : away >= 2 ? 0 : 2 - away;                                           \
    }                                                                                              \
                                                                                                   \
    static void turn_##name(T *x, T turn)                                                          \
    {                                                                                              \
        T red = x[0], green = x[1], blue = x[2];                                                   \
        T most = red > green ? red : green, least = red < green ? red : green, range, hue;         \
                                                                                                   \
        most = blue > most ? blue : most;                                                          \
        least = blue < least ? blue : least;                                                       \
        range = most - least;                                                                      \
        if (!(range > 0))                                                                          \
            return;                                                                                \
        hue = most == red     ? (green - blue) / range                                             \
              : most == green ? 2 + (blue - red) / range                                           \
                              : 4 + (red - green) / range;                                         \
        hue += 6 * turn;                                                                           \
        hue -= 6 * (T)floor((double)(hue / 6));                                                    \
        for (int c = 0; c < 3; c++)                                                                \
            x[c] = least + range * part_##name(hue - (T)(2 * c));                                  \
    }                                                                                              \
                                                                                                   \
    static void change_##name(const mxl_colour *change, int64_t pixels, int64_t channels, T *x)    \
    {                                                                                              \
        T scale = (T)change->scale, share = (T)change->share, turn = (T)change->turn;              \
        T offset[3] = {(T)change->offset[0], (T)change->offset[1], (T)change->offset[2]};          \
                                                                                                   \
        for (int64_t i = 0; i < pixels * channels; i += channels) {                                \
            T gray = share != 0 && channels == 3 ? share * x[i + 2] : 0;                           \
                                                                                                   \
            for (int64_t c = 0; c < channels; c++)                                                 \
                x[i + c] = scale * x[i + c] + gray + offset[c];                                    \
            if (turn != 0 && channels == 3)                                                        \
                turn_##name(x + i, turn);                                                          \
        }                                                                                          \
    }

COLOUR(float, f32)
COLOUR(double, f64)

static void change_tiles(void *data, int64_t begin, int64_t end)
{
    const colour_job *job = data;
    int64_t width = (int64_t)mxl_dtype_size(job->dtype), one[1] = {1};
    double room[TILE * 3];
    const void *tile = room;

    for (int64_t t = begin; t < end; t++) {
        int64_t pixels = job->pixels - t * TILE < TILE ? job->pixels - t * TILE : TILE;
        int64_t count = pixels * job->channels, skip = t * TILE * job->channels * width;
        const void *in = (const char *)job->in + skip;
        float *narrow = (float *)room;

        mxl_cast_loop(job->dtype, job->wide)(room, &in, one, count, NULL);
        if (job->wide == MXL_F64)
            change_f64(job->change, pixels, job->channels, room);
        else
            change_f32(job->change, pixels, job->channels, narrow);
        for (int64_t i = 0; job->dtype == MXL_U8 && i < count; i++)
            narrow[i] = narrow[i] > 0 ? (narrow[i] < 255 ? narrow[i] : 255) : 0;
        mxl_cast_loop(job->wide, job->dtype)((char *)job->out + skip, &tile, one, count, NULL);
    }
}

void mxl_colour_change(int dtype, int64_t pixels, int64_t channels, const mxl_colour *change,
                       const void *in, void *out)
{
    colour_job job = {.dtype = dtype,
                      .wide = dtype == MXL_F64 ? MXL_F64 : MXL_F32,
                      .pixels = pixels,
                      .channels = channels,
                      .change = change,
                      .in = in,
                      .out = out};

    mxl_parallel_for((pixels + TILE - 1) / TILE, GRAIN, change_tiles, &job);
}

double mxl_colour_gray(int dtype, int64_t pixels, int64_t channels, const void *in)
{
    static const double weights[3] = {0.299, 0.587, 0.114};
    int64_t width = (int64_t)mxl_dtype_size(dtype), one[1] = {1};
    double room[TILE * 3], sum[3] = {0, 0, 0};

    for (int64_t at = 0; at < pixels; at += TILE) {
        int64_t count = (pixels - at < TILE ? pixels - at : TILE) * channels;
        const void *from = (const char *)in + at * channels * width;

        mxl_cast_loop(dtype, MXL_F64)(room, &from, one, count, NULL);
        for (int64_t i = 0; i < count; i += channels) {
            for (int64_t c = 0; c < channels; c++)
                sum[c] += room[i + c];
        }
    }
    if (pixels == 0)
        return 0;
    if (channels == 1)
        return sum[0] / (double)pixels;
    return (weights[0] * sum[0] + weights[1] * sum[1] + weights[2] * sum[2]) / (double)pixels;
}
