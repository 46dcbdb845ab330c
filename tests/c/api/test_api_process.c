/* Functions about the process or thread: errors, versions, modes, seeds, memory (api_process.c,
 * api_random.c, engine/run/generator.c). */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "engine/run/generator.h"
#include "mxlite/mxlite.h"

#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        CHECK_INT(call, -1);                                                                       \
        CHECK_HAS(MXGetLastError(), words);                                                        \
    } while (0)

TEST(last_error)
{
    int n;

    CHECK_STR(MXGetLastError(), "");
    FAILS(MXGetVersion(NULL), "MXGetVersion: argument 'out' is NULL");
    CHECK_INT(MXGetVersion(&n), 0);
    /* A success keeps the text. */
    CHECK_HAS(MXGetLastError(), "MXGetVersion");
    CHECK(MXGetLastError() == NNGetLastError());
}

TEST(versions)
{
    int n = 0;

    CHECK_INT(MXGetVersion(&n), 0);
    CHECK_INT(n, 10901);
    CHECK_INT(MXLGetVersion(&n), 0);
    CHECK_INT(n, MXL_VERSION);
    CHECK_INT(MXGetGPUCount(&n), 0);
    CHECK_INT(n, 0);
    CHECK_INT(MXNotifyShutdown(), 0);
    FAILS(MXLGetVersion(NULL), "MXLGetVersion: argument 'out' is NULL");
    FAILS(MXGetGPUCount(NULL), "MXGetGPUCount: argument 'out' is NULL");
}

TEST(features)
{
    const struct LibFeature *list;
    size_t count;

    REQUIRE(MXLibInfoFeatures(&list, &count) == 0);
    CHECK_INT(count, 32);
    CHECK_STR(list[0].name, "CUDA");
    CHECK(!list[0].enabled);
    CHECK_STR(list[31].name, "TVM_OP");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, "INT64_TENSOR_SIZE") == 0)
            CHECK(list[i].enabled);
    }
    FAILS(MXLibInfoFeatures(NULL, &count), "'libFeature' is NULL");
    FAILS(MXLibInfoFeatures(&list, NULL), "'size' is NULL");
}

TEST(facts)
{
    static const char *const known[] = {"version",  "compiler", "threads", "vector_level",
                                        "backends", "openblas", "dtypes"};
    const char *text = NULL;

    for (int i = 0; i < 7; i++) {
        CHECK_INT(MXLGetInfo(known[i], &text), 0);
        CHECK(text != NULL && strlen(text) > 0);
    }
    CHECK_STR(text,
              "float32 float64 float16 uint8 int32 int8 int64 bool int16 uint16 uint32 uint64 "
              "bfloat16");
    FAILS(MXLGetInfo("colour", &text), "MXLGetInfo: unknown fact \"colour\"");
    CHECK(text == NULL);
    FAILS(MXLGetInfo(NULL, &text), "'what' is NULL");
    FAILS(MXLGetInfo("version", NULL), "'out' is NULL");
}

TEST(modes)
{
    int now = 9, prev = 9;

    CHECK_INT(MXIsNumpyShape(&now), 0);
    CHECK_INT(now, 0);
    CHECK_INT(MXSetIsNumpyShape(2, &prev), 0);
    CHECK_INT(prev, 0);
    CHECK_INT(MXIsNumpyShape(&now), 0);
    CHECK_INT(now, 1);
    CHECK_INT(MXSetIsNumpyShape(0, &prev), 0);
    CHECK_INT(prev, 1);
    FAILS(MXIsNumpyShape(NULL), "'curr' is NULL");
    FAILS(MXSetIsNumpyShape(1, NULL), "'prev' is NULL");
    CHECK_INT(MXIsNumpyShape(&now), 0);
    CHECK_INT(now, 0);

    CHECK_INT(MXEngineSetBulkSize(5, &prev), 0);
    CHECK_INT(prev, 24);
    CHECK_INT(MXEngineSetBulkSize(0, &prev), 0);
    CHECK_INT(prev, 5);
    FAILS(MXEngineSetBulkSize(-1, &prev), "bulk_size is -1");
    FAILS(MXEngineSetBulkSize(1, NULL), "'prev_bulk_size' is NULL");
    CHECK_INT(MXEngineSetBulkSize(24, &prev), 0);
    CHECK_INT(prev, 0);
}

TEST(threads)
{
    int before = mxl_thread_count();

    CHECK_INT(MXSetNumOMPThreads(3), 0);
    CHECK_INT(mxl_thread_count(), 3);
    FAILS(MXSetNumOMPThreads(-1), "thread_num is -1");
    CHECK_INT(mxl_thread_count(), 3);
    CHECK_INT(MXSetNumOMPThreads(0), 0);
    CHECK_INT(mxl_thread_count(), before);
}

/* ---- random ---- */

TEST(seeds)
{
    mxl_random_range a, b, c;

    CHECK_INT(MXRandomSeed(7), 0);
    a = mxl_random_next(10);
    b = mxl_random_next(1);
    CHECK(a.offset == 0 && b.offset == 10 && a.seed == b.seed);
    CHECK_INT(MXRandomSeedContext(7, 1, 3), 0);
    c = mxl_random_next(1);
    CHECK(c.offset == 0 && c.seed == a.seed);
    CHECK_INT(MXRandomSeed(-7), 0);
    c = mxl_random_next(1);
    CHECK(c.seed != a.seed);
    FAILS(MXRandomSeedContext(7, 2, 0), "MXRandomSeedContext: device type 2 (gpu)");
    FAILS(MXRandomSeedContext(7, 0, 0), "unknown device type 0");
    CHECK_INT(mxl_random_next(0).seed == c.seed, 1);
    CHECK_INT(MXRandomSeed(0), 0);
}

