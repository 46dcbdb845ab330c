/* See winograd_loops.h. */
#include "kernel/winograd/winograd_loops.h"

#include <string.h>

#include "kernel/conv/conv_store.h"
#include "kernel/target.h"
#include "kernel/vectors.h"

enum {
    LANES = MXL_WINOGRAD_LANES,
    FEW = 4 /* channels whose outputs are made together */
};

/* ---- images ---- */

/* x[j][k] = element lead + 2 * k + j of a row, for n tiles. */
MXL_INLINE void split_row(const float *row, int64_t size, int64_t lead, int64_t n,
                          float (*x)[MXL_WINOGRAD_SPAN])
{
    for (int j = 0; j < 4; j++, lead++) {
        int64_t from = lead < 0 ? (1 - lead) / 2 : 0, to = size > lead ? (size - lead + 1) / 2 : 0;

        to = to > n ? n : to;
        from = from > to ? to : from;
        for (int64_t k = 0; k < from; k++)
            x[j][k] = 0;
        MXL_IVDEP
        for (int64_t k = from; k < to; k++)
            x[j][k] = row[lead + 2 * k];
        for (int64_t k = to; k < n; k++)
            x[j][k] = 0;
    }
}

/* One vector of tiles of a channel. */
MXL_INLINE void image_lanes(const mxl_winograd_rows *rows, int64_t t, float *out, int64_t plane)
{
    MXL_IVDEP
    for (int k = 0; k < LANES; k++) {
        float z[4][4];

        for (int j = 0; j < 4; j++) {
            float x0 = rows->x[0][j][t + k], x1 = rows->x[1][j][t + k];
            float x2 = rows->x[2][j][t + k], x3 = rows->x[3][j][t + k];

            z[0][j] = x0 - x2;
            z[1][j] = x1 + x2;
            z[2][j] = x2 - x1;
            z[3][j] = x1 - x3;
        }
        for (int i = 0; i < 4; i++) {
            float *to = out + 4 * i * plane + k;

            to[0] = z[i][0] - z[i][2];
            to[plane] = z[i][1] + z[i][2];
            to[2 * plane] = z[i][2] - z[i][1];
            to[3 * plane] = z[i][1] - z[i][3];
        }
    }
}

MXL_INLINE void image_at(int level, const mxl_winograd_images *m, int64_t channels,
                         mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane)
{
    (void)level;
    for (int64_t c = 0; c < channels; c++) {
        for (int p = 0; p < m->count; p++) {
            const mxl_winograd_source *s = &m->source[p];

            for (int i = 0; i < 4; i++)
                split_row(m->from + c * m->apart + s->row[i], s->row[i] < 0 ? 0 : m->size, s->lead,
                          s->n, (void *)&rows[c].x[i][0][s->at]);
        }
    }
    for (int64_t c = 0; c < channels; c++)
        for (int64_t t = 0; t < m->tiles; t += LANES)
            image_lanes(&rows[c], t, out + c * apart + t, plane);
}
MXL_UP_TO_AVX2(image,
               (const mxl_winograd_images *m, int64_t channels, mxl_winograd_rows *rows, float *out,
                int64_t apart, int64_t plane),
               m, channels, rows, out, apart, plane)

#if MXL_HAS_WIDE
/* Which of 16 elements from `first` on are in a row. */
static uint32_t inside(int64_t first, int64_t size)
{
    int64_t from = first < 0 ? -first : 0, to = size - first < 16 ? size - first : 16;

    return from >= to || from >= 16 ? 0 : (1u << to) - (1u << from);
}

