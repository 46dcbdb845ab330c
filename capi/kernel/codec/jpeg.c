/* JPEG: markers and tables of sequential and progressive files of 8 bits with Huffman codes; see
 * jpeg.h. */
#include "kernel/codec/jpeg.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"

const uint8_t mxl_jpeg_order[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* An image has about ten; thousands would take long to read. */
enum { MOST_SCANS = 500 };

/* A marker's content. */
typedef struct segment {
    const uint8_t *bytes;
    size_t size;
} segment;

static uint32_t word(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

/* ---- tables ---- */

static int read_quantisation(mxl_jpeg *j, segment s)
{
    while (s.size > 0) {
        bool wide = s.bytes[0] >> 4 != 0;
        int number = s.bytes[0] & 15;
        size_t bytes = wide ? 129 : 65;

        if (s.bytes[0] >> 4 > 1 || number > 3 || s.size < bytes)
            return mxl_error("JPEG: a damaged table of quantisation");
        for (int i = 0; i < 64; i++)
            j->tables[number][mxl_jpeg_order[i]] =
                (uint16_t)(wide ? word(s.bytes + 1 + 2 * i) : s.bytes[1 + i]);
        j->has_table[number] = true;
        s.bytes += bytes;
        s.size -= bytes;
    }
    return 0;
}

static int read_codes(mxl_jpeg *j, segment s)
{
    while (s.size > 0) {
        int symbols = 0, kind = s.bytes[0] >> 4, number = s.bytes[0] & 15;

        if (s.size < 17 || kind > 1 || number > 3)
            return mxl_error("JPEG: a damaged table of codes");
        for (int i = 1; i <= 16; i++)
            symbols += s.bytes[i];
        if (symbols > 256 || (size_t)symbols > s.size - 17)
            return mxl_error("JPEG: a damaged table of codes");
        if (mxl_jpeg_make_codes(kind == 0 ? &j->dc[number] : &j->ac[number], s.bytes + 1, symbols,
                                s.bytes + 17) != 0)
            return -1;
        s.bytes += 17 + symbols;
        s.size -= 17 + (size_t)symbols;
    }
    return 0;
}

/* ---- the frame ---- */

/* A block of memory for the coefficients of each component. There is a bit of the file for each
 * block, at least. */
static int make_coefficients(mxl_jpeg *j)
{
    int64_t units_across = (j->columns + 8 * j->across - 1) / (8 * j->across);
    int64_t units_down = (j->rows + 8 * j->down - 1) / (8 * j->down);

    for (int i = 0; i < j->components; i++) {
        mxl_jpeg_component *c = &j->component[i];

        c->columns = (j->columns * c->across + j->across - 1) / j->across;
        c->rows = (j->rows * c->down + j->down - 1) / j->down;
        c->blocks = (c->columns + 7) / 8;
        c->block_rows = (c->rows + 7) / 8;
        c->stride = units_across * c->across;
        c->stored_rows = units_down * c->down;
        if ((uint64_t)(c->blocks * c->block_rows) / 8 > j->size)
            return mxl_error("JPEG: %zu bytes are too few for %lld x %lld pixels", j->size,
                             (long long)j->columns, (long long)j->rows);
        c->coefficients = mxl_alloc_zero((size_t)(c->stride * c->stored_rows) * 128);
        if (c->coefficients == NULL)
            return -1;
    }
    return 0;
}

static int read_component(mxl_jpeg *j, mxl_jpeg_component *c, const uint8_t *p)
{
    c->id = p[0];
    c->across = p[1] >> 4;
    c->down = p[1] & 15;
    c->table = p[2];
    if (c->across < 1 || c->across > 4 || c->down < 1 || c->down > 4 || c->table > 3)
        return mxl_error("JPEG: a damaged frame");
    if (c->across > j->across)
        j->across = c->across;
    if (c->down > j->down)
        j->down = c->down;
    return 0;
}

static int read_frame(mxl_jpeg *j, segment s, int marker)
{
    if (j->components > 0)
        return mxl_error("JPEG: there are two frames");
    if (marker > 0xc2)
        return mxl_error("JPEG: the coding of marker 0x%x (lossless, arithmetic, hierarchical) is "
                         "not supported",
                         marker);
    if (s.size < 6 || s.size < 6 + 3 * (size_t)s.bytes[5])
        return mxl_error("JPEG: a damaged frame");
    if (s.bytes[0] != 8)
        return mxl_error("JPEG: samples of %d bits; only those of 8 are supported", s.bytes[0]);
    if (s.bytes[5] != 1 && s.bytes[5] != 3 && s.bytes[5] != 4)
        return mxl_error("JPEG: %d components; only 1, 3 and 4 are supported", s.bytes[5]);
    j->rows = word(s.bytes + 1);
    j->columns = word(s.bytes + 3);
    if (j->rows == 0 || j->columns == 0 || j->rows * j->columns > MXL_BITMAP_MOST)
        return mxl_error("JPEG: %lld x %lld pixels", (long long)j->columns, (long long)j->rows);
    j->components = s.bytes[5];
    j->progressive = marker == 0xc2;
    for (int i = 0; i < j->components; i++)
        if (read_component(j, &j->component[i], s.bytes + 6 + 3 * i) != 0)
            return -1;
    if (j->components == 1) /* its units are blocks, whatever it says */
        j->across = j->down = j->component[0].across = j->component[0].down = 1;
    for (int i = 0; i < j->components; i++)
        if (j->across % j->component[i].across != 0 || j->down % j->component[i].down != 0)
            return mxl_error("JPEG: samples of a fraction of a pixel are not supported");
    return make_coefficients(j);
}

/* ---- scans ---- */

static mxl_jpeg_component *find_component(mxl_jpeg *j, int id)
{
    for (int i = 0; i < j->components; i++)
        if (j->component[i].id == id)
            return &j->component[i];
    return NULL;
}

static int check_scan(const mxl_jpeg *j, const mxl_jpeg_scan *scan)
{
    bool whole = scan->first == 0 && scan->last == 63 && scan->high == 0 && scan->low == 0;

    if (!j->progressive)
        return whole ? 0 : mxl_error("JPEG: a damaged scan");
    if (scan->first > scan->last || scan->last > 63 || scan->low > 13 ||
        (scan->first == 0 && scan->last > 0) || (scan->first > 0 && scan->count > 1) ||
        (scan->high != 0 && scan->high != scan->low + 1))
        return mxl_error("JPEG: a damaged scan");
    return 0;
}

/* Checks a component of a scan, whose tables must be there. */
static int add_component(mxl_jpeg *j, mxl_jpeg_scan *scan, const uint8_t *p)
{
    mxl_jpeg_component *c = find_component(j, p[0]);

    if (c == NULL || p[1] >> 4 > 3 || (p[1] & 15) > 3)
        return mxl_error("JPEG: a damaged scan");
    for (int i = 0; i < scan->count; i++)
        if (scan->component[i] == c)
            return mxl_error("JPEG: a component is in a scan twice");
    if (!c->seen) {
        if (!j->has_table[c->table])
            return mxl_error("JPEG: a table of quantisation is missing");
        memcpy(c->quantisation, j->tables[c->table], sizeof(c->quantisation));
        c->seen = true;
    }
    c->dc = p[1] >> 4;
    c->ac = p[1] & 15;
    scan->component[scan->count++] = c;
    return 0;
}

static int read_scan(mxl_jpeg *j, segment s)
{
    mxl_jpeg_scan scan = {0};
    int count = s.size > 0 ? s.bytes[0] : 0;
    const uint8_t *rest;

    if (j->components == 0)
        return mxl_error("JPEG: a scan before the frame");
    if (count < 1 || count > j->components || s.size < 4 + 2 * (size_t)count)
        return mxl_error("JPEG: a damaged scan");
    if (++j->scans > MOST_SCANS)
        return mxl_error("JPEG: more than %d scans", MOST_SCANS);
    for (int i = 0; i < count; i++)
        if (add_component(j, &scan, s.bytes + 1 + 2 * i) != 0)
            return -1;
    rest = s.bytes + 1 + 2 * count;
    scan.first = rest[0];
    scan.last = rest[1];
    scan.high = rest[2] >> 4;
    scan.low = rest[2] & 15;
    if (check_scan(j, &scan) != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        bool needs_dc = scan.first == 0 && scan.high == 0, needs_ac = scan.last > 0;

        if ((needs_dc && !j->dc[scan.component[i]->dc].defined) ||
            (needs_ac && !j->ac[scan.component[i]->ac].defined))
            return mxl_error("JPEG: a table of codes is missing");
    }
    return mxl_jpeg_read_scan(j, &scan);
}

/* ---- EXIF ---- */

static uint32_t exif_number(const uint8_t *p, int bytes, bool low_first)
{
    uint32_t value = 0;

    for (int i = 0; i < bytes; i++)
        value = value << 8 | p[low_first ? bytes - 1 - i : i];
    return value;
}

/* Which way the image is turned: tag 0x112 of the first directory, 1 to 8. As in OpenCV 3.4, EXIF
 * data count only as the first segment of the file. */
static void read_exif(mxl_jpeg *j, segment s)
{
    const uint8_t *tiff = s.bytes + 6;
    uint32_t at, entries;
    bool low_first;
    size_t size;

    if (s.bytes != j->data + 6 || s.size < 14 || memcmp(s.bytes, "Exif\0\0", 6) != 0)
        return;
    size = s.size - 6;
    low_first = tiff[0] == 'I';
    at = exif_number(tiff + 4, 4, low_first);
    if (at > size || size - at < 2)
        return;
    entries = exif_number(tiff + at, 2, low_first);
    for (at += 2; entries > 0 && size - at >= 12; entries--, at += 12) {
        uint32_t value = exif_number(tiff + at + 8, 2, low_first);

        if (exif_number(tiff + at, 2, low_first) == 0x112 && value >= 1 && value <= 8)
            j->orientation = (int)value;
    }
}

/* ---- markers ---- */

static int read_segment(mxl_jpeg *j, int marker, segment s)
{
    switch (marker) {
    case 0xdb:
        return read_quantisation(j, s);
    case 0xc4:
        return read_codes(j, s);
    case 0xda:
        return read_scan(j, s);
    case 0xdd:
        if (s.size < 2)
            return mxl_error("JPEG: a damaged interval");
        j->restart = (int)word(s.bytes);
        return 0;
    case 0xe0:
        j->jfif = j->jfif || (s.size >= 5 && memcmp(s.bytes, "JFIF", 5) == 0);
        return 0;
    case 0xe1:
        read_exif(j, s);
        return 0;
    case 0xee:
        if (s.size >= 12 && memcmp(s.bytes, "Adobe", 5) == 0)
            j->transform = s.bytes[11];
        return 0;
    default:
        break;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc8 && marker != 0xcc)
        return read_frame(j, s, marker);
    return 0;
}

/* Reads markers up to the end of the image. */
static int read_markers(mxl_jpeg *j)
{
    for (j->at = 2;;) {
        size_t length;
        int marker;

        while (j->at < j->size && j->data[j->at] == 0xff)
            j->at++;
        if (j->at >= j->size || j->at < 3)
            return mxl_error("JPEG: it ends at byte %zu, before the end of the image", j->size);
        marker = j->data[j->at++];
        if (j->data[j->at - 2] != 0xff)
            return mxl_error("JPEG: there is no marker at byte %zu", j->at - 1);
        if (marker == 0xd9)
            return 0;
        if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8))
            continue;
        length = j->size - j->at >= 2 ? word(j->data + j->at) : 0;
        if (length < 2 || length > j->size - j->at)
            return mxl_error("JPEG: it ends at byte %zu, within marker 0x%x", j->size, marker);
        j->at += length;
        if (read_segment(j, marker, (segment){j->data + j->at - length + 2, length - 2}) != 0)
            return -1;
    }
}

static int check_complete(const mxl_jpeg *j)
{
    if (j->components == 0)
        return mxl_error("JPEG: there is no image");
    for (int i = 0; i < j->components; i++)
        if (!j->component[i].seen)
            return mxl_error("JPEG: component %d has no scan", j->component[i].id);
    return 0;
}

int mxl_jpeg_decode(const uint8_t *data, size_t size, bool color, mxl_bitmap *image)
{
    mxl_jpeg *j = mxl_alloc_zero(sizeof(*j));
    int status = -1;

    if (j == NULL)
        return -1;
    j->data = data;
    j->size = size;
    j->transform = -1;
    j->orientation = 1;
    if (read_markers(j) == 0 && check_complete(j) == 0)
        status = mxl_jpeg_pixels(j, color, image);
    for (int i = 0; i < j->components; i++)
        mxl_free(j->component[i].coefficients,
                 (size_t)(j->component[i].stride * j->component[i].stored_rows) * 128);
    mxl_free(j, sizeof(*j));
    return status;
}
