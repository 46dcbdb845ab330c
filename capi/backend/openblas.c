/* Finds OpenBLAS and fills the table of its functions; unloads nothing, and survives a fork. */
#include "backend/openblas.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/thread.h"
#include "base/system/threads.h"
#include "base/system/dynamic.h"

enum { MOST_LIBRARIES = 8, PATH_ROOM = 4096 };

#define ENTRY(name, field) {name, offsetof(mxl_openblas, field)}

static const mxl_probe_symbol symbols[] = {
    ENTRY("sgemm_", f32.gemm),
    ENTRY("spotrf_", f32.potrf),
    ENTRY("strsm_", f32.trsm),
    ENTRY("sgetrf_", f32.getrf),
    ENTRY("sgetri_", f32.getri),
    ENTRY("sgetrs_", f32.getrs),
    ENTRY("sgeqrf_", f32.geqrf),
    ENTRY("sorgqr_", f32.orgqr),
    ENTRY("ssyevd_", f32.syevd),
    ENTRY("dgemm_", f64.gemm),
    ENTRY("dpotrf_", f64.potrf),
    ENTRY("dtrsm_", f64.trsm),
    ENTRY("dgetrf_", f64.getrf),
    ENTRY("dgetri_", f64.getri),
    ENTRY("dgetrs_", f64.getrs),
    ENTRY("dgeqrf_", f64.geqrf),
    ENTRY("dorgqr_", f64.orgqr),
    ENTRY("dsyevd_", f64.syevd),
    ENTRY("dgesvd_", dgesvd),
    ENTRY("dgeev_", dgeev),
    ENTRY("openblas_set_num_threads", set_threads),
    ENTRY("openblas_get_config", config),
    {NULL, 0},
};

/* pip's wheel prefixes every name, distributions do not. */
static const char *const prefixes[] = {"scipy_", ""};

#if defined(__APPLE__)
static const char *const system_names[] = {"libopenblas.0.dylib", "libopenblas.dylib"};
#else
static const char *const system_names[] = {"libopenblas.so.0", "libopenblas.so"};
#endif

static mxl_mutex lock = MXL_MUTEX_INIT; /* guards all variables below */
static struct {
    void *library;
    mxl_openblas table;
} loaded[MOST_LIBRARIES];
static int num_loaded;
static char hint[PATH_ROOM];

static atomic_bool decided; /* `chosen` is valid */
static const mxl_openblas *_Atomic chosen;
static atomic_bool lost; /* this process was forked from one that had loaded OpenBLAS */
static atomic_int threads_told;

/* Calls in progress. A fork lets no new call begin and waits until all have ended. */
static struct {
    mxl_mutex lock;
    mxl_cond change;
    int count;
    bool forking;
} users = {.lock = MXL_MUTEX_INIT, .change = MXL_COND_INIT};

/* `lock` is guarded with the library's other locks. The handlers of `users` are registered after
 * OpenBLAS was opened and has registered its own, so that they run before those. */
static void fork_prepare(void)
{
    mxl_mutex_lock(&lock);
}

static void fork_parent(void)
{
    mxl_mutex_unlock(&lock);
}

static void fork_child(void)
{
    if (num_loaded > 0)
        atomic_store(&lost, true);
    mxl_mutex_unlock(&lock);
}

__attribute__((constructor)) static void start(void)
{
    mxl_fork_guard(MXL_FORK_BLAS, fork_prepare, fork_parent, fork_child);
}

static void users_prepare(void)
{
    mxl_mutex_lock(&users.lock);
    users.forking = true;
    while (users.count > 0)
        mxl_cond_wait(&users.change, &users.lock);
}

static void users_parent(void)
{
    users.forking = false;
    mxl_cond_broadcast(&users.change);
    mxl_mutex_unlock(&users.lock);
}

/* Threads that waited in the parent do not exist in the child. */
static void users_child(void)
{
    users.forking = false;
    users.change = (mxl_cond)MXL_COND_INIT;
    mxl_mutex_unlock(&users.lock);
}

/* Fills the table from an open library; false if a function is missing or its integers have 64
 * bits. */
static bool fill(void *library, mxl_openblas *table)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        if (mxl_probe_fill(library, prefixes[i], symbols, table))
            return strstr(table->config(), "USE64BITINT") == NULL;
    }
    return false;
}

/* Opens a library, or finds it among those opened before. Returns its table, or NULL with the error
 * set. */
