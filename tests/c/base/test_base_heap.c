/* Large blocks of the heap: runs that split and merge, keep their content, and lose their pages. */
#define _GNU_SOURCE 1 /* setrlimit, fork */
#include "harness.h"

#ifndef _WIN32
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "base/memory/heap.h"
#include "base/memory/mem.h"
#include "base/memory/mem_pool.h"

enum { MB = 1 << 20, UNIT = MXL_HEAP_UNIT };

/* Whether large blocks come from the heap here; not under ASan. */
static bool has_heap(void)
{
    void *block = mxl_alloc(2 * MB);
    bool held = mxl_heap_holds(block);

    mxl_free(block, 2 * MB);
    mxl_mem_trim();
    return held;
}

/* Small blocks, blocks of other allocators and other memory are not. */
TEST(what_the_heap_holds)
{
    int local = 0;
    void *small = mxl_alloc(1 * MB), *large;

    CHECK(!mxl_heap_holds(NULL));
    CHECK(!mxl_heap_holds(&local));
    CHECK(!mxl_heap_holds(small));
    mxl_free(small, 1 * MB);
    large = mxl_alloc(1 * MB + 1);
#if defined(__linux__)
    CHECK_INT(mxl_heap_holds(large), MXL_MEM_KEEPS);
#endif
    mxl_free(large, 1 * MB + 1);
    mxl_mem_trim();
}

/* Parts of a freed block are taken, and make it again when they are free, in any order. */
TEST(runs_split_and_merge)
{
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    char *whole, *part[4];

    if (!has_heap())
        return;
    whole = mxl_alloc(16 * MB);
    for (size_t k = 0; k < sizeof(orders) / sizeof(*orders); k++) {
        mxl_free(whole, 16 * MB);
        CHECK_INT(mxl_mem_kept_bytes(), 16 * MB);
        for (int i = 0; i < 4; i++) {
            part[i] = mxl_alloc(4 * MB);
            CHECK(part[i] >= whole && part[i] <= whole + 12 * MB);
            memset(part[i], i + 1, 4 * MB);
        }
        CHECK_INT(mxl_mem_kept_bytes(), 0);
        for (int i = 0; i < 4; i++)
            CHECK(part[i][0] == i + 1 && part[i][4 * MB - 1] == i + 1);
        for (int i = 0; i < 4; i++)
            mxl_free(part[orders[k][i]], 4 * MB);
        CHECK_INT(mxl_mem_kept_bytes(), 16 * MB);
        CHECK(mxl_alloc(16 * MB) == whole);
    }
    mxl_free(whole, 16 * MB);
    mxl_mem_trim();
}

/* The smallest run that is large enough is taken. */
TEST(the_best_fit)
{
    void *block[5];
    static const int sizes[5] = {8, 2, 4, 2, 16};

    if (!has_heap())
        return;
    for (int i = 0; i < 5; i++)
        block[i] = mxl_alloc((size_t)sizes[i] * MB);
    for (int i = 0; i < 5; i += 2)
        mxl_free(block[i], (size_t)sizes[i] * MB);
    CHECK(mxl_alloc(3 * MB) == block[2]);
    CHECK(mxl_alloc(7 * MB) == block[0]);
    CHECK(mxl_alloc(12 * MB) == block[4]);
    mxl_free(block[2], 3 * MB);
    mxl_free(block[0], 7 * MB);
    mxl_free(block[4], 12 * MB);
    mxl_free(block[1], 2 * MB);
    mxl_free(block[3], 2 * MB);
    CHECK_INT(mxl_mem_kept_bytes(), 32 * MB);
    mxl_mem_trim();
    CHECK_INT(mxl_mem_kept_bytes(), 0);
}

/* A run behind others whose pages are gone: the region gets no larger. */
TEST(clean_runs_come_again)
{
    char *first, *second, *again;

    if (!has_heap())
        return;
    first = mxl_alloc(8 * MB);
    second = mxl_alloc(2 * MB);
    memset(first, 5, 8 * MB);
    mxl_free(first, 8 * MB);
    mxl_mem_trim();
    again = mxl_alloc(6 * MB);
    CHECK(again == first);
    CHECK(again[0] == 0 && again[6 * MB - 1] == 0); /* which is how fresh pages show */
    mxl_free(again, 6 * MB);
    mxl_free(second, 2 * MB);
    mxl_mem_trim();
}

/* A block above the cap, and the oldest beyond it, lose their pages; no other does. */
TEST(the_cap_counts_free_runs)
{
    char *block[4];

    if (!has_heap())
        return;
    mxl_mem_set_cap(5 * MB);
    for (int i = 0; i < 4; i++)
        block[i] = mxl_alloc(2 * MB);
    memset(block[1], 9, 2 * MB);
    mxl_free(block[0], 2 * MB);
    CHECK_INT(mxl_mem_kept_bytes(), 2 * MB);
    mxl_free(block[2], 2 * MB);
    CHECK_INT(mxl_mem_kept_bytes(), 4 * MB);
    mxl_free(block[3], 2 * MB); /* merges with 2, and leaves 0 no room */
    CHECK_INT(mxl_mem_kept_bytes(), 4 * MB);
    for (int i = 0; i < 2 * MB; i++)
        REQUIRE(block[1][i] == 9);
    mxl_free(mxl_alloc(6 * MB), 6 * MB);
    CHECK(mxl_mem_kept_bytes() <= 5 * MB);
    mxl_free(block[1], 2 * MB);
    mxl_mem_set_cap(-1);
    mxl_mem_trim();
    CHECK_INT(mxl_mem_kept_bytes(), 0);
}

static uint32_t drawn = 12345;

