/* The memory that deferred calls own while they wait: how much there may be, which blocks their
 * results get, and what happens where there is no more. */
#include "engine_kit.h"

#include <stdio.h>

#include "array/expression.h"
#include "base/memory/mem.h"
#include "failing.h"

enum { MB = 1 << 20 };

static H filled(const char *shape, double value)
{
    const char *keys[] = {"shape", "value"};
    char text[32];
    const char *values[] = {shape, text};

    snprintf(text, sizeof(text), "%g", value);
    return try_op("_full", 0, NULL, 2, keys, values);
}

/* 0, 1, 2, ... as float32. */
static H counted_to(const char *stop)
{
    const char *keys[] = {"start", "stop"}, *values[] = {"0", stop};
    H made = try_op("_arange", 0, NULL, 2, keys, values);

    CHECK(made != NULL);
    return made;
}

static H plus(H array, const char *number)
{
    return op_scalar("_plus_scalar", array, number);
}

static int64_t live(void)
{
    int64_t bytes = 0;

    CHECK_INT(MXLGetLiveBytes(&bytes), 0);
    return bytes;
}

/* The sum of the elements, which has a copy of the array run. */
static double total(H array)
{
    float value = NAN;
    H sum = op1("sum", array);

    CHECK_INT(MXNDArraySyncCopyToCPU(sum, &value, 1), 0);
    drop(sum);
    return value;
}

/* Results as large as what they read wait on: without deferral they would take that memory. */
TEST(as_much_as_the_results)
{
    enum { KEPT = 12 };
    H kept[KEPT];

    for (int i = 0; i < KEPT; i++) {
        H big = filled("(40, 25000)", i);

        kept[i] = plus(big, "0.5");
        drop(big);
    }
    CHECK(mxl_storage_left_bytes > MXL_MOST_LEFT || mxl_defer_least == INT64_MAX);
    for (int i = 0; i < KEPT; i++) {
        CHECK_NEAR(total(kept[i]), (i + 0.5) * 1000000, 0);
        drop(kept[i]);
    }
    CHECK_INT(mxl_storage_left_bytes, 0);
}

/* Results of 0.1 MB each, made of rows of arrays of 4 MB that are freed. */
TEST(rows_of_large_arrays)
{
    enum { KEPT = 60 };
    int64_t before = live(), most = 0;
    H kept[KEPT];

    for (int i = 0; i < KEPT; i++) {
        H big = filled("(40, 25000)", i), row;

        REQUIRE(big != NULL);
        most = live() - before > most ? live() - before : most;
        CHECK_INT(MXNDArraySlice(big, 3, 4, &row), 0);
        kept[i] = plus(row, "0.5");
        drop(row);
        drop(big);
    }
    CHECK(most <= MXL_MOST_LEFT + 4 * MB + KEPT * (MB / 8));
    CHECK(most > 16 * MB || mxl_defer_least == INT64_MAX); /* some did wait */
    for (int i = 0; i < KEPT; i++) {
        CHECK_NEAR(total(kept[i]), (i + 0.5) * 25000, 0);
        drop(kept[i]);
    }
    CHECK_INT(mxl_storage_left_bytes, 0);
}

/* Losses that nobody reads for thousands of steps. */
TEST(kept_losses)
{
    enum { KEPT = 3000 };
    static H kept[KEPT];
    int64_t before = live();

    for (int i = 0; i < KEPT; i++) {
        H x = filled("(25000,)", i % 7), y = plus(x, "1"), z = op1("square", y);

        kept[i] = op1("sum", z);
        drop(x);
        drop(y);
        drop(z);
        CHECK(live() - before < 3 * MB + i * 1024);
    }
    for (int i = 0; i < KEPT; i++) {
        float value = 0;

        CHECK_INT(MXNDArraySyncCopyToCPU(kept[i], &value, 1), 0);
        CHECK_NEAR(value, (1 + i % 7) * (1 + i % 7) * 25000, 0);
        drop(kept[i]);
    }
}

/* Inputs that are freed long after the calls count too, when more memory is taken. */
TEST(inputs_that_are_freed_later)
{
    enum { KEPT = 20 };
    int64_t before = live();
    H big[KEPT], kept[KEPT], other;

    for (int i = 0; i < KEPT; i++) {
        H row;

        big[i] = filled("(40, 25000)", i);
        CHECK_INT(MXNDArraySlice(big[i], 3, 4, &row), 0);
        kept[i] = plus(row, "0.5");
        drop(row);
    }
    for (int i = 0; i < KEPT; i++)
        drop(big[i]);
    other = filled("(10,)", 1);
    CHECK(live() - before <= MXL_MOST_LEFT + KEPT * (MB / 8));
    drop(other);
    for (int i = 0; i < KEPT; i++) {
        CHECK_NEAR(total(kept[i]), (i + 0.5) * 25000, 0);
        drop(kept[i]);
    }
}

/* x * 0.5 + x of an array that nothing else refers to is written to its block. */
TEST(a_result_takes_the_block_of_an_input)
{
    enum { SIZE = 1300000 };
    static float values[SIZE];
    H x = counted_to("1300000"), half = op_scalar("_mul_scalar", x, "0.5"), y = ADD(half, x);

    drop(half);
    drop(x);
    mxl_mem_trim();
    CHECK_INT(MXNDArraySyncCopyToCPU(y, values, SIZE), 0);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    for (int i = 0; i < SIZE; i++)
        REQUIRE(values[i] == (float)i * 1.5F);
    drop(y);
}

