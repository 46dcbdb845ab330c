/* See convolve.h. The channels of a pixel follow each other. A tile is up to fourteen neighbouring
 * pixels of a row of y with 32 of its channels; the bytes under the rows of the kernel, which are
 * runs, meet a panel of weights. Where rows are short, the runs of each pixel are copied to one row
 * first. Bytes with a sign get 128 added in the registers, which the bias takes back. */
#include "kernel/quantized/convolve.h"

#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/quantized/fused.h"
#include "kernel/quantized/job.h"
#include "kernel/quantized/turn.h"
#include "kernel/target.h"

enum {
    R = MXL_DOTS_ROWS,
    N = MXL_DOTS_COLUMNS,
    GRAIN = 1 << 18, /* products that are worth a thread */
    CHUNK = 1 << 17, /* bytes of x that stay in the cache beside weights */
    SHORT = 5,       /* rows of fewer pixels do not keep the processor busy */
    OVER = 64        /* bytes that are read too much */
};

/* ---- weights ---- */

void mxl_quantized_weights_free(mxl_quantized_weights *weights)
{
    if (weights != NULL)
        mxl_free(weights, weights->bytes);
}

/* Taps of a run: those of a row of the kernel, where their bytes follow each other. */
static int64_t run_taps(const mxl_conv *v)
{
    return v->groups == 1 && v->dilate[2] == 1 ? v->kernel[2] : 1;
}

/* A panel of up to N channels, from `w` on: runs, within them taps, and within these channels. */
static void pack_panel(const mxl_conv *v, const mxl_quantized_weights *made, const int8_t *w,
                       int64_t n, int8_t *to, int32_t *sums)
{
    int64_t taps = mxl_quantized_taps(v), each = run_taps(v);

    memset(to, 0, (size_t)(made->runs * made->quads * N * 4));
    memset(sums, 0, N * sizeof(*sums));
    for (int64_t k = 0; k < n; k++) {
        for (int64_t t = 0; t < taps; t++) {
            for (int64_t c = 0; c < v->in; c++) {
                int8_t one = w[(k * v->in + c) * taps + t];
                int64_t at = t / each * made->quads * 4 + t % each * v->in + c;

                to[at / 4 * N * 4 + k * 4 + at % 4] = one;
                sums[k] += 128 * one;
            }
        }
    }
}

mxl_quantized_weights *mxl_quantized_weights_new(const mxl_conv *v, const int8_t *w)
{
    bool depthwise = mxl_quantized_is_depthwise(v);
    mxl_quantized_weights as = {.runs = mxl_quantized_taps(v) / run_taps(v),
                                .quads = (run_taps(v) * v->in + 3) / 4,
                                .panels = depthwise ? 1 : (v->out + N - 1) / N};
    int64_t groups = depthwise ? (v->groups + N - 1) / N : v->groups;
    int64_t panel = as.runs * as.quads * N * 4, row = v->in * mxl_quantized_taps(v);
    size_t sums = (size_t)(groups * as.panels * N) * sizeof(int32_t);
    size_t packed =
        depthwise ? mxl_quantized_depthwise_bytes(v) : (size_t)(groups * as.panels * panel);
    mxl_quantized_weights *made;

    as.bytes = sizeof(as) + 64 + sums + packed;
    made = mxl_alloc(as.bytes);
    if (made == NULL)
        return NULL;
    *made = as;
    made->sums = (int32_t *)(void *)((char *)made + 64);
    made->packed = (int8_t *)made->sums + sums;
    if (depthwise) {
        mxl_quantized_depthwise_pack(v, w, made->packed, made->sums);
        return made;
    }
    for (int64_t i = 0; i < groups * as.panels; i++) {
        int64_t k = i % as.panels * N, n = v->out - k < N ? v->out - k : N;

        pack_panel(v, made, w + (i / as.panels * v->out + k) * row, n, made->packed + i * panel,
                   made->sums + i * N);
    }
    return made;
}

