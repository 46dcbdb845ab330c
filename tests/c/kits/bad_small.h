/* Calls of lists of arrays, of the engine, and of functions from before operators, for
 * test_api_bad.c, as in bad_calls.h, which includes what this file needs. */
#ifndef BAD_SMALL_H
#define BAD_SMALL_H

static const int cpu_context[] = {1, 0}, gpu_context[] = {2, 0};
static const float *p_float;

static void never_runs(void *run_context, void *param)
{
    (void)run_context, (void)param;
    abort();
}

static void never_runs_async(void *run_context, void *on_complete, void *param)
{
    (void)run_context, (void)on_complete, (void)param;
    abort();
}

static void never_deletes(void *param)
{
    (void)param;
    abort();
}

static int push_sync(void *context, void *reads, void *writes, bool runs)
{
    one[0] = reads;
    two[0] = writes;
    return MXEnginePushSyncND(runs ? never_runs : NULL, NULL, never_deletes, context, one, 1, two,
                              writes != NULL, NULL, 0, NULL);
}

static int push_async(void *context, void *reads, void *writes)
{
    one[0] = reads;
    two[0] = writes;
    return MXEnginePushAsyncND(never_runs_async, NULL, never_deletes, context, one, 1, two,
                               writes != NULL, NULL, 0, NULL, true);
}

/* Of the function that sets an array to a number. */
static FunctionHandle set_value(void)
{
    FunctionHandle function = NULL;

    CHECK_INT(MXGetFunction("_set_value", &function), 0);
    return function;
}

static int call_function(const void *function, void *output)
{
    one[0] = output;
    return MXFuncInvoke(function, NULL, buffer, output != NULL ? one : NULL);
}

static int call_function_ex(const void *function, void *output, int params)
{
    one[0] = output;
    return MXFuncInvokeEx(function, NULL, buffer, output != NULL ? one : NULL, params, NULL, NULL);
}

#define SMALL_PLACES(X)                                                                            \
    X(MXGenAtomicSymbolFromSymbol, SYMBOL, false, MXGenAtomicSymbolFromSymbol(h, &out))            \
    X(MXAutogradGetSymbol, ARRAY, false, MXAutogradGetSymbol(h, &out))                             \
    X(MXNDListGet, LIST, false, MXNDListGet(h, 0, &text_a, &p_float, &p_u32, &u32))                \
    X(MXNDListFree, LIST, true, MXNDListFree(h))                                                   \
    X(MXNDArrayGetDataNDArray, ARRAY, false, MXNDArrayGetDataNDArray(h, &out))                     \
    X(MXNDArrayGetAuxNDArray, ARRAY, false, MXNDArrayGetAuxNDArray(h, 0, &out))                    \
    X(MXNDArrayGetAuxNDArray64, ARRAY, false, MXNDArrayGetAuxNDArray64(h, 0, &out))                \
    X(MXNDArrayGetAuxType, ARRAY, false, MXNDArrayGetAuxType(h, 0, &int_a))                        \
    X(MXNDArrayGetAuxType64, ARRAY, false, MXNDArrayGetAuxType64(h, 0, &int_a))                    \
    X(MXEnginePushSyncND, ARRAY, false, push_sync((void *)(size_t)cpu_context, h, NULL, true))     \
    X(MXEnginePushSyncND, ARRAY, true,                                                             \
      h == NULL ? 0 : push_sync((void *)(size_t)cpu_context, good, h, true))                       \
    X(MXEnginePushAsyncND, ARRAY, false, push_async((void *)(size_t)cpu_context, h, NULL))         \
    X(MXEnginePushAsyncND, ARRAY, true,                                                            \
      h == NULL ? 0 : push_async((void *)(size_t)cpu_context, good, h))                            \
    X(MXFuncInvoke, ARRAY, false, call_function(set_value(), h))                                   \
    X(MXFuncInvokeEx, ARRAY, false, call_function_ex(set_value(), h, 0))                           \
    X(MXFuncInvoke, OP, false, call_function(h, good))                                             \
    X(MXFuncInvokeEx, OP, false, call_function_ex(h, good, 0))                                     \
    X(MXFuncDescribe, OP, false, MXFuncDescribe(h, &u32, &u32_b, &u32, &int_a))                    \
    X(MXFuncGetInfo, OP, false,                                                                    \
      MXFuncGetInfo(h, &text_a, &text_b, &u32, &list_a, &list_b, &list_c, NULL))

