/* Failures that are kept until a result is read; the engine keeps and passes them. */
#include "array/failure.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"

/* What one call left. Arrays that were computed from its results share it. */
typedef struct kept {
    mxl_ref ref;
    atomic_bool reported;
    size_t bytes;
    char text[];
} kept;

/* What a storage has: it is replaced by a later one alone, and released with the storage, so that
 * threads read it without a lock. */
typedef struct mxl_failure {
    kept *of;
    struct mxl_failure *older;
} mxl_failure;

atomic_int mxl_failures;

/* The last one, kept until it is reported. */
static _Atomic(kept *) last;

static void kept_free(mxl_ref *ref)
{
    kept *k = (kept *)ref;

    if (!atomic_load_explicit(&k->reported, memory_order_acquire))
        atomic_fetch_sub_explicit(&mxl_failures, 1, memory_order_relaxed);
    mxl_free(k, k->bytes);
}

static void drop(kept *k)
{
    if (k != NULL)
        mxl_ref_release(&k->ref);
}

/* What an array has that was not reported; borrowed. NULL: nothing. */
static kept *unreported(const mxl_array *array)
{
    const mxl_extra *extra =
        array == NULL || array->storage == NULL
            ? NULL
            : atomic_load_explicit(&array->storage->extra, memory_order_acquire);
    mxl_failure *failure =
        extra == NULL ? NULL : atomic_load_explicit(&extra->failure, memory_order_acquire);

    return failure == NULL || atomic_load_explicit(&failure->of->reported, memory_order_acquire)
               ? NULL
               : failure->of;
}

static int attach(mxl_array *array, kept *k)
{
    mxl_extra *extra = mxl_storage_extra(array->storage);
    mxl_failure *made = extra == NULL ? NULL : mxl_alloc(sizeof(*made));

    if (made == NULL)
        return -1;
    mxl_ref_retain(&k->ref);
    made->of = k;
    made->older = atomic_load_explicit(&extra->failure, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&extra->failure, &made->older, made))
        ;
    return 0;
}

int mxl_failure_keep(int count, mxl_array *const *arrays)
{
    const char *text = mxl_error_text();
    size_t bytes = sizeof(kept) + strlen(text) + 1;
    kept *k = mxl_alloc(bytes);
    int status = 0;

    if (k == NULL)
        return -1;
    mxl_ref_init(&k->ref, kept_free);
    atomic_init(&k->reported, false);
    k->bytes = bytes;
    memcpy(k->text, text, strlen(text) + 1);
    atomic_fetch_add_explicit(&mxl_failures, 1, memory_order_relaxed);
    for (int i = 0; i < count && status == 0; i++) {
        if (arrays[i]->contiguous && arrays[i]->size > 0)
            memset(mxl_array_write(arrays[i]), 0,
                   (size_t)arrays[i]->size * mxl_dtype_size(arrays[i]->dtype));
        status = attach(arrays[i], k);
    }
    if (status == 0) {
        mxl_ref_retain(&k->ref);
        drop(atomic_exchange(&last, k));
    }
    drop(k);
    return status;
}

int mxl_failure_pass(int num_inputs, mxl_array *const *inputs, int num_outputs,
                     mxl_array *const *outputs)
{
    kept *k = NULL;
    int status = 0;

    for (int i = 0; i < num_inputs && k == NULL; i++)
        k = unreported(inputs[i]);
    for (int i = 0; i < num_outputs && k != NULL && status == 0; i++) {
        if (outputs[i] != NULL && outputs[i]->storage != NULL && unreported(outputs[i]) != k)
            status = attach(outputs[i], k);
    }
    return status;
}

/* Sets the error, unless another thread has just reported it. */
static int report(kept *k)
{
    if (atomic_exchange(&k->reported, true))
        return 0;
    atomic_fetch_sub_explicit(&mxl_failures, 1, memory_order_relaxed);
    return mxl_error("%s", k->text);
}

int mxl_failure_report(const mxl_array *array)
{
    kept *k = mxl_failures_exist() ? unreported(array) : NULL, *expected = k;
    int status;

    if (k == NULL)
        return 0;
    status = report(k);
    if (atomic_compare_exchange_strong(&last, &expected, NULL))
        drop(k); /* the array keeps it */
    return status;
}

int mxl_failure_report_any(void)
{
    kept *k = mxl_failures_exist() ? atomic_exchange(&last, NULL) : NULL;
    int status = k == NULL ? 0 : report(k);

    drop(k);
    return status;
}

void mxl_failure_release(mxl_failure *failure)
{
    while (failure != NULL) {
        mxl_failure *older = failure->older;

        drop(failure->of);
        mxl_free(failure, sizeof(*failure));
        failure = older;
    }
}
