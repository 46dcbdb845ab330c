/* MXNDArray*: creation, data, shapes, gradients of arrays (api_array.c, api_query.c). */
#include "harness.h"

#include "array/array.h"
#include "base/handle.h"
#include "mxlite/mxlite.h"

/* A failed call with a line that says `words`. */
#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        CHECK_INT(call, -1);                                                                       \
        CHECK_HAS(MXGetLastError(), words);                                                        \
    } while (0)

static NDArrayHandle make(int ndim, const int64_t *shape, int dtype)
{
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreateEx64(shape, ndim, 1, 0, 0, dtype, &h), 0);
    return h;
}

static NDArrayHandle make_floats(int64_t n, const float *values)
{
    NDArrayHandle h = make(1, &n, 0);

    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, (size_t)n), 0);
    return h;
}

static void check_floats(NDArrayHandle h, int n, const float *values)
{
    float got[16] = {0};

    CHECK_INT(MXNDArraySyncCopyToCPU(h, got, (size_t)n), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(got[i], values[i], 0);
}

/* An array over `h`'s 2 x 3 elements whose axes are swapped: no function of the API makes one. */
static NDArrayHandle swapped(NDArrayHandle h)
{
    uint64_t number = (uint64_t)(uintptr_t)h;
    mxl_array *array = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, number);
    mxl_array *other = mxl_array_alias(array);

    mxl_handle_unpin(number);
    other->shape[0] = 3;
    other->shape[1] = 2;
    other->strides[0] = 1;
    other->strides[1] = 3;
    other->contiguous = false;
    return (NDArrayHandle)(uintptr_t)mxl_handle_new(MXL_KIND_ARRAY, &other->ref);
}

