/* The loops of one dtype's reductions; included by reduce_loops.c once per dtype with NAME(x), T
 * (the element), A (the accumulator: double or int64_t), LOAD(v), STORE(a), LOWEST, HIGHEST,
 * IS_NAN(v) and MEAN defined, and WHOLE for integers. */

#ifdef WHOLE /* integers: any order gives the same, the compiler finds its own */
static void NAME(sum_run)(void *acc, const void *in, int64_t n)
{
    const T *x = in;
    A total = 0;

    for (int64_t i = 0; i < n; i++)
        total += (A)LOAD(x[i]);
    *(A *)acc += total;
}
#else
/* *acc += the run. Lanes of their own let the loop vectorise, and fix the order of additions. */
MXL_INLINE void NAME(sum_run_at)(int level, void *acc, const void *in, int64_t n)
{
    const T *x = in;
    A lane[REDUCE_LANES];
    A total = 0;
    int64_t i = 0;

    (void)level;
    for (int l = 0; l < REDUCE_LANES; l++)
        lane[l] = 0;
    for (; i + REDUCE_LANES <= n; i += REDUCE_LANES) {
        for (int l = 0; l < REDUCE_LANES; l++)
            lane[l] += (A)LOAD(x[i + l]);
    }
    for (; i < n; i++)
        total += (A)LOAD(x[i]);
    for (int l = 0; l < REDUCE_LANES; l++)
        total += lane[l];
    *(A *)acc += total;
}
MXL_BY_LEVEL(NAME(sum_run), (void *acc, const void *in, int64_t n), acc, in, n)
#endif

/* A bitwise or: a second branch would keep the loops from being vectorised. */
static inline A NAME(larger)(A a, A b)
{
    return ((b > a) | IS_NAN(b)) ? b : a;
}

#ifdef WHOLE
static void NAME(max_run)(void *acc, const void *in, int64_t n)
{
    const T *x = in;
    T best = x[0];

    for (int64_t i = 1; i < n; i++)
        best = x[i] > best ? x[i] : best;
    *(A *)acc = NAME(larger)(*(A *)acc, (A)LOAD(best));
}
#else
/* As columns: a loop over a few lanes is unrolled before it can be vectorised. */
MXL_INLINE void NAME(max_run_at)(int level, void *acc, const void *in, int64_t n)
{
    const T *x = in;
    A lane[MAX_LANES];
    A best = *(A *)acc;
    int64_t lanes = n < MAX_LANES ? n : MAX_LANES, i = lanes;

    (void)level;
    for (int64_t l = 0; l < lanes; l++)
        lane[l] = (A)LOAD(x[l]);
    for (; i + lanes <= n; i += lanes) {
        for (int64_t l = 0; l < lanes; l++)
            lane[l] = NAME(larger)(lane[l], (A)LOAD(x[i + l]));
    }
    for (; i < n; i++)
        best = NAME(larger)(best, (A)LOAD(x[i]));
    for (int64_t l = 0; l < lanes; l++)
        best = NAME(larger)(best, lane[l]);
    *(A *)acc = best;
}
MXL_BY_LEVEL(NAME(max_run), (void *acc, const void *in, int64_t n), acc, in, n)
#endif

#define COLUMNS_BY_LEVEL(fn)                                                                       \
    MXL_BY_LEVEL(NAME(fn), (void *acc, const void *in, int64_t n, int64_t rows, int64_t stride),   \
                 acc, in, n, rows, stride)

/* acc[j] += in[r * stride + j] over `rows` rows of n columns. */
MXL_INLINE void NAME(sum_columns_at)(int level, void *acc, const void *in, int64_t n, int64_t rows,
                                     int64_t stride)
{
    A *a = acc;

    (void)level;
    for (int64_t r = 0; r < rows; r++) {
        const T *x = (const T *)in + r * stride;

        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            a[j] += (A)LOAD(x[j]);
    }
}
COLUMNS_BY_LEVEL(sum_columns)

MXL_INLINE void NAME(max_columns_at)(int level, void *acc, const void *in, int64_t n, int64_t rows,
                                     int64_t stride)
{
    A *a = acc;

    (void)level;
    for (int64_t r = 0; r < rows; r++) {
        const T *x = (const T *)in + r * stride;

        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            a[j] = NAME(larger)(a[j], (A)LOAD(x[j]));
    }
}
COLUMNS_BY_LEVEL(max_columns)

