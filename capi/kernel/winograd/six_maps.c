/* See six_maps.h. */
#include "kernel/winograd/six_maps.h"

#include <string.h>

#include "kernel/target.h"

enum { LANES = MXL_SIX_LANES, LANE_BYTES = LANES * sizeof(float), MOST = 6 };

typedef float v16 __attribute__((vector_size(LANE_BYTES)));

#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t places16 __attribute__((vector_size(LANE_BYTES)));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (places16){__VA_ARGS__})
#endif
#define LOW(a, b)  PICK(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b) PICK(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

MXL_INLINE void load(v16 *v, const float *from)
{
    memcpy(v, from, sizeof(*v));
}

MXL_INLINE void store(float *to, const v16 *v)
{
    memcpy(to, v, sizeof(*v));
}

/* ---- one dimension ---- */

/* B' d: the values at the six points. */
MXL_INLINE void image_points(const v16 d[6], v16 t[6])
{
    v16 a = d[4] - 4 * d[2], b = d[3] - 4 * d[1], c = d[4] - d[2], e = 2 * (d[3] - d[1]);

    t[0] = 4 * d[0] - 5 * d[2] + d[4];
    t[1] = a + b;
    t[2] = a - b;
    t[3] = c + e;
    t[4] = c - e;
    t[5] = 4 * d[1] - 5 * d[3] + d[5];
}

/* A y of m numbers. */
MXL_INLINE void grad_points(int m, const v16 *y, v16 t[6])
{
    v16 even = m == 4 ? y[0] + y[2] : y[0], odd = m == 4 ? y[1] + y[3] : y[1];
    v16 even2 = m == 4 ? y[0] + 4 * y[2] : y[0], odd2 = m == 4 ? 2 * y[1] + 8 * y[3] : 2 * y[1];

    t[0] = y[0];
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = even2 + odd2;
    t[4] = even2 - odd2;
    t[5] = y[m - 1];
}

/* A' t. */
MXL_INLINE void output_numbers(int m, const v16 t[6], v16 *y)
{
    v16 s = t[1] + t[2], d = t[1] - t[2], s2 = t[3] + t[4], d2 = t[3] - t[4];

    y[0] = t[0] + s + s2;
    y[1] = d + 2 * d2;
    if (m == 4) {
        y[2] = s + 4 * s2;
        y[3] = d + 8 * d2;
    }
    y[m - 1] += t[5];
}

/* G w. */
MXL_INLINE void weight_points(int r, const v16 *w, v16 t[6])
{
    const float sixth = 1.0f / 6, twelfth = 1.0f / 12, part = 1.0f / 24;
    v16 even = w[0] + w[2], odd = w[1], even2 = part * w[0] + sixth * w[2], odd2 = twelfth * w[1];

    if (r == 5) {
        even += w[4];
        odd += w[3];
        even2 += 4 * sixth * w[4];
        odd2 += 2 * sixth * w[3];
    }
    t[0] = 0.25f * w[0];
    t[1] = -sixth * (even + odd);
    t[2] = -sixth * (even - odd);
    t[3] = even2 + odd2;
    t[4] = even2 - odd2;
    t[5] = w[r - 1];
}

/* G' t. */
MXL_INLINE void tap_numbers(int r, const v16 t[6], v16 *w)
{
    const float sixth = 1.0f / 6, twelfth = 1.0f / 12, part = 1.0f / 24;
    v16 s = sixth * (t[1] + t[2]), d = sixth * (t[1] - t[2]), s2 = t[3] + t[4], d2 = t[3] - t[4];

    w[0] = 0.25f * t[0] - s + part * s2;
    w[1] = twelfth * d2 - d;
    w[2] = sixth * s2 - s;
    if (r == 5) {
        w[3] = 2 * sixth * d2 - d;
        w[4] = 4 * sixth * s2 - s;
    }
    w[r - 1] += t[5];
}

/* ---- tiles: both dimensions ---- */

MXL_INLINE void put(const v16 *v, int64_t height, float *to, int64_t apart)
{
    if (height == LANES)
        store(to, v);
    else if (height == LANES / 2)
        for (int i = 0; i < 2; i++)
            memcpy(to + i * apart, (const float *)v + i * LANES / 2, LANE_BYTES / 2);
    else
        for (int i = 0; i < 4; i++)
            memcpy(to + i * apart, (const float *)v + i * LANES / 4, LANE_BYTES / 4);
}

