/* Chances, and changes of the shapes of images; see data/images/changes.h. */
#include "data/images/changes.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "kernel/random/rng.h"
#include "kernel/vision/warp.h"

/* ---- chances ---- */

void mxl_chances_begin(mxl_chances *by, uint64_t seed, uint64_t draw)
{
    *by = (mxl_chances){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                        .counter = {(uint32_t)draw, (uint32_t)(draw >> 32), 0, 1}};
}

static uint32_t next_word(mxl_chances *by)
{
    if (by->left == 0) {
        mxl_philox(by->counter, by->key, by->words);
        by->counter[2]++;
        by->left = 4;
    }
    return by->words[--by->left];
}

double mxl_chance(mxl_chances *by)
{
    return next_word(by) * 0x1p-32;
}

double mxl_chance_between(mxl_chances *by, double low, double high)
{
    return low + (high - low) * mxl_chance(by);
}

int64_t mxl_chance_of(mxl_chances *by, int64_t count)
{
    return (int64_t)((uint64_t)next_word(by) * (uint64_t)count >> 32);
}

double mxl_chance_normal(mxl_chances *by)
{
    double size = sqrt(-2 * log(1 - mxl_chance(by)));

    return size * cos(2 * 3.14159265358979323846 * mxl_chance(by));
}

/* ---- shapes ---- */

mxl_interpolation mxl_change_method(int64_t inter_method, mxl_chances *by, const mxl_bitmap *image,
                                    int64_t rows, int64_t columns)
{
    if (inter_method == 10)
        return (mxl_interpolation)mxl_chance_of(by, 5);
    if (inter_method < 9)
        return (mxl_interpolation)inter_method;
    if (rows > image->rows && columns > image->columns)
        return MXL_CUBIC;
    return rows < image->rows && columns < image->columns ? MXL_AREA : MXL_LINEAR;
}

int mxl_change_check(int64_t resize, int64_t inter_method)
{
    if (resize > 1 << 20 || (resize < 1 && resize != -1))
        return mxl_error("resize must be 1 to 2^20 or -1, got %lld", (long long)resize);
    if (inter_method < 0 || inter_method > 10 || (inter_method > 5 && inter_method < 9))
        return mxl_error("inter_method must be 0 to 5, 9 or 10, got %lld", (long long)inter_method);
    return 0;
}

/* A new image of a size; an error names the old one. */
static int make(const mxl_bitmap *image, int64_t rows, int64_t columns, mxl_bitmap *made)
{
    if (rows < 1 || columns < 1 || rows > MXL_BITMAP_MOST / columns)
        return mxl_error("an image of %lld x %lld pixels cannot become one of %lld x %lld",
                         (long long)image->columns, (long long)image->rows, (long long)columns,
                         (long long)rows);
    return mxl_bitmap_make(made, rows, columns, image->channels);
}

/* Takes the place of an image. */
static void replace(mxl_bitmap *image, mxl_bitmap *made)
{
    mxl_bitmap_clear(image);
    *image = *made;
}

int mxl_change_size(mxl_bitmap *image, int64_t rows, int64_t columns, mxl_interpolation method)
{
    int64_t in[] = {image->rows, image->columns}, out[] = {rows, columns};
    mxl_image_taps taps[2];
    mxl_bitmap made;
    int status;

    if (rows == image->rows && columns == image->columns)
        return 0;
    if (make(image, rows, columns, &made) != 0)
        return -1;
    status = mxl_image_taps_make(method, in, out, taps);
    if (status == 0) {
        status =
            mxl_image_resize(MXL_U8, method, taps, 1, image->channels, image->bytes, made.bytes);
        mxl_image_taps_free(taps);
    }
    if (status == 0)
        replace(image, &made);
    else
        mxl_bitmap_clear(&made);
    return status;
}

int mxl_change_short(mxl_bitmap *image, int64_t side, int64_t inter_method, mxl_chances *by)
{
    int64_t h = image->rows, w = image->columns;
    int64_t rows = w < h ? side * h / w : side, columns = w < h ? side : side * w / h;

    if (side < 0)
        return 0;
    return mxl_change_size(image, rows, columns,
                           mxl_change_method(inter_method, by, image, rows, columns));
}

void mxl_change_mirror(mxl_bitmap *image)
{
    int64_t channels = image->channels, last = (image->columns - 1) * channels;

    for (int64_t y = 0; y < image->rows; y++) {
        uint8_t *left = image->bytes + y * image->columns * channels, *right = left + last;

        for (; left < right; left += channels, right -= channels)
            for (int64_t c = 0; c < channels; c++) {
                uint8_t kept = left[c];

                left[c] = right[c];
                right[c] = kept;
            }
    }
}

/* A parameter fill_value as a byte. */
static uint8_t fill_byte(int64_t fill)
{
    return fill < 0 ? 0 : fill > UINT8_MAX ? UINT8_MAX : (uint8_t)fill;
}

int mxl_change_pad(mxl_bitmap *image, int64_t rows, int64_t columns, int64_t top, int64_t left,
                   int64_t fill)
{
    size_t row = (size_t)(image->columns * image->channels);
    mxl_bitmap made;

    if (make(image, rows, columns, &made) != 0)
        return -1;
    memset(made.bytes, fill_byte(fill), made.size);
    for (int64_t y = 0; y < image->rows; y++)
        memcpy(made.bytes + ((y + top) * columns + left) * image->channels,
               image->bytes + (size_t)y * row, row);
    replace(image, &made);
    return 0;
}

int mxl_change_cut(mxl_bitmap *image, int64_t top, int64_t left, int64_t rows, int64_t columns)
{
    mxl_bitmap made;

    if (make(image, rows, columns, &made) != 0)
        return -1;
    for (int64_t y = 0; y < rows; y++)
        memcpy(made.bytes + y * columns * image->channels,
               image->bytes + ((top + y) * image->columns + left) * image->channels,
               (size_t)(columns * image->channels));
    replace(image, &made);
    return 0;
}

int mxl_change_warp(mxl_bitmap *image, const double map[6], int64_t rows, int64_t columns,
                    mxl_interpolation method, int64_t fill)
{
    int64_t in[] = {image->rows, image->columns}, out[] = {rows, columns};
    mxl_bitmap made;

    if (image->rows > INT16_MAX || image->columns > INT16_MAX)
        return mxl_error("an image of %lld x %lld pixels is too large to be turned or scaled",
                         (long long)image->columns, (long long)image->rows);
    if (make(image, rows, columns, &made) != 0)
        return -1;
    if (mxl_image_warp(method, map, in, out, image->channels, fill_byte(fill), image->bytes,
                       made.bytes) != 0) {
        mxl_bitmap_clear(&made);
        return -1;
    }
    replace(image, &made);
    return 0;
}
