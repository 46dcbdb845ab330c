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
    plane plane[MXL_JPEG_COMPONENTS];
    uint8_t *row[MXL_JPEG_COMPONENTS]; /* of pixels, of each plane */
    size_t row_size;
} work;

static inline uint8_t clamp(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* ---- the inverse transform ---- */

/* One dimension of the transform by Loeffler, Ligtenberg and Moschytz, with constants of 13 bits:
 * the columns of `in` become rows of `out`, rounded by `shift` bits. All columns go side by side in
 * vectors. (Damaged coefficients wrap.) */
static inline void transform(const int32_t *in, int shift, int32_t *out)
{
    int32_t half = 1 << (shift - 1);

    for (int x = 0; x < 8; x++) {
        int32_t in1 = in[8 + x], in2 = in[16 + x], in3 = in[24 + x], in5 = in[40 + x];
        int32_t in6 = in[48 + x], in7 = in[56 + x];
        int32_t shared = (in2 + in6) * 4433, low = shared - in6 * 15137, high = shared + in2 * 6270;
        int32_t sum = (in[x] + in[32 + x]) * 8192, difference = (in[x] - in[32 + x]) * 8192;
        int32_t even0 = sum + high + half, even3 = sum - high + half;
        int32_t even1 = difference + low + half, even2 = difference - low + half;
        int32_t z5 = (in7 + in3 + in5 + in1) * 9633;
        int32_t z1 = (in7 + in1) * -7373, z2 = (in5 + in3) * -20995;
        int32_t z3 = (in7 + in3) * -16069 + z5, z4 = (in5 + in1) * -3196 + z5;
        int32_t odd0 = in1 * 12299 + z1 + z4, odd1 = in3 * 25172 + z2 + z3;
        int32_t odd2 = in5 * 16819 + z2 + z4, odd3 = in7 * 2446 + z1 + z3;

        out[8 * x] = (even0 + odd0) >> shift;
        out[8 * x + 7] = (even0 - odd0) >> shift;
        out[8 * x + 1] = (even1 + odd1) >> shift;
        out[8 * x + 6] = (even1 - odd1) >> shift;
        out[8 * x + 2] = (even2 + odd2) >> shift;
        out[8 * x + 5] = (even2 - odd2) >> shift;
        out[8 * x + 3] = (even3 + odd3) >> shift;
        out[8 * x + 4] = (even3 - odd3) >> shift;
    }
}

/* Samples of a block: columns, which keep two more bits, then rows. */
static void inverse(const int16_t *block, const uint16_t *quantisation, uint8_t *to, size_t stride)
{
    int32_t in[64], middle[64], out[64];

    for (int i = 0; i < 64; i++)
        in[i] = (int32_t)block[i] * quantisation[i];
    transform(in, 11, middle);
    transform(middle, 18, out);
    for (int y = 0; y < 8; y++, to += stride)
        for (int x = 0; x < 8; x++)
            to[x] = clamp(out[8 * y + x] + 128);
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

/* Four components are C, M, Y and K, as Adobe writes them, 255 without ink; or, if its marker says
 * so, luminance and colours of the inverse of the first three. Colours are as OpenCV mixes them. */
static void put_inks(const mxl_jpeg *j, const uint8_t *const *row, bool color, uint8_t *to)
{
    uint8_t p[3];

    for (int64_t x = 0; x < j->columns; x++) {
        const uint8_t *const one[] = {row[0] + x, row[1] + x, row[2] + x};
        int k = row[3][x];

        if (j->transform == 2)
            put_colors(one, 1, p);
        for (int c = 0; c < 3; c++) {
            int none = j->transform == 2 ? p[c] : 255 - *one[c];

            p[c] = (uint8_t)(k - ((none * k) >> 8));
        }
        if (color)
            memcpy(to + 3 * x, p, 3);
        else
            to[x] = (uint8_t)((4899 * p[0] + 9617 * p[1] + 1868 * p[2] + (1 << 13)) >> 14);
    }
}

static void put_row(const work *w, const uint8_t *const *row, bool color, uint8_t *to)
{
    int64_t columns = w->j->columns;
    bool ycc = w->j->components == 3 && is_ycc(w->j);

    if (w->planes == 4)
        put_inks(w->j, row, color, to);
    else if (w->planes == 1 && !color)
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
    const uint8_t *row[MXL_JPEG_COMPONENTS];
    int status = -1;

    w.planes = j->components == 3 && !color && is_ycc(j) ? 1 : j->components;
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
