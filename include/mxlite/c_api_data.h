/* Files, sparse arrays, foreign memory, records and data iterators of the MXNet-compatible C API.
 * Functions without "Supported" in their comment return -1 with an error. Include
 * mxlite/c_api.h. */
#ifndef MXLITE_C_API_DATA_H
#define MXLITE_C_API_DATA_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arrays in files and buffers ---- */

/* Supported. Writes arrays as a .params file, with names (or `keys` NULL), and reads one. The file
 * is written under a temporary name beside `fname`, synced and renamed. Formats of all versions can
 * be read. An array that was written in numpy-shape mode must be read in that mode, any other
 * outside of it. Handles are new, names lent. */
MXL_API int MXNDArraySave(const char *fname, uint32_t num_args, NDArrayHandle *args,
                          const char **keys);
MXL_API int MXNDArrayLoad(const char *fname, uint32_t *out_size, NDArrayHandle **out_arr,
                          uint32_t *out_name_size, const char ***out_names);

/* Supported. Reads the content of such a file from memory. Handles are new, names lent. */
MXL_API int MXNDArrayLoadFromBuffer(const void *ndarray_buffer, size_t size, uint32_t *out_size,
                                    NDArrayHandle **out_arr, uint32_t *out_name_size,
                                    const char ***out_names);

/* Supported. One array as bytes (lent), and back. */
MXL_API int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t *out_size, const char **out_buf);
MXL_API int MXNDArrayLoadFromRawBytes(const void *buf, size_t size, NDArrayHandle *out);

/* ---- sparse arrays ---- */

/* Supported. Makes a row_sparse (1) or csr (2) array. Index arrays are announced by dtype, number
 * of dimensions (1) and size: of row_sparse the indices, of csr indptr and indices. They and the
 * data are zeros of those sizes until MXNDArraySyncCopyFromNDArray writes them, the data with i -1.
 */
MXL_API int MXNDArrayCreateSparseEx(int storage_type, const uint32_t *shape, uint32_t ndim,
                                    int dev_type, int dev_id, int delay_alloc, int dtype,
                                    uint32_t num_aux, int *aux_type, uint32_t *aux_ndims,
                                    const uint32_t *aux_shape, NDArrayHandle *out);
MXL_API int MXNDArrayCreateSparseEx64(int storage_type, const int64_t *shape, int ndim,
                                      int dev_type, int dev_id, int delay_alloc, int dtype,
                                      uint32_t num_aux, int *aux_type, int *aux_ndims,
                                      const int64_t *aux_shape, NDArrayHandle *out);

/* Supported. The parts of a sparse array, as copies (**new**): the data, the index arrays as they
 * are counted above, and the dtype of one. A dense array is its own data and has no index arrays.
 * MXNet 1.9.1 declares the 64-bit forms and does not export them. */
MXL_API int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle *out);
MXL_API int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle *out);
MXL_API int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle *out);
MXL_API int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int *out_type);
MXL_API int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int *out_type);

/* Supported. Checks that the parts of a sparse array fit together and, with full_check, that its
 * indices are in range and ascend. A dense array has none, so this returns 0. */
MXL_API int MXNDArraySyncCheckFormat(NDArrayHandle handle, bool full_check);

/* ---- foreign memory ---- */

/* Supported. DLPack: exports an array; imports a tensor (CPU, in C order; on failure it stays the
 * caller's); frees a tensor that was not imported. `transient_handle`: the struct itself may be
 * freed when the call returns; the deleter is called with a copy of it. */
MXL_API int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack);
MXL_API int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle *out_handle);
MXL_API int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, bool transient_handle,
                                  NDArrayHandle *out_handle);
MXL_API int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack);

/* Supported. Arrays in memory that processes share. `shared_id` is a file descriptor of this
 * process, `shared_pid` the process id. An array made by MXNDArrayCreateFromSharedMem exports its
 * own memory, and the descriptor is open while that lives; any other array exports a copy of its
 * present values, and the descriptor is open until the array, or a view of it, exports other values
 * or is freed (MXLNDArrayShare gives one that is the caller's). Creating takes over a descriptor of
 * this process (received or duplicated; on failure it stays the caller's) and ignores `shared_pid`.
 */
