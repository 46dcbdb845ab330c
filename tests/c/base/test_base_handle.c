/* Handles: creation, release, pins, and invalid handles of every kind. */
#include "harness.h"

#include "base/error.h"
#include "base/handle.h"
#include "base/memory/mem.h"

typedef struct object {
    mxl_ref ref;
    int *released;
} object;

static void object_release(mxl_ref *ref)
{
    object *self = (object *)(void *)ref;

    ++*self->released;
    mxl_free(self, sizeof *self);
}

static uint64_t new_handle(mxl_kind kind, int *released)
{
    object *self = mxl_alloc(sizeof *self);

    mxl_ref_init(&self->ref, object_release);
    self->released = released;
    return mxl_handle_new(kind, &self->ref);
}

static uint64_t word_of(uint64_t handle)
{
    return atomic_load(&mxl_handle_find(handle)->word);
}

TEST(life)
{
    int released = 0;
    int64_t before = mxl_handle_live();
    uint64_t handle = new_handle(MXL_KIND_ARRAY, &released);
    mxl_ref *pinned;

    CHECK(handle % 2 == 1);
    CHECK(handle < UINT64_C(1) << 53);
    CHECK_INT(mxl_handle_live() - before, 1);
    pinned = mxl_handle_pin(MXL_KIND_ARRAY, handle);
    CHECK(pinned != NULL);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == pinned);
    mxl_handle_unpin(handle);
    mxl_handle_unpin(handle);
    CHECK_INT(released, 0);
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), 0);
    CHECK_INT(released, 1);
    CHECK_INT(mxl_handle_live(), before);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == NULL);
    CHECK_HAS(mxl_error_text(), "invalid array handle 0x");
    CHECK_HAS(mxl_error_text(), "it has been freed");
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), -1);
    CHECK_HAS(mxl_error_text(), "it has been freed");
}

TEST(a_pinned_object_outlives_its_handle)
{
    int released = 0;
    uint64_t handle = new_handle(MXL_KIND_NODE, &released);

    CHECK(mxl_handle_pin(MXL_KIND_NODE, handle) != NULL);
    CHECK(mxl_handle_pin(MXL_KIND_NODE, handle) != NULL);
    CHECK_INT(mxl_handle_free(MXL_KIND_NODE, handle), 0);
    CHECK_INT(mxl_handle_free(MXL_KIND_NODE, handle), -1);
    CHECK(mxl_handle_pin(MXL_KIND_NODE, handle) == NULL);
    CHECK_HAS(mxl_error_text(), "it has been freed");
    mxl_handle_unpin(handle);
    CHECK_INT(released, 0);
    mxl_handle_unpin(handle);
    CHECK_INT(released, 1);
    CHECK(mxl_handle_pin(MXL_KIND_NODE, handle) == NULL);
}

TEST(null)
{
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, 0) == NULL);
    CHECK_STR(mxl_error_text(), "NULL where an array handle was expected");
    CHECK(mxl_handle_pin(MXL_KIND_CALL, 0) == NULL);
    CHECK_STR(mxl_error_text(), "NULL where a prepared call handle was expected");
    CHECK_INT(mxl_handle_number(MXL_KIND_OP, 0, 10), -1);
    CHECK_STR(mxl_error_text(), "NULL where an operator handle was expected");
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, 0), 0);
}

TEST(wrong_kind)
{
    int released = 0;
    uint64_t array = new_handle(MXL_KIND_ARRAY, &released);
    uint64_t op = mxl_handle_permanent(MXL_KIND_OP, 3);

    CHECK(mxl_handle_pin(MXL_KIND_NODE, array) == NULL);
    CHECK_HAS(mxl_error_text(), "is a handle of an array, a node was expected");
    CHECK_INT(mxl_handle_free(MXL_KIND_CALL, array), -1);
    CHECK_HAS(mxl_error_text(), "is a handle of an array, a prepared call was expected");
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, op) == NULL);
    CHECK_HAS(mxl_error_text(), "is a handle of an operator, an array was expected");
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, op), -1);
    CHECK_INT(mxl_handle_number(MXL_KIND_OP, array, 1000), -1);
    CHECK_HAS(mxl_error_text(), "is a handle of an array, an operator was expected");
    /* The same slot and generation under another kind was never given out as such. */
    CHECK(mxl_handle_pin(MXL_KIND_NODE, (array & ~UINT64_C(14)) | MXL_KIND_NODE << 1) == NULL);
    CHECK_INT(released, 0);
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, array), 0);
    CHECK_INT(released, 1);
}

TEST(permanent)
{
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t handle = mxl_handle_permanent(MXL_KIND_OP, i);

        CHECK(handle % 2 == 1 && handle < UINT64_C(1) << 53);
        CHECK_INT(mxl_handle_number(MXL_KIND_OP, handle, 1000), i);
    }
    CHECK_INT(mxl_handle_number(MXL_KIND_OP, mxl_handle_permanent(MXL_KIND_OP, 1000), 1000), -1);
    CHECK_HAS(mxl_error_text(), "never gave it out");
    for (int bit = 30; bit < 64; bit++) {
        uint64_t handle = mxl_handle_permanent(MXL_KIND_OP, 5) ^ UINT64_C(1) << bit;

        CHECK_INT(mxl_handle_number(MXL_KIND_OP, handle, 1000), -1);
    }
}

