/* Key-value stores: initial values, pushing and pulling, by numbers and by names. */
#include "api/kvstore/pin.h"
#include "base/memory/mem.h"

/* One list of keys of a call with its arrays. */
typedef struct values {
    mxl_store_keys keys;
    NDArrayHandle *handles;
    mxl_array **arrays; /* pinned */
} values;

static values of_numbers(uint32_t count, const int *keys, NDArrayHandle *handles)
{
    return (values){{count, keys, NULL}, handles, NULL};
}

static values of_names(uint32_t count, const char **keys, NDArrayHandle *handles)
{
    return (values){{count, NULL, keys}, handles, NULL};
}

static int check_values(const values *v)
{
    if (v->keys.count == 0)
        return 0;
    if (v->handles == NULL || (v->keys.number == NULL && v->keys.name == NULL))
        return mxl_error("%s are NULL", v->handles == NULL ? "arrays" : "keys");
    for (uint32_t i = 0; v->keys.number == NULL && i < v->keys.count; i++) {
        if (v->keys.name[i] == NULL)
            return mxl_error("key %u is NULL", i);
    }
    return 0;
}

static void unpin_values(values *v)
{
    if (v->arrays == NULL)
        return;
    api_unpin_many((int)v->keys.count, v->handles);
    mxl_free(v->arrays, (v->keys.count + 1) * sizeof(*v->arrays));
    v->arrays = NULL;
}

/* Pins the arrays, all of which must have a shape; -1 with the error set and none pinned. */
static int pin_values(values *v, const char *function)
{
    if (check_values(v) != 0)
        return -1;
    v->arrays = mxl_alloc((v->keys.count + 1) * sizeof(*v->arrays));
    if (v->arrays == NULL)
        return -1;
    if (api_pin_many(function, "array", (int)v->keys.count, v->handles, v->arrays, false) != 0) {
        mxl_free(v->arrays, (v->keys.count + 1) * sizeof(*v->arrays));
        v->arrays = NULL;
        return -1;
    }
    for (uint32_t i = 0; i < v->keys.count; i++) {
        if (v->arrays[i]->storage == NULL) {
            unpin_values(v);
            return mxl_error("array %u has no shape yet: it was created empty and never written",
                             i);
        }
    }
    return 0;
}

/* ---- the caller's updater ---- */

/* Handles for the updater of what was pushed and of the stored arrays, in turn. -1 with the error
 * set and none made. */
static int make_handles(mxl_store *store, const mxl_store_sums *sums, NDArrayHandle *handles)
{
    for (uint32_t i = 0; i < 2 * sums->count; i++) {
        mxl_store_sum *sum = &sums->list[i / 2];
        mxl_array *array =
            i % 2 == 0 ? mxl_array_alias(sum->sum) : mxl_store_value(store, sum->item);

        handles[i] = array != NULL ? api_handle(array) : NULL;
        if (handles[i] == NULL) {
            api_handles_free(handles, i);
            return -1;
        }
    }
    return 0;
}

/* Calls the updater for each key, in the order of the keys' numbers. It frees the handles. */
static int update(mxl_store *store, const mxl_store_sums *sums, mxl_store_updater updater,
                  bool named)
{
    size_t bytes = (2 * (size_t)sums->count + 1) * sizeof(NDArrayHandle);
    NDArrayHandle *handles = mxl_alloc(bytes);
    int status = handles != NULL ? make_handles(store, sums, handles) : -1;

    for (uint32_t i = 0; status == 0 && i < sums->count; i++) {
        const mxl_store_item *item = sums->list[i].item;
        NDArrayHandle pushed = handles[2 * i], stored = handles[2 * i + 1];

        if (named && updater.of_name != NULL)
            ((MXKVStoreStrUpdater *)updater.of_name)(item->name, pushed, stored, updater.payload);
        else
            ((MXKVStoreUpdater *)updater.of_number)(item->number, pushed, stored, updater.payload);
    }
    mxl_free(handles, bytes);
    return status;
}

/* ---- the calls ---- */

static int push(mxl_store *store, const values *in)
{
    mxl_store_updater updater = mxl_store_get_updater(store);
    bool named = in->keys.number == NULL;
    mxl_store_sums sums;
    int status;

    if (mxl_store_add_up(store, in->keys, in->arrays, &sums) != 0)
        return -1;
    if (updater.of_number != NULL || (named && updater.of_name != NULL))
        status = update(store, &sums, updater, named);
    else
        status = mxl_store_replace(store, &sums);
    mxl_store_sums_clear(&sums);
    return status;
}

/* Pulls into arrays that are dense; sparse ones stay as they are. What can be wrong is checked
 * before anything is written. */
static int pull_dense(mxl_store *store, const values *out)
{
    int status = mxl_store_check_pull(store, out->keys, out->arrays);

    for (uint32_t i = 0; i < out->keys.count && status == 0; i++) {
        mxl_store_keys key = {1, out->keys.number == NULL ? NULL : out->keys.number + i,
                              out->keys.name == NULL ? NULL : out->keys.name + i};

        if (mxl_array_is_dense(out->arrays[i]))
            status = mxl_store_pull(store, key, &out->arrays[i]);
    }
    return status;
}