/* Tiles [k, k + 16) of neighbours, in all channels. */
MXL_TARGET_AVX512 static void split_512(const mxl_winograd_images *m, const mxl_winograd_source *s,
                                        int64_t k, int64_t channels, mxl_winograd_rows *rows)
{
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    int64_t first = s->lead + 2 * k, at = s->at + k;

    for (int half = 0; half < 2; half++, first += 2) {
        __mmask16 low = (__mmask16)inside(first, m->size);
        __mmask16 high = (__mmask16)inside(first + 16, m->size);

        for (int64_t c = 0; c < channels; c++) {
            for (int i = 0; i < 4; i++) {
                const float *from = m->from + c * m->apart + s->row[i] + first;
                bool none = s->row[i] < 0;
                __m512 a = _mm512_maskz_loadu_ps(none ? 0 : low, from);
                __m512 b = _mm512_maskz_loadu_ps(none ? 0 : high, from + 16);

                _mm512_storeu_ps(&rows[c].x[i][2 * half][at], _mm512_permutex2var_ps(a, even, b));
                _mm512_storeu_ps(&rows[c].x[i][2 * half + 1][at],
                                 _mm512_permutex2var_ps(a, odd, b));
            }
        }
    }
}

MXL_TARGET_AVX512 static void image_512(const mxl_winograd_images *m, int64_t channels,
                                        mxl_winograd_rows *rows, float *out, int64_t apart,
                                        int64_t plane)
{
    for (int p = 0; p < m->count; p++)
        for (int64_t k = 0; k < m->source[p].n; k += LANES)
            split_512(m, &m->source[p], k, channels, rows);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t t = 0; t < m->tiles; t += LANES)
            image_lanes(&rows[c], t, out + c * apart + t, plane);
}
#endif

void mxl_winograd_image(const mxl_winograd_images *images, int64_t channels,
                        mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane)
{
#if MXL_HAS_WIDE
    if (mxl_level() == MXL_AVX512) {
        image_512(images, channels, rows, out, apart, plane);
        return;
    }
#endif
    image(images, channels, rows, out, apart, plane);
}

/* ---- outputs ---- */

/* Bits that are all ones in a number that is not finite. */
MXL_INLINE uint32_t exponent_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits & 0x7f800000u;
}

typedef struct output_rows {
    float sums[2][2 * MXL_WINOGRAD_SPAN];
} output_rows;

/* Both rows of the output, of one vector of tiles. */
MXL_INLINE void output_lanes(const float *m, int64_t plane, float add, float *above, float *below)
{
    MXL_IVDEP
    for (int k = 0; k < LANES; k++) {
        float z[2][4];

        for (int j = 0; j < 4; j++) {
            const float *from = m + j * plane + k;
            float m1 = from[4 * plane], m2 = from[8 * plane];

            z[0][j] = from[0] + (m1 + m2);
            z[1][j] = (m1 - m2) - from[12 * plane];
        }
        above[2 * k] = z[0][0] + (z[0][1] + z[0][2]) + add;
        above[2 * k + 1] = (z[0][1] - z[0][2]) - z[0][3] + add;
        below[2 * k] = z[1][0] + (z[1][1] + z[1][2]) + add;
        below[2 * k + 1] = (z[1][1] - z[1][2]) - z[1][3] + add;
    }
}

/* Stores n sums; whether one of them is not finite. */
MXL_INLINE uint32_t store(const mxl_winograd_outputs *o, const float *sums, const float *add,
                          int64_t n, float *out)
{
    float low = o->low, high = o->high;
    uint32_t wrong = 0;

    for (int64_t k = 0; k < n; k++)
        wrong |= exponent_of(sums[k]) == 0x7f800000u;
    if (add == NULL) {
        MXL_IVDEP
        for (int64_t k = 0; k < n; k++)
            out[k] = MXL_CONV_LIMIT(sums[k], low, high);
    } else {
        MXL_IVDEP
        for (int64_t k = 0; k < n; k++) {
            float y = sums[k] + add[k];

            out[k] = MXL_CONV_LIMIT(y, low, high);
        }
    }
    return wrong;
}

/* Some channels, with a function that stores. (The vectors of all of them first: what is stored is
 * not read at once.) */
