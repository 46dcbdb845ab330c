/* Operators that write into an existing array (out=, a += b) allocate nothing, for arrays of any
 * size. */
#include <stdlib.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "ops_kit.h"

static int64_t calls;

static void *counted_alloc(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    calls++;
    return kit_alloc(bytes, align);
}

static void counted_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
    kit_free(block);
}

enum { ROWS = 300, COLUMNS = 400 };

static mxl_array *of_shape(int64_t rows, int64_t columns, float value)
{
    const int64_t shape[2] = {rows, columns};
    mxl_array *array = mxl_array_new(MXL_F32, 2, shape);
    float *data;

    if (array == NULL)
        return NULL;
    data = mxl_array_write(array);
    for (int64_t i = 0; i < array->size; i++)
        data[i] = value;
    return array;
}

/* The operator into `out`, twice; the second time nothing may be allocated. */
static void check_into(const char *op, const char *params, int num_inputs, mxl_array *const *in,
                       mxl_array *out)
{
    mxl_array *given = out;
    uint64_t version = mxl_storage_version(out->storage);

    CHECK_INT(run_into(op, params, mode_of(false, false), num_inputs, in, &given), 0);
    calls = 0;
    CHECK_INT(run_into(op, params, mode_of(false, false), num_inputs, in, &given), 0);
    if (calls != 0)
        CHECK_STR(op, "allocates nothing");
    CHECK(given == out && mxl_storage_version(out->storage) > version);
}

static void check_all(void)
{
    mxl_array *a = of_shape(ROWS, COLUMNS, 0.5f), *b = of_shape(ROWS, COLUMNS, 0.25f);
    mxl_array *c = of_shape(ROWS, COLUMNS, 0), *d = of_shape(ROWS, COLUMNS, 0);
    mxl_array *row = of_shape(1, COLUMNS, 1), *column = of_shape(ROWS, 1, 1);
    mxl_array *both[2] = {a, b}, *with_row[2] = {a, row}, *outer[2] = {column, row};
    mxl_array *state[4] = {a, b, c, d};
    const float *got;

    REQUIRE(a != NULL && b != NULL && c != NULL && d != NULL && row != NULL && column != NULL);
    check_into("elemwise_add", "", 2, both, c);
    got = mxl_array_read(c);
    CHECK(got[0] == 0.75f && got[ROWS * COLUMNS - 1] == 0.75f);
    check_into("broadcast_add", "", 2, both, a);
    CHECK(((const float *)mxl_array_read(a))[ROWS * COLUMNS - 1] == 1);
    check_into("broadcast_sub", "", 2, with_row, c);
    check_into("broadcast_mul", "", 2, with_row, a);
    check_into("broadcast_add", "", 2, outer, c);
    CHECK(((const float *)mxl_array_read(c))[COLUMNS] == 2);
    check_into("_plus_scalar", "scalar=1.5", 1, &a, c);
    check_into("_mul_scalar", "scalar=0.5", 1, &a, a);
    check_into("exp", "", 1, &b, c);
    check_into("tanh", "", 1, &b, b);
    check_into("LeakyReLU", "act_type=gelu", 1, &b, c);
    check_into("sgd_update", "lr=0.1", 2, state, a);
    check_into("sgd_mom_update", "lr=0.1 momentum=0.9", 3, state, a);
    check_into("adam_update", "lr=0.1", 4, state, a);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(c);
    mxl_array_release(d);
    mxl_array_release(row);
    mxl_array_release(column);
}

TEST(nothing_is_allocated)
{
    mxl_state_get()->bulk_size = 0; /* a deferred call has an expression */
    REQUIRE(mxl_mem_set_allocator(counted_alloc, counted_free, NULL, false) == 0);
    for (int threads = 1; threads <= 2; threads++) {
        mxl_thread_set_count(threads);
        check_all();
    }
    mxl_thread_set_count(0);
    mxl_state_get()->bulk_size = MXL_BULK_SIZE;
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
}

HARNESS_MAIN(ENTRY(nothing_is_allocated))
