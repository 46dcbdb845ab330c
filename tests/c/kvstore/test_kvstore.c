/* Key-value stores: values, sums, updaters and the handles that they own, errors that change
 * nothing. */
#include "engine_kit.h"

static KVStoreHandle new_store(const char *type)
{
    KVStoreHandle store = NULL;

    CHECK_INT(MXKVStoreCreate(type, &store), 0);
    return store;
}

static void init(KVStoreHandle store, int key, H value)
{
    CHECK_INT(MXKVStoreInit(store, 1, &key, &value), 0);
}

static void push(KVStoreHandle store, int key, H value)
{
    CHECK_INT(MXKVStorePush(store, 1, &key, &value, 0), 0);
}

/* Element i of what is stored; NaN after a failure. */
static double stored(KVStoreHandle store, int key, int64_t size, int64_t i)
{
    H out = make(F64, 1, &size);
    double value = MXKVStorePull(store, 1, &key, &out, 0) == 0 ? at(out, i) : (double)NAN;

    drop(out);
    return value;
}

TEST(types)
{
    static const char *const good[] = {"local",  "local_update_cpu",       "local_allreduce_cpu",
                                       "device", "local_allreduce_device", "Device",
                                       ""};
    static const char *const bad[] = {"dist_sync", "dist_device_async", "NCCL", "horovod"};
    KVStoreHandle store;
    const char *type;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        store = new_store(good[i]);
        CHECK_INT(MXKVStoreGetType(store, &type), 0);
        CHECK_STR(type, i == 5 ? "device" : good[i]);
        CHECK_INT(MXKVStoreFree(store), 0);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        store = NULL;
        CHECK_INT(MXKVStoreCreate(bad[i], &store), -1);
        CHECK(store == NULL);
        CHECK_HAS(MXGetLastError(), "MXKVStoreCreate: type");
    }
}

TEST(one_process)
{
    KVStoreHandle store = new_store("local");
    int number = -7;

    CHECK_INT(MXKVStoreGetRank(store, &number), 0);
    CHECK_INT(number, 0);
    CHECK_INT(MXKVStoreGetGroupSize(store, &number), 0);
    CHECK_INT(number, 1);
    CHECK_INT(MXKVStoreGetNumDeadNode(store, 0, &number, 60), 0);
    CHECK_INT(number, 0);
    CHECK_INT(MXKVStoreIsWorkerNode(&number), 0);
    CHECK_INT(number, 1);
    CHECK_INT(MXKVStoreIsServerNode(&number), 0);
    CHECK_INT(number, 0);
    CHECK_INT(MXKVStoreIsSchedulerNode(&number), 0);
    CHECK_INT(number, 0);
    CHECK_INT(MXKVStoreBarrier(store), 0);
    CHECK_INT(MXKVStoreSetBarrierBeforeExit(store, 1), 0);
    CHECK_INT(MXKVStoreRunServer(store, NULL, NULL), 0);
    CHECK_INT(MXKVStoreSendCommmandToServers(store, 0, "stop"), 0);
    CHECK_INT(MXKVStoreSetGradientCompression(store, 0, NULL, NULL), -1);
    CHECK_INT(MXKVStoreFree(store), 0);
}

TEST(pushed_values_are_summed)
{
    static const int keys[] = {3, 5, 3, 3}, outs[] = {3, 3};
    KVStoreHandle store = new_store("local");
    int64_t two = 2;
    H a = VEC(1, 2), b = VEC(10, 20), whole = make(I32, 1, &two), real = make(F64, 1, &two);
    H given[] = {a, b, b, whole}, results[] = {whole, real};
    static const int32_t numbers[] = {7, 8};
    int32_t got[2];

    CHECK_INT(MXNDArraySyncCopyFromCPU(whole, numbers, 2), 0);
    init(store, 3, a);
    init(store, 5, a);
    CHECK_INT(MXKVStorePush(store, 4, keys, given, 0), 0);
    CHECK_NEAR(stored(store, 3, 2, 1), 2 + 20 + 8, 0);
    CHECK_NEAR(stored(store, 5, 2, 1), 20, 0);
    CHECK_INT(MXKVStorePull(store, 2, outs, results, 0), 0); /* in the dtype of each */
    CHECK_INT(MXNDArraySyncCopyToCPU(whole, got, 2), 0);
    CHECK_INT(got[0], 1 + 10 + 7);
    CHECK_NEAR(at(real, 0), 18, 0);
    drop(a);
    drop(b);
    drop(whole);
    drop(real);
    CHECK_INT(MXKVStoreFree(store), 0);
}

