/* DLPack, foreign memory and memory shared between processes: ownership, and when memory is
 * released. */
#define _GNU_SOURCE 1 /* fork */
#include "harness.h"

#include <stdlib.h>
#ifdef _WIN32
enum { STEP = 4 };
#else
#include <sys/wait.h>
#include <unistd.h>
enum { STEP = 1 };
#endif

#include "api/dlpack.h"
#include "base/system/process.h"
#include "base/system/shared_memory.h"
#include "mxlite/mxlite.h"

#define dup(fd) mxl_shared_memory_duplicate(fd)

/* Whether shared memory is open so. */
static int is_open(int fd)
{
    return mxl_shared_memory_check(fd, 1) == 0;
}

static const int64_t shape23[] = {2, 3};
static int released;

static void count_release(void *payload)
{
    released += payload == &released;
}

static NDArrayHandle new_array(void)
{
    static const float values[] = {0, 1, 2, 3, 4, 5};
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreateEx64(shape23, 2, 1, 0, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, 6), 0);
    return h;
}

TEST(foreign_memory)
{
    float values[6] = {1, 2, 3, 4, 5, 6}, nine = 9;
    NDArrayHandle a = MXLNDArrayFromMemory(values, 2, shape23, 0, count_release, &released), row;

    released = 0;
    REQUIRE(a != NULL);
    row = MXLNDArrayAt(a, 1);
    CHECK_INT(MXNDArraySyncCopyFromCPU(row, (float[]){7, 8, 9}, 3), 0);
    CHECK(values[3] == 7 && values[5] == nine);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(released, 0);
    CHECK_INT(MXNDArrayFree(row), 0);
    CHECK_INT(released, 1);
    /* What fails is not released. */
    CHECK(MXLNDArrayFromMemory((char *)values + 2, 2, shape23, 0, count_release, &released) ==
          NULL);
    CHECK_HAS(MXGetLastError(), "not aligned");
    CHECK(MXLNDArrayFromMemory(values, 2, shape23, 44, count_release, &released) == NULL);
    CHECK_INT(released, 1);
    /* Nothing may lie nowhere. */
    a = MXLNDArrayFromMemory(NULL, 1, (int64_t[]){0}, 0, count_release, &released);
    CHECK(a != NULL);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(released, 2);
}

TEST(a_copy_of_data)
{
    float values[6] = {1, 2, 3, 4, 5, 6}, seen[6];
    NDArrayHandle a = MXLNDArrayFromData(values, 2, shape23, 0), scalar;
    uint64_t version = 9;

    REQUIRE(a != NULL);
    values[0] = 9;
    CHECK_INT(MXNDArraySyncCopyToCPU(a, seen, 6), 0);
    CHECK(seen[0] == 1 && seen[5] == 6);
    CHECK_INT(MXLNDArrayGetVersion(a, &version), 0);
    CHECK_INT(version, 0);
    CHECK_INT(MXNDArrayFree(a), 0);
    scalar = MXLNDArrayFromData(values, 0, NULL, 0);
    REQUIRE(scalar != NULL);
    CHECK_INT(MXNDArraySyncCopyToCPU(scalar, seen, 1), 0);
    CHECK(seen[0] == 9);
    CHECK_INT(MXNDArrayFree(scalar), 0);
    a = MXLNDArrayFromData(NULL, 2, (int64_t[]){2, 0}, 0);
    CHECK(a != NULL);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK(MXLNDArrayFromData(NULL, 2, shape23, 0) == NULL);
    CHECK_HAS(MXGetLastError(), "data");
    CHECK(MXLNDArrayFromData(values, 1, (int64_t[]){-2}, 0) == NULL);
}

TEST(out_and_in_again)
{
    NDArrayHandle a = new_array(), b = NULL;
    DLManagedTensorHandle tensor = NULL;
    dl_managed *managed;
    float values[6];

    REQUIRE(MXNDArrayToDLPack(a, &tensor) == 0);
    managed = tensor;
    CHECK_INT(managed->tensor.ndim, 2);
    CHECK_INT(managed->tensor.shape[1], 3);
    CHECK_INT(managed->tensor.strides[0], 3);
    CHECK_INT(managed->tensor.dtype.code, DL_FLOAT);
    CHECK_INT(managed->tensor.dtype.bits, 32);
    CHECK_INT(managed->tensor.device, DL_CPU);
    CHECK_INT(MXNDArrayFromDLPack(tensor, &b), 0);
    CHECK_INT(MXNDArrayFree(a), 0); /* b keeps the memory */
    CHECK_INT(MXNDArraySyncCopyToCPU(b, values, 6), 0);
    CHECK(values[5] == 5);
    CHECK_INT(MXNDArrayFree(b), 0);
}

