/* Slice, At and Reshape: results, refused arguments, gradients; Reshape's codes. */
#include "harness.h"

#include "api/common.h"
#include "base/handle.h"
#include "engine/run/scope.h"
#include "mxlite/mxlite.h"
#include "ops/shape/movement.h"
#include "ops/shape/reshape_codes.h"

#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        CHECK_INT(call, -1);                                                                       \
        CHECK_HAS(MXGetLastError(), words);                                                        \
    } while (0)

#define NO_HANDLE(call, words)                                                                     \
    do {                                                                                           \
        CHECK((call) == NULL);                                                                     \
        CHECK_HAS(MXGetLastError(), words);                                                        \
    } while (0)

/* 0, 1, 2, ... in that shape, float32. */
static NDArrayHandle counting(int ndim, const int64_t *shape)
{
    NDArrayHandle h = NULL;
    float values[64];
    int64_t size = mxl_shape_size(ndim, shape);

    for (int i = 0; i < 64; i++)
        values[i] = (float)i;
    CHECK_INT(MXNDArrayCreateEx64(shape, ndim, 1, 0, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, (size_t)size), 0);
    return h;
}

/* Frees `h` after comparing shape and first element. */
static void check_view(NDArrayHandle h, int ndim, const int64_t *shape, float first)
{
    int64_t got[MXL_MAX_NDIM];
    int dtype, got_ndim;
    float *data;

    if (!CHECK(h != NULL))
        return;
    got_ndim = MXLNDArrayGetInfo(h, MXL_MAX_NDIM, got, &dtype);
    CHECK_INT(dtype, 0);
    if (!CHECK(mxl_shape_same(got_ndim, got, ndim, shape)))
        for (int i = 0; i < got_ndim; i++)
            CHECK_INT(got[i], i < ndim ? shape[i] : -1);
    CHECK_INT(MXNDArrayGetData(h, (void **)&data), 0);
    if (mxl_shape_size(ndim, shape) > 0)
        CHECK_NEAR(data[0], first, 0);
    CHECK_INT(MXNDArrayFree(h), 0);
}

#define SHAPE(...)                                                                                 \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

