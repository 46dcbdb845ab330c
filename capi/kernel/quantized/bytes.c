/* See bytes.h. */
#include "kernel/quantized/bytes.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"

enum { GRAIN = 1 << 16 };

/* The limits of bytes. A number between those of its dtype has the same bits as int8 and as uint8:
 * loops that write bytes take the limits, and are the same for both. */
typedef struct limits {
    float low, high;
} limits;

static limits limits_of(int dtype)
{
    return dtype == MXL_U8 ? (limits){0, 255} : (limits){-128, 127};
}

/* Loops run whole vectors of WHOLE elements alone, so that their code is there once; a chunk's last
 * elements are copied. */
enum { WHOLE = 64 };

static int64_t whole_of(int64_t n)
{
    return n & -(int64_t)WHOLE;
}

static int64_t part_of(int64_t n)
{
    return n < WHOLE ? n : whole_of(n);
}

/* ---- scaling ---- */

typedef struct scaling {
    const void *x;
    void *y;
    float scale;
    limits to;
} scaling;

#define SCALE(name, FROM, TO, ...)                                                                 \
    MXL_INLINE void name##_at(int level, const FROM *x, TO *y, float scale, limits to, int64_t n)  \
    {                                                                                              \
        (void)level;                                                                               \
        (void)scale;                                                                               \
        (void)to;                                                                                  \
        n = whole_of(n);                                                                           \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = (TO)(__VA_ARGS__);                                                              \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const FROM *x, TO *y, float scale, limits to, int64_t n), x, y, scale, to, \
                 n)                                                                                \
    static void name##_chunk(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const scaling *s = data;                                                                   \
        const FROM *x = (const FROM *)s->x + begin;                                                \
        TO *y = (TO *)s->y + begin, last_y[WHOLE];                                                 \
        FROM last_x[WHOLE] = {0};                                                                  \
                                                                                                   \
        for (int64_t left = end - begin, n; left > 0; left -= n, x += n, y += n) {                 \
            n = part_of(left);                                                                     \
            if (n < WHOLE)                                                                         \
                memcpy(last_x, x, (size_t)n * sizeof(FROM));                                       \
            name(n < WHOLE ? last_x : x, n < WHOLE ? last_y : y, s->scale, s->to, n + WHOLE - 1);  \
            if (n < WHOLE)                                                                         \
                memcpy(y, last_y, (size_t)n * sizeof(TO));                                         \
        }                                                                                          \
    }
#define TO_BYTE(name, FROM)                                                                        \
    SCALE(name, FROM, uint8_t, mxl_quantized_round((float)x[i] * scale, to.low, to.high))

TO_BYTE(f32_byte, float)
TO_BYTE(i32_byte, int32_t)
TO_BYTE(i8_byte, int8_t)
TO_BYTE(u8_byte, uint8_t)
SCALE(i8_f32, int8_t, float, (float)x[i] * scale)
SCALE(u8_f32, uint8_t, float, (float)x[i] * scale)

void mxl_quantized_scale(int from, int to, const void *x, void *y, int64_t n, float scale)
{
    scaling s = {x, y, scale, limits_of(to)};
    mxl_range_fn run = from == MXL_F32   ? f32_byte_chunk
                       : from == MXL_I32 ? i32_byte_chunk
                       : to == MXL_F32   ? from == MXL_U8 ? u8_f32_chunk : i8_f32_chunk
                       : from == MXL_U8  ? u8_byte_chunk
                                         : i8_byte_chunk;

    mxl_parallel_for(n, GRAIN, run, &s);
}

SCALE(relu, int8_t, int8_t, x[i] > 0 ? x[i] : 0)

void mxl_quantized_relu(const int8_t *x, int8_t *y, int64_t n)
{
    scaling s = {.x = x, .y = y};

    mxl_parallel_for(n, GRAIN, relu_chunk, &s);
}

SCALE(cut, int8_t, int32_t, mxl_quantized_round_wide(truncf((float)x[i] * scale)))

void mxl_quantized_cut(const int8_t *x, int32_t *y, int64_t n, float scale)
{
    scaling s = {.x = x, .y = y, .scale = scale};

    mxl_parallel_for(n, GRAIN, cut_chunk, &s);
}

/* ---- limits ---- */

#define WITHIN(name, FROM)                                                                         \
    MXL_INLINE void name##_at(int level, const FROM *x, uint8_t *y, const mxl_quantized_limit *l,  \
                              int64_t n)                                                           \
    {                                                                                              \
        float scale = l->scale, low = l->low, high = l->high, again = l->again;                    \
        limits to = limits_of(l->to);                                                              \
                                                                                                   \
        (void)level;                                                                               \
        n = whole_of(n);                                                                           \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float number = (float)x[i] * scale;                                                    \
                                                                                                   \
            number = number > low ? number : low;                                                  \
            number = number < high ? number : high;                                                \
            y[i] = (uint8_t)mxl_quantized_round(number * again, to.low, to.high);                  \
        }                                                                                          \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const FROM *x, uint8_t *y, const mxl_quantized_limit *l, int64_t n), x, y, \
                 l, n)                                                                             \
    static void name##_chunk(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const mxl_quantized_limit *l = data;                                                       \
        const FROM *x = (const FROM *)l->x + begin;                                                \
        uint8_t *y = (uint8_t *)l->y + begin, last_y[WHOLE];                                       \
        FROM last_x[WHOLE] = {0};                                                                  \
                                                                                                   \
        for (int64_t left = end - begin, n; left > 0; left -= n, x += n, y += n) {                 \
            n = part_of(left);                                                                     \
            if (n < WHOLE)                                                                         \
                memcpy(last_x, x, (size_t)n);                                                      \
            name(n < WHOLE ? last_x : x, n < WHOLE ? last_y : y, l, n + WHOLE - 1);                \
            if (n < WHOLE)                                                                         \
                memcpy(y, last_y, (size_t)n);                                                      \
        }                                                                                          \
    }

