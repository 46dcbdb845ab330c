/* MXLFunctionRecord: rules, what they get and give, when they forget and are released, inputs that
 * were edited. */
#include "graph_kit.h"

#include <stdio.h>

/* A function: out = factor * the sum of its inputs, or what `calls` says. */
typedef struct rule {
    double factor[4]; /* gradient of input i is factor[i] * the first head; 0: none */
    int fails, calls, forgotten, released, heads, wants[4];
    bool recording, says, too_long, bad_handle;
} rule;

static H times(H a, double factor)
{
    char text[32];

    snprintf(text, sizeof(text), "%.17g", factor);
    return op_scalar("_mul_scalar", a, text);
}

static int on_rule(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                   const int *wants, H *results)
{
    rule *r = payload;
    H head = NULL;

    r->calls++;
    r->heads = 0;
    CHECK_INT(MXAutogradIsRecording(&r->recording), 0);
    for (int i = 0; i < num_outputs; i++) {
        r->heads |= (output_grads[i] != NULL) << i;
        if (head == NULL)
            head = output_grads[i];
    }
    for (int i = 0; i < num_inputs && i < 4; i++) {
        r->wants[i] = wants[i];
        CHECK(results[i] == NULL);
        if (r->too_long)
            results[i] = VEC(1, 2, 3, 4, 5);
        else if (r->bad_handle)
            results[i] = (H)(uintptr_t)12345;
        else if (r->factor[i] != 0 && head != NULL)
            results[i] = times(head, r->factor[i]);
    }
    for (int i = 0; i < num_outputs; i++) {
        if (output_grads[i] != NULL)
            drop(output_grads[i]);
    }
    if (r->says)
        NNAPISetLastError("ValueError: not today");
    return r->fails;
}

static void on_forget(void *payload)
{
    rule *r = payload;

    CHECK_INT(r->released, 0);
    r->forgotten++;
}

static void on_release(void *payload)
{
    ((rule *)payload)->released++;
}

static MXLCallHandle like(int dialect, const char *slots)
{
    MXLCallHandle call = NULL;

    CHECK_INT(MXLPrepareAs(dialect, "MineBackward", slots, "_copy", 0, NULL, NULL, 0, NULL, &call),
              0);
    return call;
}

static int function(rule *r, int num_inputs, const H *in, int num_outputs, const H *out)
{
    int taken = -1,
        status = MXLFunctionRecord(like(MXL_DIALECT_TORCH, NULL), num_inputs, in, num_outputs, out,
                                   on_rule, r, on_forget, on_release, &taken);

    return status == 0 ? taken : status;
}

static H torch1(const char *name, H a, const char *key, const char *value)
{
    MXLCallHandle call = NULL;
    H out;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, key == NULL ? 0 : 1, &key, &value,
                           0, NULL, &call),
              0);
    out = MXLCall1(call, a);
    if (!CHECK(out != NULL))
        CHECK_STR(MXGetLastError(), name);
    return out;
}

static H torch2(const char *name, H a, H b)
{
    MXLCallHandle call = NULL;
    H out;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, 0, NULL, NULL, 0, NULL, &call), 0);
    out = MXLCall2(call, a, b);
    CHECK(out != NULL);
    return out;
}

/* Row or element `index`, sharing memory. */
static H part(H a, const char *index)
{
    const char *keys[2] = {"axis", "index"}, *values[2] = {"0", index};
    MXLCallHandle call = NULL;
    H out;

    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mxl_select", 2, keys, values, 0, NULL, &call),
        0);
    out = MXLCall1(call, a);
    CHECK(out != NULL);
    return out;
}

/* What a function writes: nothing of it is recorded. */
static void write_over(H target, double factor)
{
    const char *key = "scalar";
    char text[32];
    const char *value = text;
    MXLCallHandle call = NULL;
    int count = 1;

    snprintf(text, sizeof(text), "%.17g", factor);
    CHECK_INT(MXLSetGradMode(0, NULL), 0);
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mul_scalar", 1, &key, &value, 0, NULL, &call),
        0);
    CHECK_INT(MXLCallInto(call, 1, &target, NULL, &count, &target), 0);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
}

static const MXLBackwardOptions keep = {.keep_graph = 1, .dialect = 1}, plain = {.dialect = 1};

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
    CHECK_FAILS(function(&r, 1, &x, 1, &y), "output 0 stands in the graph already");
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

/* ---- edited inputs ---- */