/* A row of n tiles, `hop` floats apart in `from`, whose rows have a pitch. reach: 6, or m. */
MXL_INLINE void tiles_of(int reach, int64_t height, const float *from, int64_t pitch, int64_t hop,
                         int64_t n, const mxl_six_place *p)
{
    for (int64_t t = 0; t < n; t++) {
        v16 z[6][MOST];

        for (int j = 0; j < reach; j++) {
            v16 d[MOST], points[6];

            for (int i = 0; i < reach; i++)
                load(&d[i], from + t * hop + i * pitch + j * LANES);
            if (reach == 6)
                image_points(d, points);
            else
                grad_points(reach, d, points);
            for (int i = 0; i < 6; i++)
                z[i][j] = points[i];
        }
        for (int i = 0; i < 6; i++) {
            v16 points[6];

            if (reach == 6)
                image_points(z[i], points);
            else
                grad_points(reach, z[i], points);
            for (int j = 0; j < 6; j++)
                put(&points[j], height, p->to + (6 * i + j) * p->plane + t * p->step, p->apart);
        }
    }
}

MXL_INLINE void tiles_at(int level, int64_t reach, const float *from, int64_t pitch, int64_t hop,
                         int64_t n, const mxl_six_place *p)
{
    (void)level;
    if (reach == 6 && p->height == LANES)
        tiles_of(6, LANES, from, pitch, hop, n, p);
    else if (reach == 6)
        tiles_of(6, p->height, from, pitch, hop, n, p);
    else if (reach == 4)
        tiles_of(4, p->height, from, pitch, hop, n, p);
    else
        tiles_of(2, p->height, from, pitch, hop, n, p);
}
MXL_FROM_AVX2(tiles,
              (int64_t reach, const float *from, int64_t pitch, int64_t hop, int64_t n,
               const mxl_six_place *p),
              reach, from, pitch, hop, n, p)

MXL_INLINE void outputs_of(int m, const float *from, int64_t step, int64_t plane, const float *bias,
                           int64_t n, float *to, int64_t pitch, v16 *wrong)
{
    v16 more;

    load(&more, bias);
    for (int64_t t = 0; t < n; t++, from += step, to += m * LANES) {
        v16 z[4][6];

        for (int j = 0; j < 6; j++) {
            v16 points[6], y[4];

            for (int i = 0; i < 6; i++)
                load(&points[i], from + (6 * i + j) * plane);
            output_numbers(m, points, y);
            for (int i = 0; i < m; i++)
                z[i][j] = y[i];
        }
        for (int i = 0; i < m; i++) {
            v16 y[4];

            output_numbers(m, z[i], y);
            for (int j = 0; j < m; j++) {
                y[j] += more;
                *wrong += y[j] * 0;
                store(to + i * pitch + j * LANES, &y[j]);
            }
        }
    }
}

MXL_INLINE void outputs_at(int level, int64_t m, const float *from, int64_t step, int64_t plane,
                           const float *bias, int64_t n, float *to, int64_t pitch, float *wrong)
{
    v16 sum;

    (void)level;
    load(&sum, wrong);
    if (m == 4)
        outputs_of(4, from, step, plane, bias, n, to, pitch, &sum);
    else
        outputs_of(2, from, step, plane, bias, n, to, pitch, &sum);
    store(wrong, &sum);
}
MXL_FROM_AVX2(outputs,
              (int64_t m, const float *from, int64_t step, int64_t plane, const float *bias,
               int64_t n, float *to, int64_t pitch, float *wrong),
              m, from, step, plane, bias, n, to, pitch, wrong)

/* ---- squares ---- */

/* Transposes LANES vectors: interleaving rows k and k + LANES / 2, log LANES times. */
MXL_INLINE void transpose(v16 row[LANES])
{
    v16 next[LANES];

    for (int turn = 1; turn < LANES; turn *= 4) {
        for (int i = 0; i < LANES / 2; i++) {
            next[2 * i] = LOW(row[i], row[i + LANES / 2]);
            next[2 * i + 1] = HIGH(row[i], row[i + LANES / 2]);
        }
        for (int i = 0; i < LANES / 2; i++) {
            row[2 * i] = LOW(next[i], next[i + LANES / 2]);
            row[2 * i + 1] = HIGH(next[i], next[i + LANES / 2]);
        }
    }
}

/* Positions of an image that lie in a grid: rows of `width` of them, each `pitch` floats behind the
 * one before; with channels innermost. */
typedef struct grid {
    float *at;
    int64_t width, pitch;
} grid;

/* Steps through a grid. */
typedef struct place {
    float *at;
    int64_t left; /* of its row */
} place;