TEST(nobody_takes_it)
{
    NDArrayHandle a = new_array();
    DLManagedTensorHandle tensor = NULL;
    void *versioned = NULL;

    CHECK_INT(MXNDArrayToDLPack(a, &tensor), 0);
    CHECK_INT(MXNDArrayCallDLPackDeleter(tensor), 0);
    CHECK_INT(MXNDArrayCallDLPackDeleter(NULL), 0);
    CHECK_INT(MXLNDArrayToDLPackVersioned(a, &versioned), 0);
    CHECK_INT(((dl_versioned *)versioned)->major, 1);
    ((dl_versioned *)versioned)->deleter(versioned);
    CHECK_INT(MXNDArrayFree(a), 0);
}

static int deleted;
static const dl_managed *deleted_at;

static void count_delete(dl_managed *self)
{
    deleted++;
    deleted_at = self;
}

static void count_delete_versioned(dl_versioned *self)
{
    deleted += self->context == &deleted;
}

static dl_managed foreign(float *values, int64_t *shape, int64_t *strides)
{
    dl_managed m = {
        {values, DL_CPU, 0, 2, {DL_FLOAT, 32, 1}, shape, strides, 0}, NULL, count_delete};

    return m;
}

TEST(tensors_that_are_refused)
{
    float values[8] = {0};
    int64_t shape[2] = {2, 3}, strides[2] = {4, 1};
    dl_managed m = foreign(values, shape, strides);
    dl_versioned v = {2, 0, &deleted, count_delete_versioned, 0, m.tensor};
    NDArrayHandle out = NULL;

    deleted = 0;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    CHECK_HAS(MXGetLastError(), "C order");
    m.tensor.strides = NULL;
    m.tensor.dtype.lanes = 4;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    m.tensor.dtype = (dl_type){DL_INT, 128, 1};
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    m.tensor.dtype = (dl_type){DL_FLOAT, 32, 1};
    m.tensor.device = 2;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    CHECK_HAS(MXGetLastError(), "device 2");
    m.tensor.device = DL_CPU;
    m.tensor.ndim = 40;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    m.tensor.ndim = 2;
    m.tensor.byte_offset = 2;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    CHECK_HAS(MXGetLastError(), "aligned");
    shape[0] = -1;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    shape[0] = INT64_MAX;
    CHECK_INT(MXNDArrayFromDLPack(&m, &out), -1);
    CHECK(out == NULL);
    CHECK(MXLNDArrayFromDLPackVersioned(&v) == NULL);
    CHECK_HAS(MXGetLastError(), "version 2.0");
    CHECK_INT(deleted, 0);
}

TEST(transient_and_offset)
{
    float values[8] = {0, 1, 2, 3, 4, 5, 6, 7}, got[6];
    int64_t shape[2] = {2, 3}, odd[2] = {3, 1};
    dl_managed m = foreign(values, shape, odd);
    dl_versioned v = {1, 3, &deleted, count_delete_versioned, 0, m.tensor};
    NDArrayHandle out = NULL;

    deleted = 0;
    m.tensor.byte_offset = 8;
    CHECK_INT(MXNDArrayFromDLPackEx(&m, true, &out), 0);
    memset(&m, 0, sizeof(m));
    CHECK_INT(MXNDArraySyncCopyToCPU(out, got, 6), 0);
    CHECK(got[0] == 2 && got[5] == 7);
    CHECK_INT(MXNDArrayFree(out), 0);
    CHECK_INT(deleted, 1);
    CHECK(deleted_at != &m);
    out = MXLNDArrayFromDLPackVersioned(&v);
    CHECK(out != NULL);
    CHECK_INT(MXNDArrayFree(out), 0);
    CHECK_INT(deleted, 2);
}

