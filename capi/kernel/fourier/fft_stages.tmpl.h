/* Stages of a transform over one floating type; included by fft.c with T and NAME(x). Real and
 * imaginary parts are arrays of their own. A stage of radix r, with m positions of s lanes:
 *
 *     y[r p + k] = w^(p k) * the sum over j < r of x[p + m j] e^(-2 pi i j k / r)
 *
 * for p < m, k < r, in each lane; `w` has the roots w^(p k), k > 0, as pairs. The results of the
 * last stage (m = 1) are in order (Stockham). The loops over lanes are those that vectorise. */

typedef struct NAME(pair) {
    T re, im;
} NAME(pair);

/* What a stage reads and writes. */
typedef struct NAME(ends) {
    const T *xr, *xi;
    T *yr, *yi;
} NAME(ends);

MXL_INLINE void NAME(put)(int level, T *re, T *im, int64_t at, NAME(pair) b, NAME(pair) w,
                          bool turns)
{
    re[at] = turns ? mxl_fma(level, b.re, w.re, -b.im * w.im) : b.re;
    im[at] = turns ? mxl_fma(level, b.re, w.im, b.im * w.re) : b.im;
}

#define GET(j)      ((NAME(pair)){xr[(j) * far + q], xi[(j) * far + q]})
#define PLUS(a, b)  ((NAME(pair)){(a).re + (b).re, (a).im + (b).im})
#define MINUS(a, b) ((NAME(pair)){(a).re - (b).re, (a).im - (b).im})
#define TIMES(a, f) ((NAME(pair)){(a).re * (f), (a).im * (f)})
/* a - i b, a + i b */
#define RIGHT(a, b) ((NAME(pair)){(a).re + (b).im, (a).im - (b).re})
#define LEFT(a, b)  ((NAME(pair)){(a).re - (b).im, (a).im + (b).re})
#define PUT(k, b)                                                                                  \
    NAME(put)(level, yr, yi, (k) * s + q, b, (k) == 0 ? w[0] : w[(k) - 1], turns && (k) != 0)

/* One position: x is `far` from one j to the next. */
#define POSITION(radix)                                                                            \
    MXL_INLINE void NAME(position##radix)(int level, const T *xr, const T *xi, T *yr, T *yi,       \
                                          int64_t far, int64_t s, const NAME(pair) *w, bool turns)

POSITION(2)
{
    MXL_IVDEP
    for (int64_t q = 0; q < s; q++) {
        NAME(pair) a = GET(0), b = GET(1);

        PUT(0, PLUS(a, b));
        PUT(1, MINUS(a, b));
    }
}

POSITION(3)
{
    const T sine = (T)0.86602540378443864676;

    MXL_IVDEP
    for (int64_t q = 0; q < s; q++) {
        NAME(pair) a = GET(0), b = GET(1), c = GET(2), sum = PLUS(b, c), mid;
        NAME(pair) turned = TIMES(MINUS(b, c), sine);

        mid = MINUS(a, TIMES(sum, (T)0.5));
        PUT(0, PLUS(a, sum));
        PUT(1, RIGHT(mid, turned));
        PUT(2, LEFT(mid, turned));
    }
}

POSITION(4)
{
    MXL_IVDEP
    for (int64_t q = 0; q < s; q++) {
        NAME(pair) a = GET(0), b = GET(1), c = GET(2), d = GET(3);
        NAME(pair) even = PLUS(a, c), odd = PLUS(b, d), less = MINUS(a, c), turned = MINUS(b, d);

        PUT(0, PLUS(even, odd));
        PUT(1, RIGHT(less, turned));
        PUT(2, MINUS(even, odd));
        PUT(3, LEFT(less, turned));
    }
}

POSITION(5)
{
    const T cos1 = (T)0.30901699437494742410, cos2 = (T)-0.80901699437494742410;
    const T sin1 = (T)0.95105651629515357212, sin2 = (T)0.58778525229247312917;

    MXL_IVDEP
    for (int64_t q = 0; q < s; q++) {
        NAME(pair) a = GET(0), b = GET(1), c = GET(2), d = GET(3), e = GET(4);
        NAME(pair) outer = PLUS(b, e), inner = PLUS(c, d), first, second, turned, turned2;
        NAME(pair) less = MINUS(b, e), less2 = MINUS(c, d);

        first = PLUS(a, PLUS(TIMES(outer, cos1), TIMES(inner, cos2)));
        second = PLUS(a, PLUS(TIMES(outer, cos2), TIMES(inner, cos1)));
        turned = PLUS(TIMES(less, sin1), TIMES(less2, sin2));
        turned2 = MINUS(TIMES(less, sin2), TIMES(less2, sin1));
        PUT(0, PLUS(a, PLUS(outer, inner)));
        PUT(1, RIGHT(first, turned));
        PUT(2, RIGHT(second, turned2));
        PUT(3, LEFT(second, turned2));
        PUT(4, LEFT(first, turned));
    }
}

