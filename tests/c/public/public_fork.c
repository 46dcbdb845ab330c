/* A process that forks after work and computes on, with only the public header. */
#include "engine_kit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Records, runs backward, and uses arrays and threads as large as the pool needs. */
static bool works(H shared)
{
    int64_t many = 1 << 18;
    H x = VEC(3), y, z, big = make(F64, 1, &many), e;
    double first = 0;
    bool ok;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    z = MUL(y, shared);
    record(false);
    ok = backward(z) == 0 && grad_at(x, 0) == 12;
    e = op1("zeros_like", big);
    drop(big);
    big = op1("exp", e);
    drop(e);
    e = MXLNDArraySlice(big, many - 1, many);
    ok = ok && e != NULL && MXNDArraySyncCopyToCPU(e, &first, 1) == 0 && first == 1;
    drop(e);
    drop(big);
    drop(z);
    drop(y);
    drop(x);
    return ok;
}

static void *thread_works(void *data)
{
    return works((H)data) ? data : NULL;
}

static void child(H shared)
{
    pthread_t thread;
    void *result = NULL;
    bool ok = works(shared) && pthread_create(&thread, NULL, thread_works, shared) == 0 &&
              pthread_join(thread, &result) == 0 && result == shared;

    _exit(ok ? 0 : 1);
}

TEST(child_goes_on)
{
    H shared = VEC(2);

    CHECK(works(shared));
    for (int i = 0; i < 3; i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0)
            child(shared);
        REQUIRE(pid > 0);
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(works(shared));
    }
    drop(shared);
}

/* Forked while a graph is alive and the thread records: the child has both. */
TEST(graph_crosses_the_fork)
{
    H x = VEC(3), y;
    int status = -1;
    pid_t pid;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    pid = fork();
    if (pid == 0) {
        bool on = false;
        bool ok = MXAutogradIsRecording(&on) == 0 && on && backward(y) == 0 && grad_at(x, 0) == 6;

        _exit(ok ? 0 : 1);
    }
    REQUIRE(pid > 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    record(false);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    drop(y);
    drop(x);
}

/* A sanitizer's own locks are not taken over a fork. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUSY
#else
enum { PREPARED = 20000 }; /* calls; none is freed */

static atomic_bool stop;

static bool prepare(int number)
{
    const char *key = "scalar";
    const char *value = NULL;
    char text[32];
    MXLCallHandle call;

    snprintf(text, sizeof text, "%d", number);
    value = text;
    return MXLPrepare("_plus_scalar", 1, &key, &value, 0, NULL, &call) == 0;
}

static void *prepares(void *failed)
{
    for (int i = 0; i < PREPARED && !atomic_load(&stop); i++) {
        if (!prepare(i))
            atomic_store((atomic_bool *)failed, true);
    }
    atomic_store(&stop, true);
    return NULL;
}

static void *configures(void *failed)
{
    const char *keys[] = {"aggregate_stats"}, *values[] = {"true"};

    while (!atomic_load(&stop)) {
        if (MXSetProfilerConfig(1, keys, values) != 0)
            atomic_store((atomic_bool *)failed, true);
    }
    return NULL;
}

static void *computes(void *failed)
{
    H shared = VEC(2);

    while (!atomic_load(&stop)) {
        if (!works(shared))
            atomic_store((atomic_bool *)failed, true);
    }
    drop(shared);
    return NULL;
}

/* The first of the tests: which lock was first used is not to matter. */
TEST(busy_parent)
{
    void *(*const bodies[])(void *) = {prepares, configures, computes};
    pthread_t threads[3];
    atomic_bool failed = false;

    CHECK(prepare(-1));
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, bodies[i], &failed) == 0);
    for (int i = 0; i < 2000 && !atomic_load(&stop); i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0) {
            alarm(30);
            _exit(prepare(PREPARED + i) && works(VEC(2)) ? 0 : 1);
        }
        REQUIRE(pid > 0);
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(!atomic_load(&failed));
}
#define BUSY ENTRY(busy_parent),
#endif

HARNESS_MAIN(BUSY ENTRY(child_goes_on), ENTRY(graph_crosses_the_fork))