TEST(slices)
{
    NDArrayHandle x = counting(SHAPE(3, 4)), h = x, part, deeper;
    float nine[4] = {9, 9, 9, 9}, all[12];

    CHECK_INT(MXNDArraySlice(x, 1, 3, &h), 0);
    check_view(h, SHAPE(2, 4), 4);
    CHECK_INT(MXNDArraySlice64(x, 0, 3, &h), 0);
    check_view(h, SHAPE(3, 4), 0);
    check_view(MXLNDArraySlice(x, 2, 3), SHAPE(1, 4), 8);
    CHECK_INT(MXNDArraySlice(x, 1, 1, &h), 0);
    check_view(h, SHAPE(0, 4), 0);
    CHECK_INT(MXNDArraySlice(x, 3, 3, &h), 0);
    check_view(h, SHAPE(0, 4), 0);
    FAILS(MXNDArraySlice(x, 2, 1, &h), "MXNDArraySlice: rows [2,1) of an array of shape (3,4)");
    CHECK(h == NULL);
    FAILS(MXNDArraySlice(x, 0, 4, &h), "rows [0,4)");
    FAILS(MXNDArraySlice(x, UINT32_MAX, 3, &h), "rows [4294967295,3)");
    FAILS(MXNDArraySlice64(x, -1, 2, &h), "MXNDArraySlice64: rows [-1,2)");
    FAILS(MXNDArraySlice64(x, INT64_MIN, INT64_MAX, &h), "MXNDArraySlice64");
    FAILS(MXNDArraySlice(x, 0, 1, NULL), "'out' is NULL");
    NO_HANDLE(MXLNDArraySlice(x, 0, 4), "MXLNDArraySlice: rows [0,4)");
    /* A view of a view; writes are seen everywhere. */
    part = MXLNDArraySlice(x, 1, 3);
    deeper = MXLNDArraySlice(part, 1, 2);
    CHECK_INT(MXNDArrayFree(part), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(deeper, nine, 4), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(x, all, 12), 0);
    CHECK(all[7] == 7 && all[8] == 9 && all[11] == 9);
    CHECK_INT(MXNDArrayFree(deeper), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(rows)
{
    NDArrayHandle x = counting(SHAPE(3, 4)), v = counting(SHAPE(3)), scalar, h = x;
    int prev;

    CHECK_INT(MXNDArrayAt(x, 2, &h), 0);
    check_view(h, SHAPE(4), 8);
    CHECK_INT(MXNDArrayAt64(x, 0, &h), 0);
    check_view(h, SHAPE(4), 0);
    check_view(MXLNDArrayAt(x, 1), SHAPE(4), 4);
    check_view(MXLNDArrayAt(v, 1), SHAPE(1), 1);
    FAILS(MXNDArrayAt(x, 3, &h), "MXNDArrayAt: row 3 of an array of shape (3,4)");
    CHECK(h == NULL);
    FAILS(MXNDArrayAt64(x, -1, &h), "MXNDArrayAt64: row -1");
    FAILS(MXNDArrayAt64(x, INT64_MIN, &h), "MXNDArrayAt64: row");
    FAILS(MXNDArrayAt(x, 0, NULL), "'out' is NULL");
    FAILS(MXNDArrayAt64(x, 0, NULL), "'out' is NULL");
    NO_HANDLE(MXLNDArrayAt(x, 3), "MXLNDArrayAt: row 3");
    CHECK_INT(MXSetIsNumpyShape(1, &prev), 0);
    scalar = MXLNDArrayAt(v, 2);
    NO_HANDLE(MXLNDArrayAt(scalar, 0), "row 0 of an array of shape ()");
    NO_HANDLE(MXLNDArraySlice(scalar, 0, 0), "rows [0,0) of an array of shape ()");
    check_view(scalar, 0, NULL, 2);
    CHECK_INT(MXNDArrayFree(v), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(memory)
{
    NDArrayHandle x = counting(SHAPE(3, 4)), row = MXLNDArrayAt(x, 2), y = counting(SHAPE(2));
    NDArrayHandle part = MXLNDArraySlice(row, 1, 3);
    uint64_t of_x = 0, of_part = 0, of_y = 0;

    check_view(MXLNDArrayGetMemory(x, &of_x), SHAPE(12), 0);
    check_view(MXLNDArrayGetMemory(part, &of_part), SHAPE(12), 0);
    check_view(MXLNDArrayGetMemory(y, &of_y), SHAPE(2), 0);
    CHECK(of_x != 0 && of_x == of_part && of_x != of_y);
    NO_HANDLE(MXLNDArrayGetMemory(x, NULL), "'number' is NULL");
    CHECK_INT(MXNDArrayFree(part), 0);
    CHECK_INT(MXNDArrayFree(row), 0);
    CHECK_INT(MXNDArrayFree(y), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(reshapes)
{
    NDArrayHandle x = counting(SHAPE(2, 3, 4)), one = counting(SHAPE(1)), h = x;
    int ints[33] = {-1, 4};
    int64_t longs[33] = {-3, 0};
    int prev;

    CHECK_INT(MXNDArrayReshape(x, 2, ints, &h), 0);
    check_view(h, SHAPE(6, 4), 0);
    CHECK_INT(MXNDArrayReshape64(x, 2, longs, true, &h), 0);
    check_view(h, SHAPE(6, 4), 0);
    check_view(MXLNDArrayReshape(x, SHAPE(0, -1), 1), SHAPE(3, 8), 0);
    check_view(MXLNDArrayReshape(x, SHAPE(0, -1), 0), SHAPE(2, 12), 0);
    /* Without axes, in both modes. */
    check_view(MXLNDArrayReshape(one, 0, NULL, 0), 0, NULL, 0);
    CHECK_INT(MXSetIsNumpyShape(1, &prev), 0);
    check_view(MXLNDArrayReshape(one, 0, NULL, 0), 0, NULL, 0);
    CHECK_INT(MXSetIsNumpyShape(0, &prev), 0);

    ints[0] = -2;
    FAILS(MXNDArrayReshape(x, 1, ints, &h), "MXNDArrayReshape: extent -2");
    CHECK(h == NULL);
    FAILS(MXNDArrayReshape(x, 33, ints, &h), "more than 32 axes");
    FAILS(MXNDArrayReshape(x, -1, ints, &h), "ndim is -1");
    FAILS(MXNDArrayReshape(x, 2, NULL, &h), "'dims' is NULL");
    FAILS(MXNDArrayReshape(x, 2, ints, NULL), "'out' is NULL");
    FAILS(MXNDArrayReshape64(x, 33, longs, false, &h), "code 0 has no axis left");
    FAILS(MXNDArrayReshape64(x, INT32_MIN, longs, false, &h), "ndim is");
    FAILS(MXNDArrayReshape64(x, 2, NULL, false, &h), "'dims' is NULL");
    FAILS(MXNDArrayReshape64(x, 2, longs, false, NULL), "'out' is NULL");
    NO_HANDLE(MXLNDArrayReshape(x, 2, NULL, 0), "'shape' is NULL");
    NO_HANDLE(MXLNDArrayReshape(x, -1, longs, 0), "ndim is -1");
    NO_HANDLE(MXLNDArrayReshape(x, SHAPE(5, 5), 0),
              "an array of shape (2,3,4) cannot have the shape (5,5)");
    CHECK_INT(MXNDArrayFree(one), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

/* The codes, as the real MXNet 1.9.1 answered, but for sizes that differ (it accepted smaller
 * ones). */
TEST(codes)
{
    static const struct {
        int ndim, count, reverse, out_ndim; /* out_ndim -1: an error */
        int64_t dim[4], codes[5], out[5];
    } cases[] = {
        {3, 2, 0, 2, {2, 3, 4}, {6, 4}, {6, 4}},
        {3, 2, 0, 2, {2, 3, 4}, {0, -1}, {2, 12}},
        {3, 2, 1, 2, {2, 3, 4}, {0, -1}, {3, 8}},
        {3, 1, 0, 3, {2, 3, 4}, {-2}, {2, 3, 4}},
        {3, 1, 1, 3, {2, 3, 4}, {-2}, {2, 3, 4}},
        {3, 2, 0, 2, {2, 3, 4}, {-3, 4}, {6, 4}},
        {3, 2, 0, 2, {2, 3, 4}, {-3, -2}, {6, 4}},
        {3, 2, 1, 2, {2, 3, 4}, {0, -3}, {2, 12}},
        {3, 4, 0, 4, {2, 3, 4}, {-4, 1, 2, -2}, {1, 2, 3, 4}},
        {3, 4, 0, 4, {2, 3, 4}, {-4, 2, -1, -2}, {2, 1, 3, 4}},
        {3, 5, 0, 4, {2, 3, 4}, {0, 0, -4, -1, 2}, {2, 3, 2, 2}},
        {3, 5, 1, 4, {2, 6, 4}, {0, 2, 3, -4, 0}, {2, 2, 3, 4}},
        {3, 5, 1, -1, {2, 6, 4}, {0, -4, 2, 3, 0}, {0}},
        {3, 4, 1, -1, {2, 3, 4}, {-4, 1, 2, -2}, {0}},
        {3, 2, 0, -1, {2, 3, 4}, {-1, -1}, {0}},
        {3, 1, 0, -1, {2, 3, 4}, {-5}, {0}},
        {3, 2, 0, -1, {2, 3, 4}, {5, -1}, {0}},
        {3, 2, 0, -1, {2, 3, 4}, {2, 3}, {0}},
        {3, 2, 0, -1, {2, 3, 4}, {5, 5}, {0}},
        {3, 1, 0, -1, {2, 3, 4}, {-4}, {0}},
        {3, 3, 0, -1, {2, 3, 4}, {-4, -1, -1}, {0}},
        {3, 4, 0, -1, {2, 3, 4}, {-4, 2, 2, -2}, {0}},
        {3, 4, 0, -1, {2, 3, 4}, {-4, -7, 2, -2}, {0}},
        {1, 2, 0, -1, {4}, {4, 0}, {0}},
        {1, 1, 0, -1, {4}, {-3}, {0}},
        {0, 1, 0, -1, {0}, {-3}, {0}},
        {0, 3, 0, -1, {0}, {-4, 1, 1}, {0}},
        {0, 1, 0, 1, {0}, {-1}, {1}},
        {2, 2, 0, 2, {0, 2}, {0, 2}, {0, 2}},
        {2, 1, 0, 1, {0, 2}, {-1}, {0}},
        {2, 2, 0, -1, {0, 2}, {2, 0}, {0}},
        {2, 2, 0, -1, {2, 2}, {INT64_MAX, 2}, {0}},
        {2, 2, 0, -1, {2, 2}, {INT64_MIN, 2}, {0}},
        {3, 2, 0, -1, {0, INT64_MAX, INT64_MAX}, {0, -3}, {0}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        mxl_shape out;
        int status = mxl_reshape_codes(&out, cases[i].ndim, cases[i].dim, cases[i].count,
                                       cases[i].codes, cases[i].reverse != 0);

        (void)mxl_error("case %zu", i);
        if (cases[i].out_ndim < 0)
            CHECK_INT(status, -1);
        else if (!CHECK(status == 0 &&
                        mxl_shape_same(out.ndim, out.dim, cases[i].out_ndim, cases[i].out)))
            CHECK_STR(MXGetLastError(), "");
    }
}

TEST(too_many_axes)
{
    int64_t codes[MXL_MAX_NDIM], dim[MXL_MAX_NDIM];
    mxl_shape out;

    for (int i = 0; i < MXL_MAX_NDIM; i++)
        codes[i] = dim[i] = 1;
    codes[0] = -2;
    CHECK_INT(mxl_reshape_codes(&out, MXL_MAX_NDIM, dim, 2, codes, false), -1);
    CHECK_HAS(mxl_error_text(), "more than 32 axes");
    CHECK_INT(mxl_reshape_codes(&out, MXL_MAX_NDIM, dim, MXL_MAX_NDIM + 1, codes, false), -1);
    CHECK_INT(mxl_reshape_codes(&out, MXL_MAX_NDIM, dim, 1, codes, true), 0);
    CHECK_INT(out.ndim, MXL_MAX_NDIM);
}

/* ---- recorded ---- */

static void set_recording(int on)
{
    int prev;

    CHECK_INT(MXAutogradSetIsRecording(on, &prev), 0);
}

static NDArrayHandle variable(int ndim, const int64_t *shape)
{
    NDArrayHandle x = counting(ndim, shape), g = counting(ndim, shape);
    uint32_t write = 1;

    CHECK_INT(MXAutogradMarkVariables(1, &x, &write, &g), 0);
    CHECK_INT(MXNDArrayFree(g), 0);
    return x;
}

static NDArrayHandle invoke(const char *name, int count, NDArrayHandle *inputs)
{
    OpHandle op;
    NDArrayHandle *out = NULL;
    int num = 0;

    if (!CHECK(NNGetOpHandle(name, &op) == 0) ||
        !CHECK_INT(MXImperativeInvoke(op, count, inputs, &num, &out, 0, NULL, NULL), 0))
        return NULL;
    return out[0];
}

static void check_grad(NDArrayHandle x, int n, const float *values)
{
    NDArrayHandle g = NULL;
    float got[64] = {0};

    CHECK_INT(MXNDArrayGetGrad(x, &g), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(g, got, (size_t)n), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(got[i], values[i], 1e-6);
    CHECK_INT(MXNDArrayFree(g), 0);
}

/* y = view(x)^2 summed over heads of ones: x's gradient is 2 x where the view looks, else 0. */
static void check_view_grad(NDArrayHandle x, NDArrayHandle v, int n, const float *expected)
{
    NDArrayHandle y;

    REQUIRE(v != NULL);
    y = invoke("square", 1, &v);
    CHECK_INT(MXAutogradBackward(1, &y, NULL, 0), 0);
    set_recording(0);
    check_grad(x, n, expected);
    CHECK_INT(MXNDArrayFree(y), 0);
    CHECK_INT(MXNDArrayFree(v), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(slice_gradient)
{
    NDArrayHandle x = variable(SHAPE(3, 2));

    set_recording(1);
    check_view_grad(x, MXLNDArraySlice(x, 1, 2), 6, (const float[]){0, 0, 4, 6, 0, 0});
}

TEST(row_gradient)
{
    NDArrayHandle x = variable(SHAPE(3, 2)), v = variable(SHAPE(3));

    set_recording(1);
    check_view_grad(x, MXLNDArrayAt(x, 2), 6, (const float[]){0, 0, 0, 0, 8, 10});
    set_recording(1);
    check_view_grad(v, MXLNDArrayAt(v, 1), 3, (const float[]){0, 2, 0});
}

TEST(reshape_gradient)
{
    NDArrayHandle x = variable(SHAPE(3, 2)), v;

    set_recording(1);
    v = MXLNDArrayReshape(x, SHAPE(2, 3), 0);
    check_view_grad(x, v, 6, (const float[]){0, 2, 4, 6, 8, 10});
}

TEST(views_of_views_gradient)
{
    NDArrayHandle x = variable(SHAPE(2, 3, 2)), a, b;

    set_recording(1);
    a = MXLNDArrayAt(x, 1);
    b = MXLNDArrayReshape(a, SHAPE(-1), 0);
    CHECK_INT(MXNDArrayFree(a), 0);
    a = MXLNDArraySlice(b, 1, 3);
    CHECK_INT(MXNDArrayFree(b), 0);
    check_view_grad(x, a, 12, (const float[]){0, 0, 0, 0, 0, 0, 0, 14, 16, 0, 0, 0});
}

/* Outside recording a view has no place. */
TEST(unrecorded_views)
{
    NDArrayHandle x = variable(SHAPE(3, 2)), v = MXLNDArraySlice(x, 0, 2), y;

    set_recording(1);
    y = invoke("square", 1, &v);
    CHECK_INT(MXAutogradBackward(1, &y, NULL, 0), -1);
    set_recording(0);
    CHECK_INT(MXNDArrayFree(y), 0);
    CHECK_INT(MXNDArrayFree(v), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

/* Two orders: the gradient of sum(view(x)^3), recorded, differentiated again. */
static void check_second_order(NDArrayHandle x, NDArrayHandle v, int n, const float *expected)
{
    NDArrayHandle inputs[2], square, cube, *grads = NULL, first;
    int *stypes;

    REQUIRE(v != NULL);
    square = invoke("square", 1, &v);
    inputs[0] = square;
    inputs[1] = v;
    cube = invoke("elemwise_mul", 2, inputs);
    REQUIRE(MXAutogradBackwardEx(1, &cube, NULL, 1, &x, 1, 1, 1, &grads, &stypes) == 0);
    first = grads[0];
    CHECK_INT(MXAutogradBackward(1, &first, NULL, 0), 0);
    set_recording(0);
    check_grad(x, n, expected);
    CHECK_INT(MXNDArrayFree(first), 0);
    CHECK_INT(MXNDArrayFree(cube), 0);
    CHECK_INT(MXNDArrayFree(square), 0);
    CHECK_INT(MXNDArrayFree(v), 0);
    CHECK_INT(MXNDArrayFree(x), 0);
}

TEST(second_order)
{
    NDArrayHandle x = variable(SHAPE(3, 2));

    set_recording(1);
    check_second_order(x, MXLNDArraySlice(x, 1, 2), 6, (const float[]){0, 0, 12, 18, 0, 0});
    x = variable(SHAPE(3, 2));
    set_recording(1);
    check_second_order(x, MXLNDArrayAt(x, 1), 6, (const float[]){0, 0, 12, 18, 0, 0});
    x = variable(SHAPE(3, 2));
    set_recording(1);
    check_second_order(x, MXLNDArrayReshape(x, SHAPE(6), 0), 6,
                       (const float[]){0, 6, 12, 18, 24, 30});
}

/* ---- the operators themselves, which compute when something calls them ---- */

static void check_op(const mxl_op *op, const void *params, mxl_array *in, int ndim,
                     const int64_t *shape, const float *values)
{
    mxl_array *out = NULL;
    const float *data;

    if (!CHECK_INT(mxl_invoke(op, params, 1, &in, 1, &out, api_mode()), 0))
        return;
    CHECK(mxl_shape_same(out->ndim, out->shape, ndim, shape));
    data = mxl_array_read(out);
    for (int64_t i = 0; i < out->size; i++)
        CHECK_NEAR(data[i], values[i], 0);
    mxl_array_release(out);
}

TEST(operators_compute)
{
    NDArrayHandle h = counting(SHAPE(3, 2));
    mxl_array *x = api_pin(h), *out = NULL;
    mxl_slice_rows_params slice = {1, 3}, bad_slice = {2, 4};
    int64_t at = 2, bad_at = 3;
    const int64_t flat[] = {6}, wrong[] = {5}, negative[] = {-6};
    const int64_t part[] = {3, 2}, strides[] = {2, 1}, back[] = {-2, 1}, same[] = {1, 1},
                  zeros[] = {5, 2};
    const mxl_strided_params put = {{2, part}, {2, strides}, {2, zeros}, 2, 0};
    const mxl_strided_params far_put = {{2, part}, {2, strides}, {2, zeros}, 6, 0};
    const mxl_strided_params back_put = {{2, part}, {2, back}, {2, zeros}, 8, 0};
    const mxl_strided_params low_put = {{2, part}, {2, back}, {2, zeros}, 3, 0};
    const mxl_strided_params same_put = {{2, part}, {2, same}, {2, zeros}, 0, 0};
    const mxl_strided_params few_put = {{1, part}, {1, strides}, {2, zeros}, 0, 0};
    mxl_tuple to = {1, flat}, bad_to = {1, wrong}, negative_to = {1, negative};

    check_op(&mxl_op_slice_rows, &slice, x, SHAPE(2, 2), (const float[]){2, 3, 4, 5});
    check_op(&mxl_op_row_at, &at, x, SHAPE(2), (const float[]){4, 5});
    check_op(&mxl_op_zeros_put, &put, x, SHAPE(5, 2),
             (const float[]){0, 0, 0, 1, 2, 3, 4, 5, 0, 0});
    check_op(&mxl_op_zeros_put, &back_put, x, SHAPE(5, 2),
             (const float[]){0, 0, 0, 0, 4, 5, 2, 3, 0, 1});
    check_op(&mxl_op_reshape_to, &to, x, SHAPE(6), (const float[]){0, 1, 2, 3, 4, 5});
    CHECK_INT(mxl_invoke(&mxl_op_slice_rows, &bad_slice, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "slice_rows: rows [2,4) of an array with 3");
    CHECK_INT(mxl_invoke(&mxl_op_row_at, &bad_at, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "at: row 3 of an array with 3");
    CHECK_INT(mxl_invoke(&mxl_op_zeros_put, &far_put, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "zeros_put: the elements asked for lie outside");
    CHECK_INT(mxl_invoke(&mxl_op_zeros_put, &low_put, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "zeros_put: the elements asked for lie outside");
    CHECK_INT(mxl_invoke(&mxl_op_zeros_put, &same_put, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "zeros_put: the elements overlap");
    CHECK_INT(mxl_invoke(&mxl_op_zeros_put, &few_put, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "zeros_put: the array has 6 elements, the part 3");
    CHECK_INT(mxl_invoke(&mxl_op_reshape_to, &bad_to, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "reshape_to: 6 elements in a shape of 5");
    CHECK_INT(mxl_invoke(&mxl_op_reshape_to, &negative_to, 1, &x, 1, &out, api_mode()), -1);
    CHECK_HAS(mxl_error_text(), "reshape_to: ");
    CHECK(out == NULL);
    api_unpin(h);
    CHECK_INT(MXNDArrayFree(h), 0);
}

HARNESS_MAIN(ENTRY(slices), ENTRY(rows), ENTRY(memory), ENTRY(reshapes), ENTRY(codes),
             ENTRY(too_many_axes), ENTRY(slice_gradient), ENTRY(row_gradient),
             ENTRY(reshape_gradient), ENTRY(views_of_views_gradient), ENTRY(unrecorded_views),
             ENTRY(second_order), ENTRY(operators_compute))