#define OUTPUT(STORE)                                                                              \
    output_rows rows[FEW];                                                                         \
    uint32_t wrong = 0;                                                                            \
    for (int64_t c = 0; c < channels; c++)                                                         \
        for (int64_t t = 0; t < o->tiles; t += LANES)                                              \
            output_lanes(m + c * apart + t, plane, o->bias != NULL ? o->bias[first + c] : 0,       \
                         rows[c].sums[0] + 2 * t, rows[c].sums[1] + 2 * t);                        \
    for (int64_t c = 0; c < channels; c++) {                                                       \
        for (int p = 0; p < o->count; p++) {                                                       \
            const mxl_winograd_target *to = &o->target[p];                                         \
            for (int i = 0; i < 1 + to->two; i++) {                                                \
                int64_t at = (first + c) * o->apart + to->to + i * o->pitch;                       \
                wrong |= STORE(o, rows[c].sums[i] + 2 * to->at,                                    \
                               o->add != NULL ? o->add + at : NULL, to->n, o->out + at);           \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    *finite = wrong == 0

MXL_INLINE void output_at(int level, const mxl_winograd_outputs *o, int64_t first, int64_t channels,
                          const float *m, int64_t apart, int64_t plane, bool *finite)
{
    (void)level;
    OUTPUT(store);
}
MXL_UP_TO_AVX2(output,
               (const mxl_winograd_outputs *o, int64_t first, int64_t channels, const float *m,
                int64_t apart, int64_t plane, bool *finite),
               o, first, channels, m, apart, plane, finite)

#if MXL_HAS_WIDE
MXL_TARGET_AVX512 MXL_INLINE uint32_t store_512(const mxl_winograd_outputs *o, const float *sums,
                                                const float *add, int64_t n, float *out)
{
    enum { NOT_FINITE = 0x99 }; /* quiet NaN, both infinities, signalling NaN */
    __m512 low = _mm512_set1_ps(o->low), high = _mm512_set1_ps(o->high);
    uint32_t wrong = 0;

    for (int64_t k = 0; k < n; k += LANES) {
        __mmask16 some = (__mmask16)(n - k < LANES ? (1u << (n - k)) - 1 : 0xffffu);
        __m512 y = _mm512_maskz_loadu_ps(some, sums + k);

        wrong |= _mm512_fpclass_ps_mask(y, NOT_FINITE);
        if (add != NULL)
            y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(some, add + k));
        _mm512_mask_storeu_ps(out + k, some, avx512_f32_limit(y, low, high));
    }
    return wrong;
}

MXL_TARGET_AVX512 static void output_512(const mxl_winograd_outputs *o, int64_t first,
                                         int64_t channels, const float *m, int64_t apart,
                                         int64_t plane, bool *finite)
{
    OUTPUT(store_512);
}
#endif

bool mxl_winograd_output(const mxl_winograd_outputs *outputs, int64_t channels, const float *m,
                         int64_t apart, int64_t plane)
{
    bool all = true, finite;

    for (int64_t c = 0; c < channels; c += FEW, m += FEW * apart) {
        int64_t some = channels - c < FEW ? channels - c : FEW;

#if MXL_HAS_WIDE
        if (mxl_level() == MXL_AVX512)
            output_512(outputs, c, some, m, apart, plane, &finite);
        else
#endif
            output(outputs, c, some, m, apart, plane, &finite);
        all = all && finite;
    }
    return all;
}

/* ---- weights ---- */

/* One channel of `height` outputs, a constant where the loop is built. */
MXL_INLINE void weights_of(const float *w, int height, bool flip, float *out, int64_t plane)
{
    MXL_IVDEP
    for (int i = 0; i < height; i++) {
        float u[4][3];

        for (int s = 0; s < 3; s++) {
            float g0 = w[(flip ? 8 - s : s) * height + i],
                  g1 = w[(flip ? 5 - s : 3 + s) * height + i],
                  g2 = w[(flip ? 2 - s : 6 + s) * height + i];

            u[0][s] = g0;
            u[1][s] = 0.5f * (g0 + g1 + g2);
            u[2][s] = 0.5f * (g0 - g1 + g2);
            u[3][s] = g2;
        }
        for (int r = 0; r < 4; r++) {
            float *to = out + 4 * r * plane + i;

            to[0] = u[r][0];
            to[plane] = 0.5f * (u[r][0] + u[r][1] + u[r][2]);
            to[2 * plane] = 0.5f * (u[r][0] - u[r][1] + u[r][2]);
            to[3 * plane] = u[r][2];
        }
    }
}

MXL_INLINE void weights_at(int level, const float *w, int64_t channels, int64_t height, bool flip,
                           float *out, int64_t plane)
{
    (void)level;
    for (int64_t c = 0; c < channels; c++, w += 9 * height, out += height) {
        if (height == 8 && flip)
            weights_of(w, 8, true, out, plane);
        else if (height == 8)
            weights_of(w, 8, false, out, plane);
        else if (height == 4)
            weights_of(w, 4, flip, out, plane);
        else
            weights_of(w, (int)height, flip, out, plane);
    }
}
MXL_FROM_AVX2(weights,
              (const float *w, int64_t channels, int64_t height, bool flip, float *out,
               int64_t plane),
              w, channels, height, flip, out, plane)

void mxl_winograd_weights(const float *w, int64_t channels, int64_t height, bool flip, float *out,
                          int64_t plane)
{
    weights(w, channels, height, flip, out, plane);
}

/* ---- gradients ---- */

MXL_INLINE void grad_at(int level, const float *y, int64_t tiles, int64_t n, float *out,
                        int64_t plane)
{
    (void)level;
    for (int64_t t = 0; t < tiles; t++, y += 2 * n, out += n) {
        const float *below = y + 2 * tiles * n;

        MXL_IVDEP
        for (int64_t k = 0; k < n; k++) {
            float u[4][2] = {{y[k], y[n + k]},
                             {y[k] + below[k], y[n + k] + below[n + k]},
                             {y[k] - below[k], y[n + k] - below[n + k]},
                             {-below[k], -below[n + k]}};

            for (int r = 0; r < 4; r++) {
                float *to = out + 4 * r * plane + k;

                to[0] = u[r][0];
                to[plane] = u[r][0] + u[r][1];
                to[2 * plane] = u[r][0] - u[r][1];
                to[3 * plane] = -u[r][1];
            }
        }
    }
}
MXL_FROM_AVX2(grad, (const float *y, int64_t tiles, int64_t n, float *out, int64_t plane), y, tiles,
              n, out, plane)

void mxl_winograd_grad(const float *y, int64_t tiles, int64_t n, float *out, int64_t plane)
{
    grad(y, tiles, n, out, plane);
}

MXL_INLINE void taps_at(int level, const float *m, int64_t plane, int64_t n, float *out,
                        bool *finite)
{
    uint32_t wrong = 0;

    (void)level;
    MXL_IVDEP
    for (int64_t k = 0; k < n; k++) {
        float u[3][4];

        for (int j = 0; j < 4; j++) {
            const float *from = m + j * plane + k;
            float plus = 0.5f * (from[4 * plane] + from[8 * plane]);
            float minus = 0.5f * (from[4 * plane] - from[8 * plane]);

            u[0][j] = from[0] + plus;
            u[1][j] = minus;
            u[2][j] = plus + from[12 * plane];
        }
        for (int r = 0; r < 3; r++) {
            float plus = 0.5f * (u[r][1] + u[r][2]), minus = 0.5f * (u[r][1] - u[r][2]);
            float t0 = u[r][0] + plus, t2 = plus + u[r][3];

            out[3 * r * n + k] = t0;
            out[(3 * r + 1) * n + k] = minus;
            out[(3 * r + 2) * n + k] = t2;
            wrong |= exponent_of(t0) == 0x7f800000u;
            wrong |= exponent_of(minus) == 0x7f800000u;
            wrong |= exponent_of(t2) == 0x7f800000u;
        }
    }
    *finite = wrong == 0;
}
MXL_FROM_AVX2(taps, (const float *m, int64_t plane, int64_t n, float *out, bool *finite), m, plane,
              n, out, finite)

bool mxl_winograd_taps(const float *m, int64_t plane, int64_t n, float *out)
{
    bool finite;

    taps(m, plane, n, out, &finite);
    return finite;
}
