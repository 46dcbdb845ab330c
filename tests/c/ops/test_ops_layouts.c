/* Operators over arrays with strides of either sign or 0, and with overlapping elements, also those
 * that the API cannot make. The bits are those of a contiguous copy. */
#include <stdio.h>

#include "array/copy.h"
#include "ops_kit.h"

enum { MOST_AXES = 5, MOST_CALL_INPUTS = 3 };

/* ---- layouts ---- */

typedef enum layout { REVERSED, SPACED, TURNED, WINDOWS, FIRST_REPEATS, LAST_REPEATS } layout;
enum { LAYOUTS = LAST_REPEATS + 1 };

/* Strides of a shape, the first element's position, and how many elements lie in between. */
static void lay(layout kind, int ndim, const int64_t *shape, int64_t *strides, int64_t *skip,
                int64_t *length)
{
    int64_t run = kind == SPACED ? 2 : 1;

    *skip = *length = 0;
    for (int i = 0; i < ndim; i++) {
        int axis = kind == TURNED ? i : ndim - 1 - i;
        bool repeats = kind == FIRST_REPEATS ? axis == 0 : kind == LAST_REPEATS && axis == ndim - 1;
        bool back = kind == REVERSED || (kind == TURNED && axis % 2 == 0);
        int64_t way = shape[axis] > 0 ? (shape[axis] - 1) * run : 0;

        strides[axis] = repeats ? 0 : back ? -run : run;
        *skip += back ? way : 0;
        *length += repeats ? 0 : way;
        if (kind == WINDOWS)
            run = 1 + axis % 2; /* rows begin within those before them */
        else if (!repeats && shape[axis] > 0)
            run = run * shape[axis] + (kind == SPACED ? 1 : 0);
    }
    *length += 1;
}

static mxl_array *laid(layout kind, int dtype, int ndim, const int64_t *shape, uint64_t *seed)
{
    int64_t strides[MOST_AXES], skip, length;
    mxl_array *memory, *view;

    lay(kind, ndim, shape, strides, &skip, &length);
    memory = mxl_array_new(dtype, 1, &length);
    for (int64_t i = 0; i < length; i++)
        set_item(memory, i, 1 + (double)(harness_random(seed) % 64) / 8);
    view = mxl_array_strided(memory, skip, ndim, shape, strides);
    mxl_array_release(memory);
    return view;
}

/* ---- calls ---- */

typedef struct call {
    const char *name, *params;
    int num_inputs; /* of one shape */
} call;

static const call calls[] = {
    {"exp", "", 1},
    {"negative", "", 1},
    {"_plus_scalar", "scalar=2", 1},
    {"_power_scalar", "scalar=1.5", 1},
    {"Cast", "dtype=float64", 1},
    {"Cast", "dtype=uint8", 1},
    {"clip", "a_min=2 a_max=5", 1},
    {"_copy", "", 1},
    {"broadcast_sub", "", 2},
    {"broadcast_div", "", 2},
    {"broadcast_power", "", 2},
    {"elemwise_add", "", 2},
    {"_greater", "", 2},
    {"where", "", 3},
    {"sum", "", 1},
    {"sum", "axis=0", 1},
    {"sum", "axis=-1", 1},
    {"mean", "axis=0", 1},
    {"max", "axis=-1", 1},
    {"min", "axis=0", 1},
    {"prod", "axis=-1", 1},
    {"nansum", "axis=0", 1},
    {"norm", "axis=-1", 1},
    {"argmax", "axis=0", 1},
    {"argmin", "axis=-1", 1},
    {"_np_cumsum", "axis=0", 1},
    {"softmax", "", 1},
    {"softmax", "axis=0", 1},
    {"log_softmax", "", 1},
    {"sort", "", 1},
    {"sort", "axis=0 is_ascend=0", 1},
    {"argsort", "", 1},
    {"topk", "axis=0 ret_typ=value", 1},
    {"one_hot", "depth=9", 1},
    {"transpose", "", 1},
    {"reverse", "axis=0", 1},
    {"Flatten", "", 1},
    {"expand_dims", "axis=1", 1},
    {"slice_axis", "axis=0 begin=0 end=None", 1},
    {"tile", "reps=(2,)", 1},
    {"repeat", "repeats=2 axis=0", 1},
    {"repeat", "repeats=2", 1},
    {"Concat", "num_args=2 dim=0", 2},
    {"stack", "num_args=2", 2},
    {"_mxl_sum_to", "shape=(1,)", 1},
    {NULL, NULL, 0},
};

/* Those whose results grow with the square, on small arrays of two axes. */
static const call products[] = {
    {"take", "axis=0", 2},
    {"dot", "transpose_b=1", 2},
    {"dot", "transpose_a=1", 2},
    {"_linalg_gemm2", "transpose_a=1", 2},
    {"_mxl_mm", "transpose_a=1", 2},
    {"_mxl_mm", "transpose_b=1", 2},
    {NULL, NULL, 0},
};

