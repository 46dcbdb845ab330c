/* Growing structures of the engine around the sizes at which they grow: nodes, roots, variables,
 * inputs, outputs, saved tensors. Gradients are small integers, and exact. */
#include "sizes_kit.h"

#include "base/handle.h"
#include "engine/run/invoke.h"
#include "ops/build.h"

/* ---- nodes ---- */

/* x * 1 + ... + x * n, and the first of them again: n nodes are ready at once, and one of them gets
 * another gradient while it waits. */
static void ready_nodes(int n)
{
    H x = VEC(1), in[MOST + 1], y;

    attach(x, REQ_WRITE);
    record(true);
    for (int i = 0; i < n; i++)
        in[i] = times(x, i + 1);
    in[n] = in[0];
    y = add_all(n + 1, in);
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), sum_to(n) + 1, 0);
    drop_all(n, in);
    drop(y);
    drop(x);
}

TEST(many_ready_nodes)
{
    at_each_size(ready_nodes);
}

/* Each value is the sum of two before it, and y is that of all in another order: many nodes of
 * different age are ready, and each must wait for all that come after it. */
static void mixed_ages(int n)
{
    H x = VEC(1), value[MOST], in[MOST], y;
    double paths[MOST];
    int from[MOST][2];
    uint32_t seed = 1;

    attach(x, REQ_WRITE);
    record(true);
    for (int i = 0; i < n; i++) {
        paths[i] = 1;
        for (int k = 0; k < 2; k++) {
            seed = seed * 1664525 + 1013904223;
            from[i][k] = i == 0 ? 0 : (int)((seed >> 8) % (uint32_t)i);
        }
        value[i] = i == 0 ? times(x, 1) : ADD(value[from[i][0]], value[from[i][1]]);
    }
    for (int i = 0; i < n; i++)
        in[i] = value[(int)((int64_t)i * 7919 % n)];
    y = add_all(n, in);
    record(false);
    for (int i = n - 1; i > 0; i--) {
        paths[from[i][0]] += paths[i];
        paths[from[i][1]] += paths[i];
    }
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), paths[0], 0);
    drop(y);
    drop_all(n, value);
    drop(x);
}

TEST(nodes_of_mixed_ages)
{
    at_each_size(mixed_ages);
}

/* y = y + x, n times, and the second derivative of y * x. */
static void chain(int n)
{
    H x = VEC(3), y, z, d, dd;

    attach(x, REQ_WRITE);
    record(true);
    y = times(x, 1);
    for (int i = 0; i < n; i++) {
        H next = ADD(y, x);

        drop(y);
        y = next;
    }
    z = MUL(y, x); /* (n + 1) x^2 */
    record(false);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), n + 1, 0);
    d = derivative(z, x, 1, 1);
    CHECK_NEAR(at(d, 0), 6 * (n + 1), 0);
    dd = derivative(d, x, 0, 0);
    CHECK_NEAR(at(dd, 0), 2 * (n + 1), 0);
    drop(dd);
    drop(d);
    drop(z);
    drop(y);
    drop(x);
}

TEST(long_chains)
{
    at_each_size(chain);
}

/* ---- variables and heads ---- */

static void mark_all(int n, H *x, uint32_t req)
{
    uint32_t reqs[MOST];
    H grads[MOST];

    for (int i = 0; i < n; i++) {
        x[i] = VEC(i);
        grads[i] = VEC(-1);
        reqs[i] = req;
    }
    CHECK_INT(MXAutogradMarkVariables((uint32_t)n, x, reqs, grads), 0);
    drop_all(n, grads);
}

/* The sum of (i + 1) x[i]: into all buffers; asked for, from the last to the first; and of nodes.
 */
static void variables(int n)
{
    MXLBackwardOptions once = {.keep_graph = 0};
    H x[MOST], part[MOST], turned[MOST], result[MOST], y, *grads = NULL;
    N head, nodes[MOST];
    int *stypes = NULL, outputs[MOST] = {0}, output;

    mark_all(n, x, REQ_WRITE);
    record(true);
    for (int i = 0; i < n; i++) {
        part[i] = times(x[i], i + 1);
        turned[n - 1 - i] = x[i];
    }
    y = add_all(n, part);
    record(false);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(MXAutogradBackwardEx(1, &y, NULL, (uint32_t)n, turned, 1, 0, 1, &grads, &stypes), 0);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(grad_at(x[i], 0), i + 1, 0);
        CHECK_NEAR(at(grads[i], 0), n - i, 0);
        CHECK_INT(stypes[i], 0);
        drop(grads[i]);
        nodes[i] = edge_of(x[i], NULL);
    }
    head = edge_of(y, &output);
    CHECK_INT(MXLBackward(1, &head, &output, NULL, &once, n, nodes, outputs, result), 0);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(at(result[i], 0), i + 1, 0);
        CHECK_INT(MXLNodeFree(nodes[i]), 0);
    }
    CHECK_INT(MXLNodeFree(head), 0);
    drop_all(n, result);
    drop(y);
    drop_all(n, part);
    drop_all(n, x);
}

TEST(many_variables)
{
    at_each_size(variables);
}