/* ---- images with padding ---- */

/* A job, and how tiles read x. */
typedef struct tiles {
    const mxl_quantized_job *k;
    bool turns;           /* x has the channels as the second axis */
    int64_t size[3];      /* of a padded image */
    const uint8_t *image; /* padded images: x itself, or `padded` */
    uint8_t *padded;
    size_t bytes, list_bytes;
    int64_t *offset; /* [runs] from a pixel's first byte */
    mxl_dots_runs runs;
    int64_t *place;             /* [count] where the rows of each tile begin */
    int64_t width, parts, part; /* pixels of a row, tiles of a row, and pixels of a tile */
    int64_t count;              /* of tiles */
    uint8_t *columns;           /* rows of each tile; NULL: they are in the images */
    int64_t step, tile_bytes;   /* between rows; between tiles in `columns` */
    size_t column_bytes;
} tiles;

/* Ranges count rows of padded images. */
static void pad_rows(void *data, int64_t begin, int64_t end)
{
    const tiles *t = data;
    const mxl_conv *v = t->k->v;
    int64_t channels = t->k->x_channels, side = v->pad[2] * channels, width = v->x_size[2];
    int64_t plane = v->x_size[0] * v->x_size[1] * width, row = t->size[2] * channels;

    for (int64_t i = begin; i < end; i++) {
        int64_t d = i / t->size[1] % t->size[0] - v->pad[0], h = i % t->size[1] - v->pad[1];
        int64_t image = i / t->size[1] / t->size[0], at = (d * v->x_size[1] + h) * width;
        uint8_t *to = t->padded + i * row;

        if (d < 0 || d >= v->x_size[0] || h < 0 || h >= v->x_size[1]) {
            memset(to, 0, (size_t)row);
            continue;
        }
        memset(to, 0, (size_t)side);
        memset(to + row - side, 0, (size_t)side);
        if (t->turns)
            mxl_quantized_turn_line(channels, width,
                                    (const char *)t->k->x + image * plane * channels + at, plane,
                                    (char *)to + side);
        else
            memcpy(to + side, t->k->x + (image * plane + at) * channels,
                   (size_t)(width * channels));
    }
}

/* Sets `image`, where `over` bytes may be read behind the end. -1 with the error set. */
static int find_images(tiles *t, bool over)
{
    const mxl_conv *v = t->k->v;
    bool pads = t->turns || over;
    int64_t rows;

    for (int i = 0; i < 3; i++) {
        t->size[i] = v->x_size[i] + 2 * v->pad[i];
        pads = pads || v->pad[i] > 0;
    }
    t->image = t->k->x;
    if (!pads)
        return 0;
    rows = v->batch * t->size[0] * t->size[1];
    t->bytes = (size_t)(rows * t->size[2] * t->k->x_channels) + OVER;
    t->padded = mxl_alloc(t->bytes);
    if (t->padded == NULL)
        return -1;
    memset(t->padded + t->bytes - OVER, 0, OVER);
    mxl_parallel_for(rows, CHUNK / (t->size[2] * t->k->x_channels + 1) + 1, pad_rows, t);
    t->image = t->padded;
    return 0;
}

/* ---- tiles ---- */

/* The first byte of pixel p of y in the padded images. */
static const uint8_t *under_pixel(const tiles *t, int64_t p)
{
    const mxl_conv *v = t->k->v;
    mxl_quantized_pixel o = mxl_quantized_pixel_of(t->k, p);
    int64_t d = o.image * t->size[0] + o.at[0] * v->stride[0], h = o.at[1] * v->stride[1];

    return t->image +
           ((d * t->size[1] + h) * t->size[2] + o.at[2] * v->stride[2]) * t->k->x_channels;
}

/* Ranges count tiles, of all groups: their rows are copied to `columns`. (All copies of a tile are
 * before those of the next row, over whose beginning they may go.) */
