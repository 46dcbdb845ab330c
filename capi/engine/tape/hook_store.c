/* Hooks and payloads beside nodes and variables: their owners, and when they are released. */
#include "engine/tape/hook_store.h"

#include <string.h>

#include "base/memory/mem.h"
#include "base/system/threads.h"

void mxl_hook_store_lock(mxl_hook_store *store)
{
    while (atomic_flag_test_and_set_explicit(&store->lock, memory_order_acquire))
        mxl_thread_yield();
}

void mxl_hook_store_unlock(mxl_hook_store *store)
{
    atomic_flag_clear_explicit(&store->lock, memory_order_release);
}

/* ---- one hook ---- */

static void hook_free(mxl_ref *ref)
{
    mxl_free(ref, sizeof(mxl_hook));
}

mxl_hook *mxl_hook_new(mxl_hook_kind kind)
{
    mxl_hook *hook = mxl_alloc_zero(sizeof(*hook));

    if (hook == NULL)
        return NULL;
    mxl_ref_init(&hook->ref, hook_free);
    hook->kind = kind;
    atomic_init(&hook->removed, false);
    atomic_init(&hook->users, 1);
    return hook;
}

/* False where it has been removed. */
static bool hook_use(mxl_hook *hook)
{
    int users = atomic_load(&hook->users);

    if (atomic_load(&hook->removed))
        return false;
    while (users > 0) {
        if (atomic_compare_exchange_weak(&hook->users, &users, users + 1))
            return true;
    }
    return false;
}

static void hook_unuse(mxl_hook *hook)
{
    if (atomic_fetch_sub(&hook->users, 1) == 1 && hook->release != NULL)
        hook->release(hook->payload);
}

void mxl_hook_remove(mxl_hook *hook)
{
    if (!atomic_exchange(&hook->removed, true))
        hook_unuse(hook);
}

/* ---- lists ---- */

/* Takes the list out and drops it without the lock: payloads are the caller's. */
void mxl_hook_store_remove_hooks(mxl_hook_store *store)
{
    mxl_hook **hooks;
    size_t count, room;

    mxl_hook_store_lock(store);
    hooks = store->hooks;
    count = store->num_hooks;
    room = store->room_hooks;
    store->hooks = NULL;
    store->num_hooks = store->room_hooks = 0;
    mxl_hook_store_unlock(store);
    for (size_t i = 0; i < count; i++) {
        mxl_hook_remove(hooks[i]);
        mxl_ref_release(&hooks[i]->ref);
    }
    mxl_free(hooks, room * sizeof(mxl_hook *));
}

static void store_free(mxl_ref *ref)
{
    mxl_hook_store *store = (mxl_hook_store *)ref;

    mxl_hook_store_remove_hooks(store);
    mxl_hook_store_release_packed(store);
    if (store->release != NULL)
        store->release(store->payload);
    mxl_free(store, sizeof(*store));
}

mxl_hook_store *mxl_hook_store_make(mxl_hook_slot *slot)
{
    mxl_hook_store *store = mxl_hook_store_get(slot);
    mxl_ref *there = NULL;

    if (store != NULL)
        return store;
    store = mxl_alloc_zero(sizeof(*store));
    if (store == NULL)
        return NULL;
    mxl_ref_init(&store->ref, store_free);
    atomic_flag_clear(&store->lock);
    if (atomic_compare_exchange_strong(slot, &there, &store->ref))
        return store;
    mxl_ref_release(&store->ref); /* another thread was faster */
    return (mxl_hook_store *)there;
}

/* Under the lock: drops hooks that are removed, which frees them and calls nobody. */
static void list_purge(mxl_hook_store *store)
{
    size_t kept = 0;

    for (size_t i = 0; i < store->num_hooks; i++) {
        mxl_hook *hook = store->hooks[i];

        if (atomic_load(&hook->removed))
            mxl_ref_release(&hook->ref);
        else
            store->hooks[kept++] = hook;
    }
    store->num_hooks = kept;
}

/* A full list is purged, and grows unless half of it is free then: so a hook costs the same however
 * many there are. */
int mxl_hook_store_add(mxl_hook_store *store, mxl_hook *hook)
{
    int status = 0;

    mxl_hook_store_lock(store);
    if (store->num_hooks == store->room_hooks) {
        list_purge(store);
        status = MXL_GROW(store->hooks, 2 * store->num_hooks, store->room_hooks);
    }
    if (status == 0) {
        mxl_ref_retain(&hook->ref);
        store->hooks[store->num_hooks++] = hook;
    }
    mxl_hook_store_unlock(store);
    return status;
}

/* Takes those that follow their array out of the list, in order, with the list's references; NULL:
 * none. */
static mxl_hook *take_followers(mxl_hook_store *store, int output)
{
    mxl_hook *first = NULL, **end = &first;
    size_t kept = 0;

    mxl_hook_store_lock(store);
    for (size_t i = 0; i < store->num_hooks; i++) {
        mxl_hook *hook = store->hooks[i];

        if (hook->kind == MXL_HOOK_ARRAY && hook->last && hook->output == output &&
            !atomic_load(&hook->removed)) {
            *end = hook;
            end = &hook->next;
        } else {
            store->hooks[kept++] = hook;
        }
    }
    *end = NULL;
    store->num_hooks = kept;
    mxl_hook_store_unlock(store);
    return first;
}