TEST(created_and_asked)
{
    const uint32_t shape[] = {3, 4};
    const uint32_t *u32;
    const int *i32;
    const int64_t *i64;
    NDArrayHandle h;
    uint32_t ndim;
    int n, dtype, type, id, stype;
    int64_t room[4] = {-7, -7, -7, -7};

    REQUIRE(MXNDArrayCreateEx(shape, 2, 1, 0, 1, 6, &h) == 0);
    CHECK_INT(MXNDArrayGetShape(h, &ndim, &u32), 0);
    CHECK(ndim == 2 && u32[0] == 3 && u32[1] == 4);
    CHECK_INT(MXNDArrayGetShapeEx(h, &n, &i32), 0);
    CHECK(n == 2 && i32[0] == 3 && i32[1] == 4);
    CHECK_INT(MXNDArrayGetShapeEx64(h, &n, &i64), 0);
    CHECK(n == 2 && i64[0] == 3 && i64[1] == 4);
    /* Each width has a buffer of its own. */
    CHECK(u32[1] == 4 && i32[1] == 4);
    CHECK_INT(MXNDArrayGetDType(h, &dtype), 0);
    CHECK_INT(dtype, 6);
    CHECK_INT(MXNDArrayGetContext(h, &type, &id), 0);
    CHECK(type == 1 && id == 0);
    CHECK_INT(MXNDArrayGetStorageType(h, &stype), 0);
    CHECK_INT(stype, 0);
    CHECK_INT(MXLNDArrayGetInfo(h, 1, room, &dtype), 2);
    CHECK(room[0] == 3 && room[1] == -7 && dtype == 6);
    CHECK_INT(MXLNDArrayGetInfo(h, 4, NULL, NULL), 2);
    CHECK_INT(MXNDArrayWaitToRead(h), 0);
    CHECK_INT(MXNDArrayWaitToWrite(h), 0);
    CHECK_INT(MXNDArrayWaitAll(), 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    REQUIRE(MXNDArrayCreate(shape, 1, 3, 5, 0, &h) == 0);
    CHECK_INT(MXNDArrayGetDType(h, &dtype), 0);
    CHECK_INT(dtype, 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    CHECK_INT(MXNDArrayFree(NULL), 0);
}

/* The array's device as type * 100 + number; frees it. */
static int device_of(NDArrayHandle h)
{
    int type = -1, id = -1;

    CHECK_INT(MXNDArrayGetContext(h, &type, &id), 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    return type * 100 + id;
}

/* All of it is this machine's memory; arrays keep what they were asked for with. */
TEST(devices)
{
    static const struct {
        int type, id, device, results;
    } cases[] = {
        {1, 0, 100, 100}, {1, 7, 107, 107}, {1, -1, 100, 100}, {3, 2, 302, 102}, {5, 1, 501, 101}};
    const int64_t shape[] = {2, 2};
    const char *keys[] = {"shape", "ctx"}, *values[] = {"(2,)", "cpu_pinned(3)"};
    NDArrayHandle h, made, zeros = NULL, *slots;
    AtomicSymbolCreator op;
    MXLCallHandle call;
    int n;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        REQUIRE(MXNDArrayCreateEx64(shape, 2, cases[i].type, cases[i].id, 0, 0, &h) == 0);
        CHECK_INT(device_of(MXLNDArraySlice(h, 0, 1)), cases[i].device);
        CHECK_INT(device_of(MXLNDArrayAt(h, 1)), cases[i].device);
        CHECK_INT(MXNDArrayDetach(h, &made), 0);
        CHECK_INT(device_of(made), cases[i].device);
        REQUIRE(MXLPrepare("exp", 0, NULL, NULL, 0, NULL, &call) == 0);
        CHECK_INT(device_of(MXLCall1(call, h)), cases[i].results);
        REQUIRE(MXLPrepare("_copy", 0, NULL, NULL, 0, NULL, &call) == 0);
        CHECK_INT(device_of(MXLCall1(call, h)), cases[i].device);
        /* The first of several inputs; an array that is written to stays where it is. */
        REQUIRE(MXNDArrayCreateEx64(shape, 2, 1, 9, 0, 0, &zeros) == 0);
        REQUIRE(MXLPrepare("broadcast_add", 0, NULL, NULL, 0, NULL, &call) == 0);
        CHECK_INT(device_of(MXLCall2(call, zeros, h)), 109);
        CHECK_INT(device_of(MXLCall2(call, h, zeros)), cases[i].results);
        CHECK_INT(MXNDArraySyncCopyFromNDArray(zeros, h, -1), 0);
        CHECK_INT(device_of(zeros), 109);
        CHECK_INT(device_of(h), cases[i].device);
    }
    REQUIRE(NNGetOpHandle("_zeros", (OpHandle *)&op) == 0);
    n = 0;
    slots = NULL;
    CHECK_INT(MXImperativeInvoke(op, 0, NULL, &n, &slots, 2, keys, values), 0);
    CHECK_INT(device_of(slots[0]), 303);
    for (const char **text = (const char *[]){"cpu", "cpu(x)", "cpu(1", "cpu(-)", "gpu(0)",
                                              "cpu(1073741824)", NULL};
         *text != NULL; text++) {
        values[1] = *text;
        n = 0;
        slots = NULL;
        FAILS(MXImperativeInvoke(op, 0, NULL, &n, &slots, 2, keys, values), "zeros: ");
    }
    FAILS(MXNDArrayCreateEx64(shape, 2, 1, 1 << 30, 0, 0, &h), "device number 1073741824");
    CHECK(h == NULL);
}

TEST(every_dtype)
{
    static const int width[] = {4, 8, 2, 1, 4, 1, 8, 1};
    unsigned char in[24], out[24];
    const int64_t n = 3;

    for (int i = 0; i < 24; i++)
        in[i] = (unsigned char)(i % 2);
    for (int dtype = 0; dtype < 8; dtype++) {
        NDArrayHandle h = make(1, &n, dtype);

        memset(out, 0x55, sizeof(out));
        CHECK_INT(MXNDArraySyncCopyFromCPU(h, in, 3), 0);
        CHECK_INT(MXNDArraySyncCopyToCPU(h, out, 3), 0);
        CHECK(memcmp(in, out, (size_t)(3 * width[dtype])) == 0);
        /* Elements, not bytes, and not one more. */
        if (width[dtype] < 8)
            CHECK_INT(out[3 * width[dtype]], 0x55);
        CHECK_INT(MXNDArrayFree(h), 0);
    }
}

TEST(creation_refuses)
{
    const uint32_t shape[33] = {2, 3};
    const int64_t negative[] = {2, -1}, large[] = {INT64_C(1) << 62, 4}, wide[33] = {1};
    NDArrayHandle h = &h;

    FAILS(MXNDArrayCreate(shape, 2, 2, 0, 0, &h), "MXNDArrayCreate: device type 2 (gpu)");
    CHECK(h == NULL);
    FAILS(MXNDArrayCreate(shape, 2, 0, 0, 0, &h), "unknown device type 0");
    FAILS(MXNDArrayCreate(shape, 2, -1, 0, 0, &h), "unknown device type -1");
    FAILS(MXNDArrayCreate(shape, 33, 1, 0, 0, &h), "33 axes");
    FAILS(MXNDArrayCreate(shape, UINT32_MAX, 1, 0, 0, &h), "axes");
    FAILS(MXNDArrayCreate(NULL, 2, 1, 0, 0, &h), "'shape' is NULL");
    FAILS(MXNDArrayCreate(shape, 2, 1, 0, 0, NULL), "'out' is NULL");
    FAILS(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 13, &h), "MXNDArrayCreateEx: unknown dtype 13");
    FAILS(MXNDArrayCreateEx(shape, 2, 1, 0, 0, -1, &h), "unknown dtype -1");
    FAILS(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 99, &h), "unknown dtype 99");
    FAILS(MXNDArrayCreateEx64(negative, 2, 1, 0, 0, 0, &h), "MXNDArrayCreateEx64: shape (2,-1)");
    FAILS(MXNDArrayCreateEx64(large, 2, 1, 0, 0, 0, &h), "too many elements");
    FAILS(MXNDArrayCreateEx64(wide, 33, 1, 0, 0, 0, &h), "33 axes");
    FAILS(MXNDArrayCreateEx64(wide, -1, 1, 0, 0, 0, &h), "-1 axes");
    FAILS(MXNDArrayCreateEx64(large, 1, 1, 0, 0, 0, &h), "MXNDArrayCreateEx64: ");
    CHECK(h == NULL);
    FAILS(MXNDArrayCreateNone(NULL), "MXNDArrayCreateNone: argument 'out' is NULL");
}

