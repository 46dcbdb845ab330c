/* MXLBackward compared with MXAutogradBackwardEx, queued callbacks, backward inside backward to any
 * depth. */
#include "graph_kit.h"

#include <stdlib.h>

static const MXLBackwardOptions keep = {.keep_graph = 1}, plain = {.keep_graph = 0};
static const int zero = 0;

/* y = x^2 * w */
static H build(H x, H w)
{
    H s, y;

    record(true);
    s = op1("square", x);
    y = MUL(s, w);
    record(false);
    drop(s);
    return y;
}

/* Both functions are one engine: the same numbers for the same graph. */
TEST(the_same_engine)
{
    H x = VEC(2, 3), w = VEC(5, 7), y, dy = VEC(1, 10), g, mine = NULL;
    N root, var;

    attach(x, REQ_WRITE);
    attach(w, REQ_ADD);
    y = build(x, w);
    root = edge_of(y, NULL);
    var = edge_of(x, NULL);
    CHECK_INT(backward_full(y, dy, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 1), 420, 0);
    CHECK_INT(MXLBackward(1, &root, &zero, &dy, &keep, 0, NULL, NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 1), 420, 0); /* a request to write writes */
    CHECK_NEAR(grad_at(w, 1), 180, 0);
    g = derivative(y, x, 1, 0);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &keep, 1, &var, &zero, &mine), 0);
    CHECK_NEAR(at(mine, 0), at(g, 0), 0);
    CHECK_NEAR(at(mine, 1), 42, 0);
    CHECK_NEAR(grad_at(w, 1), 180, 0);
    drop(mine);
    drop(g);
    g = VEC(1);
    CHECK_FAILS(MXLBackward(1, &root, &zero, &g, &keep, 0, NULL, NULL, NULL),
                "head gradient 0 has shape (1,), head 0 has (2,)");
    drop(g);
    MXLNodeFree(root);
    MXLNodeFree(var);
    drop(dy);
    drop(y);
    drop(w);
    drop(x);
}

/* Inputs that are wanted: variables and others, out of reach, twice, and into the variables. */
TEST(wanted_inputs)
{
    MXLBackwardOptions lenient = {.keep_graph = 1, .allow_unreachable = 1},
                       into = {.keep_graph = 1, .accumulate_grad = 1, .dialect = 1};
    H x = leaf(VEC(2)), w = leaf(VEC(5)), far = leaf(VEC(1)), y, grads[3] = {NULL};
    N nodes[3], root;
    int outputs[3] = {0, 0, 0};

    y = build(x, w);
    root = edge_of(y, NULL);
    nodes[0] = edge_of(x, NULL);
    nodes[1] = edge_of(far, NULL);
    nodes[2] = edge_of(x, NULL);
    CHECK_FAILS(MXLBackward(1, &root, &zero, NULL, &keep, 2, nodes, outputs, grads),
                "variable 1 is not reached");
    CHECK(grads[0] == NULL);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &lenient, 3, nodes, outputs, grads), 0);
    CHECK_NEAR(at(grads[0], 0), 20, 0);
    CHECK(grads[1] == NULL);
    CHECK_NEAR(at(grads[2], 0), 20, 0);
    drop(grads[0]);
    drop(grads[2]);
    CHECK_INT(MXLNodeFree(nodes[1]), 0);
    nodes[1] = root; /* the root itself: its gradient is the head's */
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &lenient, 2, nodes, outputs, grads), 0);
    CHECK_NEAR(at(grads[1], 0), 1, 0);
    drop(grads[0]);
    drop(grads[1]);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &into, 2, nodes, outputs, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 20, 0);
    CHECK(grad_of(w) == NULL); /* not asked for */
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &into, 2, nodes, outputs, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 40, 0);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &plain, 0, NULL, NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 60, 0);
    CHECK_NEAR(grad_at(w, 0), 4, 0);
    MXLNodeFree(nodes[0]);
    MXLNodeFree(nodes[2]);
    MXLNodeFree(root);
    drop(y);
    drop(far);
    drop(w);
    drop(x);
}

/* Under create_graph a variable's gradient is a new recorded array each time in PyTorch's dialect,
 * and the same buffer in MXNet's. */
TEST(recorded_gradients)
{
    MXLBackwardOptions torch = {.keep_graph = 1, .create_graph = 1, .dialect = 1},
                       mxnet = {.keep_graph = 1, .create_graph = 1};
    H x = leaf(VEC(3)), y, first, second;
    N node;

    record(true);
    y = op1("square", x);
    record(false);
    CHECK_INT(run_from(y, &torch), 0);
    first = grad_of(x);
    node = edge_of(first, NULL);
    CHECK_STR(name_of(node), "CopyBackwards");
    node = step(node, 0); /* copied once */
    CHECK_STR(name_of(node), "MulBackward0");
    MXLNodeFree(node);
    CHECK_INT(run_from(y, &torch), 0);
    second = grad_of(x);
    CHECK(array_id(first) != array_id(second));
    CHECK_NEAR(at(first, 0), 6, 0);
    CHECK_NEAR(at(second, 0), 12, 0);
    node = edge_of(second, NULL);
    CHECK_STR(name_of(node), "AddBackward0");
    MXLNodeFree(node);
    drop(first);
    drop(second);
    CHECK_INT(MXLNDArraySetGrad(x, NULL), 0);
    CHECK_INT(run_from(y, &mxnet), 0);
    first = grad_of(x);
    CHECK_INT(run_from(y, &mxnet), 0);
    second = grad_of(x);
    CHECK(array_id(first) == array_id(second));
    CHECK_NEAR(at(second, 0), 12, 0);
    CHECK_INT(MXLNDArraySetGrad(x, NULL), 0); /* the gradient leads to x */
    drop(first);
    drop(second);
    drop(y);
    drop(x);
}

