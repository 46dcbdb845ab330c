/* MXLFunctionRecord: arguments and results of the vjps, and when functions and their saved data are
 * released. */
#include "function_kit.h"

/* out = f(x, c, w), whose rule gives 2, nothing and 5 times the head. */
TEST(a_rule)
{
    rule r = {.factor = {2, 3, 5}};
    H in[3], out = VEC(7, 7), y;
    N node, next;

    in[0] = leaf(VEC(1, 2));
    in[1] = VEC(3, 4);
    in[2] = leaf(VEC(5, 6));
    CHECK_INT(function(&r, 3, in, 1, &out), 1);
    node = edge_of(out, NULL);
    CHECK_STR(name_of(node), "MineBackward");
    next = step(node, 2);
    CHECK_STR(name_of(next), "AccumulateGrad");
    MXLNodeFree(next);
    y = torch1("_mul_scalar", out, "scalar", "10");
    CHECK_INT(run_from(y, &keep), 0);
    CHECK_INT(r.calls, 1);
    CHECK_INT(r.wants[0], 1);
    CHECK_INT(r.wants[1], 0);
    CHECK_INT(r.wants[2], 1);
    CHECK(!r.recording);
    CHECK_NEAR(grad_at(in[0], 1), 20, 0);
    CHECK_NEAR(grad_at(in[2], 0), 50, 0);
    CHECK(grad_of(in[1]) == NULL);
    CHECK_INT(r.forgotten, 0); /* the graph was kept */
    CHECK_INT(run_from(y, &plain), 0);
    CHECK_INT(r.forgotten, 1);
    CHECK_INT(r.released, 0);
    CHECK_NEAR(grad_at(in[0], 1), 40, 0);
    CHECK_INT(run_from(y, &plain), 0); /* nothing is saved: as in PyTorch, what needs it fails */
    CHECK_INT(r.calls, 3);
    CHECK_INT(r.forgotten, 1);
    drop(y);
    drop(out);
    CHECK_INT(r.released, 1);
    CHECK_INT(r.forgotten, 1);
    for (int i = 0; i < 3; i++)
        drop(in[i]);
}

/* Only one of two variables is asked for: the rule hears of it. Heads that did not arrive are NULL,
 * and a rule that gives nothing is one that gives zero. */
TEST(wants_and_heads)
{
    rule r = {.factor = {2, 3}};
    H in[2], out[3], grad = NULL;
    N root, var;
    int output = -1, zero = 0;

    in[0] = leaf(VEC(1));
    in[1] = leaf(VEC(1));
    for (int i = 0; i < 3; i++)
        out[i] = VEC(i);
    CHECK_INT(function(&r, 2, in, 3, out), 1);
    root = edge_of(out[1], &output);
    CHECK_INT(output, 1);
    var = edge_of(in[1], NULL);
    CHECK_INT(MXLBackward(1, &root, &output, NULL, &keep, 1, &var, &zero, &grad), 0);
    CHECK_INT(r.heads, 2);
    CHECK_INT(r.wants[0], 0);
    CHECK_INT(r.wants[1], 1);
    CHECK_NEAR(at(grad, 0), 3, 0);
    drop(grad);
    r.factor[1] = 0;
    grad = NULL;
    CHECK_INT(MXLBackward(1, &root, &output, NULL, &plain, 1, &var, &zero, &grad), 0);
    CHECK(grad == NULL);
    CHECK_INT(r.forgotten, 1);
    MXLNodeFree(var);
    for (int i = 0; i < 3; i++)
        drop(out[i]);
    CHECK_INT(r.released, 0); /* the handle keeps the node */
    MXLNodeFree(root);
    CHECK_INT(r.released, 1);
    drop(in[0]);
    drop(in[1]);
}

