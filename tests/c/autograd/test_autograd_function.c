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

/* ---- what handles keep ---- */

static int never(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    (void)count;
    (void)grads;
    (void)results;
    return -1;
}

/* A collector: the references that it was told of, and the payloads that it was shown. */
enum { MAX_KNOWN = 16 };

typedef struct collector {
    int budget; /* objects that it may still note */
    int count, payloads;
    const void *known[MAX_KNOWN];
    int seen[MAX_KNOWN];
} collector;

static int on_reference(void *data, const void *from, const void *to, int references)
{
    collector *c = data;
    int i = 0;

    CHECK(from != to && to != NULL && references > 0);
    while (i < c->count && c->known[i] != to)
        i++;
    if (i == c->count) {
        if (c->budget-- <= 0)
            return 0;
        if (!CHECK(i < MAX_KNOWN))
            return 0;
        c->known[c->count++] = to;
    }
    return ++c->seen[i] == references;
}

static void on_payload(void *data, const void *from, void *payload)
{
    CHECK(from != NULL && payload != NULL);
    ((collector *)data)->payloads++;
}

/* The payloads with that release function that these arrays alone keep. */
static int payloads_of(int count, const H *arrays, int budget, MXLReleaseFunction release)
{
    MXLPayloadVisitor visitor = {release, on_reference, on_payload};
    collector c = {.budget = budget};

    for (int i = 0; i < count; i++)
        CHECK_INT(MXLNDArrayVisitPayloads(arrays[i], &visitor, &c), 0);
    return c.payloads;
}

static int visits(H array, int budget)
{
    return payloads_of(1, &array, budget, on_release);
}

/* y = f(x), z = g(y): the handles of both keep both functions, and that of z once y is dropped.
 * Another handle of an array or a node and another release function hide what they keep. */
TEST(payloads_that_handles_alone_keep)
{
    rule f = {.factor = {2}}, g = {.factor = {3}}, hook = {0};
    H x = leaf(VEC(1, 2)), y = VEC(1, 2), z = VEC(3, 4), other;
    MXLHookHandle handle;
    N node;

    CHECK_INT(function(&f, 1, &x, 1, &y), 1);
    CHECK_INT(visits(y, 100), 1);
    CHECK_INT(payloads_of(1, &y, 100, NULL), 0);
    CHECK_INT(payloads_of(1, &y, 100, on_forget), 0);
    CHECK_INT(function(&g, 1, &y, 1, &z), 1);
    CHECK_INT(visits(y, 100), 0);
    CHECK_INT(visits(z, 100), 1);
    CHECK_INT(payloads_of(2, (H[]){y, z}, 100, on_release), 2);
    CHECK_INT(payloads_of(2, (H[]){z, y}, 100, on_release), 2);
    drop(y);
    CHECK_INT(visits(z, 100), 2);
    CHECK_INT(visits(z, 2), 1); /* z, and its node */
    CHECK_INT(visits(z, 1), 0);
    CHECK_INT(MXLNDArrayAddHook(z, never, 0, &hook, on_release, &handle), 0);
    CHECK_INT(visits(z, 100), 2); /* the hook has a handle */
    CHECK_INT(MXLHookFree(handle), 0);
    CHECK_INT(visits(z, 100), 3);
    node = edge_of(z, NULL);
    CHECK_INT(visits(z, 100), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(MXShallowCopyNDArray(z, &other), 0);
    CHECK_INT(visits(z, 100), 0);
    CHECK_INT(payloads_of(2, (H[]){z, other}, 100, on_release), 3);
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
    CHECK_INT(payloads_of(2, (H[]){x, y}, 100, on_release), 1);
    drop(x);
    CHECK_INT(visits(y, 100), 1);
    drop(y);
    CHECK_INT(hook.released, 1);
}

/* Paths that meet again: y = f(x) is used twice, and a node saves the leaf that it leads to. */
TEST(payloads_that_several_paths_lead_to)
{
    rule f = {.factor = {2}}, hook = {0};
    H x = leaf(VEC(1, 2)), y = VEC(1, 2), z, square;

    CHECK_INT(MXLNDArrayAddHook(x, never, 0, &hook, on_release, NULL), 0);
    CHECK_INT(function(&f, 1, &x, 1, &y), 1);
    z = torch2("elemwise_mul", y, y);
    CHECK_INT(payloads_of(2, (H[]){y, z}, 100, on_release), 1); /* x has a handle */
    drop(y);
    CHECK_INT(visits(z, 100), 1);
    square = torch2("elemwise_mul", x, x);
    CHECK_INT(payloads_of(2, (H[]){x, z}, 100, on_release), 1);
    CHECK_INT(payloads_of(3, (H[]){square, z, x}, 100, on_release), 2);
    drop(x);
    CHECK_INT(payloads_of(2, (H[]){z, square}, 100, on_release), 2);
    drop(z);
    CHECK_INT(visits(square, 100), 1);
    drop(square);
    CHECK_INT(f.released + hook.released, 2);
}

HARNESS_MAIN(ENTRY(a_rule), ENTRY(wants_and_heads), ENTRY(twice), ENTRY(failing_rules),
             ENTRY(in_mxnets_dialect), ENTRY(payloads_that_handles_alone_keep),
             ENTRY(payloads_of_a_leaf), ENTRY(payloads_that_several_paths_lead_to))
