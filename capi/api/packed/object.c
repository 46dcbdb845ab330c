/* Objects of packed functions, and MXNetObjectFree. */
#include "api/packed/object.h"

#include "base/memory/mem.h"

static size_t bytes_of(int count)
{
    return sizeof(packed_object) + (size_t)(count > 0 ? count : 0) * sizeof(packed_object *);
}

static void object_free(mxl_ref *ref)
{
    packed_object *object = (packed_object *)ref;

    for (int i = 0; i < object->count; i++)
        mxl_ref_release(&object->item[i]->ref);
    mxl_free(object, bytes_of(object->count));
}

static packed_object *object_new(int count)
{
    packed_object *object = mxl_alloc_zero(bytes_of(count));

    if (object == NULL)
        return NULL;
    mxl_ref_init(&object->ref, object_free);
    object->count = count == -1 ? -1 : 0;
    return object;
}

static MXNetObjectHandle give(packed_object *object)
{
    uint64_t handle = object != NULL ? mxl_handle_new(MXL_KIND_OBJECT, &object->ref) : 0;

    if (handle == 0 && object != NULL)
        mxl_ref_release(&object->ref);
    return (MXNetObjectHandle)(uintptr_t)handle;
}

MXNetObjectHandle packed_number(int64_t number)
{
    packed_object *object = object_new(-1);

    if (object != NULL)
        object->number = number;
    return give(object);
}

MXNetObjectHandle packed_list(int count, const MXNetValue *items)
{
    packed_object *list = object_new(count);

    for (int i = 0; list != NULL && i < count; i++) {
        packed_object *item = packed_pin(items[i].v_handle);

        if (item == NULL) {
            list->count = i;
            for (int k = i; k-- > 0;)
                mxl_ref_release(&list->item[k]->ref);
            mxl_free(list, bytes_of(count));
            return NULL;
        }
        mxl_ref_retain(&item->ref);
        list->item[i] = item;
        packed_unpin(items[i].v_handle);
    }
    if (list != NULL)
        list->count = count;
    return give(list);
}

packed_object *packed_pin(const void *handle)
{
    return (packed_object *)mxl_handle_pin(MXL_KIND_OBJECT, api_number(handle));
}

void packed_unpin(const void *handle)
{
    mxl_handle_unpin(api_number(handle));
}

int packed_text(const packed_object *object, const char *what, mxl_str *text)
{
    if (object->count == -1) {
        mxl_str_addf(text, "(%lld,)", (long long)object->number);
        return 0;
    }
    mxl_str_add(text, "(");
    for (int i = 0; i < object->count; i++) {
        if (object->item[i]->count != -1)
            return mxl_error("%s: item %d is a list, a number was expected", what, i);
        mxl_str_addf(text, "%lld,", (long long)object->item[i]->number);
    }
    mxl_str_add(text, ")");
    return 0;
}

int MXNetObjectFree(MXNetObjectHandle obj)
{
    return mxl_handle_free(MXL_KIND_OBJECT, api_number(obj)) == 0 ? 0 : mxl_error_prefix(__func__);
}
