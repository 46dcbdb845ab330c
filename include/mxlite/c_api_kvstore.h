/* Key-value stores of the MXNet-compatible C API. Functions without "Supported" in their comment
 * return -1 with an error so far. Include mxlite/c_api.h. */
#ifndef MXLITE_C_API_KVSTORE_H
#define MXLITE_C_API_KVSTORE_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the process's role ---- */

/* Supported: *ret is 1, because this process is not a server. */
MXL_API int MXKVStoreIsWorkerNode(int *ret);

/* Supported: *ret is 0. */
MXL_API int MXKVStoreIsServerNode(int *ret);
MXL_API int MXKVStoreIsSchedulerNode(int *ret);

/* Supported. Sets variables of the process's environment. */
MXL_API int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals);

/* ---- life ---- */

/* Supported. A store of this process (**new**), of any type but those of several machines
 * ("dist_*") and of other libraries ("nccl", "horovod"); all behave alike. The type is lent, in
 * lower case. Threads may share a store; those that push to one key with an updater take turns by
 * themselves. */
MXL_API int MXKVStoreCreate(const char *type, KVStoreHandle *out);
MXL_API int MXKVStoreFree(KVStoreHandle handle);
MXL_API int MXKVStoreGetType(KVStoreHandle handle, const char **type);

/* Supported: an error, because a store of one process sends no gradients. */
MXL_API int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params,
                                            const char **keys, const char **vals);

/* ---- values; the forms with Ex take names where the others take numbers ---- */

/* Supported. The first value of each key, which is copied. A store's keys are all numbers or all
 * names. All values of a call are stored, or none. */
MXL_API int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals);
MXL_API int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char **keys,
                            NDArrayHandle *vals);

/* Supported. Push: arrays that are given under one key are summed; the sum takes the stored array's
 * place, whose shape it must have, or goes to the updater. Pull: writes the stored array to each
 * array of its key, in that one's dtype. Calls take effect at once, whatever their priority; an
 * error changes nothing. */
MXL_API int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                          int priority);
MXL_API int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char **keys,
                            NDArrayHandle *vals, int priority);
/* Supported. Copies what is stored into dense arrays; sparse ones stay as they are, but for the
 * calls that are told not to ignore them. */
MXL_API int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                          int priority);
MXL_API int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char **keys,
                            NDArrayHandle *vals, int priority);
MXL_API int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                                    NDArrayHandle *vals, int priority, bool ignore_sparse);
MXL_API int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                                      NDArrayHandle *vals, int priority, bool ignore_sparse);

/* Supported. Some rows of arrays that are stored as row_sparse, into arrays of that storage type:
 * those whose numbers are in row_ids, an array of any shape and dtype for each. A row that is not
 * stored is zeros. */
MXL_API int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                                   NDArrayHandle *vals, const NDArrayHandle *row_ids, int priority);
MXL_API int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                                     NDArrayHandle *vals, const NDArrayHandle *row_ids,
                                     int priority);

/* Supported. Init and pull in one call, push and pull in one call. */
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

/* Supported. How a pushed value changes the stored one: the updater is called on the pushing
 * thread, for each key once, in ascending order of numbers or in the order in which names were
 * added. The handles that it gets are **new**; it frees them. Writing to the second one changes the
 * store. Without a function for names, the other one gets the position of a name in that order.
 * NULL: none. */
MXL_API int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater,
                                void *updater_handle);
MXL_API int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater,
                                  MXKVStoreStrUpdater str_updater, void *updater_handle);

/* ---- several machines ---- */

/* Supported: 0, and 1. */
MXL_API int MXKVStoreGetRank(KVStoreHandle handle, int *ret);
MXL_API int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret);

/* Supported: nothing to wait for. */
MXL_API int MXKVStoreBarrier(KVStoreHandle handle);
MXL_API int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, int barrier_before_exit);

/* Supported: there are no servers, so both do nothing, as with 1.9.1's local stores. (Three m, as
 * in MXNet.) */
MXL_API int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                               void *controller_handle);
MXL_API int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body);

/* Supported: 0 machines were not heard of for timeout_sec seconds. */
MXL_API int MXKVStoreGetNumDeadNode(KVStoreHandle handle, int node_id, int *number,
                                    int timeout_sec MXL_DEFAULT(60));

#ifdef __cplusplus
}
#endif

#endif
