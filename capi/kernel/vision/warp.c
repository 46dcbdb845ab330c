/* Affine maps of images; see kernel/vision/warp.h. */
#include "kernel/vision/warp.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory/mem.h"

/* Places have 10 bits behind the point while they are computed, of which 5 choose the weights. */
enum {
    PLACE_BITS = 10,
    PART_BITS = 5,
    PARTS = 1 << PART_BITS,
    WEIGHT_ONE = 1 << 15,
    MOST_TAPS = 8
};

typedef struct warp {
    const uint8_t *from;
    int64_t rows, columns, channels;
    uint8_t fill;
    int taps;               /* along each axis */
    const int16_t *weight;  /* of each pair of parts (row, column), of each pair of taps */
    int64_t *across, *down; /* what each column of the result adds to places */
} warp;

/* ---- weights ---- */

/* Rounding must not change the sum: a rest goes to the greatest of the four middle weights, or is
 * taken from the least. */
static void fix_sum(int taps, int16_t *weight)
{
    int rest = WEIGHT_ONE, most = taps / 2 * taps + taps / 2, least = most;

    for (int i = 0; i < taps * taps; i++)
        rest -= weight[i];
    for (int y = taps / 2; y < taps / 2 + 2; y++)
        for (int x = taps / 2; x < taps / 2 + 2; x++) {
            if (weight[y * taps + x] < weight[least])
                least = y * taps + x;
            else if (weight[y * taps + x] > weight[most])
                most = y * taps + x;
        }
    weight[rest > 0 ? most : least] = (int16_t)(weight[rest > 0 ? most : least] + rest);
}

static void fill_weights(int taps, int16_t *weight)
{
    float line[PARTS][MOST_TAPS];

    for (int i = 0; i < PARTS; i++)
        mxl_tap_weights(taps, (double)i / PARTS, line[i]);
    for (int y = 0; y < PARTS; y++)
        for (int x = 0; x < PARTS; x++) {
            int16_t *each = weight + (y * PARTS + x) * taps * taps;

            for (int k = 0; k < taps * taps; k++) {
                long rounded = lrintf(line[y][k / taps] * line[x][k % taps] * WEIGHT_ONE);

                each[k] = (int16_t)(rounded > INT16_MAX ? INT16_MAX : rounded);
            }
            if (taps > 2)
                fix_sum(taps, each);
        }
}

/* ---- pixels ---- */

static int clip(int64_t value, int least, int most)
{
    return value < least ? least : value > most ? most : (int)value;
}

static bool inside(const warp *w, int64_t y, int64_t x)
{
    return y >= 0 && y < w->rows && x >= 0 && x < w->columns;
}

/* The sum around row y, column x, whose first taps these are. */
static void put_pixel(const warp *w, int64_t y, int64_t x, const int16_t *weight, uint8_t *to)
{
    int taps = w->taps;

    for (int64_t c = 0; c < w->channels; c++) {
        int64_t sum = WEIGHT_ONE / 2;

        for (int i = 0; i < taps; i++)
            for (int k = 0; k < taps; k++) {
                int pixel = inside(w, y + i, x + k)
                                ? w->from[((y + i) * w->columns + x + k) * w->channels + c]
                                : w->fill;

                sum += weight[i * taps + k] * pixel;
            }
        to[c] = (uint8_t)clip(sum >> 15, 0, UINT8_MAX);
    }
}

/* The same of two taps along each axis, which the image has. */
static inline void put_linear(const warp *w, int64_t y, int64_t x, const int16_t *weight,
                              int64_t channels, uint8_t *to)
{
    const uint8_t *a = w->from + (y * w->columns + x) * channels;
    const uint8_t *b = a + w->columns * channels;

    for (int64_t c = 0; c < channels; c++)
        to[c] = (uint8_t)((weight[0] * a[c] + weight[1] * a[channels + c] + weight[2] * b[c] +
                           weight[3] * b[channels + c] + WEIGHT_ONE / 2) >>
                          15);
}

/* A place as OpenCV rounds it: by columns and by rows on their own, then their sum. */
static int64_t rounded(double value)
{
    double scaled = rint(value * (1 << PLACE_BITS));

    return scaled >= INT32_MAX ? INT32_MAX : scaled <= INT32_MIN ? INT32_MIN : (int64_t)scaled;
}

