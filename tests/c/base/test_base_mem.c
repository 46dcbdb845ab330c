/* Memory: alignment, counts, the block caches, the pool and its cap, replaced and failing
 * allocators, and work without a thread's state. */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/process.h"
#include "base/memory/heap.h"
#include "base/memory/mem.h"
#include "base/memory/mem_pool.h"
#include "base/system/pages.h"

/* An allocator that counts, checks sizes, and fails when told to. */
static struct {
    int64_t calls, live_blocks, live_bytes, fail_after;
} counted;

static void *counted_alloc(void *payload, size_t bytes, size_t align)
{
    void *block = NULL;

    CHECK(payload == &counted);
    CHECK_INT(align, 64);
    CHECK(bytes > 0);
    counted.calls++;
    if (counted.fail_after >= 0 && counted.fail_after-- == 0)
        return NULL;
    /* The size is kept in front of the block, to see that the free brings the same. */
    block = kit_alloc(bytes + 64, 64);
    if (block == NULL)
        return NULL;
    *(size_t *)block = bytes;
    counted.live_blocks++;
    counted.live_bytes += (int64_t)bytes;
    return (char *)block + 64;
}

static void counted_free(void *payload, void *block, size_t bytes)
{
    char *start = (char *)block - 64;

    CHECK(payload == &counted);
    CHECK_INT(*(size_t *)(void *)start, bytes);
    counted.live_blocks--;
    counted.live_bytes -= (int64_t)bytes;
    kit_free(start);
}

static void begin_counted(bool pool)
{
    memset(&counted, 0, sizeof counted);
    counted.fail_after = -1;
    CHECK_INT(mxl_mem_set_allocator(counted_alloc, counted_free, &counted, pool), 0);
}

static void end_counted(void)
{
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
    CHECK_INT(counted.live_blocks, 0);
    CHECK_INT(counted.live_bytes, 0);
}

TEST(blocks_are_aligned_and_their_own)
{
    enum { COUNT = 3000 };
    static void *blocks[COUNT];
    int64_t before = mxl_mem_live_bytes(), total = 0;

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            blocks[i] = mxl_alloc(i);
            REQUIRE(blocks[i] != NULL);
            CHECK_INT((uintptr_t)blocks[i] % 64, 0);
            memset(blocks[i], (int)(i % 251), i);
            total += i > 0 ? (int64_t)i : 1;
        }
        CHECK_INT(mxl_mem_live_bytes() - before, total);
        for (size_t i = 0; i < COUNT; i++) {
            const unsigned char *bytes = blocks[i];

            if (i > 0)
                CHECK(bytes[0] == i % 251 && bytes[i - 1] == i % 251 && bytes[i / 2] == i % 251);
            mxl_free(blocks[i], i);
        }
        total = 0;
        CHECK_INT(mxl_mem_live_bytes(), before);
    }
}

TEST(free_of_null_is_legal)
{
    int64_t before = mxl_mem_live_bytes();

    mxl_free(NULL, 0);
    mxl_free(NULL, 100);
    mxl_free(NULL, 1 << 20);
    CHECK_INT(mxl_mem_live_bytes(), before);
}

TEST(zeroed_memory_is_zero_after_reuse)
{
    const size_t sizes[] = {1, 64, 1000, 5000, 300000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *block = mxl_alloc(sizes[i]);

        memset(block, 0x5A, sizes[i]);
        mxl_free(block, sizes[i]);
        block = mxl_alloc_zero(sizes[i]);
        for (size_t j = 0; j < sizes[i]; j++)
            REQUIRE(block[j] == 0);
        mxl_free(block, sizes[i]);
    }
}

TEST(realloc_keeps_content)
{
    int64_t before = mxl_mem_live_bytes();
    size_t size = 0;
    unsigned char *block = NULL;

    for (size_t next = 1; next < 200000; next = next * 3 / 2 + 1) {
        block = mxl_realloc(block, size, next);
        REQUIRE(block != NULL);
        for (size_t i = 0; i < size; i += 7)
            REQUIRE(block[i] == (unsigned char)(i / 7));
        for (size_t i = 0; i < next; i += 7)
            block[i] = (unsigned char)(i / 7);
        size = next;
        CHECK_INT(mxl_mem_live_bytes() - before, size);
    }
    block = mxl_realloc(block, size, 50);
    CHECK_INT(block[49], 7);
    CHECK_INT(mxl_mem_live_bytes() - before, 50);
    mxl_free(block, 50);
    CHECK_INT(mxl_mem_live_bytes(), before);
}

