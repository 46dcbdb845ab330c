/* Records and sums of the profiler: names, chunks of records, spans. One lock guards them all; no
 * other lock is taken under it. */
#include "base/profile/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/memory/mem.h"
#include "base/profile/entries.h"
#include "base/system/threads.h"
#include "base/system/process.h"

atomic_bool mxl_profile_on;

enum { BUCKETS = 1024 };

static mxl_mutex lock = MXL_MUTEX_INIT;

mxl_profile_entry *mxl_profile_held_entries;
mxl_profile_category *mxl_profile_held_categories;
int64_t mxl_profile_held_dropped;
int64_t mxl_profile_held_epoch;

static mxl_profile_category **held_next_category = &mxl_profile_held_categories;
static int held_num_categories;
static mxl_profile_entry *held_buckets[BUCKETS];
static mxl_profile_chunk *held_first, *held_last;
static bool held_sums;
static int64_t held_memory = -1; /* the bytes recorded last */
static int64_t held_chunks;
static atomic_uint threads;

void mxl_profile_lock(void)
{
    mxl_mutex_lock(&lock);
}

void mxl_profile_unlock(void)
{
    mxl_mutex_unlock(&lock);
}

/* A child's records would never be written. */
static void fork_child(void)
{
    atomic_store_explicit(&mxl_profile_on, false, memory_order_relaxed);
    mxl_profile_unlock();
}

/* When the library is loaded, before there can be a second thread. */
__attribute__((constructor)) static void start(void)
{
    mxl_fork_guard(MXL_FORK_PROFILE, mxl_profile_lock, mxl_profile_unlock, fork_child);
}

int64_t mxl_profile_now(void)
{
    return mxl_clock();
}

void mxl_profile_set(bool on, bool sums)
{
    mxl_profile_lock();
    held_sums = sums;
    if (mxl_profile_held_epoch == 0)
        mxl_profile_held_epoch = mxl_clock_date() - mxl_profile_now();
    mxl_profile_unlock();
    atomic_store_explicit(&mxl_profile_on, on, memory_order_relaxed);
}

/* ---- names ---- */

