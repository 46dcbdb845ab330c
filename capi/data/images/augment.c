/* An image becomes a sample: another size, turned, padded, a part of it, other colours, mirrored,
 * its values scaled; in the order of 1.9.1. See data/images/image_plan.h. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "data/images/changes.h"
#include "data/images/image_plan.h"

/* ---- shape ---- */

static bool has_ratio(const mxl_image_params *p)
{
    return p->max_aspect_ratio != 0 || !isnan(p->min_aspect_ratio);
}

/* A ratio of the sides: between the bounds, or around 1 if there is one bound. */
static float draw_ratio(const mxl_image_params *p, mxl_chances *by)
{
    if (isnan(p->min_aspect_ratio))
        return (float)mxl_chance_between(by, 1 - p->max_aspect_ratio, 1 + p->max_aspect_ratio);
    return (float)mxl_chance_between(by, p->min_aspect_ratio, p->max_aspect_ratio);
}

/* Turns, shears and scales; the middle stays in the middle. */
static int warp(const mxl_image_params *p, mxl_bitmap *image, mxl_chances *by)
{
    float shear = (float)mxl_chance_between(by, -p->max_shear_ratio, p->max_shear_ratio);
    int64_t turns = p->max_rotate_angle > 0 ? p->max_rotate_angle : 0;
    double angle = (double)(mxl_chance_of(by, 2 * turns + 1) - turns);
    float a, b, ratio = 1, scale, down, across, w = (float)image->columns, h = (float)image->rows;
    float columns, rows, m[4];

    if (p->rotate > 0)
        angle = (double)p->rotate;
    a = (float)cos(angle / 180 * 3.14159265358979323846);
    b = (float)sin(angle / 180 * 3.14159265358979323846);
    scale = (float)mxl_chance_between(by, p->min_random_scale, p->max_random_scale);
    if (has_ratio(p) && !p->random_resized_crop)
        ratio = draw_ratio(p, by);
    across = 2 * scale / (1 + ratio);
    down = ratio * across;
    columns = fmaxf((float)p->min_img_size, fminf((float)p->max_img_size, scale * w));
    rows = fmaxf((float)p->min_img_size, fminf((float)p->max_img_size, scale * h));
    if (!(columns >= 1 && columns <= MXL_BITMAP_MOST && rows >= 1 && rows <= MXL_BITMAP_MOST))
        return mxl_error("an image of %g x %g pixels cannot be scaled by %g", (double)w, (double)h,
                         (double)scale);
    m[0] = across * a - shear * b * down;
    m[1] = across * b + shear * a * down;
    m[2] = -b * down;
    m[3] = a * down;
    return mxl_change_warp(
        image,
        (const double[]){(double)m[0], (double)m[1],
                         (double)((columns - (m[0] * w + m[1] * h)) / 2), (double)m[2],
                         (double)m[3], (double)((rows - (m[2] * w + m[3] * h)) / 2)},
        (int64_t)rows, (int64_t)columns,
        mxl_change_method(p->inter_method, by, image, (int64_t)rows, (int64_t)columns),
        p->fill_value);
}

static bool warps(const mxl_image_params *p)
{
    return p->max_rotate_angle > 0 || p->max_shear_ratio > 0 || p->rotate > 0 ||
           p->min_random_scale != 1 || p->max_random_scale != 1 || p->min_img_size != 0 ||
           p->max_img_size != 1e10 || (has_ratio(p) && !p->random_resized_crop);
}

/* Cuts a part out and gives it the sample's size. */
static int cut_resized(const mxl_image_plan *plan, mxl_bitmap *image, mxl_chances *by, int64_t top,
                       int64_t left, int64_t rows, int64_t columns)
{
    if (mxl_change_cut(image, top, left, rows, columns) != 0)
        return -1;
    return mxl_change_size(
        image, plan->rows, plan->columns,
        mxl_change_method(plan->p.inter_method, by, image, plan->rows, plan->columns));
}

/* A part of a random area and ratio; *done is false if ten tries found none within the image. */
static int cut_area(const mxl_image_plan *plan, mxl_bitmap *image, mxl_chances *by, bool *done)
{
    const mxl_image_params *p = &plan->p;
    double all = (double)image->rows * (double)image->columns;
    bool alone = isnan(p->min_aspect_ratio);

    *done = false;
    if (p->min_random_area == 1 && p->max_random_area == 1 &&
        p->max_aspect_ratio == (alone ? 0 : 1) && (alone || p->min_aspect_ratio == 1))
        return 0; /* the whole image is cut as without this */
    for (int i = 0; i < 10; i++) {
        double area = mxl_chance_between(by, p->min_random_area, p->max_random_area) * all;
        double ratio = (double)draw_ratio(p, by);
        double columns = round(sqrt(area * ratio)), rows = round(sqrt(area / ratio));

        if (mxl_chance(by) < 0.5) {
            double kept = rows;

            rows = columns;
            columns = kept;
        }
        if (!(rows >= 1 && rows <= (double)image->rows && columns >= 1 &&
              columns <= (double)image->columns))
            continue;
        *done = true;
        return cut_resized(plan, image, by, mxl_chance_of(by, image->rows - (int64_t)rows + 1),
                           mxl_chance_of(by, image->columns - (int64_t)columns + 1), (int64_t)rows,
                           (int64_t)columns);
    }
    return 0;
}