static int push_pull(mxl_store *store, const values *in, const values *out)
{
    if (mxl_store_check_pull(store, out->keys, out->arrays) != 0 || push(store, in) != 0)
        return -1;
    return pull_dense(store, out);
}

static int broadcast(mxl_store *store, const values *in, const values *out)
{
    if (mxl_store_init(store, in->keys, in->arrays) != 0)
        return -1;
    if (pull_dense(store, out) == 0)
        return 0;
    mxl_store_remove(store, in->keys);
    return -1;
}

/* What goes in is the row_ids. */
typedef enum action { INIT, PUSH, PULL, PULL_DENSE, PULL_ROWS, PUSH_PULL, BROADCAST } action;

/* All functions below: the action, on what is put in and what is filled. */
static int call(const char *function, KVStoreHandle handle, action what, values in, values out)
{
    mxl_store *store = api_store_pin(handle, function);
    int status = -1;

    if (store == NULL)
        return -1;
    if (pin_values(&in, function) == 0 && pin_values(&out, function) == 0) {
        switch (what) {
        case INIT:
            status = mxl_store_init(store, in.keys, in.arrays);
            break;
        case PUSH:
            status = push(store, &in);
            break;
        case PULL:
            status = mxl_store_pull(store, out.keys, out.arrays);
            break;
        case PULL_DENSE:
            status = pull_dense(store, &out);
            break;
        case PULL_ROWS:
            status = mxl_store_pull_rows(store, out.keys, out.arrays, in.arrays);
            break;
        case PUSH_PULL:
            status = push_pull(store, &in, &out);
            break;
        case BROADCAST:
            status = broadcast(store, &in, &out);
            break;
        }
    }
    unpin_values(&in);
    unpin_values(&out);
    api_store_unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(function);
}

static const values nothing = {{0, NULL, NULL}, NULL, NULL};

int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals)
{
    return call(__func__, handle, INIT, of_numbers(num, keys, vals), nothing);
}

int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals)
{
    return call(__func__, handle, INIT, of_names(num, keys, vals), nothing);
}

int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                  int priority)
{
    (void)priority;
    return call(__func__, handle, PUSH, of_numbers(num, keys, vals), nothing);
}

int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals,
                    int priority)
{
    (void)priority;
    return call(__func__, handle, PUSH, of_names(num, keys, vals), nothing);
}

int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                  int priority)
{
    (void)priority;
    return call(__func__, handle, PULL_DENSE, nothing, of_numbers(num, keys, vals));
}

int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals,
                    int priority)
{
    (void)priority;
    return call(__func__, handle, PULL_DENSE, nothing, of_names(num, keys, vals));
}

int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                            NDArrayHandle *vals, int priority, bool ignore_sparse)
{
    (void)priority;
    return call(__func__, handle, ignore_sparse ? PULL_DENSE : PULL, nothing,
                of_numbers(num, keys, vals));
}

int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                              NDArrayHandle *vals, int priority, bool ignore_sparse)
{
    (void)priority;
    return call(__func__, handle, ignore_sparse ? PULL_DENSE : PULL, nothing,
                of_names(num, keys, vals));
}

int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                           const NDArrayHandle *row_ids, int priority)
{
    (void)priority;
    return call(__func__, handle, PULL_ROWS,
                of_numbers(num, keys, (NDArrayHandle *)(size_t)row_ids),
                of_numbers(num, keys, vals));
}

int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                             NDArrayHandle *vals, const NDArrayHandle *row_ids, int priority)
{
    (void)priority;
    return call(__func__, handle, PULL_ROWS, of_names(num, keys, (NDArrayHandle *)(size_t)row_ids),
                of_names(num, keys, vals));
}

int MXKVStorePushPull(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum,
                      const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    (void)priority;
    return call(__func__, handle, PUSH_PULL, of_numbers(vnum, vkeys, vals),
                of_numbers(onum, okeys, outs));
}

int MXKVStorePushPullEx(KVStoreHandle handle, uint32_t vnum, const char **vkeys, uint32_t onum,
                        const char **okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    (void)priority;
    return call(__func__, handle, PUSH_PULL, of_names(vnum, vkeys, vals),
                of_names(onum, okeys, outs));
}

int MXKVStoreBroadcast(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum,
                       const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    (void)priority;
    return call(__func__, handle, BROADCAST, of_numbers(vnum, vkeys, vals),
                of_numbers(onum, okeys, outs));
}

int MXKVStoreBroadcastEx(KVStoreHandle handle, uint32_t vnum, const char **vkeys, uint32_t onum,
                         const char **okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    (void)priority;
    return call(__func__, handle, BROADCAST, of_names(vnum, vkeys, vals),
                of_names(onum, okeys, outs));
}
