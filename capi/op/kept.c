/* Forms of inputs that nodes of graphs keep between calls. */
#include "op/kept.h"

#include "base/memory/mem.h"

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
    for (int i = 0; i < kept->count; i++)
        mxl_storage_release(kept->of[i].storage);
    kept->form = NULL;
    kept->count = 0;
}

void mxl_kept_free(mxl_kept *kept)
{
    if (kept == NULL)
        return;
    mxl_kept_clear(kept);
    mxl_free(kept, sizeof(*kept));
}

static bool is_of(const mxl_kept_source *source, const mxl_array *array)
{
    return source->storage == array->storage && source->offset == array->offset &&
           source->version == mxl_storage_version(array->storage);
}

mxl_kept *mxl_kept_of(mxl_kept *kept, int count, mxl_array *const *arrays)
{
    bool same = kept != NULL && kept->count == count;

    for (int i = 0; i < count && kept != NULL; i++) {
        if (may_change_unseen(arrays[i]->storage))
            return NULL;
        same = same && is_of(&kept->of[i], arrays[i]);
    }
    if (kept == NULL || same)
        return kept;
    mxl_kept_clear(kept);
    for (; kept->count < count; kept->count++) {
        mxl_storage *storage = arrays[kept->count]->storage;

        mxl_ref_retain(&storage->ref);
        kept->of[kept->count] =
            (mxl_kept_source){storage, mxl_storage_version(storage), arrays[kept->count]->offset};
    }
    return kept;
}
