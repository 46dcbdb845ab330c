/* Profiler, engine, libraries, GPU code, packed functions: names that bindings expect and that
 * return -1 yet. Declared in mxlite/c_api_process.h. */
#include "mxlite/c_api.h"

#include "api/unsupported.h"

int MXLoadLib(const char *path, unsigned verbose)
{
    MXL_NOT_YET;
}

int MXTVMBridge(void *pregister)
{
    MXL_NOT_YET;
}

int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator)
{
    MXL_NOT_YET;
}

int MXGetGPUMemoryInformation(int dev, int *free_mem, int *total_mem)
{
    MXL_NOT_YET;
}

int MXGetGPUMemoryInformation64(int dev, uint64_t *free_mem, uint64_t *total_mem)
{
    MXL_NOT_YET;
}

int MXRtcCreate(char *name, uint32_t num_input, uint32_t num_output, char **input_names,
                char **output_names, NDArrayHandle *inputs, NDArrayHandle *outputs, char *kernel,
                RtcHandle *out)
{
    MXL_NOT_YET;
}

int MXRtcPush(RtcHandle handle, uint32_t num_input, uint32_t num_output, NDArrayHandle *inputs,
              NDArrayHandle *outputs, uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
              uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z)
{
    MXL_NOT_YET;
}

int MXRtcFree(RtcHandle handle)
{
    MXL_NOT_YET;
}

int MXRtcCudaModuleCreate(const char *source, int num_options, const char **options,
                          int num_exports, const char **exports, CudaModuleHandle *out)
{
    MXL_NOT_YET;
}

int MXRtcCudaModuleFree(CudaModuleHandle handle)
{
    MXL_NOT_YET;
}

int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char *name, int num_args, int *is_ndarray,
                          int *is_const, int *arg_types, CudaKernelHandle *out)
{
    MXL_NOT_YET;
}

int MXRtcCudaKernelFree(CudaKernelHandle handle)
{
    MXL_NOT_YET;
}

int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void **args, uint32_t grid_dim_x,
                        uint32_t grid_dim_y, uint32_t grid_dim_z, uint32_t block_dim_x,
                        uint32_t block_dim_y, uint32_t block_dim_z, uint32_t shared_mem)
{
    MXL_NOT_YET;
}

int MXEnginePushAsync(EngineAsyncFunc async_func, void *func_param, EngineFuncParamDeleter deleter,
                      ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                      int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                      EngineFnPropertyHandle prop_handle, int priority, const char *opr_name,
                      bool wait)
{
    MXL_NOT_YET;
}

int MXEnginePushSync(EngineSyncFunc sync_func, void *func_param, EngineFuncParamDeleter deleter,
                     ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                     int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                     EngineFnPropertyHandle prop_handle, int priority, const char *opr_name)
{
    MXL_NOT_YET;
}

int MXEnginePushAsyncND(EngineAsyncFunc async_func, void *func_param,
                        EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                        NDArrayHandle *const_nds_handle, int num_const_nds,
                        NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                        EngineFnPropertyHandle prop_handle, int priority, const char *opr_name,
                        bool wait)
{
    MXL_NOT_YET;
}

int MXEnginePushSyncND(EngineSyncFunc sync_func, void *func_param, EngineFuncParamDeleter deleter,
                       ContextHandle ctx_handle, NDArrayHandle *const_nds_handle, int num_const_nds,
                       NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                       EngineFnPropertyHandle prop_handle, int priority, const char *opr_name)
{
    MXL_NOT_YET;
}

int MXSetProfilerConfig(int num_params, const char *const *keys, const char *const *vals)
{
    MXL_NOT_YET;
}

int MXSetProcessProfilerConfig(int num_params, const char *const *keys, const char *const *vals,
                               KVStoreHandle kvstore_handle)
{
    MXL_NOT_YET;
}

int MXSetProfilerState(int state)
{
    MXL_NOT_YET;
}

int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvstore_handle)
{
    MXL_NOT_YET;
}

int MXProfilePause(int paused)
{
    MXL_NOT_YET;
}

int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvstore_handle)
{
    MXL_NOT_YET;
}

int MXDumpProfile(int finished)
{
    MXL_NOT_YET;
}

int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvstore_handle)
{
    MXL_NOT_YET;
}

int MXAggregateProfileStatsPrint(const char **out_str, int reset)
{
    MXL_NOT_YET;
}

int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format, int sort_by,
                                   int ascending)
{
    MXL_NOT_YET;
}

int MXProfileCreateDomain(const char *domain, ProfileHandle *out)
{
    MXL_NOT_YET;
}

int MXProfileCreateTask(ProfileHandle domain, const char *task_name, ProfileHandle *out)
{
    MXL_NOT_YET;
}

int MXProfileCreateFrame(ProfileHandle domain, const char *frame_name, ProfileHandle *out)
{
    MXL_NOT_YET;
}

int MXProfileCreateEvent(const char *event_name, ProfileHandle *out)
{
    MXL_NOT_YET;
}

int MXProfileCreateCounter(ProfileHandle domain, const char *counter_name, ProfileHandle *out)
{
    MXL_NOT_YET;
}

int MXProfileDestroyHandle(ProfileHandle frame_handle)
{
    MXL_NOT_YET;
}

int MXProfileDurationStart(ProfileHandle duration_handle)
{
    MXL_NOT_YET;
}

int MXProfileDurationStop(ProfileHandle duration_handle)
{
    MXL_NOT_YET;
}

int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value)
{
    MXL_NOT_YET;
}

int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value)
{
    MXL_NOT_YET;
}

int MXProfileSetMarker(ProfileHandle domain, const char *instant_marker_name, const char *scope)
{
    MXL_NOT_YET;
}

int MXNetFuncGetGlobal(const char *name, MXNetFunctionHandle *out)
{
    MXL_NOT_YET;
}

int MXNetFuncCall(MXNetFunctionHandle func, MXNetValue *arg_values, int *type_codes, int num_args,
                  MXNetValue *ret_val, int *ret_type_code)
{
    MXL_NOT_YET;
}

int MXNetFuncFree(MXNetFunctionHandle func)
{
    MXL_NOT_YET;
}

int MXNetObjectFree(MXNetObjectHandle obj)
{
    MXL_NOT_YET;
}
