/* The table of a store: creating it, adding and finding keys, replacing and reading values. */
#include "kvstore/store.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "kvstore/item.h"
#include "base/system/threads.h"

static void store_free(mxl_ref *ref)
{
    mxl_store *store = (mxl_store *)ref;

    for (uint32_t i = 0; i < store->count; i++)
        mxl_ref_release(&store->item[i]->ref);
    mxl_free(store->item, store->room * sizeof(*store->item));
    mxl_mutex_destroy(&store->lock);
    mxl_free(store, sizeof(*store));
}

mxl_store *mxl_store_new(const char *type)
{
    static const char *const others[] = {"dist", "nccl", "horovod", "byteps"};
    char lower[sizeof(((mxl_store *)NULL)->type)];
    size_t length = strlen(type);
    mxl_store *store;

    if (length >= sizeof(lower))
        return mxl_error_null("the type has %zu characters; at most %zu are allowed", length,
                              sizeof(lower) - 1);
    for (size_t i = 0; i <= length; i++)
        lower[i] = (char)tolower((unsigned char)type[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (strstr(lower, others[i]) != NULL)
            return mxl_error_null("type '%s': mxlite has stores of one process in C, such as "
                                  "'local' and 'device'",
                                  type);
    }
    store = mxl_alloc_zero(sizeof(*store));
    if (store == NULL)
        return NULL;
    mxl_ref_init(&store->ref, store_free);
    mxl_mutex_init(&store->lock);
    memcpy(store->type, lower, length + 1);
    return store;
}

mxl_store_updater mxl_store_get_updater(mxl_store *store)
{
    mxl_store_updater updater;

    mxl_mutex_lock(&store->lock);
    updater = store->updater;
    mxl_mutex_unlock(&store->lock);
    return updater;
}

void mxl_store_set_updater(mxl_store *store, mxl_store_updater updater)
{
    mxl_mutex_lock(&store->lock);
    store->updater = updater;
    mxl_mutex_unlock(&store->lock);
}

/* ---- items ---- */

static void item_free(mxl_ref *ref)
{
    mxl_store_item *item = (mxl_store_item *)ref;

    mxl_array_release(item->value);
    mxl_free(item, item->bytes);
}

/* A new item with a copy of an array; NULL with the error set. */
static mxl_store_item *item_new(int number, const char *name, const mxl_array *value)
{
    size_t bytes = sizeof(mxl_store_item) + strlen(name) + 1;
    mxl_store_item *item = mxl_alloc_zero(bytes);

    if (item == NULL)
        return NULL;
    mxl_ref_init(&item->ref, item_free);
    item->number = number;
    item->bytes = bytes;
    strcpy(item->name, name);
    item->value = mxl_array_copy(value);
    if (item->value != NULL)
        return item;
    mxl_ref_release(&item->ref);
    return NULL;
}

const char *mxl_store_key_text(mxl_store_keys keys, uint32_t i, char *room)
{
    if (keys.number == NULL)
        return keys.name[i];
    snprintf(room, MXL_STORE_KEY_ROOM, "%d", keys.number[i]);
    return room;
}

const char *mxl_store_item_text(const mxl_store_item *item, char *room)
{
    mxl_store_keys key = {1, &item->number, NULL};

    return item->name[0] != '\0' ? item->name : mxl_store_key_text(key, 0, room);
}

/* Where key i is in the table, or belongs. Called under the lock. */
static uint32_t place_of(const mxl_store *store, mxl_store_keys keys, uint32_t i, bool *found)
{
    uint32_t low = 0, high = store->count;

    *found = false;
    while (low < high && !*found) {
        uint32_t middle = low + (high - low) / 2;
        const mxl_store_item *item = store->item[middle];
        int order = keys.number == NULL
                        ? strcmp(keys.name[i], item->name)
                        : (keys.number[i] > item->number) - (keys.number[i] < item->number);

        if (order > 0)
            low = middle + 1;
        else
            high = middle;
        *found = order == 0;
    }
    return high;
}

/* Checks that keys are all names or all numbers. Called under the lock. */
static int check_kind(const mxl_store *store, mxl_store_keys keys)
{
    bool named = keys.number == NULL;

    if (keys.count == 0 || store->count == 0 || store->named == named)
        return 0;
    return mxl_error("the store's keys are %s; %s were given",
                     store->named ? "strings" : "integers", named ? "strings" : "integers");
}

mxl_store_item *mxl_store_find(mxl_store *store, mxl_store_keys keys, uint32_t i)
{
    char room[MXL_STORE_KEY_ROOM];
    mxl_store_item *item = NULL;
    bool found = false;
    int status;

    mxl_mutex_lock(&store->lock);
    status = check_kind(store, keys);
    if (status == 0) {
        uint32_t at = place_of(store, keys, i, &found);

        if (found) {
            item = store->item[at];
            mxl_ref_retain(&item->ref);
        }
    }
    mxl_mutex_unlock(&store->lock);
    if (status == 0 && item == NULL)
        return mxl_error_null("key %s is not in the store; init adds it",
                              mxl_store_key_text(keys, i, room));
    return item;
}

/* ---- adding ---- */

/* Room for one more; -1 with the error set. */
static int grow(mxl_store *store)
{
    uint32_t room = store->room == 0 ? 16 : 2 * store->room;
    mxl_store_item **list;

    if (store->count < store->room)
        return 0;
    list = mxl_realloc(store->item, store->room * sizeof(*list), room * sizeof(*list));
    if (list == NULL)
        return -1;
    store->item = list;
    store->room = room;
    return 0;
}

/* Adds one key with a copy of the array. Called under the lock. */
static int add(mxl_store *store, mxl_store_keys keys, uint32_t i, const mxl_array *value)
{
    char room[MXL_STORE_KEY_ROOM];
    mxl_store_item *item;
    uint32_t at;
    bool found;

    if (check_kind(store, keys) != 0)
        return -1;
    at = place_of(store, keys, i, &found);
    if (found)
        return mxl_error("key %s is in the store already", mxl_store_key_text(keys, i, room));
    if (grow(store) != 0)
        return -1;
    item = keys.number == NULL ? item_new(store->numbers, keys.name[i], value)
                               : item_new(keys.number[i], "", value);
    if (item == NULL)
        return -1;
    memmove(store->item + at + 1, store->item + at, (store->count - at) * sizeof(*store->item));
    store->item[at] = item;
    store->count++;
    store->named = keys.number == NULL;
    store->numbers += store->named;
    return 0;
}

static void remove_keys(mxl_store *store, mxl_store_keys keys)
{
    for (uint32_t i = keys.count; i-- > 0;) {
        bool found;
        uint32_t at = place_of(store, keys, i, &found);

        if (!found)
            continue;
        mxl_ref_release(&store->item[at]->ref);
        store->count--;
        store->numbers -= store->named;
        memmove(store->item + at, store->item + at + 1, (store->count - at) * sizeof(*store->item));
    }
}

int mxl_store_init(mxl_store *store, mxl_store_keys keys, mxl_array *const *values)
{
    mxl_store_keys done = keys;
    int status = 0;

    mxl_mutex_lock(&store->lock);
    for (done.count = 0; status == 0 && done.count < keys.count; done.count += status == 0)
        status = add(store, keys, done.count, values[done.count]);
    if (status != 0)
        remove_keys(store, done);
    mxl_mutex_unlock(&store->lock);
    return status;
}

void mxl_store_remove(mxl_store *store, mxl_store_keys keys)
{
    mxl_mutex_lock(&store->lock);
    remove_keys(store, keys);
    mxl_mutex_unlock(&store->lock);
}

/* ---- values ---- */

mxl_array *mxl_store_take(mxl_store *store, const mxl_store_item *item)
{
    mxl_array *value;

    mxl_mutex_lock(&store->lock);
    value = item->value;
    mxl_array_retain(value);
    mxl_mutex_unlock(&store->lock);
    return value;
}

mxl_array *mxl_store_value(mxl_store *store, const mxl_store_item *item)
{
    mxl_array *value = mxl_store_take(store, item), *alias = mxl_array_alias(value);

    mxl_array_release(value);
    return alias;
}

int mxl_store_replace(mxl_store *store, mxl_store_sums *sums)
{
    for (uint32_t i = 0; i < sums->count; i++) {
        mxl_store_sum *sum = &sums->list[i];
        mxl_array *value = mxl_store_take(store, sum->item);
        char room[MXL_STORE_KEY_ROOM];
        int status = 0;

        if (!mxl_array_same_shape(sum->sum, value))
            status = mxl_error("key %s has shape %s, an array of shape %s was pushed",
                               mxl_store_item_text(sum->item, room), MXL_SHAPE_OF(value),
                               MXL_SHAPE_OF(sum->sum));
        mxl_array_release(value);
        if (status != 0)
            return -1;
    }
    /* An array that the caller can write to does not become the store's. */
    for (uint32_t i = 0; i < sums->count; i++) {
        mxl_store_sum *sum = &sums->list[i];
        mxl_array *own = mxl_array_is_unique(sum->sum) ? NULL : mxl_array_copy(sum->sum);

        if (own != NULL) {
            mxl_array_release(sum->sum);
            sum->sum = own;
        } else if (!mxl_array_is_unique(sum->sum)) {
            return -1;
        }
    }
    mxl_mutex_lock(&store->lock);
    for (uint32_t i = 0; i < sums->count; i++) {
        mxl_array *old = sums->list[i].item->value;

        sums->list[i].item->value = sums->list[i].sum;
        sums->list[i].sum = old;
    }
    mxl_mutex_unlock(&store->lock);
    return 0;
}

/* Copies one array out, or with `check` checks that it can. */
static int pull_one(mxl_store *store, mxl_store_keys keys, uint32_t i, mxl_array *out, bool check)
{
    mxl_store_item *item = mxl_store_find(store, keys, i);
    char room[MXL_STORE_KEY_ROOM];
    mxl_array *value;
    int status = 0;

    if (item == NULL)
        return -1;
    value = mxl_store_take(store, item);
    if (!mxl_array_same_shape(value, out))
        status =
            mxl_error("key %s has shape %s, the array to fill has shape %s",
                      mxl_store_key_text(keys, i, room), MXL_SHAPE_OF(value), MXL_SHAPE_OF(out));
    else if (mxl_array_check_writable(out) != 0)
        status = -1;
    else if (!check && (value->storage != out->storage || value->offset != out->offset))
        status = mxl_array_copy_into(out, value);
    mxl_array_release(value);
    mxl_ref_release(&item->ref);
    return status;
}

int mxl_store_check_pull(mxl_store *store, mxl_store_keys keys, mxl_array *const *outs)
{
    int status = 0;

    for (uint32_t i = 0; status == 0 && i < keys.count; i++)
        status = pull_one(store, keys, i, outs[i], true);
    return status;
}

int mxl_store_pull(mxl_store *store, mxl_store_keys keys, mxl_array *const *outs)
{
    int status = mxl_store_check_pull(store, keys, outs);

    for (uint32_t i = 0; status == 0 && i < keys.count; i++)
        status = pull_one(store, keys, i, outs[i], false);
    return status;
}
