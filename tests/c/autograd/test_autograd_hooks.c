/* Hooks: order, arguments and results, failures, release of payloads. */
#include "graph_kit.h"

#include <stdio.h>

/* What hooks do, and a log of them. */
typedef struct journal {
    char text[512];
} journal;

typedef struct probe {
    journal *log;
    const char *name;
    double scale; /* 0: returns nothing */
    int fails, released, calls;
    H holds;           /* an array of the hook's, freed when it is released */
    MXLHookHandle own; /* removed within the call */
    bool recording;
} probe;

#define PROBE(called, factor) {.log = &l, .name = (called), .scale = (factor)}

static void note(probe *p, H grad)
{
    size_t n = p->log == NULL ? 0 : strlen(p->log->text);
    bool recording = false;

    CHECK_INT(MXAutogradIsRecording(&recording), 0);
    p->recording = recording;
    p->calls++;
    if (p->log == NULL)
        return;
    if (grad == NULL)
        snprintf(p->log->text + n, sizeof(p->log->text) - n, "%s - ", p->name);
    else
        snprintf(p->log->text + n, sizeof(p->log->text) - n, "%s %g ", p->name, at(grad, 0));
}

static H scaled(probe *p, H grad)
{
    char text[32];

    if (p->scale == 0 || grad == NULL)
        return NULL;
    snprintf(text, sizeof(text), "%g", p->scale);
    return op_scalar("_mul_scalar", grad, text);
}

static int on_grad(void *payload, int count, const H *grads, H *results)
{
    probe *p = payload;

    for (int i = 0; i < count; i++) {
        note(p, grads[i]);
        results[i] = scaled(p, grads[i]);
        if (grads[i] != NULL)
            drop(grads[i]);
    }
    if (p->own != NULL) {
        CHECK_INT(MXLHookRemove(p->own), 0);
        CHECK_INT(p->released, 0); /* not while it runs */
        p->own = NULL;
    }
    if (p->fails == 1)
        NNAPISetLastError("ValueError: no good");
    return p->fails;
}

static int on_node(void *payload, int num_inputs, const H *input_grads, int num_outputs,
                   const H *output_grads, H *results)
{
    probe *p = payload;

    for (int i = 0; i < num_outputs; i++) {
        note(p, output_grads[i]);
        if (output_grads[i] != NULL)
            drop(output_grads[i]);
    }
    for (int i = 0; i < num_inputs; i++) {
        results[i] = scaled(p, input_grads[i]);
        if (input_grads[i] != NULL)
            drop(input_grads[i]);
    }
    return p->fails;
}

static int on_variable(void *payload, H variable)
{
    probe *p = payload;
    H grad = grad_of(variable);

    note(p, grad);
    drop(grad);
    drop(variable);
    return p->fails;
}

static void on_release(void *payload)
{
    probe *p = payload;

    p->released++;
    if (p->holds != NULL)
        drop(p->holds);
}

static void hook(H array, probe *p)
{
    CHECK_INT(MXLNDArrayAddHook(array, on_grad, 0, p, on_release, NULL), 0);
}

static const MXLBackwardOptions keep = {.keep_graph = 1}, plain = {.keep_graph = 0};

/* As PyTorch 2.13 does it: y = x * w, z = (y + y) summed over both ways. */
TEST(order)
{
    journal l = {""};
    probe first = PROBE("first", 10), last = PROBE("last", 0), second = PROBE("second", 0),
          pre = PROBE("pre", 3), post = PROBE("post", 2), on_x = PROBE("x", 2),
          acc_pre = PROBE("accpre", 5), acc = PROBE("acc", 0), acc_post = PROBE("accpost", 0);
    H x = leaf(VEC(1)), w = leaf(VEC(1)), y, z;
    N node, acc_node;

    record(true);
    y = MUL(x, w);
    z = ADD(y, y);
    record(false);
    node = edge_of(y, NULL);
    acc_node = edge_of(x, NULL);
    hook(y, &first);
    CHECK_INT(MXLNDArrayAddHook(y, on_grad, 1, &last, on_release, NULL), 0);
    hook(y, &second);
    CHECK_INT(MXLNodeAddPreHook(node, on_grad, &pre, on_release, NULL), 0);
    CHECK_INT(MXLNodeAddHook(node, on_node, &post, on_release, NULL), 0);
    CHECK_INT(MXLNodeAddHook(acc_node, on_node, &acc_post, on_release, NULL), 0);
    CHECK_INT(MXLNDArrayAddAccumulatedHook(x, on_variable, &acc, on_release, NULL), 0);
    CHECK_INT(MXLNodeAddPreHook(acc_node, on_grad, &acc_pre, on_release, NULL), 0);
    hook(x, &on_x);
    CHECK_INT(run_from(z, &keep), 0);
    CHECK_STR(l.text, "first 2 second 20 last 20 pre 20 post 60 x 120 accpre 240 acc 1200 accpost "
                      "1200 ");
    CHECK_NEAR(grad_at(x, 0), 1200, 0);
    CHECK_NEAR(grad_at(w, 0), 120, 0);
    CHECK_INT(first.released + pre.released + post.released + on_x.released, 0);
    l.text[0] = '\0';
    CHECK_INT(run_from(z, &plain), 0);
    CHECK_NEAR(grad_at(x, 0), 2400, 0);
    /* The node's hooks went with its saved values, the variable's stay. */
    CHECK_INT(first.released + last.released + second.released + pre.released + post.released, 5);
    CHECK_INT(on_x.released + acc.released + acc_pre.released + acc_post.released, 0);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(MXLNodeFree(acc_node), 0);
    drop(z);
    drop(y);
    drop(x);
    CHECK_INT(on_x.released + acc.released + acc_pre.released + acc_post.released, 4);
    drop(w);
}