/* Neither an array that began as a value nor one that was pushed is the store's. */
TEST(values_are_copies)
{
    KVStoreHandle store = new_store("device");
    static const double nine[] = {9, 9};
    H a = VEC(1, 2), b = VEC(3, 4);

    init(store, 0, a);
    fill(a, nine, 2);
    CHECK_NEAR(stored(store, 0, 2, 1), 2, 0);
    push(store, 0, b);
    fill(b, nine, 2);
    CHECK_NEAR(stored(store, 0, 2, 1), 4, 0);
    drop(a);
    drop(b);
    CHECK_INT(MXKVStoreFree(store), 0);
}

/* ---- updaters ---- */

typedef struct updates {
    int count, key[8];
    char name[8];
    double pushed[8], before[8];
} updates;

/* stored += 2 * pushed; frees both handles, which are its own. */
static void add_twice(updates *u, H pushed, H local)
{
    double value = at(local, 0) + 2 * at(pushed, 0);

    u->pushed[u->count] = at(pushed, 0);
    u->before[u->count++] = at(local, 0);
    fill(local, &value, 1);
    drop(pushed);
    drop(local);
}

static void by_number(int key, H pushed, H local, void *payload)
{
    updates *u = payload;

    u->key[u->count] = key;
    add_twice(u, pushed, local);
}

static void by_name(const char *key, H pushed, H local, void *payload)
{
    updates *u = payload;

    u->name[u->count] = key[0];
    add_twice(u, pushed, local);
}

TEST(an_updater_runs_in_the_order_of_keys)
{
    static const int keys[] = {9, 5, 9, 3};
    KVStoreHandle store = new_store("local");
    updates u = {0};
    H one = VEC(1), ten = VEC(10), out = VEC(0), given[] = {one, ten, ten, one};

    init(store, 9, one);
    init(store, 3, ten);
    init(store, 5, one);
    CHECK_INT(MXKVStoreSetUpdater(store, by_number, &u), 0);
    CHECK_INT(MXKVStorePush(store, 4, keys, given, -3), 0);
    CHECK_INT(u.count, 3);
    CHECK_INT(u.key[0], 3);
    CHECK_INT(u.key[1], 5);
    CHECK_INT(u.key[2], 9);
    CHECK_NEAR(u.pushed[2], 11, 0);
    CHECK_NEAR(u.before[0], 10, 0);
    CHECK_NEAR(stored(store, 9, 1, 0), 1 + 22, 0);
    CHECK_INT(MXKVStorePushPull(store, 1, &keys[3], 1, &keys[3], &one, &out, 0), 0);
    CHECK_NEAR(at(out, 0), 12 + 2, 0);
    CHECK_INT(MXKVStoreSetUpdater(store, NULL, NULL), 0);
    push(store, 3, ten);
    CHECK_NEAR(stored(store, 3, 1, 0), 10, 0);
    drop(one);
    drop(ten);
    drop(out);
    CHECK_INT(MXKVStoreFree(store), 0);
}