enum { DRAWS = 20000, DRAWERS = 4 };

static void *draw(void *data)
{
    atomic_uint *seen = data;

    for (int i = 0; i < DRAWS; i++)
        atomic_fetch_add(&seen[mxl_random_next(1).offset], 1);
    return NULL;
}

/* No position is given out twice. */
TEST(draws_of_threads)
{
    static atomic_uint seen[DRAWS * DRAWERS];
    pthread_t threads[DRAWERS];

    memset((void *)seen, 0, sizeof(seen));
    CHECK_INT(MXRandomSeed(1), 0);
    for (int i = 0; i < DRAWERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, draw, seen) == 0);
    for (int i = 0; i < DRAWERS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < DRAWS * DRAWERS; i++) {
        if (!CHECK_INT(seen[i], 1))
            break;
    }
    CHECK_INT(MXRandomSeed(0), 0);
}

/* ---- memory ---- */

TEST(live_counts)
{
    const uint32_t shape[] = {100};
    int64_t bytes, bytes_more, handles, handles_more;
    NDArrayHandle h;

    CHECK_INT(MXLGetLiveBytes(&bytes), 0);
    CHECK_INT(MXLGetLiveHandles(&handles), 0);
    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &h) == 0);
    CHECK_INT(MXLGetLiveBytes(&bytes_more), 0);
    CHECK_INT(MXLGetLiveHandles(&handles_more), 0);
    CHECK(bytes_more >= bytes + 400 && handles_more == handles + 1);
    CHECK_INT(MXNDArrayFree(h), 0);
    CHECK_INT(MXLGetLiveBytes(&bytes_more), 0);
    CHECK_INT(MXLGetLiveHandles(&handles_more), 0);
    CHECK(bytes_more == bytes && handles_more == handles);
    FAILS(MXLGetLiveBytes(NULL), "MXLGetLiveBytes: argument 'out' is NULL");
    FAILS(MXLGetLiveHandles(NULL), "MXLGetLiveHandles: argument 'out' is NULL");
}

TEST(kept_blocks)
{
    const uint32_t shape[] = {100000};
    NDArrayHandle h;

    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &h) == 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    CHECK(!MXL_MEM_KEEPS || mxl_mem_kept_bytes() >= 400000);
    CHECK_INT(MXStorageEmptyCache(1, 0), 0);
    CHECK_INT(mxl_mem_kept_bytes(), 0);
    FAILS(MXStorageEmptyCache(2, 0), "MXStorageEmptyCache: device type 2 (gpu)");
    FAILS(MXStorageEmptyCache(-3, 0), "unknown device type -3");
}

TEST(the_cap_of_kept_blocks)
{
    const uint32_t shape[] = {1000000};
    int64_t first, before, bytes;
    NDArrayHandle h;

    CHECK_INT(MXLSetPoolCap(2000000, &first), 0);
    CHECK(first > 0 && first <= INT64_C(1) << 30);
    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &h) == 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    CHECK_INT(MXLGetPoolBytes(&bytes), 0);
    CHECK(bytes < 2000000);
    CHECK_INT(MXLSetPoolCap(-1, &before), 0);
    CHECK_INT(before, 2000000);
    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &h) == 0);
    CHECK_INT(MXNDArrayFree(h), 0);
    CHECK_INT(MXLGetPoolBytes(&bytes), 0);
    CHECK(!MXL_MEM_KEEPS || bytes >= 4000000);
    CHECK_INT(MXLSetPoolCap(0, &before), 0);
    CHECK_INT(before, first);
    CHECK_INT(MXLGetPoolBytes(&bytes), 0);
    CHECK_INT(bytes, 0);
    CHECK_INT(MXLSetPoolCap(-1, &before), 0);
    CHECK_INT(before, 0);
    FAILS(MXLGetPoolBytes(NULL), "MXLGetPoolBytes: argument 'out' is NULL");
    FAILS(MXLSetPoolCap(5, NULL), "MXLSetPoolCap: argument 'before' is NULL");
}

static void *counted_alloc(void *payload, size_t bytes, size_t align)
{
    ++*(int *)payload;
    return kit_alloc(bytes, align);
}

static void counted_free(void *payload, void *block, size_t bytes)
{
    (void)bytes;
    --*(int *)payload;
    kit_free(block);
}

TEST(allocators)
{
    const uint32_t shape[] = {100};
    const uint32_t *lent;
    uint32_t ndim;
    int live = 0;
    NDArrayHandle h;

    REQUIRE(MXLSetAllocator(counted_alloc, counted_free, &live, 0) == 0);
    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &h) == 0);
    CHECK_INT(MXNDArrayGetShape(h, &ndim, &lent), 0);
    CHECK(live >= 2);
    FAILS(MXLSetAllocator(NULL, NULL, NULL, 1), "MXLSetAllocator: set allocator: ");
    CHECK_INT(MXNDArrayFree(h), 0);
    FAILS(MXLSetAllocator(counted_alloc, NULL, NULL, 1), "MXLSetAllocator: set allocator: ");
    /* What this thread was lent is taken back first. */
    CHECK_INT(MXLSetAllocator(NULL, NULL, NULL, 1), 0);
    CHECK_INT(live, 0);
}

HARNESS_MAIN(ENTRY(last_error), ENTRY(versions), ENTRY(features), ENTRY(facts), ENTRY(modes),
             ENTRY(threads), ENTRY(seeds), NOT_WASM(draws_of_threads), ENTRY(live_counts),
             ENTRY(kept_blocks), ENTRY(the_cap_of_kept_blocks), ENTRY(allocators))
