/* See winograd_loops.h. */
#include "kernel/winograd/winograd_loops.h"

#include <string.h>

#include "kernel/conv/conv_store.h"
#include "kernel/target.h"

enum { LANES = MXL_WINOGRAD_LANES };

/* ---- images ---- */

/* even[j] = x[lead + 2 * j], odd[j] = x[lead + 2 * j + 1] for n numbers; 0 outside the row, which
 * has `size` elements, and is NULL where there is none. */
MXL_INLINE void split_row(const float *x, int64_t size, int64_t lead, int64_t n, float *even,
                          float *odd)
{
    int64_t from = lead < 0 ? (1 - lead) / 2 : 0, to = size - lead > 0 ? (size - lead) / 2 : 0;

    from = x == NULL || from > n ? n : from;
    to = to < from ? from : to > n ? n : to;
    for (int64_t j = 0; j < from; j++) {
        even[j] = 0;
        odd[j] = x != NULL && lead + 2 * j == -1 && size > 0 ? x[0] : 0;
    }
    MXL_IVDEP
    for (int64_t j = from; j < to; j++) {
        even[j] = x[lead + 2 * j];
        odd[j] = x[lead + 2 * j + 1];
    }
    for (int64_t j = to; j < n; j++) {
        even[j] = lead + 2 * j < size && lead + 2 * j >= 0 ? x[lead + 2 * j] : 0;
        odd[j] = 0;
    }
}

/* One vector of tiles of a channel. */
MXL_INLINE void image_lanes(const mxl_winograd_rows *rows, int64_t t, float *out, int64_t plane)
{
    MXL_IVDEP
    for (int k = 0; k < LANES; k++) {
        float z[4][4];

        for (int j = 0; j < 4; j++) {
            const float (*x)[MXL_WINOGRAD_SPAN] = j % 2 == 0 ? rows->even : rows->odd;
            int64_t at = t + k + j / 2;

            z[0][j] = x[0][at] - x[2][at];
            z[1][j] = x[1][at] + x[2][at];
            z[2][j] = x[2][at] - x[1][at];
            z[3][j] = x[1][at] - x[3][at];
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

MXL_INLINE void image_at(int level, const mxl_winograd_source *s, int64_t channels, int64_t tiles,
                         mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane)
{
    (void)level;
    for (int64_t c = 0; c < channels; c++)
        for (int i = 0; i < 4; i++)
            split_row(s->row[i] != NULL ? s->row[i] + c * s->apart : NULL, s->size, s->lead,
                      tiles + 1, rows[c].even[i], rows[c].odd[i]);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t t = 0; t < tiles; t += LANES)
            image_lanes(&rows[c], t, out + c * apart + t, plane);
}
MXL_FROM_AVX2(image,
              (const mxl_winograd_source *s, int64_t channels, int64_t tiles,
               mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane),
              s, channels, tiles, rows, out, apart, plane)

void mxl_winograd_image(const mxl_winograd_source *source, int64_t channels, int64_t tiles,
                        mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane)
{
    image(source, channels, tiles, rows, out, apart, plane);
}

/* ---- outputs ---- */

/* Bits that are all ones in a number that is not finite. */
MXL_INLINE uint32_t exponent_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits & 0x7f800000u;
}

/* Both rows of the output, of one vector of tiles. */
MXL_INLINE void output_lanes(const float *m, int64_t plane, float add, float sums[2][2 * LANES])
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
        for (int i = 0; i < 2; i++) {
            sums[i][2 * k] = z[i][0] + (z[i][1] + z[i][2]) + add;
            sums[i][2 * k + 1] = (z[i][1] - z[i][2]) - z[i][3] + add;
        }
    }
}

/* Stores n sums; whether one of them is not finite. */
MXL_INLINE uint32_t store(const mxl_winograd_end *end, const float *sums, const float *add,
                          int64_t n, float *out)
{
    float low = end->low, high = end->high;
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

MXL_INLINE void output_at(int level, const float *m, int64_t plane, const mxl_winograd_end *end,
                          int64_t count, float *const out[2], bool *finite)
{
    _Alignas(64) float sums[2][2 * LANES];
    uint32_t wrong = 0;

    (void)level;
    for (int64_t at = 0; at < count; at += 2 * LANES, m += LANES) {
        output_lanes(m, plane, end->bias, sums);
        for (int i = 0; i < 2; i++) {
            const float *add = end->add[i] != NULL ? end->add[i] + at : NULL;

            if (out[i] == NULL)
                continue;
            if (count - at >= 2 * LANES)
                wrong |= store(end, sums[i], add, 2 * LANES, out[i] + at);
            else
                wrong |= store(end, sums[i], add, count - at, out[i] + at);
        }
    }
    *finite = wrong == 0;
}
MXL_FROM_AVX2(output,
              (const float *m, int64_t plane, const mxl_winograd_end *end, int64_t count,
               float *const out[2], bool *finite),
              m, plane, end, count, out, finite)

bool mxl_winograd_output(const float *m, int64_t plane, const mxl_winograd_end *end, int64_t count,
                         float *const out[2])
{
    bool finite;

    output(m, plane, end, count, out, &finite);
    return finite;
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
