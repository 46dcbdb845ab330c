/* Means of the pixels in the bins of regions; see psroi.h. */
#include "kernel/spatial/psroi.h"

#include <math.h>
#include <stdbool.h>

#include "base/dtype.h"
#include "base/error.h"
#include "kernel/spatial/points.h"

double mxl_psroi_round(const mxl_psroi *p, double value)
{
    return p->dtype == MXL_F64 ? value : (double)(float)value;
}

int64_t mxl_psroi_cell(const mxl_psroi *p, int64_t bin)
{
    return bin * p->groups / p->bins;
}

static double number(const mxl_psroi *p, const void *regions, int64_t i)
{
    return p->dtype == MXL_F64 ? ((const double *)regions)[i] : (double)((const float *)regions)[i];
}

mxl_psroi_region mxl_psroi_region_at(const mxl_psroi *p, const void *regions, int64_t i,
                                     double shift)
{
    double image = number(p, regions, i * 5), scale = (double)(float)p->scale;
    mxl_psroi_region r = {.image = image > -1 && image < (double)p->batch ? (int64_t)image : -1};

    for (int axis = 0; axis < 2; axis++) {
        double low = round(number(p, regions, i * 5 + 2 - axis));
        double high = mxl_psroi_round(p, round(number(p, regions, i * 5 + 4 - axis)) + 1);
        double size;

        low = mxl_psroi_round(p, mxl_psroi_round(p, low * scale) + shift);
        high = mxl_psroi_round(p, mxl_psroi_round(p, high * scale) + shift);
        size = mxl_psroi_round(p, high - low);
        r.start[axis] = low;
        r.size[axis] = size > 0.1 ? size : mxl_psroi_round(p, 0.1);
        r.bin[axis] = mxl_psroi_round(p, r.size[axis] / (double)p->bins);
    }
    return r;
}

int mxl_psroi_check(const mxl_psroi *p, const void *regions)
{
    for (int64_t i = 0; i < p->regions; i++) {
        mxl_psroi_region r = mxl_psroi_region_at(p, regions, i, 0);

        if (r.image < 0)
            return mxl_error("region %lld is of an image that is not in [0, %lld)", (long long)i,
                             (long long)p->batch);
        if (!isfinite(r.start[0] + r.start[1] + r.bin[0] + r.bin[1]))
            return mxl_error("region %lld has coordinates that are no numbers", (long long)i);
    }
    return 0;
}

/* The positions [low, high) of a bin along an axis of n. */
static void range_of(const mxl_psroi *p, const mxl_psroi_region *r, int axis, int64_t bin,
                     int64_t n, int64_t *low, int64_t *high)
{
    double from = mxl_psroi_round(p, (double)bin * r->bin[axis]);
    double to = mxl_psroi_round(p, (double)(bin + 1) * r->bin[axis]);

    from = floor(mxl_psroi_round(p, from + r->start[axis]));
    to = ceil(mxl_psroi_round(p, to + r->start[axis]));
    *low = from <= 0 ? 0 : from >= (double)n ? n : (int64_t)from;
    *high = to <= 0 ? 0 : to >= (double)n ? n : (int64_t)to;
}

typedef struct psroi_job {
    const mxl_psroi *p;
    bool takes;
    const void *regions;
    const char *from;
    char *to;
} psroi_job;

/* The points of a region: each bin's pixels, counted from the cells' first one. */
static void find_points(const void *data, int64_t n, mxl_points_item *item)
{
    const psroi_job *job = data;
    const mxl_psroi *p = job->p;
    mxl_psroi_region r = mxl_psroi_region_at(p, job->regions, n, 0);
    int64_t width = p->dtype == MXL_F64 ? 8 : 4, bins = p->bins;
    int64_t image = r.image * p->channels * p->height * p->width * width;
    int64_t result = n * p->results * bins * bins * width;

    item->from = job->from + (job->takes ? image : result);
    item->to = job->to + (job->takes ? result : image);
    for (int64_t b = 0; b < bins * bins; b++) {
        int64_t cell = mxl_psroi_cell(p, b / bins) * p->groups + mxl_psroi_cell(p, b % bins);
        int64_t top, bottom, left, right;

        range_of(p, &r, 0, b / bins, p->height, &top, &bottom);
        range_of(p, &r, 1, b % bins, p->width, &left, &right);
        for (int64_t y = top; y < bottom; y++) {
            for (int64_t x = left; x < right; x++)
                mxl_points_add(&item->points, (cell * p->height + y) * p->width + x,
                               1 / (double)((bottom - top) * (right - left)));
        }
        mxl_points_next(&item->points);
    }
}

/* The most pixels of all bins of a region. */
static int64_t count_most(const mxl_psroi *p, const void *regions)
{
    int64_t most = 0, n[2] = {p->height, p->width};

    for (int64_t i = 0; i < p->regions; i++) {
        mxl_psroi_region r = mxl_psroi_region_at(p, regions, i, 0);
        int64_t sums[2] = {0, 0}, low, high;

        for (int axis = 0; axis < 2; axis++) {
            for (int64_t bin = 0; bin < p->bins; bin++) {
                range_of(p, &r, axis, bin, n[axis], &low, &high);
                sums[axis] += high > low ? high - low : 0;
            }
        }
        if (sums[1] > 0 && sums[0] > INT64_MAX / sums[1])
            return INT64_MAX;
        most = sums[0] * sums[1] > most ? sums[0] * sums[1] : most;
    }
    return most;
}

static int run(const mxl_psroi *p, bool takes, const void *regions, const void *from, void *to)
{
    psroi_job job = {p, takes, regions, from, to};
    int64_t plane = p->height * p->width;
    mxl_points_batch batch = {.dtype = p->dtype,
                              .takes = takes,
                              .count = p->regions,
                              .channels = p->results,
                              .bins = p->bins * p->bins,
                              .plane = p->groups * p->groups * plane,
                              .fill = find_points,
                              .data = &job,
                              .clear = to};

    if (mxl_psroi_check(p, regions) != 0)
        return -1;
    batch.elements = count_most(p, regions);
    if (!takes)
        batch.clear_bytes = p->batch * p->channels * plane * (int64_t)mxl_dtype_size(p->dtype);
    return mxl_points_run(&batch);
}

int mxl_psroi_take(const mxl_psroi *p, const void *regions, const void *x, void *y)
{
    return run(p, true, regions, x, y);
}

int mxl_psroi_put(const mxl_psroi *p, const void *regions, const void *dy, void *dx)
{
    return run(p, false, regions, dy, dx);
}
