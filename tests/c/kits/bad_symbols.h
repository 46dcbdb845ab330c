/* Calls of symbols, cached operators, executors and data iterators for test_api_bad.c, as in
 * bad_calls.h, which includes what this file needs. */
#ifndef BAD_SYMBOLS_H
#define BAD_SYMBOLS_H

static SymbolHandle good_symbol; /* exp of the variable a */
static CachedOpHandle good_cached;
static ExecutorHandle good_executor;

static PredictorHandle good_predictor;
static const char predict_json[] =
    "{\"nodes\": [{\"op\": \"null\", \"name\": \"a\", \"inputs\": []}, "
    "{\"op\": \"exp\", \"name\": \"e\", \"inputs\": [[0, 0, 0]]}], \"heads\": [[1, 0, 0]]}";
static const uint32_t places_u32[] = {0, 2};
static const int bad_dtype[] = {77};
static uint32_t *predict_shape;

static void set_up_symbols(void)
{
    SymbolHandle a;

    CHECK_INT(MXSymbolCreateVariable("a", &a), 0);
    CHECK_INT(MXSymbolCreateAtomicSymbol(exp_op, 0, NULL, NULL, &good_symbol), 0);
    one[0] = a;
    CHECK_INT(MXSymbolCompose(good_symbol, "e", 1, NULL, one), 0);
    CHECK_INT(MXSymbolFree(a), 0);
    CHECK_INT(MXCreateCachedOp(good_symbol, &good_cached), 0);
    one[0] = good;
    CHECK_INT(MXExecutorBind(good_symbol, 1, 0, 1, one, NULL, NULL, 0, NULL, &good_executor), 0);
    CHECK_INT(MXPredCreate(predict_json, NULL, 0, 1, 0, 1, name_a, places_u32, shape_u32,
                           &good_predictor),
              0);
}

static void tear_down_symbols(void)
{
    CHECK_INT(MXPredFree(good_predictor), 0);
    CHECK_INT(MXSymbolFree(good_symbol), 0);
    CHECK_INT(MXFreeCachedOp(good_cached), 0);
    CHECK_INT(MXExecutorFree(good_executor), 0);
}

/* The forms of inference and binding, each for one shape. */
#define SIZED(form, item, index_type, count_type, ndim_type, sizes)                                \
    typedef int (*form##_infer)(SymbolHandle, uint32_t, const char **, const index_type *,         \
                                const item *, count_type *, const ndim_type **, const item ***,    \
                                count_type *, const ndim_type **, const item ***, count_type *,    \
                                const ndim_type **, const item ***, int *);                        \
    static int infer_##form(form##_infer infer, void *symbol, const char **keys, int *complete)    \
    {                                                                                              \
        static const index_type index[] = {0, 2};                                                  \
        const ndim_type *ndims[3];                                                                 \
        const item **data[3];                                                                      \
        count_type counts[3];                                                                      \
                                                                                                   \
        return infer(symbol, 1, keys, index, sizes, &counts[0], &ndims[0], &data[0], &counts[1],   \
                     &ndims[1], &data[1], &counts[2], &ndims[2], &data[2], complete);              \
    }

SIZED(u32, uint32_t, uint32_t, uint32_t, uint32_t, shape_u32)
SIZED(i32, int, uint32_t, uint32_t, int, shape_int)
SIZED(i64, int64_t, int64_t, size_t, int, shape_i64)

static int infer_type(int (*infer)(SymbolHandle, uint32_t, const char **, const int *, uint32_t *,
                                   const int **, uint32_t *, const int **, uint32_t *, const int **,
                                   int *),
                      void *symbol, const char **keys, int dtype)
{
    const int *dtypes[3];
    uint32_t counts[3];

    return infer(symbol, 1, keys, &dtype, &counts[0], &dtypes[0], &counts[1], &dtypes[1],
                 &counts[2], &dtypes[2], &int_b);
}

static int bind_one(void *symbol, void *arg, void *grad)
{
    one[0] = arg;
    two[0] = grad;
    return MXExecutorBind(symbol, 1, 0, 1, one, two, write_req, 0, NULL, &out);
}

static const uint32_t shape_places[] = {0, 2};

#define SIMPLE(form, bind, sizes)                                                                  \
    static int simple_##form(void *symbol, const char **keys, const char *req, void *shared)       \
    {                                                                                              \
        NDArrayHandle *arrays[3];                                                                  \
                                                                                                   \
        return bind(symbol, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, 1, keys, sizes,              \
                    shape_places, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,   \
                    NULL, &u32, &arrays[0], &arrays[1], &u32_b, &arrays[2], shared, &out);         \
    }

SIMPLE(u32, MXExecutorSimpleBind, shape_u32)
SIMPLE(i32, MXExecutorSimpleBindEx, shape_int)
SIMPLE(i64, MXExecutorSimpleBindEx64, shape_i64)