static const mxl_openblas *held_load(const char *path)
{
    void *library = mxl_probe_open(path);

    if (library == NULL)
        return NULL;
    for (int i = 0; i < num_loaded; i++) {
        if (loaded[i].library == library)
            return &loaded[i].table;
    }
    if (num_loaded == MOST_LIBRARIES)
        return mxl_error_null("%s is one library more than the %d that were opened", path,
                              (int)MOST_LIBRARIES);
    if (!fill(library, &loaded[num_loaded].table))
        return mxl_error_null("%s is no OpenBLAS with LAPACK and 32-bit integers", path);
    if (!mxl_system_at_fork(users_prepare, users_parent, users_child))
        return mxl_error_null("out of memory: a handler for forks");
    loaded[num_loaded].library = library;
    return &loaded[num_loaded++].table;
}

/* Takes the first candidate that can be loaded. A failure is an error only for the one that the
 * environment names. */
static int held_find(const mxl_openblas **table)
{
    const char *named = getenv("MXLITE_OPENBLAS");
    bool allowed;

    *table = NULL;
    if (mxl_probe_allowed("openblas", &allowed) != 0)
        return -1;
    if (!allowed)
        return 0;
    if (named != NULL && named[0] != 0) {
        *table = held_load(named);
        return *table == NULL ? mxl_error_prefix("MXLITE_OPENBLAS") : 0;
    }
    if (hint[0] != 0)
        *table = held_load(hint);
    for (size_t i = 0; i < sizeof(system_names) / sizeof(*system_names) && *table == NULL; i++)
        *table = held_load(system_names[i]);
    return 0;
}

/* Makes `table` the answer of later calls. */
static void held_choose(const mxl_openblas *table)
{
    atomic_store(&threads_told, 0);
    atomic_store(&chosen, table);
    atomic_store(&decided, true);
}

int mxl_openblas_get(const mxl_openblas **table)
{
    int status = 0;

    *table = NULL;
    if (!atomic_load_explicit(&decided, memory_order_acquire)) {
        mxl_mutex_lock(&lock);
        if (!atomic_load(&decided)) {
            status = held_find(table);
            if (status == 0)
                held_choose(*table);
        }
        mxl_mutex_unlock(&lock);
        if (status != 0)
            return -1;
    }
    *table = atomic_load_explicit(&lost, memory_order_relaxed) ? NULL : atomic_load(&chosen);
    return 0;
}

int mxl_openblas_begin(const mxl_openblas **table, bool large)
{
    int threads = large ? mxl_thread_count() : 1;

    if (mxl_openblas_get(table) != 0)
        return -1;
    if (*table == NULL)
        return 0;
    mxl_mutex_lock(&users.lock);
    while (users.forking)
        mxl_cond_wait(&users.change, &users.lock);
    users.count++;
    mxl_mutex_unlock(&users.lock);
    if (atomic_exchange(&threads_told, threads) != threads)
        (*table)->set_threads(threads);
    return 0;
}

void mxl_openblas_end(const mxl_openblas *table)
{
    if (table == NULL)
        return;
    mxl_mutex_lock(&users.lock);
    if (--users.count == 0)
        mxl_cond_broadcast(&users.change);
    mxl_mutex_unlock(&users.lock);
}

int mxl_openblas_set(const char *path)
{
    const mxl_openblas *table = NULL;
    int status = 0;

    mxl_mutex_lock(&lock);
    if (path == NULL) {
        held_choose(NULL);
    } else if (path[0] == 0) {
        status = held_find(&table);
        if (status == 0)
            held_choose(table);
    } else if (atomic_load(&lost)) {
        status = mxl_error("openblas: this process was forked from one that had loaded it");
    } else {
        table = held_load(path);
        status = table == NULL ? mxl_error_prefix("openblas") : 0;
        if (status == 0)
            held_choose(table);
    }
    mxl_mutex_unlock(&lock);
    return status;
}

int mxl_openblas_hint(const char *path)
{
    size_t bytes = strlen(path) + 1;

    if (bytes > PATH_ROOM)
        return mxl_error("openblas: the path has %llu bytes, at most %d are possible",
                         (unsigned long long)bytes, (int)PATH_ROOM);
    mxl_mutex_lock(&lock);
    memcpy(hint, path, bytes);
    mxl_mutex_unlock(&lock);
    return 0;
}

char *mxl_openblas_path(const mxl_openblas *table, char *buf, size_t size)
{
    void *function;

    memcpy(&function, &table->config, sizeof(function));
    mxl_library_path(function, buf, size);
    return buf;
}
