/* See bytes.h. */
#include "kernel/quantized/bytes.h"

#include <math.h>

#include "base/dtype.h"
#include "base/thread.h"

enum { GRAIN = 1 << 16 };

#define LOW_int8_t   (-128.0F)
#define HIGH_int8_t  127.0F
#define LOW_uint8_t  0.0F
#define HIGH_uint8_t 255.0F

/* ---- scaling ---- */

typedef struct scaling {
    const void *x;
    void *y;
    float scale;
} scaling;

#define SCALE(name, FROM, TO, ...)                                                                 \
    MXL_INLINE void name##_at(int level, const FROM *x, TO *y, float scale, int64_t n)             \
    {                                                                                              \
        (void)level;                                                                               \
        (void)scale;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = (TO)(__VA_ARGS__);                                                              \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const FROM *x, TO *y, float scale, int64_t n), x, y, scale, n)             \
    static void name##_chunk(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const scaling *s = data;                                                                   \
                                                                                                   \
        name((const FROM *)s->x + begin, (TO *)s->y + begin, s->scale, end - begin);               \
    }
#define TO_BYTE(name, FROM, TO)                                                                    \
    SCALE(name, FROM, TO, mxl_quantized_round((float)x[i] * scale, LOW_##TO, HIGH_##TO))

TO_BYTE(f32_i8, float, int8_t)
TO_BYTE(f32_u8, float, uint8_t)
TO_BYTE(i32_i8, int32_t, int8_t)
TO_BYTE(i32_u8, int32_t, uint8_t)
TO_BYTE(i8_i8, int8_t, int8_t)
TO_BYTE(u8_i8, uint8_t, int8_t)
TO_BYTE(u8_u8, uint8_t, uint8_t)
SCALE(i8_f32, int8_t, float, (float)x[i] * scale)
SCALE(u8_f32, uint8_t, float, (float)x[i] * scale)

void mxl_quantized_scale(int from, int to, const void *x, void *y, int64_t n, float scale)
{
    static const struct {
        int from, to;
        mxl_range_fn run;
    } ways[] = {{MXL_F32, MXL_I8, f32_i8_chunk}, {MXL_F32, MXL_U8, f32_u8_chunk},
                {MXL_I32, MXL_I8, i32_i8_chunk}, {MXL_I32, MXL_U8, i32_u8_chunk},
                {MXL_I8, MXL_I8, i8_i8_chunk},   {MXL_U8, MXL_I8, u8_i8_chunk},
                {MXL_U8, MXL_U8, u8_u8_chunk},   {MXL_I8, MXL_F32, i8_f32_chunk},
                {MXL_U8, MXL_F32, u8_f32_chunk}};
    scaling s = {x, y, scale};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].from == from && ways[i].to == to)
            mxl_parallel_for(n, GRAIN, ways[i].run, &s);
    }
}

SCALE(relu, int8_t, int8_t, x[i] > 0 ? x[i] : 0)

void mxl_quantized_relu(const int8_t *x, int8_t *y, int64_t n)
{
    scaling s = {x, y, 0};

    mxl_parallel_for(n, GRAIN, relu_chunk, &s);
}

SCALE(cut, int8_t, int32_t, mxl_quantized_round_wide(truncf((float)x[i] * scale)))

void mxl_quantized_cut(const int8_t *x, int32_t *y, int64_t n, float scale)
{
    scaling s = {x, y, scale};

    mxl_parallel_for(n, GRAIN, cut_chunk, &s);
}

/* ---- limits ---- */

#define WITHIN(name, FROM, TO)                                                                     \
    MXL_INLINE void name##_at(int level, const FROM *x, TO *y, const mxl_quantized_limit *l,       \
                              int64_t n)                                                           \
    {                                                                                              \
        float scale = l->scale, low = l->low, high = l->high, again = l->again;                    \
                                                                                                   \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float number = (float)x[i] * scale;                                                    \
                                                                                                   \
            number = number > low ? number : low;                                                  \
            number = number < high ? number : high;                                                \
            y[i] = (TO)mxl_quantized_round(number * again, LOW_##TO, HIGH_##TO);                   \
        }                                                                                          \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const FROM *x, TO *y, const mxl_quantized_limit *l, int64_t n), x, y, l,   \
                 n)                                                                                \
    static void name##_chunk(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const mxl_quantized_limit *l = data;                                                       \
                                                                                                   \
        name((const FROM *)l->x + begin, (TO *)l->y + begin, l, end - begin);                      \
    }