/* y = x * 2; f makes it 3 y: dx = 6. */
TEST(edits_its_input)
{
    rule r = {.factor = {3}};
    H x = leaf(VEC(1, 2)), y = torch1("_mul_scalar", x, "scalar", "2"), z;
    N node;

    write_over(y, 3);
    CHECK_INT(function(&r, 1, &y, 1, &y), 1);
    node = edge_of(y, NULL);
    CHECK_STR(name_of(node), "MineBackward");
    node = step(node, 0);
    CHECK_STR(name_of(node), "MulBackward0");
    MXLNodeFree(node);
    z = torch1("_mul_scalar", y, "scalar", "10");
    CHECK_INT(run_from(z, &plain), 0);
    CHECK_NEAR(grad_at(x, 1), 60, 0);
    CHECK_INT(r.forgotten, 1);
    drop(z);
    drop(y);
    drop(x);
    CHECK_INT(r.released, 1);
}

/* y = 2x, v = y[1], f makes v 3 v + 5 w: d sum(y)/dx = 2 and 6, dw = 5. What a backward forgets
 * reaches the function's node within CopySlices. */
TEST(edits_a_view)
{
    rule r = {.factor = {3, 5}};
    H x = leaf(VEC(1, 2)), w = leaf(VEC(4)), y = torch1("_mul_scalar", x, "scalar", "2"),
      v = part(y, "1"), s = part(w, "0"), in[2] = {v, s};
    N node;

    write_over(v, 3);
    CHECK_INT(function(&r, 2, in, 1, &v), 1);
    node = edge_of(y, NULL);
    CHECK_STR(name_of(node), "CopySlices");
    MXLNodeFree(node);
    node = edge_of(v, NULL);
    CHECK_STR(name_of(node), "AsStridedBackward0");
    MXLNodeFree(node);
    CHECK_INT(run_from(y, &keep), 0);
    CHECK_INT(r.forgotten, 0);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    CHECK_NEAR(grad_at(x, 1), 6, 0);
    CHECK_NEAR(grad_at(w, 0), 5, 0);
    CHECK_INT(run_from(v, &keep), 0);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    CHECK_NEAR(grad_at(x, 1), 12, 0);
    CHECK_INT(run_from(y, &plain), 0);
    CHECK_INT(r.forgotten, 1);
    CHECK_INT(r.released, 0);
    drop(v);
    drop(y);
    CHECK_INT(r.released, 1);
    CHECK_INT(r.forgotten, 1);
    drop(s);
    drop(w);
    drop(x);
}

/* The same where the view is not the first input: v = 5 w, and nothing of what it was. */
TEST(writes_over_a_view)
{
    rule r = {.factor = {5, 0}};
    H x = leaf(VEC(1, 2)), w = leaf(VEC(4)), y = torch1("_mul_scalar", x, "scalar", "2"),
      v = part(y, "1"), s = part(w, "0"), in[2] = {s, v};

    write_over(v, 3);
    CHECK_INT(function(&r, 2, in, 1, &v), 1);
    CHECK_INT(run_from(y, &plain), 0);
    CHECK_INT(r.wants[0], 1);
    CHECK_INT(r.wants[1], 1);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    CHECK_NEAR(grad_at(x, 1), 0, 0);
    CHECK_NEAR(grad_at(w, 0), 5, 0);
    CHECK_INT(r.forgotten, 1);
    drop(v);
    drop(y);
    CHECK_INT(r.released, 1);
    drop(s);
    drop(w);
    drop(x);
}

/* What an edited view became, kept by the function for its rule, is a part of its base when the
 * rule reads it: v = y[1] = 2 x1, f(v) = v^2 written over it; d2/dx2 = 8. */
static H kept_output;

static int square_rule(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                       const int *wants, H *results)
{
    H out = MXLCustomFunctionOutput(kept_output, 0), root, twice;
    N node;

    (void)num_outputs;
    (void)num_inputs;
    (void)wants;
    if (!CHECK(out != NULL))
        return -1;
    node = edge_of(out, NULL);
    CHECK_STR(name_of(node), payload);
    MXLNodeFree(node);
    root = torch1("sqrt", out, NULL, NULL);
    twice = torch1("_mul_scalar", root, "scalar", "2");
    results[0] = torch2("broadcast_mul", twice, output_grads[0]);
    drop(twice);
    drop(root);
    drop(out);
    drop(output_grads[0]);
    return 0;
}

