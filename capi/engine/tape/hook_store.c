/* Hooks and payloads beside nodes and variables: who holds them, and when they are released. */
#include "engine/tape/hook_store.h"

#include <sched.h>
#include <string.h>

#include "base/memory/mem.h"

static void extra_lock(mxl_extra *extra)
{
    while (atomic_flag_test_and_set_explicit(&extra->lock, memory_order_acquire))
        sched_yield();
}

static void extra_unlock(mxl_extra *extra)
{
    atomic_flag_clear_explicit(&extra->lock, memory_order_release);
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
void mxl_extra_remove_hooks(mxl_extra *extra)
{
    mxl_hook **hooks;
    size_t count, room;

    extra_lock(extra);
    hooks = extra->hooks;
    count = extra->num_hooks;
    room = extra->room_hooks;
    extra->hooks = NULL;
    extra->num_hooks = extra->room_hooks = 0;
    extra_unlock(extra);
    for (size_t i = 0; i < count; i++) {
        mxl_hook_remove(hooks[i]);
        mxl_ref_drop(&hooks[i]->ref);
    }
    mxl_free(hooks, room * sizeof(mxl_hook *));
}

static void extra_free(mxl_ref *ref)
{
    mxl_extra *extra = (mxl_extra *)ref;

    mxl_extra_remove_hooks(extra);
    mxl_extra_drop_packed(extra);
    if (extra->release != NULL)
        extra->release(extra->payload);
    mxl_free(extra, sizeof(*extra));
}

mxl_extra *mxl_extra_make(mxl_extra_place *place)
{
    mxl_extra *extra = mxl_extra_get(place);
    mxl_ref *there = NULL;

    if (extra != NULL)
        return extra;
    extra = mxl_alloc_zero(sizeof(*extra));
    if (extra == NULL)
        return NULL;
    mxl_ref_init(&extra->ref, extra_free);
    atomic_flag_clear(&extra->lock);
    if (atomic_compare_exchange_strong(place, &there, &extra->ref))
        return extra;
    mxl_ref_drop(&extra->ref); /* another thread was faster */
    return (mxl_extra *)there;
}

/* Under the lock: drops hooks that are removed, which frees them and calls nobody. */
static void list_purge(mxl_extra *extra)
{
    size_t kept = 0;

    for (size_t i = 0; i < extra->num_hooks; i++) {
        mxl_hook *hook = extra->hooks[i];

        if (atomic_load(&hook->removed))
            mxl_ref_drop(&hook->ref);
        else
            extra->hooks[kept++] = hook;
    }
    extra->num_hooks = kept;
}

/* A full list is purged, and grows unless half of it is free then: so a hook costs the same however
 * many there are. */
int mxl_extra_add(mxl_extra *extra, mxl_hook *hook)
{
    int status = 0;

    extra_lock(extra);
    if (extra->num_hooks == extra->room_hooks) {
        list_purge(extra);
        status = MXL_GROW(extra->hooks, 2 * extra->num_hooks, extra->room_hooks);
    }
    if (status == 0) {
        mxl_ref_keep(&hook->ref);
        extra->hooks[extra->num_hooks++] = hook;
    }
    extra_unlock(extra);
    return status;
}

/* Takes those that follow their array out of the list, in order, with the list's references; NULL:
 * none. */
static mxl_hook *take_followers(mxl_extra *extra, int output)
{
    mxl_hook *first = NULL, **end = &first;
    size_t kept = 0;

    extra_lock(extra);
    for (size_t i = 0; i < extra->num_hooks; i++) {
        mxl_hook *hook = extra->hooks[i];

        if (hook->kind == MXL_HOOK_ARRAY && hook->last && hook->output == output &&
            !atomic_load(&hook->removed)) {
            *end = hook;
            end = &hook->next;
        } else {
            extra->hooks[kept++] = hook;
        }
    }
    *end = NULL;
    extra->num_hooks = kept;
    extra_unlock(extra);
    return first;
}

int mxl_extra_follow(mxl_extra *from, int from_output, mxl_extra_place *to, int to_output)
{
    mxl_hook *hook = take_followers(from, from_output), *next;
    int status = 0;

    for (; hook != NULL; hook = next) {
        mxl_extra *extra = mxl_extra_make(to);

        next = hook->next;
        hook->output = to_output;
        if (extra == NULL || mxl_extra_add(extra, hook) != 0) {
            mxl_hook_remove(hook);
            status = -1;
        }
        mxl_ref_drop(&hook->ref);
    }
    return status;
}

bool mxl_extra_has(mxl_extra *extra, mxl_hook_kind kind)
{
    bool has = false;

    if (extra == NULL)
        return false;
    extra_lock(extra);
    list_purge(extra); /* those of a variable stay for many backwards, removed ones need not */
    for (size_t i = 0; i < extra->num_hooks && !has; i++)
        has = extra->hooks[i]->kind == kind && !atomic_load(&extra->hooks[i]->removed);
    extra_unlock(extra);
    return has;
}

/* Under the lock: those of one kind and one rank, each used and kept. */
static void list_take(mxl_hooks *to, mxl_extra *extra, mxl_hook_kind kind, bool last)
{
    for (size_t i = 0; i < extra->num_hooks; i++) {
        mxl_hook *hook = extra->hooks[i];

        if (hook->kind == kind && hook->last == last && hook_use(hook)) {
            mxl_ref_keep(&hook->ref);
            to->items[to->count++] = hook;
        }
    }
}

int mxl_hooks_begin(mxl_hooks *hooks, mxl_extra *extra, mxl_hook_kind kind)
{
    size_t room;

    hooks->count = hooks->room = 0;
    hooks->items = NULL;
    if (!mxl_extra_has(extra, kind))
        return 0;
    for (;;) {
        extra_lock(extra);
        room = extra->num_hooks;
        if (room <= hooks->room) {
            list_take(hooks, extra, kind, false);
            list_take(hooks, extra, kind, true);
        }
        extra_unlock(extra);
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
        mxl_ref_drop(&hooks->items[i]->ref);
    }
    mxl_free(hooks->items, hooks->room * sizeof(mxl_hook *));
    hooks->count = 0;
}

/* ---- packed values ---- */

int mxl_extra_reserve_packed(mxl_extra *extra, int count)
{
    mxl_ref **packed;

    if (extra->num_packed > 0)
        return 0;
    packed = mxl_alloc_zero((size_t)count * sizeof(mxl_ref *));
    if (packed == NULL)
        return -1;
    extra_lock(extra);
    extra->packed = packed;
    extra->num_packed = count;
    extra_unlock(extra);
    return 0;
}

void mxl_extra_set_packed(mxl_extra *extra, int at, mxl_ref *packed)
{
    extra_lock(extra);
    if (at < extra->num_packed) {
        extra->packed[at] = packed;
        packed = NULL;
    }
    extra_unlock(extra);
    mxl_ref_drop(packed);
}

mxl_ref *mxl_extra_get_packed(mxl_extra *extra, int at)
{
    mxl_ref *packed;

    extra_lock(extra);
    packed = at < extra->num_packed ? extra->packed[at] : NULL;
    if (packed != NULL)
        mxl_ref_keep(packed);
    extra_unlock(extra);
    return packed;
}

void mxl_extra_drop_packed(mxl_extra *extra)
{
    mxl_ref **packed;
    int count;

    extra_lock(extra);
    packed = extra->packed;
    count = extra->num_packed;
    extra->packed = NULL;
    extra->num_packed = 0;
    extra_unlock(extra);
    for (int i = 0; i < count; i++)
        mxl_ref_drop(packed[i]);
    mxl_free(packed, (size_t)count * sizeof(mxl_ref *));
}

/* ---- the caller's payload ---- */

void mxl_extra_set_payload(mxl_extra *extra, void *payload, void (*release)(void *))
{
    void (*old_release)(void *);
    void *old;

    extra_lock(extra);
    old = extra->payload;
    old_release = extra->release;
    extra->payload = payload;
    extra->release = release;
    extra_unlock(extra);
    if (old_release != NULL)
        old_release(old);
}

void *mxl_extra_payload(mxl_extra *extra)
{
    void *payload;

    extra_lock(extra);
    payload = extra->payload;
    extra_unlock(extra);
    return payload;
}
