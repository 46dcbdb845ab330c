/* MXSetProfiler*, MXProfilePause, MXDumpProfile, MXAggregateProfileStats*: what is measured when,
 * and where the results go. */
#include "api/common.h"

#include <string.h>

#include "base/system/replace.h"
#include "base/fork.h"
#include "base/text/near.h"
#include "base/profile/profile.h"
#include "base/text/str.h"
#include "op/text.h"
#include "base/system/threads.h"

typedef struct settings {
    char file[MXL_PATH_ROOM];
    int aggregate, continuous;
} settings;

/* Under the lock. */
static settings now = {.file = "profile.json"};
static bool running, paused;
static bool has_run; /* since the last file was finished */

static mxl_mutex lock = MXL_MUTEX_INIT;

static void lock_settings(void)
{
    mxl_mutex_lock(&lock);
}

static void unlock_settings(void)
{
    mxl_mutex_unlock(&lock);
}

/* A child does not measure, and has nothing to write. */
static void fork_child(void)
{
    running = has_run = false;
    unlock_settings();
}

__attribute__((constructor)) static void guard_forks(void)
{
    mxl_fork_guard(MXL_FORK_SETTINGS, lock_settings, unlock_settings, fork_child);
}

/* ---- settings ---- */

/* The keys of MXNet 1.9.1. Operators, memory and what the program measures are recorded whichever
 * of the profile_ keys are set, as there. */
typedef enum key_kind { KEY_BOOL, KEY_PERIOD, KEY_FILE, KEY_PROCESS } key_kind;

static const struct key {
    const char *name;
    key_kind kind;
} keys_known[] = {{"filename", KEY_FILE},         {"profile_all", KEY_BOOL},
                  {"profile_symbolic", KEY_BOOL}, {"profile_imperative", KEY_BOOL},
                  {"profile_memory", KEY_BOOL},   {"profile_api", KEY_BOOL},
                  {"continuous_dump", KEY_BOOL},  {"dump_period", KEY_PERIOD},
                  {"aggregate_stats", KEY_BOOL},  {"profile_process", KEY_PROCESS}};
enum { NUM_KEYS = sizeof keys_known / sizeof *keys_known };

static int unknown_key(const char *function, const char *name)
{
    mxl_str known = {0};
    mxl_near near;

    mxl_near_begin(&near, name);
    for (int i = 0; i < NUM_KEYS; i++) {
        mxl_str_addf(&known, "%s%s", i == 0 ? "" : ", ", keys_known[i].name);
        mxl_near_offer(&near, keys_known[i].name);
    }
    mxl_error("%s: unknown setting '%s'; known are %s%s", function, name,
              known.failed ? "those of MXNet 1.9.1" : known.text, mxl_near_text(&near));
    mxl_str_clear(&known);
    return -1;
}

static int set_bool(const char *function, const char *key, const char *text, int *value)
{
    if (mxl_text_bool(text, value) == MXL_TEXT_OK)
        return 0;
    return mxl_error("%s: %s must be true or false, got '%s'", function, key, text);
}

static int refuse_servers(const char *function)
{
    return mxl_error("%s: there are no server processes; profile_process must be 'worker'",
                     function);
}

/* Sets one key; `period`: of continuous dumps. */
static int set_key(const char *function, settings *s, double *period, const char *name,
                   const char *text)
{
    const struct key *key = NULL;
    int ignored;

    for (int i = 0; i < NUM_KEYS && key == NULL; i++)
        key = strcmp(keys_known[i].name, name) == 0 ? &keys_known[i] : NULL;
    if (key == NULL)
        return unknown_key(function, name);
    switch (key->kind) {
    case KEY_FILE:
        if (text[0] == '\0' || strlen(text) >= sizeof(s->file))
            return mxl_error("%s: filename must have 1 to %d bytes", function, MXL_PATH_ROOM - 1);
        memcpy(s->file, text, strlen(text) + 1);
        return 0;
    case KEY_PERIOD:
        if (mxl_text_float(text, period) != MXL_TEXT_OK)
            return mxl_error("%s: dump_period must be a number, got '%s'", function, text);
        return 0;
    case KEY_PROCESS:
        if (strcmp(text, "worker") == 0)
            return 0;
        return refuse_servers(function);
    case KEY_BOOL:
        break;
    }
    if (strcmp(name, "aggregate_stats") == 0)
        return set_bool(function, name, text, &s->aggregate);
    if (strcmp(name, "continuous_dump") == 0)
        return set_bool(function, name, text, &s->continuous);
    return set_bool(function, name, text, &ignored);
}

static int configure(const char *function, int count, const char *const *keys,
                     const char *const *vals)
{
    settings next = {.file = "profile.json"};
    double period = 1;

    if (count < 0)
        return mxl_error("%s: the number of settings is %d", function, count);
    if (count > 0 && (keys == NULL || vals == NULL))
        return mxl_error("%s: keys and values must not be NULL", function);
    for (int i = 0; i < count; i++) {
        if (keys[i] == NULL || vals[i] == NULL)
            return mxl_error("%s: setting %d is NULL", function, i);
        if (set_key(function, &next, &period, keys[i], vals[i]) != 0)
            return -1;
    }
    if (next.continuous && !(period > 0))
        return mxl_error("%s: dump_period must be above 0, got %g", function, period);
    lock_settings();
    now = next;
    mxl_profile_set(running && !paused, now.aggregate);
    unlock_settings();
    return 0;
}