TEST(a_block_grows_in_place_as_far_as_it_reaches)
{
    char *block = mxl_alloc(1), *grown;

    block[0] = 'x';
    grown = mxl_realloc(block, 1, 64);
    CHECK(grown == block || !MXL_MEM_KEEPS);
    CHECK_INT(grown[0], 'x');
    mxl_free(grown, 64);
}

/* Sizes of one class are the same when rounded, and the next class begins behind them; those of
 * more than 1 MiB are rounded to units of the heap. */
TEST(classes_of_large_blocks)
{
    size_t rounded = 1024, next;

    if (!MXL_MEM_KEEPS)
        return;
    CHECK_INT(mxl_pool_class(1024, &next), -1);
    CHECK_INT(next, 1024);
    for (int expected = 0; expected < 4 * 10; expected++) {
        size_t first = rounded + 1;

        CHECK_INT(mxl_pool_class(first, &rounded), expected);
        CHECK(rounded % 64 == 0 && rounded > first && rounded - first < first / 4);
        CHECK_INT(mxl_pool_class(rounded, &next), expected);
        CHECK_INT(next, rounded);
    }
    CHECK_INT(rounded, 1 << 20);
    for (int expected = 4 * 10; expected < 4 * 32; expected++) {
        size_t first = rounded + 1, last = ((size_t)5 + (size_t)(expected % 4))
                                           << (expected / 4 + 8);

        CHECK_INT(mxl_pool_class(first, &rounded), expected);
        CHECK(rounded % MXL_HEAP_UNIT == 0 && rounded - first < MXL_HEAP_UNIT);
        CHECK_INT(mxl_pool_class(last, &rounded), expected);
        CHECK_INT(rounded, last);
    }
    CHECK_INT(rounded, INT64_C(1) << 42);
    CHECK_INT(mxl_pool_class(rounded + 1, &next), -1);
    CHECK_INT(next, rounded + 64);
}

TEST(absurd_sizes_are_errors)
{
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, PTRDIFF_MAX, (size_t)1 << 60};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t before = mxl_mem_live_bytes();

#if !defined(MXL_SANITIZER) /* which end the process at a size that no system has */
        CHECK(mxl_alloc(sizes[i]) == NULL);
        CHECK_HAS(mxl_error_text(), "out of memory: ");
#else
        if (sizes[i] > PTRDIFF_MAX / 2)
            CHECK(mxl_alloc(sizes[i]) == NULL);
#endif
        CHECK_INT(mxl_mem_live_bytes(), before);
    }
}

TEST(without_the_pool_every_call_reaches_the_allocator)
{
    begin_counted(false);
    for (int64_t i = 0; i < 100; i++) {
        size_t bytes = (size_t)(i * i * 30);
        void *block = mxl_alloc(bytes);

        CHECK_INT(counted.calls, i + 1);
        CHECK_INT(counted.live_blocks, 1);
        mxl_free(block, bytes);
        CHECK_INT(counted.live_blocks, 0);
    }
    end_counted();
}

TEST(with_the_pool_freed_blocks_come_again)
{
    const int64_t calls = MXL_MEM_KEEPS ? 1 : 100;

    const size_t sizes[] = {40, 600, 1025, 9000, 135000, 2000000};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t bytes = sizes[k];

        begin_counted(true);
        for (int i = 0; i < 100; i++) {
            void *block = mxl_alloc(bytes);

            REQUIRE(block != NULL);
            mxl_free(block, bytes);
        }
        CHECK_INT(counted.calls, calls);
        mxl_mem_trim();
        CHECK_INT(counted.live_blocks, 0);
        end_counted();
    }
}