MXL_INLINE float *next_place(const grid *g, place *p)
{
    float *at = p->at;

    p->at += LANES;
    if (--p->left == 0) {
        p->at += g->pitch - g->width * LANES;
        p->left = g->width;
    }
    return at;
}

/* n positions of channels that are `apart`, into the grid; lanes beyond the channels are zero. */
MXL_INLINE void bring_at(int level, const float *from, int64_t apart, int64_t lanes, int64_t n,
                         const grid *g)
{
    place p = {g->at, g->width};

    (void)level;
    for (int64_t some; n > 0; n -= some, from += some) {
        v16 row[LANES] = {{0}};

        some = n < LANES ? n : LANES;
        for (int64_t c = 0; c < lanes; c++) {
            if (some == LANES)
                load(&row[c], from + c * apart);
            else
                memcpy(&row[c], from + c * apart, (size_t)some * sizeof(float));
        }
        transpose(row);
        for (int64_t i = 0; i < some; i++)
            store(next_place(g, &p), &row[i]);
    }
}
MXL_FROM_AVX2(bring, (const float *from, int64_t apart, int64_t lanes, int64_t n, const grid *g),
              from, apart, lanes, n, g)

/* The reverse. */
MXL_INLINE void give_at(int level, const grid *g, float *to, int64_t apart, int64_t lanes,
                        int64_t n)
{
    place p = {g->at, g->width};

    (void)level;
    for (int64_t some; n > 0; n -= some, to += some) {
        v16 row[LANES] = {{0}};

        some = n < LANES ? n : LANES;
        for (int64_t i = 0; i < some; i++)
            load(&row[i], next_place(g, &p));
        transpose(row);
        for (int64_t c = 0; c < lanes; c++) {
            if (some == LANES)
                store(to + c * apart, &row[c]);
            else
                memcpy(to + c * apart, &row[c], (size_t)some * sizeof(float));
        }
    }
}
MXL_FROM_AVX2(give, (const grid *g, float *to, int64_t apart, int64_t lanes, int64_t n), g, to,
              apart, lanes, n)

/* ---- images ---- */

/* Rows of tiles of one image that follow one another. */
typedef struct run {
    int64_t image, row, count;
} run;

static run run_at(const mxl_six_view *v, int64_t first, int64_t last)
{
    int64_t row = first % v->rows, rest = v->rows - row;

    return (run){first / v->rows, row, rest < last - first ? rest : last - first};
}

/* Positions that a row of tiles reads. */
static int64_t width_of(const mxl_six_view *v)
{
    return (v->columns - 1) * v->m + v->reach;
}

int64_t mxl_six_room(const mxl_six_view *v, int64_t rows)
{
    return ((rows - 1) * v->m + v->reach) * width_of(v) * LANES;
}

static int64_t channel_at(const mxl_six_view *v, int64_t image, int64_t group, int64_t channel)
{
    return ((image * v->groups + group) * v->channels + channel) * v->size[0] * v->size[1];
}

static int64_t clamp(int64_t n, int64_t low, int64_t high)
{
    return n < low ? low : n > high ? high : n;
}

/* The positions that a run reads, with channels innermost, and zeros around. */
static void bring_run(const mxl_six_view *v, const run *r, const float *image, int64_t lanes,
                      float *room)
{
    int64_t width = width_of(v), pitch = width * LANES, top = r->row * v->m - v->lead[0];
    int64_t height = (r->count - 1) * v->m + v->reach, size = v->size[0] * v->size[1];
    int64_t from = clamp(top, 0, v->size[0]), to = clamp(top + height, 0, v->size[0]);
    int64_t count = clamp(width - v->lead[1], 0, v->size[1]), rest = width - v->lead[1] - count;
    float *first = room + (from - top) * pitch;
    grid g = {first + v->lead[1] * LANES, v->size[1], pitch};

    memset(room, 0, (size_t)((from - top) * pitch) * sizeof(float));
    if (count == v->size[1]) {
        bring(image + from * v->size[1], size, lanes, (to - from) * v->size[1], &g);
    } else {
        g.width = count;
        for (int64_t y = from; y < to; y++, g.at += pitch)
            bring(image + y * v->size[1], size, lanes, count, &g);
    }
    for (int64_t y = from; y < to; y++, first += pitch) {
        memset(first, 0, (size_t)v->lead[1] * LANE_BYTES);
        memset(first + pitch - rest * LANES, 0, (size_t)rest * LANE_BYTES);
    }
    memset(first, 0, (size_t)((top + height - to) * pitch) * sizeof(float));
}

