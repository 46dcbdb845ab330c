/* PNG: chunks, decompression, the prediction of rows, pixels; see codec.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/codec/codec.h"
#include "kernel/codec/inflate.h"

enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6, LARGEST = 1 << 20 };

/* Exponents are in units of 1e-5: 1; the one of sRGB; how far from 1 one has a meaning; the least
 * and the largest. */
enum {
    GAMMA_ONE = 100000,
    GAMMA_SRGB = 45455,
    GAMMA_NEAR = 5000,
    GAMMA_LEAST = 16,
    GAMMA_MOST = 625000000
};

/* Of samples of 16 bits libpng looks at 11, or fewer if fewer are said to have a meaning, but 8. */
enum { WIDE_LEVELS = 2048, LEAST_SHIFT = 5, MOST_SHIFT = 8 };

/* Samples to linear light and back, for gray levels of colours. */
typedef struct curves {
    int shift; /* bits that are not looked at */
    uint16_t to[WIDE_LEVELS], from[WIDE_LEVELS];
} curves;

typedef struct png {
    const uint8_t *data;
    size_t size;
    uint32_t columns, rows;
    int depth, kind, interlaced;
    int bits; /* of a pixel */
    uint8_t palette[256][3];
    int colors;      /* of the palette */
    uint32_t gamma;  /* of the samples; 0: not said */
    bool gamma_ends; /* sRGB has said it, or a wrong number: what follows has no meaning */
    int meant;       /* bits of the samples that have a meaning; 0: not said */
    curves *light;   /* NULL: samples are weighed as they are */
    uint8_t *packed; /* the compressed pixels, of all their chunks */
    size_t packed_size, packed_room;
    uint8_t *raw; /* rows: a kind of prediction, then the pixels */
    size_t raw_size;
} png;

/* The part of an image that a pass has; without interlacing there is one. */
typedef struct pass {
    uint32_t left, top, right, down, columns, rows;
    size_t row_bytes;
} pass;

static uint32_t number_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- chunks ---- */

static int read_header(png *p, const uint8_t *content, size_t length)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};

    if (p->bits != 0)
        return mxl_error("PNG: there are two headers");
    if (length != 13)
        return mxl_error("PNG: the header has %zu bytes, 13 were expected", length);
    p->columns = number_at(content);
    p->rows = number_at(content + 4);
    p->depth = content[8];
    p->kind = content[9];
    p->interlaced = content[12];
    if (p->columns == 0 || p->rows == 0 || p->columns > LARGEST || p->rows > LARGEST)
        return mxl_error("PNG: %u columns and %u rows; 1 to %d are allowed", p->columns, p->rows,
                         LARGEST);
    if ((uint64_t)p->columns * p->rows > MXL_BITMAP_MOST)
        return mxl_error("PNG: %u x %u pixels; at most 2^30 are allowed", p->columns, p->rows);
    if (p->kind > 6 || channels[p->kind] == 0 || content[10] != 0 || content[11] != 0 ||
        p->interlaced > 1 || p->depth == 0 || p->depth > 16 || (p->depth & (p->depth - 1)) != 0 ||
        (p->kind == PALETTE && p->depth == 16) ||
        (p->kind != GRAY && p->kind != PALETTE && p->depth < 8))
        return mxl_error("PNG: there are no images of kind %d with %d bits", p->kind, p->depth);
    p->bits = p->depth * channels[p->kind];
    return 0;
}

static int add_packed(png *p, const uint8_t *content, size_t length)
{
    if (p->packed == NULL) { /* no more than the file */
        p->packed = mxl_alloc(p->size);
        if (p->packed == NULL)
            return -1;
        p->packed_room = p->size;
    }
    memcpy(p->packed + p->packed_size, content, length);
    p->packed_size += length;
    return 0;
}

/* The bits of each sample that have a meaning, the most of the three colours. */
static void read_meant_bits(png *p, const uint8_t *content, size_t length)
{
    int most = 0;

    if (length != (size_t)(p->bits / p->depth) || p->kind == PALETTE || p->meant != 0)
        return;
    for (size_t i = 0; i < length; i++) {
        if (content[i] == 0 || content[i] > p->depth)
            return;
        most = i < 3 && content[i] > most ? content[i] : most;
    }
    p->meant = most;
}

