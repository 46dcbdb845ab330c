/* The prediction-only interface: names that bindings expect and that return -1 yet. Declared in
 * mxlite/c_api_predict.h. */
#include "mxlite/c_api.h"

#include "api/unsupported.h"

int MXPredCreate(const char *symbol_json_str, const void *param_bytes, int param_size, int dev_type,
                 int dev_id, uint32_t num_input_nodes, const char **input_keys,
                 const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                 PredictorHandle *out)
{
    MXL_NOT_YET;
}

int MXPredCreateEx(const char *symbol_json_str, const void *param_bytes, int param_size,
                   int dev_type, int dev_id, uint32_t num_input_nodes, const char **input_keys,
                   const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                   uint32_t num_provided_arg_dtypes, const char **provided_arg_dtype_names,
                   const int *provided_arg_dtypes, PredictorHandle *out)
{
    MXL_NOT_YET;
}

int MXPredCreatePartialOut(const char *symbol_json_str, const void *param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char **input_keys, const uint32_t *input_shape_indptr,
                           const uint32_t *input_shape_data, uint32_t num_output_nodes,
                           const char **output_keys, PredictorHandle *out)
{
    MXL_NOT_YET;
}

int MXPredCreateMultiThread(const char *symbol_json_str, const void *param_bytes, int param_size,
                            int dev_type, int dev_id, uint32_t num_input_nodes,
                            const char **input_keys, const uint32_t *input_shape_indptr,
                            const uint32_t *input_shape_data, int num_threads, PredictorHandle *out)
{
    MXL_NOT_YET;
}

int MXPredReshape(uint32_t num_input_nodes, const char **input_keys,
                  const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                  PredictorHandle handle, PredictorHandle *out)
{
    MXL_NOT_YET;
}

int MXPredSetInput(PredictorHandle handle, const char *key, const float *data, uint32_t size)
{
    MXL_NOT_YET;
}

int MXPredForward(PredictorHandle handle)
{
    MXL_NOT_YET;
}

int MXPredPartialForward(PredictorHandle handle, int step, int *step_left)
{
    MXL_NOT_YET;
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t **shape_data,
                         uint32_t *shape_ndim)
{
    MXL_NOT_YET;
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int *out_dtype)
{
    MXL_NOT_YET;
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float *data, uint32_t size)
{
    MXL_NOT_YET;
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                             void *callback_handle, bool monitor_all)
{
    MXL_NOT_YET;
}

int MXPredFree(PredictorHandle handle)
{
    MXL_NOT_YET;
}

int MXNDListCreate(const char *nd_file_bytes, int nd_file_size, NDListHandle *out,
                   uint32_t *out_length)
{
    MXL_NOT_YET;
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char **out_key, const float **out_data,
                const uint32_t **out_shape, uint32_t *out_ndim)
{
    MXL_NOT_YET;
}

int MXNDListFree(NDListHandle handle)
{
    MXL_NOT_YET;
}
