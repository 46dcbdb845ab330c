/* Copies images to planes: padded, and divided into phases where the kernel steps. */
#include "kernel/conv/planes.h"

#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/target.h"

enum { GRAIN = 1 << 14 }; /* elements that are worth a thread */

int64_t mxl_planes_size(const mxl_planes *p)
{
    return p->plane[0] * p->plane[1] * p->pitch;
}

int64_t mxl_planes_channel(const mxl_planes *p)
{
    return p->num_phases * mxl_planes_size(p);
}

bool mxl_planes_direct(const mxl_planes *p)
{
    for (int i = 0; i < 3; i++)
        if (p->step[i] != 1 || p->lead[i] != 0 || p->plane[i] != p->image[i])
            return false;
    return p->dtype != MXL_F16 && p->num_phases == 1;
}

typedef struct planes_job {
    const mxl_planes *planes;
    const char *images;
    char *out;
    size_t from, to; /* bytes of an element */
} planes_job;

void mxl_planes_inside(const mxl_planes *p, int i, int64_t phase, int64_t *first, int64_t *end)
{
    int64_t shift = p->lead[i] - phase, last = p->image[i] - 1 + shift;

    *first = shift <= 0 ? 0 : (shift + p->step[i] - 1) / p->step[i];
    *end = last < 0 ? 0 : last / p->step[i] + 1;
    if (*end > p->plane[i])
        *end = p->plane[i];
    if (*first > *end)
        *first = *end;
}

void mxl_planes_overlap(mxl_planes *p, int64_t least)
{
    int64_t shared = p->plane[2];

    for (int64_t f = 0; f < p->num_phases; f++) {
        int64_t first, end;

        mxl_planes_inside(p, 2, p->phases[f][2], &first, &end);
        if (first == end)
            continue;
        shared = first < shared ? first : shared;
        shared = p->plane[2] - end < shared ? p->plane[2] - end : shared;
    }
    p->pitch = p->plane[2] - shared > least ? p->plane[2] - shared : least;
}

/* A row of a plane: `width` elements, of which [first, end) are those of `row`, `step` apart, and
 * the others zero. */
#define MAKE_ROW(T)                                                                                \
    MXL_INLINE void row_##T##_at(int level, T *restrict out, const T *restrict row, int64_t step,  \
                                 int64_t first, int64_t end, int64_t width)                        \
    {                                                                                              \
        (void)level;                                                                               \
        for (int64_t i = 0; i < first; i++)                                                        \
            out[i] = 0;                                                                            \
        if (step == 1)                                                                             \
            for (int64_t i = first; i < end; i++)                                                  \
                out[i] = row[i - first];                                                           \
        else if (step == 2)                                                                        \
            for (int64_t i = first; i < end; i++)                                                  \
                out[i] = row[(i - first) * 2];                                                     \
        else                                                                                       \
            for (int64_t i = first; i < end; i++)                                                  \
                out[i] = row[(i - first) * step];                                                  \
        for (int64_t i = end; i < width; i++)                                                      \
            out[i] = 0;                                                                            \
    }                                                                                              \
    MXL_BY_LEVEL(row_##T,                                                                          \
                 (T *restrict out, const T *restrict row, int64_t step, int64_t first,             \
                  int64_t end, int64_t width),                                                     \
                 out, row, step, first, end, width)

MAKE_ROW(float)
MAKE_ROW(double)

/* The same, of float16. */
static void row_half(float *out, const void *row, int64_t step, int64_t first, int64_t end,
                     int64_t width)
{
    const mxl_half *halves = row;

    memset(out, 0, (size_t)width * sizeof(float));
    if (step == 1)
        mxl_cast_half_to_float(out + first, &row, &step, end - first, NULL);
    else
        for (int64_t i = first; i < end; i++)
            out[i] = mxl_half_to_float(halves[(i - first) * step]);
}

static void make_row(const planes_job *job, const void *row, int64_t first, int64_t end, void *out)
{
    int64_t width = job->planes->pitch, step = job->planes->step[2];

    if (end > width)
        end = width;
    if (job->from == sizeof(uint16_t)) {
        row_half(out, row, step, first, end, width);
    } else if (job->to == sizeof(float)) {
        row_float(out, row, step, first, end, width);
    } else {
        row_double(out, row, step, first, end, width);
    }
}

static void make_plane(const planes_job *job, const char *image, const int64_t *phase, char *out)
{
    const mxl_planes *p = job->planes;
    int64_t first[3], end[3];
    size_t row_bytes = (size_t)p->pitch * job->to;

    for (int i = 0; i < 3; i++)
        mxl_planes_inside(p, i, phase[i], &first[i], &end[i]);
    for (int64_t d = 0; d < p->plane[0]; d++) {
        for (int64_t h = 0; h < p->plane[1]; h++, out += row_bytes) {
            int64_t y = d * p->step[0] + phase[0] - p->lead[0];
            int64_t x = h * p->step[1] + phase[1] - p->lead[1];
            int64_t at =
                (y * p->image[1] + x) * p->image[2] + first[2] * p->step[2] + phase[2] - p->lead[2];
            bool in = d >= first[0] && d < end[0] && h >= first[1] && h < end[1];

            if (in && first[2] < end[2])
                make_row(job, image + at * (int64_t)job->from, first[2], end[2], out);
            else
                memset(out, 0, row_bytes);
        }
    }
}

/* One item of the range is a channel of an image. */
static void make_channels(void *data, int64_t begin, int64_t end)
{
    const planes_job *job = data;
    const mxl_planes *p = job->planes;
    size_t image_bytes = (size_t)(p->image[0] * p->image[1] * p->image[2]) * job->from;
    size_t plane_bytes = (size_t)mxl_planes_size(p) * job->to;

    for (int64_t i = begin; i < end; i++) {
        char *out = job->out + (size_t)(i * p->num_phases) * plane_bytes;

        for (int64_t f = 0; f < p->num_phases; f++)
            make_plane(job, job->images + (size_t)i * image_bytes, p->phases[f],
                       out + (size_t)f * plane_bytes);
    }
}

void mxl_planes_make(const mxl_planes *p, int64_t count, const void *images, void *planes)
{
    size_t from = mxl_dtype_size(p->dtype);
    planes_job job = {p, images, planes, from, p->dtype == MXL_F64 ? from : sizeof(float)};

    mxl_parallel_for(count * p->channels, 1 + GRAIN / (1 + mxl_planes_channel(p)), make_channels,
                     &job);
}
