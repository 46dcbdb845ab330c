/* Key-value stores: making them, their roles, and what several machines would do. */
#include <string.h>

#include "api/kvstore/pin.h"

/* ---- life ---- */

int MXKVStoreCreate(const char *type, KVStoreHandle *out)
{
    mxl_store *store;
    uint64_t handle = 0;

    API_NEED(type);
    API_NEED(out);
    store = mxl_store_new(type);
    if (store != NULL)
        handle = mxl_handle_new(MXL_KIND_STORE, &store->ref);
    if (handle == 0) {
        if (store != NULL)
            mxl_ref_release(&store->ref);
        return mxl_error_prefix(__func__);
    }
    *out = (KVStoreHandle)(uintptr_t)handle;
    return 0;
}

int MXKVStoreFree(KVStoreHandle handle)
{
    return mxl_handle_free(MXL_KIND_STORE, api_number(handle)) == 0 ? 0
                                                                    : mxl_error_prefix(__func__);
}

mxl_store *api_store_pin(const void *handle, const char *function)
{
    mxl_store *store = (mxl_store *)mxl_handle_pin(MXL_KIND_STORE, api_number(handle));

    if (store == NULL)
        (void)mxl_error_prefix(function);
    return store;
}

int MXKVStoreGetType(KVStoreHandle handle, const char **type)
{
    mxl_store *store;
    char *text;

    API_NEED(type);
    store = api_store_pin(handle, __func__);
    if (store == NULL)
        return -1;
    text = api_buffer_get(API_BUFFER_TEXT, sizeof(store->type));
    if (text != NULL) {
        memcpy(text, store->type, sizeof(store->type));
        *type = text;
    }
    api_store_unpin(handle);
    return text != NULL ? 0 : mxl_error_prefix(__func__);
}

int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater,
                          MXKVStoreStrUpdater str_updater, void *updater_handle)
{
    mxl_store *store = api_store_pin(handle, __func__);

    if (store == NULL)
        return -1;
    mxl_store_set_updater(store, (mxl_store_updater){(void (*)(void))updater,
                                                     (void (*)(void))str_updater, updater_handle});
    api_store_unpin(handle);
    return 0;
}

int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void *updater_handle)
{
    return MXKVStoreSetUpdaterEx(handle, updater, NULL, updater_handle) == 0
               ? 0
               : mxl_error_prefix(__func__);
}

/* ---- one process: worker 0 of 1 ---- */

/* Writes a number that is the same for every store. */
static int answer(const char *function, KVStoreHandle handle, int *out, int value)
{
    if (out == NULL)
        return api_null(function, "ret");
    if (api_store_pin(handle, function) == NULL)
        return -1;
    *out = value;
    api_store_unpin(handle);
    return 0;
}

int MXKVStoreGetRank(KVStoreHandle handle, int *ret)
{
    return answer(__func__, handle, ret, 0);
}

int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret)
{
    return answer(__func__, handle, ret, 1);
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, int node_id, int *number, int timeout_sec)
{
    (void)node_id;
    (void)timeout_sec;
    return answer(__func__, handle, number, 0);
}

/* What needs others to take part is done at once. */
static int alone(const char *function, KVStoreHandle handle)
{
    int ignored;

    return answer(function, handle, &ignored, 0);
}

int MXKVStoreBarrier(KVStoreHandle handle)
{
    return alone(__func__, handle);
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, int barrier_before_exit)
{
    (void)barrier_before_exit;
    return alone(__func__, handle);
}

int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                       void *controller_handle)
{
    (void)controller;
    (void)controller_handle;
    return alone(__func__, handle);
}

int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body)
{
    API_NEED(cmd_body);
    (void)cmd_id;
    return alone(__func__, handle);
}

int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char **keys,
                                    const char **vals)
{
    (void)num_params;
    (void)keys;
    (void)vals;
    if (alone(__func__, handle) != 0)
        return -1;
    return mxl_error("%s: stores of one process send nothing, so that no gradient is compressed",
                     __func__);
}

/* ---- the process's role ---- */

int MXKVStoreIsServerNode(int *ret)
{
    API_NEED(ret);
    *ret = 0;
    return 0;
}

int MXKVStoreIsSchedulerNode(int *ret)
{
    API_NEED(ret);
    *ret = 0;
    return 0;
}

int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals)
{
    if (num_vars > 0) {
        API_NEED(keys);
        API_NEED(vals);
    }
    for (uint32_t i = 0; i < num_vars; i++) {
        if (keys[i] == NULL || vals[i] == NULL)
            return mxl_error("%s: variable %u has a NULL name or value", __func__, i);
    }
    for (uint32_t i = 0; i < num_vars; i++) {
        if (MXSetEnv(keys[i], vals[i]) != 0)
            return mxl_error_prefix(__func__);
    }
    return 0;
}
