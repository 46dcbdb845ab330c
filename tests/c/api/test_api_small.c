/* Lists of arrays, functions that run in the engine's order, functions from before operators, and
 * the parts of sparse arrays. */
#include "engine_kit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- MXNDList* ---- */

/* The bytes of a file with arrays, from a temporary file; free() them. */
static char *file_of(uint32_t count, H *arrays, const char **names, int *size)
{
    const char *path = "build/test_api_small.params";
    char *bytes = malloc(4096);
    FILE *file;

    CHECK_INT(MXNDArraySave(path, count, arrays, names), 0);
    file = fopen(path, "rb");
    if (!CHECK(file != NULL && bytes != NULL))
        exit(1);
    *size = (int)fread(bytes, 1, 4096, file);
    fclose(file);
    remove(path);
    return bytes;
}

TEST(a_list_of_arrays)
{
    const int64_t sizes[] = {2, 3};
    const float numbers[] = {0, 1, 2, 3, 4, 5};
    const char *names[] = {"arg:w", "b"}, *name;
    H arrays[2] = {make(F32, 2, sizes), VEC(1, 2)};
    NDListHandle list = NULL;
    const uint32_t *shape;
    const float *data;
    const double *reals;
    uint32_t count = 0, ndim;
    char *bytes;
    int size;

    CHECK_INT(MXNDArraySyncCopyFromCPU(arrays[0], numbers, 6), 0);
    bytes = file_of(2, arrays, names, &size);
    CHECK_INT(MXNDListCreate(bytes, size, &list, &count), 0);
    CHECK_INT(count, 2);
    memset(bytes, 0, (size_t)size); /* the list has its own */
    CHECK_INT(MXNDListGet(list, 0, &name, &data, &shape, &ndim), 0);
    CHECK_STR(name, "arg:w");
    CHECK_INT(ndim, 2);
    CHECK_INT(shape[0] * 10 + shape[1], 23);
    CHECK_NEAR(data[5], 5, 0);
    CHECK_INT(MXNDListGet(list, 1, &name, &data, &shape, &ndim), 0);
    CHECK_STR(name, "b");
    CHECK_INT(ndim == 1 && shape[0] == 2, 1);
    reals = (const double *)(const void *)data; /* whatever the dtype, as in 1.9.1 */
    CHECK_NEAR(reals[1], 2, 0);
    CHECK_INT(MXNDListGet(list, 2, &name, &data, &shape, &ndim), -1);
    CHECK_HAS(MXGetLastError(), "MXNDListGet: array 2 of 2");
    CHECK_INT(MXNDListFree(list), 0);
    CHECK_INT(MXNDListFree(list), -1);
    free(bytes);
    bytes = file_of(1, arrays, NULL, &size);
    CHECK_INT(MXNDListCreate(bytes, size - 1, &list, &count), -1);
    CHECK_INT(MXNDListCreate(bytes, size, &list, &count), 0);
    CHECK_INT(MXNDListGet(list, 0, &name, &data, &shape, &ndim), 0);
    CHECK_STR(name, "");
    CHECK_INT(MXNDListFree(list), 0);
    free(bytes);
    drop(arrays[0]);
    drop(arrays[1]);
}

/* ---- MXEnginePush* ---- */

static const int cpu[] = {1, 0};

typedef struct work {
    H array;
    int runs, deletions;
    pthread_t thread;
    bool elsewhere, fails;
    void (*done)(void *, void *, const void *);
    void *engine, *param;
} work;

static void add_one(work *w)
{
    double value = at(w->array, 0) + 1;

    fill(w->array, &value, 1);
    w->runs++;
}

static void runs_sync(void *run_context, void *param)
{
    CHECK_INT(((int *)run_context)[0], 1);
    CHECK_INT(((int *)run_context)[1], 0);
    add_one(param);
}

static void deletes(void *param)
{
    work *w = param;

    CHECK_INT(w->runs > w->deletions, 1);
    w->deletions++;
}

static void *finish(void *param)
{
    work *w = param;

    add_one(w);
    w->done(w->engine, w->param, w->fails ? "failed" : NULL);
    return NULL;
}

/* Ends at once, or on another thread. */
static void runs_async(void *run_context, void *on_complete, void *param)
{
    work *w = param;
    void **members = on_complete;

    CHECK_INT(((int *)run_context)[0], 1);
    memcpy(&w->done, &members[0], sizeof(w->done));
    w->engine = members[1];
    w->param = members[2];
    if (w->elsewhere)
        CHECK_INT(pthread_create(&w->thread, NULL, finish, w), 0);
    else
        (void)finish(w);
}

