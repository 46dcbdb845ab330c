/* Images to planes of float32, and planes normalised: threads take runs of pixels. */
#include "kernel/vision/pixels.h"

#include <stddef.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/target.h"

enum { TILE = 1024, GRAIN = 16 }; /* pixels; tiles that are worth a thread */

typedef struct pixels_job {
    int dtype;
    int64_t pixels, channels, tiles; /* tiles of a plane or an image */
    const float *mean, *deviation;
    const void *in;
    void *out;
} pixels_job;

#define SPREAD(T, name)                                                                            \
    MXL_INLINE void spread_##name##_at(int level, const T *in, int64_t step, int64_t n,            \
                                       float *out)                                                 \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (float)in[i * step] / 255.0f;                                                 \
    }                                                                                              \
    MXL_FROM_AVX2(spread_##name, (const T *in, int64_t step, int64_t n, float *out), in, step, n,  \
                  out)

SPREAD(uint8_t, u8)
SPREAD(float, f32)

static int64_t tile_length(const pixels_job *job, int64_t at)
{
    return job->pixels - at < TILE ? job->pixels - at : TILE;
}

/* Tiles of images, channel by channel. */
static void to_planes(void *data, int64_t begin, int64_t end)
{
    const pixels_job *job = data;

    for (int64_t t = begin; t < end; t++) {
        int64_t image = t / job->tiles * job->pixels * job->channels, at = t % job->tiles * TILE;
        int64_t from = image + at * job->channels, n = tile_length(job, at);
        float *out = (float *)job->out + image + at;

        for (int64_t c = 0; c < job->channels; c++, out += job->pixels) {
            if (job->dtype == MXL_U8)
                spread_u8((const uint8_t *)job->in + from + c, job->channels, n, out);
            else
                spread_f32((const float *)job->in + from + c, job->channels, n, out);
        }
    }
}

void mxl_pixels_to_planes(int dtype, int64_t images, int64_t pixels, int64_t channels,
                          const void *in, float *out)
{
    pixels_job job = {.dtype = dtype,
                      .pixels = pixels,
                      .channels = channels,
                      .tiles = (pixels + TILE - 1) / TILE,
                      .in = in,
                      .out = out};

    mxl_parallel_for(images * job.tiles, GRAIN, to_planes, &job);
}

/* ---- normalisation ---- */

#define NORMALIZE(T, name)                                                                         \
    MXL_INLINE void normalize_##name##_at(int level, const T *in, T mean, T deviation, int64_t n,  \
                                          T *out)                                                  \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (in[i] - mean) / deviation;                                                   \
    }                                                                                              \
    MXL_FROM_AVX2(normalize_##name, (const T *in, T mean, T deviation, int64_t n, T *out), in,     \
                  mean, deviation, n, out)

NORMALIZE(float, f32)
NORMALIZE(double, f64)

static void normalize_tile(const pixels_job *job, const void *in, float mean, float deviation,
                           int64_t n, void *out)
{
    const int64_t step[1] = {1};
    float tile[TILE];
    const void *wide = tile;

    if (job->dtype == MXL_F32) {
        normalize_f32(in, mean, deviation, n, out);
    } else if (job->dtype == MXL_F64) {
        normalize_f64(in, (double)mean, (double)deviation, n, out);
    } else {
        mxl_cast_loop(job->dtype, MXL_F32)(tile, &in, step, n, NULL);
        normalize_f32(tile, mean, deviation, n, tile);
        mxl_cast_loop(MXL_F32, job->dtype)(out, &wide, step, n, NULL);
    }
}

static void normalize_tiles(void *data, int64_t begin, int64_t end)
{
    const pixels_job *job = data;
    int64_t width = (int64_t)mxl_dtype_size(job->dtype);

    for (int64_t t = begin; t < end; t++) {
        int64_t plane = t / job->tiles, at = t % job->tiles * TILE;
        int64_t skip = (plane * job->pixels + at) * width, channel = plane % job->channels;

        normalize_tile(job, (const char *)job->in + skip, job->mean[channel],
                       job->deviation[channel], tile_length(job, at), (char *)job->out + skip);
    }
}

void mxl_planes_normalize(int dtype, int64_t images, int64_t channels, int64_t pixels,
                          const float *mean, const float *deviation, const void *in, void *out)
{
    pixels_job job = {.dtype = dtype,
                      .pixels = pixels,
                      .channels = channels,
                      .tiles = (pixels + TILE - 1) / TILE,
                      .mean = mean,
                      .deviation = deviation,
                      .in = in,
                      .out = out};

    mxl_parallel_for(images * channels * job.tiles, GRAIN, normalize_tiles, &job);
}