/* ---- memory that may only be read ---- */

/* A write to it would end the process. */
static const float constants[6] = {1, 2, 3, 4, 5, 6};

#define REFUSED(call)                                                                              \
    do {                                                                                           \
        CHECK_INT(call, -1);                                                                       \
        CHECK_HAS(MXGetLastError(), "may only be read");                                           \
    } while (0)

static int run_into(const char *name, int num_inputs, NDArrayHandle *in, NDArrayHandle to)
{
    OpHandle op = NULL;
    int count = 1;
    const char *key = "lr", *value = "1";
    NDArrayHandle *outputs = &to;
    const int *stypes = NULL;

    CHECK_INT(NNGetOpHandle(name, &op), 0);
    return MXImperativeInvokeEx(op, num_inputs, in, &count, &outputs, num_inputs == 3 ? 1 : 0, &key,
                                &value, &stypes);
}

static void check_protected(NDArrayHandle p)
{
    NDArrayHandle a = new_array(), row = NULL, in[3] = {a, a, p};
    float values[6] = {9, 9, 9, 9, 9, 9};
    uint32_t write = 1;

    REFUSED(MXNDArraySyncCopyFromCPU(p, values, 6));
    REFUSED(MXNDArraySyncCopyFromNDArray(p, a, -1));
    REFUSED(run_into("square", 1, &a, p));
    REFUSED(run_into("_copyto", 1, &a, p));
    REFUSED(run_into("square", 1, &p, p));
    REFUSED(run_into("sgd_mom_update", 3, in, a)); /* updates its third input */
    REFUSED(MXAutogradMarkVariables(1, &a, &write, &p));
    row = MXLNDArrayAt(p, 1); /* what shows a part of it is protected too */
    CHECK(row != NULL);
    REFUSED(MXNDArraySyncCopyFromCPU(row, values, 3));
    CHECK_INT(MXNDArrayFree(row), 0);
    CHECK_INT(MXNDArraySyncCopyFromNDArray(a, p, -1), 0); /* reading is no matter */
    CHECK_INT(run_into("square", 1, &p, a), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(a, values, 6), 0);
    CHECK(values[5] == 36);
    CHECK_INT(MXNDArrayFree(a), 0);
}

TEST(protected_memory)
{
    void *data = (void *)(uintptr_t)constants, *tensor = NULL;
    NDArrayHandle p = MXLNDArrayFromMemory(data, 2, shape23, 0, NULL, NULL), own = new_array();
    NDArrayHandle variable = new_array(), buffer, y = NULL;
    float memory[6] = {0};
    uint32_t write = 1;
    int prev;

    REQUIRE(p != NULL);
    CHECK_INT(MXLNDArrayProtect(p), 0);
    check_protected(p);
    CHECK_INT(MXLNDArrayToDLPackVersioned(p, &tensor), 0);
    CHECK_INT(((dl_versioned *)tensor)->flags, DL_READ_ONLY);
    CHECK_INT(MXNDArrayFree(p), 0);
    p = MXLNDArrayFromDLPackVersioned(tensor);
    REQUIRE(p != NULL);
    check_protected(p);
    CHECK_INT(MXNDArrayFree(p), 0);
    CHECK_INT(MXLNDArrayProtect(own), -1);
    CHECK_HAS(MXGetLastError(), "library's own");
    CHECK_INT(MXLNDArrayToDLPackVersioned(own, &tensor), 0);
    CHECK_INT(((dl_versioned *)tensor)->flags, 0);
    ((dl_versioned *)tensor)->deleter(tensor);
    CHECK_INT(MXNDArrayFree(own), 0);
    /* A gradient's buffer that is protected after it was attached. */
    buffer = MXLNDArrayFromMemory(memory, 2, shape23, 0, NULL, NULL);
    CHECK_INT(MXAutogradMarkVariables(1, &variable, &write, &buffer), 0);
    CHECK_INT(MXAutogradSetIsRecording(1, &prev), 0);
    y = MXLNDArrayAt(variable, 0);
    CHECK_INT(MXAutogradSetIsRecording(0, &prev), 0);
    CHECK_INT(MXLNDArrayProtect(buffer), 0);
    REFUSED(MXAutogradBackward(1, &y, NULL, 0));
    CHECK(memory[0] == 0);
    CHECK_INT(MXNDArrayFree(y), 0);
    CHECK_INT(MXNDArrayFree(variable), 0);
    CHECK_INT(MXNDArrayFree(buffer), 0);
}