TEST(a_failing_allocator_is_an_error_and_nothing_else)
{
    char *block;

    begin_counted(false);
    for (size_t bytes = 1; bytes < 100000; bytes = bytes * 5 + 3) {
        counted.fail_after = 0;
        CHECK(mxl_alloc(bytes) == NULL);
        CHECK_HAS(mxl_error_text(), "out of memory: ");
        CHECK_INT(mxl_mem_live_bytes(), 0);
        counted.fail_after = 0;
        CHECK(mxl_alloc_zero(bytes) == NULL);
        block = mxl_alloc(bytes);
        REQUIRE(block != NULL);
        block[bytes - 1] = 'x';
        counted.fail_after = 0;
        CHECK(mxl_realloc(block, bytes, 3 * bytes + 100) == NULL);
        CHECK_INT(block[bytes - 1], 'x');
        CHECK_INT(mxl_mem_live_bytes(), bytes);
        counted.fail_after = -1;
        mxl_free(block, bytes);
    }
    end_counted();
}

TEST(an_allocator_with_live_blocks_stays)
{
    void *block;

    begin_counted(true);
    block = mxl_alloc(100);
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), -1);
    CHECK_HAS(mxl_error_text(), "100 bytes");
    CHECK_INT(mxl_mem_set_allocator(counted_alloc, NULL, &counted, true), -1);
    CHECK_INT(mxl_mem_set_allocator(counted_alloc, counted_free, &block, true), -1);
    /* The same one may change whether blocks are kept. */
    CHECK_INT(mxl_mem_set_allocator(counted_alloc, counted_free, &counted, false), 0);
    mxl_free(block, 100);
    CHECK_INT(counted.live_blocks, 0);
    end_counted();
}

TEST(the_pool_keeps_to_its_cap_and_drops_the_oldest)
{
    enum { SIZE = 1 << 16, COUNT = 10 };
    void *blocks[COUNT];
    const int64_t one = MXL_MEM_KEEPS ? SIZE : 0;

    begin_counted(true);
    mxl_mem_set_cap(4 * SIZE);
    for (int i = 0; i < COUNT; i++)
        blocks[i] = mxl_alloc(SIZE);
    for (int i = 0; i < COUNT; i++)
        mxl_free(blocks[i], SIZE);
    CHECK_INT(mxl_mem_kept_bytes(), 4 * one);
    CHECK_INT(counted.live_bytes, 4 * one);
    /* A block of another size pushes out the oldest; one above the cap is not kept at all. */
    mxl_free(mxl_alloc(2 * SIZE), 2 * SIZE);
    CHECK_INT(mxl_mem_kept_bytes(), 4 * one);
    mxl_free(mxl_alloc(8 * SIZE), 8 * SIZE);
    CHECK_INT(mxl_mem_kept_bytes(), 4 * one);
    counted.calls = 0;
    blocks[0] = mxl_alloc(2 * SIZE - 1);
    blocks[1] = mxl_alloc(SIZE);
    blocks[2] = mxl_alloc(SIZE - 100);
    CHECK_INT(counted.calls, MXL_MEM_KEEPS ? 0 : 3);
    blocks[3] = mxl_alloc(SIZE);
    CHECK_INT(counted.calls, MXL_MEM_KEEPS ? 1 : 4);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    mxl_free(blocks[0], 2 * SIZE - 1);
    mxl_free(blocks[1], SIZE);
    mxl_free(blocks[2], SIZE - 100);
    mxl_free(blocks[3], SIZE);
    /* The large one was the oldest. */
    CHECK_INT(mxl_mem_kept_bytes(), 3 * one);
    mxl_mem_set_cap(SIZE);
    CHECK_INT(mxl_mem_kept_bytes(), one);
    mxl_mem_set_cap(0);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    end_counted();
    mxl_mem_set_cap(-1);
}

