/* Hooks and walks from many threads over graphs that share variables and nodes. Run under
 * ThreadSanitizer. */
#include "graph_kit.h"

#include <pthread.h>
#include <stdatomic.h>

#ifdef MXL_SANITIZER
enum { ROUNDS = 40 };
#else
enum { ROUNDS = 500 };
#endif
enum { THREADS = 8 };

static const MXLBackwardOptions keep = {.keep_graph = 1};
static atomic_int calls, releases;

static int twice(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    for (int i = 0; i < count; i++) {
        results[i] = op_scalar("_mul_scalar", grads[i], "2");
        drop(grads[i]);
    }
    atomic_fetch_add(&calls, 1);
    return 0;
}

static int watch(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    (void)results;
    for (int i = 0; i < count; i++)
        drop(grads[i]);
    return 0;
}

static int accumulated(void *payload, H variable)
{
    (void)payload;
    drop(variable);
    atomic_fetch_add(&calls, 1);
    return 0;
}

static void released(void *payload)
{
    (void)payload;
    atomic_fetch_add(&releases, 1);
}

static void run_all(void *(*work)(void *), void *data)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, data) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* ---- graphs of their own over one variable: no gradient is lost ---- */

static void *own_graphs(void *shared)
{
    for (int i = 0; i < ROUNDS; i++) {
        H y;

        record(true);
        y = op_scalar("_mul_scalar", shared, "3");
        record(false);
        CHECK_INT(run_from(y, &keep), 0);
        drop(y);
    }
    return NULL;
}

TEST(hooks_on_a_shared_variable)
{
    H x = leaf(VEC(1));

    atomic_store(&calls, 0);
    atomic_store(&releases, 0);
    CHECK_INT(MXLNDArrayAddHook(x, twice, 0, NULL, released, NULL), 0);
    run_all(own_graphs, x);
    CHECK_NEAR(grad_at(x, 0), 6.0 * THREADS * ROUNDS, 0);
    CHECK_INT(atomic_load(&calls), THREADS * ROUNDS);
    CHECK_INT(MXLNDArrayAddAccumulatedHook(x, accumulated, NULL, released, NULL), 0);
    run_all(own_graphs, x);
    CHECK_NEAR(grad_at(x, 0), 12.0 * THREADS * ROUNDS, 0);
    CHECK_INT(atomic_load(&calls), 3 * THREADS * ROUNDS);
    drop(x);
    CHECK_INT(atomic_load(&releases), 2);
}

/* ---- one graph, hooked, walked and run by all ---- */

static void *one_graph(void *shared)
{
    for (int i = 0; i < ROUNDS; i++) {
        MXLHookHandle hook = NULL;
        N node = edge_of(shared, NULL);
        int saved = -1;
        void *there = NULL;

        CHECK_INT(MXLNDArrayAddHook(shared, watch, i % 2, NULL, released, &hook), 0);
        CHECK_INT(run_from(shared, &keep), 0);
        CHECK_INT(MXLHookRemove(hook), 0);
        CHECK_INT(MXLNodeSetPayload(node, &calls, released), 0);
        CHECK_INT(MXLNodeGetPayload(node, &there), 0);
        CHECK_INT(MXLNodeGetNumSaved(node, &saved), 0);
        CHECK_INT(saved, 1);
        CHECK_STR(name_of(node), "ExpBackward0");
        CHECK_INT(MXLNodeFree(step(node, 0)), 0);
    }
    return NULL;
}

TEST(one_graph_for_all)
{
    H x = leaf(VEC(0)), y;

    atomic_store(&releases, 0);
    record(true);
    y = op1("exp", x);
    record(false);
    run_all(one_graph, y);
    CHECK_NEAR(grad_at(x, 0), THREADS * ROUNDS, 0);
    drop(y);
    drop(x);
    CHECK_INT(atomic_load(&releases), 2 * THREADS * ROUNDS);
}

/* ---- a hook taken away while it is called, a graph released while it is walked ---- */

static _Atomic(MXLHookHandle) hook_now;