void mxl_six_map(const mxl_six_view *v, int64_t group, int64_t channel, int64_t first, int64_t last,
                 float *room, const mxl_six_place *where)
{
    int64_t pitch = width_of(v) * LANES;
    int64_t lanes = v->channels - channel < LANES ? v->channels - channel : LANES;
    mxl_six_place p = *where;

    for (run r; first < last; first += r.count) {
        r = run_at(v, first, last);
        bring_run(v, &r, v->from + channel_at(v, r.image, group, channel), lanes, room);
        for (int64_t i = 0; i < r.count; i++, p.to += v->columns * p.step)
            tiles(v->reach, room + i * v->m * pitch, pitch, v->m * LANES, v->columns, &p);
    }
}

bool mxl_six_unmap(const mxl_six_view *v, int64_t group, int64_t channel, int64_t first,
                   int64_t last, float *room, const float *m, int64_t step, int64_t plane,
                   const float *bias, float *to)
{
    int64_t pitch = v->columns * v->m * LANES, size = v->size[0] * v->size[1];
    int64_t lanes = v->channels - channel < LANES ? v->channels - channel : LANES;
    float wrong[LANES] = {0};
    bool finite = true;

    for (run r; first < last; first += r.count) {
        const grid g = {room, v->size[1], pitch};
        int64_t top, end;

        r = run_at(v, first, last);
        top = r.row * v->m;
        end = clamp(top + r.count * v->m, 0, v->size[0]);
        for (int64_t i = 0; i < r.count; i++, m += v->columns * step)
            outputs(v->m, m, step, plane, bias, v->columns, room + i * v->m * pitch, pitch, wrong);
        give(&g, to + channel_at(v, r.image, group, channel) + top * v->size[1], size, lanes,
             (end - top) * v->size[1]);
    }
    for (int i = 0; i < LANES; i++)
        finite = finite && wrong[i] == 0;
    return finite;
}

/* ---- weights ---- */

MXL_INLINE void weights_of(int r, bool flip, const float *w, float *out, int64_t plane)
{
    v16 z[6][5];

    for (int j = 0; j < r; j++) {
        v16 taps[5], points[6];

        for (int i = 0; i < r; i++)
            load(&taps[i], w + (flip ? r * r - 1 - (i * r + j) : i * r + j) * LANES);
        weight_points(r, taps, points);
        for (int i = 0; i < 6; i++)
            z[i][j] = points[i];
    }
    for (int i = 0; i < 6; i++) {
        v16 points[6];

        weight_points(r, z[i], points);
        for (int j = 0; j < 6; j++)
            store(out + (6 * i + j) * plane, &points[j]);
    }
}

MXL_INLINE void weights_at(int level, int r, bool flip, const float *w, float *out, int64_t plane)
{
    (void)level;
    if (r == 3)
        weights_of(3, flip, w, out, plane);
    else
        weights_of(5, flip, w, out, plane);
}
MXL_FROM_AVX2(weights, (int r, bool flip, const float *w, float *out, int64_t plane), r, flip, w,
              out, plane)

void mxl_six_weights(int r, bool flip, const float *w, float *out, int64_t plane)
{
    weights(r, flip, w, out, plane);
}

MXL_INLINE void taps_of(int r, const float *m, int64_t plane, float *out, v16 *wrong)
{
    v16 z[5][6];

    for (int j = 0; j < 6; j++) {
        v16 points[6], taps[5];

        for (int i = 0; i < 6; i++)
            load(&points[i], m + (6 * i + j) * plane);
        tap_numbers(r, points, taps);
        for (int i = 0; i < r; i++)
            z[i][j] = taps[i];
    }
    for (int i = 0; i < r; i++) {
        v16 taps[5];

        tap_numbers(r, z[i], taps);
        for (int j = 0; j < r; j++) {
            *wrong += taps[j] * 0;
            store(out + (i * r + j) * LANES, &taps[j]);
        }
    }
}

MXL_INLINE void taps_at(int level, int r, const float *m, int64_t plane, float *out, float *wrong)
{
    v16 sum = {0};

    (void)level;
    if (r == 3)
        taps_of(3, m, plane, out, &sum);
    else
        taps_of(5, m, plane, out, &sum);
    store(wrong, &sum);
}
MXL_FROM_AVX2(taps, (int r, const float *m, int64_t plane, float *out, float *wrong), r, m, plane,
              out, wrong)

bool mxl_six_taps(int r, const float *m, int64_t plane, float *out)
{
    float wrong[LANES];
    bool finite = true;

    taps(r, m, plane, out, wrong);
    for (int i = 0; i < LANES; i++)
        finite = finite && wrong[i] == 0;
    return finite;
}