TEST(many_small_blocks_go_through_the_depot)
{
    enum { COUNT = 20000, SIZE = 200 };
    static void *blocks[COUNT];
    int64_t calls;

    begin_counted(true);
    for (int i = 0; i < COUNT; i++)
        REQUIRE((blocks[i] = mxl_alloc(SIZE)) != NULL);
    calls = counted.calls;
    for (int i = 0; i < COUNT; i++)
        mxl_free(blocks[i], SIZE);
    for (int i = 0; i < COUNT; i++)
        REQUIRE((blocks[i] = mxl_alloc(SIZE)) != NULL);
    CHECK_INT(counted.calls, MXL_MEM_KEEPS ? calls : 2 * calls);
    for (int i = 0; i < COUNT; i++)
        mxl_free(blocks[i], SIZE);
    mxl_mem_set_cap(0);
    mxl_mem_trim();
    CHECK_INT(counted.live_blocks, 0);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    /* With nothing to be kept the depot passes a thread's overflow on. */
    for (int i = 0; i < COUNT; i++)
        REQUIRE((blocks[i] = mxl_alloc(SIZE)) != NULL);
    for (int i = 0; i < COUNT; i++)
        mxl_free(blocks[i], SIZE);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    CHECK(counted.live_bytes <= 64 * 1024);
    end_counted();
    mxl_mem_set_cap(-1);
}

/* The process's memory in use, in MiB; -1 where the system does not tell. */
static long resident(void)
{
#if defined(__linux__)
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = -1;

    if (file == NULL)
        return -1;
    if (fscanf(file, "%*s %ld", &pages) != 1)
        pages = -1;
    fclose(file);
    return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
#else
    return -1;
#endif
}

TEST(large_blocks_are_kept_aligned_and_given_back)
{
    enum { MB = 1 << 20 };
    long before = resident();
    void *blocks[3], *again[3];

    for (int i = 0; i < 3; i++) {
        blocks[i] = mxl_alloc((size_t)(20 + i) * MB + 5);
        REQUIRE(blocks[i] != NULL);
        CHECK_INT((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], i, (size_t)(20 + i) * MB + 5);
    }
    if (MXL_MEM_KEEPS && before >= 0)
        CHECK(resident() >= before + 60);
    for (int i = 0; i < 3; i++)
        mxl_free(blocks[i], (size_t)(20 + i) * MB + 5);
    if (MXL_MEM_KEEPS) {
        CHECK(mxl_mem_kept_bytes() >= 63 * MB);
        for (int i = 0; i < 3; i++) { /* of sizes between which there is no class */
            again[i] = mxl_alloc((size_t)(20 + i) * MB + 100);
            CHECK(again[i] == blocks[0] || again[i] == blocks[1] || again[i] == blocks[2]);
        }
        for (int i = 0; i < 3; i++)
            mxl_free(again[i], (size_t)(20 + i) * MB + 100);
    }
    mxl_mem_trim();
    CHECK_INT(mxl_mem_kept_bytes(), 0);
#if !defined(MXL_SANITIZER) /* an emulator keeps it */
    if (MXL_MEM_KEEPS && before >= 0)
        CHECK(resident() <= before + 10);
#endif
}

TEST(the_pool_is_emptied_before_memory_is_out)
{
    void *block;

    begin_counted(true);
    mxl_free(mxl_alloc(100000), 100000);
    mxl_free(mxl_alloc(300000), 300000);
    counted.fail_after = 0;
    block = mxl_alloc(5000000); /* nothing of that size is kept: the second attempt succeeds */
    CHECK_INT(block != NULL, MXL_MEM_KEEPS);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    mxl_free(block, 5000000);
    end_counted();
}

typedef struct handover {
    void *block;
    size_t bytes;
} handover;

static void *free_elsewhere(void *data)
{
    handover *work = data;

    mxl_free(work->block, work->bytes);
    work->block = mxl_alloc(2 * work->bytes);
    return NULL;
}

TEST(blocks_freed_by_another_thread_are_counted_right)
{
    int64_t before = mxl_mem_live_bytes();
    const size_t sizes[] = {64, 500, 100000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        handover work = {mxl_alloc(sizes[i]), sizes[i]};
        pthread_t thread;

        REQUIRE(pthread_create(&thread, NULL, free_elsewhere, &work) == 0);
        pthread_join(thread, NULL);
        CHECK_INT(mxl_mem_live_bytes() - before, 2 * sizes[i]);
        mxl_free(work.block, 2 * sizes[i]);
        CHECK_INT(mxl_mem_live_bytes(), before);
    }
}