TEST(an_edited_view_that_is_kept)
{
    MXLBackwardOptions create = {.keep_graph = 1, .create_graph = 1, .dialect = 1};
    H x = leaf(VEC(1, 3)), y = torch1("_mul_scalar", x, "scalar", "2"), v = part(y, "1"),
      grad = NULL, second = NULL;
    N root, var = edge_of(x, NULL);
    int taken = 0, zero = 0;

    write_over(v, 6); /* (2 * 3)^2 */
    CHECK_INT(MXLFunctionRecord(like(MXL_DIALECT_TORCH, NULL), 1, &v, 1, &v, square_rule,
                                (void *)"AsStridedBackward0", NULL, NULL, &taken),
              0);
    CHECK_INT(taken, 1);
    CHECK_INT(MXNDArrayDetach(v, &kept_output), 0);
    root = edge_of(y, NULL);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &create, 1, &var, &zero, &grad), 0);
    CHECK_NEAR(at(grad, 0), 2, 0);
    CHECK_NEAR(at(grad, 1), 24, 0); /* 8 x */
    MXLNodeFree(root);
    root = edge_of(grad, NULL);
    CHECK_INT(MXLBackward(1, &root, &zero, NULL, &plain, 1, &var, &zero, &second), 0);
    CHECK_NEAR(at(second, 0), 0, 0);
    CHECK_NEAR(at(second, 1), 8, 1e-12);
    drop(second);
    drop(grad);
    drop(kept_output);
    MXLNodeFree(root);
    MXLNodeFree(var);
    drop(v);
    drop(y);
    drop(x);
}

/* An input that is a view of what was edited since stands where it does now: y = 2x, v = y[1],
 * y *= 3, f(v) = 5 v: dx = 30. */
TEST(an_input_that_is_out_of_date)
{
    rule r = {.factor = {5}};
    H x = leaf(VEC(1, 2)), y = torch1("_mul_scalar", x, "scalar", "2"), v = part(y, "1"),
      out = VEC(0);
    const char *key = "scalar", *value = "3";
    MXLCallHandle call = NULL;
    int count = 1;

    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mul_scalar", 1, &key, &value, 0, NULL, &call),
        0);
    CHECK_INT(MXLCallInto(call, 1, &y, NULL, &count, &y), 0);
    CHECK_INT(function(&r, 1, &v, 1, &out), 1);
    CHECK_INT(run_from(out, &plain), 0);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    CHECK_NEAR(grad_at(x, 1), 30, 0);
    drop(out);
    drop(v);
    drop(y);
    drop(x);
}

/* The same kept by MXLNDArrayPin. */
TEST(a_pin_that_is_out_of_date)
{
    H x = leaf(VEC(1, 2)), y = torch1("_mul_scalar", x, "scalar", "2"), v = part(y, "1"), w, kept;
    const char *key = "scalar", *value = "3";
    MXLCallHandle call = NULL;
    int count = 1;

    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mul_scalar", 1, &key, &value, 0, NULL, &call),
        0);
    CHECK_INT(MXLCallInto(call, 1, &y, NULL, &count, &y), 0);
    CHECK_INT(MXLNDArrayPin(v, &kept), 0);
    CHECK_INT(MXLCallInto(call, 1, &y, NULL, &count, &y), 0);
    w = torch1("_mul_scalar", v, "scalar", "1");
    CHECK_INT(run_from(kept, &keep), 0); /* as it was: 6 x */
    CHECK_NEAR(grad_at(x, 1), 6, 0);
    CHECK_INT(run_from(w, &keep), 0); /* 18 x */
    CHECK_NEAR(grad_at(x, 1), 24, 0);
    drop(kept);
    drop(w);
    drop(v);
    drop(y);
    drop(x);
}

/* A view edited by a function with more outputs: its node would be run twice. */
TEST(a_view_among_several_outputs)
{
    rule r = {.factor = {3, 5}};
    H x = leaf(VEC(1, 2)), y = torch1("_mul_scalar", x, "scalar", "2"), v = part(y, "1"),
      u = part(y, "0"), out[2];

    write_over(v, 3);
    out[0] = VEC(1);
    out[1] = v;
    CHECK_FAILS(function(&r, 1, &v, 2, out), "a view is edited by a function with 2 outputs");
    drop(out[0]);
    out[0] = u;
    CHECK_FAILS(function(&r, 2, out, 2, out), "a view is edited by a function with 2 outputs");
    CHECK_INT(r.released, 0);
    drop(u);
    drop(v);
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

HARNESS_MAIN(ENTRY(a_rule), ENTRY(wants_and_heads), ENTRY(twice), ENTRY(failing_rules),
             ENTRY(edits_its_input), ENTRY(edits_a_view), ENTRY(writes_over_a_view),
             ENTRY(an_edited_view_that_is_kept), ENTRY(an_input_that_is_out_of_date),
             ENTRY(a_pin_that_is_out_of_date), ENTRY(a_view_among_several_outputs),
             ENTRY(in_mxnets_dialect))