/* Runs it; NULL where it fails: on empty arrays, and dtypes that it does not take. */
static mxl_array *call_on(const call *c, mxl_mode mode, mxl_array *const *inputs)
{
    mxl_array *out = NULL;

    if (run_into(c->name, c->params, mode, c->num_inputs, inputs, &out) != 0)
        CHECK(inputs[0]->size == 0 || inputs[0]->dtype != MXL_F32);
    return out;
}

static bool same_elements(mxl_array *a, mxl_array *b)
{
    mxl_array *x, *y;
    bool same;

    if (a == NULL || b == NULL)
        return a == b;
    x = mxl_array_contiguous(a);
    y = mxl_array_contiguous(b);
    same = a->dtype == b->dtype && mxl_array_same_shape(a, b) &&
           (a->size == 0 || memcmp(mxl_array_read(x), mxl_array_read(y),
                                   (size_t)a->size * mxl_dtype_size(a->dtype)) == 0);
    mxl_array_release(x);
    mxl_array_release(y);
    return same;
}

/* Inputs in this layout and the following ones, against copies in order; in both dialects. */
static void check_call(const call *c, layout kind, int dtype, int ndim, const int64_t *shape,
                       uint64_t *seed)
{
    mxl_array *views[MOST_CALL_INPUTS], *copies[MOST_CALL_INPUTS], *kept[MOST_CALL_INPUTS];

    for (int i = 0; i < c->num_inputs; i++) {
        views[i] = laid((layout)(((int)kind + i) % LAYOUTS), dtype, ndim, shape, seed);
        copies[i] = mxl_array_new(dtype, ndim, shape);
        kept[i] = mxl_array_new(dtype, ndim, shape);
        CHECK_INT(mxl_array_copy_into(copies[i], views[i]), 0);
        CHECK_INT(mxl_array_copy_into(kept[i], views[i]), 0);
    }
    for (int torch = 0; torch < 2; torch++) {
        mxl_mode mode = {.dialect = torch ? &mxl_dialect_torch : &mxl_dialect_mxnet};
        mxl_array *got = call_on(c, mode, views), *want = call_on(c, mode, copies);

        if (!same_elements(got, want)) {
            char what[256], axes[128];

            snprintf(what, sizeof(what), "%s(%s) of %s %s, layout %d", c->name, c->params,
                     mxl_dtype_name(dtype), mxl_shape_text(axes, sizeof(axes), ndim, shape),
                     (int)kind);
            CHECK_STR(what, "as of a copy");
        }
        mxl_array_release(got);
        mxl_array_release(want);
    }
    for (int i = 0; i < c->num_inputs; i++) {
        CHECK(same_elements(views[i], kept[i]));
        mxl_array_release(views[i]);
        mxl_array_release(copies[i]);
        mxl_array_release(kept[i]);
    }
}

/* Calls on one shape; the layouts and dtypes take turns. */
static void check_calls(const call *c, int ndim, const int64_t *shape)
{
    static const int dtypes[] = {MXL_F32, MXL_I32, MXL_F64, MXL_U8, MXL_F16, MXL_I64};
    uint64_t seed = 17 + (uint64_t)shape[0];

    for (int turn = 0; c->name != NULL; c++) {
        for (int kind = 0; kind < LAYOUTS; kind++)
            check_call(c, (layout)kind, dtypes[turn++ % 6], ndim, shape, &seed);
        turn++; /* another dtype for each layout */
    }
}

static void check_shape(int ndim, const int64_t *shape)
{
    check_calls(calls, ndim, shape);
    if (ndim == 2 && shape[0] * shape[1] <= 600)
        check_calls(products, ndim, shape);
}

#define CHECK_SHAPE(...)                                                                           \
    check_shape((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]){__VA_ARGS__})

static const int64_t lengths[] = {0, 1, 2, 23, 24, 25, 63, 64, 65};

TEST(one_axis)
{
    for (int i = 0; i < 9; i++)
        CHECK_SHAPE(lengths[i]);
    for (int64_t n = 4095; n <= 4097; n++)
        CHECK_SHAPE(n);
}

TEST(rows_and_columns)
{
    for (int i = 0; i < 9; i++) {
        CHECK_SHAPE(lengths[i], 3);
        CHECK_SHAPE(3, lengths[i]);
        CHECK_SHAPE(25, lengths[i]);
    }
    CHECK_SHAPE(4097, 2);
    CHECK_SHAPE(2, 4097);
}

TEST(more_axes)
{
    for (int i = 0; i < 9; i++) {
        CHECK_SHAPE(2, lengths[i], 3);
        CHECK_SHAPE(3, 2, 1, lengths[i]);
        CHECK_SHAPE(2, 3, lengths[i], 2, 2);
    }
    CHECK_SHAPE(2, 2, 2, 2, 2);
    CHECK_SHAPE(25, 24, 23);
    CHECK_SHAPE(5, 129, 131);
}

HARNESS_MAIN(ENTRY(one_axis), ENTRY(rows_and_columns), ENTRY(more_axes))