/* ---- what is queued ---- */

static int order[8], num_order, released;

typedef struct queued {
    int number, fails;
    bool again; /* queues number + 10 when it is called */
} queued;

static void on_release(void *payload)
{
    released++;
    free(payload);
}

static queued *entry(int number, int fails, bool again)
{
    queued *q = malloc(sizeof(*q));

    *q = (queued){number, fails, again};
    return q;
}

static int on_end(void *payload)
{
    queued *q = payload;
    int state = -1;

    CHECK_INT(MXLBackwardState(&state), 0);
    CHECK_INT(state, 1);
    order[num_order++] = q->number;
    if (q->again)
        CHECK_INT(MXLBackwardQueue(on_end, entry(q->number + 10, 0, false), on_release), 0);
    return q->fails;
}

static int fail_number;

static int queues(void *payload, int count, const H *grads, H *results)
{
    int state = -1;

    (void)count;
    (void)results;
    CHECK_INT(MXLBackwardState(&state), 0);
    CHECK_INT(state, 1);
    drop(grads[0]);
    for (int i = 1; i < 4; i++)
        CHECK_INT(MXLBackwardQueue(on_end, entry(i, i == fail_number, i == 1), on_release), 0);
    return *(int *)payload;
}

TEST(queue)
{
    int hook_fails = 0, state = -1;
    H x = VEC(1), y;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_FAILS(MXLBackwardQueue(on_end, NULL, on_release), "no backward is running");
    CHECK_INT(MXLNDArrayAddHook(y, queues, 0, &hook_fails, NULL, NULL), 0);
    num_order = released = fail_number = 0;
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(num_order, 4);
    for (int i = 0; i < 3; i++)
        CHECK_INT(order[i], i + 1);
    CHECK_INT(order[3], 11);
    CHECK_INT(released, 4);
    num_order = released = 0;
    fail_number = 2;
    CHECK_FAILS(backward_full(y, NULL, 1, 0), "a callback at the end of backward failed");
    CHECK_INT(num_order, 2); /* the first queues one more, which is released like the rest */
    CHECK_INT(released, 4);
    num_order = released = 0;
    hook_fails = 1;
    CHECK_FAILS(backward(y), "a hook on its output failed");
    CHECK_INT(num_order, 0);
    CHECK_INT(released, 3);
    CHECK_INT(MXLBackwardState(&state), 0);
    CHECK_INT(state, 0);
    drop(y);
    drop(x);
}

static int chosen(void *payload, int count, const H *grads, H *results)
{
    (void)count;
    (void)results;
    drop(grads[0]);
    CHECK_INT(MXLBackwardState(payload), 0);
    return 0;
}

TEST(state)
{
    int seen = -1;
    H x = VEC(1), y, g;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, chosen, 0, &seen, NULL, NULL), 0);
    g = derivative(y, x, 1, 0);
    CHECK_INT(seen, 2);
    drop(g);
    CHECK_INT(backward(y), 0);
    CHECK_INT(seen, 1);
    drop(y);
    drop(x);
}

/* What a hook sees of the thread's flags: recording and both grad modes as the backward has them,
 * training as the options say; the thread's own are there again behind it. */
typedef struct flags {
    bool recording, training;
    int grad_mode;
} flags;

static flags flags_now(void)
{
    flags f = {0};

    CHECK_INT(MXAutogradIsRecording(&f.recording), 0);
    CHECK_INT(MXAutogradIsTraining(&f.training), 0);
    CHECK_INT(MXLGetGradMode(&f.grad_mode), 0);
    return f;
}

static int sees_flags(void *payload, int count, const H *grads, H *results)
{
    (void)count;
    (void)results;
    *(flags *)payload = flags_now();
    CHECK_INT(MXLSetGradMode(!((flags *)payload)->grad_mode, NULL), 0);
    drop(grads[0]);
    return 0;
}

