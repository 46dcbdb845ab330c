/* The allocation walk: repeats a scenario with the k-th allocation failing, k = 0, 1, 2, ..., until
 * it succeeds. Each time the failing calls must set a message, leak nothing and change nothing of
 * the caller's, and the process must not crash. Freed blocks are not cached, so that every
 * allocation counts. For test_walk.c and test_walk_calls.c. */
#ifndef WALK_KIT_H
#define WALK_KIT_H

#include "engine_kit.h"
#include "failing.h"

/* What a scenario works on, made before and dropped after with all the memory there is. */
typedef struct stage {
    H x, w, c, y, z, none;
    MXLCallHandle mul, plus;
    int deleted;
} stage;

/* Runs a scenario's calls; false at the first that failed. It cleans up what it made. */
typedef bool (*scenario)(stage *s);

static bool failing(bool ok)
{
    if (!ok)
        CHECK(MXGetLastError()[0] != '\0');
    return ok;
}

/* Frees without the harness: a free must work when no memory is left. */
static inline void let_go(H array)
{
    CHECK_INT(MXNDArrayFree(array), 0);
}

static void build(stage *s)
{
    const char *key = "scalar";

    CHECK_INT(MXLPrepare("broadcast_mul", 0, NULL, NULL, 0, NULL, &s->mul), 0);
    CHECK_INT(MXLPrepare("_plus_scalar", 0, NULL, NULL, 1, &key, &s->plus), 0);
    s->x = VEC(2, 3);
    s->w = VEC(5, 7);
    s->c = VEC(1, 1);
    attach_start(s->x, REQ_ADD, 1);
    attach_start(s->w, REQ_WRITE, 1);
    CHECK_INT(MXNDArrayCreateNone(&s->none), 0);
    record(true);
    s->y = MUL(s->x, s->w);
    s->z = op1("tanh", s->y);
    record(false);
}

static void clear(stage *s)
{
    H none = NULL;
    uint32_t req = REQ_NULL;

    CHECK_INT(MXAutogradMarkVariables(1, &s->x, &req, &none), 0);
    CHECK_INT(MXAutogradMarkVariables(1, &s->w, &req, &none), 0);
    drop(s->x);
    drop(s->w);
    drop(s->c);
    drop(s->y);
    drop(s->z);
    drop(s->none);
}

/* The caller's arrays, gradients and flags are as built. */
static void check_untouched(stage *s)
{
    CHECK_NEAR(at(s->x, 1), 3, 0);
    CHECK_NEAR(at(s->w, 1), 7, 0);
    CHECK_NEAR(at(s->c, 1), 1, 0);
    CHECK_NEAR(at(s->y, 1), 21, 0);
    CHECK_NEAR(grad_at(s->x, 1), 1, 0);
    CHECK_NEAR(grad_at(s->w, 1), 1, 0);
    CHECK_INT(fresh(s->x), 0);
    CHECK_INT(fresh(s->w), 0);
    CHECK_INT(MXLNDArrayGetInfo(s->none, 0, NULL, NULL), -1);
}

static void walk(scenario run, bool atomic, bool allocates)
{
    int64_t k = 0;

    for (bool done = false; !done && k < 2000; k++) {
        stage s = {0};
        bool on = true;
        int64_t bytes, now, handles, handles_now;

        build(&s);
        CHECK_INT(MXLGetLiveBytes(&bytes), 0);
        CHECK_INT(MXLGetLiveHandles(&handles), 0);
        until_failure = k;
        failed = 0;
        done = run(&s);
        until_failure = -1;
        CHECK(done || failed > 0); /* what fails without need is a bug */
        CHECK_INT(MXAutogradIsRecording(&on), 0);
        CHECK_INT(on, false);
        CHECK_INT(MXLGetLiveHandles(&handles_now), 0);
        CHECK_INT(handles_now, handles);
        CHECK_INT(MXLGetLiveBytes(&now), 0);
        if (!done && atomic && k > 20) /* (the first rounds fill what is made once) */
            CHECK(now <= bytes + 4096);
        if (!done && atomic)
            check_untouched(&s);
        clear(&s);
    }
    CHECK_INT(k > 1, allocates);
    CHECK(k < 2000);
}

#define WALK(name, scenario, atomic)                                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        walk(scenario, atomic, true);                                                              \
    }

/* In place of HARNESS_MAIN. */
#define WALK_MAIN(...)                                                                             \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const harness_test tests[] = {__VA_ARGS__};                                         \
                                                                                                   \
        if (MXLSetAllocator(counted, counted_free, NULL, 0) != 0)                                  \
            return 1;                                                                              \
        return harness_main(argc, argv, tests, sizeof tests / sizeof *tests, HARNESS_LIVE);        \
    }

#endif
