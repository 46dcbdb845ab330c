/* Hooks, callbacks, functions of a caller and nested backwards, around the sizes at which their
 * lists grow. */
#include "sizes_kit.h"

#include <time.h>

/* ---- hooks ---- */

/* Adds 1 to every gradient that is there, and checks that hooks are called in order. */
typedef struct counter {
    int *called; /* the number of the hook that was called last */
    int number, released;
} counter;

static H plus_one(counter *c, H grad)
{
    H more = op_scalar("_plus_scalar", grad, "1");

    CHECK(*c->called < c->number);
    *c->called = c->number;
    drop(grad);
    return more;
}

static int on_grad(void *payload, int count, const H *grads, H *results)
{
    for (int i = 0; i < count; i++)
        results[i] = plus_one(payload, grads[i]);
    return 0;
}

static int on_node(void *payload, int num_inputs, const H *input_grads, int num_outputs,
                   const H *output_grads, H *results)
{
    for (int i = 0; i < num_inputs; i++) {
        if (input_grads[i] != NULL) /* the scalar's slot has none */
            results[i] = plus_one(payload, input_grads[i]);
    }
    for (int i = 0; i < num_outputs; i++)
        drop(output_grads[i]);
    return 0;
}

static int on_variable(void *payload, H variable)
{
    counter *c = payload;

    CHECK(*c->called < c->number);
    *c->called = c->number;
    drop(variable);
    return 0;
}

static void on_release(void *payload)
{
    ((counter *)payload)->released++;
}

enum { ON_ARRAY, ON_VARIABLE, BEFORE, AFTER, ACCUMULATED, KINDS };

static void add_hook(int kind, H x, H y, counter *c, MXLHookHandle *handle)
{
    N node = edge_of(y, NULL);
    int status;

    if (kind == ON_ARRAY || kind == ON_VARIABLE)
        status = MXLNDArrayAddHook(kind == ON_ARRAY ? y : x, on_grad, 0, c, on_release, handle);
    else if (kind == BEFORE)
        status = MXLNodeAddPreHook(node, on_grad, c, on_release, handle);
    else if (kind == AFTER)
        status = MXLNodeAddHook(node, on_node, c, on_release, handle);
    else
        status = MXLNDArrayAddAccumulatedHook(x, on_variable, c, on_release, handle);
    CHECK_INT(status, 0);
    CHECK_INT(MXLNodeFree(node), 0);
}

