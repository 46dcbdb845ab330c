/* The profiler through the C API: what is recorded, the trace, the sums, errors, failing memory. */
#include "profile_kit.h"

#ifndef _WIN32
#include <sys/wait.h>
#endif

#include "failing.h"

static void run_tanh(int times)
{
    H x = VEC(1, 2);

    for (int i = 0; i < times; i++)
        drop(op1("tanh", x));
    drop(x);
}

TEST(operators_in_a_trace)
{
    char *text;

    configure("false");
    run_tanh(1);
    CHECK_INT(MXSetProfilerState(1), 0);
    run_tanh(2);
    CHECK_INT(MXSetProfilerState(0), 0);
    run_tanh(1);
    CHECK_INT(MXDumpProfile(1), 0);
    text = read_trace();
    REQUIRE(text != NULL);
    CHECK_INT(count_in(text, "\"name\": \"tanh\""), 4); /* a beginning and an end each */
    CHECK_INT(count_in(text, "\"ph\": \"B\""), count_in(text, "\"ph\": \"E\""));
    CHECK_HAS(text, "\"traceEvents\"");
    CHECK_HAS(text, "Memory: cpu/0");
    free(text);
    CHECK_INT(MXDumpProfile(1), -1);
    CHECK_HAS(MXGetLastError(), "has not run");
    forget();
}

TEST(more_than_a_chunk)
{
    char *text;

    configure("true");
    CHECK_INT(MXSetProfilerState(1), 0);
    run_tanh(2500);
    CHECK_INT(MXDumpProfile(0), 0);
    run_tanh(100);
    CHECK_INT(MXDumpProfile(0), 0); /* an unfinished file is repeated */
    text = read_trace();
    CHECK_INT(count_in(text, "\"name\": \"tanh\""), 5200);
    free(text);
    forget();
}

TEST(backward_and_passes)
{
    const char *text;
    int64_t size = 100000;
    H x = make(F32, 1, &size), y, z;

    configure("true");
    CHECK_INT(MXSetProfilerState(1), 0);
    y = op1("tanh", x);
    z = op1("exp", y);
    drop(y);
    CHECK_INT(MXNDArrayWaitToRead(z), 0);
    drop(z);
    drop(x);
    x = VEC(1, 2);
    attach_start(x, REQ_WRITE, 1);
    record(true);
    y = op1("tanh", x);
    record(false);
    CHECK_INT(MXAutogradBackwardEx(1, &y, NULL, 0, NULL, 0, 0, 1, NULL, NULL), 0);
    CHECK_INT(MXSetProfilerState(0), 0);
    CHECK_INT(MXAggregateProfileStatsPrint(&text, 0), 0);
    CHECK_HAS(text, "FusedPass(tanh,exp)");
    CHECK_HAS(text, "_backward_tanh");
    CHECK_HAS(text, "Device Storage");
    CHECK_INT(count_in(text, "\ntanh                                    2"), 1);
    CHECK_INT(MXAggregateProfileStatsPrintEx(&text, 1, 1, 4, 1), 0);
    CHECK_HAS(text, "\"_backward_tanh\": {");
    CHECK_INT(MXAggregateProfileStatsPrint(&text, 0), 0);
    CHECK(strstr(text, "tanh") == NULL); /* reset */
    drop(y);
    attach_start(x, REQ_NULL, 0);
    drop(x);
    forget();
}

TEST(own_measurements)
{
    ProfileHandle domain, task, frame, event, counter;
    char *text;

    configure("true");
    CHECK_INT(MXProfileCreateDomain("a \"domain\"", &domain), 0);
    CHECK_INT(MXProfileCreateTask(domain, "task", &task), 0);
    CHECK_INT(MXProfileCreateFrame(domain, "frame", &frame), 0);
    CHECK_INT(MXProfileCreateCounter(domain, "counter", &counter), 0);
    CHECK_INT(MXProfileCreateEvent("event", &event), 0);
    CHECK_INT(MXProfileSetCounter(counter, 5), 0);
    CHECK_INT(MXSetProfilerState(1), 0);
    CHECK_INT(MXProfileDurationStart(task), 0);
    CHECK_INT(MXProfileDurationStart(frame), 0);
    CHECK_INT(MXProfileDurationStart(event), 0);
    CHECK_INT(MXProfileDurationStop(task), 0);
    CHECK_INT(MXProfileDurationStop(task), 0); /* ignored */
    CHECK_INT(MXProfileDurationStop(frame), 0);
    CHECK_INT(MXProfileDurationStop(event), 0);
    CHECK_INT(MXProfileAdjustCounter(counter, -7), 0);
    CHECK_INT(MXProfileSetMarker(domain, "marker", "global"), 0);
    CHECK_INT(MXProfilePause(1), 0);
    CHECK_INT(MXProfileSetMarker(domain, "paused", "global"), 0);
    CHECK_INT(MXProfilePause(0), 0);
    CHECK_INT(MXDumpProfile(1), 0);
    text = read_trace();
    REQUIRE(text != NULL);
    CHECK_INT(count_in(text, "\"name\": \"task\""), 2);
    CHECK_INT(count_in(text, "\"cat\": \"a \\\"domain\\\",frame\""), 2);
    CHECK_INT(count_in(text, "\"cat\": \"event\""), 2);
    CHECK_HAS(text, "{ \"counter\": -2 }");
    CHECK_HAS(text, "\"s\": \"g\"");
    CHECK(strstr(text, "paused") == NULL);
    free(text);
    CHECK_INT(MXProfileSetCounter(task, 1), -1);
    CHECK_HAS(MXGetLastError(), "of a task, frame or event, a counter was expected");
    CHECK_INT(MXProfileCreateTask(task, "x", &event), -1);
    CHECK_INT(MXProfileDurationStart(domain), -1);
    CHECK_INT(MXProfileDestroyHandle(domain), 0);
    CHECK_INT(MXProfileDurationStart(task), 0);
    CHECK_INT(MXProfileDestroyHandle(task), 0);
    CHECK_INT(MXProfileDurationStop(task), -1);
    CHECK_HAS(MXGetLastError(), "freed");
    CHECK_INT(MXProfileDestroyHandle(frame), 0);
    CHECK_INT(MXProfileDestroyHandle(event), 0);
    CHECK_INT(MXProfileDestroyHandle(counter), 0);
    forget();
}