/* What says how samples follow from light: before the palette and the pixels, the first time. */
static void read_light(png *p, const uint8_t *name, const uint8_t *content, size_t length)
{
    if (p->packed != NULL || p->colors > 0)
        return;
    if (memcmp(name, "sBIT", 4) == 0)
        read_meant_bits(p, content, length);
    if (p->gamma_ends)
        return;
    if (memcmp(name, "sRGB", 4) == 0 && length == 1) {
        p->gamma_ends = true;
        p->gamma = content[0] < 4 ? GAMMA_SRGB : p->gamma;
    } else if (memcmp(name, "gAMA", 4) == 0 && length == 4 && p->gamma == 0) {
        uint32_t gamma = number_at(content);

        p->gamma_ends = gamma < GAMMA_LEAST || gamma > GAMMA_MOST;
        p->gamma = p->gamma_ends ? 0 : gamma;
    }
}

static int read_chunk(png *p, const uint8_t *name, const uint8_t *content, size_t length)
{
    if (memcmp(name, "IHDR", 4) == 0)
        return read_header(p, content, length);
    if (p->bits == 0)
        return mxl_error("PNG: the first chunk is no header");
    if (memcmp(name, "IDAT", 4) == 0)
        return add_packed(p, content, length);
    read_light(p, name, content, length);
    if (memcmp(name, "PLTE", 4) == 0) {
        if (length > sizeof(p->palette) || length % 3 != 0)
            return mxl_error("PNG: a palette of %zu bytes", length);
        memcpy(p->palette, content, length);
        p->colors = (int)(length / 3);
    } else if ((name[0] & 32) == 0 && memcmp(name, "IEND", 4) != 0) {
        return mxl_error("PNG: an unknown chunk that must be understood");
    }
    return 0;
}

static int read_chunks(png *p)
{
    for (size_t at = 8;;) {
        const uint8_t *chunk = p->data + at;
        size_t length;

        if (p->size - at < 12)
            return mxl_error("PNG: it ends at byte %zu, before its last chunk", p->size);
        length = number_at(chunk);
        if (length > p->size - at - 12)
            return mxl_error("PNG: it ends at byte %zu, within a chunk of %zu bytes", p->size,
                             length);
        if (mxl_crc32(0, chunk + 4, length + 4) != number_at(chunk + 8 + length))
            return mxl_error("PNG: the check sum of the chunk at byte %zu differs", at);
        if (read_chunk(p, chunk + 4, chunk + 8, length) != 0)
            return -1;
        if (memcmp(chunk + 4, "IEND", 4) == 0)
            return 0;
        at += 12 + length;
    }
}

/* ---- passes ---- */

static int passes_of(const png *p, pass passes[7])
{
    static const uint8_t left[] = {0, 4, 0, 2, 0, 1, 0}, top[] = {0, 0, 4, 0, 2, 0, 1};
    static const uint8_t right[] = {8, 8, 4, 4, 2, 2, 1}, down[] = {8, 8, 8, 4, 4, 2, 2};
    int count = p->interlaced ? 7 : 1;

    for (int i = 0; i < count; i++) {
        pass *q = &passes[i];

        *q = p->interlaced ? (pass){left[i], top[i], right[i], down[i], 0, 0, 0}
                           : (pass){0, 0, 1, 1, 0, 0, 0};
        q->columns = (p->columns - q->left + q->right - 1) / q->right;
        q->rows = (p->rows - q->top + q->down - 1) / q->down;
        if (p->columns <= q->left || p->rows <= q->top)
            q->columns = q->rows = 0;
        q->row_bytes = ((size_t)q->columns * (size_t)p->bits + 7) / 8;
    }
    return count;
}

static int decompress(png *p, const pass *passes, int count)
{
    for (int i = 0; i < count; i++)
        if (passes[i].columns > 0)
            p->raw_size += passes[i].rows * (passes[i].row_bytes + 1);
    if (p->raw_size / MXL_INFLATE_MOST > p->packed_size)
        return mxl_error("PNG: %zu bytes of compressed pixels are too few for %u x %u pixels",
                         p->packed_size, p->columns, p->rows);
    p->raw = mxl_alloc(p->raw_size);
    if (p->raw == NULL || mxl_inflate_zlib(p->packed, p->packed_size, p->raw, p->raw_size) != 0)
        return mxl_error_prefix("PNG");
    return 0;
}

