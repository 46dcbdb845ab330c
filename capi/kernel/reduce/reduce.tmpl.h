/* The reduction loops of one dtype; included by reduce_loops.c once per dtype with NAME(x), T (the
 * element), A (the accumulator, double or int64_t), P (the type of products), FLAG (an integer as
 * wide as T), LOWEST, HIGHEST, FLOATING, MAGNITUDE(v), UNORDERED(a, b), CARRIES, and of
 * kernel/target.h LEVELS and, for kinds that are seldom asked for, RARE_LEVELS defined. */

#define LANES     ((int)(64 / sizeof(T)))
#define IS_NAN(v) UNORDERED(v, v)

/* With CARRIES, `lost` sums up the rounding errors of the additions of doubles. */
MXL_INLINE void NAME(add)(A *sum, A *lost, A v)
{
    A both = *sum + v, part = both - *sum;

    if (CARRIES)
        *lost += (*sum - (both - part)) + (v - part);
    *sum = both;
}

/* If the sum is infinite, `lost` is NaN and is ignored. */
MXL_INLINE A NAME(added)(A sum, A lost)
{
    return CARRIES && lost - lost == 0 ? sum + lost : sum;
}

MXL_INLINE void NAME(multiply)(A *product, A *unused, A v)
{
    (void)unused;
    *product *= v;
}

MXL_INLINE A NAME(multiplied)(A product, A unused)
{
    (void)unused;
    return product;
}

/* A kind that adds or multiplies. Four elements are first combined in E: for sums of floats this
 * means two roundings to float, and a quarter of the conversions to double. */