WITHIN(within_ii, int8_t, int8_t)
WITHIN(within_iu, int8_t, uint8_t)
WITHIN(within_ui, uint8_t, int8_t)
WITHIN(within_uu, uint8_t, uint8_t)

void mxl_quantized_within(const mxl_quantized_limit *limit, int64_t n)
{
    static const mxl_range_fn ways[2][2] = {{within_ii_chunk, within_iu_chunk},
                                            {within_ui_chunk, within_uu_chunk}};
    mxl_quantized_limit l = *limit;

    mxl_parallel_for(n, GRAIN, ways[l.from == MXL_U8][l.to == MXL_U8], &l);
}

/* ---- pairs ---- */

#define PAIR(name, A, B, TO, ...)                                                                  \
    MXL_INLINE void name##_at(int level, const A *a, const B *b, TO *y, float sa, float sb,        \
                              int64_t n)                                                           \
    {                                                                                              \
        (void)level;                                                                               \
        (void)sa;                                                                                  \
        (void)sb;                                                                                  \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = (TO)(__VA_ARGS__);                                                              \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const A *a, const B *b, TO *y, float sa, float sb, int64_t n), a, b, y,    \
                 sa, sb, n)                                                                        \
    static void name##_chunk(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const mxl_quantized_pair *p = data;                                                        \
                                                                                                   \
        name((const A *)p->a + begin, (const B *)p->b + begin, (TO *)p->y + begin, p->a_scale,     \
             p->b_scale, end - begin);                                                             \
    }
