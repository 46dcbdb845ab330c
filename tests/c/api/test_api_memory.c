/* The allocation walk over arrays, views and infos: repeats each call with the k-th allocation
 * failing, k = 0, 1, 2, ... The call must return -1 with a message, leave results empty and leak
 * nothing. */
#define _GNU_SOURCE 1 /* dup */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/state.h"
#include "base/system/shared_memory.h"
#include "mxlite/mxlite.h"

#ifdef _WIN32
#define NOWHERE "NUL"
#else
#define NOWHERE "/dev/null"
#endif

/* An allocator of which the allocation number `fail_at` fails. */
static int made, fail_at;

static void *failing_alloc(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    if (made++ == fail_at)
        return NULL;
    return kit_alloc(bytes, align);
}

static void plain_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
    kit_free(block);
}

enum { NEVER = -1 };

static NDArrayHandle array, out;

static NDArrayHandle new_array(void)
{
    const uint32_t shape[] = {2, 1, 1, 1, 3}; /* too many axes to lie inside the array */
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreate(shape, 5, 1, 0, 0, &h), 0);
    return h;
}

static int status_of(NDArrayHandle h)
{
    out = h;
    return h == NULL ? -1 : 0;
}

/* ---- the calls; each puts what it made into `out` ---- */

static int create(void)
{
    const int64_t shape[] = {2, 1, 1, 1, 3};

    return MXNDArrayCreateEx64(shape, 5, 1, 0, 0, 1, &out);
}

static int create_none(void)
{
    return MXNDArrayCreateNone(&out);
}

static int slice(void)
{
    return MXNDArraySlice(array, 0, 1, &out);
}

static int row(void)
{
    return status_of(MXLNDArrayAt(array, 1));
}

static int all_memory(void)
{
    uint64_t number;

    return status_of(MXLNDArrayGetMemory(array, &number));
}

static int reshape(void)
{
    const int64_t shape[] = {3, 1, 2, 1, 1, 1};

    return status_of(MXLNDArrayReshape(array, 6, shape, 0));
}

static int detach(void)
{
    return MXNDArrayDetach(array, &out);
}

static int shallow(void)
{
    return MXShallowCopyNDArray(array, &out);
}

static int gradient(void)
{
    return MXNDArrayGetGrad(array, &out);
}

static int ask_shape(void)
{
    uint32_t n;
    const uint32_t *shape;
    int status = MXNDArrayGetShape(array, &n, &shape);

    CHECK((status == 0) == (shape != NULL));
    return status;
}

static int ask_wide_shape(void)
{
    int n;
    const int64_t *shape;
    int status = MXNDArrayGetShapeEx64(array, &n, &shape);

    CHECK((status == 0) == (shape != NULL));
    return status;
}

static int ask_fact(void)
{
    const char *text;
    int status = MXLGetInfo("dtypes", &text);

    CHECK((status == 0) == (text != NULL));
    return status;
}

static int save(void)
{
    return MXNDArraySave(NOWHERE, 1, &array, NULL);
}

static int load(void)
{
    uint32_t count = 0, named = 0;
    NDArrayHandle *handles = NULL;
    const char **names = NULL;
    int status =
        MXNDArrayLoad("tests/reference/files/names.params", &count, &handles, &named, &names);
    NDArrayHandle loaded[2] = {NULL, NULL};

    CHECK((status == 0) == (count == 2 && named == 2));
    for (uint32_t i = 0; i < count && i < 2; i++)
        loaded[i] = handles[i];
    CHECK_INT(MXNDArrayFree(loaded[0]), 0);
    out = loaded[1];
    return status;
}

static int raw_bytes(void)
{
    size_t size = 0;
    const char *bytes = NULL;
    int status = MXNDArraySaveRawBytes(array, &size, &bytes);

    return status == 0 ? MXNDArrayLoadFromRawBytes(bytes, size, &out) : status;
}

static int through_dlpack(void)
{
    DLManagedTensorHandle tensor = NULL;
    int status = MXNDArrayToDLPack(array, &tensor);

    if (status == 0 && (status = MXNDArrayFromDLPackEx(tensor, false, &out)) != 0)
        CHECK_INT(MXNDArrayCallDLPackDeleter(tensor), 0);
    return status;
}

