/* Counting and finding flags; see flags.h. */
#include "kernel/index/flags.h"

#include <string.h>

int64_t mxl_flags_count(const uint8_t *flag, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n;) {
        /* A counter as wide as the flags, which must not overflow. */
        int64_t end = n - i < 128 ? n : i + 128;
        uint8_t some = 0;

        for (; i < end; i++)
            some = (uint8_t)(some + (flag[i] != 0));
        count += some;
    }
    return count;
}

/* Without branches: each position is written, and the next one over it unless its flag is set. */
int64_t mxl_flags_positions(const uint8_t *flag, int64_t n, int64_t *out, int64_t step,
                            int64_t room)
{
    int64_t *to = out, *const end = out + room * step, j = 0;
    uint64_t eight;

    for (; j + 8 <= n && end - to >= 8 * step; j += 8) {
        memcpy(&eight, flag + j, sizeof(eight));
        if (eight == 0)
            continue;
        for (int i = 0; i < 8; i++) {
            *to = j + i;
            to += step & -(int64_t)(flag[j + i] != 0);
        }
    }
    for (; j < n && to < end; j++) {
        *to = j;
        to += step & -(int64_t)(flag[j] != 0);
    }
    return (to - out) / step;
}
