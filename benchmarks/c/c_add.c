/* What adding two 4 x 4 arrays costs through the C API: by a prepared call, or (argument "name") by
 * the operator's name, as MXNet 1.9.1's programs do. Answers each line, a number of calls, with the
 * nanoseconds of one: how bindings.py asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mxlite/mxlite.h"

static NDArrayHandle inputs[2];
static MXLCallHandle prepared;

static void need(int ok)
{
    if (!ok) {
        fprintf(stderr, "c_add: %s\n", MXGetLastError());
        exit(1);
    }
}

static NDArrayHandle add_prepared(void)
{
    return MXLCall2(prepared, inputs[0], inputs[1]);
}

static NDArrayHandle add_by_name(void)
{
    NDArrayHandle *outputs = NULL;
    const int *stypes;
    OpHandle op;
    int count = 0;

    need(NNGetOpHandle("broadcast_add", &op) == 0);
    need(MXImperativeInvokeEx(op, 2, inputs, &count, &outputs, 0, NULL, NULL, &stypes) == 0);
    return outputs[0];
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int64_t shape[2] = {4, 4};
    NDArrayHandle (*add)(void) =
        argc > 1 && strcmp(argv[1], "name") == 0 ? add_by_name : add_prepared;
    int count;

    for (int i = 0; i < 2; i++) {
        need(MXNDArrayCreateEx64(shape, 2, 1, 0, 0, 0, &inputs[i]) == 0);
        need(MXNDArraySyncCopyFromCPU(inputs[i], ones, 16) == 0);
    }
    need(MXLPrepare("broadcast_add", 0, NULL, NULL, 0, NULL, &prepared) == 0);
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("C");
    while (scanf("%d", &count) == 1) {
        double begin = now();

        for (int i = 0; i < count; i++) {
            NDArrayHandle sum = add();

            need(sum != NULL);
            MXNDArrayFree(sum);
        }
        printf("%.1f\n", (now() - begin) / count);
    }
    return 0;
}
