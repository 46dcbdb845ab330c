/* Records as a Chrome trace: the JSON that chrome://tracing and Perfetto read. */
#include "base/profile/entries.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

static void put(mxl_profile_out *out, const char *text, size_t bytes)
{
    while (bytes > 0) {
        size_t part = sizeof(out->text) - out->used;

        part = part < bytes ? part : bytes;
        memcpy(out->text + out->used, text, part);
        out->used += part;
        text += part;
        bytes -= part;
        if (out->used == sizeof(out->text))
            (void)mxl_profile_flush(out);
    }
}

int mxl_profile_flush(mxl_profile_out *out)
{
    if (out->status == 0 && out->used > 0)
        out->status = out->write(out->to, out->text, out->used);
    out->used = 0;
    return out->status;
}

void mxl_profile_text(mxl_profile_out *out, const char *text)
{
    put(out, text, strlen(text));
}

void mxl_profile_say(mxl_profile_out *out, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    mxl_profile_text(out, text);
}

void mxl_profile_quote(mxl_profile_out *out, const char *text)
{
    put(out, "\"", 1);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            put(out, "\\", 1);
        if ((unsigned char)*text < ' ')
            mxl_profile_say(out, "\\u%04x", *text);
        else
            put(out, text, 1);
    }
    put(out, "\"", 1);
}

/* ---- events ---- */

/* Process numbers in a trace: devices, then categories. */
static const char *const devices[] = {"cpu/0", "cpu/1", "cpu pinned/", "cpu shared/"};
enum { NUM_DEVICES = sizeof devices / sizeof *devices };

static int process_of(const mxl_profile_entry *e)
{
    return e->kind == MXL_PROFILE_SPAN && strcmp(e->category->name, "operator") == 0
               ? 0
               : NUM_DEVICES + e->category->number;
}

static void say_process(mxl_profile_out *out, int number, const char *name, bool first)
{
    mxl_profile_text(out, first ? "" : ",\n");
    mxl_profile_text(out, "        {\n            \"ph\": \"M\",\n            \"args\": {\n"
                          "                \"name\": ");
    mxl_profile_quote(out, name);
    mxl_profile_say(out,
                    "\n            },\n            \"pid\": %d,\n"
                    "            \"name\": \"process_name\"\n        }",
                    number);
}

/* The fields that every event has, and the comma before it. */
static void say_event(mxl_profile_out *out, const mxl_profile_record *r, char phase, int64_t time)
{
    int64_t at = mxl_profile_held_epoch + time;

    mxl_profile_text(out, ",\n    {\n        \"name\": ");
    mxl_profile_quote(out, r->entry->name);
    mxl_profile_text(out, ",\n        \"cat\": ");
    mxl_profile_quote(out, r->entry->category->name);
    mxl_profile_say(out, ",\n        \"ph\": \"%c\",\n        \"ts\": %" PRId64 ".%03d,\n", phase,
                    at / 1000, (int)(at % 1000));
}

static void end_event(mxl_profile_out *out, const mxl_profile_record *r)
{
    mxl_profile_say(out, "        \"pid\": %d,\n        \"tid\": %u\n    }", process_of(r->entry),
                    r->thread);
}

static void say_record(mxl_profile_out *out, const mxl_profile_record *r)
{
    static const char phases[][2] = {
        [MXL_PROFILE_SPAN] = {'B', 'E'},  [MXL_PROFILE_TASK] = {'b', 'e'},
        [MXL_PROFILE_FRAME] = {'(', ')'}, [MXL_PROFILE_COUNTER] = {'C'},
        [MXL_PROFILE_MEMORY] = {'C'},     [MXL_PROFILE_MARKER] = {'n'}};
    mxl_profile_kind kind = r->entry->kind;
    const char *phase = phases[kind];

    for (int i = 0; i < 2 && phase[i] != '\0'; i++) {
        say_event(out, r, phase[i], i == 0 ? r->begin : r->end);
        if (kind == MXL_PROFILE_TASK) {
            mxl_profile_say(out, "        \"id\": %u,\n", r->thread);
        } else if (kind == MXL_PROFILE_MARKER) {
            mxl_profile_say(out, "        \"s\": \"%c\",\n", (char)r->end);
        } else if (phase[0] == 'C') {
            mxl_profile_text(out, "        \"args\": { ");
            mxl_profile_quote(out, r->entry->name);
            mxl_profile_say(out, ": %" PRId64 " },\n", r->end);
        }
        end_event(out, r);
    }
}

static const mxl_profile_category *categories(void)
{
    const mxl_profile_category *first;

    mxl_profile_lock();
    first = mxl_profile_held_categories;
    mxl_profile_unlock();
    return first;
}

/* The category after `c`. Under the lock, as one may be appended meanwhile. */
static const mxl_profile_category *after(const mxl_profile_category *c)
{
    const mxl_profile_category *next;

    mxl_profile_lock();
    next = c->next;
    mxl_profile_unlock();
    return next;
}

static int64_t dropped(void)
{
    int64_t count;

    mxl_profile_lock();
    count = mxl_profile_held_dropped;
    mxl_profile_unlock();
    return count;
}

int mxl_profile_trace(mxl_profile_write write, void *to)
{
    mxl_profile_chunk *first = mxl_profile_take();
    mxl_profile_out out;

    out.write = write;
    out.to = to;
    out.status = 0;
    out.used = 0;
    mxl_profile_text(&out, "{\n    \"traceEvents\": [\n");
    for (int i = 0; i < NUM_DEVICES; i++)
        say_process(&out, i, devices[i], i == 0);
    for (const mxl_profile_category *c = categories(); c != NULL; c = after(c))
        say_process(&out, NUM_DEVICES + c->number, c->name, false);
    for (const mxl_profile_chunk *c = first; c != NULL; c = c->next) {
        for (int i = 0; i < c->count && out.status == 0; i++)
            say_record(&out, &c->list[i]);
    }
    mxl_profile_text(&out, "\n    ],\n    \"displayTimeUnit\": \"ms\"");
    if (dropped() > 0)
        mxl_profile_say(&out, ",\n    \"otherData\": { \"dropped\": %" PRId64 " }", dropped());
    mxl_profile_text(&out, "\n}\n");
    mxl_profile_put_back(first);
    return mxl_profile_flush(&out);
}