MXL_INLINE void copy_columns_at(int level, const tiles *t, int64_t begin, int64_t end)
{
    const mxl_quantized_job *k = t->k;
    int64_t run = k->w->quads * 4, whole = run / OVER * OVER;

    (void)level;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % t->count * t->part, group = i / t->count;
        uint8_t *to = t->columns + i * t->tile_bytes;

        for (int64_t p = first; p < first + t->part && p < k->pixels; p++) {
            const uint8_t *from = under_pixel(t, p) + group * k->v->in;

            for (int64_t r = 0; r < k->w->runs; r++, to += run) {
                for (int64_t c = 0; c < whole; c += OVER)
                    memcpy(to + c, from + t->offset[r] + c, OVER);
                memcpy(to + whole, from + t->offset[r] + whole, (size_t)(run - whole));
            }
        }
    }
}
MXL_BY_LEVEL(copy_columns, (const tiles *t, int64_t begin, int64_t end), t, begin, end)

static void make_columns(void *data, int64_t begin, int64_t end)
{
    copy_columns(data, begin, end);
}

/* Tiles [from, to) of a panel, of all groups. */
static void run_some(const tiles *t, int64_t panel, int64_t from, int64_t to)
{
    const mxl_quantized_job *k = t->k;
    int64_t group = panel / k->w->panels, channel = panel % k->w->panels * N;
    int64_t start = from % t->parts * t->part, first = from / t->parts * t->width;
    int n = (int)(k->v->out - channel < N ? k->v->out - channel : N);
    const int8_t *w = k->w->packed + panel * k->w->runs * k->w->quads * N * 4;
    const uint8_t *rows = t->columns != NULL ? t->columns + group * t->count * t->tile_bytes
                                             : t->image + group * k->v->in;
    const int32_t *bias = k->bias + panel * N;
    mxl_quantized_factors factors;
    int32_t sums[R * N];
    bool fuses;

    channel += group * k->v->out;
    fuses = n > N / 2 && mxl_quantized_fuses(k->tail, &factors);
    for (int64_t i = from; i < to; i++) {
        int count = (int)(t->width - start < t->part ? t->width - start : t->part);
        int64_t at = (first + start) * k->channels + channel;

        if (fuses && count == R) {
            mxl_quantized_fused(&factors, n, &t->runs, rows + t->place[i], t->step, k->flip, w,
                                bias, (uint8_t *)k->y + at, k->channels);
        } else {
            mxl_dots_tile(count, n, &t->runs, rows + t->place[i], t->step, k->flip, w, sums);
            mxl_quantized_end(k->tail, count, n, sums, bias, k->y, at, k->channels);
        }
        start += t->part;
        if (start >= t->width) {
            start = 0;
            first += t->width;
        }
    }
}

/* Ranges count tiles, of all groups; all panels meet some tiles, whose bytes stay in the cache. */
static void run_pixels(void *data, int64_t begin, int64_t end)
{
    const tiles *t = data;
    int64_t panels = t->k->w->panels, most = CHUNK / (t->part * t->step + 1) + 1;

    while (begin < end) {
        int64_t group = begin / t->count, from = begin % t->count, to = from + most;

        to = to < t->count ? to : t->count;
        to = to < from + end - begin ? to : from + end - begin;
        for (int64_t p = group * panels; p < (group + 1) * panels; p++)
            run_some(t, p, from, to);
        begin += to - from;
    }
}

/* Ranges count panels, of all groups. */
static void run_panels(void *data, int64_t begin, int64_t end)
{
    const tiles *t = data;

    for (int64_t p = begin; p < end; p++)
        run_some(t, p, 0, t->count);
}

/* ---- the work ---- */