static unsigned bucket_of(mxl_profile_kind kind, const char *category, const char *prefix,
                          const char *name)
{
    const char *parts[] = {category, prefix, name};
    uint32_t hash = 2166136261u + (uint32_t)kind;

    for (int i = 0; i < 3; i++) {
        for (const char *c = parts[i]; *c != '\0'; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    return (hash ^ hash >> 16) % BUCKETS;
}

static const mxl_profile_category *held_category(const char *name)
{
    mxl_profile_category *c;
    size_t length = strlen(name) + 1;

    for (c = mxl_profile_held_categories; c != NULL; c = c->next) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    c = mxl_state_system_memory(sizeof(*c) + length);
    if (c == NULL)
        return NULL;
    memcpy(c->name, name, length);
    c->number = held_num_categories++;
    *held_next_category = c;
    held_next_category = &c->next;
    return c;
}

static mxl_profile_entry *held_find(mxl_profile_kind kind, const char *category, const char *prefix,
                                    const char *name)
{
    mxl_profile_entry **bucket = &held_buckets[bucket_of(kind, category, prefix, name)], *e;
    size_t lead = strlen(prefix), length = strlen(name) + 1;
    const mxl_profile_category *c;

    for (e = *bucket; e != NULL; e = e->same_hash) {
        if (e->kind == kind && strncmp(e->name, prefix, lead) == 0 &&
            strcmp(e->name + lead, name) == 0 && strcmp(e->category->name, category) == 0)
            return e;
    }
    c = held_category(category);
    e = c == NULL ? NULL : mxl_state_system_memory(sizeof(*e) + lead + length);
    if (e == NULL)
        return NULL;
    memcpy(e->name, prefix, lead);
    memcpy(e->name + lead, name, length);
    e->kind = kind;
    e->category = c;
    e->same_hash = *bucket;
    *bucket = e;
    e->next = mxl_profile_held_entries;
    mxl_profile_held_entries = e;
    return e;
}

mxl_profile_entry *mxl_profile_find(mxl_profile_kind kind, const char *category, const char *name)
{
    mxl_profile_entry *found;

    mxl_profile_lock();
    found = held_find(kind, category, "", name);
    mxl_profile_unlock();
    return found != NULL ? found : mxl_error_null("out of memory: a name of the profiler");
}

/* ---- records ---- */

static void held_sum(mxl_profile_sum *sum, int64_t value)
{
    if (sum->count == 0 || value < sum->min)
        sum->min = value;
    if (sum->count == 0 || value > sum->max)
        sum->max = value;
    sum->last = value;
    sum->total += (double)value;
    sum->count++;
}

/* Makes room for a record; false: there is none. The lock is free while memory is looked for. */
static bool held_room(void)
{
    mxl_profile_chunk *made;
    char text[MXL_ERROR_TEXT];
    mxl_state *state;

    while (held_last == NULL || held_last->count == MXL_PROFILE_CHUNK) {
        mxl_profile_unlock();
        state = mxl_state_get();
        memcpy(text, state->error, sizeof(text));
        made = mxl_alloc(sizeof(*made));
        if (made == NULL)
            memcpy(state->error, text, sizeof(text)); /* no failure of the caller's */
        mxl_profile_lock();
        if (made == NULL)
            return false;
        made->next = NULL;
        made->count = 0;
        if (held_last == NULL)
            held_first = made;
        else
            held_last->next = made;
        held_last = made;
        held_chunks++;
    }
    return true;
}

/* The number of this thread in the trace. */
static uint32_t thread_number(void)
{
    mxl_state *state = mxl_state_get();

    if (state->profile_thread == 0 && mxl_state_here != NULL)
        state->profile_thread = atomic_fetch_add(&threads, 1) + 1;
    return state->profile_thread;
}

static void held_record(mxl_profile_entry *e, int64_t begin, int64_t end, uint32_t thread)
{
    if (e != NULL && held_room())
        held_last->list[held_last->count++] = (mxl_profile_record){e, begin, end, thread};
    else
        mxl_profile_held_dropped++;
}

/* A record, and `value` for the sums. */
static void add(mxl_profile_entry *e, int64_t begin, int64_t end, int64_t value)
{
    uint32_t thread = thread_number();

    mxl_profile_lock();
    if (held_sums && e->kind == MXL_PROFILE_MARKER)
        e->sum.marked = true;
    else if (held_sums)
        held_sum(&e->sum, value);
    held_record(e, begin, end, thread);
    mxl_profile_unlock();
}

void mxl_profile_duration(mxl_profile_entry *entry, int64_t begin, int64_t end)
{
    if (mxl_profile_runs())
        add(entry, begin, end, end - begin);
}

void mxl_profile_value(mxl_profile_entry *entry, int64_t value)
{
    if (mxl_profile_runs())
        add(entry, mxl_profile_now(), value, value);
}

void mxl_profile_moment(mxl_profile_entry *entry, char scope)
{
    if (mxl_profile_runs())
        add(entry, mxl_profile_now(), scope, 0);
}

/* ---- spans ---- */

mxl_span mxl_span_begin(bool operator)
{
    mxl_state *state = mxl_state_get();
    mxl_span span = {.state = NULL};

    if (mxl_state_here == NULL || (operator && state->in_operator))
        return span;
    span.state = state;
    span.inner = state->span_inner;
    span.was_inside = state->in_operator;
    state->span_inner = 0;
    state->in_operator = state->in_operator || operator;
    span.begin = mxl_profile_now();
    return span;
}

/* The live bytes but for the records, where they have changed. */
static void held_note_memory(int64_t now, int64_t bytes, uint32_t thread)
{
    mxl_profile_entry *e;

    bytes -= held_chunks * (int64_t)sizeof(mxl_profile_chunk);
    if (bytes == held_memory)
        return;
    held_memory = bytes;
    e = held_find(MXL_PROFILE_MEMORY, "Device Storage", "", "Memory: cpu/0");
    if (e != NULL && held_sums)
        held_sum(&e->sum, bytes);
    held_record(e, now, bytes, thread);
}

void mxl_span_end(const mxl_span *span, const char *prefix, const char *name, bool done)
{
    mxl_state *state = span->state;
    mxl_profile_entry *e;
    int64_t end, own, bytes;
    uint32_t thread;
    char lead[256];

    if (state == NULL)
        return;
    end = mxl_profile_now();
    own = end - span->begin - state->span_inner;
    state->span_inner = span->inner + end - span->begin;
    state->in_operator = span->was_inside;
    if (!done || !mxl_profile_runs())
        return;
    thread = thread_number();
    bytes = mxl_mem_live_bytes();
    if (state->custom != NULL)
        (void)snprintf(lead, sizeof(lead), "%s::%s", state->custom, prefix);
    mxl_profile_lock();
    held_note_memory(end, bytes, thread);
    e = state->custom != NULL ? held_find(MXL_PROFILE_SPAN, "Custom Operator", lead, name)
                              : held_find(MXL_PROFILE_SPAN, "operator", prefix, name);
    if (e != NULL && held_sums)
        held_sum(&e->sum, own);
    held_record(e, span->begin, end, thread);
    mxl_profile_unlock();
}

mxl_span mxl_span_begin_custom(const char *type, const char **outer)
{
    mxl_state *state = mxl_state_get();

    *outer = state->custom;
    state->custom = type;
    return mxl_span_begin(false);
}

void mxl_span_end_custom(const mxl_span *span, const char *outer, bool done)
{
    mxl_span_end(span, "", "pure_python", done);
    mxl_state_get()->custom = outer;
}

/* ---- for what writes them ---- */

mxl_profile_chunk *mxl_profile_take(void)
{
    mxl_profile_chunk *first;

    mxl_profile_lock();
    first = held_first;
    held_first = held_last = NULL;
    mxl_profile_unlock();
    return first;
}

void mxl_profile_forget(void)
{
    mxl_profile_chunk *first = mxl_profile_take();
    int64_t chunks = 0;

    while (first != NULL) {
        mxl_profile_chunk *next = first->next;

        mxl_free(first, sizeof(*first));
        first = next;
        chunks++;
    }
    mxl_profile_lock();
    mxl_profile_held_dropped = 0;
    held_chunks -= chunks;
    mxl_profile_unlock();
}

void mxl_profile_put_back(mxl_profile_chunk *first)
{
    mxl_profile_chunk *last = first;

    if (first == NULL)
        return;
    while (last->next != NULL)
        last = last->next;
    mxl_profile_lock();
    last->next = held_first;
    held_first = first;
    if (held_last == NULL)
        held_last = last;
    mxl_profile_unlock();
}
