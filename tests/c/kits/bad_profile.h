/* The calls of test_api_bad.c to the profiler. */
#ifndef BAD_PROFILE_H
#define BAD_PROFILE_H

#include "bad_calls.h"

#define PROFILE_PLACES(X)                                                                          \
    X(MXProfileCreateTask, PROFILE, false, MXProfileCreateTask(h, "t", &out))                      \
    X(MXProfileCreateFrame, PROFILE, false, MXProfileCreateFrame(h, "f", &out))                    \
    X(MXProfileCreateCounter, PROFILE, false, MXProfileCreateCounter(h, "c", &out))                \
    X(MXProfileDestroyHandle, PROFILE, false, MXProfileDestroyHandle(h))                           \
    X(MXProfileDurationStart, PROFILE, false, MXProfileDurationStart(h))                           \
    X(MXProfileDurationStop, PROFILE, false, MXProfileDurationStop(h))                             \
    X(MXProfileSetCounter, PROFILE, false, MXProfileSetCounter(h, 1))                              \
    X(MXProfileAdjustCounter, PROFILE, false, MXProfileAdjustCounter(h, 1))                        \
    X(MXProfileSetMarker, PROFILE, false, MXProfileSetMarker(h, "m", "process"))

#define PROFILE_ARGUMENTS(X)                                                                       \
    X(MXProfileCreateDomain, MXProfileCreateDomain(NULL, &out))                                    \
    X(MXProfileCreateDomain, MXProfileCreateDomain("d", NULL))                                     \
    X(MXProfileCreateTask, MXProfileCreateTask(good, NULL, &out))                                  \
    X(MXProfileCreateFrame, MXProfileCreateFrame(good, "f", NULL))                                 \
    X(MXProfileCreateCounter, MXProfileCreateCounter(good, NULL, &out))                            \
    X(MXProfileCreateEvent, MXProfileCreateEvent(NULL, &out))                                      \
    X(MXProfileCreateEvent, MXProfileCreateEvent("e", NULL))                                       \
    X(MXProfileSetMarker, MXProfileSetMarker(good, NULL, "process"))                               \
    X(MXProfileSetMarker, MXProfileSetMarker(good, "m", NULL))                                     \
    X(MXProfileSetMarker, MXProfileSetMarker(good, "m", "elsewhere"))                              \
    X(MXSetProfilerConfig, MXSetProfilerConfig(1, NULL, NULL))                                     \
    X(MXSetProfilerConfig, MXSetProfilerConfig(1, name_a, name_a))                                 \
    X(MXSetProfilerConfig, MXSetProfilerConfig(1, name_a, null_text))                              \
    X(MXSetProfilerConfig, MXSetProfilerConfig(-1, name_a, name_a))                                \
    X(MXSetProcessProfilerConfig, MXSetProcessProfilerConfig(1, name_a, name_a, NULL))             \
    X(MXSetProfilerState, MXSetProfilerState(2))                                                   \
    X(MXSetProcessProfilerState, MXSetProcessProfilerState(1, 1, NULL))                            \
    X(MXProcessProfilePause, MXProcessProfilePause(1, 1, NULL))                                    \
    X(MXDumpProfile, MXDumpProfile(1))                                                             \
    X(MXDumpProcessProfile, MXDumpProcessProfile(0, 1, NULL))                                      \
    X(MXAggregateProfileStatsPrint, MXAggregateProfileStatsPrint(NULL, 0))                         \
    X(MXAggregateProfileStatsPrintEx, MXAggregateProfileStatsPrintEx(NULL, 0, 0, 0, 0))            \
    X(MXAggregateProfileStatsPrintEx, MXAggregateProfileStatsPrintEx(&text_a, 0, 2, 0, 0))         \
    X(MXAggregateProfileStatsPrintEx, MXAggregateProfileStatsPrintEx(&text_a, 0, 0, 5, 0))

#endif
