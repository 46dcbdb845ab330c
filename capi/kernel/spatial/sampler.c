/* Bilinear samples of images; see sampler.h. */
#include "kernel/spatial/sampler.h"

#include <math.h>

#include "base/dtype.h"
#include "kernel/spatial/points.h"

static double grid_at(const mxl_pixel_sampler *s, const void *grid, int64_t i)
{
    return s->dtype == MXL_F64 ? ((const double *)grid)[i] : (double)((const float *)grid)[i];
}

/* The two positions next to a coordinate and their weights, or the derivatives of these; a position
 * outside has weight 0. */
typedef struct neighbours {
    int64_t at;
    double weight[2];
} neighbours;

/* The same of a coordinate in pixels. */
static neighbours find_pixels(double place, int64_t n, bool derivative)
{
    neighbours r = {.at = -2, .weight = {0, 0}};

    if (!(place >= 0 && place < (double)n))
        return r;
    r.at = (int64_t)place;
    if (r.at + 1 >= n) {
        r.weight[0] = derivative ? 0 : 1;
        return r;
    }
    r.weight[0] = derivative ? -1 : (double)(r.at + 1) - place;
    r.weight[1] = derivative ? 1 : place - (double)r.at;
    return r;
}

static neighbours find_neighbours(double coordinate, int64_t n, bool derivative)
{
    double half = (double)(n - 1) / 2, place = (coordinate + 1) * half, low = floor(place);
    neighbours r = {.at = -2, .weight = {0, 0}};

    if (!isfinite(place)) {
        r.at = 0;
        r.weight[0] = NAN;
        return r;
    }
    if (low < -1 || low >= (double)n)
        return r;
    r.at = (int64_t)low;
    r.weight[0] = derivative ? -half : low + 1 - place;
    r.weight[1] = derivative ? half : place - low;
    if (r.at < 0)
        r.weight[0] = 0;
    if (r.at + 1 >= n)
        r.weight[1] = 0;
    return r;
}

typedef struct sampler_job {
    const mxl_pixel_sampler *s;
    bool takes;
    const void *grid;
    const char *from;
    char *to;
} sampler_job;

/* The points of image `n`, and where it is. */
static void find_points(const void *data, int64_t n, mxl_points_item *item)
{
    const sampler_job *job = data;
    const mxl_pixel_sampler *s = job->s;
    int64_t width = s->dtype == MXL_F64 ? 8 : 4;
    int64_t image = s->channels * s->height * s->width * width;
    int64_t sample = s->channels * s->points * width;
    neighbours (*find)(double, int64_t, bool) = s->pixels ? find_pixels : find_neighbours;

    item->from = job->from + n * (job->takes ? image : sample);
    item->to = job->to + n * (job->takes ? sample : image);
    for (int64_t i = 0; i < s->points; i++) {
        neighbours column =
            find(grid_at(s, job->grid, 2 * n * s->points + i), s->width, s->by_column);
        neighbours row =
            find(grid_at(s, job->grid, (2 * n + 1) * s->points + i), s->height, s->by_row);

        for (int k = 0; k < 4; k++) {
            double weight = row.weight[k / 2] * column.weight[k % 2];

            if (row.at + k / 2 >= 0 && row.at + k / 2 < s->height && column.at + k % 2 >= 0 &&
                column.at + k % 2 < s->width && weight != 0)
                mxl_points_add(&item->points, (row.at + k / 2) * s->width + column.at + k % 2,
                               weight);
        }
        mxl_points_next(&item->points);
    }
}

static int run(const mxl_pixel_sampler *s, bool takes, const void *grid, const void *from, void *to)
{
    int64_t plane = s->height * s->width;
    sampler_job job = {s, takes, grid, from, to};
    mxl_points_batch batch = {.dtype = s->dtype,
                              .takes = takes,
                              .count = s->batch,
                              .channels = s->channels,
                              .bins = s->points,
                              .plane = plane,
                              .elements = 4 * s->points,
                              .fill = find_points,
                              .data = &job,
                              .clear = to};

    if (!takes)
        batch.clear_bytes = s->batch * s->channels * plane * (s->dtype == MXL_F64 ? 8 : 4);
    return mxl_points_run(&batch);
}

int mxl_sampler_take(const mxl_pixel_sampler *s, const void *grid, const void *images,
                     void *samples)
{
    return run(s, true, grid, images, samples);
}

int mxl_sampler_put(const mxl_pixel_sampler *s, const void *grid, const void *samples, void *images)
{
    return run(s, false, grid, samples, images);
}
