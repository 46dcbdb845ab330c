/* Calls of key-value stores for test_api_bad.c, as in bad_calls.h, which includes what this file
 * needs. */
#ifndef BAD_STORES_H
#define BAD_STORES_H

static KVStoreHandle good_store; /* an array of shape (2, 3) under 1 */
static KVStoreHandle name_store; /* the same under "a" */
static const int key_1[] = {1}, key_2[] = {2};
static const char *name_b[] = {"b"};

static void set_up_stores(void)
{
    CHECK_INT(MXKVStoreCreate("local", &good_store), 0);
    CHECK_INT(MXKVStoreCreate("local", &name_store), 0);
    CHECK_INT(MXKVStoreInit(good_store, 1, key_1, &good), 0);
    CHECK_INT(MXKVStoreInitEx(name_store, 1, name_a, &good), 0);
}

static void tear_down_stores(void)
{
    CHECK_INT(MXKVStoreFree(good_store), 0);
    CHECK_INT(MXKVStoreFree(name_store), 0);
}

static void never_updates(int key, NDArrayHandle pushed, NDArrayHandle stored, void *payload)
{
    (void)key, (void)pushed, (void)stored, (void)payload;
    abort();
}

static void never_serves(int head, const char *body, void *payload)
{
    (void)head, (void)body, (void)payload;
    abort();
}

#define STORE_PLACES(X)                                                                            \
    X(MXKVStoreFree, STORE, true, MXKVStoreFree(h))                                                \
    X(MXKVStoreGetType, STORE, false, MXKVStoreGetType(h, &text_a))                                \
    X(MXKVStoreSetGradientCompression, STORE, false,                                               \
      MXKVStoreSetGradientCompression(h, 1, axis_key, axis_value))                                 \
    X(MXKVStoreInit, STORE, false, MXKVStoreInit(h, 1, key_2, &good))                              \
    X(MXKVStoreInit, ARRAY, false, MXKVStoreInit(good_store, 1, key_2, &h))                        \
    X(MXKVStoreInitEx, STORE, false, MXKVStoreInitEx(h, 1, name_b, &good))                         \
    X(MXKVStoreInitEx, ARRAY, false, MXKVStoreInitEx(name_store, 1, name_b, &h))                   \
    X(MXKVStorePush, STORE, false, MXKVStorePush(h, 1, key_1, &good, 0))                           \
    X(MXKVStorePush, ARRAY, false, MXKVStorePush(good_store, 1, key_1, &h, 0))                     \
    X(MXKVStorePushEx, STORE, false, MXKVStorePushEx(h, 1, name_a, &good, 0))                      \
    X(MXKVStorePushEx, ARRAY, false, MXKVStorePushEx(name_store, 1, name_a, &h, 0))                \
    X(MXKVStorePull, STORE, false, MXKVStorePull(h, 1, key_1, &good, 0))                           \
    X(MXKVStorePull, ARRAY, false, MXKVStorePull(good_store, 1, key_1, &h, 0))                     \
    X(MXKVStorePullEx, STORE, false, MXKVStorePullEx(h, 1, name_a, &good, 0))                      \
    X(MXKVStorePullEx, ARRAY, false, MXKVStorePullEx(name_store, 1, name_a, &h, 0))                \
    X(MXKVStorePullWithSparse, STORE, false, MXKVStorePullWithSparse(h, 1, key_1, &good, 0, true)) \
    X(MXKVStorePullWithSparse, ARRAY, false,                                                       \
      MXKVStorePullWithSparse(good_store, 1, key_1, &h, 0, true))                                  \
    X(MXKVStorePullWithSparseEx, STORE, false,                                                     \
      MXKVStorePullWithSparseEx(h, 1, name_a, &good, 0, true))                                     \
    X(MXKVStorePullWithSparseEx, ARRAY, false,                                                     \
      MXKVStorePullWithSparseEx(name_store, 1, name_a, &h, 0, true))                               \
    X(MXKVStorePullRowSparse, ARRAY, false,                                                        \
      MXKVStorePullRowSparse(good_store, 1, key_1, &h, &good, 0))                                  \
    X(MXKVStorePullRowSparseEx, ARRAY, false,                                                      \
      MXKVStorePullRowSparseEx(name_store, 1, name_a, &good, &h, 0))                               \
    X(MXKVStoreBroadcast, STORE, false,                                                            \
      MXKVStoreBroadcast(h, 1, key_2, 1, key_2, &good, &good, 0))                                  \
    X(MXKVStoreBroadcast, ARRAY, false,                                                            \
      MXKVStoreBroadcast(good_store, 1, key_2, 1, key_2, &good, &h, 0))                            \
    X(MXKVStoreBroadcastEx, STORE, false,                                                          \
      MXKVStoreBroadcastEx(h, 1, name_b, 1, name_b, &good, &good, 0))                              \
    X(MXKVStoreBroadcastEx, ARRAY, false,                                                          \
      MXKVStoreBroadcastEx(name_store, 1, name_b, 1, name_b, &h, &good, 0))                        \
    X(MXKVStorePushPull, STORE, false, MXKVStorePushPull(h, 1, key_1, 1, key_1, &good, &good, 0))  \
    X(MXKVStorePushPull, ARRAY, false,                                                             \
      MXKVStorePushPull(good_store, 1, key_1, 1, key_1, &good, &h, 0))                             \
    X(MXKVStorePushPullEx, STORE, false,                                                           \
      MXKVStorePushPullEx(h, 1, name_a, 1, name_a, &good, &good, 0))                               \
    X(MXKVStorePushPullEx, ARRAY, false,                                                           \
      MXKVStorePushPullEx(name_store, 1, name_a, 1, name_a, &h, &good, 0))                         \
    X(MXKVStoreSetUpdater, STORE, false, MXKVStoreSetUpdater(h, never_updates, NULL))              \
    X(MXKVStoreSetUpdaterEx, STORE, false, MXKVStoreSetUpdaterEx(h, never_updates, NULL, NULL))    \
    X(MXKVStoreGetRank, STORE, false, MXKVStoreGetRank(h, &int_a))                                 \
    X(MXKVStoreGetGroupSize, STORE, false, MXKVStoreGetGroupSize(h, &int_a))                       \
    X(MXKVStoreBarrier, STORE, false, MXKVStoreBarrier(h))                                         \
    X(MXKVStoreSetBarrierBeforeExit, STORE, false, MXKVStoreSetBarrierBeforeExit(h, 1))            \
    X(MXKVStoreRunServer, STORE, false, MXKVStoreRunServer(h, never_serves, NULL))                 \
    X(MXKVStoreSendCommmandToServers, STORE, false, MXKVStoreSendCommmandToServers(h, 0, "body"))  \
    X(MXKVStoreGetNumDeadNode, STORE, false, MXKVStoreGetNumDeadNode(h, 0, &int_a, 60))

