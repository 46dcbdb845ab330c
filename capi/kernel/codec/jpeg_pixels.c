/* Pixels of a JPEG from its coefficients: the inverse transform, larger planes, colours. The
 * numbers are those of libjpeg's accurate integer transform and smooth upsampling, its defaults.
 * See jpeg.h.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/codec/jpeg.h"

/* Samples of a component, `stride` apart. */
typedef struct plane {
    uint8_t *bytes;
    size_t size, stride;
    int64_t columns, rows;
    int wider, taller; /* pixels of a sample in each direction */
} plane;

typedef struct work {
    const mxl_jpeg *j;
    int planes;
    plane plane[3];
    uint8_t *row[3]; /* of pixels, of each plane */
    size_t row_size;
} work;

static inline uint8_t clamp(int64_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* ---- the inverse transform ---- */

/* One dimension of the transform by Loeffler, Ligtenberg and Moschytz, with constants of 13 bits:
 * eight numbers, `step` apart, become sums of 13 more bits. */
static inline void transform(const int64_t *in, int step, int64_t *out)
{
    int64_t z1, z2, z3, z4, z5, even[4], odd[4];

    z1 = (in[2 * step] + in[6 * step]) * 4433;
    z2 = z1 - in[6 * step] * 15137;
    z3 = z1 + in[2 * step] * 6270;
    z4 = (in[0] + in[4 * step]) * 8192;
    z5 = (in[0] - in[4 * step]) * 8192;
    even[0] = z4 + z3;
    even[3] = z4 - z3;
    even[1] = z5 + z2;
    even[2] = z5 - z2;
    z1 = (in[7 * step] + in[step]) * -7373;
    z2 = (in[5 * step] + in[3 * step]) * -20995;
    z3 = in[7 * step] + in[3 * step];
    z4 = in[5 * step] + in[step];
    z5 = (z3 + z4) * 9633;
    z3 = z3 * -16069 + z5;
    z4 = z4 * -3196 + z5;
    odd[0] = in[7 * step] * 2446 + z1 + z3;
    odd[1] = in[5 * step] * 16819 + z2 + z4;
    odd[2] = in[3 * step] * 25172 + z2 + z3;
    odd[3] = in[step] * 12299 + z1 + z4;
    for (int i = 0; i < 4; i++) {
        out[i] = even[i] + odd[3 - i];
        out[7 - i] = even[i] - odd[3 - i];
    }
}

/* Samples of a block: columns, which keep two more bits, then rows. */
static void inverse(const int16_t *block, const uint16_t *quantisation, uint8_t *to, size_t stride)
{
    int64_t in[64], middle[64], out[8];

    for (int i = 0; i < 64; i++)
        in[i] = (int64_t)block[i] * quantisation[i];
    for (int x = 0; x < 8; x++) {
        transform(in + x, 8, out);
        for (int y = 0; y < 8; y++)
            middle[8 * y + x] = (out[y] + (1 << 10)) >> 11;
    }
    for (int y = 0; y < 8; y++, to += stride) {
        transform(middle + (size_t)8 * (size_t)y, 1, out);
        for (int x = 0; x < 8; x++)
            to[x] = clamp(((out[x] + (1 << 17)) >> 18) + 128);
    }
}

static int make_plane(const mxl_jpeg *j, const mxl_jpeg_component *c, plane *p)
{
    p->stride = (size_t)c->stride * 8;
    p->size = p->stride * (size_t)c->stored_rows * 8;
    p->columns = c->columns;
    p->rows = c->rows;
    p->wider = j->across / c->across;
    p->taller = j->down / c->down;
    p->bytes = mxl_alloc(p->size);
    if (p->bytes == NULL)
        return -1;
    for (int64_t y = 0; y < c->block_rows; y++)
        for (int64_t x = 0; x < c->blocks; x++)
            inverse(c->coefficients + (y * c->stride + x) * 64, c->quantisation,
                    p->bytes + (size_t)y * 8 * p->stride + (size_t)x * 8, p->stride);
    return 0;
}

/* ---- larger planes ---- */

/* Twice as wide: a pixel is 3/4 of its sample and 1/4 of the neighbour on its side. */
static void widen(const uint8_t *in, int64_t columns, uint8_t *out)
{
    int64_t last = columns - 1;

    out[0] = in[0];
    out[1] = (uint8_t)((3 * in[0] + in[1] + 2) >> 2);
    for (int64_t x = 1; x < last; x++) {
        out[2 * x] = (uint8_t)((3 * in[x] + in[x - 1] + 1) >> 2);
        out[2 * x + 1] = (uint8_t)((3 * in[x] + in[x + 1] + 2) >> 2);
    }
    out[2 * last] = (uint8_t)((3 * in[last] + in[last - 1] + 1) >> 2);
    out[2 * last + 1] = in[last];
}

/* The same of a row that is 3/4 of `near` and 1/4 of `far`. */
static void widen_between(const uint8_t *near, const uint8_t *far, int64_t columns, uint8_t *out)
{
    int64_t last = columns - 1;
    int before, here = 3 * near[0] + far[0], after = 3 * near[1] + far[1];

    out[0] = (uint8_t)((4 * here + 8) >> 4);
    out[1] = (uint8_t)((3 * here + after + 7) >> 4);
    for (int64_t x = 1; x < last; x++) {
        before = here;
        here = after;
        after = 3 * near[x + 1] + far[x + 1];
        out[2 * x] = (uint8_t)((3 * here + before + 8) >> 4);
        out[2 * x + 1] = (uint8_t)((3 * here + after + 7) >> 4);
    }
    out[2 * last] = (uint8_t)((3 * after + here + 8) >> 4);
    out[2 * last + 1] = (uint8_t)((4 * after + 7) >> 4);
}

/* Row y of pixels of a plane, into out or, if nothing is to be done, where it lies. */
static const uint8_t *row_of(const plane *p, int64_t y, uint8_t *out)
{
    int64_t at = y / p->taller, beside = y % 2 == 0 ? at - 1 : at + 1;
    const uint8_t *near = p->bytes + (size_t)at * p->stride, *far;

    beside = beside < 0 ? 0 : beside >= p->rows ? p->rows - 1 : beside;
    far = p->bytes + (size_t)beside * p->stride;
    if (p->wider == 1 && p->taller == 1)
        return near;
    if (p->wider == 2 && p->taller == 1 && p->columns > 2) {
        widen(near, p->columns, out);
    } else if (p->wider == 2 && p->taller == 2 && p->columns > 2) {
        widen_between(near, far, p->columns, out);
    } else if (p->wider == 1 && p->taller == 2) {
        for (int64_t x = 0; x < p->columns; x++)
            out[x] = (uint8_t)((3 * near[x] + far[x] + (y % 2 == 0 ? 1 : 2)) >> 2);
    } else {
        for (int64_t x = 0; x < p->columns; x++)
            memset(out + x * p->wider, near[x], (size_t)p->wider);
    }
    return out;
}

/* ---- colours ---- */

/* Whether three components are luminance and two colours, not R, G, B. */
static bool is_ycc(const mxl_jpeg *j)
{
    const mxl_jpeg_component *c = j->component;

    if (j->jfif)
        return true;
    if (j->transform >= 0)
        return j->transform != 0;
    return !(c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B');
}

static void put_colors(const uint8_t *const *row, int64_t columns, uint8_t *to)
{
    for (int64_t x = 0; x < columns; x++, to += 3) {
        int y = row[0][x], cb = row[1][x] - 128, cr = row[2][x] - 128;

        to[0] = clamp(y + ((91881 * cr + 32768) >> 16));
        to[1] = clamp(y + ((-22554 * cb - 46802 * cr + 32768) >> 16));
        to[2] = clamp(y + ((116130 * cb + 32768) >> 16));
    }
}

static void put_row(const work *w, const uint8_t *const *row, bool color, uint8_t *to)
{
    int64_t columns = w->j->columns;
    bool ycc = w->j->components == 3 && is_ycc(w->j);

    if (w->planes == 1 && !color)
        memcpy(to, row[0], (size_t)columns);
    else if (w->planes == 1)
        for (int64_t x = 0; x < 3 * columns; x++)
            to[x] = row[0][x / 3];
    else if (ycc)
        put_colors(row, columns, to);
    else if (color)
        for (int64_t x = 0; x < 3 * columns; x++)
            to[x] = row[x % 3][x / 3];
    else
        for (int64_t x = 0; x < columns; x++)
            to[x] =
                (uint8_t)((19595 * row[0][x] + 38470 * row[1][x] + 7471 * row[2][x] + 32768) >> 16);
}

/* ---- turned images ---- */

/* Turns an image as its EXIF data say: 2 to 4 mirror and turn it around, 5 to 8 exchange rows and
 * columns too. */
static int turn(mxl_bitmap *image, int orientation)
{
    bool exchanged = orientation >= 5;
    bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    int64_t n = image->channels;
    mxl_bitmap turned;
    uint8_t *to;

    if (mxl_bitmap_make(&turned, exchanged ? image->columns : image->rows,
                        exchanged ? image->rows : image->columns, n) != 0)
        return -1;
    to = turned.bytes;
    for (int64_t r = 0; r < turned.rows; r++) {
        for (int64_t c = 0; c < turned.columns; c++, to += n) {
            int64_t y = exchanged ? c : r, x = exchanged ? r : c;

            y = from_below ? image->rows - 1 - y : y;
            x = from_right ? image->columns - 1 - x : x;
            memcpy(to, image->bytes + (y * image->columns + x) * n, (size_t)n);
        }
    }
    mxl_bitmap_clear(image);
    *image = turned;
    return 0;
}

int mxl_jpeg_pixels(mxl_jpeg *j, bool color, mxl_bitmap *image)
{
    work w = {.j = j};
    const uint8_t *row[3];
    int status = -1;

    w.planes = j->components == 3 && (color || !is_ycc(j)) ? 3 : 1;
    w.row_size = (size_t)(j->columns + 32);
    for (int i = 0; i < w.planes; i++) {
        w.row[i] = mxl_alloc(w.row_size);
        if (w.row[i] == NULL || make_plane(j, &j->component[i], &w.plane[i]) != 0)
            goto done;
    }
    if (mxl_bitmap_make(image, j->rows, j->columns, color ? 3 : 1) != 0)
        goto done;
    for (int64_t y = 0; y < j->rows; y++) {
        for (int i = 0; i < w.planes; i++)
            row[i] = row_of(&w.plane[i], y, w.row[i]);
        put_row(&w, row, color, image->bytes + y * j->columns * image->channels);
    }
    status = j->orientation > 1 ? turn(image, j->orientation) : 0;
done:
    for (int i = 0; i < w.planes; i++) {
        mxl_free(w.row[i], w.row_size);
        mxl_free(w.plane[i].bytes, w.plane[i].size);
    }
    return status;
}
