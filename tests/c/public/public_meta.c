/* Arrays on the device meta, by the public headers: what operators, gradients and views make of
 * them, and which functions refuse them. */
#include "harness.h"

#include <mxlite/mxlite.h>

enum { META = 6, FLOAT32 = 0 };

/* A failed call with a line that says `words`. */
#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        CHECK_INT(call, -1);                                                                       \
        CHECK_HAS(MXGetLastError(), words);                                                        \
    } while (0)

static NDArrayHandle made(int device, int64_t rows, int64_t columns)
{
    const int64_t shape[] = {rows, columns};
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreateEx64(shape, 2, device, 0, 0, FLOAT32, &h), 0);
    return h;
}

static int run(const char *name, int count, NDArrayHandle *inputs, NDArrayHandle *result)
{
    NDArrayHandle *outputs = NULL;
    OpHandle op;
    int num = 0;

    *result = NULL;
    if (NNGetOpHandle(name, &op) != 0 ||
        MXImperativeInvoke(op, count, inputs, &num, &outputs, 0, NULL, NULL) != 0)
        return -1;
    *result = outputs[0];
    return 0;
}

static bool is_meta(NDArrayHandle h, int ndim, int64_t first)
{
    const int64_t *shape;
    int type = 0, id = -1, n = 0;

    CHECK_INT(MXNDArrayGetContext(h, &type, &id), 0);
    CHECK_INT(MXNDArrayGetShapeEx64(h, &n, &shape), 0);
    return type == META && id == 0 && n == ndim && shape[0] == first;
}

/* A product, a sum and a view of arrays of 4 TB, and the gradient. */
TEST(operators_and_gradients)
{
    const int64_t large = 1000000;
    NDArrayHandle x = made(META, large, large), grad = made(META, large, large), y, z, tail, found;
    uint32_t write = 1;
    int before;

    CHECK(is_meta(x, 2, large));
    REQUIRE(MXAutogradMarkVariables(1, &x, &write, &grad) == 0);
    CHECK_INT(MXAutogradSetIsRecording(1, &before), 0);
    CHECK_INT(MXNDArraySlice(x, 1, 3, &tail), 0);
    CHECK(is_meta(tail, 2, 2));
    CHECK_INT(run("square", 1, &tail, &y), 0);
    CHECK_INT(run("sum", 1, &y, &z), 0);
    CHECK_INT(MXAutogradSetIsRecording(0, &before), 0);
    CHECK(is_meta(z, 1, 1));
    CHECK_INT(MXAutogradBackward(1, &z, NULL, 0), 0);
    CHECK_INT(MXNDArrayGetGrad(x, &found), 0);
    CHECK(is_meta(found, 2, large));
    for (int i = 0; i < 6; i++)
        CHECK_INT(MXNDArrayFree((NDArrayHandle[]){x, grad, y, z, tail, found}[i]), 0);
}

/* Beside an array of the CPU the result is meta; nothing is written from meta to the CPU. */
TEST(beside_the_cpu)
{
    NDArrayHandle pair[] = {made(META, 2, 3), made(1, 2, 3)}, sum, *into = &pair[1];
    OpHandle op;
    int num = 1;

    CHECK_INT(run("broadcast_add", 2, pair, &sum), 0);
    CHECK(is_meta(sum, 2, 2));
    REQUIRE(NNGetOpHandle("square", &op) == 0);
    FAILS(MXImperativeInvoke(op, 1, pair, &num, &into, 0, NULL, NULL), "on the meta device");
    FAILS(MXNDArraySyncCopyFromNDArray(pair[1], pair[0], -1), "on the meta device");
    CHECK_INT(MXNDArraySyncCopyFromNDArray(pair[0], pair[1], -1), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(MXNDArrayFree((NDArrayHandle[]){sum, pair[0], pair[1]}[i]), 0);
}

TEST(reads_are_refused)
{
    NDArrayHandle x = made(META, 2, 3), found;
    const char *raw;
    float room[6];
    void *data;
    size_t size;
    int process, number;

    CHECK_INT(MXNDArrayWaitToRead(x), 0);
    FAILS(MXNDArraySyncCopyToCPU(x, room, 6), "has no values");
    FAILS(MXNDArraySyncCopyFromCPU(x, room, 6), "has no values");
    FAILS(MXNDArrayGetData(x, &data), "has no values");
    FAILS(MXLNDArrayGetAddress(x, &data), "has no values");
    FAILS(MXNDArraySaveRawBytes(x, &size, &raw), "has no values");
    FAILS(MXNDArraySave("meta.params", 1, &x, NULL), "has no values");
    FAILS(MXNDArrayToDLPack(x, &data), "has no values");
    FAILS(MXNDArrayGetSharedMemHandle(x, &process, &number), "has no values");
    FAILS(run("_contrib_boolean_mask", 2, (NDArrayHandle[]){x, x}, &found), "depends on values");
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(other_devices_are_not_meta)
{
    const int64_t shape[] = {2, 3};
    int types[] = {6}, ndims[] = {1};
    int64_t stored[] = {0};
    NDArrayHandle h;

    FAILS(MXNDArrayCreateSparseEx64(1, shape, 2, META, 0, 0, FLOAT32, 1, types, ndims, stored, &h),
          "unknown device type 6");
    FAILS(MXStorageEmptyCache(META, 0), "unknown device type 6");
}

HARNESS_MAIN(NOT_WASM(operators_and_gradients), ENTRY(beside_the_cpu), ENTRY(reads_are_refused),
             ENTRY(other_devices_are_not_meta))