/* ---- memory that processes share ---- */

#ifdef _WIN32
#define WITH_FORK
#else
#define WITH_FORK ENTRY(shared_with_a_child),
TEST(shared_with_a_child)
{
    NDArrayHandle a = new_array(), shared = NULL;
    int pid = 0, id = -1, status = 0;
    float values[6] = {0};
    pid_t child;

    REQUIRE(MXNDArrayGetSharedMemHandle(a, &pid, &id) == 0);
    CHECK_INT(pid, mxl_process_id());
    REQUIRE(MXNDArrayCreateFromSharedMem(pid, dup(id), (uint32_t[]){2, 3}, 2, 0, &shared) == 0);
    child = fork();
    if (child == 0) {
        NDArrayHandle mine = NULL;
        float nine[6] = {9, 8, 7, 6, 5, 4};
        int failed = MXNDArrayGetSharedMemHandle(shared, &pid, &id) != 0 ||
                     MXNDArrayCreateFromSharedMemEx(pid, dup(id), (int[]){6}, 1, 0, &mine) != 0 ||
                     MXNDArraySyncCopyFromCPU(mine, nine, 6) != 0 || MXNDArrayFree(mine) != 0;

        _exit(failed);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(shared, values, 6), 0);
    CHECK(values[0] == 9 && values[5] == 4);
    CHECK_INT(MXNDArraySyncCopyToCPU(a, values, 6), 0);
    CHECK(values[5] == 5); /* it gave a copy */
    CHECK_INT(MXNDArrayFree(shared), 0);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(is_open(id), 0);
}
#endif

TEST(copies_for_others)
{
    NDArrayHandle a = new_array(), row = MXLNDArrayAt(a, 1), seen = NULL;
    const float more[6] = {6, 7, 8, 9, 10, 11};
    int pid, first = -1, again = -1, changed = -1, of_row = -1;
    float values[3];

    CHECK_INT(MXNDArrayGetSharedMemHandle(a, &pid, &first), 0);
    CHECK_INT(MXNDArrayGetSharedMemHandle(a, &pid, &again), 0);
    CHECK_INT(first, again);
    CHECK_INT(MXNDArraySyncCopyFromCPU(a, more, 6), 0);
    CHECK_INT(MXNDArrayGetSharedMemHandle(a, &pid, &changed), 0);
    CHECK(changed != first);
    CHECK_INT(MXNDArrayGetSharedMemHandle(row, &pid, &of_row), 0);
    CHECK_INT(MXNDArrayCreateFromSharedMemEx(pid, dup(of_row), (int[]){3}, 1, 0, &seen), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(seen, values, 3), 0);
    CHECK(values[0] == 9 && values[2] == 11);
    CHECK_INT(MXNDArrayFree(seen), 0);
    CHECK_INT(MXNDArrayFree(row), 0);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(is_open(first), 0);
    CHECK_INT(is_open(changed), 0);
}

/* Descriptors below 1024 that are open; those of Windows are multiples of 4. */
static int open_files(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd += STEP)
        n += is_open(fd);
    return n;
}

TEST(copies_of_an_array_that_is_edited)
{
    NDArrayHandle a = new_array(), row[2] = {MXLNDArrayAt(a, 0), MXLNDArrayAt(a, 1)};
    float values[6] = {0};
    int before = open_files(), pid, id = -1;

    for (int i = 0; i < 1500; i++) {
        values[0] = (float)i;
        CHECK_INT(MXNDArraySyncCopyFromCPU(a, values, 6), 0);
        CHECK_INT(MXNDArrayGetSharedMemHandle(a, &pid, &id), 0);
        CHECK_INT(MXNDArrayGetSharedMemHandle(row[i % 2], &pid, &id), 0);
        CHECK(is_open(id));
    }
    CHECK_INT(open_files(), before + 1);
    CHECK_INT(MXNDArrayFree(row[0]), 0);
    CHECK_INT(MXNDArrayFree(row[1]), 0);
    CHECK_INT(MXNDArrayFree(a), 0);
    CHECK_INT(open_files(), before);
}