TEST(flags_of_hooks)
{
    flags seen, after;
    H x = leaf(VEC(1)), y;
    int before;

    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, sees_flags, 0, &seen, NULL, NULL), 0);
    for (int i = 0; i < 16; i++) {
        MXLBackwardOptions options = {
            .keep_graph = 1, .create_graph = i & 1, .training = i >> 1 & 1, .dialect = 1};

        CHECK_INT(MXLSetGradMode(i >> 2 & 1, NULL), 0);
        CHECK_INT(MXAutogradSetIsTraining(i >> 3, &before), 0);
        record(i >> 3);
        CHECK_INT(run_from(y, &options), 0);
        after = flags_now();
        record(false);
        CHECK_INT(seen.recording, i & 1);
        CHECK_INT(seen.grad_mode, i & 1);
        CHECK_INT(seen.training, i >> 1 & 1);
        CHECK_INT(after.grad_mode, i >> 2 & 1);
        CHECK_INT(after.training, i >> 3);
        CHECK_INT(after.recording, i >> 3);
    }
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    CHECK_INT(MXAutogradSetIsTraining(0, &before), 0);
    CHECK_INT(MXLNDArraySetGrad(x, NULL), 0);
    drop(y);
    drop(x);
}

/* ---- backward inside backward ---- */

typedef struct level {
    int left, *deepest, fails;
    uint64_t origin;
} level;

static int run_on_new_thread(void *payload, int count, const H *grads, H *results)
{
    level *l = payload;
    uint64_t origin = 0;
    bool training = false, recording = true;
    int status = 0;

    (void)count;
    (void)results;
    drop(grads[0]);
    CHECK_INT(MXLThreadGetOrigin(&origin), 0);
    CHECK(origin == l->origin);
    CHECK_INT(MXAutogradIsTraining(&training), 0);
    CHECK_INT(MXAutogradIsRecording(&recording), 0);
    CHECK(training);
    CHECK(!recording);
    ++*l->deepest;
    if (l->left > 0) {
        level next = {l->left - 1, l->deepest, l->fails, l->origin};
        H x = VEC(1), y;

        attach(x, REQ_WRITE);
        record(true);
        y = op1("square", x);
        record(false);
        CHECK_INT(MXLNDArrayAddHook(y, run_on_new_thread, 0, &next, NULL, NULL), 0);
        status = backward(y);
        if (status == 0)
            CHECK_NEAR(grad_at(x, 0), 2, 0);
        drop(y);
        drop(x);
    } else if (l->fails) {
        NNAPISetLastError("the bottom");
        status = 1;
    }
    return status;
}

static void deep(int levels, int fails)
{
    int deepest = 0;
    level first = {levels - 1, &deepest, fails, 0};
    H x = VEC(1), y;

    CHECK_INT(MXLThreadGetOrigin(&first.origin), 0);
    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, run_on_new_thread, 0, &first, NULL, NULL), 0);
    if (fails)
        CHECK_FAILS(backward(y), "square: a hook on its output failed");
    else
        CHECK_INT(backward(y), 0);
    CHECK_INT(deepest, levels);
    drop(y);
    drop(x);
}

TEST(depth)
{
    deep(1, 0);
    deep(32, 0);
    deep(33, 0);
    deep(2000, 0);
    deep(70, 1);
}

/* One level more than the library allows: an error at every level, and nothing has changed. */
TEST(endless_recursion)
{
    enum { DEEPEST = 10000 };
    int deepest = 0;
    level first = {DEEPEST, &deepest, 0, 0};
    H x = leaf(VEC(3)), y;
    bool recording = true;

    CHECK_INT(MXLThreadGetOrigin(&first.origin), 0);
    record(true);
    y = op1("square", x);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, run_on_new_thread, 0, &first, NULL, NULL), 0);
    CHECK_FAILS(backward(y), "RecursionError: square: a hook on its output failed: backward: "
                             "called inside of 10000 others");
    CHECK_INT(deepest, DEEPEST);
    CHECK(grad_of(x) == NULL);
    CHECK_INT(MXAutogradIsRecording(&recording), 0);
    CHECK(!recording);
    deepest = 0;
    first.left = DEEPEST - 1;
    CHECK_INT(backward(y), 0);
    CHECK_INT(deepest, DEEPEST);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    drop(y);
    drop(x);
}

static int takes_away(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    for (int i = 0; i < count; i++) {
        drop(grads[i]);
        results[i] = MXL_NO_GRADIENT;
    }
    return 0;
}

/* Hooks before a node may say that nothing has arrived: a variable of MXNet's gets zeros then, and
 * at its own node nothing is accumulated. */
TEST(what_hooks_take_away)
{
    MXLBackwardOptions let_go = {.keep_graph = 0};
    H x, y, grad;
    N node;

    for (int at_variable = 0; at_variable < 2; at_variable++) {
        x = leaf(VEC(2));
        record(true);
        y = op1("square", x);
        record(false);
        node = edge_of(at_variable ? x : y, NULL);
        CHECK_INT(MXLNodeAddPreHook(node, takes_away, NULL, NULL, NULL), 0);
        CHECK_INT(run_from(y, &let_go), 0);
        grad = grad_of(x);
        CHECK_INT(grad == NULL, at_variable);
        drop(grad);
        MXLNodeFree(node);
        drop(y);
        drop(x);
    }
}

HARNESS_MAIN(ENTRY(the_same_engine), ENTRY(wanted_inputs), ENTRY(recorded_gradients), ENTRY(queue),
             ENTRY(state), ENTRY(flags_of_hooks), NOT_WASM(depth), NOT_WASM(endless_recursion),
             ENTRY(what_hooks_take_away))
