/* Functions about the whole process or thread: errors, versions, features, modes, memory. Called by
 * bindings. */
#include "api/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/openblas.h"
#include "base/memory/mem.h"
#include "base/text/str.h"
#include "base/thread.h"
#include "engine/run/fallback.h"
#include "kernel/target.h"
#include "base/system/process.h"

const char *MXGetLastError(void)
{
    return mxl_error_text();
}

const char *NNGetLastError(void)
{
    return mxl_error_text();
}

/* ---- versions and features ---- */

int MXGetVersion(int *out)
{
    enum { MXNET_VERSION = 10901 };

    API_NEED(out);
    *out = MXNET_VERSION;
    return 0;
}

int MXLGetVersion(int *out)
{
    API_NEED(out);
    *out = MXL_VERSION;
    return 0;
}

int MXGetGPUCount(int *out)
{
    API_NEED(out);
    *out = 0;
    return 0;
}

/* True if the compiler may use an instruction set everywhere. Loops chosen at run time are reported
 * by MXLGetInfo's "vector_level". */
#if defined(__SSE__)
#define HAS_SSE true
#else
#define HAS_SSE false
#endif
#if defined(__SSE2__)
#define HAS_SSE2 true
#else
#define HAS_SSE2 false
#endif
#if defined(__SSE3__)
#define HAS_SSE3 true
#else
#define HAS_SSE3 false
#endif
#if defined(__SSE4_1__)
#define HAS_SSE4_1 true
#else
#define HAS_SSE4_1 false
#endif
#if defined(__SSE4_2__)
#define HAS_SSE4_2 true
#else
#define HAS_SSE4_2 false
#endif
#if defined(__SSE4A__)
#define HAS_SSE4A true
#else
#define HAS_SSE4A false
#endif
#if defined(__AVX__)
#define HAS_AVX true
#else
#define HAS_AVX false
#endif
#if defined(__AVX2__)
#define HAS_AVX2 true
#else
#define HAS_AVX2 false
#endif
#if defined(__F16C__)
#define HAS_F16C true
#else
#define HAS_F16C false
#endif
#if defined(__OPTIMIZE__)
#define HAS_DEBUG false
#else
#define HAS_DEBUG true
#endif

/* Names and order are MXNet's. */
static const struct LibFeature features[] = {
    {"CUDA", false},
    {"CUDNN", false},
    {"NCCL", false},
    {"CUDA_RTC", false},
    {"TENSORRT", false},
    {"CPU_SSE", HAS_SSE},
    {"CPU_SSE2", HAS_SSE2},
    {"CPU_SSE3", HAS_SSE3},
    {"CPU_SSE4_1", HAS_SSE4_1},
    {"CPU_SSE4_2", HAS_SSE4_2},
    {"CPU_SSE4A", HAS_SSE4A},
    {"CPU_AVX", HAS_AVX},
    {"CPU_AVX2", HAS_AVX2},
    {"OPENMP", false},
    {"SSE", false},
    {"F16C", HAS_F16C},
    {"JEMALLOC", false},
    {"BLAS_OPEN", false},
    {"BLAS_ATLAS", false},
    {"BLAS_MKL", false},
    {"BLAS_APPLE", false},
    {"LAPACK", true}, /* linalg_* operators work with or without a back end */
    {"MKLDNN", false},
    {"OPENCV", false},
    {"CAFFE", false},
    {"PROFILER", true},
    {"DIST_KVSTORE", false},
    {"CXX14", false},
    {"INT64_TENSOR_SIZE", true},
    {"SIGNAL_HANDLER", false},
    {"DEBUG", HAS_DEBUG},
    {"TVM_OP", false},
};

int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size)
{
    API_NEED(libFeature);
    API_NEED(size);
    *libFeature = features;
    *size = sizeof(features) / sizeof(*features);
    return 0;
}

/* Prints "backends" or "openblas"; -1 if a requested library cannot be used. */
static int say_backend(mxl_str *text, bool details)
{
    const mxl_openblas *openblas;
    char path[512];

    if (mxl_openblas_get(&openblas) != 0)
        return -1;
    if (!details)
        mxl_str_add(text, openblas != NULL ? "openblas portable" : "portable");
    else if (openblas == NULL)
        mxl_str_add(text, "none");
    else
        mxl_str_addf(text, "%s: %s", mxl_openblas_path(openblas, path, sizeof(path)),
                     openblas->config());
    return 0;
}

static void say(mxl_str *text, const char *what)
{
    if (strcmp(what, "version") == 0) {
        mxl_str_addf(text, "%d.%d.%d", MXL_VERSION_MAJOR, MXL_VERSION_MINOR, MXL_VERSION_PATCH);
    } else if (strcmp(what, "compiler") == 0) {
#if defined(__clang__)
        mxl_str_add(text, __VERSION__);
#elif defined(__GNUC__)
        mxl_str_addf(text, "gcc %s", __VERSION__);
#else
        mxl_str_add(text, "unknown");
#endif
    } else if (strcmp(what, "threads") == 0) {
        mxl_str_addf(text, "%d", mxl_thread_count());
    } else if (strcmp(what, "vector_level") == 0) {
        mxl_str_add(text, mxl_level_name(mxl_level()));
    } else if (strcmp(what, "dtypes") == 0) {
        for (int i = 0; i < MXL_DTYPE_COUNT; i++)
            mxl_str_addf(text, "%s%s", i > 0 ? " " : "", mxl_dtype_name(i));
    }
}