TEST(the_engine_runs_functions_at_once)
{
    work w = {.array = VEC(1)};
    H other = VEC(5);
    uint64_t before, after;

    CHECK_INT(MXLNDArrayGetVersion(w.array, &before), 0);
    CHECK_INT(
        MXEnginePushSyncND(runs_sync, &w, deletes, cpu, &other, 1, &w.array, 1, NULL, 3, "name"),
        0);
    CHECK_INT(w.runs * 10 + w.deletions, 11);
    CHECK_NEAR(at(w.array, 0), 2, 0);
    CHECK_INT(MXLNDArrayGetVersion(w.array, &after), 0);
    CHECK(after > before);
    CHECK_INT(MXEnginePushSync(runs_sync, &w, NULL, cpu, NULL, 0, NULL, 0, NULL, 0, NULL), 0);
    CHECK_INT(w.runs * 10 + w.deletions, 21);
    CHECK_INT(MXEnginePushAsyncND(runs_async, &w, deletes, cpu, NULL, 0, &w.array, 1, NULL, 0, NULL,
                                  true),
              0);
    CHECK_NEAR(at(w.array, 0), 4, 0);
    w.elsewhere = true;
    CHECK_INT(
        MXEnginePushAsync(runs_async, &w, deletes, cpu, NULL, 0, NULL, 0, NULL, 0, NULL, false), 0);
    CHECK_INT(pthread_join(w.thread, NULL), 0);
    CHECK_NEAR(at(w.array, 0), 5, 0);
    w.elsewhere = false;
    w.fails = true;
    CHECK_INT(
        MXEnginePushAsync(runs_async, &w, deletes, cpu, NULL, 0, NULL, 0, NULL, 0, NULL, true), -1);
    CHECK_HAS(MXGetLastError(), "MXEnginePushAsync: the function completed with an error");
    CHECK_INT(w.runs * 10 + w.deletions, 54);
    drop(w.array);
    drop(other);
}

/* ---- MXFunc* ---- */

TEST(functions_from_before_operators)
{
    const FunctionHandle *list;
    FunctionHandle function;
    const char *name, *doc, **names, **types, **docs, *result;
    uint32_t count, uses, scalars, outputs;
    int mask;
    float number = 7.5f;
    H array = VEC(1, 2), at_most[3], out;

    CHECK_INT(MXListFunctions(&count, (FunctionHandle **)(void *)&list), 0);
    REQUIRE(CHECK_INT(count, 4));
    CHECK_INT(MXFuncGetInfo(list[2], &name, &doc, &count, &names, &types, &docs, &result), 0);
    CHECK_STR(name, "fill_element_0index");
    CHECK_INT(count, 3);
    CHECK_STR(names[1], "mhs");
    CHECK_STR(types[1], "NDArray");
    CHECK_INT(MXGetFunction("_set_value", &function), 0);
    CHECK_INT(MXFuncDescribe(function, &uses, &scalars, &outputs, &mask), 0);
    CHECK_INT(uses * 1000 + scalars * 100 + outputs * 10 + (uint32_t)mask, 110);
    CHECK_INT(MXFuncInvoke(function, NULL, &number, &array), 0);
    CHECK_NEAR(at(array, 1), 7.5, 0);
    CHECK_INT(MXGetFunction("_onehot_encode", &function), 0);
    CHECK_INT(MXFuncDescribe(function, &uses, &scalars, &outputs, &mask), 0);
    CHECK_INT(uses * 1000 + scalars * 100 + outputs * 10 + (uint32_t)mask, 2015);
    at_most[0] = VEC(1, 0);
    at_most[1] = out = make(F64, 2, (const int64_t[]){2, 3});
    CHECK_INT(MXFuncInvokeEx(function, at_most, NULL, &out, 0, NULL, NULL), 0);
    CHECK_NEAR(at(out, 1), 1, 0);
    CHECK_NEAR(at(out, 0), 0, 0);
    CHECK_INT(MXGetFunction("exp", &function), 0);
    CHECK(function == NULL);
    drop(array);
    drop(at_most[0]);
    drop(out);
}

/* ---- parts of sparse arrays ---- */

TEST(a_dense_array_is_its_own_data)
{
    H array = VEC(1, 2), data = NULL, none = NULL;
    int dtype = -7;

    CHECK_INT(MXNDArrayGetDataNDArray(array, &data), 0);
    CHECK_NEAR(at(data, 1), 2, 0);
    fill(data, (const double[]){5, 6}, 2);
    CHECK_NEAR(at(array, 1), 2, 0); /* a copy */
    CHECK_INT(MXNDArrayGetAuxNDArray(array, 0, &none), -1);
    CHECK_HAS(MXGetLastError(), "the array is dense");
    CHECK_INT(MXNDArrayGetAuxType64(array, 0, &dtype), -1);
    CHECK(none == NULL && dtype == -7);
    drop(array);
    drop(data);
}

HARNESS_MAIN(ENTRY(a_list_of_arrays), NOT_WASM(the_engine_runs_functions_at_once),
             ENTRY(functions_from_before_operators), ENTRY(a_dense_array_is_its_own_data))
