/* The profiler from many threads: records, results and settings at once. Run under ThreadSanitizer.
 */
#include "profile_kit.h"

#include <pthread.h>

enum { THREADS = 4, CALLS = 400 };

static ProfileHandle domain, task, counter;

static void *measure(void *unused)
{
    int64_t size = 70000;
    H x = make(F32, 1, &size);

    for (int i = 0; i < CALLS; i++) {
        H y = op1("tanh", x);

        CHECK_INT(MXProfileDurationStart(task), 0);
        if (i % 20 == 0)
            CHECK_INT(MXNDArrayWaitToRead(y), 0);
        CHECK_INT(MXProfileAdjustCounter(counter, 1), 0);
        CHECK_INT(MXProfileSetMarker(domain, "moment", "thread"), 0);
        CHECK_INT(MXProfileDurationStop(task), 0);
        drop(y);
    }
    drop(x);
    return unused;
}

static void *ask(void *unused)
{
    for (int i = 0; i < 20; i++) {
        const char *text;

        CHECK_INT(MXAggregateProfileStatsPrintEx(&text, i % 3 == 0, i % 2, i % 5, 0), 0);
        CHECK_INT(MXDumpProfile(0), 0);
        CHECK_INT(MXProfilePause(i % 2), 0);
    }
    CHECK_INT(MXProfilePause(0), 0);
    return unused;
}

TEST(all_at_once)
{
    pthread_t threads[THREADS + 1];
    char *text;

    configure("true");
    CHECK_INT(MXProfileCreateDomain("d", &domain), 0);
    CHECK_INT(MXProfileCreateTask(domain, "task", &task), 0);
    CHECK_INT(MXProfileCreateCounter(domain, "counter", &counter), 0);
    CHECK_INT(MXSetProfilerState(1), 0);
    for (int i = 0; i <= THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, i == THREADS ? ask : measure, NULL), 0);
    for (int i = 0; i <= THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(MXDumpProfile(1), 0);
    text = read_trace();
    CHECK_INT(count_in(text, "\"ph\": \"B\""), count_in(text, "\"ph\": \"E\""));
    free(text);
    CHECK_INT(MXProfileDestroyHandle(domain), 0);
    CHECK_INT(MXProfileDestroyHandle(task), 0);
    CHECK_INT(MXProfileDestroyHandle(counter), 0);
    forget();
}

HARNESS_MAIN(ENTRY(all_at_once))
