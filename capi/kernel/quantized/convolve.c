/* See convolve.h. The channels of a pixel follow each other, and where x or y have it otherwise
 * they are copied. A tile is fourteen pixels of y with 32 of its channels: rows of x, or copies of
 * the pixels under the kernel, times a panel of weights. Bytes with a sign get 128 added in the
 * registers, which the bias takes back. */
#include "kernel/quantized/convolve.h"

#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/quantized/job.h"
#include "kernel/quantized/turn.h"
#include "kernel/target.h"

enum {
    R = MXL_DOTS_ROWS,
    N = MXL_DOTS_COLUMNS,
    GRAIN = 1 << 18,  /* products that are worth a thread */
    CHUNK = 1 << 17,  /* bytes of columns that stay in the cache beside weights */
    MANY_CHUNKS = 16, /* for threads to share */
    OVER = 64         /* bytes that copies write too many */
};

/* ---- weights ---- */

void mxl_quantized_weights_free(mxl_quantized_weights *weights)
{
    if (weights != NULL)
        mxl_free(weights, weights->bytes);
}

/* A panel of up to N channels, from `w` on: quads are taps, and within them channels. */
static void pack_panel(const mxl_conv *v, const int8_t *w, int64_t n, int64_t quads, int8_t *to,
                       int32_t *sums)
{
    int64_t taps = mxl_quantized_taps(v), row = v->in * taps;

    memset(to, 0, (size_t)(quads * N * 4));
    memset(sums, 0, N * sizeof(*sums));
    for (int64_t c = 0; c < n; c++) {
        for (int64_t i = 0; i < row; i++) {
            int8_t one = w[c * row + i % v->in * taps + i / v->in];

            to[i / 4 * N * 4 + c * 4 + i % 4] = one;
            sums[c] += 128 * one;
        }
    }
}

mxl_quantized_weights *mxl_quantized_weights_new(const mxl_conv *v, const int8_t *w)
{
    bool depthwise = mxl_quantized_is_depthwise(v);
    int64_t row = v->in * mxl_quantized_taps(v), quads = (row + 3) / 4;
    int64_t panels = depthwise ? 1 : (v->out + N - 1) / N;
    int64_t groups = depthwise ? (v->groups + N - 1) / N : v->groups;
    size_t sums = (size_t)(groups * panels * N) * sizeof(int32_t);
    size_t packed = depthwise ? mxl_quantized_depthwise_bytes(v)
                              : (size_t)(groups * panels * quads * N * 4);
    size_t bytes = sizeof(mxl_quantized_weights) + 64 + sums + packed;
    mxl_quantized_weights *made = mxl_alloc(bytes);

    if (made == NULL)
        return NULL;
    *made = (mxl_quantized_weights){.bytes = bytes, .quads = quads, .panels = panels};
    made->sums = (int32_t *)(void *)((char *)made + 64);
    made->packed = (int8_t *)made->sums + sums;
    if (depthwise) {
        mxl_quantized_depthwise_pack(v, w, made->packed, made->sums);
        return made;
    }
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t p = 0; p < panels; p++) {
            int64_t at = g * panels + p, n = v->out - p * N;

            pack_panel(v, w + (g * v->out + p * N) * row, n < N ? n : N, quads,
                       made->packed + at * quads * N * 4, made->sums + at * N);
        }
    }
    return made;
}

/* ---- columns ---- */

/* Copies n bytes, and up to OVER - 1 more where `from` has them: `end` is where it ends. */
MXL_INLINE void copy_run(uint8_t *to, const uint8_t *from, int64_t n, const uint8_t *end)
{
    if (from + n + OVER > end) {
        memcpy(to, from, (size_t)n);
    } else if (n <= OVER / 2) {
        memcpy(to, from, OVER / 2);
    } else {
        for (int64_t i = 0; i < n; i += OVER)
            memcpy(to + i, from + i, OVER);
    }
}

/* The row of taps (d, h) under a pixel, some of which may be outside. */
static void copy_taps(const mxl_quantized_job *k, const uint8_t *row, int64_t first, uint8_t *to)
{
    const mxl_conv *v = k->v;

    for (int64_t t = 0; t < v->kernel[2]; t++, to += v->in) {
        int64_t w = first + t * v->dilate[2];

        if (w >= 0 && w < v->x_size[2])
            memcpy(to, row + w * k->x_channels, (size_t)v->in);
        else
            memset(to, 0, (size_t)v->in);
    }
}

/* to[count][step] = what is under the kernel at the pixels from `first` on; zeros outside. Writes
 * up to OVER bytes more. */
