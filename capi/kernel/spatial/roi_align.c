/* Means of bilinear samples in the bins of regions; see roi.h. */
#include <math.h>

#include "base/dtype.h"
#include "base/error.h"
#include "kernel/spatial/points.h"
#include "kernel/spatial/roi.h"

enum { MOST_SAMPLES = 1 << 24 }; /* of a bin */

/* A region in pixels: where it begins, relative to its centre if it is rotated; the size and the
 * samples of a bin along each axis. */
typedef struct region {
    int64_t image;
    double top, left, bin_height, bin_width;
    double row, column, sine, cosine; /* if rotated */
    double down, across;              /* samples */
} region;

/* Results have the precision of the dtype, as 1.9.1's have: a size just above a whole number needs
 * one more sample. */
static double rounded(const mxl_roi *r, double value)
{
    return r->dtype == MXL_F64 ? value : (double)(float)value;
}

static double number(const mxl_roi *r, const void *regions, int64_t i)
{
    return r->dtype == MXL_F64 ? ((const double *)regions)[i] : (double)((const float *)regions)[i];
}

static double samples_of(const mxl_roi *r, double bin)
{
    return r->ratio > 0 ? (double)r->ratio : ceil(bin);
}

static region region_at(const mxl_roi *r, const void *regions, int64_t i)
{
    int64_t width = r->rotated ? 6 : 5;
    double v[6] = {0}, image, height, across, half = r->aligned ? 0.5 : 0;
    region g = {.cosine = 1};

    for (int k = 0; k < (int)width; k++)
        v[k] = number(r, regions, i * width + k);
    image = v[0];
    g.image = image > -1 && image < (double)r->batch ? (int64_t)image : -1;
    for (int k = 1; k < 5; k++)
        v[k] = rounded(r, v[k] * rounded(r, r->scale));
    if (r->rotated) {
        height = v[4];
        across = v[3];
        g.column = v[1];
        g.row = v[2];
        g.sine = sin(v[5] * acos(-1) / 180);
        g.cosine = cos(v[5] * acos(-1) / 180);
    } else {
        height = rounded(r, v[4] - v[2]);
        across = rounded(r, v[3] - v[1]);
        g.left = v[1] - half;
        g.top = v[2] - half;
    }
    if (!r->aligned) {
        height = height < 1 ? 1 : height;
        across = across < 1 ? 1 : across;
    }
    if (r->rotated) {
        g.top = -height / 2;
        g.left = -across / 2;
    }
    g.bin_height = rounded(r, height / (double)r->rows);
    g.bin_width = rounded(r, across / (double)r->columns);
    g.down = samples_of(r, g.bin_height);
    g.across = samples_of(r, g.bin_width);
    return g;
}

/* The most samples of a bin of any region; -1 with the error set for an invalid one. */
static int64_t check_regions(const mxl_roi *r, const void *regions)
{
    double most = 1;

    for (int64_t i = 0; i < r->regions; i++) {
        region g = region_at(r, regions, i);
        double samples = g.down * g.across;

        if (g.image < 0)
            return mxl_error("region %lld is of an image that is not in [0, %lld)", (long long)i,
                             (long long)r->batch);
        if (!isfinite(g.top + g.left + g.row + g.column + g.sine + samples))
            return mxl_error("region %lld has coordinates that are no numbers", (long long)i);
        if (!(g.bin_height > 0 && g.bin_width > 0))
            return mxl_error("region %lld has no area", (long long)i);
        if (samples > MOST_SAMPLES)
            return mxl_error("region %lld is too large: a bin may have %d samples", (long long)i,
                             MOST_SAMPLES);
        most = samples > most ? samples : most;
    }
    return (int64_t)most;
}