/* What has no shape yet, and what has no axes. */
TEST(without_shape)
{
    const uint32_t *u32 = (const uint32_t *)1;
    const int64_t *i64;
    NDArrayHandle none, scalar, other;
    uint32_t ndim = 9;
    int n, prev, dtype, stype, type, id;
    float value = 1;
    void *data;
    uint64_t version;

    REQUIRE(MXNDArrayCreateNone(&none) == 0);
    REQUIRE(MXNDArrayCreateEx64(NULL, 0, 1, 0, 0, 0, &scalar) == 0);
    CHECK_INT(MXNDArrayGetShape(none, &ndim, &u32), 0);
    CHECK(ndim == 0 && u32 == NULL);
    CHECK_INT(MXNDArrayGetDType(none, &dtype), 0);
    CHECK_INT(dtype, -1);
    CHECK_INT(MXNDArrayGetStorageType(none, &stype), 0);
    CHECK_INT(stype, -1);
    CHECK_INT(MXNDArrayGetContext(none, &type, &id), 0);
    CHECK(type == 0 && id == 0);
    CHECK_INT(MXLNDArrayGetInfo(none, 0, NULL, &dtype), -1);
    /* Without axes there is one element, in this mode too. */
    CHECK_INT(MXNDArraySyncCopyFromCPU(scalar, &value, 1), 0);
    value = 0;
    CHECK_INT(MXNDArraySyncCopyToCPU(scalar, &value, 1), 0);
    CHECK(value == 1);
    CHECK_INT(MXNDArrayGetShapeEx64(scalar, &n, &i64), 0);
    CHECK_INT(n, 0);
    CHECK_INT(MXNDArrayGetStorageType(scalar, &stype), 0);
    CHECK_INT(stype, 0);
    CHECK_INT(MXNDArrayWaitToRead(none), 0);
    FAILS(MXNDArrayGetData(none, &data), "has no shape yet");
    FAILS(MXNDArraySyncCopyToCPU(none, &value, 0), "has no shape yet");
    FAILS(MXNDArraySyncCopyFromCPU(none, &value, 1), "has no shape yet");
    FAILS(MXLNDArrayBumpVersion(none), "has no shape yet");
    FAILS(MXLNDArrayGetVersion(none, &version), "has no shape yet");
    CHECK_INT(MXNDArrayDetach(none, &other), 0);
    CHECK_INT(MXNDArrayFree(other), 0);
    CHECK_INT(MXNDArrayGetGrad(none, &other), 0);
    CHECK(other == NULL);

    CHECK_INT(MXSetIsNumpyShape(1, &prev), 0);
    CHECK_INT(prev, 0);
    CHECK_INT(MXNDArrayGetShapeEx64(none, &n, &i64), 0);
    CHECK_INT(n, -1);
    FAILS(MXNDArrayGetShape(none, &ndim, &u32), "has no shape yet");
    CHECK_INT(MXNDArrayGetShapeEx64(scalar, &n, &i64), 0);
    CHECK_INT(n, 0);
    CHECK_INT(MXNDArrayFree(scalar), 0);
    CHECK_INT(MXNDArrayFree(none), 0);
}