/* y = 2 x with n hooks of a kind; every third is taken away, then all. */
static void hooks_of(int kind, int n)
{
    MXLHookHandle handles[MOST];
    counter counters[MOST];
    H x = VEC(5), y;
    int called = -1, left = n, factor = kind == ON_ARRAY || kind == BEFORE ? 2 : 1;

    attach(x, REQ_WRITE);
    record(true);
    y = times(x, 2);
    record(false);
    for (int i = 0; i < n; i++) {
        counters[i] = (counter){&called, i, 0};
        add_hook(kind, x, y, &counters[i], &handles[i]);
    }
    for (int step = 3; step >= 1; step -= 2) {
        CHECK_INT(backward_full(y, NULL, 1, 0), 0);
        CHECK_NEAR(grad_at(x, 0), 2 + (kind == ACCUMULATED ? 0 : left * factor), 0);
        called = -1;
        for (int i = 0; i < n; i += step) {
            if (counters[i].released != 0)
                continue;
            CHECK_INT(MXLHookRemove(handles[i]), 0);
            CHECK_INT(counters[i].released, 1);
            left--;
        }
    }
    CHECK_INT(left, 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    drop(y);
    drop(x);
}

static void hooks(int n)
{
    for (int kind = 0; kind < KINDS; kind++)
        hooks_of(kind, n);
}

TEST(many_hooks)
{
    at_each_size(hooks);
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

enum { COUNT = 100000, SOME = 1000 };

/* Processor time of the first SOME of COUNT calls, and the least of the last ten times as many:
 * what other programs cost is in one of them, not in all. */
typedef struct costs {
    double first, least;
} costs;

static void note(costs *c, int i, double begin)
{
    double took = seconds() - begin;

    if (i == 0)
        *c = (costs){took, 1e9};
    else if (i >= COUNT - 10 * SOME && took < c->least)
        c->least = took;
}

/* The last thousand of many costs what the first thousand did, added and removed. */
TEST(hooks_cost_the_same)
{
    static MXLHookHandle handles[COUNT];
    int called = 0;
    counter one = {&called, 0, 0};
    H x = leaf(VEC(1));
    costs add = {0, 0}, removal = {0, 0};

    for (int i = 0; i < COUNT; i += SOME) {
        double begin = seconds();

        for (int k = i; k < i + SOME; k++)
            CHECK_INT(MXLNDArrayAddHook(x, on_grad, 0, &one, on_release, &handles[k]), 0);
        note(&add, i, begin);
    }
    for (int i = 0; i < COUNT; i += SOME) {
        double begin = seconds();

        for (int k = i; k < i + SOME; k++)
            CHECK_INT(MXLHookRemove(handles[k]), 0);
        note(&removal, i, begin);
    }
    CHECK(add.least < 30 * add.first + 0.002);
    CHECK(removal.least < 30 * removal.first + 0.002);
    CHECK_INT(one.released, COUNT);
    drop(x);
}

/* Hooks that follow an array to where an edit in place puts it: all of them, in order. */
static void following(int n)
{
    counter counters[MOST];
    int called = -1;
    H x = VEC(5), y, in[2];

    attach(x, REQ_WRITE);
    CHECK_INT(MXLSetInplace(1, NULL), 0);
    record(true);
    y = times(x, 2);
    for (int i = 0; i < n; i++) {
        counters[i] = (counter){&called, i, 0};
        CHECK_INT(MXLNDArrayAddHook(y, on_grad, 1, &counters[i], on_release, NULL), 0);
    }
    in[0] = y;
    in[1] = x;
    CHECK_INT(op_into("broadcast_add", 2, in, y), 0); /* 3 x; the hooks see its gradient */
    record(false);
    CHECK_INT(MXLSetInplace(0, NULL), 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 3 * (n + 1), 0);
    CHECK_INT(called, n - 1);
    CHECK_INT(counters[n - 1].released, 1);
    drop(y);
    drop(x);
}

TEST(many_hooks_that_follow)
{
    at_each_size(following);
}

/* ---- what is queued ---- */

typedef struct queue {
    int count, calls, released;
} queue;

static int at_end(void *payload)
{
    queue *q = payload;

    q->calls++;
    return 0;
}

static void queued_release(void *payload)
{
    ((queue *)payload)->released++;
}

static int queues(void *payload, int count, const H *grads, H *results)
{
    queue *q = payload;

    (void)count;
    (void)results;
    drop(grads[0]);
    for (int i = 0; i < q->count; i++)
        CHECK_INT(MXLBackwardQueue(at_end, q, queued_release), 0);
    CHECK_INT(q->calls, 0);
    return 0;
}

static void queued(int n)
{
    queue q = {n, 0, 0};
    H x = leaf(VEC(1)), y;

    record(true);
    y = times(x, 2);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, queues, 0, &q, NULL, NULL), 0);
    CHECK_INT(backward(y), 0);
    CHECK_INT(q.calls, n);
    CHECK_INT(q.released, n);
    drop(y);
    drop(x);
}

TEST(many_queued_callbacks)
{
    at_each_size(queued);
}

/* ---- backward inside backward ---- */

typedef struct level {
    int left;
    H x; /* its gradients add up */
} level;

static int deeper(void *payload, int count, const H *grads, H *results);

static int run_level(level *l)
{
    H y;
    int status;

    record(true);
    y = times(l->x, l->left + 1);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, deeper, 0, l, NULL, NULL), 0);
    status = backward(y);
    drop(y);
    return status;
}

static int deeper(void *payload, int count, const H *grads, H *results)
{
    level *l = payload, next = {l->left - 1, l->x};

    (void)count;
    (void)results;
    drop(grads[0]);
    return l->left > 0 ? run_level(&next) : 0;
}

static void levels(int n)
{
    level first = {n - 1, VEC(1)};

    attach(first.x, REQ_ADD);
    CHECK_INT(run_level(&first), 0);
    CHECK_NEAR(grad_at(first.x, 0), sum_to(n), 0);
    drop(first.x);
}

TEST(many_levels)
{
    at_each_size(levels);
}

