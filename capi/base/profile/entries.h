/* What the files of the profiler share. "held": call it with the lock of profile.c. */
#ifndef MXL_BASE_PROFILE_ENTRIES_H
#define MXL_BASE_PROFILE_ENTRIES_H

#include "base/error.h"
#include "base/profile/profile.h"

enum { MXL_PROFILE_CHUNK = 1000 };

typedef struct mxl_profile_category {
    struct mxl_profile_category *next; /* in the order of their numbers */
    int number;
    char name[];
} mxl_profile_category;

/* Of nanoseconds, or of a counter's values. */
typedef struct mxl_profile_sum {
    int64_t count, min, max, last;
    double total;
    bool marked; /* a marker was set */
} mxl_profile_sum;

struct mxl_profile_entry {
    mxl_profile_entry *next, *same_hash;
    const mxl_profile_category *category;
    mxl_profile_kind kind;
    mxl_profile_sum sum;
    char name[];
};

typedef struct mxl_profile_record {
    const mxl_profile_entry *entry;
    int64_t begin;
    int64_t end; /* or the value of a counter, or the scope of a marker */
    uint32_t thread;
} mxl_profile_record;

typedef struct mxl_profile_chunk {
    struct mxl_profile_chunk *next;
    int count;
    mxl_profile_record list[MXL_PROFILE_CHUNK];
} mxl_profile_chunk;

/* A writer with a buffer. */
typedef struct mxl_profile_out {
    mxl_profile_write write;
    void *to;
    int status; /* of the first call of `write` that failed */
    size_t used;
    char text[4096];
} mxl_profile_out;

void mxl_profile_text(mxl_profile_out *out, const char *text);
/* The same with a format, up to 255 bytes. */
void mxl_profile_say(mxl_profile_out *out, const char *fmt, ...) MXL_PRINTF(2, 3);
/* A text as a JSON string, with its quotes. */
void mxl_profile_quote(mxl_profile_out *out, const char *text);
/* Writes the rest; -1 with the error set if any part failed. */
int mxl_profile_flush(mxl_profile_out *out);

void mxl_profile_lock(void);
void mxl_profile_unlock(void);

extern mxl_profile_entry *mxl_profile_held_entries; /* the latest first */
extern mxl_profile_category *mxl_profile_held_categories;
extern int64_t mxl_profile_held_dropped;
/* What is to be added to a time for microseconds of the calendar's clock, in nanoseconds. */
extern int64_t mxl_profile_held_epoch;

/* Takes all records away, the oldest chunk first; and puts them back before later ones. */
mxl_profile_chunk *mxl_profile_take(void);
void mxl_profile_put_back(mxl_profile_chunk *first);

#endif
