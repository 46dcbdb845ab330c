/* Key-value stores: names that bindings expect and that return -1 yet. Declared in
 * mxlite/c_api_kvstore.h. */
#include "mxlite/c_api.h"

#include "api/unsupported.h"

int MXKVStoreIsServerNode(int *ret)
{
    MXL_NOT_YET;
}

int MXKVStoreIsSchedulerNode(int *ret)
{
    MXL_NOT_YET;
}

int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals)
{
    MXL_NOT_YET;
}

int MXKVStoreCreate(const char *type, KVStoreHandle *out)
{
    MXL_NOT_YET;
}

int MXKVStoreFree(KVStoreHandle handle)
{
    MXL_NOT_YET;
}

int MXKVStoreGetType(KVStoreHandle handle, const char **type)
{
    MXL_NOT_YET;
}

int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char **keys,
                                    const char **vals)
{
    MXL_NOT_YET;
}

int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals)
{
    MXL_NOT_YET;
}

int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals)
{
    MXL_NOT_YET;
}

int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                  int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals,
                    int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                  int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals,
                    int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                            NDArrayHandle *vals, int priority, bool ignore_sparse)
{
    MXL_NOT_YET;
}

int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                              NDArrayHandle *vals, int priority, bool ignore_sparse)
{
    MXL_NOT_YET;
}

int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                           const NDArrayHandle *row_ids, int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                             NDArrayHandle *vals, const NDArrayHandle *row_ids, int priority)
{
    MXL_NOT_YET;
}

int MXKVStoreBroadcast(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum,
                       const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXL_NOT_YET;
}

int MXKVStoreBroadcastEx(KVStoreHandle handle, uint32_t vnum, const char **vkeys, uint32_t onum,
                         const char **okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePushPull(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum,
                      const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXL_NOT_YET;
}

int MXKVStorePushPullEx(KVStoreHandle handle, uint32_t vnum, const char **vkeys, uint32_t onum,
                        const char **okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXL_NOT_YET;
}

int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void *updater_handle)
{
    MXL_NOT_YET;
}

int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater,
                          MXKVStoreStrUpdater str_updater, void *updater_handle)
{
    MXL_NOT_YET;
}

int MXKVStoreGetRank(KVStoreHandle handle, int *ret)
{
    MXL_NOT_YET;
}

int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret)
{
    MXL_NOT_YET;
}

int MXKVStoreBarrier(KVStoreHandle handle)
{
    MXL_NOT_YET;
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, int barrier_before_exit)
{
    MXL_NOT_YET;
}

int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                       void *controller_handle)
{
    MXL_NOT_YET;
}

int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body)
{
    MXL_NOT_YET;
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, int node_id, int *number, int timeout_sec)
{
    MXL_NOT_YET;
}
