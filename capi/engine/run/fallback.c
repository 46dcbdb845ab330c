/* Lines about calls that run on dense copies; see fallback.h. sparse.c says them. */
#include "engine/run/fallback.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "array/sparse/sparse.h"
#include "base/env.h"

enum {
    LINE = 512,
    NAMED = 8,  /* storage types that a line names; "..." are the others */
    SEEN = 1024 /* lines that are told apart; those beyond are not said */
};

static _Atomic(mxl_notice) listener;
static _Atomic uint64_t seen[SEEN]; /* hashes of lines, 0 for none */

void mxl_fallback_tell(mxl_notice notice)
{
    atomic_store_explicit(&listener, notice, memory_order_release);
}

/* MXNET_STORAGE_FALLBACK_LOG_VERBOSE as it was at the first question. */
static bool is_wanted(void)
{
    static atomic_int answer; /* 0: not asked yet, 1: no, 2: yes */
    int known = atomic_load_explicit(&answer, memory_order_relaxed);

    if (known == 0) {
        known = mxl_env_flag("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", true) ? 2 : 1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == 2;
}

/* True for the one thread that asks first. */
static bool is_new(const char *line)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    for (const char *at = line; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(1099511628211);
    hash += hash == 0;
    for (size_t i = 0; i < SEEN; i++) {
        _Atomic uint64_t *place = &seen[(hash + i) % SEEN];
        uint64_t there = atomic_load_explicit(place, memory_order_relaxed);

        if (there == 0 && atomic_compare_exchange_strong_explicit(
                              place, &there, hash, memory_order_relaxed, memory_order_relaxed))
            return true;
        if (there == hash)
            return false;
    }
    return false;
}

/* ---- the line ---- */

typedef struct line {
    char text[LINE];
    size_t length;
} line;

MXL_PRINTF(2, 3) static void add(line *to, const char *fmt, ...)
{
    va_list args;
    int wrote;

    va_start(args, fmt);
    wrote = vsnprintf(to->text + to->length, LINE - to->length, fmt, args);
    va_end(args);
    if (wrote > 0)
        to->length += (size_t)wrote < LINE - to->length ? (size_t)wrote : LINE - to->length - 1;
}

/* "(csr, default)"; arrays that are not there are dense. */
static void add_types(line *to, int count, mxl_array *const *arrays)
{
    add(to, "(");
    for (int i = 0; i < count && i < NAMED; i++)
        add(to, "%s%s", i == 0 ? "" : ", ",
            mxl_stype_name(arrays[i] == NULL ? MXL_DENSE : arrays[i]->stype));
    add(to, count > NAMED ? ", ...)" : ")");
}

static bool any_sparse(int count, mxl_array *const *arrays)
{
    for (int i = 0; i < count; i++) {
        if (arrays[i] != NULL && mxl_array_is_sparse(arrays[i]))
            return true;
    }
    return false;
}

void mxl_fallback_say(const mxl_run *r)
{
    mxl_notice notice = atomic_load_explicit(&listener, memory_order_acquire);
    line said = {.length = 0};

    if (notice == NULL || r->call.num_inputs == 0 || !is_wanted())
        return;
    add(&said, "%.200s: no sparse form for ", r->call.op->name);
    add_types(&said, r->call.num_inputs, r->given_in);
    if (any_sparse(r->arity.visible, r->given_out)) {
        add(&said, " -> ");
        add_types(&said, r->arity.visible, r->given_out);
    }
    add(&said, "; it runs on dense copies (MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 ends such lines)");
    if (is_new(said.text))
        notice(said.text);
}
