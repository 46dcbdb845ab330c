/* The vectorised parts of sorting; see sort_keys.h. */
#include "kernel/sort/sort_keys.h"

#include "base/dtype.h"
#include "kernel/target.h"

/* ---- keys of elements ---- */

/* Computed in the type of the keys, so that vectors hold as many as possible. */
#define PLAIN_KEY(T, bits, same_zeros)  (bits)
#define PLAIN_BITS(T, key)              (key)
#define SIGN(T)                         ((T)((T)1 << (8 * sizeof(T) - 1)))
#define SIGNED_KEY(T, bits, same_zeros) ((T)((bits) ^ SIGN(T)))
#define SIGNED_BITS(T, key)             ((T)((key) ^ SIGN(T)))

/* Negative numbers in reverse, then the others, then NaN. */
#define FLOAT_KEY(T, bits, same_zeros)                                                             \
    ((T)((bits) & ~SIGN(T)) > INFINITY_##T ? (T)-1                                                 \
     : (same_zeros) && (bits) == SIGN(T)   ? SIGN(T)                                               \
     : ((bits) & SIGN(T)) != 0             ? (T)~(bits)                                            \
                                           : (T)((bits) | SIGN(T)))
#define FLOAT_BITS(T, key) (((key) & SIGN(T)) != 0 ? (T)((key) ^ SIGN(T)) : (T)~(key))
#define INFINITY_uint16_t  0x7C00
#define INFINITY_uint32_t  0x7F800000
#define INFINITY_uint64_t  (UINT64_C(0x7FF) << 52)

