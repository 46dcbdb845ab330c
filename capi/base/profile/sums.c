/* Sums of the records by name: as a table and as JSON, in the layout of MXNet 1.9.1. */
#include "base/profile/entries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/mem.h"

/* What one row shows; in milliseconds, in thousands, or in kilobytes. */
typedef struct row {
    mxl_profile_entry *entry;
    mxl_profile_sum sum;
    double shown[4]; /* total, average, least, largest */
    double key;
    const char *name;
} row;

enum { SHOWN_TOTAL, SHOWN_AVERAGE, SHOWN_MIN, SHOWN_MAX };

typedef struct rows {
    row *list;
    int count, room;
} rows;

/* ---- taking the sums ---- */

static int held_number_of_entries(void)
{
    int count = 0;

    for (const mxl_profile_entry *e = mxl_profile_held_entries; e != NULL; e = e->next)
        count++;
    return count;
}

static bool is_value(const mxl_profile_entry *e)
{
    return e->kind == MXL_PROFILE_COUNTER || e->kind == MXL_PROFILE_MEMORY;
}

static void fill(row *r, mxl_profile_entry *e, mxl_profile_order order)
{
    const mxl_profile_sum *sum = &e->sum;
    double scale = is_value(e) ? 1e-3 : 1e-6;

    r->entry = e;
    r->name = e->name;
    r->sum = *sum;
    r->shown[SHOWN_TOTAL] = (is_value(e) ? (double)sum->last : sum->total) * scale;
    r->shown[SHOWN_AVERAGE] = sum->count == 0 ? 0 : sum->total / (double)sum->count * scale;
    r->shown[SHOWN_MIN] = (double)sum->min * scale;
    r->shown[SHOWN_MAX] = (double)sum->max * scale;
    r->key = order == MXL_PROFILE_BY_COUNT ? (double)sum->count : r->shown[order];
}

/* Copies the sums that are not empty; `reset`: and begins new ones. */
static void held_copy(rows *all, mxl_profile_order order, bool reset)
{
    all->count = 0;
    for (mxl_profile_entry *e = mxl_profile_held_entries; e != NULL; e = e->next) {
        if ((e->sum.count == 0 && !e->sum.marked) || all->count == all->room)
            continue;
        fill(&all->list[all->count++], e, order);
        if (reset)
            e->sum = (mxl_profile_sum){.count = 0};
    }
}

/* -1 with the error set: no memory. */
static int take(rows *all, mxl_profile_order order, bool reset)
{
    mxl_profile_lock();
    all->room = held_number_of_entries() + 1;
    mxl_profile_unlock();
    all->list = mxl_alloc((size_t)all->room * sizeof(row));
    if (all->list == NULL)
        return -1;
    mxl_profile_lock();
    held_copy(all, order, reset);
    mxl_profile_unlock();
    return 0;
}

/* After a failure: adds what was taken to what has come since. */
static void give_back(const rows *all)
{
    mxl_profile_lock();
    for (int i = 0; i < all->count; i++) {
        const mxl_profile_sum *old = &all->list[i].sum;
        mxl_profile_sum *sum = &all->list[i].entry->sum;

        sum->min = sum->count == 0 || old->min < sum->min ? old->min : sum->min;
        sum->max = sum->count == 0 || old->max > sum->max ? old->max : sum->max;
        sum->last = sum->count == 0 ? old->last : sum->last;
        sum->count += old->count;
        sum->total += old->total;
        sum->marked = sum->marked || old->marked;
    }
    mxl_profile_unlock();
}

/* ---- order ---- */

static int by_category(const row *x, const row *y)
{
    return strcmp(x->entry->category->name, y->entry->category->name);
}

