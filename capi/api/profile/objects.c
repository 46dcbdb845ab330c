/* MXProfileCreate* and what is done with them: domains, tasks, frames, events, counters, markers.
 */
#include "api/common.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/memory/mem.h"
#include "base/profile/profile.h"

/* What a handle stands for. */
typedef enum object_kind { OBJECT_DOMAIN, OBJECT_DURATION, OBJECT_COUNTER } object_kind;

static const char *const kind_names[] = {"a domain", "a task, frame or event", "a counter"};

typedef struct object {
    mxl_ref ref;
    object_kind kind;
    mxl_profile_entry *entry; /* of a domain: NULL */
    _Atomic int64_t value;    /* of a counter; of a duration: when it began, 0: it has not */
    size_t bytes;
    char name[]; /* of a domain */
} object;

static void release(mxl_ref *ref)
{
    object *o = (object *)ref;

    mxl_free(o, o->bytes);
}

/* A handle of a new object. -1 with the error set. */
static int make(const char *function, object_kind kind, mxl_profile_entry *entry, const char *name,
                ProfileHandle *out)
{
    size_t bytes = sizeof(object) + strlen(name) + 1;
    object *o = mxl_alloc(bytes);
    uint64_t handle = 0;

    if (o == NULL)
        return mxl_error_prefix(function);
    mxl_ref_init(&o->ref, release);
    o->kind = kind;
    o->entry = entry;
    atomic_init(&o->value, 0);
    o->bytes = bytes;
    memcpy(o->name, name, strlen(name) + 1);
    handle = mxl_handle_new(MXL_KIND_PROFILE, &o->ref);
    if (handle == 0) {
        mxl_ref_release(&o->ref);
        return mxl_error_prefix(function);
    }
    *out = (ProfileHandle)(uintptr_t)handle;
    return 0;
}

/* Pins an object of the kind (until api_unpin). NULL with the error set. */
static object *pin(const char *function, object_kind kind, ProfileHandle handle)
{
    object *o = (object *)mxl_handle_pin(MXL_KIND_PROFILE, api_number(handle));

    if (o == NULL) {
        mxl_error_prefix(function);
        return NULL;
    }
    if (o->kind == kind)
        return o;
    mxl_error("%s: the handle is of %s, %s was expected", function, kind_names[o->kind],
              kind_names[kind]);
    api_unpin(handle);
    return NULL;
}

/* An entry in a domain's category, whose name is the domain's with `suffix`. NULL with the error
 * set. */
static mxl_profile_entry *entry_in(const char *function, ProfileHandle domain,
                                   mxl_profile_kind kind, const char *suffix, const char *name)
{
    char category[256];
    mxl_profile_entry *entry;
    object *o = pin(function, OBJECT_DOMAIN, domain);

    if (o == NULL)
        return NULL;
    (void)snprintf(category, sizeof(category), "%.200s%s", o->name, suffix);
    api_unpin(domain);
    entry = mxl_profile_find(kind, category, name);
    if (entry == NULL)
        mxl_error_prefix(function);
    return entry;
}

static int make_in(const char *function, ProfileHandle domain, mxl_profile_kind kind,
                   const char *suffix, const char *name, ProfileHandle *out)
{
    mxl_profile_entry *entry = entry_in(function, domain, kind, suffix, name);

    if (entry == NULL)
        return -1;
    return make(function, kind == MXL_PROFILE_COUNTER ? OBJECT_COUNTER : OBJECT_DURATION, entry, "",
                out);
}

int MXProfileCreateDomain(const char *domain, ProfileHandle *out)
{
    API_NEED(domain);
    API_NEED(out);
    return make(__func__, OBJECT_DOMAIN, NULL, domain, out);
}

int MXProfileCreateTask(ProfileHandle domain, const char *task_name, ProfileHandle *out)
{
    API_NEED(task_name);
    API_NEED(out);
    return make_in(__func__, domain, MXL_PROFILE_TASK, "", task_name, out);
}

int MXProfileCreateFrame(ProfileHandle domain, const char *frame_name, ProfileHandle *out)
{
    API_NEED(frame_name);
    API_NEED(out);
    return make_in(__func__, domain, MXL_PROFILE_FRAME, ",frame", frame_name, out);
}

int MXProfileCreateCounter(ProfileHandle domain, const char *counter_name, ProfileHandle *out)
{
    API_NEED(counter_name);
    API_NEED(out);
    return make_in(__func__, domain, MXL_PROFILE_COUNTER, "", counter_name, out);
}

int MXProfileCreateEvent(const char *event_name, ProfileHandle *out)
{
    mxl_profile_entry *entry;

    API_NEED(event_name);
    API_NEED(out);
    entry = mxl_profile_find(MXL_PROFILE_SPAN, "event", event_name);
    return entry == NULL ? mxl_error_prefix(__func__)
                         : make(__func__, OBJECT_DURATION, entry, "", out);
}

int MXProfileDestroyHandle(ProfileHandle frame_handle)
{
    API_NEED(frame_handle);
    if (mxl_handle_free(MXL_KIND_PROFILE, api_number(frame_handle)) != 0)
        return mxl_error_prefix(__func__);
    return 0;
}

int MXProfileDurationStart(ProfileHandle duration_handle)
{
    object *o = pin(__func__, OBJECT_DURATION, duration_handle);

    if (o == NULL)
        return -1;
    atomic_store(&o->value, mxl_profile_now());
    api_unpin(duration_handle);
    return 0;
}

int MXProfileDurationStop(ProfileHandle duration_handle)
{
    object *o = pin(__func__, OBJECT_DURATION, duration_handle);
    int64_t begin;

    if (o == NULL)
        return -1;
    begin = atomic_exchange(&o->value, 0);
    if (begin != 0)
        mxl_profile_duration(o->entry, begin, mxl_profile_now());
    api_unpin(duration_handle);
    return 0;
}

int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value)
{
    object *o = pin(__func__, OBJECT_COUNTER, counter_handle);

    if (o == NULL)
        return -1;
    atomic_store(&o->value, (int64_t)value);
    mxl_profile_value(o->entry, (int64_t)value);
    api_unpin(counter_handle);
    return 0;
}

int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value)
{
    object *o = pin(__func__, OBJECT_COUNTER, counter_handle);
    uint64_t before;

    if (o == NULL)
        return -1;
    before = (uint64_t)atomic_fetch_add(&o->value, value);
    mxl_profile_value(o->entry, (int64_t)(before + (uint64_t)value));
    api_unpin(counter_handle);
    return 0;
}

int MXProfileSetMarker(ProfileHandle domain, const char *instant_marker_name, const char *scope)
{
    static const struct {
        const char *name;
        char letter;
    } scopes[] = {
        {"global", 'g'}, {"process", 'p'}, {"thread", 't'}, {"task", 'p'}, {"marker", 'p'}};
    mxl_profile_entry *entry;
    char letter = '\0';

    API_NEED(instant_marker_name);
    API_NEED(scope);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (strcmp(scopes[i].name, scope) == 0)
            letter = scopes[i].letter;
    }
    if (letter == '\0')
        return mxl_error("%s: the scope is global, process, thread, task or marker, got '%s'",
                         __func__, scope);
    entry = entry_in(__func__, domain, MXL_PROFILE_MARKER, ",instant_marker", instant_marker_name);
    if (entry == NULL)
        return -1;
    mxl_profile_moment(entry, letter);
    return 0;
}
