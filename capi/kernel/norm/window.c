/* Sums over a window, each added anew: a running sum would keep the rounding errors, or the
 * infinity, of elements that have left the window. */
#include "kernel/norm/window.h"

#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/target.h"

enum { GRAIN = 16384 };

typedef struct window_job {
    int64_t n, inner, half;
    const void *in;
    void *out;
} window_job;

#define WINDOW(id, T)                                                                              \
    MXL_INLINE void id##_add_at(int level, T *out, const T *in, int64_t n)                         \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] += in[i];                                                                       \
    }                                                                                              \
    MXL_FROM_AVX2(id##_add, (T *out, const T *in, int64_t n), out, in, n)                          \
                                                                                                   \
    /* One item of the range is a position along the middle axis of one outer position. */         \
    static void id##_range(void *data, int64_t begin, int64_t end)                                 \
    {                                                                                              \
        const window_job *job = data;                                                              \
                                                                                                   \
        for (int64_t row = begin; row < end; row++) {                                              \
            int64_t at = row % job->n, first = at < job->half ? 0 : at - job->half;                \
            int64_t last = job->n - 1 - at < job->half ? job->n - 1 : at + job->half;              \
            const T *block = (const T *)job->in + (row - at) * job->inner;                         \
            T *to = (T *)job->out + row * job->inner;                                              \
                                                                                                   \
            memcpy(to, block + first * job->inner, (size_t)job->inner * sizeof(T));                \
            for (int64_t k = first + 1; k <= last; k++)                                            \
                id##_add(to, block + k * job->inner, job->inner);                                  \
        }                                                                                          \
    }

WINDOW(f32, float)
WINDOW(f64, double)

void mxl_window_sum(int dtype, int64_t outer, int64_t n, int64_t inner, int64_t half,
                    const void *in, void *out)
{
    window_job job = {n, inner, half, in, out};
    int64_t weight = (half < n ? half : n) + 1; /* additions */

    weight = inner * weight + 1;
    mxl_parallel_for(outer * n, (GRAIN + weight - 1) / weight,
                     dtype == MXL_F32 ? f32_range : f64_range, &job);
}