#define SMALL_ARGUMENTS(X)                                                                         \
    X(MXGenAtomicSymbolFromSymbol, MXGenAtomicSymbolFromSymbol(good_symbol, NULL))                 \
    X(MXAutogradGetSymbol, MXAutogradGetSymbol(good, &out))                                        \
    X(MXAutogradGetSymbol, MXAutogradGetSymbol(variable, NULL))                                    \
    X(MXNDListCreate, MXNDListCreate(NULL, 16, &out, &u32))                                        \
    X(MXNDListCreate, MXNDListCreate(no_list_at_all, 16, &out, &u32))                              \
    X(MXNDListCreate, MXNDListCreate(no_list_at_all, -1, &out, &u32))                              \
    X(MXNDListCreate, MXNDListCreate(no_list_at_all, 16, NULL, &u32))                              \
    X(MXNDListCreate, MXNDListCreate(no_list_at_all, 16, &out, NULL))                              \
    X(MXNDArrayGetDataNDArray, MXNDArrayGetDataNDArray(good, NULL))                                \
    X(MXNDArrayGetAuxNDArray, MXNDArrayGetAuxNDArray(good, 0, NULL))                               \
    X(MXNDArrayGetAuxNDArray, MXNDArrayGetAuxNDArray(good, 0, &out))                               \
    X(MXNDArrayGetAuxNDArray64, MXNDArrayGetAuxNDArray64(good, 0, NULL))                           \
    X(MXNDArrayGetAuxType, MXNDArrayGetAuxType(good, 0, NULL))                                     \
    X(MXNDArrayGetAuxType, MXNDArrayGetAuxType(good, 1, &int_a))                                   \
    X(MXNDArrayGetAuxType64, MXNDArrayGetAuxType64(good, 0, NULL))                                 \
    X(MXNDArrayCreateSparseEx,                                                                     \
      MXNDArrayCreateSparseEx(2, shape_u32, 2, 1, 0, 0, 0, 1, &int_a, &u32, &u32, &out))           \
    X(MXNDArrayCreateSparseEx,                                                                     \
      MXNDArrayCreateSparseEx(1, NULL, 2, 1, 0, 0, 0, 0, NULL, NULL, NULL, &out))                  \
    X(MXNDArrayCreateSparseEx64,                                                                   \
      MXNDArrayCreateSparseEx64(3, shape_i64, 2, 1, 0, 0, 0, 0, NULL, NULL, NULL, &out))           \
    X(MXNDArrayCreateSparseEx64,                                                                   \
      MXNDArrayCreateSparseEx64(1, shape_i64, 2, 1, 0, 0, 0, 0, NULL, NULL, NULL, NULL))           \
    X(MXListFunctions, MXListFunctions(NULL, (FunctionHandle **)(void *)&handles))                 \
    X(MXListFunctions, MXListFunctions(&u32, NULL))                                                \
    X(MXGetFunction, MXGetFunction(NULL, (FunctionHandle *)(void *)&p_data))                       \
    X(MXGetFunction, MXGetFunction("_set_value", NULL))                                            \
    X(MXFuncDescribe, MXFuncDescribe(exp_op, &u32, &u32_b, &u32, &int_a))                          \
    X(MXFuncDescribe, MXFuncDescribe(set_value(), NULL, &u32_b, &u32, &int_a))                     \
    X(MXFuncDescribe, MXFuncDescribe(set_value(), &u32, NULL, &u32, &int_a))                       \
    X(MXFuncDescribe, MXFuncDescribe(set_value(), &u32, &u32_b, NULL, &int_a))                     \
    X(MXFuncDescribe, MXFuncDescribe(set_value(), &u32, &u32_b, &u32, NULL))                       \
    X(MXFuncGetInfo,                                                                               \
      MXFuncGetInfo(exp_op, &text_a, &text_b, &u32, &list_a, &list_b, &list_c, NULL))              \
    X(MXFuncGetInfo,                                                                               \
      MXFuncGetInfo(set_value(), NULL, &text_b, &u32, &list_a, &list_b, &list_c, NULL))            \
    X(MXFuncInvoke, call_function(exp_op, good))                                                   \
    X(MXFuncInvoke, MXFuncInvoke(set_value(), NULL, NULL, (one[0] = good, one)))                   \
    X(MXFuncInvokeEx, call_function_ex(set_value(), good, 1))                                      \
    X(MXEnginePushSyncND, push_sync(NULL, good, NULL, true))                                       \
    X(MXEnginePushSyncND, push_sync((void *)(size_t)gpu_context, good, NULL, true))                \
    X(MXEnginePushSyncND, push_sync((void *)(size_t)cpu_context, good, NULL, false))               \
    X(MXEnginePushSyncND, push_sync((void *)(size_t)cpu_context, good, good, true))                \
    X(MXEnginePushSyncND,                                                                          \
      MXEnginePushSyncND(never_runs, NULL, NULL, cpu_context, NULL, 1, NULL, 0, NULL, 0, NULL))    \
    X(MXEnginePushSyncND,                                                                          \
      MXEnginePushSyncND(never_runs, NULL, NULL, cpu_context, NULL, 0, NULL, -1, NULL, 0, NULL))   \
    X(MXEnginePushAsyncND, push_async(NULL, good, NULL))                                           \
    X(MXEnginePushSync, MXEnginePushSync(never_runs, NULL, never_deletes, cpu_context, one, 1,     \
                                         NULL, 0, NULL, 0, NULL))                                  \
    X(MXEnginePushSync,                                                                            \
      MXEnginePushSync(NULL, NULL, NULL, cpu_context, NULL, 0, NULL, 0, NULL, 0, NULL))            \
    X(MXEnginePushAsync, MXEnginePushAsync(never_runs_async, NULL, never_deletes, cpu_context,     \
                                           NULL, 0, one, 1, NULL, 0, NULL, false))                 \
    X(MXEnginePushAsync,                                                                           \
      MXEnginePushAsync(NULL, NULL, NULL, cpu_context, NULL, 0, NULL, 0, NULL, 0, NULL, false))

#endif