TEST(a_stale_handle_writes_nothing)
{
    int released = 0;
    uint64_t stale = new_handle(MXL_KIND_ARRAY, &released);
    uint64_t handle, word;

    mxl_handle_free(MXL_KIND_ARRAY, stale);
    word = word_of(stale);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, stale) == NULL);
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, stale), -1);
    CHECK_INT(word_of(stale), word);
    /* The slot comes again, under another generation. */
    handle = new_handle(MXL_KIND_ARRAY, &released);
    CHECK(mxl_handle_find(handle) == mxl_handle_find(stale));
    CHECK(handle != stale);
    word = word_of(handle);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, stale) == NULL);
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, stale), -1);
    CHECK_HAS(mxl_error_text(), "it has been freed");
    CHECK_INT(word_of(handle), word);
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), 0);
    CHECK_INT(released, 2);
}

TEST(numbers_that_were_never_given_out)
{
    enum { LIVE = 500 };
    int released = 0;
    uint64_t live[LIVE], seed = 1;

    for (int i = 0; i < LIVE; i++)
        live[i] = new_handle(MXL_KIND_ARRAY, &released);
    for (int i = 0; i < 1000000; i++) {
        uint64_t value = harness_random(&seed);

        /* All of 64 bits, then such as look like handles, then live ones with bits turned over. */
        if (i % 3 == 1)
            value = value >> (11 + i % 40) | 1;
        if (i % 3 == 2)
            value = live[value % LIVE] ^ UINT64_C(1) << (value >> 32) % 64;
        for (int j = 0; i % 3 == 2 && j < LIVE; j++)
            if (value == live[j])
                value = 2;
        if (mxl_handle_pin(MXL_KIND_ARRAY, value) != NULL) {
            CHECK(false);
            mxl_handle_unpin(value);
        } else if (value != 0) {
            const char *text = mxl_error_text();

            CHECK(strstr(text, "was expected") != NULL || strstr(text, "never gave") != NULL ||
                  strstr(text, "has been freed") != NULL);
        }
        if (value != 0 && i % 16 == 0)
            CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, value), -1);
    }
    CHECK_INT(released, 0);
    for (int i = 0; i < LIVE; i++) {
        CHECK(mxl_handle_pin(MXL_KIND_ARRAY, live[i]) != NULL);
        mxl_handle_unpin(live[i]);
        CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, live[i]), 0);
    }
    CHECK_INT(released, LIVE);
}

TEST(pointers_are_not_handles)
{
    static int data[4];
    void *block = mxl_alloc(64);
    const uint64_t values[] = {(uintptr_t)data,       (uintptr_t)block, (uintptr_t)&block,  1, 3, 5,
                               UINT64_C(1) << 53 | 3, UINT64_MAX,       (uint64_t)INT64_MAX};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        CHECK(mxl_handle_pin(MXL_KIND_ARRAY, values[i]) == NULL);
        CHECK_HAS(mxl_error_text(), "invalid array handle 0x");
        CHECK_HAS(mxl_error_text(), "mxlite never gave it out");
    }
    mxl_free(block, 64);
}

TEST(a_slot_retires_with_its_last_generation)
{
    int released = 0;
    uint64_t handle = mxl_handle_age(new_handle(MXL_KIND_ARRAY, &released));
    const mxl_handle_slot *slot = mxl_handle_find(handle);

    CHECK(handle < UINT64_C(1) << 53);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) != NULL);
    mxl_handle_unpin(handle);
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), 0);
    CHECK_INT(released, 1);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == NULL);
    CHECK_HAS(mxl_error_text(), "it has been freed");
    for (int i = 0; i < 2000; i++) {
        uint64_t other = new_handle(MXL_KIND_ARRAY, &released);

        CHECK(mxl_handle_find(other) != slot);
        CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == NULL);
        mxl_handle_free(MXL_KIND_ARRAY, other);
    }
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == NULL);
}

TEST(many_handles_at_once)
{
    enum { COUNT = 100000 };
    static uint64_t handles[COUNT];
    int released = 0;
    int64_t before = mxl_handle_live();

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++)
            REQUIRE((handles[i] = new_handle(MXL_KIND_ARRAY, &released)) != 0);
        CHECK_INT(mxl_handle_live() - before, COUNT);
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handles[i]), 0);
        CHECK_INT(released, COUNT * (round + 1));
        CHECK_INT(mxl_handle_live(), before);
    }
}

TEST(without_memory_there_is_no_handle)
{
    enum { COUNT = 200000 };
    static uint64_t handles[COUNT];
    int released = 0, count = 0;
    object *last;

    CHECK(mxl_state_here == NULL);
    atomic_store(&mxl_state_system_fails, true);
    /* Slots that are there can be used without a thread's state; then there are no more. */
    while (count < COUNT) {
        last = mxl_alloc(sizeof *last);
        mxl_ref_init(&last->ref, object_release);
        last->released = &released;
        handles[count] = mxl_handle_new(MXL_KIND_ARRAY, &last->ref);
        if (handles[count] == 0)
            break;
        count++;
    }
    REQUIRE(count < COUNT);
    CHECK_HAS(mxl_error_text(), "out of memory: no room for a handle");
    CHECK_INT(released, 0);
    mxl_ref_release(&last->ref);
    CHECK_INT(released, 1);
    for (int i = 0; i < count; i++) {
        CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handles[i]) != NULL);
        mxl_handle_unpin(handles[i]);
        CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handles[i]), 0);
    }
    atomic_store(&mxl_state_system_fails, false);
    CHECK_INT(released, count + 1);
}

HARNESS_MAIN(ENTRY(life), ENTRY(a_pinned_object_outlives_its_handle), ENTRY(null),
             ENTRY(wrong_kind), ENTRY(permanent), ENTRY(a_stale_handle_writes_nothing),
             NOT_WASM(numbers_that_were_never_given_out), ENTRY(pointers_are_not_handles),
             NOT_WASM(a_slot_retires_with_its_last_generation), ENTRY(many_handles_at_once),
             NEEDS_THREADS(without_memory_there_is_no_handle))
