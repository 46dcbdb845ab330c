/* The profiler: times of operators, and what a program measures itself, as records for a trace and
 * as sums for a table. A record that finds no memory is dropped and counted; nothing else fails.
 * While the profiler is off, an operator pays one load and a branch that is never taken. */
#ifndef MXL_BASE_PROFILE_H
#define MXL_BASE_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/state.h"

typedef enum mxl_profile_kind {
    MXL_PROFILE_SPAN, /* operators, events */
    MXL_PROFILE_TASK,
    MXL_PROFILE_FRAME,
    MXL_PROFILE_COUNTER,
    MXL_PROFILE_MEMORY, /* a counter of bytes */
    MXL_PROFILE_MARKER,
    MXL_PROFILE_KINDS
} mxl_profile_kind;

/* A name in a category, of one kind; it lives as long as the process. */
typedef struct mxl_profile_entry mxl_profile_entry;

/* Whether records are made now. Only mxl_profile_set writes it. */
extern atomic_bool mxl_profile_on;

static inline bool mxl_profile_runs(void)
{
    return __builtin_expect(atomic_load_explicit(&mxl_profile_on, memory_order_relaxed), false);
}

/* Starts or stops the making of records; `sums`: whether the sums for the table are kept too. */
void mxl_profile_set(bool on, bool sums);

/* Nanoseconds of a clock that only goes forward. */
int64_t mxl_profile_now(void);

/* The entry, made if it is new. NULL with the error set. */
mxl_profile_entry *mxl_profile_find(mxl_profile_kind kind, const char *category, const char *name);

/* Records, of entries of a fitting kind: a duration between two times of mxl_profile_now, a value,
 * a moment (`scope` is 'g', 'p' or 't'). */
void mxl_profile_duration(mxl_profile_entry *entry, int64_t begin, int64_t end);
void mxl_profile_value(mxl_profile_entry *entry, int64_t value);
void mxl_profile_moment(mxl_profile_entry *entry, char scope);

/* ---- operators ---- */

/* A measurement under way. Its own time, which the sums have, is without that of spans within. */
typedef struct mxl_span {
    mxl_state *state; /* NULL: it is not measured */
    int64_t begin, inner;
    bool was_inside;
} mxl_span;

/* Begins to measure. An `operator` within another one is a part of that and has no record. */
mxl_span mxl_span_begin(bool operator);

/* Ends it; if it is `done` (it has not failed), records it under the name prefix + name. */
void mxl_span_end(const mxl_span *span, const char *prefix, const char *name, bool done);

/* Begins to measure an operator of the program's (Custom), named `type` until it ends: what runs
 * meanwhile is recorded under that name, and its own time as that of pure Python. *outer: for the
 * end. */
mxl_span mxl_span_begin_custom(const char *type, const char **outer);
void mxl_span_end_custom(const mxl_span *span, const char *outer, bool done);

/* Around a caller's function: its operators are none of those that called it. */
static inline bool mxl_span_leave(void)
{
    mxl_state *state = mxl_state_get();
    bool inside = state->in_operator;

    state->in_operator = false;
    return inside;
}

static inline void mxl_span_return(bool inside)
{
    mxl_state_get()->in_operator = inside;
}

/* ---- results ---- */

/* Takes the text of a result, piece by piece; -1 with the error set ends it. */
typedef int (*mxl_profile_write)(void *to, const char *text, size_t bytes);

/* Writes all records as a Chrome trace (JSON), and keeps them. No other thread may write or forget
 * meanwhile; records may be made. -1 with the error set. */
int mxl_profile_trace(mxl_profile_write write, void *to);

/* Drops all records; the sums stay. */
void mxl_profile_forget(void);

typedef enum mxl_profile_order {
    MXL_PROFILE_BY_TOTAL,
    MXL_PROFILE_BY_AVERAGE,
    MXL_PROFILE_BY_MIN,
    MXL_PROFILE_BY_MAX,
    MXL_PROFILE_BY_COUNT,
    MXL_PROFILE_ORDERS
} mxl_profile_order;

/* Writes the sums as a table or as JSON; then, if `reset`, begins new ones. `write` must not make
 * records. -1 with the error set. */
int mxl_profile_sums(mxl_profile_write write, void *to, bool json, mxl_profile_order order,
                     bool ascending, bool reset);

#endif
