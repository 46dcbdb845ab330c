/* Equal numbers of a list; see group.h. */
#include "kernel/sparse/group.h"

#include <stddef.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/sort/sort.h"

int64_t mxl_sparse_group(int64_t n, const int64_t *numbers, int64_t *distinct, int64_t *group)
{
    size_t bytes = 2 * (size_t)n * sizeof(int64_t);
    int64_t *sorted = n > 0 ? mxl_alloc(bytes) : NULL, *places = sorted + n, found = 0;
    mxl_sort_job job = {.dtype = MXL_I64,
                        .outer = 1,
                        .n = n,
                        .inner = 1,
                        .k = n,
                        .in = numbers,
                        .values = sorted,
                        .positions = places,
                        .position_dtype = MXL_I64};

    if (n == 0)
        return 0;
    if (sorted == NULL || mxl_sort(&job) != 0) {
        mxl_free(sorted, bytes);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1])
            distinct[found++] = sorted[i];
        group[places[i]] = found - 1;
    }
    mxl_free(sorted, bytes);
    return found;
}
