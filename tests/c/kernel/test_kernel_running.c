/* Cumulative sums: every dtype, rows and columns below and above the numbers summed together, in
 * place, on one thread and on two, against one addition after another. */
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/reduce/scan.h"

enum { ROOM = 200000 };

static const int64_t problems[][3] = {
    {1, 1, 1}, {1, 9, 1},    {7, 33, 1},    {8, 20, 1},    {9, 5, 1}, {17, 3000, 1}, {1, 100000, 1},
    {2, 4, 3}, {3, 1, 2049}, {1, 40, 4097}, {11, 7, 2048}, {0, 3, 2}, {2, 0, 3},     {3, 2, 0}};

#define CHECK_DTYPE(name, dtype, T, value, plus)                                                   \
    static void check_##name(const int64_t *s)                                                     \
    {                                                                                              \
        static T in[ROOM], out[ROOM], wanted[ROOM];                                                \
        int64_t size = s[0] * s[1] * s[2], step = s[2];                                            \
                                                                                                   \
        for (int64_t i = 0; i < size; i++) {                                                       \
            float v = (float)(i % 23) * 1.37f - 11;                                                \
                                                                                                   \
            in[i] = value;                                                                         \
            wanted[i] = i / step % s[1] == 0 ? in[i] : (T)(plus(wanted[i - step], in[i]));         \
        }                                                                                          \
        for (int threads = 1; threads <= 2; threads++) {                                           \
            mxl_thread_set_count(threads);                                                         \
            memset(out, 1, sizeof out);                                                            \
            mxl_scan_sum(dtype, s[0], s[1], s[2], in, out);                                        \
            CHECK(memcmp(out, wanted, (size_t)size * sizeof(T)) == 0);                             \
            memcpy(out, in, sizeof out);                                                           \
            mxl_scan_sum(dtype, s[0], s[1], s[2], out, out);                                       \
            CHECK(memcmp(out, wanted, (size_t)size * sizeof(T)) == 0);                             \
        }                                                                                          \
    }
#define ADD(a, b)    (a) + (b)
#define HALVES(a, b) mxl_half_from_float(mxl_half_to_float(a) + mxl_half_to_float(b))

CHECK_DTYPE(f32, MXL_F32, float, v, ADD)
CHECK_DTYPE(f64, MXL_F64, double, (double)v, ADD)
CHECK_DTYPE(f16, MXL_F16, mxl_half, mxl_half_from_float(v), HALVES)
CHECK_DTYPE(i32, MXL_I32, int32_t, (int32_t)v, ADD)
CHECK_DTYPE(i64, MXL_I64, int64_t, (int64_t)v, ADD)
CHECK_DTYPE(i8, MXL_I8, int8_t, (int8_t)v, ADD)
CHECK_DTYPE(u8, MXL_U8, uint8_t, (uint8_t)(v + 11), ADD)

TEST(every_dtype)
{
    for (size_t i = 0; i < sizeof(problems) / sizeof(*problems); i++) {
        check_f32(problems[i]);
        check_f64(problems[i]);
        check_f16(problems[i]);
        check_i32(problems[i]);
        check_i64(problems[i]);
        check_i8(problems[i]);
        check_u8(problems[i]);
    }
}

HARNESS_MAIN(ENTRY(every_dtype))
