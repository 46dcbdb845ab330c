/* Transposes matrices; see copy_loops.h. Square blocks of 16-byte rows are transposed in registers
 * if the compiler supports it: interleaving rows k and k + N/2 for all k, log N times, turns
 * columns into rows. The remaining elements are copied one by one. */
#include <string.h>

#include "kernel/copy/copy_loops.h"
#include "kernel/target.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_BLOCKS 1
#endif
#endif

enum { VECTOR = 16, LINE = 64 };

#ifdef HAVE_BLOCKS
#define LOW_uint8_t   0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_uint8_t  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_uint16_t  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_uint16_t 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_uint32_t  0, 4, 1, 5
#define HIGH_uint32_t 2, 6, 3, 7
#define LOW_uint64_t  0, 2
#define HIGH_uint64_t 1, 3

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

#define BLOCK(T)                                                                                   \
    typedef T vec_##T __attribute__((vector_size(VECTOR)));                                        \
                                                                                                   \
    MXL_INLINE void block_##T(T *d, int64_t dst_step, const T *s, int64_t src_step)                \
    {                                                                                              \
        enum { N = VECTOR / sizeof(T) };                                                           \
        vec_##T row[N], next[N];                                                                   \
                                                                                                   \
        for (int i = 0; i < N; i++)                                                                \
            memcpy(&row[i], s + i * src_step, VECTOR);                                             \
        for (int turn = 1; turn < N; turn *= 2) {                                                  \
            for (int i = 0; i < N / 2; i++) {                                                      \
                next[2 * i] = SHUFFLE(row[i], row[i + N / 2], LOW_##T);                            \
                next[2 * i + 1] = SHUFFLE(row[i], row[i + N / 2], HIGH_##T);                       \
            }                                                                                      \
            for (int i = 0; i < N; i++)                                                            \
                row[i] = next[i];                                                                  \
        }                                                                                          \
        for (int i = 0; i < N; i++)                                                                \
            memcpy(d + i * dst_step, &row[i], VECTOR);                                             \
    }
#else
#define BLOCK(T)                                                                                   \
    MXL_INLINE void block_##T(T *d, int64_t dst_step, const T *s, int64_t src_step)                \
    {                                                                                              \
        each_##T(d, dst_step, s, src_step, VECTOR / sizeof(T), VECTOR / sizeof(T));                \
    }
#endif

/* A tile is one cache line wide and high, so that each line is used completely while it is cached.
 */
#define TRANSPOSE(T)                                                                               \
    MXL_INLINE void each_##T(T *restrict d, int64_t dst_step, const T *restrict s,                 \
                             int64_t src_step, int64_t nj, int64_t ni)                             \
    {                                                                                              \
        for (int64_t j = 0; j < nj; j++) {                                                         \
            for (int64_t i = 0; i < ni; i++)                                                       \
                d[j * dst_step + i] = s[j + i * src_step];                                         \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    BLOCK(T)                                                                                       \
                                                                                                   \
    MXL_INLINE void tile_##T(T *d, int64_t dst_step, const T *s, int64_t src_step, int64_t nj,     \
                             int64_t ni)                                                           \
    {                                                                                              \
        const int64_t n = VECTOR / sizeof(T), whole_j = nj / n * n, whole_i = ni / n * n;          \
                                                                                                   \
        for (int64_t j = 0; j < whole_j; j += n) {                                                 \
            for (int64_t i = 0; i < whole_i; i += n)                                               \
                block_##T(d + j * dst_step + i, dst_step, s + j + i * src_step, src_step);         \
        }                                                                                          \
        each_##T(d + whole_i, dst_step, s + whole_i * src_step, src_step, whole_j, ni - whole_i);  \
        each_##T(d + whole_j * dst_step, dst_step, s + whole_j, src_step, nj - whole_j, ni);       \
    }                                                                                              \
                                                                                                   \
    static void transpose_##T(T *d, int64_t dst_step, const T *s, int64_t src_step, int64_t nj,    \
                              int64_t ni)                                                          \
    {                                                                                              \
        const int64_t side = LINE / sizeof(T);                                                     \
                                                                                                   \
        for (int64_t i = 0; i < ni; i += side) {                                                   \
            for (int64_t j = 0; j < nj; j += side)                                                 \
                tile_##T(d + j * dst_step + i, dst_step, s + j + i * src_step, src_step,           \
                         nj - j < side ? nj - j : side, ni - i < side ? ni - i : side);            \
        }                                                                                          \
    }

TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)

void mxl_transpose_kernel(size_t width, void *dst, int64_t dst_step, const void *src,
                          int64_t src_step, int64_t nj, int64_t ni)
{
    if (width == 4)
        transpose_uint32_t(dst, dst_step, src, src_step, nj, ni);
    else if (width == 8)
        transpose_uint64_t(dst, dst_step, src, src_step, nj, ni);
    else if (width == 2)
        transpose_uint16_t(dst, dst_step, src, src_step, nj, ni);
    else
        transpose_uint8_t(dst, dst_step, src, src_step, nj, ni);
}