TEST(names)
{
    static const char *keys[] = {"z", "b", "m"}, *pushed[] = {"m", "b", "z"};
    KVStoreHandle store = new_store("local");
    updates u = {0};
    H one = VEC(1), ten = VEC(10), out = VEC(0), given[] = {one, ten, one};

    CHECK_INT(MXKVStoreInitEx(store, 3, keys, given), 0);
    CHECK_INT(MXKVStoreSetUpdater(store, by_number, &u), 0);
    CHECK_INT(MXKVStorePushEx(store, 3, pushed, given, 0), 0);
    CHECK_INT(u.count, 3);
    CHECK_INT(u.key[0] * 100 + u.key[1] * 10 + u.key[2], 12); /* 0, 1, 2: as they were added */
    CHECK_NEAR(u.pushed[1], 10, 0);
    CHECK_INT(MXKVStoreSetUpdaterEx(store, by_number, by_name, &u), 0);
    CHECK_INT(MXKVStorePushEx(store, 3, pushed, given, 0), 0);
    CHECK_INT(u.name[3], 'z');
    CHECK_INT(u.name[4], 'b');
    CHECK_INT(u.name[5], 'm');
    CHECK_INT(MXKVStorePullWithSparseEx(store, 1, keys, &out, 0, true), 0);
    CHECK_NEAR(at(out, 0), 1 + 2 + 2, 0);
    CHECK_INT(MXKVStorePushPullEx(store, 1, keys, 1, &keys[1], &ten, &out, 0), 0);
    CHECK_NEAR(at(out, 0), 10 + 20 + 20, 0);
    drop(one);
    drop(ten);
    drop(out);
    CHECK_INT(MXKVStoreFree(store), 0);
}

/* An updater may use the store, and free it. */
static KVStoreHandle reentered;

static void reenters(int key, H pushed, H local, void *payload)
{
    (void)payload;
    CHECK_INT(MXKVStorePull(reentered, 1, &key, &pushed, 0), 0);
    CHECK_NEAR(at(pushed, 0), at(local, 0), 0);
    CHECK_INT(MXKVStoreFree(reentered), 0);
    drop(pushed);
    drop(local);
}

TEST(an_updater_may_use_the_store)
{
    H one = VEC(1), two = VEC(2);
    KVStoreHandle store = reentered = new_store("local");

    init(store, 1, two);
    CHECK_INT(MXKVStoreSetUpdater(store, reenters, NULL), 0);
    push(store, 1, one);
    CHECK_NEAR(at(one, 0), 2, 0); /* what is pushed alone is what the updater gets */
    CHECK_INT(MXKVStoreFree(store), -1);
    drop(one);
    drop(two);
}

/* ---- errors ---- */

TEST(errors_change_nothing)
{
    static const int twice[] = {4, 4}, known_last[] = {6, 3}, missing_last[] = {3, 8};
    static const char *name[] = {"a"};
    KVStoreHandle store = new_store("local");
    H a = VEC(1, 2), b = VEC(5, 6, 7), c = VEC(0, 0);
    H same[] = {a, a}, other[] = {a, b}, outs[] = {c, b};

    init(store, 3, a);
    CHECK_INT(MXKVStoreInit(store, 2, twice, same), -1);
    CHECK_HAS(MXGetLastError(), "MXKVStoreInit: key 4 is in the store already");
    CHECK_INT(MXKVStoreInit(store, 2, known_last, same), -1);
    CHECK_INT(MXKVStorePull(store, 1, known_last, &c, 0), -1);
    CHECK_HAS(MXGetLastError(), "key 6 is not in the store");
    CHECK_INT(MXKVStorePull(store, 2, missing_last, outs, 0), -1);
    CHECK_NEAR(at(c, 1), 0, 0);
    CHECK_INT(MXKVStorePush(store, 2, missing_last, same, 0), -1);
    CHECK_HAS(MXGetLastError(), "key 8 is not in the store");
    CHECK_INT(MXKVStorePush(store, 2, (const int[]){3, 3}, other, 0), -1);
    CHECK_HAS(MXGetLastError(), "key 3: pushed arrays have the shapes (2,) and (3,)");
    CHECK_INT(MXKVStorePush(store, 1, &missing_last[0], &b, 0), -1);
    CHECK_HAS(MXGetLastError(), "key 3 has shape (2,), an array of shape (3,) was pushed");
    CHECK_INT(MXKVStorePull(store, 2, (const int[]){3, 3}, outs, 0), -1);
    CHECK_HAS(MXGetLastError(), "the array to fill has shape (3,)");
    CHECK_NEAR(at(c, 1), 0, 0);
    CHECK_INT(MXKVStoreInitEx(store, 1, name, &a), -1);
    CHECK_HAS(MXGetLastError(), "the store's keys are");
    CHECK_INT(MXKVStorePullRowSparse(store, 1, &missing_last[0], &c, &a, 0), -1);
    CHECK_NEAR(stored(store, 3, 2, 1), 2, 0);
    /* A broadcast whose second half fails adds no key. */
    CHECK_INT(MXKVStoreBroadcast(store, 1, &missing_last[1], 1, &missing_last[1], &a, &b, 0), -1);
    CHECK_INT(MXKVStoreBroadcast(store, 1, &missing_last[1], 1, &missing_last[1], &a, &c, 0), 0);
    CHECK_NEAR(at(c, 1), 2, 0);
    drop(a);
    drop(b);
    drop(c);
    CHECK_INT(MXKVStoreFree(store), 0);
}