TEST(empty_arrays)
{
    const int64_t shape[] = {2, 0};
    NDArrayHandle h = make(2, shape, 0);
    void *data = &data;

    CHECK_INT(MXNDArraySyncCopyFromCPU(h, NULL, 0), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(h, NULL, 0), 0);
    CHECK_INT(MXNDArrayGetData(h, &data), 0);
    CHECK(data == NULL);
    CHECK_INT(MXNDArrayFree(h), 0);
}

/* No memory is touched: an empty array's extents may be large. */
TEST(wide_extents)
{
    const int64_t shape[] = {0, INT64_C(5000000000), 30000000};
    NDArrayHandle h = make(3, shape, 0);
    const uint32_t *u32;
    const int *i32;
    const int64_t *i64;
    uint32_t ndim;
    int n;

    FAILS(MXNDArrayGetShape(h, &ndim, &u32), "MXNDArrayGetShape: extent 5000000000 does not fit");
    CHECK(ndim == 0 && u32 == NULL);
    FAILS(MXNDArrayGetShapeEx(h, &n, &i32), "MXNDArrayGetShapeEx: extent 5000000000 does not fit");
    CHECK(n == 0 && i32 == NULL);
    CHECK_INT(MXNDArrayGetShapeEx64(h, &n, &i64), 0);
    CHECK(n == 3 && i64[2] == 30000000);
    CHECK_INT(MXNDArrayFree(h), 0);
}

TEST(copies_refuse)
{
    const float values[] = {1, 2, 3};
    NDArrayHandle h = make_floats(3, values), other = make_floats(2, values);
    float out[4];

    FAILS(MXNDArraySyncCopyFromCPU(h, values, 2), "size is 2 elements, the array has 3");
    FAILS(MXNDArraySyncCopyFromCPU(h, values, 4), "size is 4 elements, the array has 3");
    FAILS(MXNDArraySyncCopyFromCPU(h, values, SIZE_MAX), "the array has 3");
    FAILS(MXNDArraySyncCopyFromCPU(h, NULL, 3), "'data' is NULL");
    FAILS(MXNDArraySyncCopyToCPU(h, out, 2), "size is 2 elements, the array has 3");
    FAILS(MXNDArraySyncCopyToCPU(h, NULL, 3), "'data' is NULL");
    FAILS(MXNDArraySyncCopyFromNDArray(h, other, 0), "i is 0");
    FAILS(MXNDArraySyncCopyFromNDArray(h, other, -1), "handle_src has shape (2,), handle_dst (3,)");
    FAILS(MXNDArraySyncCopyFromNDArray(h, NULL, -1), "MXNDArraySyncCopyFromNDArray: NULL");
    FAILS(MXNDArraySyncCopyFromNDArray(NULL, h, -1), "MXNDArraySyncCopyFromNDArray: NULL");
    check_floats(h, 3, values);
    CHECK_INT(MXNDArrayFree(h), 0);
    CHECK_INT(MXNDArrayFree(other), 0);
}