/* Heads (i + 1) x with head gradients 0, 1, 2, 0, ..., all at once; then with ones; then one of
 * them n times. */
static void heads(int n)
{
    H x = VEC(1), y[MOST], g[MOST], same[MOST];
    int want = 0;

    attach(x, REQ_WRITE);
    record(true);
    for (int i = 0; i < n; i++) {
        y[i] = times(x, i + 1);
        g[i] = VEC(i % 3);
        want += (i + 1) * (i % 3);
    }
    record(false);
    for (int i = 0; i < n; i++)
        same[i] = y[n - 1];
    CHECK_INT(MXAutogradBackward((uint32_t)n, y, g, 1), 0);
    CHECK_NEAR(grad_at(x, 0), want, 0);
    CHECK_INT(MXAutogradBackward((uint32_t)n, y, NULL, 1), 0);
    CHECK_NEAR(grad_at(x, 0), sum_to(n), 0);
    CHECK_INT(MXAutogradBackward((uint32_t)n, same, NULL, 0), 0);
    CHECK_NEAR(grad_at(x, 0), n * n, 0);
    drop_all(n, g);
    drop_all(n, y);
    drop(x);
}

TEST(many_heads)
{
    at_each_size(heads);
}

/* ---- outputs ---- */

/* x cut into its n elements; all of them lead to a head, then the last alone. */
static void outputs(int n)
{
    const char *keys[2] = {"num_outputs", "axis"}, *values[2] = {NULL, "0"};
    OpHandle split;
    H x = counting(n, 0), in = x, *list = NULL, part[MOST], scaled[MOST], y;
    char text[16];
    int num = 0;
    const int *stypes;
    N node;

    snprintf(text, sizeof(text), "%d", n);
    values[0] = text;
    leaf(x);
    CHECK_INT(NNGetOpHandle("SliceChannel", &split), 0);
    record(true);
    REQUIRE(MXImperativeInvokeEx(split, 1, &in, &num, &list, 2, keys, values, &stypes) == 0);
    REQUIRE(num == n);
    memcpy(part, list, (size_t)n * sizeof(H));
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(at(part[i], 0), i, 0);
        CHECK_INT(stypes[i], 0);
        scaled[i] = times(part[i], i + 1);
    }
    y = add_all(n, scaled);
    record(false);
    node = edge_of(part[n - 1], &num);
    CHECK_INT(num, n - 1);
    CHECK_INT(MXLNodeGetNumOutputs(node, &num), 0);
    CHECK_INT(num, n);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(backward(part[n - 1]), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_element(x, i), i + 1 + (i == n - 1), 0);
    drop(y);
    drop_all(n, scaled);
    drop_all(n, part);
    drop(x);
}

TEST(many_outputs)
{
    at_each_size(outputs);
}

/* ---- inputs and saved values ---- */

/* An operator of any number of inputs, and of as many outputs, that saves them all: output k is
 * k + 1 times the sum of x[i] * x[i + 1] round the ring. */
static int ring_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->outputs = arity->visible = arity->inputs;
    return 0;
}

static int ring_compute(const mxl_call *call)
{
    int n = call->num_inputs;
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += *(const double *)mxl_array_read(call->in[i]) *
               *(const double *)mxl_array_read(call->in[(i + 1) % n]);
    for (int k = 0; k < n; k++)
        *(double *)mxl_array_write(call->out[k]) = (k + 1) * sum;
    return 0;
}

static void ring_saves(mxl_saves *saves)
{
    for (int i = 0; i < saves->num_inputs; i++)
        saves->in[i] = saves->out[i] = true;
}

/* dx[i] = (sum of (k + 1) dy[k]) * (x[i - 1] + x[i + 1]) */
static int ring_grad(mxl_grad *g)
{
    int n = g->num_inputs;
    mxl_array *dy = NULL;

    for (int k = 0; k < n; k++) {
        mxl_array *part =
            g->grad_output[k] == NULL ? NULL : mxl_mul_scalar(g->s, g->grad_output[k], k + 1);

        if (g->grad_output[k] != NULL)
            dy = dy == NULL ? part : mxl_add(g->s, dy, part);
    }
    for (int i = 0; i < n; i++) {
        mxl_array *sides =
            mxl_add(g->s, mxl_grad_in(g, (i + n - 1) % n), mxl_grad_in(g, (i + 1) % n));

        if (mxl_grad_set(g, i, mxl_mul(g->s, dy, sides)) != 0)
            return -1;
    }
    return 0;
}

static const mxl_input ring_inputs[] = {{.name = "data"}, {0}};

static const mxl_op ring = {
    .name = "ring",
    .inputs = ring_inputs,
    .arity = ring_arity,
    .infer = mxl_infer_same,
    .compute = ring_compute,
    .grad = ring_grad,
    .saves = ring_saves,
};