int MXLGetInfo(const char *what, const char **out)
{
    mxl_str text = {0};
    char *lent = NULL;

    API_NEED(out);
    *out = NULL;
    API_NEED(what);
    if (strcmp(what, "backends") == 0 || strcmp(what, "openblas") == 0) {
        if (say_backend(&text, what[0] == 'o') != 0)
            return mxl_error_prefix(__func__);
    } else {
        say(&text, what);
    }
    if (text.length == 0 && !text.failed)
        return mxl_error(
            "%s: unknown fact \"%s\"; version, compiler, threads, vector_level, backends, "
            "openblas and dtypes are known",
            __func__, what);
    if (!text.failed)
        lent = api_buffer_get(API_BUFFER_TEXT, text.length + 1);
    if (lent != NULL)
        memcpy(lent, text.text, text.length + 1);
    mxl_str_clear(&text);
    *out = lent;
    return lent == NULL ? -1 : 0;
}

/* ---- modes ---- */

int MXIsNumpyShape(int *curr)
{
    API_NEED(curr);
    *curr = mxl_state_get()->numpy_shape;
    return 0;
}

int MXSetIsNumpyShape(int is_np_shape, int *prev)
{
    mxl_state *state;

    API_NEED(prev);
    *prev = 0;
    state = api_own_state(__func__);
    if (state == NULL)
        return -1;
    *prev = state->numpy_shape;
    state->numpy_shape = is_np_shape != 0;
    return 0;
}

int MXSetNumOMPThreads(int thread_num)
{
    if (thread_num < 0)
        return mxl_error("%s: thread_num is %d; at least 1, or 0 for the default", __func__,
                         thread_num);
    (void)mxl_thread_set_count(thread_num);
    return 0;
}

int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size)
{
    mxl_state *state;

    API_NEED(prev_bulk_size);
    *prev_bulk_size = 0;
    if (bulk_size < 0)
        return mxl_error("%s: bulk_size is %d, a negative number", __func__, bulk_size);
    state = api_own_state(__func__);
    if (state == NULL)
        return -1;
    *prev_bulk_size = state->bulk_size;
    state->bulk_size = bulk_size;
    return 0;
}

/* Operators run on the caller's thread: there is nothing to wait for, and nothing to shut down. */
int MXNotifyShutdown(void)
{
    return 0;
}

/* ---- environment ---- */

/* A copy, because the next setenv may invalidate the result of getenv. */
int MXGetEnv(const char *name, const char **value)
{
    const char *text;
    char *lent;

    API_NEED(value);
    *value = NULL;
    API_NEED(name);
    text = getenv(name);
    if (text == NULL)
        return 0;
    lent = api_buffer_get(API_BUFFER_TEXT, strlen(text) + 1);
    if (lent == NULL)
        return mxl_error_prefix(__func__);
    *value = strcpy(lent, text);
    return 0;
}

int MXSetEnv(const char *name, const char *value)
{
    API_NEED(name);
    if (mxl_environment_set(name, value) != 0)
        return mxl_error("%s: \"%s\" cannot be set: %s", __func__, name, strerror(errno));
    return 0;
}

/* ---- memory ---- */

int MXStorageEmptyCache(int dev_type, int dev_id)
{
    (void)dev_id;
    if (api_check_device(__func__, dev_type) != 0)
        return -1;
    mxl_mem_trim();
    return 0;
}

int MXLGetLiveHandles(int64_t *out)
{
    API_NEED(out);
    *out = mxl_handle_live();
    return 0;
}

int MXLGetLiveBytes(int64_t *out)
{
    API_NEED(out);
    *out = mxl_mem_live_bytes();
    return 0;
}

int MXLGetPoolBytes(int64_t *out)
{
    API_NEED(out);
    *out = mxl_mem_kept_bytes();
    return 0;
}

int MXLSetPoolCap(int64_t bytes, int64_t *before)
{
    API_NEED(before);
    *before = mxl_mem_set_cap(bytes);
    return 0;
}

int MXLSetAllocator(MXLAllocFunction alloc, MXLFreeFunction release, void *payload, int keep_blocks)
{
    /* Buffers lent to this thread would count as live. */
    mxl_state_clear_slots();
    if (mxl_mem_set_allocator(alloc, release, payload, keep_blocks != 0) != 0)
        return mxl_error_prefix(__func__);
    return 0;
}

/* ---- notices ---- */

int MXLSetNotice(MXLNotice notice)
{
    mxl_fallback_tell(notice);
    return 0;
}