static void *come_and_go(void *shared)
{
    for (int i = 0; i < ROUNDS; i++) {
        MXLHookHandle made = NULL, old;
        H y;
        N node;
        int saved = -1;

        if (MXLNDArrayAddHook(shared, watch, 0, NULL, released, &made) == 0) {
            old = atomic_exchange(&hook_now, made);
            if (old != NULL)
                CHECK_INT(MXLHookRemove(old), 0);
        }
        record(true);
        y = op1("exp", shared);
        record(false);
        node = edge_of(y, NULL);
        CHECK_INT(backward(y), 0);
        CHECK_INT(MXLNodeGetNumSaved(node, &saved), 0);
        CHECK_INT(saved, 0);
        MXLNodeFree(node);
        drop(y);
    }
    return NULL;
}

TEST(hooks_come_and_go)
{
    H x = leaf(VEC(0));

    atomic_store(&releases, 0);
    atomic_store(&hook_now, NULL);
    run_all(come_and_go, x);
    CHECK_INT(MXLHookRemove(atomic_load(&hook_now)), 0);
    CHECK_INT(atomic_load(&releases), THREADS * ROUNDS);
    CHECK_NEAR(grad_at(x, 0), THREADS * ROUNDS, 0);
    drop(x);
}

/* ---- a collector's walk, while other threads use what it comes to ---- */

enum { MAX_KNOWN = 64 };

typedef struct collector {
    int count, payloads, seen[MAX_KNOWN];
    const void *known[MAX_KNOWN];
} collector;

static int on_reference(void *data, const void *from, const void *to, int references)
{
    collector *c = data;
    int i = 0;

    (void)from;
    while (i < c->count && c->known[i] != to)
        i++;
    if (i == c->count) {
        if (!CHECK(i < MAX_KNOWN))
            return 0;
        c->known[c->count++] = to;
    }
    return ++c->seen[i] == references;
}

static void on_payload(void *data, const void *from, void *payload)
{
    (void)from;
    (void)payload;
    ((collector *)data)->payloads++;
}

static int walk_over(int count, const H *arrays)
{
    MXLPayloadVisitor visitor = {released, on_reference, on_payload};
    collector c = {0};

    for (int i = 0; i < count; i++)
        CHECK_INT(MXLNDArrayVisitPayloads(arrays[i], &visitor, &c), 0);
    return c.payloads;
}

enum { SHARED = 4 };
static atomic_int turn;

static void *use_or_walk(void *data)
{
    const H *shared = data;
    bool walks = atomic_fetch_add(&turn, 1) % 2 != 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (walks) {
            CHECK(walk_over(SHARED, shared) <= 2);
        } else {
            H y;

            record(true);
            y = op2("elemwise_mul", shared[SHARED - 1], shared[0]);
            record(false);
            CHECK_INT(run_from(y, &keep), 0);
            drop(y);
        }
    }
    return NULL;
}

TEST(a_walk_while_others_use_the_graph)
{
    H shared[SHARED] = {leaf(VEC(1, 2))};

    atomic_store(&releases, 0);
    record(true);
    for (int i = 1; i < SHARED; i++)
        shared[i] = op2("elemwise_mul", shared[i - 1], shared[0]);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(shared[0], watch, 0, NULL, released, NULL), 0);
    CHECK_INT(MXLNDArrayAddHook(shared[2], watch, 0, NULL, released, NULL), 0);
    CHECK_INT(walk_over(SHARED, shared), 2);
    run_all(use_or_walk, shared);
    CHECK_INT(walk_over(SHARED, shared), 2);
    CHECK_INT(walk_over(SHARED - 1, shared), 0);
    for (int i = 0; i < SHARED; i++)
        drop(shared[i]);
    CHECK_INT(atomic_load(&releases), 2);
}

HARNESS_MAIN(ENTRY(hooks_on_a_shared_variable), ENTRY(one_graph_for_all), ENTRY(hooks_come_and_go),
             ENTRY(a_walk_while_others_use_the_graph))
