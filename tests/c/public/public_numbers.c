/* The C API's int constants by their names in the public headers: dtypes, devices, gradient
 * requests. */
#include "harness.h"

#include <mxlite/c_api.h>
#include <string.h>

static const int64_t two[] = {2};

TEST(dtypes)
{
    static const struct {
        int dtype;
        const char *name;
        unsigned char ones[16]; /* two of them in memory */
        size_t size;
    } rows[] = {
        {kFloat32, "float32", {0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 4},
        {kFloat64, "float64", {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 8},
        {kFloat16, "float16", {0, 0x3c, 0, 0x3c}, 2},
        {kUint8, "uint8", {1, 1}, 1},
        {kInt32, "int32", {1, 0, 0, 0, 1, 0, 0, 0}, 4},
        {kInt8, "int8", {1, 1}, 1},
        {kInt64, "int64", {1, 0, 0, 0, 0, 0, 0, 0, 1}, 8},
        {kBool, "bool", {1, 1}, 1},
        {8, "int16", {1, 0, 1}, 2},
        {9, "uint16", {1, 0, 1}, 2},
        {10, "uint32", {1, 0, 0, 0, 1}, 4},
        {11, "uint64", {1, 0, 0, 0, 0, 0, 0, 0, 1}, 8},
        {kBfloat16, "bfloat16", {0x80, 0x3f, 0x80, 0x3f}, 2},
    };
    const char *keys[] = {"shape", "dtype"}, *values[] = {"(2,)", NULL};
    OpHandle op;
    NDArrayHandle h;

    REQUIRE(NNGetOpHandle("_ones", &op) == 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        NDArrayHandle *made = NULL;
        unsigned char bytes[16] = {0};
        int n = 0, dtype = -1;

        values[1] = rows[i].name;
        REQUIRE(MXImperativeInvoke(op, 0, NULL, &n, &made, 2, keys, values) == 0);
        h = made[0];
        CHECK_INT(MXNDArrayGetDType(h, &dtype), 0);
        CHECK_INT(dtype, rows[i].dtype);
        CHECK_INT(MXNDArraySyncCopyToCPU(h, bytes, 2), 0);
        CHECK_INT(memcmp(bytes, rows[i].ones, 2 * rows[i].size), 0);
        CHECK_INT(MXNDArrayFree(h), 0);

        REQUIRE(MXNDArrayCreateEx64(two, 1, kCPU, 0, 0, rows[i].dtype, &h) == 0);
        CHECK_INT(MXNDArrayGetDType(h, &dtype), 0);
        CHECK_INT(dtype, rows[i].dtype);
        CHECK_INT(MXNDArrayFree(h), 0);
    }
    CHECK_INT(MXNDArrayCreateEx64(two, 1, kCPU, 0, 0, kBfloat16 + 1, &h), -1);
    CHECK_HAS(MXGetLastError(), "unknown dtype 13");
}

TEST(devices)
{
    static const int types[] = {kCPU, kCPUPinned, kCPUShared};
    static const char *const names[] = {"cpu(3)", "cpu_pinned(3)", "cpu_shared(3)"};
    const char *keys[] = {"shape", "ctx"}, *values[] = {"(2,)", NULL};
    OpHandle op;
    NDArrayHandle h;

    REQUIRE(NNGetOpHandle("_zeros", &op) == 0);
    for (int i = 0; i < 3; i++) {
        NDArrayHandle *made = NULL;
        int n = 0, type = 0, number = 0;

        values[1] = names[i];
        REQUIRE(MXImperativeInvoke(op, 0, NULL, &n, &made, 2, keys, values) == 0);
        h = made[0];
        CHECK_INT(MXNDArrayGetContext(h, &type, &number), 0);
        CHECK_INT(type, types[i]);
        CHECK_INT(number, 3);
        CHECK_INT(MXNDArrayFree(h), 0);
    }
    CHECK_INT(MXNDArrayCreateEx64(two, 1, kGPU, 0, 0, kFloat32, &h), -1);
    CHECK_HAS(MXGetLastError(), "(gpu)");
}

/* x * x at (3, 4), backward twice, with the gradient array given or NULL: what the gradient's first
 * element must be, or -1 for no gradient. */
static void check_gradient(uint32_t request, bool given, float wanted)
{
    const float values[] = {3, 4};
    float got[2] = {-1, -1};
    NDArrayHandle x = NULL, grad = NULL, y, pair[2];
    OpHandle op;
    int before;

    REQUIRE(NNGetOpHandle("elemwise_mul", &op) == 0);
    REQUIRE(MXNDArrayCreateEx64(two, 1, kCPU, 0, 0, kFloat32, &x) == 0);
    REQUIRE(MXNDArraySyncCopyFromCPU(x, values, 2) == 0);
    if (given) {
        REQUIRE(MXNDArrayCreateEx64(two, 1, kCPU, 0, 0, kFloat32, &grad) == 0);
        REQUIRE(MXNDArraySyncCopyFromCPU(grad, (float[]){0, 0}, 2) == 0);
    }
    CHECK_INT(MXAutogradMarkVariables(1, &x, &request, &grad), 0);
    CHECK_INT(MXNDArrayFree(grad), 0);
    for (int i = 0; i < 2; i++) {
        NDArrayHandle *made = NULL;
        int n = 0;

        CHECK_INT(MXAutogradSetIsRecording(1, &before), 0);
        pair[0] = pair[1] = x;
        REQUIRE(MXImperativeInvoke(op, 2, pair, &n, &made, 0, NULL, NULL) == 0);
        CHECK_INT(MXAutogradSetIsRecording(before, &before), 0);
        y = made[0];
        CHECK_INT(MXAutogradBackward(1, &y, NULL, 0), request == kNullOp ? -1 : 0);
        CHECK_INT(MXNDArrayFree(y), 0);
    }
    CHECK_INT(MXNDArrayGetGrad(x, &grad), 0);
    if (grad != NULL)
        CHECK_INT(MXNDArraySyncCopyToCPU(grad, got, 2), 0);
    CHECK_INT(MXNDArrayFree(grad), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
    CHECK_NEAR(got[0], wanted, 0);
}

TEST(gradient_requests)
{
    check_gradient(kNullOp, true, 0);
    check_gradient(kWriteTo, true, 6);
    check_gradient(kWriteInplace, true, 6);
    check_gradient(kAddTo, true, 12);
}

/* NULL in place of a gradient array: there is none yet. */
TEST(gradients_that_are_made)
{
    check_gradient(kNullOp, false, -1);
    check_gradient(kWriteTo, false, 6);
    check_gradient(kAddTo, false, 12);
}

HARNESS_MAIN(ENTRY(dtypes), ENTRY(devices), ENTRY(gradient_requests),
             ENTRY(gradients_that_are_made))
