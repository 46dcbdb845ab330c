/* MXEnginePush*: functions of the caller that run in the order of the engine. Every call of this
 * library is finished when it returns, so the function runs at once. */
#include "api/common.h"

#include "base/memory/mem.h"
#include "base/system/threads.h"

/* Where a function runs, as 1.9.1 lays it out: the device, then streams and events of GPUs. */
typedef struct context {
    int dev_type, dev_id;
} context;

typedef struct run_context {
    context device;
    void *streams[4];
} run_context;

/* What an asynchronous function calls when its work is done, as 1.9.1 lays it out: the first member
 * with the other two and an error, or NULL. The object may be copied. */
typedef struct completion {
    void (*call)(void *engine, void *param, const void *error);
    void *engine, *param;
} completion;

typedef struct waiting {
    mxl_mutex lock;
    mxl_cond changed;
    bool done, failed;
} waiting;

typedef struct push {
    const char *function;
    EngineAsyncFunc async_function; /* one of these two */
    EngineSyncFunc sync_function;
    void *param;
    EngineFuncParamDeleter deleter;
    const context *device;
} push;

static void complete(void *engine, void *param, const void *error)
{
    waiting *w = param;

    (void)engine;
    mxl_mutex_lock(&w->lock);
    w->done = true;
    w->failed = error != NULL;
    mxl_cond_signal(&w->changed);
    mxl_mutex_unlock(&w->lock);
}

/* Runs it and waits until it says that it is done, which another thread may. */
static int run_async(const push *p, run_context *where)
{
    waiting w = {MXL_MUTEX_INIT, MXL_COND_INIT, false, false};
    completion on_complete = {complete, &w, &w};

    p->async_function(where, &on_complete, p->param);
    mxl_mutex_lock(&w.lock);
    while (!w.done)
        mxl_cond_wait(&w.changed, &w.lock);
    mxl_mutex_unlock(&w.lock);
    mxl_cond_destroy(&w.changed);
    mxl_mutex_destroy(&w.lock);
    return w.failed ? mxl_error("%s: the function completed with an error", p->function) : 0;
}

static int run(const push *p)
{
    run_context where = {*p->device, {NULL}};
    int status = 0;

    if (p->async_function != NULL)
        status = run_async(p, &where);
    else
        p->sync_function(&where, p->param);
    if (p->deleter != NULL)
        p->deleter(p->param);
    return status;
}

static int check(const push *p, int count, int mutable_count)
{
    if (p->async_function == NULL && p->sync_function == NULL)
        return mxl_error("%s: the function is NULL", p->function);
    if (p->device == NULL)
        return api_null(p->function, "ctx_handle");
    if (count < 0 || mutable_count < 0)
        return mxl_error("%s: a negative number of variables or arrays", p->function);
    return api_check_device(p->function, p->device->dev_type);
}

/* Variables are objects of 1.9.1's engine, which has them for C++ alone. */
static int push_vars(push p, int count, int mutable_count)
{
    if (check(&p, count, mutable_count) != 0)
        return -1;
    if (count > 0 || mutable_count > 0)
        return mxl_error("%s: mxlite has no engine variables; name arrays with %sND", p.function,
                         p.function);
    return run(&p);
}

/* Arrays that the function writes must be writable and given once. */
static int check_mutable(const push *p, int all, int begin, mxl_array *const *arrays)
{
    for (int i = 0; i < all; i++) {
        if (arrays[i]->storage == NULL)
            return mxl_error("%s: array %d has no shape yet", p->function, i);
        if (i < begin)
            continue;
        if (mxl_array_check_writable(arrays[i]) != 0)
            return mxl_error_prefix(p->function);
        for (int k = 0; k < i; k++) {
            if (arrays[k] == arrays[i])
                return mxl_error("%s: an array that the function writes is given twice",
                                 p->function);
        }
    }
    return 0;
}

static int push_arrays(push p, NDArrayHandle *handles, int count, NDArrayHandle *mutable_handles,
                       int mutable_count)
{
    size_t room = (size_t)count + (size_t)mutable_count + 1;
    mxl_array **arrays;
    int status = -1;

    if (check(&p, count, mutable_count) != 0)
        return -1;
    if ((count > 0 && handles == NULL) || (mutable_count > 0 && mutable_handles == NULL))
        return mxl_error("%s: arrays are announced, but their list is NULL", p.function);
    arrays = mxl_alloc(room * sizeof(*arrays));
    if (arrays == NULL)
        return mxl_error_prefix(p.function);
    if (api_pin_many(p.function, "array", count, handles, arrays, false) != 0)
        goto done;
    if (api_pin_many(p.function, "mutable array", mutable_count, mutable_handles, arrays + count,
                     false) != 0) {
        api_unpin_many(count, handles);
        goto done;
    }
    status = check_mutable(&p, count + mutable_count, count, arrays);
    for (int i = 0; status == 0 && i < count + mutable_count; i++) {
        if (i < count)
            (void)mxl_array_read(arrays[i]);
        else
            (void)mxl_array_write(arrays[i]);
    }
    if (status == 0)
        status = run(&p);
    api_unpin_many(count, handles);
    api_unpin_many(mutable_count, mutable_handles);
done:
    mxl_free(arrays, room * sizeof(*arrays));
    return status;
}

int MXEnginePushAsync(EngineAsyncFunc async_func, void *func_param, EngineFuncParamDeleter deleter,
                      ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                      int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                      EngineFnPropertyHandle prop_handle, int priority, const char *opr_name,
                      bool wait)
{
    const push p = {__func__, async_func, NULL, func_param, deleter, ctx_handle};

    (void)const_vars_handle, (void)mutable_vars_handle;
    (void)prop_handle, (void)priority, (void)opr_name, (void)wait;
    return push_vars(p, num_const_vars, num_mutable_vars);
}

int MXEnginePushSync(EngineSyncFunc sync_func, void *func_param, EngineFuncParamDeleter deleter,
                     ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                     int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                     EngineFnPropertyHandle prop_handle, int priority, const char *opr_name)
{
    const push p = {__func__, NULL, sync_func, func_param, deleter, ctx_handle};

    (void)const_vars_handle, (void)mutable_vars_handle;
    (void)prop_handle, (void)priority, (void)opr_name;
    return push_vars(p, num_const_vars, num_mutable_vars);
}

int MXEnginePushAsyncND(EngineAsyncFunc async_func, void *func_param,
                        EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                        NDArrayHandle *const_nds_handle, int num_const_nds,
                        NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                        EngineFnPropertyHandle prop_handle, int priority, const char *opr_name,
                        bool wait)
{
    const push p = {__func__, async_func, NULL, func_param, deleter, ctx_handle};

    (void)prop_handle, (void)priority, (void)opr_name, (void)wait;
    return push_arrays(p, const_nds_handle, num_const_nds, mutable_nds_handle, num_mutable_nds);
}

int MXEnginePushSyncND(EngineSyncFunc sync_func, void *func_param, EngineFuncParamDeleter deleter,
                       ContextHandle ctx_handle, NDArrayHandle *const_nds_handle, int num_const_nds,
                       NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                       EngineFnPropertyHandle prop_handle, int priority, const char *opr_name)
{
    const push p = {__func__, NULL, sync_func, func_param, deleter, ctx_handle};

    (void)prop_handle, (void)priority, (void)opr_name;
    return push_arrays(p, const_nds_handle, num_const_nds, mutable_nds_handle, num_mutable_nds);
}