#define SUM ((float)a[i] * sa + (float)b[i] * sb)
#define ADD(name, A, B)                                                                            \
    PAIR(add_##name##_i8, A, B, int8_t, mxl_quantized_round(SUM, -128, 127))                       \
    PAIR(add_##name##_u8, A, B, uint8_t, mxl_quantized_round(SUM, 0, 255))                         \
    PAIR(add_##name##_i32, A, B, int32_t, mxl_quantized_round_wide(SUM))
#define PRODUCT ((float)((int32_t)a[i] * b[i]) * sa)
#define MUL(name, A, B)                                                                            \
    PAIR(mul_##name##_i8, A, B, int8_t, mxl_quantized_round(PRODUCT, -128, 127))                   \
    PAIR(mul_##name##_u8, A, B, uint8_t, mxl_quantized_round(PRODUCT, 0, 255))                     \
    PAIR(mul_##name##_i32, A, B, int32_t, (int32_t)a[i] * b[i])                                    \
    PAIR(mul_##name##_f32, A, B, float, PRODUCT)
#define EACH_PAIR(X)                                                                               \
    X(ii, int8_t, int8_t) X(iu, int8_t, uint8_t) X(ui, uint8_t, int8_t) X(uu, uint8_t, uint8_t)

EACH_PAIR(ADD)
EACH_PAIR(MUL)

#define ADD_ROW(name, A, B) {add_##name##_i8_chunk, add_##name##_u8_chunk, add_##name##_i32_chunk},
#define MUL_ROW(name, A, B)                                                                        \
    {mul_##name##_i8_chunk, mul_##name##_u8_chunk, mul_##name##_i32_chunk, mul_##name##_f32_chunk},

static const mxl_range_fn adds[4][3] = {EACH_PAIR(ADD_ROW)}, muls[4][4] = {EACH_PAIR(MUL_ROW)};

static int operands(const mxl_quantized_pair *p)
{
    return 2 * (p->a_dtype == MXL_U8) + (p->b_dtype == MXL_U8);
}

static int result(const mxl_quantized_pair *p)
{
    return p->to == MXL_I8 ? 0 : p->to == MXL_U8 ? 1 : p->to == MXL_I32 ? 2 : 3;
}

void mxl_quantized_add(const mxl_quantized_pair *pair, int64_t n)
{
    mxl_quantized_pair p = *pair;

    mxl_parallel_for(n, GRAIN, adds[operands(&p)][result(&p)], &p);
}

void mxl_quantized_mul(const mxl_quantized_pair *pair, int64_t n)
{
    mxl_quantized_pair p = *pair;

    mxl_parallel_for(n, GRAIN, muls[operands(&p)][result(&p)], &p);
}

/* ---- channels ---- */

typedef struct affine {
    const void *x;
    int8_t *y;
    bool is_unsigned;
    int64_t channels, inner;
    const float *factor, *more;
} affine;

#define AFFINE(name, T)                                                                            \
    MXL_INLINE void name##_at(int level, const T *x, int8_t *y, float factor, float more,          \
                              int64_t n)                                                           \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = (int8_t)mxl_quantized_round((float)x[i] * factor + more, -128, 127);            \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const T *x, int8_t *y, float factor, float more, int64_t n), x, y, factor, \
                 more, n)

AFFINE(affine_i8, int8_t)
AFFINE(affine_u8, uint8_t)

static void affine_chunk(void *data, int64_t begin, int64_t end)
{
    const affine *a = data;

    for (int64_t run = begin; run < end; run++) {
        int64_t at = run * a->inner, c = run % a->channels;

        if (a->is_unsigned)
            affine_u8((const uint8_t *)a->x + at, a->y + at, a->factor[c], a->more[c], a->inner);
        else
            affine_i8((const int8_t *)a->x + at, a->y + at, a->factor[c], a->more[c], a->inner);
    }
}

void mxl_quantized_affine(int dtype, const void *x, int8_t *y, int64_t runs, int64_t channels,
                          int64_t inner, const float *factor, const float *more)
{
    affine a = {x, y, dtype == MXL_U8, channels, inner, factor, more};

    mxl_parallel_for(runs, GRAIN / (inner + 1) + 1, affine_chunk, &a);
}

/* ---- bounds ---- */

#define BOUNDS(name, T)                                                                            \
    MXL_INLINE void name##_at(int level, const T *x, int64_t n, float *low, float *high)           \
    {                                                                                              \
        enum { LANES = 16 };                                                                       \
        T least[LANES], most[LANES];                                                               \
                                                                                                   \
        (void)level;                                                                               \
        for (int l = 0; l < LANES; l++)                                                            \
            least[l] = most[l] = x[0];                                                             \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            int64_t at = i + LANES <= n ? i : n > LANES ? n - LANES : 0;                           \
                                                                                                   \
            for (int64_t l = 0; l < LANES && (n >= LANES || l < n); l++) {                         \
                T v = x[at + l];                                                                   \
                                                                                                   \
                least[l] = v < least[l] || !(least[l] == least[l]) ? v : least[l];                 \
                most[l] = v > most[l] || !(most[l] == most[l]) ? v : most[l];                      \
            }                                                                                      \
        }                                                                                          \
        for (int l = 1; l < LANES; l++) {                                                          \
            least[0] = least[l] < least[0] || !(least[0] == least[0]) ? least[l] : least[0];       \
            most[0] = most[l] > most[0] || !(most[0] == most[0]) ? most[l] : most[0];              \
        }                                                                                          \
        *low = (float)least[0];                                                                    \
        *high = (float)most[0];                                                                    \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const T *x, int64_t n, float *low, float *high), x, n, low, high)

BOUNDS(bounds_f32, float)
BOUNDS(bounds_i32, int32_t)

void mxl_quantized_bounds(int dtype, const void *x, int64_t n, float *low, float *high)
{
    if (dtype == MXL_F32)
        bounds_f32(x, n, low, high);
    else
        bounds_i32(x, n, low, high);
}
