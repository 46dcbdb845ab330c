/* The profiler in tests: settings, text of results, a trace file read back. */
#ifndef PROFILE_KIT_H
#define PROFILE_KIT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine_kit.h"

static const char *trace_file(void)
{
    static char path[64];

    snprintf(path, sizeof(path), "/tmp/mxl_profile_%d.json", (int)getpid());
    return path;
}

KIT void configure(const char *aggregate)
{
    const char *keys[] = {"filename", "aggregate_stats", "profile_all"};
    const char *values[] = {trace_file(), aggregate, "true"};

    CHECK_INT(MXSetProfilerConfig(3, keys, values), 0);
}

/* Drops all records and sums, and stops the profiler. */
KIT void forget(void)
{
    const char *text;

    CHECK_INT(MXSetProfilerState(1), 0);
    CHECK_INT(MXDumpProfile(1), 0);
    CHECK_INT(MXAggregateProfileStatsPrint(&text, 1), 0);
    unlink(trace_file());
}

/* The file's text (to be freed), or NULL. */
KIT char *read_trace(void)
{
    FILE *file = fopen(trace_file(), "r");
    char *text;
    size_t length;

    if (file == NULL)
        return NULL;
    text = calloc(1, 1 << 24);
    length = text == NULL ? 0 : fread(text, 1, (1 << 24) - 1, file);
    CHECK(length > 0);
    fclose(file);
    return text;
}

KIT int count_in(const char *text, const char *part)
{
    int count = 0;

    for (const char *at = text; text != NULL && (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

#endif