static int foreign(void)
{
    static float values[6];
    const int64_t shape[] = {2, 1, 1, 1, 3};

    return status_of(MXLNDArrayFromMemory(values, 5, shape, 0, NULL, NULL));
}

static int from_data(void)
{
    static float values[6];
    const int64_t shape[] = {2, 1, 1, 1, 3};

    return status_of(MXLNDArrayFromData(values, 5, shape, 0));
}

static int shared(void)
{
    NDArrayHandle own = NULL;
    int pid = 0, id = -1,
        status = MXNDArrayCreate((uint32_t[]){3}, 1, 1, 0, 0, &own) != 0
                     ? -1
                     : MXNDArrayGetSharedMemHandle(own, &pid, &id);

    if (status == 0 && (id = mxl_shared_memory_duplicate(id)) >= 0) {
        status = MXNDArrayCreateFromSharedMem(pid, id, (uint32_t[]){3}, 1, 0, &out);
        if (status != 0)
            mxl_shared_memory_close(id);
    }
    CHECK_INT(MXNDArrayFree(own), 0);
    return status;
}

static int share(void)
{
    NDArrayHandle own = NULL;
    int id = -1, status = MXNDArrayCreate((uint32_t[]){3}, 1, 1, 0, 0, &own);

    if (status == 0)
        status = MXLNDArrayShare(own, &id);
    if (status == 0)
        mxl_shared_memory_close(id);
    CHECK_INT(MXNDArrayFree(own), 0);
    return status;
}

static int ask_environment(void)
{
    const char *text = NULL;

    return MXGetEnv("PATH", &text);
}

static const struct {
    const char *name;
    int (*call)(void);
    bool recorded;
    int least; /* allocations it makes at least */
} calls[] = {
    {"create", create, false, 3},
    {"create none", create_none, false, 1},
    {"slice", slice, false, 2},
    {"row", row, false, 1},
    {"all memory", all_memory, false, 1},
    {"reshape", reshape, false, 2},
    {"recorded slice", slice, true, 3},
    {"recorded row", row, true, 2},
    {"recorded reshape", reshape, true, 3},
    {"detach", detach, false, 2},
    {"shallow copy", shallow, false, 0},
    {"gradient", gradient, false, 0},
    {"shape", ask_shape, false, 1},
    {"wide shape", ask_wide_shape, false, 1},
    {"fact", ask_fact, false, 2},
    {"save", save, false, 1},
    {"load", load, false, 8},
    {"raw bytes", raw_bytes, false, 3},
    {"through DLPack", through_dlpack, false, 5},
    {"foreign memory", foreign, false, 3},
    {"a copy of data", from_data, false, 3},
    {"shared memory", shared, false, 6},
    {"share", share, false, 4},
    {"environment", ask_environment, false, 1},
};

/* Runs a call with allocation k failing; whether there was such an allocation. */
static bool step(size_t index, int k)
{
    int64_t bytes, handles, bytes_after, handles_after;
    int status;

    /* Takes back what the last call was lent. */
    mxl_state_clear_slots();
    CHECK_INT(MXLGetLiveBytes(&bytes), 0);
    CHECK_INT(MXLGetLiveHandles(&handles), 0);
    out = NULL;
    NNAPISetLastError("stale line");
    made = 0;
    fail_at = k;
    status = calls[index].call();
    fail_at = NEVER;
    if (made > k) {
        CHECK_INT(status, -1);
        CHECK_HAS(MXGetLastError(), "out of memory");
        CHECK(out == NULL);
    } else {
        if (!CHECK_INT(status, 0))
            CHECK_STR(MXGetLastError(), calls[index].name);
        if (!CHECK(made >= calls[index].least))
            CHECK_STR(calls[index].name, "walked over");
    }
    CHECK_INT(MXNDArrayFree(out), 0);
    mxl_state_clear_slots();
    CHECK_INT(MXLGetLiveBytes(&bytes_after), 0);
    CHECK_INT(MXLGetLiveHandles(&handles_after), 0);
    if (!CHECK_INT(bytes_after, bytes) || !CHECK_INT(handles_after, handles))
        CHECK_STR(calls[index].name, "without a loss");
    return made > k;
}