MXL_INLINE void copy_columns_at(int level, const mxl_quantized_job *k, int64_t group, int64_t first,
                                int64_t count, uint8_t *to)
{
    const mxl_conv *v = k->v;
    int64_t row = v->kernel[2] * v->in, used = mxl_quantized_taps(v) * v->in;
    int64_t reach = (v->kernel[2] - 1) * v->dilate[2];
    int64_t image_size = v->x_size[0] * v->x_size[1] * v->x_size[2] * k->x_channels;
    const uint8_t *end = k->x + v->batch * image_size;
    bool runs = v->kernel[2] == 1 || (v->groups == 1 && v->dilate[2] == 1);
    int64_t rows = v->kernel[0] * v->kernel[1], line = v->x_size[2] * k->x_channels;
    mxl_quantized_pixel pixel = mxl_quantized_pixel_of(k, first);

    (void)level;
    for (int64_t p = 0; p < count; p++, to += k->step, mxl_quantized_pixel_next(v, &pixel)) {
        int64_t w = pixel.corner[2];
        const uint8_t *x = k->x + pixel.image * image_size + group * v->in;
        bool inside = runs && w >= 0 && w + reach < v->x_size[2];
        int64_t d = pixel.corner[0], h = pixel.corner[1], t = 0;
        uint8_t *at = to;

        for (int64_t r = 0; r < rows; r++, at += row) {
            const uint8_t *from = x + (d * v->x_size[1] + h) * line;

            if (d < 0 || d >= v->x_size[0] || h < 0 || h >= v->x_size[1])
                memset(at, 0, (size_t)row);
            else if (inside)
                copy_run(at, from + w * k->x_channels, row, end);
            else
                copy_taps(k, from, w, at);
            h += v->dilate[1];
            if (++t == v->kernel[1]) {
                t = 0;
                h = pixel.corner[1];
                d += v->dilate[0];
            }
        }
        for (int64_t i = used; i < k->step; i++)
            to[i] = 0;
    }
}
MXL_BY_LEVEL(copy_columns,
             (const mxl_quantized_job *k, int64_t group, int64_t first, int64_t count, uint8_t *to),
             k, group, first, count, to)

/* Ranges count tiles, of all groups. */
static void make_columns(void *data, int64_t begin, int64_t end)
{
    const mxl_quantized_job *k = data;

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % k->tiles * R;

        copy_columns(k, i / k->tiles, first, k->pixels - first < R ? k->pixels - first : R,
                     k->columns + i * k->tile_bytes);
    }
}

/* ---- the work ---- */

/* One tile, of the rows that are its columns. */
static void run_tile(const mxl_quantized_job *k, int64_t panel, int64_t tile, const uint8_t *rows)
{
    const mxl_conv *v = k->v;
    int64_t first = tile * R, group = panel / k->w->panels, channel = panel % k->w->panels * N;
    int count = (int)(k->pixels - first < R ? k->pixels - first : R);
    int n = (int)(v->out - channel < N ? v->out - channel : N);
    int64_t at = first * k->channels + group * v->out + channel;
    int32_t sums[R * N];

    mxl_dots_tile(count, n, k->w->quads, rows, k->step, k->flip,
                  k->w->packed + panel * k->w->quads * N * 4, sums);
    mxl_quantized_end(k->tail, count, n, sums, k->bias + panel * N, k->y, at, k->channels);
}

/* The rows of a tile; `columns` are those from tile `from` on. */
static const uint8_t *rows_of(const mxl_quantized_job *k, int64_t group, int64_t tile,
                              const uint8_t *columns, int64_t from)
{
    return k->direct ? k->x + tile * R * k->step + group * k->v->in
                     : columns + (tile - from) * k->tile_bytes;
}

/* Ranges count chunks of tiles, of all groups. */
static void run_chunks(void *data, int64_t begin, int64_t end)
{
    mxl_quantized_job *k = data;
    size_t bytes = k->direct ? 1 : (size_t)(k->chunk * k->tile_bytes);
    uint8_t *columns = mxl_alloc(bytes);

    if (columns == NULL) {
        k->failed = 1;
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i / k->chunks, from = i % k->chunks * k->chunk;
        int64_t to = from + k->chunk < k->tiles ? from + k->chunk : k->tiles;

        for (int64_t t = from; t < to && !k->direct; t++)
            copy_columns(k, group, t * R, k->pixels - t * R < R ? k->pixels - t * R : R,
                         columns + (t - from) * k->tile_bytes);
        for (int64_t p = group * k->w->panels; p < (group + 1) * k->w->panels; p++) {
            for (int64_t t = from; t < to; t++)
                run_tile(k, p, t, rows_of(k, group, t, columns, from));
        }
    }
    mxl_free(columns, bytes);
}

/* Ranges count panels, of all groups. */
static void run_panels(void *data, int64_t begin, int64_t end)
{
    const mxl_quantized_job *k = data;

    for (int64_t p = begin; p < end; p++) {
        int64_t group = p / k->w->panels;

        for (int64_t t = 0; t < k->tiles; t++)
            run_tile(k, p, t, rows_of(k, group, t, k->columns, -group * k->tiles));
    }
}

