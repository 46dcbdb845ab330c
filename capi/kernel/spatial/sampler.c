/* Bilinear samples of images; see sampler.h. */
#include "kernel/spatial/sampler.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "kernel/spatial/points.h"

static double grid_at(const mxl_sampler *s, const void *grid, int64_t i)
{
    return s->dtype == MXL_F64 ? ((const double *)grid)[i] : (double)((const float *)grid)[i];
}

/* The two positions next to a coordinate and their weights, or the derivatives of these; a position
 * outside has weight 0. */
typedef struct neighbours {
    int64_t at;
    double weight[2];
} neighbours;

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

/* The points of image `n`. */
static void find_points(const mxl_sampler *s, const void *grid, int64_t n, mxl_points *points)
{
    mxl_points_clear(points);
    for (int64_t i = 0; i < s->points; i++) {
        neighbours column =
            find_neighbours(grid_at(s, grid, 2 * n * s->points + i), s->width, s->by_column);
        neighbours row =
            find_neighbours(grid_at(s, grid, (2 * n + 1) * s->points + i), s->height, s->by_row);

        for (int k = 0; k < 4; k++) {
            double weight = row.weight[k / 2] * column.weight[k % 2];

            if (row.at + k / 2 >= 0 && row.at + k / 2 < s->height && column.at + k % 2 >= 0 &&
                column.at + k % 2 < s->width && weight != 0)
                mxl_points_add(points, (row.at + k / 2) * s->width + column.at + k % 2, weight);
        }
        mxl_points_next(points);
    }
}

static int run(const mxl_sampler *s, bool takes, const void *grid, const void *from, void *to)
{
    int64_t width = s->dtype == MXL_F64 ? 8 : 4, plane = s->height * s->width;
    int64_t image = s->channels * plane * width, sample = s->channels * s->points * width;
    mxl_points points;

    if (mxl_points_alloc(&points, s->points, plane, 4 * s->points) != 0)
        return -1;
    if (!takes)
        memset(to, 0, (size_t)(s->batch * image));
    for (int64_t n = 0; n < s->batch; n++) {
        find_points(s, grid, n, &points);
        if (takes)
            mxl_points_take(s->dtype, &points, s->channels, false, (const char *)from + n * image,
                            (char *)to + n * sample);
        else
            mxl_points_put(s->dtype, &points, s->channels, false, (const char *)from + n * sample,
                           (char *)to + n * image);
    }
    mxl_points_free(&points);
    return 0;
}

int mxl_sampler_take(const mxl_sampler *s, const void *grid, const void *images, void *samples)
{
    return run(s, true, grid, images, samples);
}

int mxl_sampler_put(const mxl_sampler *s, const void *grid, const void *samples, void *images)
{
    return run(s, false, grid, samples, images);
}