/* The two positions around a coordinate; false if it lies outside, as all do of no positions. */
static bool position(double at, int64_t n, int64_t *low, int64_t *high, double *part)
{
    if (n < 1 || !(at >= -1 && at <= (double)n))
        return false;
    at = at > 0 ? at : 0;
    *low = at < (double)(n - 1) ? (int64_t)at : n - 1;
    *high = *low + 1 < n ? *low + 1 : n - 1;
    *part = *low < n - 1 ? at - (double)*low : 0;
    return true;
}

/* Adds the four pixels around a sample, whose part of the mean is `share`. */
static void add_sample(const mxl_roi *r, mxl_points *points, double row, double column,
                       double share)
{
    int64_t y[2], x[2];
    double down, across;

    if (!position(row, r->height, &y[0], &y[1], &down) ||
        !position(column, r->width, &x[0], &x[1], &across))
        return;
    for (int k = 0; k < 4; k++) {
        double weight = (k / 2 == 0 ? 1 - down : down) * (k % 2 == 0 ? 1 - across : across);

        if (weight != 0)
            mxl_points_add(points, y[k / 2] * r->width + x[k % 2], weight * share);
    }
}

typedef struct align_job {
    const mxl_roi *r;
    bool takes;
    const void *regions;
    const char *from;
    char *to;
} align_job;

/* Bytes of an image, and of the result of a region. */
static int64_t image_bytes(const mxl_roi *r)
{
    int64_t planes = r->channels * (r->sensitive ? r->rows * r->columns : 1);

    return planes * r->height * r->width * (r->dtype == MXL_F64 ? 8 : 4);
}

static int64_t result_bytes(const mxl_roi *r)
{
    return r->channels * r->rows * r->columns * (r->dtype == MXL_F64 ? 8 : 4);
}

/* The points of a region, and where its image and its result are. */
static void find_points(const void *data, int64_t n, mxl_points_item *item)
{
    const align_job *job = data;
    const mxl_roi *r = job->r;
    region g = region_at(r, job->regions, n);
    int64_t down = (int64_t)g.down, across = (int64_t)g.across;
    double share = 1 / (g.down * g.across);

    item->from = job->from + (job->takes ? g.image * image_bytes(r) : n * result_bytes(r));
    item->to = job->to + (job->takes ? n * result_bytes(r) : g.image * image_bytes(r));
    for (int64_t b = 0; b < r->rows * r->columns; b++) {
        for (int64_t s = 0; s < down * across; s++) {
            double i = (double)(b / r->columns) + ((double)(s / across) + 0.5) / g.down;
            double j = (double)(b % r->columns) + ((double)(s % across) + 0.5) / g.across;
            double y = g.top + i * g.bin_height, x = g.left + j * g.bin_width;

            if (r->rotated)
                add_sample(r, &item->points, g.row + y * g.cosine - x * g.sine,
                           g.column + x * g.cosine + y * g.sine, share);
            else
                add_sample(r, &item->points, y, x, share);
        }
        mxl_points_next(&item->points);
    }
}

static int run(const mxl_roi *r, bool takes, const void *regions, const void *from, void *to)
{
    int64_t bins = r->rows * r->columns, most = check_regions(r, regions);
    align_job job = {r, takes, regions, from, to};
    mxl_points_batch batch = {.dtype = r->dtype,
                              .takes = takes,
                              .apart = r->sensitive,
                              .count = r->regions,
                              .channels = r->channels,
                              .bins = bins,
                              .plane = r->height * r->width,
                              .fill = find_points,
                              .data = &job,
                              .clear = to};

    if (most < 0)
        return -1;
    if (bins > INT64_MAX / 512 / most)
        return mxl_error("the regions have too many samples");
    batch.elements = 4 * bins * most;
    if (!takes)
        batch.clear_bytes = r->batch * image_bytes(r);
    return mxl_points_run(&batch);
}

int mxl_roi_align(const mxl_roi *r, const void *regions, const void *x, void *y)
{
    return run(r, true, regions, x, y);
}

int mxl_roi_align_back(const mxl_roi *r, const void *regions, const void *dy, void *dx)
{
    return run(r, false, regions, dy, dx);
}
