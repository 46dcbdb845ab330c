/* A program that uses only the public headers and the shared library: arrays in and out, an
 * operator by name, views, a gradient. */
#include "harness.h"

#include <mxlite/c_api.h>

static NDArrayHandle floats(uint32_t n, const float *values)
{
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreate(&n, 1, 1, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, n), 0);
    return h;
}

static NDArrayHandle call(const char *name, int count, NDArrayHandle *inputs, int num_params,
                          const char **keys, const char **values)
{
    OpHandle op;
    NDArrayHandle *outputs = NULL;
    int num = 0;

    if (!CHECK(NNGetOpHandle(name, &op) == 0) ||
        !CHECK(MXImperativeInvoke(op, count, inputs, &num, &outputs, num_params, keys, values) ==
               0) ||
        !CHECK_INT(num, 1))
        return NULL;
    return outputs[0];
}

static void check(NDArrayHandle h, size_t n, const float *expected)
{
    float got[8] = {0};

    CHECK_INT(MXNDArrayWaitToRead(h), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(h, got, n), 0);
    for (size_t i = 0; i < n; i++)
        CHECK_NEAR(got[i], expected[i], 1e-6);
}

TEST(operators_by_name)
{
    const float values[] = {1, 2, 3};
    const char *keys[] = {"scalar"}, *texts[] = {"2.5"};
    NDArrayHandle in[2], sum, scaled;

    in[0] = in[1] = floats(3, values);
    sum = call("broadcast_add", 2, in, 0, NULL, NULL);
    check(sum, 3, (const float[]){2, 4, 6});
    scaled = call("_mul_scalar", 1, &sum, 1, keys, texts);
    check(scaled, 3, (const float[]){5, 10, 15});
    CHECK_INT(MXNDArrayFree(scaled), 0);
    CHECK_INT(MXNDArrayFree(sum), 0);
    CHECK_INT(MXNDArrayFree(in[0]), 0);
}

TEST(gradient_through_a_view)
{
    const float values[] = {1, 2, 3}, zeros[] = {0, 0, 0};
    NDArrayHandle x = floats(3, values), buffer = floats(3, zeros), tail, y, grad;
    uint32_t write = 1;
    int prev;

    REQUIRE(MXAutogradMarkVariables(1, &x, &write, &buffer) == 0);
    CHECK_INT(MXAutogradSetIsRecording(1, &prev), 0);
    CHECK_INT(MXNDArraySlice(x, 1, 3, &tail), 0);
    y = call("square", 1, &tail, 0, NULL, NULL);
    CHECK_INT(MXAutogradSetIsRecording(0, &prev), 0);
    CHECK_INT(prev, 1);
    CHECK_INT(MXAutogradBackward(1, &y, NULL, 0), 0);
    CHECK_INT(MXNDArrayGetGrad(x, &grad), 0);
    check(grad, 3, (const float[]){0, 4, 6});
    CHECK_INT(MXNDArrayFree(grad), 0);
    CHECK_INT(MXNDArrayFree(y), 0);
    CHECK_INT(MXNDArrayFree(tail), 0);
    CHECK_INT(MXNDArrayFree(buffer), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(errors_are_lines)
{
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayAt(h, 0, &h), -1);
    CHECK_HAS(MXGetLastError(), "MXNDArrayAt: NULL where an array handle was expected");
    CHECK(h == NULL);
}

HARNESS_MAIN(ENTRY(operators_by_name), ENTRY(gradient_through_a_view), ENTRY(errors_are_lines))