/* Many keys, in no order. */
TEST(many_keys)
{
    KVStoreHandle store = new_store("local");

    for (int i = 0; i < 300; i++) {
        H value = VEC(i);

        init(store, i * 7919 % 300 - 150, value);
        drop(value);
    }
    for (int i = 0; i < 300; i++)
        CHECK_NEAR(stored(store, i * 7919 % 300 - 150, 1, 0), i, 0);
    CHECK_INT(MXKVStoreFree(store), 0);
}

/* An array in another storage type. */
static H cast(H array, const char *stype)
{
    const char *key = "stype";
    H out = try_op("cast_storage", 1, &array, 1, &key, &stype);

    CHECK(out != NULL);
    return out;
}

/* Rows of a stored array; a refusal leaves the array to fill as it is. */
TEST(rows_of_a_store)
{
    static const int64_t shape[2] = {5, 2};
    static const double values[10] = {0, 0, 1, 2, 0, 0, 3, 4, 0, 0};
    H whole = make(F64, 2, shape), zeros = op1("zeros_like", whole), ids = VEC(3, 0, 3);
    H bad = VEC(7), out = cast(zeros, "row_sparse"), stored, dense;
    KVStoreHandle store = NULL;
    int key = 4;

    CHECK_INT(MXNDArraySyncCopyFromCPU(whole, values, 10), 0);
    stored = cast(whole, "row_sparse");
    CHECK_INT(MXKVStoreCreate("local", &store), 0);
    CHECK_INT(MXKVStoreInit(store, 1, &key, &stored), 0);
    CHECK_INT(MXKVStorePullRowSparse(store, 1, &key, &out, &ids, 0), 0);
    CHECK_INT(MXKVStorePullRowSparse(store, 1, &key, &out, &bad, 0), -1);
    CHECK_HAS(MXGetLastError(), "row 7");
    CHECK_INT(MXKVStorePull(store, 1, &key, &out, 0), 0); /* ignores sparse arrays */
    dense = cast(out, "default");
    CHECK_NEAR(at(dense, 6), 3, 0);
    CHECK_NEAR(at(dense, 2), 0, 0);
    CHECK_INT(MXKVStorePullRowSparse(store, 1, &key, &dense, &ids, 0), -1);
    CHECK_INT(MXKVStorePullWithSparse(store, 1, &key, &out, 0, false), 0);
    drop(dense);
    dense = cast(out, "default");
    CHECK_NEAR(at(dense, 2), 1, 0);
    CHECK_INT(MXKVStoreFree(store), 0);
    drop(whole);
    drop(zeros);
    drop(stored);
    drop(out);
    drop(ids);
    drop(bad);
    drop(dense);
}

HARNESS_MAIN(ENTRY(rows_of_a_store), ENTRY(types), ENTRY(one_process),
             ENTRY(pushed_values_are_summed), ENTRY(values_are_copies),
             ENTRY(an_updater_runs_in_the_order_of_keys), ENTRY(names),
             ENTRY(an_updater_may_use_the_store), ENTRY(errors_change_nothing), ENTRY(many_keys))