/* A square of a random size. */
static int cut_square(const mxl_image_plan *plan, mxl_bitmap *image, mxl_chances *by)
{
    const mxl_image_params *p = &plan->p;
    int64_t side = p->min_crop_size + mxl_chance_of(by, p->max_crop_size - p->min_crop_size + 1);
    int64_t down = image->rows - side, across = image->columns - side;

    if (image->rows < p->max_crop_size || image->columns < p->max_crop_size)
        return mxl_error("an image of %lld x %lld pixels is smaller than max_crop_size %lld",
                         (long long)image->columns, (long long)image->rows,
                         (long long)p->max_crop_size);
    return cut_resized(plan, image, by, p->rand_crop ? mxl_chance_of(by, down + 1) : down / 2,
                       p->rand_crop ? mxl_chance_of(by, across + 1) : across / 2, side, side);
}

/* A part of the sample's size; a smaller image is made larger first. */
static int cut_fixed(const mxl_image_plan *plan, mxl_bitmap *image, mxl_chances *by)
{
    mxl_interpolation method =
        mxl_change_method(plan->p.inter_method, by, image, plan->rows, plan->columns);
    int64_t h = image->rows, w = image->columns, down, across;

    if (h < plan->rows &&
        mxl_change_size(image, plan->rows, (int64_t)((double)plan->rows / (double)h * (double)w),
                        method) != 0)
        return -1;
    h = image->rows;
    w = image->columns;
    if (w < plan->columns &&
        mxl_change_size(image, (int64_t)((double)plan->columns / (double)w * (double)h),
                        plan->columns, method) != 0)
        return -1;
    down = image->rows - plan->rows;
    across = image->columns - plan->columns;
    if (down < 0 || across < 0)
        return mxl_error("an image of %lld x %lld pixels is too small", (long long)image->columns,
                         (long long)image->rows);
    return mxl_change_cut(image, plan->p.rand_crop ? mxl_chance_of(by, down + 1) : down / 2,
                          plan->p.rand_crop ? mxl_chance_of(by, across + 1) : across / 2,
                          plan->rows, plan->columns);
}

static int shape(const mxl_image_plan *plan, mxl_bitmap *image, mxl_chances *by)
{
    const mxl_image_params *p = &plan->p;
    bool done = false;

    if (mxl_change_short(image, p->resize, p->inter_method, by) != 0 ||
        (warps(p) && warp(p, image, by) != 0))
        return -1;
    if (p->pad > 0 && mxl_change_pad(image, image->rows + 2 * p->pad, image->columns + 2 * p->pad,
                                     p->pad, p->pad, p->fill_value) != 0)
        return -1;
    if (p->random_resized_crop) {
        if (cut_area(plan, image, by, &done) != 0 || done)
            return done ? 0 : -1;
    } else if (p->max_crop_size != -1 || p->min_crop_size != -1) {
        return cut_square(plan, image, by);
    }
    return cut_fixed(plan, image, by);
}

/* ---- colours ---- */

/* Brightness, contrast and saturation, in a random order. */
static void jitter(const mxl_image_params *p, mxl_bitmap *image, mxl_chances *by)
{
    float factor[3];
    int order[] = {0, 1, 2};

    factor[0] = (float)mxl_chance_between(by, 1 - p->brightness, 1 + p->brightness);
    factor[1] = (float)mxl_chance_between(by, 1 - p->contrast, 1 + p->contrast);
    factor[2] = (float)mxl_chance_between(by, 1 - p->saturation, 1 + p->saturation);
    for (int i = 2; i > 0; i--) {
        int64_t other = mxl_chance_of(by, i + 1);
        int kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < 3; i++) {
        if (order[i] == 0 && p->brightness > 0)
            mxl_change_scale(image, factor[0], 0);
        else if (order[i] == 1 && p->contrast > 0)
            mxl_change_contrast(image, factor[1]);
        else if (order[i] == 2 && p->saturation > 0)
            mxl_change_saturation(image, factor[2]);
    }
}

