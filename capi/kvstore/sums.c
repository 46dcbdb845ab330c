/* Sums of what is pushed, by key. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "kvstore/item.h"
#include "ops/build.h"

/* A pushed array with its key's item. */
typedef struct pushed {
    mxl_store_item *item; /* kept */
    mxl_array *value;     /* borrowed */
    uint32_t at;          /* its position in the call */
} pushed;

static int compare(const void *a, const void *b)
{
    const pushed *p = a, *q = b;

    if (p->item->number != q->item->number)
        return p->item->number < q->item->number ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* The sum of `count` arrays of one key, from left to right, in the dtype of the first; new. With
 * `room` for their pointers. NULL with the error set. */
static mxl_array *sum_of(const pushed *first, uint32_t count, mxl_array **room)
{
    mxl_array *sum = NULL;
    mxl_scope scope;

    if (count == 1)
        return mxl_array_alias(first->value);
    for (uint32_t i = 1; i < count; i++) {
        char text[MXL_STORE_KEY_ROOM];

        if (!mxl_array_same_shape(first[0].value, first[i].value))
            return mxl_error_null("key %s: pushed arrays have the shapes %s and %s",
                                  mxl_store_item_text(first->item, text),
                                  MXL_SHAPE_OF(first[0].value), MXL_SHAPE_OF(first[i].value));
    }
    mxl_scope_begin(&scope, (mxl_mode){.dialect = &mxl_dialect_mxnet});
    for (uint32_t i = 0; i < count; i++)
        room[i] = first[i].value->dtype == first[0].value->dtype
                      ? first[i].value
                      : mxl_cast(&scope, first[i].value, first[0].value->dtype);
    if (!scope.failed &&
        mxl_invoke(&mxl_op_add_n, NULL, (int)count, room, 1, &sum, scope.mode) != 0)
        sum = NULL;
    mxl_scope_end(&scope);
    return sum;
}

void mxl_store_sums_clear(mxl_store_sums *sums)
{
    for (uint32_t i = 0; i < sums->count; i++) {
        mxl_array_release(sums->list[i].sum);
        mxl_ref_release(&sums->list[i].item->ref);
    }
    mxl_free(sums->list, sums->room * sizeof(*sums->list));
    *sums = (mxl_store_sums){0};
}

/* Sums runs of equal items of a sorted list. */
static int sum_all(const pushed *list, uint32_t count, mxl_array **room, mxl_store_sums *sums)
{
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        mxl_array *sum;

        for (end = begin + 1; end < count && list[end].item == list[begin].item;)
            end++;
        sum = sum_of(list + begin, end - begin, room);
        if (sum == NULL)
            return -1;
        mxl_ref_retain(&list[begin].item->ref);
        sums->list[sums->count++] = (mxl_store_sum){list[begin].item, sum};
    }
    return 0;
}

int mxl_store_add_up(mxl_store *store, mxl_store_keys keys, mxl_array *const *values,
                     mxl_store_sums *sums)
{
    size_t entry = sizeof(pushed) + sizeof(mxl_array *), bytes = (keys.count + 1) * entry;
    pushed *list = mxl_alloc(bytes);
    uint32_t found = 0;
    int status = -1;

    *sums = (mxl_store_sums){.room = keys.count + 1};
    sums->list = mxl_alloc(sums->room * sizeof(*sums->list));
    if (list == NULL || sums->list == NULL)
        goto done;
    for (; found < keys.count; found++) {
        mxl_store_item *item = mxl_store_find(store, keys, found);

        if (item == NULL)
            goto done;
        list[found] = (pushed){item, values[found], found};
    }
    qsort(list, found, sizeof(*list), compare);
    status = sum_all(list, found, (mxl_array **)(list + keys.count + 1), sums);
done:
    for (uint32_t i = 0; i < found; i++)
        mxl_ref_release(&list[i].item->ref);
    mxl_free(list, bytes);
    if (status != 0)
        mxl_store_sums_clear(sums);
    return status;
}
