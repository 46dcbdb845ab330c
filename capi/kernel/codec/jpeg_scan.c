/* The coefficients of a scan of a JPEG: codes, bits, and the four kinds of progressive scans; see
 * jpeg.h. */
#include <string.h>

#include "base/error.h"
#include "kernel/codec/jpeg.h"

typedef struct reader {
    const uint8_t *in, *end; /* the data up to the next marker are before `end` */
    uint64_t bits;     /* read and not used, in the lowest `held` bits, the next one highest */
    int held, missing; /* missing: bits that were taken for zeros behind the data */
    bool marker;       /* the data of this interval have been read */
    int64_t zeros;     /* blocks without further coefficients (progressive) */
} reader;

/* ---- bits ---- */

/* At least 32 bits are there afterwards; behind the data they are zeros. */
static inline void refill(reader *r)
{
    while (r->held <= 48) {
        uint32_t byte = 0;

        if (!r->marker && r->in < r->end && *r->in != 0xff) {
            byte = *r->in++;
        } else if (!r->marker && r->end - r->in >= 2 && r->in[1] == 0) {
            byte = 0xff;
            r->in += 2;
        } else {
            r->marker = true;
            r->missing += 8;
        }
        r->bits = r->bits << 8 | byte;
        r->held += 8;
    }
}

static inline uint32_t peek(const reader *r, int n)
{
    return (uint32_t)(r->bits >> (r->held - n)) & ((1u << n) - 1);
}

static inline uint32_t take(reader *r, int n)
{
    uint32_t value;

    if (r->held < 32)
        refill(r);
    value = peek(r, n);
    r->held -= n;
    return value;
}

static inline bool overrun(const reader *r)
{
    return r->missing > r->held;
}

/* ---- codes ---- */

int mxl_jpeg_make_codes(mxl_jpeg_codes *codes, const uint8_t *counts, int symbols,
                        const uint8_t *symbol)
{
    int32_t code = 0, place = 0;

    memset(codes, 0, sizeof(*codes));
    for (int bits = 1; bits <= 16; bits++) {
        codes->start[bits] = place - code;
        codes->last[bits] = counts[bits - 1] > 0 ? code + counts[bits - 1] - 1 : -1;
        for (int i = 0; i < counts[bits - 1]; i++, code++, place++) {
            if (code >= 1 << bits)
                return mxl_error("JPEG: codes clash");
            if (bits > MXL_JPEG_FAST)
                continue;
            for (int k = 0; k < 1 << (MXL_JPEG_FAST - bits); k++)
                codes->fast[(code << (MXL_JPEG_FAST - bits)) + k] =
                    (uint16_t)(bits << 8 | symbol[place]);
        }
        code <<= 1;
    }
    memcpy(codes->symbol, symbol, (size_t)symbols);
    codes->defined = true;
    return 0;
}

/* The next symbol; -1 for no code. */
static inline int decode(reader *r, const mxl_jpeg_codes *codes)
{
    int entry;

    if (r->held < 32)
        refill(r);
    entry = codes->fast[peek(r, MXL_JPEG_FAST)];
    if (entry != 0) {
        r->held -= entry >> 8;
        return entry & 255;
    }
    for (int bits = MXL_JPEG_FAST + 1; bits <= 16; bits++) {
        int32_t code = (int32_t)peek(r, bits);

        if (code <= codes->last[bits]) {
            r->held -= bits;
            return codes->symbol[(codes->start[bits] + code) & 255];
        }
    }
    return -1;
}

/* A number of n bits, of which half of those without sign are negative. */
static inline int extend(reader *r, int n)
{
    int value;

    if (n == 0)
        return 0;
    value = (int)take(r, n);
    return value < 1 << (n - 1) ? value - (1 << n) + 1 : value;
}

static int damaged(const char *what)
{
    return mxl_error("JPEG: it is damaged: %s", what);
}

/* ---- blocks ---- */

/* The DC coefficient by its difference from the one before; low: the bits that are left out. */
static int read_dc(reader *r, const mxl_jpeg *j, mxl_jpeg_component *c, int low, int16_t *block)
{
    int bits = decode(r, &j->dc[c->dc]);

    if (bits < 0 || bits > 15)
        return damaged("there is no such code");
    c->previous = (int16_t)(c->previous + extend(r, bits));
    block[0] = (int16_t)((unsigned)c->previous << low);
    return 0;
}

static int read_whole(reader *r, const mxl_jpeg *j, mxl_jpeg_component *c, int16_t *block)
{
    const mxl_jpeg_codes *codes = &j->ac[c->ac];

    if (read_dc(r, j, c, 0, block) != 0)
        return -1;
    for (int k = 1; k < 64; k++) {
        int symbol = decode(r, codes), run = symbol >> 4, bits = symbol & 15;

        if (symbol < 0)
            return damaged("there is no such code");
        if (bits == 0) {
            if (run != 15)
                return 0;
            k += 15;
            continue;
        }
        k += run;
        if (k > 63)
            return damaged("a block has more than 64 coefficients");
        block[mxl_jpeg_order[k]] = (int16_t)extend(r, bits);
    }
    return 0;
}

/* The first bits of some coefficients other than DC. */
static int read_first(reader *r, const mxl_jpeg_codes *codes, const mxl_jpeg_scan *scan,
                      int16_t *block)
{
    if (r->zeros > 0) {
        r->zeros--;
        return 0;
    }
    for (int k = scan->first; k <= scan->last; k++) {
        int symbol = decode(r, codes), run = symbol >> 4, bits = symbol & 15;

        if (symbol < 0)
            return damaged("there is no such code");
        if (bits == 0 && run != 15) {
            r->zeros = (1 << run) - 1 + (int64_t)(run > 0 ? take(r, run) : 0);
            return 0;
        }
        k += run;
        if (bits == 0)
            continue;
        if (k > scan->last)
            return damaged("a block has too many coefficients");
        block[mxl_jpeg_order[k]] = (int16_t)((unsigned)extend(r, bits) << scan->low);
    }
    return 0;
}