/* ---- rows ---- */

static uint8_t paeth(int a, int b, int c)
{
    int to_a = abs(b - c), to_b = abs(a - c), to_c = abs(a + b - 2 * c);

    return (uint8_t)(to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c);
}

/* Adds to each byte of a row what was predicted of it, from the bytes `step` before it and of the
 * row above; before the first pixel and row there are zeros. */
static int unfilter(int kind, uint8_t *row, const uint8_t *above, size_t bytes, size_t step)
{
    if (kind > 4)
        return mxl_error("PNG: there is no prediction of kind %d", kind);
    if (kind == 1 || (kind == 4 && above == NULL)) {
        for (size_t i = step; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + row[i - step]);
    } else if (kind == 2) {
        for (size_t i = 0; above != NULL && i < bytes; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
    } else if (kind == 3) {
        for (size_t i = 0; i < bytes; i++)
            row[i] =
                (uint8_t)(row[i] +
                          ((i >= step ? row[i - step] : 0) + (above != NULL ? above[i] : 0)) / 2);
    } else if (kind == 4) {
        for (size_t i = 0; i < step && i < bytes; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
        for (size_t i = step; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + paeth(row[i - step], above[i], above[i - step]));
    }
    return 0;
}

/* ---- pixels ---- */

/* The sample at a place of a row, in 8 bits; of a palette its number. */
static int sample_at(const png *p, const uint8_t *row, size_t place)
{
    int value;

    if (p->depth == 8)
        return row[place];
    if (p->depth == 16)
        return row[2 * place];
    value =
        row[place * (size_t)p->depth / 8] >> (8 - p->depth - (int)(place * (size_t)p->depth % 8));
    value &= (1 << p->depth) - 1;
    return p->kind == PALETTE ? value : value * 255 / ((1 << p->depth) - 1);
}

/* 1 / gamma, rounded. */
static uint32_t inverse(uint32_t gamma)
{
    return (uint32_t)floor(1e10 / gamma + 0.5);
}

/* level ^ gamma, of levels from 0 to 1; the level itself, if gamma is about 1. */
static void fill_curve(uint16_t *curve, int levels, int most, uint32_t gamma)
{
    bool bent = gamma < GAMMA_ONE - GAMMA_NEAR || gamma > GAMMA_ONE + GAMMA_NEAR;

    for (int i = 0; i < levels; i++) {
        double level = (double)i / (levels - 1);

        curve[i] = (uint16_t)floor(most * (bent ? pow(level, gamma * 1e-5) : level) + 0.5);
    }
}

/* Makes the curves for gray levels of an image that says its gamma. -1 with the error set. */
static int make_curves(png *p)
{
    int unmeant = p->meant == 0 ? 0 : p->depth - p->meant, most = p->depth < 16 ? 255 : 65535;
    int shift = p->depth < 16           ? 0
                : unmeant < LEAST_SHIFT ? LEAST_SHIFT
                : unmeant > MOST_SHIFT  ? MOST_SHIFT
                                        : unmeant;
    int levels = (most + 1) >> shift;
    uint32_t back = p->gamma == 0 ? GAMMA_ONE : inverse(p->gamma);

    if (p->kind == GRAY || p->kind == GRAY_ALPHA || p->gamma == 0 ||
        (p->gamma >= GAMMA_ONE - GAMMA_NEAR && p->gamma <= GAMMA_ONE + GAMMA_NEAR &&
         back >= GAMMA_ONE - GAMMA_NEAR && back <= GAMMA_ONE + GAMMA_NEAR))
        return 0;
    p->light = mxl_alloc(sizeof(curves));
    if (p->light == NULL)
        return -1;
    p->light->shift = shift;
    fill_curve(p->light->to, levels, most, back);
    fill_curve(p->light->from, levels, most, inverse(back));
    return 0;
}

/* The gray of a colour by its light. Gray colours stay. */
static uint8_t gray_of_light(const png *p, const uint32_t *rgb)
{
    int shift = p->light->shift, cut = p->depth < 16 ? 0 : 8;
    const uint16_t *to = p->light->to;
    uint32_t light;

    if (rgb[0] == rgb[1] && rgb[0] == rgb[2])
        return (uint8_t)(rgb[0] >> cut);
    light = (to[rgb[0] >> shift] * 9797u + to[rgb[1] >> shift] * 19234u +
             to[rgb[2] >> shift] * 3737u + 16384) >>
            15;
    return (uint8_t)(p->light->from[light >> shift] >> cut);
}

/* The gray of a colour, with the weights that OpenCV gives libpng; of 16 bits before they are cut.
 */
static uint8_t gray_of(const png *p, const uint8_t *row, size_t place, const uint8_t *rgb)
{
    const uint8_t *wide = row + 2 * place;

    if (p->light != NULL && p->depth < 16)
        return gray_of_light(p, (const uint32_t[]){rgb[0], rgb[1], rgb[2]});
    if (p->light != NULL)
        return gray_of_light(p, (const uint32_t[]){(uint32_t)wide[0] << 8 | wide[1],
                                                   (uint32_t)wide[2] << 8 | wide[3],
                                                   (uint32_t)wide[4] << 8 | wide[5]});
    if (p->depth < 16)
        return (uint8_t)((rgb[0] * 9797 + rgb[1] * 19234 + rgb[2] * 3737) >> 15);
    return (uint8_t)(((wide[0] << 8 | wide[1]) * 9797u + (wide[2] << 8 | wide[3]) * 19234u +
                      (wide[4] << 8 | wide[5]) * 3737u + 16384) >>
                     23);
}

/* Writes a pixel as one or three bytes. */
static int put_pixel(const png *p, const uint8_t *row, size_t x, uint8_t *to, bool color)
{
    size_t place = x * (size_t)(p->bits / p->depth);
    int sample = sample_at(p, row, place);
    uint8_t rgb[3] = {(uint8_t)sample, (uint8_t)sample, (uint8_t)sample};

    if (p->kind == PALETTE) {
        if (sample >= p->colors)
            return mxl_error("PNG: color %d of a palette of %d", sample, p->colors);
        memcpy(rgb, p->palette[sample], 3);
    } else if (p->kind == RGB || p->kind == RGB_ALPHA) {
        rgb[1] = (uint8_t)sample_at(p, row, place + 1);
        rgb[2] = (uint8_t)sample_at(p, row, place + 2);
    }
    if (color)
        memcpy(to, rgb, 3);
    else if (p->kind == GRAY || p->kind == GRAY_ALPHA)
        *to = rgb[0];
    else
        *to = gray_of(p, row, place, rgb);
    return 0;
}

static int put_pass(const png *p, const pass *q, uint8_t **raw, bool color, mxl_bitmap *image)
{
    size_t step = p->bits >= 8 ? (size_t)p->bits / 8 : 1, channels = color ? 3 : 1;
    uint8_t *above = NULL;

    for (uint32_t y = 0; y < q->rows; y++) {
        uint8_t *row = *raw + 1;
        uint8_t *to = image->bytes +
                      (((size_t)q->top + (size_t)y * q->down) * p->columns + q->left) * channels;

        if (unfilter(**raw, row, above, q->row_bytes, step) != 0)
            return -1;
        if (color && p->kind == RGB && p->depth == 8 && !p->interlaced)
            memcpy(to, row, q->row_bytes);
        else
            for (uint32_t x = 0; x < q->columns; x++, to += q->right * channels)
                if (put_pixel(p, row, x, to, color) != 0)
                    return -1;
        above = row;
        *raw += 1 + q->row_bytes;
    }
    return 0;
}

int mxl_png_decode(const uint8_t *data, size_t size, bool color, mxl_bitmap *image)
{
    png p = {.data = data, .size = size};
    pass passes[7];
    uint8_t *raw;
    int count, status = -1;

    if (read_chunks(&p) != 0 || (!color && make_curves(&p) != 0))
        goto done;
    count = passes_of(&p, passes);
    if (decompress(&p, passes, count) != 0 ||
        mxl_bitmap_make(image, p.rows, p.columns, color ? 3 : 1) != 0)
        goto done;
    raw = p.raw;
    status = 0;
    for (int i = 0; i < count && status == 0; i++)
        if (passes[i].columns > 0)
            status = put_pass(&p, &passes[i], &raw, color, image);
done:
    mxl_free(p.packed, p.packed_room);
    mxl_free(p.raw, p.raw_size);
    mxl_free(p.light, sizeof(curves));
    return status;
}