/* A gradient that is asked for is what the hooks on the array leave; those before the node come
 * later. */
TEST(captures)
{
    journal l = {""};
    probe on_y = PROBE("y", 10), pre = PROBE("pre", 3), on_x = PROBE("x", 2), acc = PROBE("acc", 0);
    H x = leaf(VEC(1)), y, z, grads[2] = {NULL};
    N nodes[2], root;
    int outputs[2] = {0, 0}, output = 0;

    record(true);
    y = op_scalar("_mul_scalar", x, "4");
    z = op_scalar("_mul_scalar", y, "2");
    record(false);
    nodes[0] = edge_of(y, NULL);
    nodes[1] = edge_of(x, NULL);
    root = edge_of(z, NULL);
    hook(y, &on_y);
    hook(x, &on_x);
    CHECK_INT(MXLNodeAddPreHook(nodes[0], on_grad, &pre, on_release, NULL), 0);
    CHECK_INT(MXLNDArrayAddAccumulatedHook(x, on_variable, &acc, on_release, NULL), 0);
    CHECK_INT(MXLBackward(1, &root, &output, NULL, &keep, 2, nodes, outputs, grads), 0);
    CHECK_STR(l.text, "y 2 pre 20 x 240 ");
    CHECK_NEAR(at(grads[0], 0), 20, 0);
    CHECK_NEAR(at(grads[1], 0), 480, 0);
    drop(grads[0]);
    drop(grads[1]);
    CHECK(grad_of(x) == NULL);
    l.text[0] = '\0';
    CHECK_INT(MXLBackward(1, &root, &output, NULL, &keep, 1, nodes, outputs, grads), 0);
    CHECK_STR(l.text, "y 2 "); /* nothing wanted lies further on */
    CHECK_NEAR(at(grads[0], 0), 20, 0);
    drop(grads[0]);
    MXLNodeFree(nodes[0]);
    MXLNodeFree(nodes[1]);
    MXLNodeFree(root);
    drop(z);
    drop(y);
    drop(x);
}

/* A variable's hooks are called when its gradients have arrived, not at the end; once. */
TEST(variables_as_they_come)
{
    journal l = {""};
    probe p = PROBE("p", 0), q = PROBE("q", 0), m = PROBE("m", 0), n = PROBE("n", 0);
    H x = leaf(VEC(1)), w = leaf(VEC(1)), a, b, c, d;

    record(true);
    a = op_scalar("_mul_scalar", x, "2");
    b = op_scalar("_mul_scalar", w, "3");
    c = MUL(a, b);
    d = MUL(c, x);
    record(false);
    hook(x, &p);
    hook(w, &q);
    hook(a, &m);
    hook(b, &n);
    CHECK_INT(run_from(d, &plain), 0);
    CHECK_STR(l.text, "n 2 q 6 m 3 p 12 ");
    CHECK_NEAR(grad_at(x, 0), 12, 0);
    drop(d);
    drop(c);
    drop(b);
    drop(a);
    drop(w);
    drop(x);
}

/* A gradient that no rule sends: what waits for it is worked off at the end. And a head that is a
 * variable itself. */
TEST(held_back)
{
    journal l = {""};
    probe on_x = PROBE("x", 2);
    H x = leaf(VEC(1, 2)), stopped, a, b, heads[2];
    N nodes[2];
    int outputs[2] = {0, 0};

    record(true);
    stopped = op1("BlockGrad", x);
    a = op_scalar("_mul_scalar", x, "4");
    b = ADD(a, stopped);
    record(false);
    hook(x, &on_x);
    heads[0] = b;
    heads[1] = x;
    for (int i = 0; i < 2; i++)
        nodes[i] = edge_of(heads[i], NULL);
    CHECK_INT(MXLBackward(2, nodes, outputs, NULL, &plain, 0, NULL, NULL, NULL), 0);
    CHECK_STR(l.text, "x 5 ");
    CHECK_NEAR(grad_at(x, 1), 10, 0);
    l.text[0] = '\0';
    CHECK_INT(MXLBackward(1, nodes + 1, outputs, NULL, &plain, 0, NULL, NULL, NULL), 0);
    CHECK_STR(l.text, "x 1 ");
    MXLNodeFree(nodes[0]);
    MXLNodeFree(nodes[1]);
    drop(b);
    drop(a);
    drop(stopped);
    drop(x);
}