/* Its outputs, recorded, in handles. */
static bool run_ring(int n, const H *x, H *y)
{
    mxl_array *in[MOST] = {NULL}, *out[MOST] = {NULL};
    mxl_mode mode = {.record = true, .dialect = &mxl_dialect_mxnet};
    int status;

    for (int i = 0; i < n; i++)
        in[i] = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)x[i]);
    status = mxl_invoke(&ring, NULL, n, in, n, out, mode);
    for (int i = 0; i < n; i++) {
        mxl_handle_unpin((uint64_t)(uintptr_t)x[i]);
        if (status == 0)
            y[i] = (H)(uintptr_t)mxl_handle_new(MXL_KIND_ARRAY, &out[i]->ref);
    }
    return CHECK_INT(status, 0);
}

/* What d y[k] / d x[i] is, where x[i] is i. */
static int ring_slope(int n, int k, int i)
{
    return (k + 1) * ((i + n - 1) % n + (i + 1) % n);
}

/* Second order too: d^2 y[k] / d x[i] d x[j] for two neighbours. */
static void saved_values(int n)
{
    H x[MOST], y[MOST], value = NULL, d, *grads = NULL;
    N node;
    int count = -1, is_output = -1, position = -1, last = n - 1, next = n > 1 ? 1 : 0;
    int *stypes = NULL;

    mark_all(n, x, REQ_WRITE);
    REQUIRE(run_ring(n, x, y));
    node = edge_of(y[last], NULL);
    CHECK_INT(MXLNodeGetNumSaved(node, &count), 0);
    CHECK_INT(count, 2 * n);
    for (int i = 0; i < 2 * n; i++) {
        CHECK_INT(MXLNodeGetSaved(node, i, &value, &is_output, &position, NULL), 0);
        CHECK_INT(is_output, i >= n);
        CHECK_INT(position, i % n);
        CHECK_NEAR(at(value, 0), i < n ? i : (i - n + 1) * at(y[0], 0), 0);
        drop(value);
    }
    CHECK_FAILS(MXLNodeGetSaved(node, 2 * n, &value, NULL, NULL, NULL), "of a node with");
    CHECK_INT(MXLNodeGetNumInputs(node, &count), 0);
    CHECK_INT(count, n);
    d = derivative(y[last], x[0], 1, 1);
    REQUIRE(d != NULL);
    CHECK_NEAR(at(d, 0), ring_slope(n, last, 0), 0);
    CHECK_INT(MXAutogradBackwardEx(1, &d, NULL, 1, &x[next], 1, 0, 1, &grads, &stypes), 0);
    CHECK_NEAR(at(grads[0], 0), n <= 2 ? 2 * n : n, 0);
    drop(grads[0]);
    CHECK_INT(MXAutogradBackward((uint32_t)n, y, NULL, 0), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_at(x[i], 0), sum_to(n) * ring_slope(n, 0, i), 0);
    CHECK_INT(MXLNodeGetNumSaved(node, &count), 0);
    CHECK_INT(count, 0);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(d);
    drop_all(n, y);
    drop_all(n, x);
}

TEST(many_saved_values)
{
    at_each_size(saved_values);
}

/* The same where each value is kept in a caller's form. */
typedef struct store {
    int packs, unpacks, drops;
} store;

static int on_pack(void *payload, H array, void **packed)
{
    ((store *)payload)->packs++;
    *packed = array;
    return 0;
}

static int on_unpack(void *payload, void *packed, H *array)
{
    ((store *)payload)->unpacks++;
    return MXShallowCopyNDArray(packed, array);
}

static void on_drop(void *payload, void *packed)
{
    ((store *)payload)->drops++;
    drop(packed);
}

static void packed_values(int n)
{
    store s = {0};
    H x[MOST], y[MOST];

    mark_all(n, x, REQ_ADD);
    CHECK_INT(MXLPushSavedHooks(on_pack, on_unpack, on_drop, &s, NULL), 0);
    REQUIRE(run_ring(n, x, y));
    CHECK_INT(MXLPopSavedHooks(), 0);
    CHECK_INT(s.packs, 2 * n);
    CHECK_INT(backward(y[0]), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_at(x[i], 0), ring_slope(n, 0, i) - 1, 0);
    CHECK_INT(s.unpacks, 2 * n);
    CHECK_INT(s.drops, 2 * n);
    drop_all(n, y);
    drop_all(n, x);
}

TEST(many_packed_values)
{
    at_each_size(packed_values);
}

/* ---- handles ---- */

/* Made in order, freed from both ends towards the middle, and made again. */
static void handles(int n)
{
    H array[MOST];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++)
            array[i] = VEC(i);
        for (int i = 0; i < n; i++)
            CHECK_NEAR(at(array[i], 0), i, 0);
        for (int i = 0; i < n; i++) {
            int k = i % 2 == 0 ? i / 2 : n - 1 - i / 2;

            drop(array[k]);
            CHECK_FAILS(MXNDArrayFree(array[k]), "MXNDArrayFree");
        }
    }
}

TEST(many_handles)
{
    at_each_size(handles);
}

HARNESS_MAIN(ENTRY(many_ready_nodes), ENTRY(nodes_of_mixed_ages), ENTRY(long_chains),
             ENTRY(many_variables), ENTRY(many_heads), ENTRY(many_outputs),
             ENTRY(many_saved_values), ENTRY(many_packed_values), ENTRY(many_handles))