#define FOLD(kind, E, of, sign, into, out)                                                         \
    MXL_INLINE E NAME(kind##_of)(T v)                                                              \
    {                                                                                              \
        return of;                                                                                 \
    }                                                                                              \
    MXL_INLINE void NAME(kind##_four)(A * all, A * lost, T a, T b, T c, T d)                       \
    {                                                                                              \
        E two = NAME(kind##_of)(a) sign NAME(kind##_of)(b);                                        \
        E more = NAME(kind##_of)(c) sign NAME(kind##_of)(d);                                       \
                                                                                                   \
        NAME(into)(all, lost, (A)(two sign more));                                                 \
    }                                                                                              \
    MXL_INLINE void NAME(kind##_meet)(A * all, A * lost, A other, A other_lost)                    \
    {                                                                                              \
        *all = *all sign other;                                                                    \
        *lost += other_lost;                                                                       \
    }                                                                                              \
    MXL_INLINE A NAME(kind##_whole)(A all, A lost)                                                 \
    {                                                                                              \
        return NAME(out)(all, lost);                                                               \
    }                                                                                              \
    MXL_INLINE A NAME(kind##_join)(A a, A b)                                                       \
    {                                                                                              \
        return a sign b;                                                                           \
    }

#define SUM(kind, E, of)  FOLD(kind, E, of, +, add, added)
#define PRODUCT(kind, of) FOLD(kind, P, of, *, multiply, multiplied)

/* A kind that selects. A lane holds the best number, and whether there was a NaN. */
#define CHOICE(kind, better)                                                                       \
    MXL_INLINE T NAME(kind##_of)(T a, T b)                                                         \
    {                                                                                              \
        return a better b ? a : b;                                                                 \
    }                                                                                              \
    MXL_INLINE void NAME(kind##_four)(T *best, FLAG *nan, T a, T b, T c, T d)                      \
    {                                                                                              \
        T one = NAME(kind##_of)(NAME(kind##_of)(a, b), NAME(kind##_of)(c, d));                     \
                                                                                                   \
        *nan |= (FLAG) - (UNORDERED(a, b) | UNORDERED(c, d));                                      \
        *best = NAME(kind##_of)(one, *best);                                                       \
    }                                                                                              \
    MXL_INLINE void NAME(kind##_meet)(T *best, FLAG *nan, T other, FLAG other_nan)                 \
    {                                                                                              \
        *best = NAME(kind##_of)(*best, other);                                                     \
        *nan |= other_nan;                                                                         \
    }                                                                                              \
    MXL_INLINE A NAME(kind##_whole)(T best, FLAG nan)                                              \
    {                                                                                              \
        return FLOATING && nan != 0 ? (A)NAN : (A)best;                                            \
    }                                                                                              \
    MXL_INLINE A NAME(kind##_join)(A a, A b)                                                       \
    {                                                                                              \
        return IS_NAN(b) || b better a ? b : a;                                                    \
    }

SUM(sum, T, v)
SUM(norm1, T, MAGNITUDE(v))
SUM(norm2, A, (A)v *(A)v)
SUM(squares, T, v *v)
PRODUCT(prod, v)
CHOICE(max, >)
CHOICE(min, <)

#define LANE        A
#define SEEN        A
#define EMPTY       0
#define PARTS       FLOATING
#define KIND_LEVELS LEVELS
#define KIND(x)     NAME(sum_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#define KIND(x) NAME(norm2_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#undef PARTS
#define PARTS   0
#define KIND(x) NAME(squares_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#undef PARTS
#undef KIND_LEVELS
#define PARTS       FLOATING
#define KIND_LEVELS RARE_LEVELS
#define KIND(x)     NAME(norm1_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#undef PARTS
#define PARTS 0
#if FLOATING
SUM(nansum, T, IS_NAN(v) ? 0 : v)
#define KIND(x) NAME(nansum_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#endif

#undef EMPTY
#define EMPTY   1
#define KIND(x) NAME(prod_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#if FLOATING
PRODUCT(nanprod, IS_NAN(v) ? 1 : v)
#define KIND(x) NAME(nanprod_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#endif

#undef LANE
#undef SEEN
#undef EMPTY
#undef PARTS
#undef KIND_LEVELS
#define KIND_LEVELS LEVELS
#define PARTS       FLOATING
#define LANE        T
#define SEEN        FLAG
#define EMPTY       LOWEST
#define KIND(x)     NAME(max_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"
#undef EMPTY
#define EMPTY   HIGHEST
#define KIND(x) NAME(min_##x)
#include "kernel/reduce/reduce_kind.tmpl.h"

MXL_INLINE void NAME(rows_less_at)(int level, void *out, const void *in, const void *about,
                                   int64_t n, int64_t m, int64_t stride)
{
    (void)level;
    for (int64_t j = 0; j < n; j++) {
        const T *x = (const T *)in + j * stride, less = ((const T *)about)[j];
        T *y = (T *)out + j * m;

        MXL_IVDEP
        for (int64_t i = 0; i < m; i++)
            y[i] = x[i] - less;
    }
}
LEVELS(NAME(rows_less),
       (void *out, const void *in, const void *about, int64_t n, int64_t m, int64_t stride), out,
       in, about, n, m, stride)

MXL_INLINE void NAME(columns_less_at)(int level, void *out, const void *in, const void *about,
                                      int64_t n, int64_t m, int64_t stride)
{
    const T *less = about;

    (void)level;
    for (int64_t i = 0; i < m; i++) {
        const T *x = (const T *)in + i * stride;
        T *y = (T *)out + i * n;

        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            y[j] = x[j] - less[j];
    }
}
LEVELS(NAME(columns_less),
       (void *out, const void *in, const void *about, int64_t n, int64_t m, int64_t stride), out,
       in, about, n, m, stride)

#define LOOPS(which, of_numbers)                                                                   \
    {                                                                                              \
        [MXL_REDUCE_SUM] = NAME(sum_##which),                                                      \
        [MXL_REDUCE_MEAN] = NAME(sum_##which),                                                     \
        [MXL_REDUCE_MAX] = NAME(max_##which),                                                      \
        [MXL_REDUCE_MIN] = NAME(min_##which),                                                      \
        [MXL_REDUCE_PROD] = NAME(prod_##which),                                                    \
        [MXL_REDUCE_NORM1] = NAME(norm1_##which),                                                  \
        [MXL_REDUCE_NORM2] = NAME(norm2_##which),                                                  \
        [MXL_REDUCE_SQUARES] = NAME(squares_##which),                                              \
        [MXL_REDUCE_NANSUM] = of_numbers(sum_##which),                                             \
        [MXL_REDUCE_NANPROD] = of_numbers(prod_##which),                                           \
    }
#if FLOATING
#define NUMBERS(x) NAME(nan##x)
#else
#define NUMBERS NAME
#endif

#if FLOATING
/* Up to four rows of n neighbours, added to n sums and what these have lost. */
MXL_INLINE void NAME(sum_group_at)(int level, void *sums, void *lost, const void *in, int64_t n,
                                   int64_t m)
{
    A *sum = sums, *less = lost;
    const T *x = in;

    (void)level;
    if (m == 4) {
        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            NAME(sum_four)(&sum[j], &less[j], x[j], x[n + j], x[2 * n + j], x[3 * n + j]);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        NAME(sum_four)(&sum[j], &less[j], x[j], m > 1 ? x[n + j] : 0, m > 2 ? x[2 * n + j] : 0, 0);
}
LEVELS(NAME(sum_group), (void *sums, void *lost, const void *in, int64_t n, int64_t m), sums, lost,
       in, n, m)

/* Sums of n columns with what they have lost, into `sums`, which may be `acc`. */
static void NAME(sum_groups_end)(void *acc, const void *sums, const void *lost, int64_t n)
{
    A *a = acc;
    const A *sum = sums, *less = lost;

    for (int64_t j = 0; j < n; j++)
        a[j] = NAME(sum_join)(0, NAME(sum_whole)(sum[j], less[j]));
}
#endif

static const mxl_reduce_loops NAME(loops) = {
    .rows = LOOPS(rows, NUMBERS),
    .columns = LOOPS(columns, NUMBERS),
    .rows_less = NAME(rows_less),
    .columns_less = NAME(columns_less),
#if FLOATING
    .part = {[MXL_REDUCE_SUM] = NAME(sum_part),
             [MXL_REDUCE_MEAN] = NAME(sum_part),
             [MXL_REDUCE_MAX] = NAME(max_part),
             [MXL_REDUCE_MIN] = NAME(min_part),
             [MXL_REDUCE_NORM1] = NAME(norm1_part),
             [MXL_REDUCE_NORM2] = NAME(norm2_part)},
    .group = NAME(sum_group),
    .groups_end = NAME(sum_groups_end),
#endif
};

#undef LANES
#undef IS_NAN
#undef FOLD
#undef SUM
#undef PRODUCT
#undef CHOICE
#undef LANE
#undef SEEN
#undef EMPTY
#undef PARTS
#undef KIND_LEVELS
#undef LOOPS
#undef NUMBERS
#undef NAME
#undef T
#undef A
#undef P
#undef FLAG
#undef LOWEST
#undef HIGHEST
#undef FLOATING
#undef MAGNITUDE
#undef UNORDERED
#undef CARRIES
#undef LEVELS
#undef RARE_LEVELS