#define STORE_ARGUMENTS(X)                                                                         \
    X(MXKVStoreIsServerNode, MXKVStoreIsServerNode(NULL))                                          \
    X(MXKVStoreIsSchedulerNode, MXKVStoreIsSchedulerNode(NULL))                                    \
    X(MXInitPSEnv, MXInitPSEnv(1, NULL, axis_value))                                               \
    X(MXInitPSEnv, MXInitPSEnv(1, axis_key, NULL))                                                 \
    X(MXInitPSEnv, MXInitPSEnv(1, axis_key, null_text))                                            \
    X(MXKVStoreCreate, MXKVStoreCreate(NULL, &out))                                                \
    X(MXKVStoreCreate, MXKVStoreCreate("local", NULL))                                             \
    X(MXKVStoreCreate, MXKVStoreCreate("dist_sync", &out))                                         \
    X(MXKVStoreCreate, MXKVStoreCreate("NCCL", &out))                                              \
    X(MXKVStoreCreate,                                                                             \
      MXKVStoreCreate("a type of far more than the sixty-three characters that a type can have",   \
                      &out))                                                                       \
    X(MXKVStoreGetType, MXKVStoreGetType(good_store, NULL))                                        \
    X(MXKVStoreSetGradientCompression,                                                             \
      MXKVStoreSetGradientCompression(good_store, 1, axis_key, axis_value))                        \
    X(MXKVStoreInit, MXKVStoreInit(good_store, 1, key_1, &good))                                   \
    X(MXKVStoreInit, MXKVStoreInit(good_store, 1, NULL, &good))                                    \
    X(MXKVStoreInit, MXKVStoreInit(good_store, 1, key_2, NULL))                                    \
    X(MXKVStoreInit, MXKVStoreInit(name_store, 1, key_2, &good))                                   \
    X(MXKVStoreInitEx, MXKVStoreInitEx(good_store, 1, name_b, &good))                              \
    X(MXKVStoreInitEx, MXKVStoreInitEx(name_store, 1, null_text, &good))                           \
    X(MXKVStorePush, MXKVStorePush(good_store, 1, key_2, &good, 0))                                \
    X(MXKVStorePushEx, MXKVStorePushEx(name_store, 1, name_b, &good, 0))                           \
    X(MXKVStorePull, MXKVStorePull(good_store, 1, key_2, &good, 0))                                \
    X(MXKVStorePullEx, MXKVStorePullEx(good_store, 1, name_a, &good, 0))                           \
    X(MXKVStorePullWithSparse, MXKVStorePullWithSparse(good_store, 1, key_2, &good, 0, false))     \
    X(MXKVStorePullRowSparse, MXKVStorePullRowSparse(good_store, 1, key_1, &good, &good, 0))       \
    X(MXKVStorePullRowSparseEx, MXKVStorePullRowSparseEx(name_store, 1, name_a, &good, NULL, 0))   \
    X(MXKVStoreBroadcast, MXKVStoreBroadcast(good_store, 1, key_1, 1, key_1, &good, &good, 0))     \
    X(MXKVStoreBroadcastEx,                                                                        \
      MXKVStoreBroadcastEx(name_store, 1, name_b, 1, axis_key, &good, &good, 0))                   \
    X(MXKVStorePushPull, MXKVStorePushPull(good_store, 1, key_2, 1, key_1, &good, &good, 0))       \
    X(MXKVStorePushPullEx, MXKVStorePushPullEx(name_store, 1, name_a, 1, name_b, &good, &good, 0)) \
    X(MXKVStoreGetRank, MXKVStoreGetRank(good_store, NULL))                                        \
    X(MXKVStoreGetGroupSize, MXKVStoreGetGroupSize(good_store, NULL))                              \
    X(MXKVStoreSendCommmandToServers, MXKVStoreSendCommmandToServers(good_store, 0, NULL))         \
    X(MXKVStoreGetNumDeadNode, MXKVStoreGetNumDeadNode(good_store, 0, NULL, 60))

#endif