#define FORM(D, T, KIND)                                                                           \
    MXL_INLINE void keys_##D##_at(int level, const T *in, int64_t n, bool down, bool same_zeros,   \
                                  T *keys)                                                         \
    {                                                                                              \
        const T flip = down ? (T)-1 : 0;                                                           \
                                                                                                   \
        (void)level;                                                                               \
        (void)same_zeros;                                                                          \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T bits = in[i];                                                                  \
                                                                                                   \
            keys[i] = (T)(KIND##_KEY(T, bits, same_zeros) ^ flip);                                 \
        }                                                                                          \
    }                                                                                              \
    MXL_FROM_AVX2(keys_##D, (const T *in, int64_t n, bool down, bool same_zeros, T *keys), in, n,  \
                  down, same_zeros, keys)                                                          \
                                                                                                   \
    MXL_INLINE void elements_##D##_at(int level, const T *keys, int64_t n, bool down, T *out)      \
    {                                                                                              \
        const T flip = down ? (T)-1 : 0;                                                           \
                                                                                                   \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T key = (T)(keys[i] ^ flip);                                                     \
                                                                                                   \
            out[i] = KIND##_BITS(T, key);                                                          \
        }                                                                                          \
    }                                                                                              \
    MXL_FROM_AVX2(elements_##D, (const T *keys, int64_t n, bool down, T *out), keys, n, down, out)

FORM(u8, uint8_t, PLAIN)
FORM(i8, uint8_t, SIGNED)
FORM(i32, uint32_t, SIGNED)
FORM(i64, uint64_t, SIGNED)
FORM(f16, uint16_t, FLOAT)
FORM(f32, uint32_t, FLOAT)
FORM(f64, uint64_t, FLOAT)

#define EACH_DTYPE(CASE)                                                                           \
    switch (dtype) {                                                                               \
        CASE(MXL_F32, f32)                                                                         \
        CASE(MXL_F64, f64)                                                                         \
        CASE(MXL_F16, f16)                                                                         \
        CASE(MXL_I8, i8)                                                                           \
        CASE(MXL_I32, i32)                                                                         \
        CASE(MXL_I64, i64)                                                                         \
    default:                                                                                       \
        CASE(MXL_U8, u8) /* and bool */                                                            \
    }

void mxl_sort_keys(int dtype, const void *in, int64_t n, bool down, bool same_zeros, void *keys)
{
#define KEYS(DTYPE, D)                                                                             \
    case DTYPE:                                                                                    \
        keys_##D(in, n, down, same_zeros, keys);                                                   \
        break;
    EACH_DTYPE(KEYS)
}

void mxl_sort_elements(int dtype, const void *keys, int64_t n, bool down, void *out)
{
#define ELEMENTS(DTYPE, D)                                                                         \
    case DTYPE:                                                                                    \
        elements_##D(keys, n, down, out);                                                          \
        break;
    EACH_DTYPE(ELEMENTS)
}

/* ---- finding and counting ---- */

enum { BLOCK = 32 }; /* keys that are examined together */

#define SCAN(w)                                                                                    \
    MXL_INLINE void find_##w##_at(int level, const uint##w##_t *keys, int64_t n,                   \
                                  uint##w##_t limit, int64_t *at)                                  \
    {                                                                                              \
        int64_t i = *at;                                                                           \
                                                                                                   \
        (void)level;                                                                               \
        for (; i + BLOCK <= n; i += BLOCK) {                                                       \
            uint##w##_t least = keys[i];                                                           \
                                                                                                   \
            for (int k = 0; k < BLOCK; k++)                                                        \
                least = keys[i + k] < least ? keys[i + k] : least;                                 \
            if (least < limit)                                                                     \
                break;                                                                             \
        }                                                                                          \
        while (i < n && keys[i] >= limit)                                                          \
            i++;                                                                                   \
        *at = i;                                                                                   \
    }                                                                                              \
    MXL_FROM_AVX2(find_##w, (const uint##w##_t *keys, int64_t n, uint##w##_t limit, int64_t *at),  \
                  keys, n, limit, at)                                                              \
                                                                                                   \
    MXL_INLINE void count_##w##_at(int level, const uint##w##_t *keys, int64_t n,                  \
                                   uint##w##_t limit, int64_t *count)                              \
    {                                                                                              \
        int64_t all = 0;                                                                           \
                                                                                                   \
        (void)level;                                                                               \
        for (int64_t i = 0; i < n;) {                                                              \
            /* Counters as wide as the keys, which must not overflow. */                           \
            int64_t end = n - i < 128 ? n : i + 128;                                               \
            uint##w##_t some = 0;                                                                  \
                                                                                                   \
            for (; i < end; i++)                                                                   \
                some = (uint##w##_t)(some + (keys[i] < limit));                                    \
            all += (int64_t)some;                                                                  \
        }                                                                                          \
        *count = all;                                                                              \
    }                                                                                              \
    MXL_FROM_AVX2(count_##w,                                                                       \
                  (const uint##w##_t *keys, int64_t n, uint##w##_t limit, int64_t *count), keys,   \
                  n, limit, count)

SCAN(8)
SCAN(16)
SCAN(32)
SCAN(64)

int64_t mxl_sort_find_below(size_t width, const void *keys, int64_t from, int64_t n, uint64_t limit)
{
    if (width == 4)
        find_32(keys, n, (uint32_t)limit, &from);
    else if (width == 8)
        find_64(keys, n, limit, &from);
    else if (width == 2)
        find_16(keys, n, (uint16_t)limit, &from);
    else
        find_8(keys, n, (uint8_t)limit, &from);
    return from;
}

int64_t mxl_sort_count_below(size_t width, const void *keys, int64_t n, uint64_t limit)
{
    int64_t count;

    if (width == 4)
        count_32(keys, n, (uint32_t)limit, &count);
    else if (width == 8)
        count_64(keys, n, limit, &count);
    else if (width == 2)
        count_16(keys, n, (uint16_t)limit, &count);
    else
        count_8(keys, n, (uint8_t)limit, &count);
    return count;
}

/* ---- columns ---- */

/* Batcher's merge exchange (Knuth, The Art of Computer Programming 5.2.2, algorithm M): the pairs
 * of rows i and j that are compared and exchanged, independent of the data. */
#define NETWORK(EXCHANGE)                                                                          \
    int64_t top = 1;                                                                               \
                                                                                                   \
    while (2 * top < n)                                                                            \
        top *= 2;                                                                                  \
    for (int64_t p = n > 1 ? top : 0; p > 0; p /= 2) {                                             \
        for (int64_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {                           \
            for (int64_t begin = r; begin < n - d; begin += 2 * p) {                               \
                int64_t end = begin + p < n - d ? begin + p : n - d;                               \
                                                                                                   \
                for (int64_t i = begin; i < end; i++)                                              \
                    EXCHANGE(i, i + d);                                                            \
            }                                                                                      \
            if (q == p)                                                                            \
                break;                                                                             \
        }                                                                                          \
    }

#define EXCHANGE_KEYS(i, j)                                                                        \
    do {                                                                                           \
        key *a = keys + (i) * LANES, *b = keys + (j) * LANES;                                      \
                                                                                                   \
        MXL_IVDEP                                                                                  \
        for (int l = 0; l < LANES; l++) {                                                          \
            const key x = a[l], y = b[l];                                                          \
                                                                                                   \
            a[l] = x < y ? x : y;                                                                  \
            b[l] = x < y ? y : x;                                                                  \
        }                                                                                          \
    } while (0)

#define COLUMNS(w)                                                                                 \
    MXL_INLINE void columns_##w##_at(int level, uint##w##_t *keys, int64_t n)                      \
    {                                                                                              \
        enum { LANES = MXL_SORT_LINE / (w / 8) };                                                  \
        typedef uint##w##_t key;                                                                   \
                                                                                                   \
        (void)level;                                                                               \
        NETWORK(EXCHANGE_KEYS)                                                                     \
    }                                                                                              \
    MXL_FROM_AVX2(columns_##w, (uint##w##_t * keys, int64_t n), keys, n)

COLUMNS(8)
COLUMNS(16)
COLUMNS(32)
COLUMNS(64)

void mxl_sort_columns(size_t width, void *keys, int64_t n)
{
    if (width == 4)
        columns_32(keys, n);
    else if (width == 8)
        columns_64(keys, n);
    else if (width == 2)
        columns_16(keys, n);
    else
        columns_8(keys, n);
}

#define EXCHANGE_PAIRS(i, j)                                                                       \
    do {                                                                                           \
        uint64_t *a = keys + (i) * LANES, *b = keys + (j) * LANES;                                 \
        uint64_t *s = positions + (i) * LANES, *t = positions + (j) * LANES;                       \
                                                                                                   \
        MXL_IVDEP                                                                                  \
        for (int l = 0; l < LANES; l++) {                                                          \
            const uint64_t x = a[l], y = b[l], u = s[l], v = t[l];                                 \
            const uint64_t swap = -(uint64_t)((x > y) | ((x == y) & (u > v)));                     \
            const uint64_t key = (x ^ y) & swap, position = (u ^ v) & swap;                        \
                                                                                                   \
            a[l] = x ^ key;                                                                        \
            b[l] = y ^ key;                                                                        \
            s[l] = u ^ position;                                                                   \
            t[l] = v ^ position;                                                                   \
        }                                                                                          \
    } while (0)

MXL_INLINE void pair_columns_at(int level, uint64_t *keys, uint64_t *positions, int64_t n)
{
    enum { LANES = MXL_SORT_LINE / 8 };

    (void)level;
    NETWORK(EXCHANGE_PAIRS)
}

MXL_FROM_AVX2(pair_columns, (uint64_t *keys, uint64_t *positions, int64_t n), keys, positions, n)

void mxl_sort_pair_columns(uint64_t *keys, uint64_t *positions, int64_t n)
{
    pair_columns(keys, positions, n);
}