/* Under create_graph the rule's own calls are recorded. */
TEST(twice)
{
    rule r = {.factor = {3}};
    MXLBackwardOptions create = {.keep_graph = 1, .create_graph = 1, .dialect = 1};
    H x = leaf(VEC(2)), y = torch2("broadcast_mul", x, x), out = VEC(12), z, grad = NULL,
      second = NULL;
    N root, var = edge_of(x, NULL);
    int zero = 0;

    CHECK_INT(function(&r, 1, &y, 1, &out), 1); /* 3 x^2 */
    z = torch2("broadcast_mul", out, x);        /* 3 x^3 */
    root = edge_of(z, NULL);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &create, 1, &var, &zero, &grad), 0);
    CHECK(r.recording);
    CHECK_NEAR(at(grad, 0), 36, 0);
    MXLNodeFree(root);
    root = edge_of(grad, NULL);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &plain, 1, &var, &zero, &second), 0);
    CHECK_NEAR(at(second, 0), 36, 0);
    MXLNodeFree(root);
    MXLNodeFree(var);
    drop(second);
    drop(grad);
    drop(z);
    drop(out);
    drop(y);
    drop(x);
    CHECK_INT(r.released, 1);
}

/* A rule that fails stops the backward: no variable has changed, nothing is forgotten. */
TEST(failing_rules)
{
    rule r = {.factor = {2}, .fails = 1, .says = true};
    H x = leaf(VEC(1, 2)), out = VEC(3, 4), y, bad[1] = {NULL};
    H none = NULL;

    CHECK_INT(function(&r, 1, &x, 1, &out), 1);
    y = torch2("broadcast_mul", out, x);
    CHECK_FAILS(run_from(y, &plain), "ValueError: the rule of a function failed: not today");
    CHECK(grad_of(x) == NULL);
    CHECK_INT(r.forgotten, 0);
    r.says = false;
    CHECK_FAILS(run_from(out, &plain), "the rule of a function failed");
    r.fails = 0;
    r.too_long = true; /* (5,) cannot be summed to (2,) */
    CHECK_INT(run_from(out, &plain), -1);
    CHECK(MXGetLastError()[0] != '\0');
    r.too_long = false;
    r.bad_handle = true;
    CHECK_FAILS(run_from(out, &plain), "the rule of a function: ");
    r.bad_handle = false;
    CHECK(grad_of(x) == NULL);
    CHECK_INT(r.forgotten, 0);
    CHECK_INT(run_from(out, &plain), 0);
    CHECK_INT(r.forgotten, 1);
    drop(y);
    drop(out);
    CHECK_INT(r.released, 1);
    /* What cannot be recorded leaves the payload to the caller. */
    r = (rule){.factor = {2}};
    CHECK_FAILS(function(&r, 1, &x, 1, bad), "output 0");
    CHECK_FAILS(function(&r, 1, bad, 1, &x), "input 0");
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    out = VEC(1);
    CHECK_FAILS(function(&r, 1, &none, 1, &out), "input 0 has no shape");
    CHECK_FAILS(function(&r, 1, &x, 1, &none), "output 0 has no shape");
    drop(none);
    y = torch1("square", x, NULL, NULL);
    CHECK_FAILS(function(&r, 1, &x, 1, &y), "output 0 is attached to a node already");
    /* Nothing to record. */
    none = VEC(1);
    CHECK_INT(function(&r, 1, &none, 1, &out), 0);
    CHECK_INT(function(&r, 0, &none, 1, &out), 0);
    CHECK_INT(MXLSetGradMode(0, NULL), 0);
    CHECK_INT(function(&r, 1, &x, 1, &out), 0);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    CHECK_INT(r.released + r.forgotten, 0);
    drop(none);
    drop(out);
    drop(y);
    drop(x);
}

/* In MXNet's dialect its flags decide, and the label's slots show what the caller says. */
TEST(in_mxnets_dialect)
{
    rule r = {.factor = {2, 3}};
    H in[2], out = VEC(1);
    int taken = -1, count = 0, output = -1;
    MXLCallHandle call = like(MXL_DIALECT_MXNET, "1-0");
    N node, next = NULL, var;

    for (int i = 0; i < 2; i++) {
        in[i] = VEC(1);
        attach(in[i], REQ_WRITE);
    }
    CHECK_INT(MXLFunctionRecord(call, 2, in, 1, &out, on_rule, &r, on_forget, on_release, &taken),
              0);
    CHECK_INT(taken, 0);
    record(true);
    CHECK_INT(MXLFunctionRecord(call, 2, in, 1, &out, on_rule, &r, NULL, on_release, &taken), 0);
    record(false);
    CHECK_INT(taken, 1);
    node = edge_of(out, NULL);
    CHECK_INT(MXLNodeGetNumInputs(node, &count), 0);
    CHECK_INT(count, 3);
    CHECK_INT(MXLNodeGetInput(node, 1, &next, &output), 0);
    CHECK(next == NULL);
    CHECK_INT(MXLNodeGetInput(node, 0, &next, &output), 0);
    var = edge_of(in[1], NULL);
    CHECK(node_id(next) == node_id(var));
    MXLNodeFree(var);
    MXLNodeFree(next);
    MXLNodeFree(node);
    CHECK_INT(backward(out), 0);
    CHECK_NEAR(grad_at(in[0], 0), 2, 0);
    CHECK_NEAR(grad_at(in[1], 0), 3, 0);
    CHECK_INT(r.forgotten, 0);
    CHECK_FAILS(backward(out), "released");
    drop(out);
    CHECK_INT(r.released, 1);
    drop(in[0]);
    drop(in[1]);
}