/* Kinds that are not on a hot path: *acc = step(*acc, x), in the order of the elements. */
#define SIMPLE(kind, step)                                                                         \
    MXL_INLINE void NAME(kind##_run_at)(int level, void *acc, const void *in, int64_t n)           \
    {                                                                                              \
        const T *x = in;                                                                           \
        A a = *(A *)acc;                                                                           \
                                                                                                   \
        (void)level;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            A v = (A)LOAD(x[i]);                                                                   \
                                                                                                   \
            a = step;                                                                              \
        }                                                                                          \
        *(A *)acc = a;                                                                             \
    }                                                                                              \
    MXL_BY_LEVEL(NAME(kind##_run), (void *acc, const void *in, int64_t n), acc, in, n)             \
    MXL_INLINE void NAME(kind##_columns_at)(int level, void *acc, const void *in, int64_t n,       \
                                            int64_t rows, int64_t stride)                          \
    {                                                                                              \
        A *all = acc;                                                                              \
                                                                                                   \
        (void)level;                                                                               \
        for (int64_t r = 0; r < rows; r++) {                                                       \
            const T *x = (const T *)in + r * stride;                                               \
                                                                                                   \
            MXL_IVDEP                                                                              \
            for (int64_t j = 0; j < n; j++) {                                                      \
                A v = (A)LOAD(x[j]), a = all[j];                                                   \
                                                                                                   \
                all[j] = step;                                                                     \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    COLUMNS_BY_LEVEL(kind##_columns)

SIMPLE(min, ((v < a) | IS_NAN(v)) ? v : a)
SIMPLE(prod, a *v)
SIMPLE(nansum, IS_NAN(v) ? a : a + v)
SIMPLE(nanprod, IS_NAN(v) ? a : a * v)
SIMPLE(norm1, v < 0 ? a - v : a + v)
SIMPLE(norm2, a + v * v)
#undef SIMPLE

#define START(kind, value)                                                                         \
    static void NAME(start_##kind)(void *acc, int64_t n)                                           \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++)                                                            \
            ((A *)acc)[j] = value;                                                                 \
    }

START(max, LOWEST)
START(min, HIGHEST)
START(prod, 1)
#undef START

/* Accumulators into elements; `count` elements went into each. */
static void NAME(finish)(mxl_reduction kind, void *out, const void *acc, int64_t n, int64_t count)
{
    T *z = out;
    const A *a = acc;

    (void)count;
    for (int64_t j = 0; j < n; j++) {
        A v = a[j];

        if (kind == MXL_REDUCE_MEAN)
            v = MEAN(T, v, count);
        else if (kind == MXL_REDUCE_NORM2)
            v = (A)sqrt((double)v);
        z[j] = STORE(v);
    }
}

#define ARG(kind, better)                                                                          \
    static int64_t NAME(kind##_run)(const void *in, int64_t n)                                     \
    {                                                                                              \
        const T *x = in;                                                                           \
        int64_t at = 0;                                                                            \
        A best = (A)LOAD(x[0]);                                                                    \
                                                                                                   \
        for (int64_t i = 1; i < n; i++) {                                                          \
            A v = (A)LOAD(x[i]);                                                                   \
                                                                                                   \
            if (v better best || (IS_NAN(v) && !IS_NAN(best))) {                                   \
                best = v;                                                                          \
                at = i;                                                                            \
            }                                                                                      \
        }                                                                                          \
        return at;                                                                                 \
    }                                                                                              \
    /* n columns (at most REDUCE_COLUMNS) of `rows` rows */                                        \
    static void NAME(kind##_columns)(int64_t *at, const void *in, int64_t n, int64_t rows,         \
                                     int64_t stride)                                               \
    {                                                                                              \
        A best[REDUCE_COLUMNS];                                                                    \
                                                                                                   \
        for (int64_t j = 0; j < n; j++) {                                                          \
            best[j] = (A)LOAD(((const T *)in)[j]);                                                 \
            at[j] = 0;                                                                             \
        }                                                                                          \
        for (int64_t r = 1; r < rows; r++) {                                                       \
            const T *x = (const T *)in + r * stride;                                               \
                                                                                                   \
            for (int64_t j = 0; j < n; j++) {                                                      \
                A v = (A)LOAD(x[j]);                                                               \
                bool more = v better best[j] || (IS_NAN(v) && !IS_NAN(best[j]));                   \
                                                                                                   \
                best[j] = more ? v : best[j];                                                      \
                at[j] = more ? r : at[j];                                                          \
            }                                                                                      \
        }                                                                                          \
    }

ARG(argmax, >)
ARG(argmin, <)
#undef ARG

#define LOOPS(which)                                                                               \
    {[MXL_REDUCE_SUM] = NAME(sum_##which),         [MXL_REDUCE_MEAN] = NAME(sum_##which),          \
     [MXL_REDUCE_MAX] = NAME(max_##which),         [MXL_REDUCE_MIN] = NAME(min_##which),           \
     [MXL_REDUCE_PROD] = NAME(prod_##which),       [MXL_REDUCE_NANSUM] = NAME(nansum_##which),     \
     [MXL_REDUCE_NANPROD] = NAME(nanprod_##which), [MXL_REDUCE_NORM1] = NAME(norm1_##which),       \
     [MXL_REDUCE_NORM2] = NAME(norm2_##which)}

static const mxl_reduce_loops NAME(loops) = {
    .run = LOOPS(run),
    .columns = LOOPS(columns),
    .start = {[MXL_REDUCE_MAX] = NAME(start_max),
              [MXL_REDUCE_MIN] = NAME(start_min),
              [MXL_REDUCE_PROD] = NAME(start_prod),
              [MXL_REDUCE_NANPROD] = NAME(start_prod)},
    .finish = NAME(finish),
    .arg_run = {NAME(argmax_run), NAME(argmin_run)},
    .arg_columns = {NAME(argmax_columns), NAME(argmin_columns)},
};

#undef LOOPS
#undef COLUMNS_BY_LEVEL
#undef NAME
#undef T
#undef A
#undef LOAD
#undef STORE
#undef LOWEST
#undef HIGHEST
#undef IS_NAN
#undef MEAN
#undef WHOLE