/* A row of the result that begins at a place. */
static void put_nearest(const warp *w, int64_t x0, int64_t y0, int64_t columns, uint8_t *to)
{
    for (int64_t i = 0; i < columns; i++, to += w->channels) {
        int64_t x = (x0 + w->across[i]) >> PLACE_BITS, y = (y0 + w->down[i]) >> PLACE_BITS;

        if (inside(w, y, x))
            memcpy(to, w->from + (y * w->columns + x) * w->channels, (size_t)w->channels);
        else
            memset(to, w->fill, (size_t)w->channels);
    }
}

static void put_weighted(const warp *w, int64_t x0, int64_t y0, int64_t columns, uint8_t *to)
{
    int shift = PLACE_BITS - PART_BITS, size = w->taps * w->taps, before = w->taps / 2 - 1;
    bool linear = w->taps == 2;

    for (int64_t i = 0; i < columns; i++, to += w->channels) {
        int64_t x = (x0 + w->across[i]) >> shift, y = (y0 + w->down[i]) >> shift;
        int part = (int)((y & (PARTS - 1)) * PARTS + (x & (PARTS - 1)));
        const int16_t *weight = w->weight + part * size;

        x = clip(x >> PART_BITS, INT16_MIN, INT16_MAX);
        y = clip(y >> PART_BITS, INT16_MIN, INT16_MAX);
        if (!linear || x < 0 || y < 0 || x + 1 >= w->columns || y + 1 >= w->rows)
            put_pixel(w, y - before, x - before, weight, to);
        else if (w->channels == 3)
            put_linear(w, y, x, weight, 3, to);
        else
            put_linear(w, y, x, weight, w->channels, to);
    }
}

static void put_row(const warp *w, const double back[6], int64_t row, int64_t columns, uint8_t *to)
{
    int half = 1 << ((w->taps == 1 ? PLACE_BITS : PLACE_BITS - PART_BITS) - 1);
    int64_t x0 = rounded(back[1] * (double)row + back[2]) + half;
    int64_t y0 = rounded(back[4] * (double)row + back[5]) + half;

    if (w->taps == 1)
        put_nearest(w, x0, y0, columns, to);
    else
        put_weighted(w, x0, y0, columns, to);
}

/* The inverse of a map, computed as OpenCV does; of one that has none, zeros. */
static void invert(const double m[6], double back[6])
{
    double d = m[0] * m[4] - m[1] * m[3];

    d = d != 0 ? 1 / d : 0;
    back[0] = m[4] * d;
    back[4] = m[0] * d;
    back[1] = m[1] * -d;
    back[3] = m[3] * -d;
    back[2] = -back[0] * m[2] - back[1] * m[5];
    back[5] = -back[3] * m[2] - back[4] * m[5];
}

int mxl_image_warp(mxl_interpolation how, const double m[6], const int64_t in[2],
                   const int64_t out[2], int64_t channels, uint8_t fill, const uint8_t *from,
                   uint8_t *to)
{
    warp w = {from, in[0], in[1], channels, fill, 2, NULL, NULL, NULL};
    size_t bytes, places = 2 * (size_t)out[1] * sizeof(*w.across);
    int16_t *weight;
    double back[6];

    w.taps = how == MXL_NEAREST ? 1 : how == MXL_CUBIC ? 4 : how == MXL_LANCZOS ? 8 : 2;
    bytes = sizeof(*weight) * PARTS * PARTS * (size_t)(w.taps * w.taps);
    w.across = mxl_alloc(places + bytes);
    if (w.across == NULL)
        return -1;
    w.down = w.across + out[1];
    weight = (int16_t *)(void *)(w.down + out[1]);
    if (w.taps > 1)
        fill_weights(w.taps, weight);
    w.weight = weight;
    invert(m, back);
    for (int64_t i = 0; i < out[1]; i++) {
        w.across[i] = rounded(back[0] * (double)i);
        w.down[i] = rounded(back[3] * (double)i);
    }
    for (int64_t row = 0; row < out[0]; row++)
        put_row(&w, back, row, out[1], to + row * out[1] * channels);
    mxl_free(w.across, places + bytes);
    return 0;
}