WITHIN(within_i8, int8_t)
WITHIN(within_u8, uint8_t)

void mxl_quantized_within(const mxl_quantized_limit *limit, int64_t n)
{
    mxl_quantized_limit l = *limit;

    mxl_parallel_for(n, GRAIN, l.from == MXL_U8 ? within_u8_chunk : within_i8_chunk, &l);
}

/* ---- pairs ---- */

#define PAIR(name, A, B, TO, ...)                                                                  \
    MXL_INLINE void name##_at(int level, const A *a, const B *b, TO *y, float sa, float sb,        \
                              limits to, int64_t n)                                                \
    {                                                                                              \
        (void)level;                                                                               \
        (void)sa;                                                                                  \
        (void)sb;                                                                                  \
        (void)to;                                                                                  \
        n = whole_of(n);                                                                           \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = (TO)(__VA_ARGS__);                                                              \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const A *a, const B *b, TO *y, float sa, float sb, limits to, int64_t n),  \
                 a, b, y, sa, sb, to, n)                                                           \
    static void name##_chunk(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const mxl_quantized_pair *p = data;                                                        \
        const A *a = (const A *)p->a + begin;                                                      \
        const B *b = (const B *)p->b + begin;                                                      \
        TO *y = (TO *)p->y + begin, last_y[WHOLE];                                                 \
        A last_a[WHOLE] = {0};                                                                     \
        B last_b[WHOLE] = {0};                                                                     \
                                                                                                   \
        for (int64_t left = end - begin, n; left > 0; left -= n, a += n, b += n, y += n) {         \
            n = part_of(left);                                                                     \
            if (n < WHOLE) {                                                                       \
                memcpy(last_a, a, (size_t)n);                                                      \
                memcpy(last_b, b, (size_t)n);                                                      \
            }                                                                                      \
            name(n < WHOLE ? last_a : a, n < WHOLE ? last_b : b, n < WHOLE ? last_y : y,           \
                 p->a_scale, p->b_scale, limits_of(p->to), n + WHOLE - 1);                         \
            if (n < WHOLE)                                                                         \
                memcpy(y, last_y, (size_t)n * sizeof(TO));                                         \
        }                                                                                          \
    }
#define SUM ((float)a[i] * sa + (float)b[i] * sb)
#define ADD(name, A, B)                                                                            \
    PAIR(add_##name##_byte, A, B, uint8_t, mxl_quantized_round(SUM, to.low, to.high))              \
    PAIR(add_##name##_i32, A, B, int32_t, mxl_quantized_round_wide(SUM))
#define PRODUCT ((float)((int32_t)a[i] * b[i]) * sa)
#define MUL(name, A, B)                                                                            \
    PAIR(mul_##name##_byte, A, B, uint8_t, mxl_quantized_round(PRODUCT, to.low, to.high))          \
    PAIR(mul_##name##_i32, A, B, int32_t, (int32_t)a[i] * b[i])                                    \
    PAIR(mul_##name##_f32, A, B, float, PRODUCT)
/* Of different operands uint8 is the first: sums and products are the same. */
#define EACH_PAIR(X) X(ii, int8_t, int8_t) X(ui, uint8_t, int8_t) X(uu, uint8_t, uint8_t)

EACH_PAIR(ADD)
EACH_PAIR(MUL)

#define ADD_ROW(name, A, B) {add_##name##_byte_chunk, add_##name##_i32_chunk},
#define MUL_ROW(name, A, B)                                                                        \
    {mul_##name##_byte_chunk, mul_##name##_i32_chunk, mul_##name##_f32_chunk},

static const mxl_range_fn adds[3][2] = {EACH_PAIR(ADD_ROW)}, muls[3][3] = {EACH_PAIR(MUL_ROW)};

static int operands(const mxl_quantized_pair *p)
{
    return (p->a_dtype == MXL_U8) + (p->b_dtype == MXL_U8);
}

static int result(const mxl_quantized_pair *p)
{
    return p->to == MXL_I32 ? 1 : p->to == MXL_F32 ? 2 : 0;
}

static mxl_quantized_pair in_order(const mxl_quantized_pair *p)
{
    mxl_quantized_pair turned = *p;

    if (p->a_dtype != MXL_U8 && p->b_dtype == MXL_U8) {
        turned.a = p->b;
        turned.b = p->a;
        turned.a_scale = p->b_scale;
        turned.b_scale = p->a_scale;
    }
    return turned;
}

void mxl_quantized_add(const mxl_quantized_pair *pair, int64_t n)
{
    mxl_quantized_pair p = in_order(pair);

    mxl_parallel_for(n, GRAIN, adds[operands(&p)][result(&p)], &p);
}

void mxl_quantized_mul(const mxl_quantized_pair *pair, int64_t n)
{
    mxl_quantized_pair p = in_order(pair);

    p.a_scale = pair->a_scale;
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