TEST(every_allocation_fails_once)
{
    NDArrayHandle grad;
    uint32_t write = 1;
    int prev;

    made = 0;
    fail_at = NEVER;
    REQUIRE(MXLSetAllocator(failing_alloc, plain_free, NULL, 0) == 0);
    array = new_array();
    grad = new_array();
    REQUIRE(MXAutogradMarkVariables(1, &array, &write, &grad) == 0);
    CHECK_INT(MXNDArrayFree(grad), 0);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        int k = 0;

        CHECK_INT(MXAutogradSetIsRecording(calls[i].recorded, &prev), 0);
        while (step(i, k))
            k++;
    }
    CHECK_INT(MXAutogradSetIsRecording(0, &prev), 0);
    CHECK_INT(MXNDArrayFree(array), 0);
    CHECK_INT(MXLSetAllocator(NULL, NULL, NULL, 1), 0);
}

/* What outlives any allocator comes from the system; the next call tries again. This program asks
 * for it here first. */
TEST(system_memory_fails)
{
    AtomicSymbolCreator *creators = (void *)1;
    const char **names = (void *)1, **types, **docs, *name, *doc, *key;
    uint32_t count = 9;
    OpHandle op = (void *)1;

    atomic_store(&mxl_state_system_fails, true);
    CHECK_INT(MXListAllOpNames(&count, &names), -1);
    CHECK_HAS(MXGetLastError(), "out of memory");
    CHECK(count == 0 && names == NULL);
    CHECK_INT(MXSymbolListAtomicSymbolCreators(&count, &creators), -1);
    CHECK_HAS(MXGetLastError(), "out of memory");
    CHECK(count == 0 && creators == NULL);
    CHECK_INT(NNGetOpHandle("exp", &op), -1);
    CHECK(op == NULL);
    atomic_store(&mxl_state_system_fails, false);
    CHECK_INT(NNGetOpHandle("exp", &op), 0);
    atomic_store(&mxl_state_system_fails, true);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXSymbolListAtomicSymbolCreators(&count, &creators), -1);
        CHECK_INT(
            MXSymbolGetAtomicSymbolInfo(op, &name, &doc, &count, &names, &types, &docs, &key, NULL),
            -1);
        CHECK_HAS(MXGetLastError(), "out of memory");
        CHECK(name == NULL && count == 0 && names == NULL && key == NULL);
    }
    atomic_store(&mxl_state_system_fails, false);
    CHECK_INT(MXSymbolListAtomicSymbolCreators(&count, &creators), 0);
    CHECK(count > 30);
    CHECK_INT(
        MXSymbolGetAtomicSymbolInfo(op, &name, &doc, &count, &names, &types, &docs, &key, NULL), 0);
    CHECK_STR(name, "exp");
}

/* A thread whose state cannot be made changes no mode, and none of another's. */
static void *without_state(void *data)
{
    int prev, now;
    uint32_t n;
    const uint32_t *shape;

    atomic_store(&mxl_state_system_fails, true);
    CHECK_INT(MXSetIsNumpyShape(1, &prev), -1);
    CHECK_INT(MXEngineSetBulkSize(3, &prev), -1);
    CHECK_INT(MXNDArrayGetShape(data, &n, &shape), -1);
    CHECK_INT(MXIsNumpyShape(&now), 0);
    CHECK_INT(now, 0);
    atomic_store(&mxl_state_system_fails, false);
    CHECK_INT(MXSetIsNumpyShape(1, &prev), 0);
    return NULL;
}

TEST(threads_without_state)
{
    NDArrayHandle h = new_array();
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, without_state, h) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK_INT(MXNDArrayFree(h), 0);
}

HARNESS_MAIN(ENTRY(system_memory_fails), ENTRY(every_allocation_fails_once),
             ENTRY(threads_without_state))