/* ---- what a handle alone keeps ---- */

static int never(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    (void)count;
    (void)grads;
    (void)results;
    return -1;
}

typedef struct visited {
    int count;
    void *payloads[8];
} visited;

static void on_visit(void *data, void *payload)
{
    visited *v = data;

    if (v->count < 8)
        v->payloads[v->count] = payload;
    v->count++;
}

static int visits(H array, int budget)
{
    visited v = {0};

    CHECK_INT(MXLNDArrayVisitPayloads(array, on_release, budget, on_visit, &v), 0);
    return v.count;
}

/* y = f(x), z = g(y): the handle of z keeps both once y is dropped. Another handle of an array or a
 * node, another node and another release function hide what they keep. */
TEST(payloads_that_a_handle_alone_keeps)
{
    rule f = {.factor = {2}}, g = {.factor = {3}}, hook = {0};
    H x = leaf(VEC(1, 2)), y = VEC(1, 2), z = VEC(3, 4), other;
    MXLHookHandle handle;
    visited v = {0};
    N node;

    CHECK_INT(function(&f, 1, &x, 1, &y), 1);
    CHECK_INT(visits(y, 100), 1);
    CHECK_INT(MXLNDArrayVisitPayloads(y, NULL, 100, on_visit, &v), 0);
    CHECK_INT(MXLNDArrayVisitPayloads(y, on_forget, 100, on_visit, &v), 0);
    CHECK_INT(v.count, 0);
    CHECK_INT(function(&g, 1, &y, 1, &z), 1);
    CHECK_INT(visits(y, 100), 0);
    CHECK_INT(visits(z, 100), 1);
    drop(y);
    CHECK_INT(visits(z, 100), 2);
    CHECK_INT(visits(z, 1), 1);
    CHECK_INT(visits(z, 0), 0);
    CHECK_INT(MXLNDArrayAddHook(z, never, 0, &hook, on_release, &handle), 0);
    CHECK_INT(visits(z, 100), 2); /* the hook has a handle */
    CHECK_INT(MXLHookFree(handle), 0);
    CHECK_INT(visits(z, 100), 3);
    node = edge_of(z, NULL);
    CHECK_INT(visits(z, 100), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(MXShallowCopyNDArray(z, &other), 0);
    CHECK_INT(visits(z, 100), 0);
    drop(other);
    CHECK_INT(visits(z, 100), 3);
    drop(z);
    CHECK_INT(f.released + g.released + hook.released, 3);
    drop(x);
}

/* A leaf's hook is the handle's, until a node leads to the leaf. */
TEST(payloads_of_a_leaf)
{
    rule hook = {0};
    H x = leaf(VEC(1, 2)), y;

    CHECK_INT(MXLNDArrayAddHook(x, never, 0, &hook, on_release, NULL), 0);
    CHECK_INT(visits(x, 100), 1);
    y = torch1("_mul_scalar", x, "scalar", "2");
    CHECK_INT(visits(x, 100), 0);
    CHECK_INT(visits(y, 100), 0);
    drop(x);
    CHECK_INT(visits(y, 100), 1);
    drop(y);
    CHECK_INT(hook.released, 1);
}

HARNESS_MAIN(ENTRY(a_rule), ENTRY(wants_and_heads), ENTRY(twice), ENTRY(failing_rules),
             ENTRY(in_mxnets_dialect), ENTRY(payloads_that_a_handle_alone_keeps),
             ENTRY(payloads_of_a_leaf))