#define STAGE(radix)                                                                               \
    MXL_INLINE void NAME(stage##radix##_at)(int level, NAME(ends) e, int64_t m, int64_t s,         \
                                            const NAME(pair) *w)                                   \
    {                                                                                              \
        NAME(position##radix)(level, e.xr, e.xi, e.yr, e.yi, m * s, s, w, false);                  \
        for (int64_t p = 1; p < m; p++)                                                            \
            NAME(position##radix)(level, e.xr + p * s, e.xi + p * s, e.yr + p * radix * s,         \
                                  e.yi + p * radix * s, m * s, s, w + p * (radix - 1), true);      \
    }                                                                                              \
    MXL_UP_TO_AVX2(NAME(stage##radix), (NAME(ends) e, int64_t m, int64_t s, const NAME(pair) *w),  \
                   e, m, s, w)

STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)

/* ---- any odd radix, by pairs of elements: j and radix - j have one cosine ---- */

enum { NAME(BLOCK) = 8, NAME(HALF) = MXL_FFT_RADIX / 2 };

/* `count` lanes of one position. `circle` has the radix's own roots, (cos, -sin). */
MXL_INLINE void NAME(odd_lanes)(int level, int radix, NAME(ends) e, int64_t far, int64_t s,
                                int64_t count, const NAME(pair) *w, const NAME(pair) *circle,
                                bool turns)
{
    T sums[2][NAME(HALF)][NAME(BLOCK)], less[2][NAME(HALF)][NAME(BLOCK)];
    const int half = radix / 2;
    const NAME(pair) one = {1, 0};

    for (int64_t q = 0; q < count; q++) {
        NAME(pair) total = {e.xr[q], e.xi[q]};

        for (int j = 1; j <= half; j++) {
            const int64_t near = j * far + q, other = (radix - j) * far + q;

            total.re += sums[0][j - 1][q] = e.xr[near] + e.xr[other];
            total.im += sums[1][j - 1][q] = e.xi[near] + e.xi[other];
            less[0][j - 1][q] = e.xr[near] - e.xr[other];
            less[1][j - 1][q] = e.xi[near] - e.xi[other];
        }
        NAME(put)(level, e.yr, e.yi, q, total, one, false);
    }
    for (int k = 1; k <= half; k++) {
        T re[NAME(BLOCK)] = {0}, im[NAME(BLOCK)] = {0}, right[NAME(BLOCK)] = {0},
          left[NAME(BLOCK)] = {0};

        for (int j = 1, at = k; j <= half; j++, at += at + k < radix ? k : k - radix) {
            const T c = circle[at].re, sine = -circle[at].im;

            for (int q = 0; q < NAME(BLOCK); q++) {
                re[q] = mxl_fma(level, sums[0][j - 1][q], c, re[q]);
                im[q] = mxl_fma(level, sums[1][j - 1][q], c, im[q]);
                right[q] = mxl_fma(level, less[0][j - 1][q], sine, right[q]);
                left[q] = mxl_fma(level, less[1][j - 1][q], sine, left[q]);
            }
        }
        for (int64_t q = 0; q < count; q++) {
            NAME(pair) mid = {e.xr[q] + re[q], e.xi[q] + im[q]}, turned = {right[q], left[q]};

            NAME(put)(level, e.yr, e.yi, k * s + q, RIGHT(mid, turned), w[k - 1], turns);
            NAME(put)(level, e.yr, e.yi, (radix - k) * s + q, LEFT(mid, turned), w[radix - k - 1],
                      turns);
        }
    }
}

MXL_INLINE void NAME(odd_at)(int level, int radix, NAME(ends) e, int64_t m, int64_t s,
                             const NAME(pair) *w, const NAME(pair) *circle)
{
    for (int64_t p = 0; p < m; p++) {
        for (int64_t q = 0; q < s; q += NAME(BLOCK)) {
            const int64_t x = p * s + q, y = p * radix * s + q;
            NAME(ends) here = {e.xr + x, e.xi + x, e.yr + y, e.yi + y};

            if (s - q >= NAME(BLOCK)) /* a constant, of which the loop makes vectors */
                NAME(odd_lanes)(level, radix, here, m * s, s, NAME(BLOCK), w + p * (radix - 1),
                                circle, p > 0);
            else
                NAME(odd_lanes)(level, radix, here, m * s, s, s - q, w + p * (radix - 1), circle,
                                p > 0);
        }
    }
}
MXL_UP_TO_AVX2(NAME(odd),
               (int radix, NAME(ends) e, int64_t m, int64_t s, const NAME(pair) *w,
                const NAME(pair) *circle),
               radix, e, m, s, w, circle)

/* ---- between stages, and at the ends ---- */

/* Roots w^(step k), k < count, as products: coarse[k / BLOCK] * fine[k % BLOCK]. */
typedef struct NAME(roots) {
    const NAME(pair) *coarse, *fine;
} NAME(roots);

MXL_INLINE NAME(pair) NAME(times)(int level, NAME(pair) a, NAME(pair) b)
{
    NAME(pair) c;

    NAME(put)(level, &c.re, &c.im, 0, a, b, true);
    return c;
}

/* y[j][k] = x[k][j] * w^(j k), for k < rows, j < columns; w[j] has the roots of column j. */
MXL_INLINE void NAME(turn_at)(int level, NAME(ends) e, int64_t rows, int64_t columns, NAME(roots) w)
{
    const int64_t blocks = (rows + BLOCK - 1) / BLOCK;

    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = block * BLOCK, left = rows - first;

        for (int64_t j = 0; j < columns; j++) {
            const NAME(pair) coarse = w.coarse[j * blocks + block], *fine = w.fine + j * BLOCK;
            const T *xr = e.xr + first * columns + j, *xi = e.xi + first * columns + j;
            T *yr = e.yr + j * rows + first, *yi = e.yi + j * rows + first;

            MXL_IVDEP
            for (int64_t k = 0; k < (left < BLOCK ? left : BLOCK); k++) {
                NAME(pair) x = {xr[k * columns], xi[k * columns]};

                NAME(put)(level, yr, yi, k, x, NAME(times)(level, coarse, fine[k]), true);
            }
        }
    }
}
MXL_UP_TO_AVX2(NAME(turn), (NAME(ends) e, int64_t rows, int64_t columns, NAME(roots) w), e, rows,
               columns, w)