MXL_API int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int *shared_pid, int *shared_id);
MXL_API int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t *shape,
                                         uint32_t ndim, int dtype, NDArrayHandle *out);
MXL_API int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int *shape,
                                           int ndim, int dtype, NDArrayHandle *out);

/* ---- record files ---- */

/* Supported. Writing a local file, "path" or "file://path", which is emptied first. A record is
 * shorter than 2^29 bytes, and in the file when the call returns. The position is where the next
 * record will be. */
MXL_API int MXRecordIOWriterCreate(const char *uri, RecordIOHandle *out);
MXL_API int MXRecordIOWriterFree(RecordIOHandle handle);
MXL_API int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char *buf, size_t size);
MXL_API int MXRecordIOWriterTell(RecordIOHandle handle, size_t *pos);

/* Supported. Reading one. A record is lent until the reader's next call; it is NULL, with the size
 * 0, at the end of the file. A damaged file is an error. A position is one of the writer's. */
MXL_API int MXRecordIOReaderCreate(const char *uri, RecordIOHandle *out);
MXL_API int MXRecordIOReaderFree(RecordIOHandle handle);
MXL_API int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char **buf, size_t *size);
MXL_API int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos);
MXL_API int MXRecordIOReaderTell(RecordIOHandle handle, size_t *pos);

/* ---- data iterators ---- */

/* Supported: MXNet's nine makers of iterators, in a lent array, with the texts of their parameters
 * (lent until this thread's next call of an Info function). */
MXL_API int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array);
MXL_API int MXDataIterGetIterInfo(DataIterCreator creator, const char **name,
                                  const char **description, uint32_t *num_args,
                                  const char ***arg_names, const char ***arg_type_infos,
                                  const char ***arg_descriptions);

/* Supported: making an iterator, which is before its first batch. Parameters that it does not have
 * are ignored. It is an error that says so for those that mxlite lacks (`mxlite help
 * compatibility`). */
MXL_API int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char **keys,
                                 const char **vals, DataIterHandle *out);
MXL_API int MXDataIterFree(DataIterHandle handle);

/* Supported. Goes to the next batch (*out is 1) or to the end (0); begins another epoch. */
MXL_API int MXDataIterNext(DataIterHandle handle, int *out);
MXL_API int MXDataIterBeforeFirst(DataIterHandle handle);

/* Supported. The batch that MXDataIterNext went to: its arrays (**new**; they stay as they are when
 * the iterator goes on), the numbers of its samples (lent until the next batch), and how many
 * samples at its end only fill it. An error if there is no batch. */
MXL_API int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out);
MXL_API int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out);
MXL_API int MXDataIterGetIndex(DataIterHandle handle, uint64_t **out_index, uint64_t *out_size);
MXL_API int MXDataIterGetPadNum(DataIterHandle handle, int *pad);

/* ---- functions from before operators ---- */

/* Supported: three of the four of 1.9.1 (_set_value, _onehot_encode, fill_element_0index), whose
 * handles are those of the operators of these names. */
MXL_API int MXListFunctions(uint32_t *out_size, FunctionHandle **out_array);

/* Supported. Finding one (*out is NULL if there is none of that name), describing and calling it:
 * it reads use_vars and scalar_args, and writes to mutate_vars. */
MXL_API int MXGetFunction(const char *name, FunctionHandle *out);
MXL_API int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description,
                          uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                          const char ***arg_descriptions,
                          const char **return_type MXL_DEFAULT(NULL));
MXL_API int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars,
                           uint32_t *num_mutate_vars, int *type_mask);
MXL_API int MXFuncInvoke(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                         NDArrayHandle *mutate_vars);
MXL_API int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                           NDArrayHandle *mutate_vars, int num_params, char **param_keys,
                           char **param_vals);

#ifdef __cplusplus
}
#endif

#endif