int MXSetProfilerConfig(int num_params, const char *const *keys, const char *const *vals)
{
    return configure(__func__, num_params, keys, vals);
}

int MXSetProcessProfilerConfig(int num_params, const char *const *keys, const char *const *vals,
                               KVStoreHandle kvstore_handle)
{
    (void)kvstore_handle;
    return configure(__func__, num_params, keys, vals);
}

/* ---- files ---- */

static int write_file(void *to, const char *text, size_t bytes)
{
    return mxl_replace_put(to, text, bytes);
}

/* Writes the file; a later one begins anew if it is `finished`, else repeats what is in this one.
 */
static int held_dump(bool finished)
{
    mxl_replace r;
    int status;

    if (mxl_replace_begin(&r, now.file) != 0)
        return -1;
    status = mxl_profile_trace(write_file, &r);
    if (mxl_replace_end(&r, status == 0) != 0 || status != 0)
        return -1;
    if (finished)
        mxl_profile_forget();
    return 0;
}

static int dump(const char *function, int finished)
{
    int status = -1;

    lock_settings();
    if (!has_run) {
        mxl_error("%s: the profiler has not run since the last file: set its state to run first",
                  function);
    } else {
        if (finished) {
            running = has_run = false;
            mxl_profile_set(false, now.aggregate);
        }
        status = held_dump(finished);
        has_run = has_run || status != 0;
        if (status != 0)
            (void)mxl_error_prefix(function);
    }
    unlock_settings();
    return status;
}

int MXDumpProfile(int finished)
{
    return dump(__func__, finished);
}

int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvstore_handle)
{
    (void)kvstore_handle;
    return profile_process != 0 ? refuse_servers(__func__) : dump(__func__, finished);
}

/* ---- state ---- */

static int set_state(const char *function, int state)
{
    int status = 0;
    bool ran;

    if (state != 0 && state != 1)
        return mxl_error("%s: the state is 0 (stop) or 1 (run), got %d", function, state);
    lock_settings();
    ran = running;
    running = state == 1;
    has_run = has_run || running;
    mxl_profile_set(running && !paused, now.aggregate);
    if (ran && !running && now.continuous && held_dump(false) != 0)
        status = mxl_error_prefix(function);
    unlock_settings();
    return status;
}

static int set_paused(int pause)
{
    lock_settings();
    paused = pause != 0;
    mxl_profile_set(running && !paused, now.aggregate);
    unlock_settings();
    return 0;
}

int MXSetProfilerState(int state)
{
    return set_state(__func__, state);
}

int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvstore_handle)
{
    (void)kvstore_handle;
    return profile_process != 0 ? refuse_servers(__func__) : set_state(__func__, state);
}

int MXProfilePause(int paused_now)
{
    return set_paused(paused_now);
}

int MXProcessProfilePause(int paused_now, int profile_process, KVStoreHandle kvstore_handle)
{
    (void)kvstore_handle;
    return profile_process != 0 ? refuse_servers(__func__) : set_paused(paused_now);
}

/* ---- sums ---- */

static int add_text(void *to, const char *text, size_t bytes)
{
    mxl_str *str = to;

    mxl_str_addf(str, "%.*s", (int)bytes, text);
    return str->failed ? -1 : 0;
}

static int print_sums(const char *function, const char **out, bool json, mxl_profile_order order,
                      bool ascending, bool reset)
{
    mxl_str text = {0};
    char *lent = NULL;
    bool aggregate;
    int status = 0;

    lock_settings();
    aggregate = now.aggregate;
    unlock_settings();
    if (aggregate)
        status = mxl_profile_sums(add_text, &text, json, order, ascending, reset);
    if (status == 0)
        lent = api_buffer_get(API_BUFFER_TEXT, text.length + 1);
    if (lent != NULL)
        memcpy(lent, text.text == NULL ? "" : text.text, text.length + 1);
    mxl_str_clear(&text);
    *out = lent;
    return lent == NULL ? mxl_error_prefix(function) : 0;
}

int MXAggregateProfileStatsPrint(const char **out_str, int reset)
{
    API_NEED(out_str);
    return print_sums(__func__, out_str, false, MXL_PROFILE_BY_TOTAL, false, reset != 0);
}

int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format, int sort_by,
                                   int ascending)
{
    API_NEED(out_str);
    if (format != 0 && format != 1)
        return mxl_error("%s: the format is 0 (table) or 1 (JSON), got %d", __func__, format);
    if (sort_by < 0 || sort_by >= MXL_PROFILE_ORDERS)
        return mxl_error("%s: sort_by is 0 (total), 1 (average), 2 (min), 3 (max) or 4 (count), "
                         "got %d",
                         __func__, sort_by);
    return print_sums(__func__, out_str, format == 1, (mxl_profile_order)sort_by, ascending != 0,
                      reset != 0);
}