#define RESHAPE(form, reshape, sizes)                                                              \
    static int reshape_##form(void *executor, const char **keys)                                   \
    {                                                                                              \
        NDArrayHandle *arrays[3];                                                                  \
                                                                                                   \
        return reshape(0, 0, 1, 0, 0, NULL, NULL, NULL, 1, keys, sizes, shape_places, &u32,        \
                       &arrays[0], &arrays[1], &u32_b, &arrays[2], executor, &out);                \
    }

RESHAPE(u32, MXExecutorReshape, shape_u32)
RESHAPE(i32, MXExecutorReshapeEx, shape_int)

#define SYMBOL_PLACES(X)                                                                           \
    X(MXPredFree, PREDICTOR, true, MXPredFree(h))                                                  \
    X(MXPredForward, PREDICTOR, false, MXPredForward(h))                                           \
    X(MXPredPartialForward, PREDICTOR, false, MXPredPartialForward(h, 0, &int_a))                  \
    X(MXPredSetInput, PREDICTOR, false, MXPredSetInput(h, "a", buffer, 6))                         \
    X(MXPredGetOutputShape, PREDICTOR, false, MXPredGetOutputShape(h, 0, &predict_shape, &u32))    \
    X(MXPredGetOutputType, PREDICTOR, false, MXPredGetOutputType(h, 0, &int_a))                    \
    X(MXPredGetOutput, PREDICTOR, false, MXPredGetOutput(h, 0, buffer, 6))                         \
    X(MXPredSetMonitorCallback, PREDICTOR, false, MXPredSetMonitorCallback(h, NULL, NULL, false))  \
    X(MXPredReshape, PREDICTOR, false, MXPredReshape(1, name_a, places_u32, shape_u32, h, &out))   \
    X(MXSymbolCreateAtomicSymbol, OP, false, MXSymbolCreateAtomicSymbol(h, 0, NULL, NULL, &out))   \
    X(MXSymbolCreateGroup, SYMBOL, false, (one[0] = h, MXSymbolCreateGroup(1, one, &out)))         \
    X(MXSymbolCopy, SYMBOL, false, MXSymbolCopy(h, &out))                                          \
    X(MXSymbolFree, SYMBOL, true, MXSymbolFree(h))                                                 \
    X(MXSymbolCompose, SYMBOL, false, MXSymbolCompose(h, "c", 0, NULL, NULL))                      \
    X(MXSymbolCompose, SYMBOL, false,                                                              \
      (one[0] = h, MXSymbolCompose(good_symbol, "c", 1, name_a, one)))                             \
    X(MXSymbolPrint, SYMBOL, false, MXSymbolPrint(h, &text_a))                                     \
    X(MXSymbolGetAttr, SYMBOL, false, MXSymbolGetAttr(h, "k", &text_a, &int_a))                    \
    X(MXSymbolGetNumOutputs, SYMBOL, false, MXSymbolGetNumOutputs(h, &u32))                        \
    X(MXSymbolGetInternals, SYMBOL, false, MXSymbolGetInternals(h, &out))                          \
    X(MXSymbolGetChildren, SYMBOL, false, MXSymbolGetChildren(h, &out))                            \
    X(MXSymbolGetOutput, SYMBOL, false, MXSymbolGetOutput(h, 0, &out))                             \
    X(NNSymbolCreateAtomicSymbol, OP, false, NNSymbolCreateAtomicSymbol(h, 0, NULL, NULL, &out))   \
    X(NNSymbolCreateGroup, SYMBOL, false, (one[0] = h, NNSymbolCreateGroup(1, one, &out)))         \
    X(NNSymbolCopy, SYMBOL, false, NNSymbolCopy(h, &out))                                          \
    X(NNSymbolFree, SYMBOL, true, NNSymbolFree(h))                                                 \
    X(NNSymbolCompose, SYMBOL, false, NNSymbolCompose(h, "c", 0, NULL, NULL))                      \
    X(NNSymbolCompose, SYMBOL, false,                                                              \
      (one[0] = h, NNSymbolCompose(good_symbol, "c", 1, name_a, one)))                             \
    X(NNSymbolPrint, SYMBOL, false, NNSymbolPrint(h, &text_a))                                     \
    X(NNSymbolGetAttr, SYMBOL, false, NNSymbolGetAttr(h, "k", &text_a, &int_a))                    \
    X(NNSymbolGetNumOutputs, SYMBOL, false, NNSymbolGetNumOutputs(h, &u32))                        \
    X(NNSymbolGetInternals, SYMBOL, false, NNSymbolGetInternals(h, &out))                          \
    X(NNSymbolGetChildren, SYMBOL, false, NNSymbolGetChildren(h, &out))                            \
    X(NNSymbolGetOutput, SYMBOL, false, NNSymbolGetOutput(h, 0, &out))                             \
    X(MXShallowCopySymbol, SYMBOL, false, MXShallowCopySymbol(h, &out))                            \
    X(MXQuantizeSymbol, SYMBOL, false,                                                             \
      MXQuantizeSymbol(h, &out, NULL, 0, NULL, 0, NULL, 0, NULL, "int8", false, "full",            \
                       "tensor-wise", NULL, NULL))                                                 \
    X(MXSetCalibTableToQuantizedSymbol, SYMBOL, false,                                             \
      MXSetCalibTableToQuantizedSymbol(h, 0, NULL, NULL, NULL, &out))                              \
    X(MXSymbolRemoveAmpCast, SYMBOL, false, MXSymbolRemoveAmpCast(h, &out))                        \
    X(MXReducePrecisionSymbol, SYMBOL, false,                                                      \
      MXReducePrecisionSymbol(h, &out, 0, NULL, 0, NULL, &bfloat16, 0, 0, 0, 0, 0, 0, 0, NULL,     \
                              NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))                     \
    X(NNSymbolSetAttrs, SYMBOL, false, NNSymbolSetAttrs(h, 1, axis_key, axis_value))               \
    X(NNSymbolListAttrs, SYMBOL, false, NNSymbolListAttrs(h, 0, &u32, &list_a))                    \
    X(NNSymbolListInputNames, SYMBOL, false, NNSymbolListInputNames(h, 0, &u32, &list_a))          \
    X(NNSymbolListInputVariables, SYMBOL, false, NNSymbolListInputVariables(h, 0, &u32, &handles)) \
    X(NNSymbolListOutputNames, SYMBOL, false, NNSymbolListOutputNames(h, &u32, &list_a))           \
    X(MXSymbolSaveToFile, SYMBOL, false, MXSymbolSaveToFile(h, "/dev/null"))                       \
    X(MXSymbolSaveToJSON, SYMBOL, false, MXSymbolSaveToJSON(h, &text_a))                           \
    X(MXSymbolGetName, SYMBOL, false, MXSymbolGetName(h, &text_a, &int_a))                         \
    X(MXSymbolSetAttr, SYMBOL, false, MXSymbolSetAttr(h, "__k__", "v"))                            \
    X(MXSymbolListAttr, SYMBOL, false, MXSymbolListAttr(h, &u32, &list_a))                         \
    X(MXSymbolListAttrShallow, SYMBOL, false, MXSymbolListAttrShallow(h, &u32, &list_a))           \
    X(MXSymbolListArguments, SYMBOL, false, MXSymbolListArguments(h, &u32, &list_a))               \
    X(MXSymbolListOutputs, SYMBOL, false, MXSymbolListOutputs(h, &u32, &list_a))                   \
    X(MXSymbolListAuxiliaryStates, SYMBOL, false, MXSymbolListAuxiliaryStates(h, &u32, &list_a))   \
    X(MXSymbolGetInputSymbols, SYMBOL, false, MXSymbolGetInputSymbols(h, &handles, &int_a))        \
    X(MXSymbolCutSubgraph, SYMBOL, false, MXSymbolCutSubgraph(h, &handles, &int_a))                \
    X(MXSymbolInferShape, SYMBOL, false, infer_u32(MXSymbolInferShape, h, name_a, &int_a))         \
    X(MXSymbolInferShapePartial, SYMBOL, false,                                                    \
      infer_u32(MXSymbolInferShapePartial, h, name_a, &int_a))                                     \
    X(MXSymbolInferShapeEx, SYMBOL, false, infer_i32(MXSymbolInferShapeEx, h, name_a, &int_a))     \
    X(MXSymbolInferShapePartialEx, SYMBOL, false,                                                  \
      infer_i32(MXSymbolInferShapePartialEx, h, name_a, &int_a))                                   \
    X(MXSymbolInferShapeEx64, SYMBOL, false, infer_i64(MXSymbolInferShapeEx64, h, name_a, &int_a)) \
    X(MXSymbolInferShapePartialEx64, SYMBOL, false,                                                \
      infer_i64(MXSymbolInferShapePartialEx64, h, name_a, &int_a))                                 \
    X(MXSymbolInferType, SYMBOL, false, infer_type(MXSymbolInferType, h, name_a, 0))               \
    X(MXSymbolInferTypePartial, SYMBOL, false, infer_type(MXSymbolInferTypePartial, h, name_a, 0)) \
    X(MXCreateCachedOp, SYMBOL, false, MXCreateCachedOp(h, &out))                                  \
    X(MXCreateCachedOpEx, SYMBOL, false, MXCreateCachedOpEx(h, 0, NULL, NULL, &out))               \
    X(MXCreateCachedOpEX, SYMBOL, false, MXCreateCachedOpEX(h, 0, NULL, NULL, &out, false))        \
    X(MXFreeCachedOp, CACHED_OP, true, MXFreeCachedOp(h))                                          \
    X(MXInvokeCachedOp, CACHED_OP, false,                                                          \
      (one[0] = good, MXInvokeCachedOp(h, 1, one, &no_count, &no_list)))                           \
    X(MXInvokeCachedOp, ARRAY, false,                                                              \
      (one[0] = h, MXInvokeCachedOp(good_cached, 1, one, &no_count, &no_list)))                    \
    X(MXInvokeCachedOpEx, CACHED_OP, false,                                                        \
      (one[0] = good, MXInvokeCachedOpEx(h, 1, one, &no_count, &no_list, &p_int)))                 \
    X(MXCachedOpRegisterOpHook, CACHED_OP, false, MXCachedOpRegisterOpHook(h, NULL, false))        \
    X(MXExecutorBind, SYMBOL, false, bind_one(h, good, NULL))                                      \
    X(MXExecutorBind, ARRAY, false, bind_one(good_symbol, h, NULL))                                \
    X(MXExecutorBind, ARRAY, true, bind_one(good_symbol, good, h))                                 \
    X(MXExecutorBindX, SYMBOL, false,                                                              \
      (one[0] = good,                                                                              \
       MXExecutorBindX(h, 1, 0, 0, NULL, NULL, NULL, 1, one, NULL, NULL, 0, NULL, &out)))          \
    X(MXExecutorBindEX, SYMBOL, false,                                                             \
      (one[0] = good,                                                                              \
       MXExecutorBindEX(h, 1, 0, 0, NULL, NULL, NULL, 1, one, NULL, NULL, 0, NULL, NULL, &out)))   \
    X(MXExecutorSimpleBind, SYMBOL, false, simple_u32(h, name_a, "write", NULL))                   \
    X(MXExecutorSimpleBind, EXECUTOR, true,                                                        \
      simple_u32(good_symbol, h == NULL ? axis_key : name_a, "write", h))                          \
    X(MXExecutorSimpleBindEx, SYMBOL, false, simple_i32(h, name_a, "write", NULL))                 \
    X(MXExecutorSimpleBindEx, EXECUTOR, true,                                                      \
      simple_i32(good_symbol, h == NULL ? axis_key : name_a, "write", h))                          \
    X(MXExecutorSimpleBindEx64, SYMBOL, false, simple_i64(h, name_a, "write", NULL))               \
    X(MXExecutorSimpleBindEx64, EXECUTOR, true,                                                    \
      simple_i64(good_symbol, h == NULL ? axis_key : name_a, "write", h))                          \
    X(MXExecutorReshape, EXECUTOR, false, reshape_u32(h, name_a))                                  \
    X(MXExecutorReshapeEx, EXECUTOR, false, reshape_i32(h, name_a))                                \
    X(MXExecutorForward, EXECUTOR, false, MXExecutorForward(h, 0))                                 \
    X(MXExecutorBackward, EXECUTOR, false, MXExecutorBackward(h, 0, NULL))                         \
    X(MXExecutorBackwardEx, EXECUTOR, false, MXExecutorBackwardEx(h, 0, NULL, 1))                  \
    X(MXExecutorOutputs, EXECUTOR, false, MXExecutorOutputs(h, &u32, &handles))                    \
    X(MXExecutorFree, EXECUTOR, true, MXExecutorFree(h))                                           \
    X(MXExecutorPrint, EXECUTOR, false, MXExecutorPrint(h, &text_a))                               \
    X(MXExecutorGetOptimizedSymbol, EXECUTOR, false, MXExecutorGetOptimizedSymbol(h, &out))        \
    X(MXExecutorSetMonitorCallback, EXECUTOR, false, MXExecutorSetMonitorCallback(h, NULL, NULL))  \
    X(MXExecutorSetMonitorCallbackEX, EXECUTOR, false,                                             \
      MXExecutorSetMonitorCallbackEX(h, NULL, NULL, true))                                         \
    X(MXDataIterGetIterInfo, ITERATOR, false,                                                      \
      MXDataIterGetIterInfo(h, &text_a, &text_b, &u32, &list_a, &list_b, &list_c))                 \
    X(MXDataIterCreateIter, ITERATOR, false, MXDataIterCreateIter(h, 0, NULL, NULL, &out))