static uint32_t draw(uint32_t most)
{
    drawn = drawn * 1664525 + 1013904223;
    return (drawn >> 8) % most;
}

/* Blocks of random sizes, some reserved and committed, keep their content and do not overlap. */
TEST(many_blocks_in_any_order)
{
    enum { COUNT = 200, STEPS = 20000 };
    static struct {
        unsigned char *data;
        size_t bytes;
        bool reserved;
    } block[COUNT];
    int64_t before = mxl_mem_live_bytes(), live = before;

    mxl_mem_set_cap(32 * MB);
    for (int step = 0; step < STEPS; step++) {
        uint32_t i = draw(COUNT);
        unsigned char mark = (unsigned char)(i + 1);

        if (block[i].data == NULL) {
            block[i].bytes = 1 + draw(draw(4) > 0 ? 3 * MB : 12 * MB);
            block[i].data = mxl_alloc(block[i].bytes);
            REQUIRE(block[i].data != NULL);
            live += (int64_t)block[i].bytes;
        } else if (block[i].reserved) {
            block[i].data = mxl_mem_commit(block[i].data, block[i].bytes);
            live += (int64_t)block[i].bytes;
        } else if (draw(3) == 0) {
            void *space = mxl_mem_reserve(block[i].data, block[i].bytes);

            block[i].reserved = space != NULL;
            if (space != NULL) {
                block[i].data = space;
                live -= (int64_t)block[i].bytes;
            }
            continue;
        } else {
            REQUIRE(block[i].data[0] == mark && block[i].data[block[i].bytes - 1] == mark);
            mxl_free(block[i].data, block[i].bytes);
            block[i].data = NULL;
            live -= (int64_t)block[i].bytes;
            continue;
        }
        block[i].reserved = false;
        block[i].data[0] = block[i].data[block[i].bytes - 1] = mark;
        CHECK_INT(mxl_mem_live_bytes(), live);
        CHECK(mxl_mem_kept_bytes() <= 32 * MB);
    }
    for (int i = 0; i < COUNT; i++) {
        if (block[i].reserved)
            mxl_mem_free_reserved(block[i].data, block[i].bytes);
        else
            mxl_free(block[i].data, block[i].bytes);
    }
    CHECK_INT(mxl_mem_live_bytes(), before);
    mxl_mem_set_cap(-1);
    mxl_mem_trim();
}

/* After all that nothing is left between blocks. */
TEST(the_region_is_whole_again)
{
    char *first, *second;

    if (!has_heap())
        return;
    first = mxl_alloc(64 * MB);
    mxl_free(first, 64 * MB);
    mxl_mem_trim();
    second = mxl_alloc(2 * MB);
    CHECK(second == first);
    mxl_free(second, 2 * MB);
    mxl_mem_trim();
}

#ifdef _WIN32 /* which has no such limit */
#define WITH_FORK
#else
#define WITH_FORK ENTRY(a_region_that_is_full),
/* Under a limit on address space blocks that the region has no room for are mapped. */
static int with_little_space(void)
{
    const struct rlimit small = {UINT64_C(3) << 29, UINT64_C(3) << 29}; /* 1.5 GiB: 384 MiB */
    char *block[3];

    if (setrlimit(RLIMIT_AS, &small) != 0)
        return 0;
    for (int i = 0; i < 3; i++) {
        block[i] = mxl_alloc(200 * MB);
        if (block[i] == NULL)
            return 1;
        block[i][0] = block[i][200 * MB - 1] = (char)i;
    }
    if (mxl_heap_holds(block[2]) && MXL_MEM_KEEPS)
        return 2;
    for (int i = 0; i < 3; i++) {
        if (block[i][0] != i)
            return 3;
        mxl_free(block[i], 200 * MB);
    }
    for (int i = 0; i < 3; i++) {
        block[i] = mxl_alloc(200 * MB);
        if (block[i] == NULL)
            return 4;
    }
    return 0;
}

/* Without more address space a free run gives its units for a larger block. */
static int without_more_space(void)
{
    const struct rlimit small = {UINT64_C(3) << 29, UINT64_C(3) << 29};
    char *block;

    if (setrlimit(RLIMIT_AS, &small) != 0)
        return 0;
    block = mxl_alloc(2 * MB);
    if (!mxl_heap_holds(block))
        return 0;
    mxl_free(block, 2 * MB);
    while (mmap(NULL, 16 * MB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        continue;
    mxl_mem_set_cap(512 * MB);
    block = mxl_alloc(180 * MB);
    if (block == NULL)
        return 1;
    mxl_free(block, 180 * MB);
    if (mxl_mem_kept_bytes() < 180 * MB)
        return 2;
    block = mxl_alloc(380 * MB);
    if (block == NULL)
        return 3;
    block[0] = block[380 * MB - 1] = 1;
    return 0;
}

static void check_in_a_child(int (*run)(void))
{
    int status = -1;
    pid_t child;

#if defined(MXL_SANITIZER)
    (void)run; /* whose own memory is beyond any limit */
    return;
#endif
    child = fork();
    if (child == 0)
        _exit(run());
    REQUIRE(child > 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(a_region_that_is_full)
{
    check_in_a_child(with_little_space);
    check_in_a_child(without_more_space);
}
#endif

/* a_region_that_is_full is the first, since the region is not there yet. */
HARNESS_MAIN(WITH_FORK ENTRY(what_the_heap_holds), ENTRY(runs_split_and_merge), ENTRY(the_best_fit),
             ENTRY(clean_runs_come_again), ENTRY(the_cap_counts_free_runs),
             ENTRY(many_blocks_in_any_order), ENTRY(the_region_is_whole_again))