/* x *= w, n of them. */
MXL_INLINE void NAME(multiply_at)(int level, T *re, T *im, const NAME(pair) *w, int64_t n)
{
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++) {
        NAME(pair) x = {re[i], im[i]};

        NAME(put)(level, re, im, i, x, w[i], true);
    }
}
MXL_UP_TO_AVX2(NAME(multiply), (T *re, T *im, const NAME(pair) *w, int64_t n), re, im, w, n)

/* How numbers lie in an array outside: from one of `rows` to the next, from one lane to the next,
 * and from the real part to the imaginary one, 0: there is none. */
typedef struct NAME(layout) {
    int64_t rows, lanes, row, lane, other;
} NAME(layout);

#define EACH_LANE(step, ...)                                                                       \
    MXL_IVDEP                                                                                      \
    for (int64_t q = 0; q < a.lanes; q++) {                                                        \
        const int64_t at = q * (step);                                                             \
        __VA_ARGS__                                                                                \
    }

/* The parts from pairs, or from two rows of real numbers at a time. */
MXL_INLINE void NAME(load_at)(int level, T *re, T *im, const T *from, NAME(layout) a)
{
    (void)level;
    for (int64_t j = 0; j < a.rows; j++, re += a.lanes, im += a.lanes, from += a.row) {
        if (a.lane == 2 && a.other == 1) {
            EACH_LANE(2, re[q] = from[at]; im[q] = from[at + 1];)
        } else if (a.other == 0) {
            EACH_LANE(a.lane, re[q] = from[at]; im[q] = 0;)
        } else if (a.lane == 1) {
            EACH_LANE(1, re[q] = from[at]; im[q] = from[at + a.other];)
        } else {
            EACH_LANE(a.lane, re[q] = from[at]; im[q] = from[at + a.other];)
        }
    }
}
MXL_UP_TO_AVX2(NAME(load), (T *re, T *im, const T *from, NAME(layout) a), re, im, from, a)

/* The reverse, times a factor. */
MXL_INLINE void NAME(store_at)(int level, const T *re, const T *im, T *to, NAME(layout) a, T scale)
{
    (void)level;
    for (int64_t j = 0; j < a.rows; j++, re += a.lanes, im += a.lanes, to += a.row) {
        if (a.lane == 2 && a.other == 1) {
            EACH_LANE(2, to[at] = re[q] * scale; to[at + 1] = im[q] * scale;)
        } else if (a.other == 0) {
            EACH_LANE(a.lane, to[at] = re[q] * scale;)
        } else if (a.lane == 1) {
            EACH_LANE(1, to[at] = re[q] * scale; to[at + a.other] = im[q] * scale;)
        } else {
            EACH_LANE(a.lane, to[at] = re[q] * scale; to[at + a.other] = im[q] * scale;)
        }
    }
}
MXL_UP_TO_AVX2(NAME(store), (const T *re, const T *im, T *to, NAME(layout) a, T scale), re, im, to,
               a, scale)

