/* Positions of elements by their order, see ranks.h. */
#include "kernel/sort/ranks.h"

#include <string.h>

#include "base/dtype.h"
#include "kernel/copy/cast.h"

/* Bits of doubles are in the order of the doubles where the sign is 0, and in the opposite order
 * where it is 1. */
static int64_t key_of(double x)
{
    int64_t bits;

    if (x != x)
        return MXL_KEY_NAN;
    if (x == 0)
        return 0;
    memcpy(&bits, &x, sizeof(bits));
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

void mxl_keys(int dtype, int64_t n, const void *in, int64_t *keys)
{
    const int64_t step = 1;

    if (n == 0)
        return;
    if (!mxl_dtype_is_float(dtype)) {
        mxl_cast_loop(dtype, MXL_I64)(keys, &in, &step, n, NULL);
        return;
    }
    mxl_cast_loop(dtype, MXL_F64)(keys, &in, &step, n, NULL);
    for (int64_t i = 0; i < n; i++) {
        double x;

        memcpy(&x, &keys[i], sizeof(x));
        keys[i] = key_of(x);
    }
}

int64_t mxl_keys_below(int64_t n, const int64_t *row, int64_t key, bool right)
{
    int64_t low = 0, high = n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (row[middle] < key || (right && row[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t mxl_most_frequent(int64_t n, const int64_t *row, int64_t step, const int64_t *order,
                          bool floats)
{
    int64_t start = 0, longest = 0, found = order[0];

    for (int64_t i = 1; i <= n; i++) {
        int64_t before = row[order[(i - 1) * step] * step];

        if (i < n && row[order[i * step] * step] == before && !(floats && before == MXL_KEY_NAN))
            continue;
        if (i - start > longest) {
            longest = i - start;
            found = order[(i - 1) * step];
        }
        start = i;
    }
    return found;
}

void mxl_running_place(int64_t n, const int64_t *row, int64_t step, bool largest, bool floats,
                       int64_t *places)
{
    int64_t best = 0;
    bool is_nan = false;

    for (int64_t i = 0; i < n; i++) {
        int64_t key = row[i * step], other = row[best * step];

        if (floats && key == MXL_KEY_NAN) {
            is_nan = true;
            best = i;
        } else if (!is_nan && (largest ? key >= other : key <= other)) {
            best = i;
        }
        places[i * step] = best;
    }
}
