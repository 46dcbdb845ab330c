/* float32 to bfloat16 (to the nearest, ties to even; a NaN becomes a quiet one) and back, at each
 * vector level the same bits. For cast_carried.c. */
#include "kernel/copy/cast.h"
#include "kernel/target.h"

MXL_INLINE void to_brains_at(int level, uint16_t *out, const float *in, int64_t n)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits, rounded, quiet;

        memcpy(&bits, in + i, sizeof(bits));
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
        quiet = bits >> 16 | 0x40;
        out[i] = (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded);
    }
}
MXL_BY_LEVEL(to_brains, (uint16_t *out, const float *in, int64_t n), out, in, n)

MXL_INLINE void to_floats_at(int level, float *out, const uint16_t *in, int64_t n)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)in[i] << 16;

        memcpy(out + i, &bits, sizeof(bits));
    }
}
MXL_BY_LEVEL(to_floats, (float *out, const uint16_t *in, int64_t n), out, in, n)

void mxl_cast_float_to_brain(void *out, const void *const *in, const int64_t *step, int64_t n,
                             const void *params)
{
    (void)step;
    (void)params;
    to_brains(out, in[0], n);
}

void mxl_cast_brain_to_float(void *out, const void *const *in, const int64_t *step, int64_t n,
                             const void *params)
{
    (void)step;
    (void)params;
    to_floats(out, in[0], n);
}
