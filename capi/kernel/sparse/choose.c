/* Random subsets; see choose.h. */
#include "kernel/sparse/choose.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/mem.h"

/* Knuth's algorithm S: each number is taken by its share of those still wanted. */
static void choose_of_few(mxl_draws *draws, int64_t n, int64_t k, int64_t *out)
{
    int64_t taken = 0;

    for (int64_t i = 0; i < n && taken < k; i++) {
        if ((int64_t)mxl_draw_below(draws, (uint64_t)(n - i)) < k - taken)
            out[taken++] = i;
    }
}

/* Floyd's: n does not matter. The numbers so far are kept in order. */
static void choose_of_many(mxl_draws *draws, int64_t n, int64_t k, int64_t *out)
{
    for (int64_t j = n - k, taken = 0; j < n; j++, taken++) {
        int64_t number = (int64_t)mxl_draw_below(draws, (uint64_t)j + 1), at = 0;

        while (at < taken && out[at] < number)
            at++;
        if (at < taken && out[at] == number) {
            out[taken] = j;
            continue;
        }
        for (int64_t i = taken; i > at; i--)
            out[i] = out[i - 1];
        out[at] = number;
    }
}

void mxl_choose(mxl_draws *draws, int64_t n, int64_t k, int64_t *out)
{
    if (n / (k + 1) > k)
        choose_of_many(draws, n, k, out);
    else
        choose_of_few(draws, n, k, out);
}

/* ---- weights ---- */

typedef struct entry {
    double key;
    int64_t number;
} entry;

static int by_key(const void *a, const void *b)
{
    double x = ((const entry *)a)->key, y = ((const entry *)b)->key;

    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The order of exponential times, whose rates are the weights, is that of such draws. Those of
 * weight 0 come after all others, in any order. */
int mxl_choose_weighted(mxl_draws *draws, int64_t n, const float *weights, int64_t k, int64_t *out)
{
    entry *entries = mxl_alloc((size_t)n * sizeof(*entries));

    if (entries == NULL)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        double time = -log1p(-mxl_draw_unit(draws));

        entries[i] = (entry){weights[i] > 0 ? time / (double)weights[i] : 0x1p900 * (1 + time), i};
    }
    qsort(entries, (size_t)n, sizeof(*entries), by_key);
    for (int64_t i = 0; i < k; i++)
        out[i] = entries[i].number;
    qsort(out, (size_t)k, sizeof(*out), by_number);
    mxl_free(entries, (size_t)n * sizeof(*entries));
    return 0;
}