/* Hooks of MXNet's own backward, and of outputs that got nothing. */
TEST(outputs_without_a_gradient)
{
    const char *keys[2] = {"num_outputs", "axis"}, *values[2] = {"2", "0"};
    journal l = {""};
    probe a = PROBE("a", 0), b = PROBE("b", 3), pre = PROBE("pre", 0);
    H x = VEC(1, 2), *outputs = NULL, parts[2];
    OpHandle op;
    const int *stypes;
    int num = 0;
    N node;

    attach(x, REQ_WRITE);
    record(true);
    CHECK_INT(NNGetOpHandle("split", &op), 0);
    CHECK_INT(MXImperativeInvokeEx(op, 1, &x, &num, &outputs, 2, keys, values, &stypes), 0);
    record(false);
    parts[0] = outputs[0];
    parts[1] = outputs[1];
    hook(parts[0], &a);
    hook(parts[1], &b);
    node = edge_of(parts[0], NULL);
    CHECK_INT(MXLNodeAddPreHook(node, on_grad, &pre, on_release, NULL), 0);
    CHECK_INT(backward(parts[1]), 0);
    CHECK_STR(l.text, "a - b 1 pre - pre 3 ");
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    CHECK_NEAR(grad_at(x, 1), 3, 0);
    MXLNodeFree(node);
    drop(parts[0]);
    drop(parts[1]);
    drop(x);
}

/* ---- failures ---- */

static int wrong_shape(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    (void)count;
    drop(grads[0]);
    results[0] = VEC(1, 2, 3);
    return 0;
}

static int not_a_handle(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    (void)count;
    drop(grads[0]);
    results[0] = (H)(uintptr_t)12345;
    return 0;
}

TEST(failures)
{
    probe fails = {.fails = 1}, silent = {.fails = 2, .scale = 2};
    H x = VEC(1, 2), y;
    MXLHookHandle h = NULL;
    N node;

    attach_start(x, REQ_ADD, 7);
    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(y, on_grad, 0, &fails, on_release, &h), 0);
    CHECK_FAILS(backward(y), "ValueError: exp: a hook on its output failed: no good");
    CHECK_NEAR(grad_at(x, 0), 7, 0);
    CHECK_INT(fails.released, 0); /* the graph is as it was */
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_INT(fails.released, 1);
    CHECK_INT(MXLNDArrayAddHook(y, on_grad, 0, &silent, on_release, &h), 0);
    NNAPISetLastError("something before");
    CHECK_INT(backward(y), -1);
    CHECK_STR(MXGetLastError(), "exp: a hook on its output failed"); /* it said nothing */
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_INT(MXLNDArrayAddHook(y, wrong_shape, 0, NULL, NULL, &h), 0);
    CHECK_FAILS(backward(y), "a hook returned a gradient with shape (3,)");
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_INT(MXLNDArrayAddHook(x, not_a_handle, 0, NULL, NULL, &h), 0);
    CHECK_FAILS(backward(y), "a variable: a hook returned a gradient: ");
    CHECK_INT(MXLHookRemove(h), 0);
    node = edge_of(y, NULL);
    CHECK_INT(MXLNodeAddHook(node, on_node, &silent, on_release, &h), 0);
    CHECK_FAILS(backward(y), "exp: a hook after its backward failed");
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_FAILS(MXLHookRemove(h), "invalid hook handle");
    CHECK_FAILS(MXLHookFree(node), "a hook was expected");
    CHECK_INT(MXLNDArrayAddAccumulatedHook(x, on_variable, &silent, on_release, &h), 0);
    CHECK_FAILS(backward(y), "a hook after accumulation failed");
    CHECK(grad_at(x, 0) > 9); /* it saw its gradient accumulated */
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_INT(backward(y), 0);
    CHECK_INT(silent.released, 3);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
    drop(x);
}

TEST(where_there_is_nothing_to_hook)
{
    probe p = {0};
    H c = VEC(1), x = leaf(VEC(1)), y;

    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_FAILS(MXLNDArrayAddHook(c, on_grad, 0, &p, on_release, NULL), "constant");
    CHECK_FAILS(MXLNDArrayAddAccumulatedHook(c, on_variable, &p, on_release, NULL),
                "not a variable");
    CHECK_FAILS(MXLNDArrayAddAccumulatedHook(y, on_variable, &p, on_release, NULL),
                "not a variable");
    CHECK_INT(p.released, 0);
    drop(y);
    drop(x);
    drop(c);
}

