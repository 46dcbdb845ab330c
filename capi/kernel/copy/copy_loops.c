/* Strided runs, small pieces, and blocks that bypass the caches; see copy_loops.h. */
#include "kernel/copy/copy_loops.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kernel/target.h"

enum { LINE = 64 };

/* ---- runs ---- */

/* Strides that vectorise when the compiler sees them as constants; `dst` is contiguous. */
#define EVEN_RUN(T)                                                                                \
    do {                                                                                           \
        T *d = dst;                                                                                \
        const T *s = src, v = *s;                                                                  \
                                                                                                   \
        if (stride == 0)                                                                           \
            EVEN_LOOP(v);                                                                          \
        else if (stride == -1) /* reads the input upwards, the direction of prefetching */         \
            EVEN_LOOP_AT(d[n - 1 - i], s[i - n + 1]);                                              \
        else if (stride == 2)                                                                      \
            EVEN_LOOP(s[2 * i]);                                                                   \
        else if (stride == 3)                                                                      \
            EVEN_LOOP(s[3 * i]);                                                                   \
        else                                                                                       \
            EVEN_LOOP(s[4 * i]);                                                                   \
    } while (0)

#define EVEN_LOOP(value) EVEN_LOOP_AT(d[i], value)

#define EVEN_LOOP_AT(to, value)                                                                    \
    MXL_IVDEP                                                                                      \
    for (int64_t i = 0; i < n; i++)                                                                \
    (to) = (value)

MXL_INLINE void even_run_at(int level, size_t width, void *dst, const void *src, int64_t stride,
                            int64_t n)
{
    (void)level;
    if (width == 4)
        EVEN_RUN(uint32_t);
    else if (width == 8)
        EVEN_RUN(uint64_t);
    else if (width == 2)
        EVEN_RUN(uint16_t);
    else
        EVEN_RUN(uint8_t);
}

MXL_BY_LEVEL(even_run, (size_t width, void *dst, const void *src, int64_t stride, int64_t n), width,
             dst, src, stride, n)

#define ANY_RUN(T)                                                                                 \
    do {                                                                                           \
        T *restrict d = dst;                                                                       \
        const T *restrict s = src;                                                                 \
                                                                                                   \
        if (dst_stride == 1) {                                                                     \
            for (int64_t i = 0; i < n; i++)                                                        \
                d[i] = s[i * src_stride];                                                          \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                d[i * dst_stride] = s[i * src_stride];                                             \
        }                                                                                          \
    } while (0)

void mxl_copy_run(size_t width, void *dst, int64_t dst_stride, const void *src, int64_t src_stride,
                  int64_t n)
{
    if (n <= 0)
        return; /* the pointers may be invalid */
    if (dst_stride == 1 && src_stride == 1)
        memcpy(dst, src, (size_t)n * width);
    else if (dst_stride == 1 && src_stride >= -1 && src_stride <= 4)
        even_run(width, dst, src, src_stride, n);
    else if (width == 4)
        ANY_RUN(uint32_t);
    else if (width == 8)
        ANY_RUN(uint64_t);
    else if (width == 2)
        ANY_RUN(uint16_t);
    else
        ANY_RUN(uint8_t);
}

/* ---- blocks ---- */

/* All stores are aligned, except the first and the last. */
MXL_INLINE void long_block_at(int level, char *out, const char *in, size_t bytes)
{
    (void)level;
    memcpy(out, in, LINE);
    for (size_t i = LINE - (uintptr_t)out % LINE; i < bytes - LINE; i += LINE)
        memcpy(out + i, in + i, LINE);
    memcpy(out + bytes - LINE, in + bytes - LINE, LINE);
}

MXL_BY_LEVEL(long_block, (char *restrict out, const char *restrict in, size_t bytes), out, in,
             bytes)

void mxl_copy_block(void *out, const void *in, size_t bytes)
{
    if (bytes > LINE)
        long_block(out, in, bytes);
    else
        memcpy(out, in, bytes);
}

#if defined(__SSE2__)
/* Stores that bypass the caches need not read the lines that they overwrite, a third of the
 * traffic. */
void mxl_copy_stream(void *out, const void *in, size_t bytes)
{
    size_t head = -(uintptr_t)out % LINE, i = head;

    if (bytes < 2 * LINE) {
        memcpy(out, in, bytes);
        return;
    }
    memcpy(out, in, head);
    for (; i + LINE <= bytes; i += LINE) {
        __m128i line[4];

        memcpy(line, (const char *)in + i, LINE);
        for (int k = 0; k < 4; k++)
            _mm_stream_si128((__m128i *)(void *)((char *)out + i + 16 * k), line[k]);
    }
    _mm_sfence();
    memcpy((char *)out + i, (const char *)in + i, bytes - i);
}
#else
void mxl_copy_stream(void *out, const void *in, size_t bytes)
{
    memcpy(out, in, bytes);
}
#endif

/* ---- pieces ---- */

/* Copies pieces of exactly `size` bytes, or up to twice as many: by one move, or by two that
 * overlap. */
#define EXACTLY(size)                                                                              \
    for (int64_t j = 0; j < count; j++)                                                            \
    memcpy(out + j * out_step, in + (at == NULL ? j : at[j]) * in_step, size)

#define UP_TO_TWICE(size)                                                                          \
    for (int64_t j = 0; j < count; j++) {                                                          \
        const char *from = in + (at == NULL ? j : at[j]) * in_step;                                \
                                                                                                   \
        memcpy(out + j * out_step, from, size);                                                    \
        memcpy(out + j * out_step + bytes - (size), from + bytes - (size), size);                  \
    }

MXL_INLINE void pieces(int64_t bytes, int64_t count, char *restrict out, int64_t out_step,
                       const char *restrict in, int64_t in_step, const int64_t *restrict at)
{
    if (bytes == 4)
        EXACTLY(4);
    else if (bytes == 8)
        EXACTLY(8);
    else if (bytes == 16)
        EXACTLY(16);
    else if (bytes == 1)
        EXACTLY(1);
    else if (bytes < 4)
        UP_TO_TWICE(2)
    else if (bytes < 8)
        UP_TO_TWICE(4)
    else if (bytes < 16)
        UP_TO_TWICE(8)
    else if (bytes < 32)
        UP_TO_TWICE(16)
    else if (bytes <= 64)
        UP_TO_TWICE(32)
    else if (bytes <= 128)
        UP_TO_TWICE(64)
    else {
        for (int64_t j = 0; j < count; j++)
            mxl_copy_block(out + j * out_step, in + (at == NULL ? j : at[j]) * in_step,
                           (size_t)bytes);
    }
}

void mxl_copy_pieces(int64_t bytes, int64_t count, void *out, int64_t out_step, const void *in,
                     int64_t in_step)
{
    pieces(bytes, count, out, out_step, in, in_step, NULL);
}

void mxl_copy_pieces_at(int64_t bytes, int64_t count, void *out, const void *in, const int64_t *at)
{
    pieces(bytes, count, out, bytes, in, bytes, at);
}