static int rising(const void *a, const void *b)
{
    const row *x = a, *y = b;
    int order = by_category(x, y);

    if (order == 0)
        order = (x->key > y->key) - (x->key < y->key);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int falling(const void *a, const void *b)
{
    const row *x = a, *y = b;
    int order = by_category(x, y);

    if (order == 0)
        order = (x->key < y->key) - (x->key > y->key);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static bool is_memory(const row *r)
{
    return r->entry->kind == MXL_PROFILE_MEMORY;
}

static bool begins_category(const rows *all, int i)
{
    return i == 0 || by_category(&all->list[i - 1], &all->list[i]) != 0;
}

/* ---- the table ---- */

static void say_columns(mxl_profile_out *out, const char *name, bool memory)
{
    static const char *const heads[][2] = {
        {"Time (ms)", "---------"},         {"Min Time (ms)", "-------------"},
        {"Max Time (ms)", "-------------"}, {"Avg Time (ms)", "-------------"},
        {"Min Use  (kB)", "-------------"}, {"Max Use  (kB)", "-------------"},
        {"Avg Use  (kB)", "-------------"}};

    mxl_profile_text(out, name);
    mxl_profile_text(out, "\n=================\n");
    for (int line = 0; line < 2; line++) {
        mxl_profile_say(out, "%-25s%16s", line == 0 ? "Name" : "----",
                        line == 0 ? "Total Count" : "-----------");
        for (int i = memory ? 4 : 0; i < (memory ? 7 : 4); i++)
            mxl_profile_say(out, "%17s", heads[i][line]);
        mxl_profile_text(out, "\n");
    }
}

static void say_line(mxl_profile_out *out, const row *r)
{
    mxl_profile_text(out, r->name);
    mxl_profile_say(out, "%*s%16" PRId64, (int)fmax(0, 25 - (double)strlen(r->name)), "",
                    r->sum.count);
    if (!is_memory(r))
        mxl_profile_say(out, "%17.4f", r->shown[SHOWN_TOTAL]);
    mxl_profile_say(out, "%17.4f%17.4f%17.4f\n", r->shown[SHOWN_MIN], r->shown[SHOWN_MAX],
                    r->shown[SHOWN_AVERAGE]);
}

static void say_table(mxl_profile_out *out, const rows *all)
{
    mxl_profile_text(out, "\nProfile Statistics:\n"
                          "\tNote the difference in units for different entries.\n");
    for (int i = 0; i < all->count; i++) {
        const row *r = &all->list[i];

        if (begins_category(all, i)) {
            mxl_profile_text(out, i == 0 ? "" : "\n");
            say_columns(out, r->entry->category->name, is_memory(r));
        }
        if (r->sum.count > 0)
            say_line(out, r);
    }
    mxl_profile_text(out, all->count > 0 ? "\n" : "");
}

/* ---- JSON ---- */

static void say_member(mxl_profile_out *out, const row *r)
{
    mxl_profile_text(out, "            ");
    mxl_profile_quote(out, r->name);
    mxl_profile_say(out, ": {\n                \"Count\": %" PRId64 ",\n", r->sum.count);
    if (!is_memory(r))
        mxl_profile_say(out, "                \"Total\": %.9g,\n", r->shown[SHOWN_TOTAL]);
    mxl_profile_say(out,
                    "                \"Min\": %.9g,\n                \"Max\": %.9g,\n"
                    "                \"Avg\": %.9g\n            }\n",
                    r->shown[SHOWN_MIN], r->shown[SHOWN_MAX], r->shown[SHOWN_AVERAGE]);
}

static void say_part(mxl_profile_out *out, const rows *all, const char *title, bool memory)
{
    bool open = false, first = true;

    mxl_profile_say(out, "    \"%s\": {\n", title);
    for (int i = 0; i < all->count; i++) {
        const row *r = &all->list[i];

        if (is_memory(r) != memory)
            continue;
        if (begins_category(all, i)) {
            mxl_profile_text(out, open ? "        }\n        ,\n" : "");
            mxl_profile_text(out, "        ");
            mxl_profile_quote(out, r->entry->category->name);
            mxl_profile_text(out, ": {\n");
            open = first = true;
        }
        if (r->sum.count == 0)
            continue;
        mxl_profile_text(out, first ? "" : "            ,\n");
        first = false;
        say_member(out, r);
    }
    mxl_profile_text(out, open ? "        }\n    }\n" : "    }\n");
}

static void say_json(mxl_profile_out *out, const rows *all)
{
    mxl_profile_text(out, "{\n");
    say_part(out, all, "Time", false);
    mxl_profile_text(out, "    ,\n");
    say_part(out, all, "Memory", true);
    mxl_profile_text(out, ",\n    \"Unit\": {\n        \"Time\": \"ms\",\n"
                          "        \"Memory\": \"kB\"\n    }\n}\n");
}

int mxl_profile_sums(mxl_profile_write write, void *to, bool json, mxl_profile_order order,
                     bool ascending, bool reset)
{
    mxl_profile_out out;
    rows all;
    int status;

    if (take(&all, order, reset) != 0)
        return -1;
    qsort(all.list, (size_t)all.count, sizeof(row), ascending ? rising : falling);
    out.write = write;
    out.to = to;
    out.status = 0;
    out.used = 0;
    if (json)
        say_json(&out, &all);
    else
        say_table(&out, &all);
    status = mxl_profile_flush(&out);
    if (status != 0 && reset)
        give_back(&all);
    mxl_free(all.list, (size_t)all.room * sizeof(row));
    return status;
}