/* Sets the offsets of runs, and the places of tiles in the images. */
static void find_places(tiles *t)
{
    const mxl_quantized_job *k = t->k;
    const mxl_conv *v = k->v;
    int64_t each = run_taps(v);

    for (int64_t r = 0; r < k->w->runs; r++) {
        int64_t tap = r * each, w = tap % v->kernel[2], h = tap / v->kernel[2] % v->kernel[1];
        int64_t d = tap / v->kernel[2] / v->kernel[1];

        t->offset[r] =
            ((d * v->dilate[0] * t->size[1] + h * v->dilate[1]) * t->size[2] + w * v->dilate[2]) *
            k->x_channels;
    }
    for (int64_t i = 0; i < t->count; i += t->parts) {
        int64_t place = under_pixel(t, i / t->parts * t->width) - t->image;

        for (int64_t j = 0; j < t->parts; j++)
            t->place[i + j] = place + j * t->part * t->step;
    }
}

/* Copies the rows of tiles. -1 with the error set. */
static int find_columns(tiles *t)
{
    const mxl_quantized_job *k = t->k;
    int64_t count = k->v->groups * t->count;

    t->step = k->w->runs * k->w->quads * 4;
    t->tile_bytes = t->part * t->step;
    t->column_bytes = (size_t)(count * t->tile_bytes);
    t->columns = mxl_alloc(t->column_bytes);
    if (t->columns == NULL)
        return -1;
    mxl_parallel_for(count, GRAIN / (4 * t->tile_bytes + 1) + 1, make_columns, t);
    for (int64_t i = 0; i < t->count; i++)
        t->place[i] = i * t->tile_bytes;
    t->offset[0] = 0;
    t->runs = (mxl_dots_runs){1, k->w->runs * k->w->quads, t->offset};
    return 0;
}

/* -1 with the error set. */
static int plan_tiles(tiles *t)
{
    const mxl_quantized_job *k = t->k;
    const mxl_conv *v = k->v;
    bool is_point = mxl_quantized_taps(v) == 1, copies;

    for (int i = 0; i < 3; i++)
        is_point = is_point && v->stride[i] == 1 && v->pad[i] == 0;
    copies = !is_point && v->y_size[2] < SHORT;
    t->width = is_point || copies ? k->pixels : v->y_size[2];
    t->parts = (t->width + R - 1) / R;
    t->part = (t->width + t->parts - 1) / t->parts;
    t->count = k->pixels / t->width * t->parts;
    t->step = v->stride[2] * k->x_channels;
    t->list_bytes = (size_t)(k->w->runs + t->count) * sizeof(int64_t);
    t->offset = mxl_alloc(t->list_bytes);
    if (t->offset == NULL || find_images(t, run_taps(v) * v->in % 4 != 0) != 0)
        return -1;
    t->place = t->offset + k->w->runs;
    t->runs = (mxl_dots_runs){k->w->runs, k->w->quads, t->offset};
    find_places(t);
    return copies ? find_columns(t) : 0;
}

/* Threads divide pixels, or channels where they would read more of weights than of x and y. */
static void run_tiles(tiles *t)
{
    const mxl_quantized_job *k = t->k;
    int64_t row = k->w->runs * k->w->quads * 4, tile = R * row * N, unit;

    if (row * k->channels > k->pixels * (k->x_channels + k->channels)) {
        unit = GRAIN / (tile * t->count + 1) + 1;
        mxl_parallel_fine(k->v->groups * k->w->panels, unit, 4 * unit, run_panels, t);
    } else {
        unit = GRAIN / (tile * k->w->panels + 1) + 1;
        mxl_parallel_fine(k->v->groups * t->count, unit, 4 * unit, run_pixels, t);
    }
}

static int run_job(mxl_quantized_job *k, bool turns)
{
    tiles t = {.k = k, .turns = turns};
    int status = plan_tiles(&t);

    if (status == 0)
        run_tiles(&t);
    mxl_free(t.padded, t.bytes);
    mxl_free(t.offset, t.list_bytes);
    mxl_free(t.columns, t.column_bytes);
    return status;
}