TEST(copies_between_arrays)
{
    const float values[] = {1.75f, -2.75f, 3};
    const int64_t n = 3;
    NDArrayHandle from = make_floats(3, values), ints = make(1, &n, 4), none, tail, head;
    int32_t got[3];

    CHECK_INT(MXNDArraySyncCopyFromNDArray(ints, from, -1), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(ints, got, 3), 0);
    CHECK(got[0] == 1 && got[1] == -2 && got[2] == 3);
    /* An array without shape takes over shape and dtype. */
    REQUIRE(MXNDArrayCreateNone(&none) == 0);
    FAILS(MXNDArraySyncCopyFromNDArray(from, none, -1), "has no shape yet");
    CHECK_INT(MXNDArraySyncCopyFromNDArray(none, from, -1), 0);
    check_floats(none, 3, values);
    /* Onto itself, and onto a part that overlaps. */
    CHECK_INT(MXNDArraySyncCopyFromNDArray(from, from, -1), 0);
    check_floats(from, 3, values);
    REQUIRE(MXNDArraySlice(from, 0, 2, &head) == 0);
    REQUIRE(MXNDArraySlice(from, 1, 3, &tail) == 0);
    CHECK_INT(MXNDArraySyncCopyFromNDArray(tail, head, -1), 0);
    check_floats(from, 3, (const float[]){1.75f, 1.75f, -2.75f});
    CHECK_INT(MXNDArrayFree(head), 0);
    CHECK_INT(MXNDArrayFree(tail), 0);
    CHECK_INT(MXNDArrayFree(none), 0);
    CHECK_INT(MXNDArrayFree(ints), 0);
    CHECK_INT(MXNDArrayFree(from), 0);
}

TEST(strided_arrays)
{
    const int64_t shape[] = {2, 3};
    const float values[] = {0, 1, 2, 3, 4, 5}, other[] = {10, 11, 12, 13, 14, 15};
    NDArrayHandle h = make(2, shape, 0), t, view;
    void *data;

    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, 6), 0);
    t = swapped(h);
    check_floats(t, 6, (const float[]){0, 3, 1, 4, 2, 5});
    CHECK_INT(MXNDArraySyncCopyFromCPU(t, other, 6), 0);
    check_floats(h, 6, (const float[]){10, 12, 14, 11, 13, 15});
    FAILS(MXNDArrayGetData(t, &data), "do not lie in C order");
    FAILS(MXNDArraySlice(t, 0, 1, &view), "do not lie in C order");
    FAILS(MXNDArrayAt(t, 0, &view), "do not lie in C order");
    FAILS(MXNDArrayReshape(t, 0, NULL, &view), "do not lie in C order");
    CHECK_INT(MXNDArrayFree(t), 0);
    CHECK_INT(MXNDArrayFree(h), 0);
}

TEST(data_and_versions)
{
    const float values[] = {1, 2, 3};
    NDArrayHandle h = make_floats(3, values), part;
    uint64_t before, after;
    float *data;

    CHECK_INT(MXLNDArrayGetVersion(h, &before), 0);
    CHECK_INT(MXNDArrayGetData(h, (void **)&data), 0);
    CHECK(data[0] == 1 && data[2] == 3);
    CHECK_INT(MXLNDArrayGetVersion(h, &after), 0);
    CHECK(after == before);
    data[1] = 7;
    CHECK_INT(MXLNDArrayBumpVersion(h), 0);
    CHECK_INT(MXLNDArrayGetVersion(h, &after), 0);
    CHECK(after > before);
    check_floats(h, 3, (const float[]){1, 7, 3});
    before = after;
    REQUIRE(MXNDArraySlice(h, 1, 3, &part) == 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(part, values, 2), 0);
    CHECK_INT(MXLNDArrayGetVersion(h, &after), 0);
    CHECK(after > before);
    CHECK_INT(MXNDArrayFree(h), 0);
    /* The part keeps the memory alive. */
    check_floats(part, 2, values);
    CHECK_INT(MXNDArrayFree(part), 0);
}

TEST(bases_of_views)
{
    NDArrayHandle h = make_floats(3, (const float[]){1, 2, 3}), part, piece, base, none;
    uint64_t id, id_of_base;

    REQUIRE(MXNDArraySlice(h, 1, 3, &part) == 0);
    REQUIRE(MXNDArraySlice(part, 1, 2, &piece) == 0);
    CHECK_INT(MXLNDArrayGetBase(piece, &base), 0);
    CHECK_INT(MXLNDArrayGetBase(h, &none), 0);
    CHECK(none == NULL);
    REQUIRE(base != NULL);
    CHECK_INT(MXLNDArrayGetId(h, &id), 0);
    CHECK_INT(MXLNDArrayGetId(base, &id_of_base), 0);
    CHECK(id == id_of_base);
    CHECK_INT(MXNDArrayFree(h), 0);
    check_floats(base, 3, (const float[]){1, 2, 3});
    CHECK_INT(MXNDArrayFree(base), 0);
    CHECK_INT(MXNDArrayFree(part), 0);
    CHECK_INT(MXNDArrayFree(piece), 0);
}