TEST(descriptors_of_the_caller)
{
    NDArrayHandle a = new_array(), seen[2] = {NULL, NULL}, own = NULL;
    float values[6] = {0, 1, 2, 3, 4, 5}, got[6];
    int before = open_files(), id = -1;

    for (int i = 0; i < 2; i++) { /* each is a copy of its own, which outlives the array */
        values[0] = (float)(7 + i);
        CHECK_INT(MXNDArraySyncCopyFromCPU(a, values, 6), 0);
        REQUIRE(MXLNDArrayShare(a, &id) == 0);
        REQUIRE(MXNDArrayCreateFromSharedMemEx(0, id, (int[]){6}, 1, 0, &seen[i]) == 0);
    }
    CHECK_INT(MXNDArrayFree(a), 0);
    REQUIRE(MXLNDArrayShare(seen[0], &id) == 0); /* shared memory gives itself */
    REQUIRE(MXNDArrayCreateFromSharedMemEx(0, id, (int[]){6}, 1, 0, &own) == 0);
    values[0] = 9;
    CHECK_INT(MXNDArraySyncCopyFromCPU(own, values, 6), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(seen[0], got, 6), 0);
    CHECK(got[0] == 9);
    CHECK_INT(MXNDArraySyncCopyToCPU(seen[1], got, 6), 0);
    CHECK(got[0] == 8);
    CHECK_INT(MXNDArrayFree(seen[0]), 0);
    CHECK_INT(MXNDArrayFree(seen[1]), 0);
    CHECK_INT(MXNDArrayFree(own), 0);
    CHECK_INT(open_files(), before);
}

TEST(a_shape_larger_than_the_memory)
{
    NDArrayHandle a = new_array(), out = NULL;
    int pid, id, mine;

    CHECK_INT(MXNDArrayGetSharedMemHandle(a, &pid, &id), 0);
    mine = dup(id);
    CHECK_INT(MXNDArrayCreateFromSharedMemEx(pid, mine, (int[]){20000}, 1, 0, &out), -1);
    CHECK_HAS(MXGetLastError(), " bytes, the shape wants 80000");
#if defined(__linux__) /* elsewhere memory has whole pages */
    CHECK_INT(MXNDArrayCreateFromSharedMemEx(pid, mine, (int[]){7}, 1, 0, &out), -1);
    CHECK_HAS(MXGetLastError(), "24 bytes, the shape wants 28");
#endif
    CHECK(out == NULL);
    CHECK(is_open(mine)); /* still ours */
    mxl_shared_memory_close(mine);
    CHECK_INT(MXNDArrayFree(a), 0);
}

TEST(environment)
{
    const char *value = "";

    CHECK_INT(MXSetEnv("MXLITE_TEST_VARIABLE", "yes"), 0);
    CHECK_INT(MXGetEnv("MXLITE_TEST_VARIABLE", &value), 0);
    CHECK_STR(value, "yes");
    CHECK_STR(getenv("MXLITE_TEST_VARIABLE"), "yes");
    CHECK_INT(MXSetEnv("MXLITE_TEST_VARIABLE", NULL), 0);
    CHECK(getenv("MXLITE_TEST_VARIABLE") == NULL);
    CHECK_INT(MXGetEnv("MXLITE_TEST_VARIABLE", &value), 0);
    CHECK(value == NULL);
}

TEST(dense_arrays_need_no_check)
{
    NDArrayHandle a = new_array();

    CHECK_INT(MXNDArraySyncCheckFormat(a, true), 0);
    CHECK_INT(MXNDArrayFree(a), 0);
}

HARNESS_MAIN(ENTRY(foreign_memory), ENTRY(a_copy_of_data), ENTRY(out_and_in_again),
             ENTRY(nobody_takes_it), ENTRY(tensors_that_are_refused), ENTRY(transient_and_offset),
             ENTRY(protected_memory), WITH_FORK ENTRY(copies_for_others),
             ENTRY(copies_of_an_array_that_is_edited), ENTRY(descriptors_of_the_caller),
             ENTRY(a_shape_larger_than_the_memory), ENTRY(environment),
             ENTRY(dense_arrays_need_no_check))
