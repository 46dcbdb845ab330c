/* Walking a graph: edges, names, slots, saved tensors, ids, stale handles, lifetimes. */
#include "graph_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* y = tanh(x * w), recorded. */
static H build(H x, H w)
{
    H m, y;

    record(true);
    m = MUL(x, w);
    y = op1("tanh", m);
    record(false);
    drop(m);
    return y;
}

TEST(edges_and_names)
{
    H x = VEC(1, 2), w = VEC(3, 4), y, c = VEC(1), back = NULL;
    N node, mul, leaf_x, leaf_w;
    int output = -1, count = -1, flag = -1;
    uint64_t seq_y = 0, seq_m = 0, seq_x = 0;
    const char *op = NULL;

    attach(x, REQ_WRITE);
    attach(w, REQ_WRITE);
    y = build(x, w);
    CHECK(edge_of(c, &output) == NULL);
    CHECK_INT(output, 0);
    node = edge_of(y, &output);
    CHECK_INT(output, 0);
    CHECK_STR(name_of(node), "TanhBackward0");
    CHECK_INT(MXLNodeGetOperator(node, &op), 0);
    CHECK_STR(op, "tanh");
    CHECK_INT(MXLNodeGetNumInputs(node, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLNodeGetNumOutputs(node, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLNodeGetSequence(node, &seq_y), 0);
    CHECK_INT(MXLNodeIsReleased(node, &flag), 0);
    CHECK_INT(flag, 0);
    CHECK_INT(MXLNodeGetInput(node, 0, &mul, &output), 0);
    CHECK_STR(name_of(mul), "MulBackward0");
    CHECK_INT(MXLNodeGetSequence(mul, &seq_m), 0);
    CHECK(seq_m < seq_y);
    CHECK_INT(MXLNodeGetInput(mul, 0, &leaf_x, &output), 0);
    CHECK_INT(output, 0);
    CHECK_INT(MXLNodeGetInput(mul, 1, &leaf_w, &output), 0);
    CHECK_STR(name_of(leaf_x), "AccumulateGrad");
    CHECK_INT(MXLNodeGetOperator(leaf_x, &op), 0);
    CHECK(op == NULL);
    CHECK_INT(MXLNodeGetSequence(leaf_x, &seq_x), 0);
    CHECK(seq_x == UINT64_MAX);
    CHECK_INT(MXLNodeGetNumInputs(leaf_x, &count), 0);
    CHECK_INT(count, 0);
    CHECK_INT(MXLNodeGetNumOutputs(leaf_x, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLNodeGetVariable(leaf_x, &back), 0);
    CHECK(array_id(back) == array_id(x));
    CHECK(array_id(back) != array_id(w));
    CHECK(node_id(leaf_x) != node_id(leaf_w));
    drop(back);
    CHECK_FAILS(MXLNodeGetVariable(mul, &back), "broadcast_mul");
    CHECK_FAILS(MXLNodeGetInput(mul, 2, &back, &output), "input 2 of a node with 2");
    CHECK_FAILS(MXLNodeGetInput(leaf_x, 0, &back, &output), "input 0 of a node with 0");
    CHECK_INT(backward(y), 0);
    CHECK_INT(MXLNodeIsReleased(node, &flag), 0);
    CHECK_INT(flag, 1);
    CHECK_INT(MXLNodeIsReleased(leaf_x, &flag), 0);
    CHECK_INT(flag, 0);
    MXLNodeFree(leaf_x);
    MXLNodeFree(leaf_w);
    MXLNodeFree(mul);
    MXLNodeFree(node);
    drop(y);
    drop(x);
    drop(w);
    drop(c);
}

TEST(shapes_and_saved)
{
    int64_t shape[4] = {0};
    H x = VEC(1, 2, 3), w = VEC(3, 4, 5), y, value = NULL;
    N node, mul;
    int count = -1, dtype = -1, is_output = -1, position = -1;
    int64_t bytes = -1;

    attach(x, REQ_WRITE);
    attach(w, REQ_WRITE);
    y = build(x, w);
    node = edge_of(y, NULL);
    CHECK_INT(MXLNodeGetInfo(node, 0, 0, 4, shape, &dtype), 1);
    CHECK_INT(shape[0], 3);
    CHECK_INT(dtype, F64);
    CHECK_INT(MXLNodeGetInfo(node, 1, 0, 0, NULL, NULL), 1);
    CHECK_FAILS(MXLNodeGetInfo(node, 2, 0, 0, NULL, NULL), "which is 2");
    CHECK_FAILS(MXLNodeGetInfo(node, 1, 1, 0, NULL, NULL), "output 1 of a node with 1");
    CHECK_FAILS(MXLNodeGetInfo(node, 0, -1, 0, NULL, NULL), "input -1 of a node with 1");
    CHECK_INT(MXLNodeGetNumSaved(node, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLNodeGetSaved(node, 0, &value, &is_output, &position, &bytes), 0);
    CHECK_INT(is_output, 1);
    CHECK_INT(position, 0);
    CHECK_INT(bytes, 24);
    CHECK_NEAR(at(value, 0), tanh(3), 1e-12);
    CHECK(edge_of(value, NULL) == NULL);
    drop(value);
    mul = step(node, 0);
    CHECK_INT(MXLNodeGetNumSaved(mul, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(MXLNodeGetSaved(mul, 1, &value, &is_output, &position, NULL), 0);
    CHECK_INT(is_output, 0);
    CHECK_INT(position, 1);
    CHECK_NEAR(at(value, 2), 5, 0);
    CHECK(edge_of(value, NULL) == NULL);
    drop(value);
    CHECK_FAILS(MXLNodeGetSaved(mul, 2, NULL, NULL, NULL, NULL), "saved value 2");
    CHECK_FAILS(MXLNodeGetSaved(mul, -1, NULL, NULL, NULL, NULL), "saved value -1");
    fill(w, (double[]){1, 1, 1}, 3);
    CHECK_FAILS(MXLNodeGetSaved(mul, 1, &value, NULL, NULL, NULL), "saved for backward");
    CHECK_INT(MXLNodeGetSaved(mul, 1, NULL, NULL, &position, NULL), 0);
    fill(x, (double[]){1, 2, 3}, 3);
    CHECK_INT(MXLNDArrayBumpVersion(x), 0);
    CHECK_INT(backward(y), -1);
    CHECK_INT(MXLNodeFree(mul), 0);
    drop(y);
    record(true);
    y = MUL(x, w);
    record(false);
    node = edge_of(y, NULL);
    CHECK_INT(backward(y), 0);
    CHECK_INT(MXLNodeGetNumSaved(node, &count), 0);
    CHECK_INT(count, 0);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
    drop(x);
    drop(w);
}

/* x + 5 in PyTorch's dialect has a slot with nothing. */
TEST(slots_of_a_label)
{
    const char *key = "scalar";
    MXLCallHandle plus, times;
    MXLValue five = {.f = 5};
    H x = leaf(VEC(1, 2)), y, z;
    N node, next = NULL;
    int count = -1, output = -1, slots[3] = {7, 7, 7};

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, "AddBackward0", "0-", "_plus_scalar", 0, NULL, NULL,
                           1, &key, &plus),
              0);
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mul_scalar", 0, NULL, NULL, 1, &key, &times),
        0);
    y = MXLCall(plus, 1, &x, &five);
    z = MXLCall(times, 1, &y, &five);
    node = edge_of(z, NULL);
    CHECK_STR(name_of(node), "MulBackward0");
    node = step(node, 0);
    CHECK_STR(name_of(node), "AddBackward0");
    CHECK_INT(MXLNodeGetNumInputs(node, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(MXLNodeGetSlots(node, 0, NULL), 1);
    CHECK_INT(MXLNodeGetSlots(node, 1, slots), 1);
    CHECK_INT(slots[1], 7);
    CHECK_INT(MXLNodeGetSlots(node, 3, slots), 1);
    CHECK_INT(slots[0], 0);
    CHECK_INT(slots[1], -1);
    CHECK_INT(slots[2], 7);
    CHECK_INT(MXLNodeGetInput(node, 1, &next, &output), 0);
    CHECK(next == NULL);
    CHECK_INT(output, 0);
    node = step(node, 0);
    CHECK_STR(name_of(node), "AccumulateGrad");
    CHECK_INT(MXLNodeGetSlots(node, 3, slots), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(z);
    drop(y);
    drop(x);
}

/* "axis=0;keepdims=1;" cut up in place; how many parameters. */
static int split(char *text, const char **keys, const char **values)
{
    int count = 0;

    while (*text != '\0') {
        keys[count] = text;
        text = strchr(text, '=');
        *text++ = '\0';
        values[count++] = text;
        text = strchr(text, ';');
        *text++ = '\0';
    }
    return count;
}

/* A call of `name` on x with parameters, recorded, and the parameters that its node tells. */
static void check_params(H x, const char *name, const char *given, const char *expected)
{
    char call[256], text[256] = "";
    const char *keys[4], *values[4], **told_keys = NULL, **told_values = NULL;
    int count, told = -1;
    H y;
    N node;

    snprintf(call, sizeof call, "%s", given);
    count = split(call, keys, values);
    record(true);
    y = try_op(name, 1, &x, count, keys, values);
    record(false);
    if (!CHECK(y != NULL))
        return;
    node = edge_of(y, NULL);
    CHECK_INT(MXLNodeGetParams(node, &told, &told_keys, &told_values), 0);
    for (int i = 0; i < told; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s=%s;", told_keys[i],
                 told_values[i]);
    CHECK_STR(text, expected);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
}

TEST(parameters_as_text)
{
    H x = leaf(VEC(1, 2));
    N node = edge_of(x, NULL);
    const char **keys = NULL, **values = NULL;
    int count = -1;

    CHECK_INT(MXLNodeGetParams(node, &count, &keys, &values), 0);
    CHECK_INT(count, 0);
    CHECK_INT(MXLNodeFree(node), 0);
    check_params(x, "sum", "axis=0;keepdims=1;", "axis=(0,);keepdims=True;");
    check_params(x, "sum", "axis=None;keepdims=False;", "");
    check_params(x, "_plus_scalar", "scalar=0.1;", "scalar=0.1;");
    check_params(x, "_plus_scalar", "scalar=1e-300;", "scalar=1e-300;");
    check_params(x, "_plus_scalar", "scalar=10000000000000000905969664;", "scalar=1e+25;");
    check_params(x, "_mul_scalar", "scalar=-inf;", "scalar=-inf;");
    check_params(x, "_mul_scalar", "scalar=nan;", "scalar=nan;");
    check_params(x, "_mul_scalar", "scalar=0.30000000000000004;", "scalar=0.30000000000000004;");
    check_params(x, "reshape", "shape=(2,1);", "shape=(2, 1);");
    check_params(x, "slice", "begin=(1,);end=(None,);", "begin=(1,);end=(None,);");
    check_params(x, "Cast", "dtype=float32;", "dtype=float32;");
    check_params(x, "softmax", "temperature=2;dtype=float64;", "temperature=2;dtype=float64;");
    check_params(x, "LeakyReLU", "act_type=elu;slope=0.5;", "act_type=elu;slope=0.5;");
    check_params(x, "add_n", "num_args=1;", "num_args=1;");
    check_params(x, "concat", "num_args=1;dim=0;", "num_args=1;dim=0;");
    drop(x);
}

TEST(outputs_are_numbered)
{
    const char *keys[2] = {"num_outputs", "axis"}, *values[2] = {"2", "0"};
    H x = VEC(1, 2), *outputs = NULL, parts[2];
    OpHandle op;
    const int *stypes;
    int num = 0, output = -1;
    N a, b;

    attach(x, REQ_WRITE);
    record(true);
    CHECK_INT(NNGetOpHandle("split", &op), 0);
    CHECK_INT(MXImperativeInvokeEx(op, 1, &x, &num, &outputs, 2, keys, values, &stypes), 0);
    record(false);
    CHECK_INT(num, 2);
    parts[0] = outputs[0];
    parts[1] = outputs[1];
    a = edge_of(parts[0], &output);
    CHECK_INT(output, 0);
    b = edge_of(parts[1], &output);
    CHECK_INT(output, 1);
    CHECK(node_id(a) == node_id(b));
    CHECK(a != b);
    CHECK_INT(MXLNodeGetNumOutputs(a, &num), 0);
    CHECK_INT(num, 2);
    MXLNodeFree(a);
    MXLNodeFree(b);
    drop(parts[0]);
    drop(parts[1]);
    drop(x);
}

/* A node outlives its array, and an array its node handles; handles go stale one by one. */
TEST(lifetimes)
{
    H x = VEC(1, 2), w = VEC(3, 4), y, back = NULL;
    N node, acc, again;
    int count = -1;
    uint64_t id;

    attach(x, REQ_WRITE);
    attach(w, REQ_WRITE);
    y = build(x, w);
    node = edge_of(y, NULL);
    again = edge_of(y, NULL);
    CHECK(node_id(node) == node_id(again));
    drop(y);
    drop(w);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_FAILS(MXLNodeFree(node), "freed");
    CHECK_FAILS(MXLNodeGetNumInputs(node, &count), "invalid node handle");
    CHECK_FAILS(MXLNodeGetId(x, &id), "a handle of an array, a node was expected");
    CHECK_FAILS(MXNDArrayFree(again), "a handle of a node, an array was expected");
    CHECK_STR(name_of(again), "TanhBackward0");
    acc = step(step(again, 0), 1);
    CHECK_INT(MXLNodeGetVariable(acc, &back), 0);
    CHECK_NEAR(at(back, 1), 4, 0);
    CHECK_INT(MXLNodeFree(acc), 0);
    drop(back);
    drop(x);
    CHECK_INT(MXLNodeFree(NULL), 0);
}

static void count_release(void *payload)
{
    ++*(int *)payload;
}

TEST(payloads)
{
    H x = VEC(1, 2), w = VEC(3, 4), y;
    N node, acc;
    int released = 0, other = 0;
    void *there = &other;

    attach(x, REQ_WRITE);
    attach(w, REQ_WRITE);
    y = build(x, w);
    node = edge_of(y, NULL);
    CHECK_INT(MXLNodeGetPayload(node, &there), 0);
    CHECK(there == NULL);
    CHECK_INT(MXLNodeSetPayload(node, &released, count_release), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(released, 0);
    node = edge_of(y, NULL);
    CHECK_INT(MXLNodeGetPayload(node, &there), 0);
    CHECK(there == &released);
    CHECK_INT(MXLNodeSetPayload(node, &other, count_release), 0);
    CHECK_INT(released, 1);
    CHECK_INT(backward(y), 0);
    CHECK_INT(other, 0); /* it stays with the node */
    acc = edge_of(x, NULL);
    CHECK_INT(MXLNodeSetPayload(acc, &released, count_release), 0);
    CHECK_INT(MXLNodeSetPayload(acc, NULL, NULL), 0);
    CHECK_INT(released, 2);
    CHECK_INT(MXLNodeSetPayload(acc, &released, count_release), 0);
    CHECK_INT(MXLNodeFree(acc), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
    CHECK_INT(other, 1);
    CHECK_INT(released, 2);
    drop(x);
    CHECK_INT(released, 3);
    drop(w);
}

/* ---- variables without a buffer ---- */

TEST(requires_grad)
{
    H x = VEC(1, 2), y, i = make(I32, 1, (int64_t[]){2}), none = NULL, grad;
    MXLBackwardOptions options = {.keep_graph = 1, .training = 1, .dialect = MXL_DIALECT_TORCH};

    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    CHECK_FAILS(MXLNDArraySetRequiresGrad(i, 1), "int32");
    CHECK_INT(MXLNDArraySetRequiresGrad(i, 0), 0);
    CHECK_FAILS(MXLNDArraySetRequiresGrad(none, 1), "no shape yet");
    CHECK_INT(MXLNDArraySetRequiresGrad(x, 0), 0);
    CHECK(edge_of(x, NULL) == NULL);
    CHECK_INT(MXLNDArrayGetEdgeKind(x), MXL_EDGE_CONSTANT);
    CHECK_FAILS(MXLNDArraySetGrad(x, NULL), "not a variable");
    CHECK_INT(MXLNDArraySetRequiresGrad(x, 1), 0);
    CHECK_INT(MXLNDArrayGetEdgeKind(x), MXL_EDGE_LEAF);
    CHECK(grad_of(x) == NULL);
    record(true);
    y = MUL(x, x);
    record(false);
    CHECK_INT(MXLNDArrayGetEdgeKind(y), MXL_EDGE_RECORDED);
    CHECK_FAILS(MXLNDArraySetRequiresGrad(y, 1), "a recorded operator made the array");
    CHECK_FAILS(MXLNDArraySetRequiresGrad(y, 0), "a recorded operator made the array");
    CHECK_INT(run_from(y, &options), 0);
    CHECK_NEAR(grad_at(x, 1), 4, 0);
    CHECK_INT(MXLNDArraySetRequiresGrad(x, 1), 0); /* changes nothing */
    CHECK_INT(run_from(y, &options), 0);
    CHECK_NEAR(grad_at(x, 1), 8, 0);
    CHECK_INT(MXLNDArraySetGrad(x, NULL), 0);
    CHECK(grad_of(x) == NULL);
    CHECK_INT(run_from(y, &options), 0);
    CHECK_NEAR(grad_at(x, 1), 4, 0);
    grad = VEC(10, 20);
    CHECK_INT(MXLNDArraySetGrad(x, grad), 0);
    CHECK_INT(run_from(y, &options), 0);
    CHECK_NEAR(at(grad, 1), 24, 0);
    CHECK_FAILS(MXLNDArraySetGrad(x, i), "int32");
    CHECK_FAILS(MXLNDArraySetGrad(x, none), "none");
    CHECK_FAILS(MXLNDArraySetGrad(x, x), "share memory");
    CHECK_FAILS(MXLNDArraySetGrad(y, grad), "not a variable");
    CHECK_INT(MXLNDArraySetRequiresGrad(x, 0), 0);
    CHECK(edge_of(x, NULL) == NULL);
    CHECK_NEAR(grad_at(x, 1), 24, 0); /* its gradient stays */
    drop(grad);
    drop(none);
    drop(i);
    drop(y);
    drop(x);
}

HARNESS_MAIN(ENTRY(edges_and_names), ENTRY(shapes_and_saved), ENTRY(slots_of_a_label),
             ENTRY(parameters_as_text), ENTRY(outputs_are_numbered), ENTRY(lifetimes),
             ENTRY(payloads), ENTRY(requires_grad))
