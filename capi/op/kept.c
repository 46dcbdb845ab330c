/* Forms of inputs that nodes of graphs keep between calls. */
#include "op/kept.h"

static bool may_change_unseen(mxl_storage *storage)
{
    mxl_extra *extra = atomic_load_explicit(&storage->extra, memory_order_acquire);

    return storage->foreign != NULL ||
           (extra != NULL && atomic_load_explicit(&extra->exposed, memory_order_relaxed));
}

void mxl_kept_clear(mxl_kept *kept)
{
    if (kept->form != NULL)
        kept->free(kept->form);
    if (kept->of != NULL)
        mxl_storage_release(kept->of);
    kept->form = NULL;
    kept->of = NULL;
}

mxl_kept *mxl_kept_of(mxl_kept *kept, const mxl_array *array)
{
    uint64_t version;

    if (kept == NULL || may_change_unseen(array->storage))
        return NULL;
    version = mxl_storage_version(array->storage);
    if (kept->of == array->storage && kept->version == version && kept->offset == array->offset)
        return kept;
    mxl_kept_clear(kept);
    mxl_ref_retain(&array->storage->ref);
    kept->of = array->storage;
    kept->version = version;
    kept->offset = array->offset;
    return kept;
}
