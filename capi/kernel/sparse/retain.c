/* Rows of a row_sparse array that are asked for; see retain.h. */
#include "kernel/sparse/retain.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t mxl_sparse_unique(int64_t n, int64_t *numbers)
{
    int64_t left = 0;

    if (n > 1)
        qsort(numbers, (size_t)n, sizeof(*numbers), compare);
    for (int64_t i = 0; i < n; i++) {
        if (left == 0 || numbers[i] != numbers[left - 1])
            numbers[left++] = numbers[i];
    }
    return left;
}

/* The position of a number among n that ascend, or -1. */
static int64_t position(int64_t n, const int64_t *numbers, int64_t wanted)
{
    int64_t low = 0, high = n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (numbers[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && numbers[low] == wanted ? low : -1;
}

void mxl_sparse_retain(size_t row_bytes, int64_t stored, const int64_t *indices, const void *data,
                       int64_t count, const int64_t *wanted, void *out)
{
    for (int64_t k = 0; k < count; k++) {
        char *to = (char *)out + (size_t)k * row_bytes;
        int64_t at = position(stored, indices, wanted[k]);

        if (at < 0)
            memset(to, 0, row_bytes);
        else
            memcpy(to, (const char *)data + (size_t)at * row_bytes, row_bytes);
    }
}
