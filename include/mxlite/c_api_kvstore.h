/* Key-value stores of the MXNet-compatible C API. Functions without "Supported" in their comment
 * return -1 with an error so far. Include mxlite/c_api.h. */
#ifndef MXLITE_C_API_KVSTORE_H
#define MXLITE_C_API_KVSTORE_H

#include "mxlite/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the process's role ---- */

/* Supported: *ret is 1, because this process is not a server. */
MXL_API int MXKVStoreIsWorkerNode(int *ret);

/* Whether it is a server or a scheduler. */
MXL_API int MXKVStoreIsServerNode(int *ret);
MXL_API int MXKVStoreIsSchedulerNode(int *ret);

/* Variables of the parameter server's environment. */
MXL_API int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals);

/* ---- life ---- */

/* Making, freeing and naming a store. */
MXL_API int MXKVStoreCreate(const char *type, KVStoreHandle *out);
MXL_API int MXKVStoreFree(KVStoreHandle handle);
MXL_API int MXKVStoreGetType(KVStoreHandle handle, const char **type);

/* Compressed gradients. */
MXL_API int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params,
                                            const char **keys, const char **vals);

/* ---- values; the forms with Ex take names where the others take numbers ---- */

/* The first value of each key. */
MXL_API int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals);
MXL_API int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char **keys,
                            NDArrayHandle *vals);

/* Adding to and reading values. */
MXL_API int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                          int priority);
MXL_API int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char **keys,
                            NDArrayHandle *vals, int priority);
MXL_API int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                          int priority);
MXL_API int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char **keys,
                            NDArrayHandle *vals, int priority);
MXL_API int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                                    NDArrayHandle *vals, int priority, bool ignore_sparse);
MXL_API int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                                      NDArrayHandle *vals, int priority, bool ignore_sparse);
MXL_API int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                                   NDArrayHandle *vals, const NDArrayHandle *row_ids, int priority);
MXL_API int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                                     NDArrayHandle *vals, const NDArrayHandle *row_ids,
                                     int priority);

/* Both in one call. */
MXL_API int MXKVStoreBroadcast(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum,
                               const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs,
                               int priority);
MXL_API int MXKVStoreBroadcastEx(KVStoreHandle handle, uint32_t vnum, const char **vkeys,
                                 uint32_t onum, const char **okeys, NDArrayHandle *vals,
                                 NDArrayHandle *outs, int priority);
MXL_API int MXKVStorePushPull(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum,
                              const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs,
                              int priority);
MXL_API int MXKVStorePushPullEx(KVStoreHandle handle, uint32_t vnum, const char **vkeys,
                                uint32_t onum, const char **okeys, NDArrayHandle *vals,
                                NDArrayHandle *outs, int priority);

/* How a pushed value changes the stored one. */
MXL_API int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater,
                                void *updater_handle);
MXL_API int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater,
                                  MXKVStoreStrUpdater str_updater, void *updater_handle);

/* ---- several machines ---- */

/* This process's number and how many there are. */
MXL_API int MXKVStoreGetRank(KVStoreHandle handle, int *ret);
MXL_API int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret);

/* Waiting for one another. */
MXL_API int MXKVStoreBarrier(KVStoreHandle handle);
MXL_API int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, int barrier_before_exit);

/* Serving. (Three m, as in MXNet.) */
MXL_API int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                               void *controller_handle);
MXL_API int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body);

/* Machines that were not heard of for timeout_sec seconds. */
MXL_API int MXKVStoreGetNumDeadNode(KVStoreHandle handle, int node_id, int *number,
                                    int timeout_sec MXL_DEFAULT(60));

#ifdef __cplusplus
}
#endif

#endif
