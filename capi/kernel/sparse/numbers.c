/* Rows by their numbers; see numbers.h. */
#include "kernel/sparse/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

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

int64_t mxl_sparse_find(const int64_t *list, int64_t count, int64_t number)
{
    int64_t low = 0, high = count;

    if (number >= 0 && number < count && list[number] == number)
        return number;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (list[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low] == number ? low : -1;
}

typedef struct take_job {
    size_t row_bytes;
    int64_t stored;
    const int64_t *indices, *at;
    const char *data;
    char *out;
} take_job;

static void take_range(void *data, int64_t begin, int64_t end)
{
    const take_job *job = data;

    for (int64_t j = begin; j < end; j++) {
        int64_t place = mxl_sparse_find(job->indices, job->stored, job->at[j]);
        char *out = job->out + (size_t)j * job->row_bytes;

        if (place < 0)
            memset(out, 0, job->row_bytes);
        else
            memcpy(out, job->data + (size_t)place * job->row_bytes, job->row_bytes);
    }
}

void mxl_sparse_take_rows(size_t row_bytes, int64_t stored, const int64_t *indices,
                          const void *data, int64_t count, const int64_t *at, void *out)
{
    take_job job = {row_bytes, stored, indices, at, data, out};
    int64_t grain = (1 << 14) / (int64_t)(row_bytes + 64) + 1;

    mxl_parallel_fine(count, grain, 4 * grain, take_range, &job);
}