#define SYMBOL_ARGUMENTS(X)                                                                        \
    X(MXPredPartialForward, MXPredPartialForward(good_predictor, 0, NULL))                         \
    X(MXPredPartialForward, MXPredPartialForward(good_predictor, -1, &int_a))                      \
    X(MXPredSetInput, MXPredSetInput(good_predictor, NULL, buffer, 6))                             \
    X(MXPredSetInput, MXPredSetInput(good_predictor, "a", NULL, 6))                                \
    X(MXPredSetInput, MXPredSetInput(good_predictor, "a", buffer, 5))                              \
    X(MXPredSetInput, MXPredSetInput(good_predictor, "b", buffer, 6))                              \
    X(MXPredGetOutputShape, MXPredGetOutputShape(good_predictor, 1, &predict_shape, &u32))         \
    X(MXPredGetOutputShape, MXPredGetOutputShape(good_predictor, 0, NULL, &u32))                   \
    X(MXPredGetOutputType, MXPredGetOutputType(good_predictor, 1, &int_a))                         \
    X(MXPredGetOutputType, MXPredGetOutputType(good_predictor, 0, NULL))                           \
    X(MXPredGetOutput, MXPredGetOutput(good_predictor, 1, buffer, 6))                              \
    X(MXPredGetOutput, MXPredGetOutput(good_predictor, 0, NULL, 6))                                \
    X(MXPredGetOutput, MXPredGetOutput(good_predictor, 0, buffer, 5))                              \
    X(MXPredReshape, MXPredReshape(1, axis_key, places_u32, shape_u32, good_predictor, &out))      \
    X(MXPredReshape, MXPredReshape(1, NULL, places_u32, shape_u32, good_predictor, &out))          \
    X(MXPredReshape, MXPredReshape(1, null_text, places_u32, shape_u32, good_predictor, &out))     \
    X(MXPredReshape, MXPredReshape(1, name_a, places_u32, shape_u32, good_predictor, NULL))        \
    X(MXPredCreate, MXPredCreate(NULL, NULL, 0, 1, 0, 1, name_a, places_u32, shape_u32, &out))     \
    X(MXPredCreate,                                                                                \
      MXPredCreate(predict_json, NULL, 8, 1, 0, 1, name_a, places_u32, shape_u32, &out))           \
    X(MXPredCreate, MXPredCreate(predict_json, no_list_at_all, 16, 1, 0, 1, name_a, places_u32,    \
                                 shape_u32, &out))                                                 \
    X(MXPredCreate, MXPredCreate("[", NULL, 0, 1, 0, 1, name_a, places_u32, shape_u32, &out))      \
    X(MXPredCreate,                                                                                \
      MXPredCreate(predict_json, NULL, 0, 1, 0, 1, name_a, places_u32, shape_u32, NULL))           \
    X(MXPredCreate, MXPredCreate(predict_json, NULL, 0, 1, 0, 0, NULL, NULL, NULL, &out))          \
    X(MXPredCreate,                                                                                \
      MXPredCreate(predict_json, NULL, 0, 2, 0, 1, name_a, places_u32, shape_u32, &out))           \
    X(MXPredCreateEx, MXPredCreateEx(predict_json, NULL, 0, 1, 0, 1, name_a, places_u32,           \
                                     shape_u32, 1, name_a, NULL, &out))                            \
    X(MXPredCreateEx, MXPredCreateEx(predict_json, NULL, 0, 1, 0, 1, name_a, places_u32,           \
                                     shape_u32, 1, name_a, bad_dtype, &out))                       \
    X(MXPredCreatePartialOut, MXPredCreatePartialOut(predict_json, NULL, 0, 1, 0, 1, name_a,       \
                                                     places_u32, shape_u32, 1, NULL, &out))        \
    X(MXPredCreatePartialOut, MXPredCreatePartialOut(predict_json, NULL, 0, 1, 0, 1, name_a,       \
                                                     places_u32, shape_u32, 1, axis_key, &out))    \
    X(MXPredCreatePartialOut, MXPredCreatePartialOut(predict_json, NULL, 0, 1, 0, 1, name_a,       \
                                                     places_u32, shape_u32, 1, null_text, &out))   \
    X(MXPredCreateMultiThread, MXPredCreateMultiThread(predict_json, NULL, 0, 1, 0, 1, name_a,     \
                                                       places_u32, shape_u32, 0, &out))            \
    X(MXPredCreateMultiThread,                                                                     \
      MXPredCreateMultiThread("", NULL, 0, 1, 0, 1, name_a, places_u32, shape_u32, 2, &out))       \
    X(MXSymbolCreateAtomicSymbol, MXSymbolCreateAtomicSymbol(exp_op, 0, NULL, NULL, NULL))         \
    X(MXSymbolCreateAtomicSymbol, MXSymbolCreateAtomicSymbol(exp_op, 1, NULL, axis_value, &out))   \
    X(MXSymbolCreateAtomicSymbol,                                                                  \
      MXSymbolCreateAtomicSymbol(exp_op, 1, null_text, axis_value, &out))                          \
    X(MXSymbolCreateVariable, MXSymbolCreateVariable(NULL, &out))                                  \
    X(MXSymbolCreateVariable, MXSymbolCreateVariable("a", NULL))                                   \
    X(MXSymbolCreateGroup, MXSymbolCreateGroup(1, NULL, &out))                                     \
    X(MXSymbolCopy, MXSymbolCopy(good_symbol, NULL))                                               \
    X(MXSymbolCompose, MXSymbolCompose(good_symbol, "c", 1, NULL, NULL))                           \
    X(MXSymbolCompose,                                                                             \
      (one[0] = good_symbol, MXSymbolCompose(good_symbol, "c", 1, null_text, one)))                \
    X(MXSymbolCompose,                                                                             \
      (one[0] = good_symbol, MXSymbolCompose(good_symbol, "c", 1, axis_key, one)))                 \
    X(MXSymbolPrint, MXSymbolPrint(good_symbol, NULL))                                             \
    X(MXSymbolGetAttr, MXSymbolGetAttr(good_symbol, NULL, &text_a, &int_a))                        \
    X(MXSymbolGetNumOutputs, MXSymbolGetNumOutputs(good_symbol, NULL))                             \
    X(MXSymbolGetInternals, MXSymbolGetInternals(good_symbol, NULL))                               \
    X(MXSymbolGetChildren, MXSymbolGetChildren(good_symbol, NULL))                                 \
    X(MXSymbolGetOutput, MXSymbolGetOutput(good_symbol, 0, NULL))                                  \
    X(MXSymbolGetOutput, MXSymbolGetOutput(good_symbol, 1, &out))                                  \
    X(NNSymbolCreateAtomicSymbol, NNSymbolCreateAtomicSymbol(exp_op, 0, NULL, NULL, NULL))         \
    X(NNSymbolCreateAtomicSymbol, NNSymbolCreateAtomicSymbol(exp_op, 1, NULL, axis_value, &out))   \
    X(NNSymbolCreateAtomicSymbol,                                                                  \
      NNSymbolCreateAtomicSymbol(exp_op, 1, null_text, axis_value, &out))                          \
    X(NNSymbolCreateVariable, NNSymbolCreateVariable(NULL, &out))                                  \
    X(NNSymbolCreateVariable, NNSymbolCreateVariable("a", NULL))                                   \
    X(NNSymbolCreateGroup, NNSymbolCreateGroup(1, NULL, &out))                                     \
    X(NNSymbolCopy, NNSymbolCopy(good_symbol, NULL))                                               \
    X(NNSymbolCompose, NNSymbolCompose(good_symbol, "c", 1, NULL, NULL))                           \
    X(NNSymbolCompose,                                                                             \
      (one[0] = good_symbol, NNSymbolCompose(good_symbol, "c", 1, null_text, one)))                \
    X(NNSymbolCompose,                                                                             \
      (one[0] = good_symbol, NNSymbolCompose(good_symbol, "c", 1, axis_key, one)))                 \
    X(NNSymbolPrint, NNSymbolPrint(good_symbol, NULL))                                             \
    X(NNSymbolGetAttr, NNSymbolGetAttr(good_symbol, NULL, &text_a, &int_a))                        \
    X(NNSymbolGetNumOutputs, NNSymbolGetNumOutputs(good_symbol, NULL))                             \
    X(NNSymbolGetInternals, NNSymbolGetInternals(good_symbol, NULL))                               \
    X(NNSymbolGetChildren, NNSymbolGetChildren(good_symbol, NULL))                                 \
    X(NNSymbolGetOutput, NNSymbolGetOutput(good_symbol, 0, NULL))                                  \
    X(NNSymbolGetOutput, NNSymbolGetOutput(good_symbol, 1, &out))                                  \
    X(MXShallowCopySymbol, MXShallowCopySymbol(good_symbol, NULL))                                 \
    X(MXQuantizeSymbol, MXQuantizeSymbol(good_symbol, NULL, NULL, 0, NULL, 0, NULL, 0, NULL,       \
                                         "int8", false, "full", "tensor-wise", NULL, NULL))        \
    X(MXSetCalibTableToQuantizedSymbol,                                                            \
      MXSetCalibTableToQuantizedSymbol(good_symbol, 0, NULL, NULL, NULL, NULL))                    \
    X(MXSymbolRemoveAmpCast, MXSymbolRemoveAmpCast(good_symbol, NULL))                             \
    X(MXReducePrecisionSymbol,                                                                     \
      MXReducePrecisionSymbol(good_symbol, NULL, 0, NULL, 0, NULL, &bfloat16, 0, 0, 0, 0, 0, 0, 0, \
                              NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))               \
    X(MXReducePrecisionSymbol,                                                                     \
      MXReducePrecisionSymbol(good_symbol, &out, 0, NULL, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0,      \
                              NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))               \
    X(MXReducePrecisionSymbol,                                                                     \
      MXReducePrecisionSymbol(good_symbol, &out, 0, NULL, 0, NULL, &no_low_dtype, 0, 0, 0, 0, 0,   \
                              0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))         \
    X(MXReducePrecisionSymbol,                                                                     \
      MXReducePrecisionSymbol(good_symbol, &out, 0, NULL, 0, NULL, &bfloat16, 0, 1, 0, 0, 0, 0, 0, \
                              NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))               \
    X(NNListUniqueOps, NNListUniqueOps(NULL, (OpHandle **)&creators))                              \
    X(NNSymbolSetAttrs, NNSymbolSetAttrs(good_symbol, 1, NULL, axis_value))                        \
    X(NNSymbolListAttrs, NNSymbolListAttrs(good_symbol, 1, NULL, &list_a))                         \
    X(NNSymbolListInputNames, NNSymbolListInputNames(good_symbol, 3, &u32, &list_a))               \
    X(NNSymbolListInputNames, NNSymbolListInputNames(good_symbol, 0, NULL, &list_a))               \
    X(NNSymbolListInputVariables, NNSymbolListInputVariables(good_symbol, -1, &u32, &handles))     \
    X(NNSymbolListInputVariables, NNSymbolListInputVariables(good_symbol, 0, &u32, NULL))          \
    X(NNSymbolListOutputNames, NNSymbolListOutputNames(good_symbol, NULL, &list_a))                \
    X(MXSymbolCreateFromFile, MXSymbolCreateFromFile(NULL, &out))                                  \
    X(MXSymbolCreateFromFile, MXSymbolCreateFromFile("/nosuchfolder/a", &out))                     \
    X(MXSymbolCreateFromFile, MXSymbolCreateFromFile("Makefile", &out))                            \
    X(MXSymbolCreateFromFile, MXSymbolCreateFromFile("/", &out))                                   \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON(NULL, &out))                                  \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON("", &out))                                    \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON("{", &out))                                   \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON("[]", &out))                                  \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON("{}", &out))                                  \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON("{\"nodes\": []}", &out))                     \
    X(MXSymbolCreateFromJSON,                                                                      \
      MXSymbolCreateFromJSON("{\"nodes\": [{\"op\": \"nosuch\", \"name\": \"a\", \"inputs\": "     \
                             "[]}], \"heads\": [[0, 0]]}",                                         \
                             &out))                                                                \
    X(MXSymbolCreateFromJSON, MXSymbolCreateFromJSON("{}", NULL))                                  \
    X(MXSymbolSaveToFile, MXSymbolSaveToFile(good_symbol, NULL))                                   \
    X(MXSymbolSaveToFile, MXSymbolSaveToFile(good_symbol, "/nosuchfolder/a"))                      \
    X(MXSymbolSaveToJSON, MXSymbolSaveToJSON(good_symbol, NULL))                                   \
    X(MXSymbolGetName, MXSymbolGetName(good_symbol, &text_a, NULL))                                \
    X(MXSymbolSetAttr, MXSymbolSetAttr(good_symbol, NULL, "v"))                                    \
    X(MXSymbolSetAttr, MXSymbolSetAttr(good_symbol, "__k__", NULL))                                \
    X(MXSymbolSetAttr, MXSymbolSetAttr(good_symbol, "weight_lr_mult", "1"))                        \
    X(MXSymbolListAttr, MXSymbolListAttr(good_symbol, NULL, &list_a))                              \
    X(MXSymbolListAttr, MXSymbolListAttr(good_symbol, &u32, NULL))                                 \
    X(MXSymbolListAttrShallow, MXSymbolListAttrShallow(good_symbol, NULL, &list_a))                \
    X(MXSymbolListAttrShallow, MXSymbolListAttrShallow(good_symbol, &u32, NULL))                   \
    X(MXSymbolListArguments, MXSymbolListArguments(good_symbol, NULL, &list_a))                    \
    X(MXSymbolListArguments, MXSymbolListArguments(good_symbol, &u32, NULL))                       \
    X(MXSymbolListOutputs, MXSymbolListOutputs(good_symbol, NULL, &list_a))                        \
    X(MXSymbolListOutputs, MXSymbolListOutputs(good_symbol, &u32, NULL))                           \
    X(MXSymbolListAuxiliaryStates, MXSymbolListAuxiliaryStates(good_symbol, NULL, &list_a))        \
    X(MXSymbolListAuxiliaryStates, MXSymbolListAuxiliaryStates(good_symbol, &u32, NULL))           \
    X(MXSymbolGrad, MXSymbolGrad(good_symbol, 0, NULL, &out))                                      \
    X(MXSymbolGetInputSymbols, MXSymbolGetInputSymbols(good_symbol, &handles, NULL))               \
    X(MXSymbolCutSubgraph, MXSymbolCutSubgraph(good_symbol, &handles, NULL))                       \
    X(MXSymbolCutSubgraph, MXSymbolCutSubgraph(good_symbol, NULL, &int_a))                         \
    X(MXSymbolInferShape, infer_u32(MXSymbolInferShape, good_symbol, axis_key, &int_a))            \
    X(MXSymbolInferShape, infer_u32(MXSymbolInferShape, good_symbol, name_a, NULL))                \
    X(MXSymbolInferShapePartial,                                                                   \
      infer_u32(MXSymbolInferShapePartial, good_symbol, axis_key, &int_a))                         \
    X(MXSymbolInferShapePartial, infer_u32(MXSymbolInferShapePartial, good_symbol, name_a, NULL))  \
    X(MXSymbolInferShapeEx, infer_i32(MXSymbolInferShapeEx, good_symbol, axis_key, &int_a))        \
    X(MXSymbolInferShapeEx, infer_i32(MXSymbolInferShapeEx, good_symbol, name_a, NULL))            \
    X(MXSymbolInferShapePartialEx,                                                                 \
      infer_i32(MXSymbolInferShapePartialEx, good_symbol, axis_key, &int_a))                       \
    X(MXSymbolInferShapePartialEx,                                                                 \
      infer_i32(MXSymbolInferShapePartialEx, good_symbol, name_a, NULL))                           \
    X(MXSymbolInferShapeEx64, infer_i64(MXSymbolInferShapeEx64, good_symbol, axis_key, &int_a))    \
    X(MXSymbolInferShapeEx64, infer_i64(MXSymbolInferShapeEx64, good_symbol, name_a, NULL))        \
    X(MXSymbolInferShapePartialEx64,                                                               \
      infer_i64(MXSymbolInferShapePartialEx64, good_symbol, axis_key, &int_a))                     \
    X(MXSymbolInferShapePartialEx64,                                                               \
      infer_i64(MXSymbolInferShapePartialEx64, good_symbol, name_a, NULL))                         \
    X(MXSymbolInferType, infer_type(MXSymbolInferType, good_symbol, axis_key, 0))                  \
    X(MXSymbolInferType, infer_type(MXSymbolInferType, good_symbol, name_a, 77))                   \
    X(MXSymbolInferTypePartial, infer_type(MXSymbolInferTypePartial, good_symbol, axis_key, 0))    \
    X(MXSymbolInferTypePartial, infer_type(MXSymbolInferTypePartial, good_symbol, name_a, 77))     \
    X(MXCreateCachedOp, MXCreateCachedOp(good_symbol, NULL))                                       \
    X(MXCreateCachedOpEx, MXCreateCachedOpEx(good_symbol, 0, NULL, NULL, NULL))                    \
    X(MXCreateCachedOpEX, MXCreateCachedOpEX(good_symbol, 0, NULL, NULL, NULL, false))             \
    X(MXCreateCachedOpEx, MXCreateCachedOpEx(good_symbol, 1, axis_key, axis_value, &out))          \
    X(MXCreateCachedOpEx, MXCreateCachedOpEx(good_symbol, 1, null_text, axis_value, &out))         \
    X(MXInvokeCachedOp, MXInvokeCachedOp(good_cached, 2, variable_list(), &no_count, &no_list))    \
    X(MXInvokeCachedOp, MXInvokeCachedOp(good_cached, 1, good_list(), NULL, &no_list))             \
    X(MXInvokeCachedOp, MXInvokeCachedOp(good_cached, 1, NULL, &no_count, &no_list))               \
    X(MXInvokeCachedOpEx,                                                                          \
      MXInvokeCachedOpEx(good_cached, 1, good_list(), &no_count, &no_list, NULL))                  \
    X(MXExecutorBind, MXExecutorBind(good_symbol, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &out))       \
    X(MXExecutorBind, MXExecutorBind(good_symbol, 1, 0, 1, NULL, NULL, NULL, 0, NULL, &out))       \
    X(MXExecutorBind,                                                                              \
      MXExecutorBind(good_symbol, 2, 0, 1, good_list(), NULL, NULL, 0, NULL, &out))                \
    X(MXExecutorBind,                                                                              \
      MXExecutorBind(good_symbol, 1, 0, 1, good_list(), NULL, NULL, 0, NULL, NULL))                \
    X(MXExecutorSimpleBind, simple_u32(good_symbol, axis_key, "write", NULL))                      \
    X(MXExecutorSimpleBind, simple_u32(good_symbol, name_a, "nosuch", NULL))                       \
    X(MXExecutorSimpleBindEx, simple_i32(good_symbol, axis_key, "write", NULL))                    \
    X(MXExecutorSimpleBindEx, simple_i32(good_symbol, name_a, "nosuch", NULL))                     \
    X(MXExecutorSimpleBindEx64, simple_i64(good_symbol, axis_key, "write", NULL))                  \
    X(MXExecutorSimpleBindEx64, simple_i64(good_symbol, name_a, "nosuch", NULL))                   \
    X(MXExecutorReshape, reshape_u32(good_executor, axis_key))                                     \
    X(MXExecutorReshapeEx, reshape_i32(good_executor, axis_key))                                   \
    X(MXExecutorBackward, MXExecutorBackward(good_executor, 1, NULL))                              \
    X(MXExecutorBackwardEx, MXExecutorBackwardEx(good_executor, 1, NULL, 1))                       \
    X(MXExecutorOutputs, MXExecutorOutputs(good_executor, NULL, &handles))                         \
    X(MXExecutorPrint, MXExecutorPrint(good_executor, NULL))                                       \
    X(MXExecutorGetOptimizedSymbol, MXExecutorGetOptimizedSymbol(good_executor, NULL))             \
    X(MXListDataIters, MXListDataIters(NULL, &creators))

#endif