int mxl_hook_store_follow(mxl_hook_store *from, int from_output, mxl_hook_slot *to, int to_output)
{
    mxl_hook *hook = take_followers(from, from_output), *next;
    int status = 0;

    for (; hook != NULL; hook = next) {
        mxl_hook_store *store = mxl_hook_store_make(to);

        next = hook->next;
        hook->output = to_output;
        if (store == NULL || mxl_hook_store_add(store, hook) != 0) {
            mxl_hook_remove(hook);
            status = -1;
        }
        mxl_ref_release(&hook->ref);
    }
    return status;
}

bool mxl_hook_store_has(mxl_hook_store *store, mxl_hook_kind kind)
{
    bool has = false;

    if (store == NULL)
        return false;
    mxl_hook_store_lock(store);
    list_purge(store); /* those of a variable stay for many backwards, removed ones need not */
    for (size_t i = 0; i < store->num_hooks && !has; i++)
        has = store->hooks[i]->kind == kind && !atomic_load(&store->hooks[i]->removed);
    mxl_hook_store_unlock(store);
    return has;
}

/* Under the lock: those of one kind and one rank, each used and kept. */
static void list_take(mxl_hooks *to, mxl_hook_store *store, mxl_hook_kind kind, bool last)
{
    for (size_t i = 0; i < store->num_hooks; i++) {
        mxl_hook *hook = store->hooks[i];

        if (hook->kind == kind && hook->last == last && hook_use(hook)) {
            mxl_ref_retain(&hook->ref);
            to->items[to->count++] = hook;
        }
    }
}

int mxl_hooks_begin(mxl_hooks *hooks, mxl_hook_store *store, mxl_hook_kind kind)
{
    size_t room;

    hooks->count = hooks->room = 0;
    hooks->items = NULL;
    if (!mxl_hook_store_has(store, kind))
        return 0;
    for (;;) {
        mxl_hook_store_lock(store);
        room = store->num_hooks;
        if (room <= hooks->room) {
            list_take(hooks, store, kind, false);
            list_take(hooks, store, kind, true);
        }
        mxl_hook_store_unlock(store);
        if (room <= hooks->room)
            return 0;
        mxl_free(hooks->items, hooks->room * sizeof(mxl_hook *));
        hooks->room = 0;
        hooks->items = mxl_alloc(room * sizeof(mxl_hook *));
        if (hooks->items == NULL)
            return -1;
        hooks->room = room;
    }
}

void mxl_hooks_end(mxl_hooks *hooks)
{
    for (size_t i = 0; i < hooks->count; i++) {
        hook_unuse(hooks->items[i]);
        mxl_ref_release(&hooks->items[i]->ref);
    }
    mxl_free(hooks->items, hooks->room * sizeof(mxl_hook *));
    hooks->count = 0;
}

/* ---- packed values ---- */

int mxl_hook_store_reserve_packed(mxl_hook_store *store, int count)
{
    mxl_ref **packed;

    if (store->num_packed > 0)
        return 0;
    packed = mxl_alloc_zero((size_t)count * sizeof(mxl_ref *));
    if (packed == NULL)
        return -1;
    mxl_hook_store_lock(store);
    store->packed = packed;
    store->num_packed = count;
    mxl_hook_store_unlock(store);
    return 0;
}

void mxl_hook_store_set_packed(mxl_hook_store *store, int at, mxl_ref *packed)
{
    mxl_hook_store_lock(store);
    if (at < store->num_packed) {
        store->packed[at] = packed;
        packed = NULL;
    }
    mxl_hook_store_unlock(store);
    mxl_ref_release(packed);
}

mxl_ref *mxl_hook_store_get_packed(mxl_hook_store *store, int at)
{
    mxl_ref *packed;

    mxl_hook_store_lock(store);
    packed = at < store->num_packed ? store->packed[at] : NULL;
    if (packed != NULL)
        mxl_ref_retain(packed);
    mxl_hook_store_unlock(store);
    return packed;
}

void mxl_hook_store_release_packed(mxl_hook_store *store)
{
    mxl_ref **packed;
    int count;

    mxl_hook_store_lock(store);
    packed = store->packed;
    count = store->num_packed;
    store->packed = NULL;
    store->num_packed = 0;
    mxl_hook_store_unlock(store);
    for (int i = 0; i < count; i++)
        mxl_ref_release(packed[i]);
    mxl_free(packed, (size_t)count * sizeof(mxl_ref *));
}

/* ---- the caller's payload ---- */

void mxl_hook_store_set_payload(mxl_hook_store *store, void *payload, void (*release)(void *))
{
    void (*old_release)(void *);
    void *old;

    mxl_hook_store_lock(store);
    old = store->payload;
    old_release = store->release;
    store->payload = payload;
    store->release = release;
    mxl_hook_store_unlock(store);
    if (old_release != NULL)
        old_release(old);
}

void *mxl_hook_store_payload(mxl_hook_store *store)
{
    void *payload;

    mxl_hook_store_lock(store);
    payload = store->payload;
    mxl_hook_store_unlock(store);
    return payload;
}