TEST(bad_settings)
{
    static const struct {
        const char *key, *value, *error;
    } bad[] = {{"colour", "red", "unknown setting 'colour'"},
               {"profile_all", "7", "must be true or false"},
               {"dump_period", "soon", "must be a number"},
               {"filename", "", "1 to"},
               {"profile_process", "server", "no server"}};
    const char *text, *keys[] = {"continuous_dump", "dump_period"}, *values[] = {"1", "-1"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(MXSetProcessProfilerConfig(1, &bad[i].key, &bad[i].value, NULL), -1);
        CHECK_HAS(MXGetLastError(), bad[i].error);
    }
    CHECK_INT(MXSetProfilerConfig(2, keys, values), -1);
    CHECK_INT(MXSetProfilerConfig(1, NULL, NULL), -1);
    CHECK_INT(MXSetProfilerState(2), -1);
    CHECK_INT(MXSetProcessProfilerState(1, 1, NULL), -1);
    CHECK_INT(MXProcessProfilePause(1, 1, NULL), -1);
    CHECK_INT(MXDumpProcessProfile(1, 1, NULL), -1);
    CHECK_INT(MXAggregateProfileStatsPrintEx(&text, 0, 2, 0, 0), -1);
    CHECK_INT(MXAggregateProfileStatsPrintEx(&text, 0, 0, 5, 0), -1);
    CHECK_INT(MXAggregateProfileStatsPrint(NULL, 0), -1);
    CHECK_INT(MXProfileDestroyHandle(NULL), -1);
    CHECK_INT(MXProfileDurationStart(NULL), -1);
}

/* A file that cannot be written loses nothing. */
TEST(no_folder)
{
    const char *key = "filename", *value = "/nonexistent/folder/p.json";
    char *text;

    CHECK_INT(MXSetProfilerConfig(1, &key, &value), 0);
    CHECK_INT(MXSetProfilerState(1), 0);
    run_tanh(1);
    CHECK_INT(MXDumpProfile(1), -1);
    CHECK_HAS(MXGetLastError(), "MXDumpProfile");
    configure("true");
    CHECK_INT(MXDumpProfile(1), 0);
    text = read_trace();
    CHECK_INT(count_in(text, "\"name\": \"tanh\""), 2);
    free(text);
    forget();
}

/* Records that find no memory are dropped; the calls work. */
TEST(failing_memory)
{
    H x = VEC(1, 2), into = VEC(0, 0);
    OpHandle op;
    char *text;

    CHECK_INT(NNGetOpHandle("tanh", &op), 0);
    configure("true");
    CHECK_INT(MXSetProfilerState(1), 0);
    for (int i = 0; i < 3000; i++) {
        H *outputs = &into;
        int num = 1;

        until_failure = 0;
        if (MXImperativeInvoke(op, 1, &x, &num, &outputs, 0, NULL, NULL) != 0)
            CHECK(false);
        until_failure = -1;
    }
    CHECK(failed > 0);
    CHECK_NEAR(at(into, 1), 0.9640275800758169, 1e-12);
    CHECK_INT(MXDumpProfile(1), 0);
    text = read_trace();
    CHECK_HAS(text, "\"dropped\"");
    free(text);
    drop(x);
    drop(into);
    forget();
}

#ifdef _WIN32
#define WITH_FORK
#else
#define WITH_FORK , ENTRY(a_child_records_nothing)
TEST(a_child_records_nothing)
{
    int status = 1;
    pid_t child;

    configure("true");
    CHECK_INT(MXSetProfilerState(1), 0);
    child = fork();
    if (child == 0) {
        run_tanh(1);
        _exit(MXDumpProfile(1) == -1 ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    forget();
}
#endif

int main(int argc, char **argv)
{
    static const harness_test tests[] = {
        ENTRY(operators_in_a_trace),    ENTRY(more_than_a_chunk), ENTRY(backward_and_passes),
        ENTRY(own_measurements),        ENTRY(bad_settings),      ENTRY(no_folder),
        ENTRY(failing_memory) WITH_FORK};

    if (MXLSetAllocator(counted, counted_free, NULL, 0) != 0)
        return 1;
    return harness_main(argc, argv, tests, sizeof tests / sizeof *tests, HARNESS_LIVE);
}
