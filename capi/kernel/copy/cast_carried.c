/* Casts from and to dtypes without loops of their own: through their carriers (base/dtype.h), in
 * tiles. uint64 becomes floating, and comes of it, in loops of its own. */
#include "kernel/copy/cast.h"

typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

/* As convert.h: negative numbers wrap, what is too large or no number is one number. */
static inline u64 unsigned_of(double v)
{
    return v >= 0x1p63 ? (u64)mxl_i64_from_f64(v - 0x1p63) ^ (u64)INT64_MIN
                       : (u64)mxl_i64_from_f64(v);
}

#define STEP(A, B, expr)                                                                           \
    static void A##_to_##B(void *out, const void *const *in, const int64_t *step, int64_t n,       \
                           const void *params)                                                     \
    {                                                                                              \
        const A *a = in[0];                                                                        \
        B *z = out;                                                                                \
                                                                                                   \
        (void)step;                                                                                \
        (void)params;                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            z[i] = expr;                                                                           \
    }

STEP(i16, i32, a[i])
STEP(u16, i32, a[i])
STEP(u32, i64, a[i])
STEP(u64, i64, (i64)a[i]) /* and back */
STEP(i32, i16, (i16)a[i]) /* uint16 has the same bits */
STEP(i64, u32, (u32)a[i])
STEP(u64, f32, (f32)a[i])
STEP(u64, f64, (f64)a[i])
STEP(f64, u64, unsigned_of(a[i]))

/* The loop of one step. */
static mxl_loop step_loop(int from, int to)
{
    static const mxl_loop widens[] = {i16_to_i32, u16_to_i32, u32_to_i64, u64_to_i64,
                                      mxl_cast_brain_to_float};
    static const mxl_loop narrows[] = {i32_to_i16, i32_to_i16, i64_to_u32, u64_to_i64,
                                       mxl_cast_float_to_brain};

    if (!mxl_dtype_is_carried(from) && !mxl_dtype_is_carried(to))
        return mxl_cast_loop(from, to);
    if (from == MXL_U64 && to != MXL_I64)
        return to == MXL_F32 ? u64_to_f32 : u64_to_f64;
    if (to == MXL_U64 && from == MXL_F64)
        return f64_to_u64;
    return mxl_dtype_is_carried(from) ? widens[from - MXL_DTYPE_LOOPS]
                                      : narrows[to - MXL_DTYPE_LOOPS];
}

enum { MOST_STEPS = 3 };

/* The dtypes on the way, `to` the last one. Returns how many. */
static int find_way(int from, int to, int *way)
{
    int first = mxl_dtype_carrier(from), last = mxl_dtype_carrier(to), count = 0;

    if (from == MXL_U64 && mxl_dtype_is_float(to))
        first = to == MXL_F64 ? MXL_F64 : MXL_F32;
    if (to == MXL_U64 && mxl_dtype_is_float(from))
        last = MXL_F64;
    if (first != from)
        way[count++] = first;
    if (last != first)
        way[count++] = last;
    if (last != to)
        way[count++] = to;
    return count;
}

/* One function for all pairs: copies of it, one for each, take 10 KB. */
__attribute__((noinline, noclone)) static void cast(int from, int to, void *out, const void *in,
                                                    int64_t n)
{
    _Alignas(8) char tiles[MOST_STEPS - 1][MXL_LOOP_TILE * 8];
    int way[MOST_STEPS], count = find_way(from, to, way);
    int64_t in_size = (int64_t)mxl_dtype_size(from), out_size = (int64_t)mxl_dtype_size(to);
    const int64_t one = 1;

    for (int64_t i = 0; i < n; i += MXL_LOOP_TILE) {
        int64_t part = n - i < MXL_LOOP_TILE ? n - i : MXL_LOOP_TILE;
        const void *data = (const char *)in + i * in_size;
        int dtype = from;

        for (int k = 0; k < count; k++) {
            void *next = k == count - 1 ? (char *)out + i * out_size : tiles[k];

            step_loop(dtype, way[k])(next, &data, &one, part, NULL);
            data = next;
            dtype = way[k];
        }
    }
}

/* ---- a loop for each pair ---- */

#define PAIR(from, to)                                                                             \
    static void cast_##from##_##to(void *out, const void *const *in, const int64_t *step,          \
                                   int64_t n, const void *params)                                  \
    {                                                                                              \
        (void)step;                                                                                \
        (void)params;                                                                              \
        cast(MXL_##from, MXL_##to, out, in[0], n);                                                 \
    }

#define EACH_WITH_LOOPS(DO, X)                                                                     \
    DO(X, F32) DO(X, F64) DO(X, F16) DO(X, U8) DO(X, I32) DO(X, I8) DO(X, I64) DO(X, BOOL)
#define EACH_CARRIED(DO, X) DO(X, I16) DO(X, U16) DO(X, U32) DO(X, U64) DO(X, BF16)
#define BACK(X, from)       PAIR(from, X)
#define LINE(from) EACH_WITH_LOOPS(PAIR, from) EACH_CARRIED(PAIR, from) EACH_WITH_LOOPS(BACK, from)

LINE(I16)
LINE(U16)
LINE(U32)
LINE(U64)
LINE(BF16)

#define ENTRY(from, to)     [MXL_##to] = cast_##from##_##to,
#define FROM_CARRIED(to)    {EACH_WITH_LOOPS(ENTRY, to) EACH_CARRIED(ENTRY, to)}
#define BACK_ENTRY(X, from) [MXL_##from] = cast_##from##_##X,
#define TO_CARRIED(X)       {EACH_WITH_LOOPS(BACK_ENTRY, X)}

mxl_loop mxl_cast_carried(int from, int to)
{
    static const mxl_loop of[][MXL_DTYPE_COUNT] = {FROM_CARRIED(I16), FROM_CARRIED(U16),
                                                   FROM_CARRIED(U32), FROM_CARRIED(U64),
                                                   FROM_CARRIED(BF16)};
    static const mxl_loop into[][MXL_DTYPE_LOOPS] = {
        TO_CARRIED(I16), TO_CARRIED(U16), TO_CARRIED(U32), TO_CARRIED(U64), TO_CARRIED(BF16)};

    if (from == MXL_F32 && to == MXL_BF16)
        return mxl_cast_float_to_brain;
    if (from == MXL_BF16 && to == MXL_F32)
        return mxl_cast_brain_to_float;
    return mxl_dtype_is_carried(from) ? of[from - MXL_DTYPE_LOOPS][to]
                                      : into[to - MXL_DTYPE_LOOPS][from];
}