/* ---- functions of the caller's, and what watches them ---- */

/* dx[i] = (i + 1) dy[i] */
static int rule(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                const int *wants, H *results)
{
    ++*(int *)payload;
    CHECK_INT(num_inputs, num_outputs);
    for (int i = 0; i < num_inputs; i++) {
        CHECK_INT(wants[i], 1);
        if (output_grads[i] != NULL) {
            results[i] = times(output_grads[i], i + 1);
            drop(output_grads[i]);
        }
    }
    return 0;
}

static int seen(void *payload, N node, int num_outputs, const H *outputs)
{
    *(int *)payload = num_outputs;
    for (int i = 0; i < num_outputs; i++) {
        CHECK_NEAR(at(outputs[i], 0), i, 0);
        drop(outputs[i]);
    }
    return MXLNodeFree(node);
}

static void functions(int n)
{
    MXLCallHandle like = NULL;
    H x[MOST], y[MOST], *grads = NULL;
    int calls = 0, taken = -1, num = 0, *stypes = NULL;

    for (int i = 0; i < n; i++) {
        x[i] = leaf(VEC(1));
        y[i] = VEC(i);
    }
    CHECK_INT(MXLPrepareAs(MXL_DIALECT_MXNET, "Mine", NULL, "_copy", 0, NULL, NULL, 0, NULL, &like),
              0);
    CHECK_INT(MXLSetRecordHook(seen, &num), 0);
    record(true);
    CHECK_INT(MXLFunctionRecord(like, n, x, n, y, rule, &calls, NULL, NULL, &taken), 0);
    record(false);
    CHECK_INT(MXLSetRecordHook(NULL, NULL), 0);
    CHECK_INT(taken, 1);
    CHECK_INT(num, n);
    CHECK_INT(MXAutogradBackward((uint32_t)n, y, NULL, 1), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_at(x[i], 0), i + 1, 0);
    CHECK_INT(MXAutogradBackwardEx(1, &y[n - 1], NULL, (uint32_t)n, x, 0, 0, 1, &grads, &stypes),
              0);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(at(grads[i], 0), i == n - 1 ? n : 0, 0);
        drop(grads[i]);
    }
    CHECK_INT(calls, 2);
    drop_all(n, y);
    drop_all(n, x);
}

TEST(many_arguments_of_functions)
{
    at_each_size(functions);
}

/* The same by MXCustomFunctionRecord. */
static int custom_rule(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                       const int is_train, void *state)
{
    (void)is_train;
    CHECK_INT(num_ograds, num_igrads);
    for (int i = 0; i < num_ograds; i++) {
        H scaled = times(ptrs[i], i + 1);

        CHECK_INT(reqs[i], REQ_WRITE);
        CHECK_INT(op_into("_copy", 1, &scaled, ptrs[num_ograds + i]), 0);
        drop(scaled);
        drop(ptrs[i]);
        drop(ptrs[num_ograds + i]);
    }
    ++*(int *)state;
    return 1;
}

static int custom_delete(void *state)
{
    ++*(int *)state;
    return 1;
}

static void custom_functions(int n)
{
    int calls = 0, (*callbacks[2])(void) = {CALLBACK(custom_rule), CALLBACK(custom_delete)};
    void *contexts[2] = {&calls, &calls};
    struct MXCallbackList list = {2, callbacks, contexts};
    H x[MOST], y[MOST];

    for (int i = 0; i < n; i++) {
        x[i] = VEC(1);
        attach(x[i], REQ_WRITE);
        y[i] = VEC(i);
    }
    CHECK_INT(custom_record(n, x, n, y, &list), 0);
    CHECK_INT(MXAutogradBackward((uint32_t)n, y, NULL, 0), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_at(x[i], 0), i + 1, 0);
    drop_all(n, y);
    CHECK_INT(calls, 2);
    drop_all(n, x);
}

TEST(many_arguments_of_custom_functions)
{
    at_each_size(custom_functions);
}

HARNESS_MAIN(ENTRY(many_hooks), ENTRY(hooks_cost_the_same), ENTRY(many_hooks_that_follow),
             ENTRY(many_queued_callbacks), NOT_WASM(many_levels),
             ENTRY(many_arguments_of_functions), ENTRY(many_arguments_of_custom_functions))
