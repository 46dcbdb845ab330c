/* MXNet's prediction-only interface (its c_predict_api.h): a saved model as functions of arrays of
 * numbers. Functions without "Supported" in their comment return -1 with an error so far. Include
 * mxlite/c_api.h. */
#ifndef MXLITE_C_API_PREDICT_H
#define MXLITE_C_API_PREDICT_H

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- predictors ---- */

/* Supported. **New**, from a symbol's JSON and the bytes of a .params file (NULL: none):
 * sizes of input i are input_shape_data[input_shape_indptr[i]] up to input_shape_indptr[i + 1].
 * Arrays of the file that the symbol does not have are ignored; what neither has is zero. Ex: with
 * dtypes of inputs. PartialOut: with the outputs of the nodes of those names in place of the
 * symbol's. MultiThread: num_threads of them in *out, which share the parameters and have inputs of
 * their own; each is for one thread at a time. */
MXL_API int MXPredCreate(const char *symbol_json_str, const void *param_bytes, int param_size,
                         int dev_type, int dev_id, uint32_t num_input_nodes,
                         const char **input_keys, const uint32_t *input_shape_indptr,
                         const uint32_t *input_shape_data, PredictorHandle *out);
MXL_API int MXPredCreateEx(const char *symbol_json_str, const void *param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char **input_keys, const uint32_t *input_shape_indptr,
                           const uint32_t *input_shape_data, uint32_t num_provided_arg_dtypes,
                           const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
                           PredictorHandle *out);
MXL_API int MXPredCreatePartialOut(const char *symbol_json_str, const void *param_bytes,
                                   int param_size, int dev_type, int dev_id,
                                   uint32_t num_input_nodes, const char **input_keys,
                                   const uint32_t *input_shape_indptr,
                                   const uint32_t *input_shape_data, uint32_t num_output_nodes,
                                   const char **output_keys, PredictorHandle *out);
MXL_API int MXPredCreateMultiThread(const char *symbol_json_str, const void *param_bytes,
                                    int param_size, int dev_type, int dev_id,
                                    uint32_t num_input_nodes, const char **input_keys,
                                    const uint32_t *input_shape_indptr,
                                    const uint32_t *input_shape_data, int num_threads,
                                    PredictorHandle *out);

/* Supported. **New**: another one with other input shapes, which shares the parameters. */
MXL_API int MXPredReshape(uint32_t num_input_nodes, const char **input_keys,
                          const uint32_t *input_shape_indptr, const uint32_t *input_shape_data,
                          PredictorHandle handle, PredictorHandle *out);

/* Supported. Running it: `size` numbers, as many as the input has, in its dtype. PartialForward
 * runs nothing before the last step, where *step_left is 0, and all of it there. */
MXL_API int MXPredSetInput(PredictorHandle handle, const char *key, const float *data,
                           uint32_t size);
MXL_API int MXPredForward(PredictorHandle handle);
MXL_API int MXPredPartialForward(PredictorHandle handle, int step, int *step_left);

/* Supported. Results: a lent shape; numbers in the output's dtype, as many as it has. */
MXL_API int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t **shape_data,
                                 uint32_t *shape_ndim);
MXL_API int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int *out_dtype);
MXL_API int MXPredGetOutput(PredictorHandle handle, uint32_t index, float *data, uint32_t size);

/* Supported. Sets a callback that is called with every array computed inside, as an executor's. */
MXL_API int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                                     void *callback_handle, bool monitor_all);

/* Supported; NULL is legal. */
MXL_API int MXPredFree(PredictorHandle handle);

/* ---- lists of arrays ---- */

/* Supported. The arrays of a .params file in memory: a **new** list; of array i the name ("" where
 * the file has none), the address of its numbers, of whatever dtype, and the shape, which live as
 * long as the list. */
MXL_API int MXNDListCreate(const char *nd_file_bytes, int nd_file_size, NDListHandle *out,
                           uint32_t *out_length);
MXL_API int MXNDListGet(NDListHandle handle, uint32_t index, const char **out_key,
                        const float **out_data, const uint32_t **out_shape, uint32_t *out_ndim);
MXL_API int MXNDListFree(NDListHandle handle);

#ifdef __cplusplus
}
#endif

#endif
