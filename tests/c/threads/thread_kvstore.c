/* One key-value store and several threads, which add keys, push and pull. Also run under
 * ThreadSanitizer. */
#include "harness.h"

#include <pthread.h>

#include "mxlite/mxlite.h"

#ifdef MXL_SANITIZER
enum { THREADS = 8, ROUNDS = 100 };
#else
enum { THREADS = 8, ROUNDS = 1000 };
#endif

static KVStoreHandle store;

static NDArrayHandle number(float value)
{
    static const uint32_t shape[] = {1};
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreate(shape, 1, 1, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, &value, 1), 0);
    return h;
}

static float value_of(NDArrayHandle h)
{
    float value = -1;

    CHECK_INT(MXNDArraySyncCopyToCPU(h, &value, 1), 0);
    return value;
}

/* stored += pushed, on a key of the thread's own. */
static void add(int key, NDArrayHandle pushed, NDArrayHandle stored, void *payload)
{
    float sum = value_of(pushed) + value_of(stored);

    (void)key, (void)payload;
    CHECK_INT(MXNDArraySyncCopyFromCPU(stored, &sum, 1), 0);
    CHECK_INT(MXNDArrayFree(pushed), 0);
    CHECK_INT(MXNDArrayFree(stored), 0);
}

/* Its own key counts; the shared one holds what some thread pushed last. */
static void *work(void *data)
{
    int own = *(int *)data, shared = -1;
    NDArrayHandle one = number(1), zero = number(0), out = number(0);

    CHECK_INT(MXKVStoreInit(store, 1, &own, &zero), 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(MXKVStorePush(store, 1, &own, &one, 0), 0);
        CHECK_INT(MXKVStorePull(store, 1, &shared, &out, 0), 0);
    }
    CHECK_INT(MXKVStorePull(store, 1, &own, &out, 0), 0);
    CHECK_NEAR(value_of(out), ROUNDS, 0);
    CHECK_INT(MXNDArrayFree(one), 0);
    CHECK_INT(MXNDArrayFree(zero), 0);
    CHECK_INT(MXNDArrayFree(out), 0);
    return NULL;
}

/* Without an updater any thread may push to any key. */
static void *replace(void *data)
{
    float mine = (float)*(int *)data;
    int shared = -1;
    NDArrayHandle in[2] = {number(mine), number(mine)}, out = number(0);
    const int keys[2] = {shared, shared};

    for (int i = 0; i < ROUNDS; i++) {
        float value;

        CHECK_INT(MXKVStorePush(store, 2, keys, in, 0), 0);
        CHECK_INT(MXKVStorePull(store, 1, keys, &out, 0), 0);
        value = value_of(out) / 2;
        CHECK(value >= 0 && value < THREADS && value == (float)(int)value);
    }
    CHECK_INT(MXNDArrayFree(in[0]), 0);
    CHECK_INT(MXNDArrayFree(in[1]), 0);
    CHECK_INT(MXNDArrayFree(out), 0);
    return NULL;
}

static void run_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    int numbers[THREADS], shared = -1;
    NDArrayHandle first = number(0);

    CHECK_INT(MXKVStoreInit(store, 1, &shared, &first), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_INT(pthread_create(&threads[i], NULL, run, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(MXNDArrayFree(first), 0);
}

TEST(keys_of_their_own)
{
    CHECK_INT(MXKVStoreCreate("local", &store), 0);
    CHECK_INT(MXKVStoreSetUpdater(store, add, NULL), 0);
    run_threads(work);
    CHECK_INT(MXKVStoreFree(store), 0);
}

TEST(a_shared_key)
{
    CHECK_INT(MXKVStoreCreate("device", &store), 0);
    run_threads(replace);
    CHECK_INT(MXKVStoreFree(store), 0);
}

HARNESS_MAIN(ENTRY(keys_of_their_own), ENTRY(a_shared_key))