TEST(inference_arrays)
{
    const float values[] = {1, 2, 3};
    NDArrayHandle plain = make_floats(3, values), made, view;
    uint64_t version;
    int before = -1;

    CHECK_INT(MXLSetInferenceMode(1, &before), 0);
    CHECK_INT(before, 0);
    made = make_floats(3, values);
    REQUIRE(MXNDArraySlice(plain, 1, 3, &view) == 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(made, values, 3), 0);
    CHECK_INT(MXLSetInferenceMode(0, &before), 0);
    CHECK_INT(before, 1);
    CHECK_INT(MXLNDArrayIsInference(made), 1);
    CHECK_INT(MXLNDArrayIsInference(view), 0);
    CHECK_INT(MXLNDArrayIsInference(plain), 0);
    FAILS(MXLNDArrayGetVersion(made, &version), "keeps no version");
    FAILS(MXLNDArraySetRequiresGrad(made, 1), "made in inference mode");
    CHECK_INT(MXLNDArraySetRequiresGrad(made, 0), 0);
    FAILS(MXNDArraySyncCopyFromCPU(made, values, 3), "inference array");
    check_floats(made, 3, values);
    CHECK_INT(MXNDArrayFree(made), 0);
    CHECK_INT(MXNDArrayFree(view), 0);
    CHECK_INT(MXNDArrayFree(plain), 0);
}

TEST(shallow_copies)
{
    const float values[] = {1, 2, 3}, other[] = {4, 5, 6};
    NDArrayHandle h = make_floats(3, values), copy, detached;

    REQUIRE(MXShallowCopyNDArray(h, &copy) == 0);
    REQUIRE(MXNDArrayDetach(h, &detached) == 0);
    CHECK(copy != h && detached != h);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, other, 3), 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    check_floats(copy, 3, other);
    check_floats(detached, 3, other);
    CHECK_INT(MXNDArrayFree(copy), 0);
    CHECK_INT(MXNDArrayFree(detached), 0);
}

TEST(gradients)
{
    const float values[] = {1, 2, 3}, zeros[] = {0, 0, 0};
    NDArrayHandle x = make_floats(3, values), g = make_floats(3, zeros), grad, again, detached;
    uint32_t write = 1;
    int state = 9;

    CHECK_INT(MXNDArrayGetGrad(x, &grad), 0);
    CHECK(grad == NULL);
    CHECK_INT(MXNDArrayGetGradState(x, &state), 0);
    CHECK_INT(state, 0);
    FAILS(MXNDArraySetGradState(x, 1), "MXNDArraySetGradState: the array is not a variable");
    REQUIRE(MXAutogradMarkVariables(1, &x, &write, &g) == 0);
    REQUIRE(MXNDArrayGetGrad(x, &grad) == 0);
    REQUIRE(MXNDArrayGetGrad(x, &again) == 0);
    CHECK(grad != NULL && grad != again && grad != g);
    CHECK_INT(MXNDArraySyncCopyFromCPU(g, values, 3), 0);
    check_floats(grad, 3, values);
    CHECK_INT(MXNDArraySetGradState(x, 5), 0);
    CHECK_INT(MXNDArrayGetGradState(x, &state), 0);
    CHECK_INT(state, 1);
    CHECK_INT(MXNDArraySetGradState(x, 0), 0);
    CHECK_INT(MXNDArrayGetGradState(x, &state), 0);
    CHECK_INT(state, 0);
    REQUIRE(MXNDArrayDetach(x, &detached) == 0);
    CHECK_INT(MXNDArrayFree(again), 0);
    CHECK_INT(MXNDArrayGetGrad(detached, &again), 0);
    CHECK(again == NULL);
    CHECK_INT(MXNDArrayFree(detached), 0);
    CHECK_INT(MXNDArrayFree(g), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
    check_floats(grad, 3, values);
    CHECK_INT(MXNDArrayFree(grad), 0);
}

HARNESS_MAIN(ENTRY(created_and_asked), ENTRY(devices), ENTRY(every_dtype), ENTRY(creation_refuses),
             ENTRY(without_shape), ENTRY(empty_arrays), NOT_WASM(wide_extents),
             ENTRY(copies_refuse), ENTRY(copies_between_arrays), ENTRY(strided_arrays),
             ENTRY(data_and_versions), ENTRY(bases_of_views), ENTRY(inference_arrays),
             ENTRY(shallow_copies), ENTRY(gradients))