/* ---- halves: n real numbers, n even, as n / 2 pairs z[j] = (x[2 j], x[2 j + 1]) ---- */

/* All pairs but the first and the last are multiplied by `middle`, their imaginary parts also by
 * `sign`. */
typedef struct NAME(half) {
    int64_t half, lanes;
    NAME(roots) roots; /* w^k, k < half, of n */
    T middle, sign;
} NAME(half);

/* Runs the body for all k from 1 on, and all lanes: with `near` at k, `other` at half - k, and the
 * root w. The inner loop is over lanes, or over k where there is one lane. */
#define EACH_MIDDLE(...)                                                                           \
    for (int64_t first = 0; first < h.half; first += BLOCK) {                                      \
        const NAME(pair) coarse = h.roots.coarse[first / BLOCK];                                   \
        const int64_t last = first + BLOCK < h.half ? first + BLOCK : h.half;                      \
        const int64_t begin = first == 0 ? 1 : first;                                              \
                                                                                                   \
        if (h.lanes == 1) {                                                                        \
            MXL_IVDEP                                                                              \
            for (int64_t near = begin; near < last; near++) {                                      \
                const int64_t other = h.half - near;                                               \
                const NAME(pair) w = NAME(times)(level, coarse, h.roots.fine[near - first]);       \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t k = begin; k < last; k++) {                                               \
                const NAME(pair) w = NAME(times)(level, coarse, h.roots.fine[k - first]);          \
                MXL_IVDEP                                                                          \
                for (int64_t q = 0; q < h.lanes; q++) {                                            \
                    const int64_t near = k * h.lanes + q, other = (h.half - k) * h.lanes + q;      \
                    __VA_ARGS__                                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The n / 2 + 1 pairs of x from the transform of z: of even elements (a + conj b) / 2, of odd ones
 * (a - conj b) / 2i, which the root turns. */
MXL_INLINE void NAME(from_half_at)(int level, NAME(ends) e, NAME(half) h)
{
    const T half = (T)0.5;

    for (int64_t q = 0, end = h.half * h.lanes; q < h.lanes; q++) {
        e.yr[q] = e.xr[q] + e.xi[q];
        e.yr[end + q] = e.xr[q] - e.xi[q];
        e.yi[q] = e.yi[end + q] = 0;
    }
    EACH_MIDDLE(T ar = e.xr[near], ai = e.xi[near], br = e.xr[other], bi = e.xi[other];
                T ur = half * (ar + br), ui = half * (ai - bi), vr = half * (ai + bi);
                T vi = half * (br - ar), c = w.re, s = w.im;
                e.yr[near] = (ur + c * vr - s * vi) * h.middle;
                e.yi[near] = (ui + c * vi + s * vr) * (h.middle * h.sign);)
}
MXL_UP_TO_AVX2(NAME(from_half), (NAME(ends) e, NAME(half) h), e, h)

/* The reverse: z, before its inverse transform, from n / 2 + 1 pairs. */
MXL_INLINE void NAME(to_half_at)(int level, NAME(ends) e, NAME(half) h)
{
    const T f = (T)0.5 * h.middle, g = f * h.sign;

    for (int64_t q = 0, end = h.half * h.lanes; q < h.lanes; q++) {
        e.yr[q] = e.xr[q] + e.xr[end + q];
        e.yi[q] = e.xr[q] - e.xr[end + q];
    }
    EACH_MIDDLE(T ar = e.xr[near] * f, ai = e.xi[near] * g, br = e.xr[other] * f;
                T bi = -e.xi[other] * g, ur = ar + br, ui = ai + bi, dr = ar - br, di = ai - bi;
                T c = w.re, s = -w.im, vr = dr * c - di * s, vi = dr * s + di * c;
                e.yr[near] = ur - vi; e.yi[near] = ui + vr;)
}
MXL_UP_TO_AVX2(NAME(to_half), (NAME(ends) e, NAME(half) h), e, h)

#undef GET
#undef PLUS
#undef MINUS
#undef TIMES
#undef RIGHT
#undef LEFT
#undef PUT
#undef POSITION
#undef STAGE
#undef EACH_LANE
#undef EACH_MIDDLE