/* A number between the bounds without its fraction. */
static int draw_whole(mxl_chances *by, int64_t bound)
{
    return (int)mxl_chance_between(by, -(double)bound, (double)bound);
}

/* Noise along the principal components of the colours of ImageNet's images: their eigenvectors, of
 * red, green and blue, times their eigenvalues. */
static void add_noise(const mxl_image_params *p, mxl_bitmap *image, mxl_chances *by)
{
    static const double component[3][3] = {{-0.5675 * 55.46, 0.7192 * 4.794, 0.4009 * 1.148},
                                           {-0.5808 * 55.46, -0.0045 * 4.794, -0.8140 * 1.148},
                                           {-0.5836 * 55.46, -0.6948 * 4.794, 0.4203 * 1.148}};
    float more[3] = {0};

    for (int k = 0; k < 3; k++) {
        double size = mxl_chance_normal(by) * p->pca_noise;

        for (int c = 0; c < 3; c++)
            more[c] += (float)(component[c][k] * size);
    }
    mxl_change_add(image, more);
}

static void colour(const mxl_image_params *p, mxl_bitmap *image, mxl_chances *by)
{
    if (p->brightness > 0 || p->contrast > 0 || p->saturation > 0)
        jitter(p, image, by);
    if (p->random_h != 0 || p->random_s != 0 || p->random_l != 0) {
        int hue = draw_whole(by, p->random_h), saturation = draw_whole(by, p->random_s);

        mxl_change_hls(image, (int[]){hue, draw_whole(by, p->random_l), saturation});
    }
    if (p->pca_noise > 0)
        add_noise(p, image, by);
}

/* ---- values ---- */

/* What is done to all values of a sample. */
typedef struct values {
    float contrast, more;
    bool mirrored;
} values;

/* Writes a channel: ((value - mean) * contrast + illumination) * scale / deviation; of int8, value
 * - the rounded mean; of uint8, the value. */
static void put_channel(const mxl_image_plan *plan, const mxl_bitmap *image, const values *v,
                        int64_t channel, void *to)
{
    const double means[] = {plan->p.mean_r, plan->p.mean_g, plan->p.mean_b};
    const double deviations[] = {plan->p.std_r, plan->p.std_g, plan->p.std_b};
    float mean = (float)means[channel], factor = (float)plan->p.scale / (float)deviations[channel];
    const float *means_of =
        plan->mean != NULL ? plan->mean + channel * image->rows * image->columns : NULL;
    const uint8_t *from = image->bytes + channel;
    float *numbers = to;
    uint8_t *bytes = to;

    for (int64_t y = 0; y < image->rows; y++) {
        for (int64_t x = 0; x < image->columns; x++, from += image->channels) {
            int64_t at = y * image->columns + (v->mirrored ? image->columns - 1 - x : x);
            float below = means_of != NULL ? means_of[y * image->columns + x] : mean;

            if (plan->dtype == MXL_F32) {
                numbers[at] = (((float)*from - below) * v->contrast + v->more) * factor;
            } else if (plan->dtype == MXL_I8) {
                float value = (float)*from - roundf(below);

                bytes[at] = (uint8_t)(int8_t)(value > 127 ? 127 : value < -128 ? -128 : value);
            } else {
                bytes[at] = *from;
            }
        }
    }
}

static values draw_values(const mxl_image_params *p, mxl_chances *by)
{
    values v;

    v.contrast =
        (float)mxl_chance_between(by, 1 - p->max_random_contrast, 1 + p->max_random_contrast);
    v.more = (float)mxl_chance_between(by, -p->max_random_illumination, p->max_random_illumination);
    v.mirrored = p->mirror || (p->rand_mirror && mxl_chance(by) < 0.5);
    return v;
}

int mxl_image_sample(const mxl_image_plan *plan, const void *bytes, size_t size, uint64_t draw,
                     void *to)
{
    size_t plane = (size_t)(plan->rows * plan->columns) * mxl_dtype_size(plan->dtype);
    mxl_chances by;
    mxl_bitmap image;
    int status = -1;

    mxl_chances_begin(&by, plan->seed, draw);
    if (mxl_bitmap_decode(bytes, size, plan->channels == 3, &image) != 0)
        return -1;
    if (shape(plan, &image, &by) == 0) {
        values v;

        colour(&plan->p, &image, &by);
        v = draw_values(&plan->p, &by);
        for (int64_t channel = 0; channel < plan->channels; channel++)
            put_channel(plan, &image, &v, channel, (char *)to + (size_t)channel * plane);
        status = 0;
    }
    mxl_bitmap_clear(&image);
    return status;
}