/* The block stays where it is read with strides, or by another loop later. */
TEST(blocks_that_are_still_read)
{
    enum { ROWS = 1000, COLUMNS = 1300, SIZE = ROWS * COLUMNS };
    static float values[SIZE];
    int shape[2] = {ROWS, COLUMNS};
    H flat = counted_to("1300000"), x, first, turned, y, z;

    CHECK_INT(MXNDArrayReshape(flat, 2, shape, &x), 0);
    drop(flat);
    CHECK_INT(MXNDArraySlice(x, 1, 2, &first), 0);
    turned = plus(x, "0");
    y = ADD(x, first); /* the row is an operand with strides, of the same memory */
    z = op2("elemwise_sub", turned, x);
    drop(x);
    drop(first);
    drop(turned);
    CHECK_INT(MXNDArraySyncCopyToCPU(y, values, SIZE), 0);
    for (int i = 0; i < SIZE; i++)
        REQUIRE(values[i] == (float)(i + COLUMNS + i % COLUMNS));
    CHECK_INT(MXNDArraySyncCopyToCPU(z, values, SIZE), 0);
    for (int i = 0; i < SIZE; i++)
        REQUIRE(values[i] == 0);
    drop(y);
    drop(z);
}

/* What an edit makes need not be stored; what was there before is read until the end. */
TEST(an_edit_of_an_array_that_is_freed)
{
    enum { SIZE = 400000 };
    static float values[SIZE];
    H x = counted_to("400000"), y;

    CHECK_INT(op_into("square", 1, &x, x), 0);
    y = plus(x, "1");
    drop(x);
    CHECK_INT(MXNDArraySyncCopyToCPU(y, values, SIZE), 0);
    for (int i = 0; i < SIZE; i++)
        REQUIRE(values[i] == (float)i * (float)i + 1);
    drop(y);
}

/* ---- no more memory ---- */

static int64_t used, most_used = INT64_MAX;

static void *limited(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    if (used + (int64_t)bytes > most_used)
        return NULL;
    used += (int64_t)bytes;
    return kit_alloc(bytes, align);
}

static void limited_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    used -= (int64_t)bytes;
    kit_free(block);
}

TEST(what_waits_runs_before_an_allocation_fails)
{
    H big, row, kept, more;

    if (MXLSetAllocator(limited, limited_free, NULL, 0) != 0)
        return; /* another test left memory that is made once */
    big = filled("(40, 25000)", 3);
    CHECK_INT(MXNDArraySlice(big, 3, 4, &row), 0);
    kept = plus(row, "0.5");
    drop(row);
    drop(big);
    most_used = used + MB;
    more = filled("(500000,)", 1); /* 2 MB */
    CHECK(more != NULL);
    CHECK(filled("(50000000,)", 1) == NULL);
    CHECK_HAS(MXGetLastError(), "out of memory: ");
    most_used = INT64_MAX;
    CHECK_NEAR(total(kept), 3.5 * 25000, 0);
    CHECK_NEAR(total(more), 500000, 0);
    drop(kept);
    drop(more);
    CHECK_INT(MXLSetAllocator(NULL, NULL, NULL, 1), 0);
}

/* NULL where any call fails; then nothing of it is left. */
static H try_chain(H x)
{
    const char *key = "scalar", *value = "2";
    H y = try_op("_mul_scalar", 1, &x, 1, &key, &value), z, sum = NULL;

    if (y == NULL)
        return NULL;
    z = try_op("broadcast_add", 2, (H[]){y, x}, 0, NULL, NULL);
    CHECK_INT(MXNDArrayFree(y), 0);
    if (z == NULL)
        return NULL;
    sum = try_op("sum", 1, &z, 0, NULL, NULL);
    CHECK_INT(MXNDArrayFree(z), 0);
    return sum;
}

/* Each allocation of calls that are deferred fails, while others wait. */
TEST(each_allocation_fails)
{
    bool done = false;

    if (MXLSetAllocator(counted, counted_free, NULL, 0) != 0)
        return;
    for (int64_t k = 0; k < 200 && !done; k++) {
        H x = filled("(25000,)", 3), first = plus(x, "1"), chain;
        float value = 0;

        until_failure = k;
        failed = 0;
        chain = try_chain(x);
        until_failure = -1;
        done = chain != NULL;
        CHECK(done || failed > 0); /* a call that cannot be deferred runs at once */
        drop(x);
        CHECK_NEAR(total(first), 4 * 25000, 0);
        drop(first);
        if (!done)
            continue;
        CHECK(k > 3);
        CHECK_INT(MXNDArraySyncCopyToCPU(chain, &value, 1), 0);
        CHECK_NEAR(value, 9 * 25000, 0);
        drop(chain);
    }
    CHECK(done);
    CHECK_INT(MXLSetAllocator(NULL, NULL, NULL, 1), 0);
}

/* The first two replace the allocator, which no memory of another may be in use for. */
HARNESS_MAIN(ENTRY(what_waits_runs_before_an_allocation_fails), ENTRY(each_allocation_fails),
             ENTRY(as_much_as_the_results), ENTRY(rows_of_large_arrays), ENTRY(kept_losses),
             ENTRY(inputs_that_are_freed_later), NOT_WASM(a_result_takes_the_block_of_an_input),
             ENTRY(blocks_that_are_still_read), ENTRY(an_edit_of_an_array_that_is_freed))
