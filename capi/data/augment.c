/* An image becomes a sample: another size, padding, a part of it, mirrored, its values scaled. See
 * data/image_plan.h. */
#include <string.h>

#include "base/error.h"
#include "data/image_plan.h"
#include "kernel/codec/codec.h"
#include "kernel/random/rng.h"
#include "kernel/vision/image_resize.h"

/* The random words of an image, and its method of resizing. */
typedef struct chances {
    uint32_t words[4]; /* of top, left, mirror, method */
    int64_t method;
} chances;

/* What is cut out of an image and how. */
typedef struct cut {
    int64_t top, left;
    bool mirrored;
} cut;

/* The method: 9 is chosen by the sizes, 10 by chance. */
static mxl_interpolation method_of(const chances *by, const mxl_bitmap *image, int64_t rows,
                                   int64_t columns)
{
    if (by->method == 10)
        return (mxl_interpolation)(by->words[3] % 5);
    if (by->method < 9)
        return (mxl_interpolation)by->method;
    if (rows > image->rows && columns > image->columns)
        return MXL_CUBIC;
    return rows < image->rows && columns < image->columns ? MXL_AREA : MXL_LINEAR;
}

/* Gives an image another size. */
static int resize(mxl_bitmap *image, int64_t rows, int64_t columns, mxl_interpolation method)
{
    int64_t in[] = {image->rows, image->columns}, out[] = {rows, columns};
    mxl_image_taps taps[2];
    mxl_bitmap made;
    int status;

    if (rows == image->rows && columns == image->columns)
        return 0;
    if (rows < 1 || columns < 1 || rows > MXL_BITMAP_MOST / columns)
        return mxl_error("an image of %lld x %lld pixels cannot become one of %lld x %lld",
                         (long long)in[1], (long long)in[0], (long long)columns, (long long)rows);
    if (mxl_image_taps_make(method, in, out, taps) != 0)
        return -1;
    status = mxl_bitmap_make(&made, rows, columns, image->channels);
    if (status == 0)
        status =
            mxl_image_resize(MXL_U8, method, taps, 1, image->channels, image->bytes, made.bytes);
    mxl_image_taps_free(taps);
    if (status == 0) {
        mxl_bitmap kept = *image;

        *image = made;
        made = kept;
    }
    mxl_bitmap_clear(&made);
    return status;
}

/* Adds pixels on each side. */
static int add_border(mxl_bitmap *image, int64_t width, int value)
{
    int64_t rows = image->rows + 2 * width, columns = image->columns + 2 * width;
    size_t row = (size_t)(image->columns * image->channels);
    mxl_bitmap made;

    if (rows > MXL_BITMAP_MOST / columns)
        return mxl_error("pad %lld is too large", (long long)width);
    if (mxl_bitmap_make(&made, rows, columns, image->channels) != 0)
        return -1;
    memset(made.bytes, value, made.size);
    for (int64_t y = 0; y < image->rows; y++)
        memcpy(made.bytes + ((y + width) * columns + width) * image->channels,
               image->bytes + (size_t)y * row, row);
    mxl_bitmap_clear(image);
    *image = made;
    return 0;
}

/* Makes an image as large as a sample, at least, after what the parameters ask for. */
static int fit(const mxl_image_plan *plan, mxl_bitmap *image, const chances *by)
{
    const mxl_image_params *p = &plan->p;
    int64_t h = image->rows, w = image->columns, side = p->resize;
    mxl_interpolation method;

    if (side > 0) {
        int64_t rows = w < h ? side * h / w : side, columns = w < h ? side : side * w / h;

        if (resize(image, rows, columns, method_of(by, image, rows, columns)) != 0)
            return -1;
    }
    if (p->pad > 0 && add_border(image, p->pad, (int)p->fill_value) != 0)
        return -1;
    method = method_of(by, image, plan->rows, plan->columns);
    h = image->rows;
    w = image->columns;
    if (h < plan->rows &&
        resize(image, plan->rows, (int64_t)((double)plan->rows / (double)h * (double)w), method) !=
            0)
        return -1;
    h = image->rows;
    w = image->columns;
    if (w < plan->columns && resize(image, (int64_t)((double)plan->columns / (double)w * (double)h),
                                    plan->columns, method) != 0)
        return -1;
    if (image->rows < plan->rows || image->columns < plan->columns)
        return mxl_error("an image of %lld x %lld pixels is too small", (long long)image->columns,
                         (long long)image->rows);
    return 0;
}

/* A place among `count` by a random word. */
static int64_t place(uint32_t chance, int64_t count)
{
    return (int64_t)((uint64_t)chance * (uint64_t)count >> 32);
}

static chances draw_chances(const mxl_image_plan *plan, uint64_t draw)
{
    uint32_t counter[4] = {(uint32_t)draw, (uint32_t)(draw >> 32), 0, 1};
    uint32_t key[2] = {(uint32_t)plan->seed, (uint32_t)(plan->seed >> 32)};
    chances by = {.method = plan->p.inter_method};

    mxl_philox(counter, key, by.words);
    return by;
}

static cut choose(const mxl_image_plan *plan, const mxl_bitmap *image, const chances *by)
{
    int64_t down = image->rows - plan->rows, across = image->columns - plan->columns;
    cut c = {down / 2, across / 2, plan->p.mirror != 0};

    if (plan->p.rand_crop) {
        c.top = place(by->words[0], down + 1);
        c.left = place(by->words[1], across + 1);
    }
    if (plan->p.rand_mirror && by->words[2] >> 31 != 0)
        c.mirrored = true;
    return c;
}

/* Writes a channel of a part of an image. */
static void put_channel(const mxl_image_plan *plan, const mxl_bitmap *image, cut c, int64_t channel,
                        void *to)
{
    const double means[] = {plan->p.mean_r, plan->p.mean_g, plan->p.mean_b};
    const double deviations[] = {plan->p.std_r, plan->p.std_g, plan->p.std_b};
    float mean = (float)means[channel], factor;
    int64_t step = c.mirrored ? -image->channels : image->channels;
    int64_t first = c.mirrored ? c.left + plan->columns - 1 : c.left;
    float *numbers = to;
    uint8_t *bytes = to;

    factor = (float)plan->p.scale / (float)deviations[channel];
    for (int64_t y = 0; y < plan->rows; y++) {
        const uint8_t *from =
            image->bytes + ((c.top + y) * image->columns + first) * image->channels + channel;

        for (int64_t x = 0; x < plan->columns; x++, from += step) {
            if (plan->dtype == MXL_F32)
                *numbers++ = ((float)*from - mean) * factor;
            else
                *bytes++ = plan->dtype == MXL_I8 && *from > 127 ? 127 : *from;
        }
    }
}

int mxl_image_sample(const mxl_image_plan *plan, const void *bytes, size_t size, uint64_t draw,
                     void *to)
{
    size_t plane = (size_t)(plan->rows * plan->columns) * mxl_dtype_size(plan->dtype);
    chances by = draw_chances(plan, draw);
    mxl_bitmap image;
    int status = -1;

    if (mxl_bitmap_decode(bytes, size, plan->channels == 3, &image) != 0)
        return -1;
    if (fit(plan, &image, &by) == 0) {
        cut c = choose(plan, &image, &by);

        for (int64_t channel = 0; channel < plan->channels; channel++)
            put_channel(plan, &image, c, channel, (char *)to + (size_t)channel * plane);
        status = 0;
    }
    mxl_bitmap_clear(&image);
    return status;
}
