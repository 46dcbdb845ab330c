/* Files, sparse arrays, foreign memory, records, data iterators: names that bindings expect and
 * that return -1 yet. Declared in mxlite/c_api_data.h. */
#include "mxlite/c_api.h"

#include "api/unsupported.h"

int MXNDArrayCreateSparseEx(int storage_type, const uint32_t *shape, uint32_t ndim, int dev_type,
                            int dev_id, int delay_alloc, int dtype, uint32_t num_aux, int *aux_type,
                            uint32_t *aux_ndims, const uint32_t *aux_shape, NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXNDArrayCreateSparseEx64(int storage_type, const int64_t *shape, int ndim, int dev_type,
                              int dev_id, int delay_alloc, int dtype, uint32_t num_aux,
                              int *aux_type, int *aux_ndims, const int64_t *aux_shape,
                              NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int *out_type)
{
    MXL_NOT_YET;
}

int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int *out_type)
{
    MXL_NOT_YET;
}

int MXRecordIOWriterCreate(const char *uri, RecordIOHandle *out)
{
    MXL_NOT_YET;
}

int MXRecordIOWriterFree(RecordIOHandle handle)
{
    MXL_NOT_YET;
}

int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char *buf, size_t size)
{
    MXL_NOT_YET;
}

int MXRecordIOWriterTell(RecordIOHandle handle, size_t *pos)
{
    MXL_NOT_YET;
}

int MXRecordIOReaderCreate(const char *uri, RecordIOHandle *out)
{
    MXL_NOT_YET;
}

int MXRecordIOReaderFree(RecordIOHandle handle)
{
    MXL_NOT_YET;
}

int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char **buf, size_t *size)
{
    MXL_NOT_YET;
}

int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos)
{
    MXL_NOT_YET;
}

int MXRecordIOReaderTell(RecordIOHandle handle, size_t *pos)
{
    MXL_NOT_YET;
}

int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char **keys,
                         const char **vals, DataIterHandle *out)
{
    MXL_NOT_YET;
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char **name, const char **description,
                          uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                          const char ***arg_descriptions)
{
    MXL_NOT_YET;
}

int MXDataIterFree(DataIterHandle handle)
{
    MXL_NOT_YET;
}

int MXDataIterNext(DataIterHandle handle, int *out)
{
    MXL_NOT_YET;
}

int MXDataIterBeforeFirst(DataIterHandle handle)
{
    MXL_NOT_YET;
}

int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXDataIterGetIndex(DataIterHandle handle, uint64_t **out_index, uint64_t *out_size)
{
    MXL_NOT_YET;
}

int MXDataIterGetPadNum(DataIterHandle handle, int *pad)
{
    MXL_NOT_YET;
}

int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out)
{
    MXL_NOT_YET;
}

int MXGetFunction(const char *name, FunctionHandle *out)
{
    MXL_NOT_YET;
}

int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description,
                  uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                  const char ***arg_descriptions, const char **return_type)
{
    MXL_NOT_YET;
}

int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars,
                   uint32_t *num_mutate_vars, int *type_mask)
{
    MXL_NOT_YET;
}

int MXFuncInvoke(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                 NDArrayHandle *mutate_vars)
{
    MXL_NOT_YET;
}

int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                   NDArrayHandle *mutate_vars, int num_params, char **param_keys, char **param_vals)
{
    MXL_NOT_YET;
}