/* Another bit of a coefficient that is not 0. */
static inline void refine(reader *r, int16_t *coefficient, int low)
{
    int bit = 1 << low;

    if (take(r, 1) != 0 && (*coefficient & bit) == 0)
        *coefficient = (int16_t)(*coefficient + (*coefficient > 0 ? bit : -bit));
}

/* Another bit of some coefficients: of those that are not 0 as they come, of others by codes. */
static int read_more(reader *r, const mxl_jpeg_codes *codes, const mxl_jpeg_scan *scan,
                     int16_t *block)
{
    int k = scan->first;

    while (r->zeros == 0 && k <= scan->last) {
        int symbol = decode(r, codes), run = symbol >> 4, value = 0;

        if (symbol < 0 || (symbol & 15) > 1)
            return damaged("there is no such code");
        if ((symbol & 15) == 1)
            value = take(r, 1) != 0 ? 1 << scan->low : -(1 << scan->low);
        else if (run != 15) {
            r->zeros = (1 << run) + (int64_t)(run > 0 ? take(r, run) : 0);
            break;
        }
        for (; k <= scan->last; k++) {
            int16_t *coefficient = &block[mxl_jpeg_order[k]];

            if (*coefficient != 0)
                refine(r, coefficient, scan->low);
            else if (run-- == 0)
                break;
        }
        if (value != 0) {
            if (k > scan->last)
                return damaged("a block has too many coefficients");
            block[mxl_jpeg_order[k]] = (int16_t)value;
        }
        k++;
    }
    if (r->zeros > 0) {
        for (; k <= scan->last; k++)
            if (block[mxl_jpeg_order[k]] != 0)
                refine(r, &block[mxl_jpeg_order[k]], scan->low);
        r->zeros--;
    }
    return 0;
}

static int read_block(reader *r, const mxl_jpeg *j, const mxl_jpeg_scan *scan,
                      mxl_jpeg_component *c, int16_t *block)
{
    int status = 0;

    if (!j->progressive)
        status = read_whole(r, j, c, block);
    else if (scan->first > 0)
        status = scan->high == 0 ? read_first(r, &j->ac[c->ac], scan, block)
                                 : read_more(r, &j->ac[c->ac], scan, block);
    else if (scan->high == 0)
        status = read_dc(r, j, c, scan->low, block);
    else if (take(r, 1) != 0)
        block[0] = (int16_t)(block[0] | 1 << scan->low);
    if (status == 0 && overrun(r))
        return damaged("a scan ends too early");
    return status;
}

/* ---- scans ---- */

/* Begins another interval behind the restart marker that must be here. */
static int restart(reader *r, const mxl_jpeg_scan *scan)
{
    while (r->end - r->in >= 2 && r->in[0] == 0xff && r->in[1] == 0xff)
        r->in++;
    if (r->end - r->in < 2 || r->in[0] != 0xff || r->in[1] < 0xd0 || r->in[1] > 0xd7)
        return damaged("a restart marker is missing");
    *r = (reader){.in = r->in + 2, .end = r->end};
    for (int i = 0; i < scan->count; i++)
        scan->component[i]->previous = 0;
    return 0;
}

static int16_t *block_at(const mxl_jpeg_component *c, int64_t x, int64_t y)
{
    return c->coefficients + (y * c->stride + x) * 64;
}

/* A unit of several components has some blocks of each; of one component it is a block. */
static int read_unit(reader *r, const mxl_jpeg *j, const mxl_jpeg_scan *scan, int64_t x, int64_t y)
{
    mxl_jpeg_component *c = scan->component[0];

    if (scan->count == 1)
        return read_block(r, j, scan, c, block_at(c, x, y));
    for (int i = 0; i < scan->count; i++) {
        c = scan->component[i];
        for (int v = 0; v < c->down; v++)
            for (int h = 0; h < c->across; h++)
                if (read_block(r, j, scan, c, block_at(c, x * c->across + h, y * c->down + v)) != 0)
                    return -1;
    }
    return 0;
}

int mxl_jpeg_read_scan(mxl_jpeg *j, const mxl_jpeg_scan *scan)
{
    reader r = {.in = j->data + j->at, .end = j->data + j->size};
    const mxl_jpeg_component *only = scan->component[0];
    int64_t columns = (j->columns + 8 * j->across - 1) / (8 * j->across), units;
    int64_t rows = (j->rows + 8 * j->down - 1) / (8 * j->down);

    if (scan->count == 1) {
        columns = only->blocks;
        rows = only->block_rows;
    }
    for (int i = 0; i < scan->count; i++)
        scan->component[i]->previous = 0;
    units = columns * rows;
    for (int64_t i = 0; i < units; i++) {
        if (j->restart > 0 && i > 0 && i % j->restart == 0 && restart(&r, scan) != 0)
            return -1;
        if (read_unit(&r, j, scan, i % columns, i / columns) != 0)
            return -1;
    }
    j->at = (size_t)(r.in - j->data);
    /* What follows the last bits up to a marker is skipped. */
    while (j->at + 1 < j->size && (j->data[j->at] != 0xff || j->data[j->at + 1] == 0 ||
                                   (j->data[j->at + 1] >= 0xd0 && j->data[j->at + 1] <= 0xd7)))
        j->at++;
    return 0;
}