/* Threads divide pixels, or channels where there are more of these. */
static int run_tiles(mxl_quantized_job *k)
{
    const mxl_conv *v = k->v;
    int64_t most, tile, units = v->groups * k->w->panels;
    bool divides_channels = v->groups * v->out > k->pixels;
    size_t bytes;

    k->direct = mxl_quantized_taps(v) == 1 && v->in % 4 == 0;
    for (int i = 0; i < 3; i++)
        k->direct = k->direct && v->stride[i] == 1 && v->pad[i] == 0;
    k->step = k->direct ? k->x_channels : k->w->quads * 4;
    k->tile_bytes = R * k->step + OVER;
    k->tiles = (k->pixels + R - 1) / R;
    tile = R * k->w->quads * 4 * N;
    bytes = (size_t)(v->groups * k->tiles * k->tile_bytes);
    if (divides_channels && !k->direct) {
        k->columns = mxl_alloc(bytes);
        if (k->columns == NULL)
            return -1;
        mxl_parallel_for(v->groups * k->tiles, GRAIN / (4 * R * k->step) + 1, make_columns, k);
    }
    if (divides_channels) {
        mxl_parallel_for(units, GRAIN / (tile * k->tiles + 1) + 1, run_panels, k);
        mxl_free(k->columns, bytes);
        return 0;
    }
    most = CHUNK / k->tile_bytes;
    k->chunk = k->tiles / MANY_CHUNKS;
    k->chunk = k->chunk > most ? most : k->chunk;
    k->chunk = k->chunk < 1 ? 1 : k->chunk;
    k->chunks = (k->tiles + k->chunk - 1) / k->chunk;
    mxl_parallel_for(v->groups * k->chunks, GRAIN / (tile * k->chunk * k->w->panels + 1) + 1,
                     run_chunks, k);
    return k->failed ? mxl_error_memory((size_t)(k->chunk * k->tile_bytes)) : 0;
}

/* The bias of each column, without what `flip` adds. */
static int32_t *whole_bias(const mxl_quantized_job *k, const int32_t *bias, int64_t count)
{
    bool depthwise = mxl_quantized_is_depthwise(k->v);
    int32_t *made = mxl_alloc((size_t)count * sizeof(*made));
    int64_t row = depthwise ? k->channels : k->v->out;
    int64_t padded = depthwise ? count : k->w->panels * N;

    for (int64_t i = 0; made != NULL && i < count; i++) {
        int64_t group = i / padded, channel = i % padded;
        bool is = bias != NULL && channel < row;

        made[i] = (int32_t)((uint32_t)(is ? bias[group * row + channel] : 0) -
                            (uint32_t)(k->flip != 0 ? k->w->sums[i] : 0));
    }
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
    count = mxl_quantized_is_depthwise(v) ? (v->groups + N - 1) / N * N : v->groups * w->panels * N;
    t.bias_bytes = (size_t)count * sizeof(int32_t);
    t.bias = whole_bias(&k, bias, count);
    k.bias = t.bias;
    if (k.bias == NULL || (!order.x_last && (t.x = mxl_alloc(t.x_bytes)) == NULL) ||
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
    status = mxl_quantized_is_depthwise(v) ? mxl_quantized_depthwise(&k) : run_tiles(&k);
    if (t.y != NULL && status == 0)
        mxl_quantized_turn((int)t.wide, v->batch, k.positions, k.channels, t.y, y);
    free_turned(&t);
    return status;
}

/* ---- rows ---- */

typedef struct rows_work {
    bool is_unsigned;
    int64_t m, n, k;
    const char *x;
    const int8_t *w;
    const int32_t *bias;
    int32_t *y;
} rows_work;

enum { TOGETHER = 32 }; /* rows of the matrix that meet all rows of x */

static void run_rows(void *data, int64_t begin, int64_t end)
{
    const rows_work *r = data;

    for (int64_t first = begin; first < end; first += TOGETHER) {
        int64_t n = end - first < TOGETHER ? end - first : TOGETHER;

        for (int64_t i = 0; i < r->m; i++) {
            int32_t *y = r->y + i * r->n + first;

            mxl_dots_rows(r->is_unsigned, r->k, r->x + i * r->k, r->w + first * r->k, n, y);
            for (int64_t j = 0; j < n && r->bias != NULL; j++)
                y[j] += r->bias[first + j];
        }
    }
}

void mxl_quantized_dense(bool is_unsigned, int64_t m, int64_t n, int64_t k, const void *x,
                         const int8_t *w, const int32_t *bias, int32_t *y)
{
    rows_work r = {is_unsigned, m, n, k, x, w, bias, y};

    mxl_parallel_for(n, GRAIN / (m * k + 1) + 1, run_rows, &r);
}