TEST(a_thread_without_a_state_still_works)
{
    int64_t before = mxl_mem_live_bytes();
    void *small, *large;

    CHECK(mxl_state_here == NULL);
    atomic_store(&mxl_state_system_fails, true);
    small = mxl_alloc(100);
    large = mxl_alloc(100000);
    CHECK(small != NULL && large != NULL);
    CHECK(mxl_state_here == NULL);
    CHECK_INT(mxl_mem_live_bytes() - before, 100100);
    CHECK_INT(mxl_error("no state: %d", 7), -1);
    CHECK_STR(mxl_error_text(), "no state: 7");
    mxl_state_get()->recording = true;
    CHECK(!mxl_state_get()->recording);
    mxl_mem_trim();
    mxl_free(small, 100);
    atomic_store(&mxl_state_system_fails, false);
    /* The message outlives the shortage. */
    CHECK_STR(mxl_error_text(), "no state: 7");
    CHECK(mxl_state_here != NULL);
    mxl_free(large, 100000);
    CHECK_INT(mxl_mem_live_bytes(), before);
}

static void take_three_megabytes(void)
{
    void *block = mxl_alloc(3 << 20);

    mxl_free(block, 3 << 20);
}

TEST(the_cap_comes_from_the_environment)
{
    static const struct {
        const char *value;
        bool keeps;
    } rows[] = {{"2", false}, {"4", true}, {"0", false}, {"", true}, {"-3", true}, {"2x", true}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        REQUIRE(mxl_environment_set("MXLITE_POOL_MB", rows[i].value) == 0);
        mxl_mem_trim();
        mxl_mem_set_cap(-1);
        take_three_megabytes();
        CHECK_INT(mxl_mem_kept_bytes() > 0, rows[i].keeps && MXL_MEM_KEEPS);
    }
    (void)mxl_environment_set("MXLITE_POOL_MB", NULL);
    mxl_mem_trim();
    mxl_mem_set_cap(-1);
}

TEST(the_cap_without_a_wish)
{
    const int64_t most = INT64_C(1) << 30;

    CHECK_INT(mxl_pool_default_cap(UINT64_C(1) << 32), most / 2);
    CHECK_INT(mxl_pool_default_cap(UINT64_C(1) << 33), most);
    CHECK_INT(mxl_pool_default_cap((UINT64_C(1) << 33) - 8), most - 1);
    CHECK_INT(mxl_pool_default_cap(UINT64_MAX), most);
    CHECK_INT(mxl_pool_default_cap(0), most);
    mxl_mem_set_cap(-1);
    CHECK_INT(mxl_mem_set_cap(-1), mxl_pool_default_cap(mxl_pages_machine()));
}

HARNESS_MAIN(ENTRY(blocks_are_aligned_and_their_own), ENTRY(free_of_null_is_legal),
             ENTRY(zeroed_memory_is_zero_after_reuse), ENTRY(realloc_keeps_content),
             ENTRY(absurd_sizes_are_errors),
             ENTRY(without_the_pool_every_call_reaches_the_allocator),
             ENTRY(with_the_pool_freed_blocks_come_again),
             ENTRY(a_failing_allocator_is_an_error_and_nothing_else),
             ENTRY(an_allocator_with_live_blocks_stays),
             ENTRY(the_pool_keeps_to_its_cap_and_drops_the_oldest),
             ENTRY(many_small_blocks_go_through_the_depot),
             ENTRY(large_blocks_are_kept_aligned_and_given_back),
             ENTRY(the_pool_is_emptied_before_memory_is_out),
             NOT_WASM(blocks_freed_by_another_thread_are_counted_right),
             NEEDS_THREADS(a_thread_without_a_state_still_works),
             NOT_WASM(the_cap_comes_from_the_environment),
             ENTRY(a_block_grows_in_place_as_far_as_it_reaches), NOT_WASM(classes_of_large_blocks),
             ENTRY(the_cap_without_a_wish))
