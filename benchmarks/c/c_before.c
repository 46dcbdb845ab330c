/* Two builds of the library in one process, in turns: whether calls, recording and backward cost
 * what they did. `cc -O2 -Iinclude benchmarks/c/c_before.c -o /tmp/c_before -ldl -lm`, then
 * `taskset -c 1 /tmp/c_before BEFORE.so AFTER.so`. Prints, for each case, the median of the ratios
 * of a turn's times (over 1: now faster), the lower end of its 95 % interval, and nanoseconds.
 * Where the system puts the two builds is worth 5 % either way: run it a dozen times. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mxlite/mxlite.h"

enum { ROUNDS = 301, CHAIN = 20, UNITS = 3000 };

/* A build, and arrays of 4 x 4 there; `a` has a gradient. */
typedef struct library {
    __typeof__(&MXLCall1) call1;
    __typeof__(&MXLCall2) call2;
    __typeof__(&MXNDArrayFree) free_array;
    __typeof__(&MXAutogradSetIsRecording) set_recording;
    __typeof__(&MXAutogradBackwardEx) backward;
    MXLCallHandle add, mul, tanh;
    NDArrayHandle a, b;
} library;

/* Fills a function pointer, as POSIX says how: ISO C knows no way from an object's. */
static void find(void *opened, const char *name, void *function)
{
    *(void **)function = dlsym(opened, name);
    if (*(void **)function == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
}

static NDArrayHandle new_array(void *opened)
{
    __typeof__(&MXNDArrayCreateEx64) create;
    __typeof__(&MXNDArraySyncCopyFromCPU) fill;
    const int64_t shape[] = {4, 4};
    float values[16];
    NDArrayHandle made;

    find(opened, "MXNDArrayCreateEx64", &create);
    find(opened, "MXNDArraySyncCopyFromCPU", &fill);
    for (int i = 0; i < 16; i++)
        values[i] = .1f * (float)i;
    create(shape, 2, 1, 0, 0, 0, &made);
    fill(made, values, 16);
    return made;
}

static library load(const char *path)
{
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    library l;
    __typeof__(&MXLPrepare) prepare;
    __typeof__(&MXAutogradMarkVariables) mark;
    NDArrayHandle grad;
    uint32_t write = 1;

    if (opened == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find(opened, "MXLCall1", &l.call1);
    find(opened, "MXLCall2", &l.call2);
    find(opened, "MXNDArrayFree", &l.free_array);
    find(opened, "MXAutogradSetIsRecording", &l.set_recording);
    find(opened, "MXAutogradBackwardEx", &l.backward);
    find(opened, "MXLPrepare", &prepare);
    find(opened, "MXAutogradMarkVariables", &mark);
    prepare("broadcast_add", 0, NULL, NULL, 0, NULL, &l.add);
    prepare("broadcast_mul", 0, NULL, NULL, 0, NULL, &l.mul);
    prepare("tanh", 0, NULL, NULL, 0, NULL, &l.tanh);
    l.a = new_array(opened);
    l.b = new_array(opened);
    grad = new_array(opened);
    mark(1, &l.a, &write, &grad);
    return l;
}

/* ---- cases: UNITS operators each ---- */

static void plain(const library *l)
{
    for (int i = 0; i < UNITS; i++)
        l->free_array(l->call2(l->add, l->a, l->b));
}

static void recorded(const library *l)
{
    int before;

    l->set_recording(1, &before);
    for (int i = 0; i < UNITS; i++)
        l->free_array(l->call2(l->mul, l->a, l->b));
    l->set_recording(0, &before);
}

static void run_back(const library *l, NDArrayHandle head)
{
    if (l->backward(1, &head, NULL, 0, NULL, 0, 0, 1, NULL, NULL) != 0)
        exit(1);
}

static void chain(const library *l)
{
    NDArrayHandle values[CHAIN + 1];
    int before;

    for (int round = 0; round < UNITS / (CHAIN + 1); round++) {
        l->set_recording(1, &before);
        values[0] = l->call2(l->mul, l->a, l->b);
        for (int i = 1; i <= CHAIN; i++)
            values[i] = i % 3 == 0   ? l->call1(l->tanh, values[i - 1])
                        : i % 3 == 1 ? l->call2(l->add, values[i - 1], l->a)
                                     : l->call2(l->mul, values[i - 1], l->b);
        l->set_recording(0, &before);
        run_back(l, values[CHAIN]);
        for (int i = 0; i <= CHAIN; i++)
            l->free_array(values[i]);
    }
}

static void product(const library *l)
{
    NDArrayHandle value;
    int before;

    for (int i = 0; i < UNITS; i++) {
        l->set_recording(1, &before);
        value = l->call2(l->mul, l->a, l->a);
        l->set_recording(0, &before);
        run_back(l, value);
        l->free_array(value);
    }
}

/* ---- measuring ---- */

static double timed(void (*run)(const library *), const library *l)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    run(l);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static int by_value(const void *x, const void *y)
{
    double p = *(const double *)x, q = *(const double *)y;

    return (p > q) - (p < q);
}

static void compare(const char *name, void (*run)(const library *), const library builds[2])
{
    double ratios[ROUNDS], least[2] = {1e18, 1e18}, times[2];
    /* An order statistic bounds the median: ROUNDS / 2 - 1.96 sqrt(ROUNDS) / 2. */
    int low = (int)(ROUNDS / 2. - .98 * sqrt(ROUNDS));

    for (int round = -4; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            int which = (round + i) & 1;

            times[which] = timed(run, &builds[which]);
            if (round >= 0 && times[which] < least[which])
                least[which] = times[which];
        }
        if (round >= 0)
            ratios[round] = times[0] / times[1];
    }
    qsort(ratios, ROUNDS, sizeof(*ratios), by_value);
    printf("%-26s before / after %.3f, at least %.3f; %.1f and %.1f ns\n", name, ratios[ROUNDS / 2],
           ratios[low], least[0] / UNITS, least[1] / UNITS);
}

int main(int argc, char **argv)
{
    library builds[2];

    if (argc != 3) {
        fprintf(stderr, "usage: %s BEFORE.so AFTER.so\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < 2; i++)
        builds[i] = load(argv[i + 1]);
    compare("a call", plain, builds);
    compare("a recorded call", recorded, builds);
    compare("one of 20, and backward", chain, builds);
    compare("a product, and backward", product, builds);
    return 0;
}