/* ---- what payloads keep ---- */

/* A hook that holds the array it hangs on: let go when it is removed, when backward releases the
 * graph, or by hand; and one that removes itself. */
TEST(closures_end)
{
    probe p = {0}, q = {0}, own = {0};
    H x = VEC(1), y, z;
    MXLHookHandle h = NULL;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("exp", x);
    z = op1("exp", x);
    record(false);
    CHECK_INT(MXNDArrayDetach(y, &p.holds), 0);
    drop(p.holds);
    CHECK_INT(MXShallowCopyNDArray(y, &p.holds), 0);
    hook(y, &p);
    CHECK_INT(MXShallowCopyNDArray(z, &q.holds), 0);
    CHECK_INT(MXLNDArrayAddHook(z, on_grad, 0, &q, on_release, &h), 0);
    CHECK_INT(MXLNDArrayAddHook(x, on_grad, 0, &own, on_release, &own.own), 0);
    CHECK_INT(backward(y), 0);
    CHECK_INT(p.released, 1);
    CHECK_INT(p.calls, 1);
    CHECK_INT(own.released, 1);
    CHECK_INT(q.released, 0);
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_INT(q.released, 1);
    /* A handle that outlives what it hung on. */
    CHECK_INT(MXLNDArrayAddHook(z, on_grad, 0, &p, on_release, &h), 0);
    p.holds = NULL;
    drop(z);
    CHECK_INT(p.released, 2);
    CHECK_INT(MXLHookRemove(h), 0);
    CHECK_INT(p.released, 2);
    /* Many, removed: the list does not grow, and freed handles leave their hooks. */
    for (int i = 0; i < 100; i++) {
        CHECK_INT(MXLNDArrayAddHook(x, on_grad, 0, &q, NULL, &h), 0);
        CHECK_INT(MXLHookRemove(h), 0);
    }
    CHECK_INT(MXLNDArrayAddHook(x, on_grad, 0, &q, on_release, &h), 0);
    CHECK_INT(MXLHookFree(h), 0);
    q.holds = NULL;
    drop(y);
    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_INT(q.calls, 1);
    CHECK_INT(own.calls, 1);
    drop(y);
    drop(x);
    CHECK_INT(q.released, 2);
}

/* Under create_graph what a hook computes is recorded, and differentiated with the rest. */
TEST(recorded_hooks)
{
    probe p = {.scale = 3};
    H x = leaf(VEC(2)), y, first, second;
    MXLBackwardOptions create = {.keep_graph = 1, .create_graph = 1};
    N root, var;
    int output = 0;

    record(true);
    y = op1("square", x);
    record(false);
    hook(x, &p);
    root = edge_of(y, NULL);
    var = edge_of(x, NULL);
    CHECK_INT(MXLBackward(1, &root, &output, NULL, &create, 1, &var, &output, &first), 0);
    CHECK_INT(p.recording, 1);
    CHECK_NEAR(at(first, 0), 12, 0); /* 3 * 2x */
    CHECK_INT(MXLNodeFree(root), 0);
    root = edge_of(first, NULL);
    CHECK_INT(MXLBackward(1, &root, &output, NULL, &plain, 1, &var, &output, &second), 0);
    CHECK_INT(p.recording, 0);
    CHECK_NEAR(at(second, 0), 18, 0); /* 3 * 3 * 2 */
    MXLNodeFree(root);
    MXLNodeFree(var);
    drop(first);
    drop(second);
    drop(y);
    drop(x);
}

static int gives_a_variable(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    (void)count;
    drop(grads[0]);
    results[0] = leaf(VEC(5));
    return 0;
}

/* A variable that comes as a gradient is copied: the gradient is none. */
TEST(results_that_are_variables)
{
    H x = leaf(VEC(1)), y, grad;

    record(true);
    y = op1("exp", x);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(x, gives_a_variable, 0, NULL, NULL, NULL), 0);
    CHECK_INT(run_from(y, &plain), 0);
    grad = grad_of(x);
    CHECK_NEAR(at(grad, 0), 5, 0);
    CHECK(edge_of(grad, NULL) == NULL);
    drop(grad);
    drop(y);
    drop(x);
}

HARNESS_MAIN(ENTRY(order), ENTRY(captures), ENTRY(variables_as_they_come), ENTRY(held_back),
             ENTRY(outputs_without_a_gradient), ENTRY(failures),
             ENTRY(where_there_is_nothing_to_hook), ENTRY(closures_end), ENTRY(recorded_hooks),
             ENTRY(results_that_are_variables))
