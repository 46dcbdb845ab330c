/* What one operator costs through the public C API: a 4 x 4 float32 addition by a prepared call,
 * its result freed, plain and recorded, as multiples of c_pairs.c in the same run. Prints one JSON
 * object. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mxlite/mxlite.h"

void bench_pairs(void);

enum { ROUNDS = 41, CALLS = 20000 };

static void need(int ok)
{
    if (!ok) {
        fprintf(stderr, "c_call: %s\n", MXGetLastError());
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static MXLCallHandle add;
static NDArrayHandle a, b;

static void one_pairs(void)
{
    bench_pairs();
}

static void one_add(void)
{
    NDArrayHandle c = MXLCall2(add, a, b);

    need(c != NULL);
    MXNDArrayFree(c);
}

/* Nanoseconds of one call, over CALLS of them. */
static double timed(void (*run)(void))
{
    double begin = now();

    for (int i = 0; i < CALLS; i++)
        run();
    return (now() - begin) / CALLS;
}

static int by_value(const void *x, const void *y)
{
    double p = *(const double *)x, q = *(const double *)y;

    return (p > q) - (p < q);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

/* Medians of the yardstick, of the addition, and of their paired ratio. */
static void measure(const char *name, const char *end)
{
    double pairs[ROUNDS], adds[ROUNDS], ratios[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        pairs[i] = timed(one_pairs);
        adds[i] = timed(one_add);
        ratios[i] = adds[i] / pairs[i];
    }
    printf("\"%s\": {\"ns\": %.1f, \"pairs_ns\": %.1f, \"ratio\": %.3f}%s", name, median(adds),
           median(pairs), median(ratios), end);
}

static NDArrayHandle array(void)
{
    static const float values[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const int64_t shape[2] = {4, 4};
    NDArrayHandle out;

    need(MXNDArrayCreateEx64(shape, 2, 1, 0, 0, 0, &out) == 0);
    need(MXNDArraySyncCopyFromCPU(out, values, 16) == 0);
    return out;
}

int main(void)
{
    NDArrayHandle grad;
    uint32_t write = 1;
    int previous;

    a = array();
    b = array();
    grad = array();
    need(MXLPrepare("broadcast_add", 0, NULL, NULL, 0, NULL, &add) == 0);
    printf("{");
    measure("add", ", ");
    need(MXAutogradMarkVariables(1, &a, &write, &grad) == 0);
    need(MXAutogradSetIsRecording(1, &previous) == 0);
    measure("add_recorded", "}\n");
    MXNDArrayFree(a);
    MXNDArrayFree(b);
    MXNDArrayFree(grad);
    return 0;
}