/* The bias of each column, without what `flip` adds. */
static int32_t *whole_bias(const mxl_quantized_job *k, const int32_t *bias, int64_t count)
{
    bool depthwise = mxl_quantized_is_depthwise(k->v);
    int32_t *made = mxl_alloc((size_t)count * sizeof(*made));
    int64_t row = depthwise ? k->channels : k->v->out;
    int64_t padded = depthwise ? count : k->w->panels * N;
    const int32_t *sums = k->w->sums;

    if (made == NULL)
        return NULL;
    for (int64_t first = 0; first < count; first += padded) {
        memset(made + first, 0, (size_t)padded * sizeof(*made));
        if (bias != NULL)
            memcpy(made + first, bias + first / padded * row, (size_t)row * sizeof(*made));
    }
    for (int64_t i = 0; i < count && k->flip != 0; i++)
        made[i] = (int32_t)((uint32_t)made[i] - (uint32_t)sums[i]);
    return made;
}

/* Memory for what has another order in a call; each NULL, or of so many bytes. */
typedef struct turned {
    void *x, *add, *y, *bias;
    size_t x_bytes, y_bytes, wide, bias_bytes;
} turned;

static void free_turned(turned *t)
{
    mxl_free(t->x, t->x_bytes);
    mxl_free(t->add, t->y_bytes);
    mxl_free(t->y, t->y_bytes * t->wide);
    mxl_free(t->bias, t->bias_bytes);
}

int mxl_quantized_convolve(const mxl_conv *v, mxl_quantized_order order, const void *x,
                           const mxl_quantized_weights *w, const int32_t *bias,
                           const mxl_quantized_tail *tail, void *y)
{
    mxl_quantized_job k = {.v = v, .w = w, .tail = tail, .x = x, .y = y};
    mxl_quantized_tail turned_tail;
    turned t = {.wide = tail == NULL ? sizeof(int32_t) : 1};
    int64_t places = v->x_size[0] * v->x_size[1] * v->x_size[2], count;
    bool depthwise = mxl_quantized_is_depthwise(v);
    int status = -1;

    k.flip = v->dtype == MXL_I8 ? 128 : 0;
    k.positions = v->y_size[0] * v->y_size[1] * v->y_size[2];
    k.pixels = v->batch * k.positions;
    k.x_channels = v->groups * v->in;
    k.channels = v->groups * v->out;
    if (k.pixels == 0 || k.channels == 0)
        return 0;
    t.x_bytes = (size_t)(v->batch * places * k.x_channels);
    t.y_bytes = (size_t)(k.pixels * k.channels);
    count = depthwise ? (v->groups + N - 1) / N * N : v->groups * w->panels * N;
    t.bias_bytes = (size_t)count * sizeof(int32_t);
    t.bias = whole_bias(&k, bias, count);
    k.bias = t.bias;
    if (k.bias == NULL || (!order.x_last && depthwise && (t.x = mxl_alloc(t.x_bytes)) == NULL) ||
        (!order.y_last && (t.y = mxl_alloc(t.y_bytes * t.wide)) == NULL) ||
        (!order.y_last && tail != NULL && tail->add != NULL &&
         (t.add = mxl_alloc(t.y_bytes)) == NULL)) {
        free_turned(&t);
        return -1;
    }
    if (t.x != NULL) {
        mxl_quantized_turn(1, v->batch, k.x_channels, places, x, t.x);
        k.x = t.x;
    }
    if (t.add != NULL) {
        mxl_quantized_turn(1, v->batch, k.channels, k.positions, tail->add, t.add);
        turned_tail = *tail;
        turned_tail.add = t.add;
        k.tail = &turned_tail;
    }
    if (t.y != NULL)
        k.y = t.y;
    status = depthwise ? mxl_quantized_depthwise(&k) : run_job(&k, !order.x_last);
    if (t.y != NULL && status == 0)
        mxl_quantized_turn((int)t.wide, v->batch, k.positions, k.channels, t.y, y);
    free_turned(&t);
    return status;
}
