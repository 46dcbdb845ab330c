/* Composite operators called under a label: one node, whose gradients of every order come from a
 * second run of the composition. Expected values are closed forms. */
#include "graph_kit.h"

#include "base/handle.h"
#include "engine/run/invoke.h"
#include "ops/build.h"
#include "walk_kit.h"

/* ---- operators ---- */

/* a a b */
static mxl_array *aab_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_mul(s, mxl_mul(s, call->in[0], call->in[0]), call->in[1]);
}

static const mxl_op aab = {
    .name = "aab", .inputs = mxl_inputs_lhs_rhs, .infer = mxl_infer_same, .compose = aab_compose};

static int two(const void *params, mxl_arity *arity)
{
    (void)params;
    *arity = (mxl_arity){.inputs = 2, .outputs = 2, .visible = 2};
    return 0;
}

/* a b, and a itself */
static mxl_array *pair_compose(mxl_scope *s, const mxl_call *call)
{
    call->out[1] = call->in[0];
    return mxl_mul(s, call->in[0], call->in[1]);
}

static const mxl_op pair = {.name = "pair",
                            .inputs = mxl_inputs_lhs_rhs,
                            .arity = two,
                            .infer = mxl_infer_same,
                            .compose = pair_compose};

/* 2 a b in one pass, but composed where it is differentiated. */
static int fast_compute(const mxl_call *call)
{
    const double *a = mxl_array_read(call->in[0]), *b = mxl_array_read(call->in[1]);
    double *out = mxl_array_write(call->out[0]);

    for (int64_t i = 0; i < call->out[0]->size; i++)
        out[i] = 2 * a[i] * b[i];
    return 0;
}

static mxl_array *fast_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_mul_scalar(s, mxl_mul(s, call->in[0], call->in[1]), 2);
}

static const mxl_op fast = {.name = "fast",
                            .inputs = mxl_inputs_lhs_rhs,
                            .infer = mxl_infer_same,
                            .compute = fast_compute,
                            .compose = fast_compose};

static mxl_dialect labelled;

/* Runs an operator under the label (`label` false: without), recorded. out[i] NULL: a new array. */
static int run(const mxl_op *op, bool label, H a, H b, int num_outputs, H *out)
{
    mxl_mode mode = {.record = true, .dialect = label ? &labelled : &mxl_dialect_torch};
    H given[4] = {a, b};
    mxl_array *in[4] = {NULL}, *results[2];
    int status;

    labelled = mxl_dialect_torch;
    labelled.label = "MineBackward0";
    for (int i = 0; i < num_outputs; i++)
        given[2 + i] = out[i];
    for (int i = 0; i < 2 + num_outputs; i++)
        in[i] = given[i] == NULL
                    ? NULL
                    : (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)given[i]);
    for (int i = 0; i < num_outputs; i++)
        results[i] = in[2 + i];
    status = mxl_invoke(op, NULL, 2, in, num_outputs, results, mode);
    for (int i = 0; i < 2 + num_outputs; i++) {
        if (in[i] != NULL)
            mxl_handle_unpin((uint64_t)(uintptr_t)given[i]);
    }
    for (int i = 0; i < num_outputs && status == 0; i++) {
        if (out[i] != NULL)
            continue;
        out[i] = (H)(uintptr_t)mxl_handle_new(MXL_KIND_ARRAY, &results[i]->ref);
        if (out[i] == NULL) {
            mxl_array_release(results[i]);
            status = -1;
        }
    }
    return status;
}

static H run1(const mxl_op *op, H a, H b)
{
    H out = NULL;

    CHECK_INT(run(op, true, a, b, 1, &out), 0);
    return out;
}

static const MXLBackwardOptions keep = {.keep_graph = 1, .dialect = 1}, plain = {.dialect = 1};

/* d head / d variable; NULL with the message. */
static H gradient(H head, H variable, bool create)
{
    MXLBackwardOptions options = {.keep_graph = create, .create_graph = create, .dialect = 1};
    int root_output = 0, output = 0;
    N root = edge_of(head, &root_output), node = edge_of(variable, &output);
    H grad = NULL;

    (void)MXLBackward(1, &root, &root_output, NULL, &options, 1, &node, &output, &grad);
    CHECK_INT(MXLNodeFree(root), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    return grad;
}

/* ---- tests ---- */

/* One node with the label and both inputs as it leads on; without a label, the nodes of the parts.
 */
TEST(one_node)
{
    H a = leaf(VEC(2, 3)), b = leaf(VEC(5, 7)), y = run1(&aab, a, b), z = NULL;
    N node = edge_of(y, NULL), next;
    uint64_t version = 1;

    CHECK_STR(name_of(node), "MineBackward0");
    CHECK_NEAR(at(y, 1), 63, 0);
    CHECK_INT(MXLNDArrayGetVersion(y, &version), 0);
    CHECK_INT(version, 0);
    next = step(node, 1);
    CHECK_STR(name_of(next), "AccumulateGrad");
    CHECK_INT(MXLNodeFree(next), 0);
    CHECK_INT(run(&aab, false, a, b, 1, &z), 0);
    node = edge_of(z, NULL);
    CHECK_STR(name_of(node), "MulBackward0");
    next = step(node, 0);
    CHECK_STR(name_of(next), "MulBackward0");
    CHECK_INT(MXLNodeFree(next), 0);
    drop(z);
    drop(y);
    drop(b);
    drop(a);
}

/* f = a a b: all derivatives up to the third, of each input alone. */
TEST(three_orders)
{
    H a = leaf(VEC(2, 3)), b = leaf(VEC(5, 7)), y = run1(&aab, a, b);
    H da = gradient(y, a, true), daa, dab, daab;

    CHECK_NEAR(at(da, 1), 2 * 3 * 7, 0);
    daa = gradient(da, a, true);
    dab = gradient(da, b, true);
    CHECK_NEAR(at(daa, 1), 2 * 7, 0);
    CHECK_NEAR(at(dab, 1), 2 * 3, 0);
    daab = gradient(daa, b, false);
    CHECK_NEAR(at(daab, 0), 2, 0);
    drop(daab);
    drop(dab);
    drop(daa);
    drop(da);
    drop(y);
    drop(b);
    drop(a);
}

/* f(x, x) = x^3, and f(x, 2 x) = 2 x^3: inputs that are one array, or depend on one another. */
TEST(inputs_that_depend)
{
    for (int factor = 1; factor <= 2; factor++) {
        H x = leaf(VEC(2, 3)), one = VEC(1, 1), u = factor == 1 ? x : run1(&fast, x, one);
        H y = run1(&aab, x, u), first, second, third;

        CHECK_NEAR(at(y, 1), factor * 27, 0);
        first = gradient(y, x, true);
        CHECK_NEAR(at(first, 1), factor * 27, 0);
        second = gradient(first, x, true);
        CHECK_NEAR(at(second, 1), factor * 18, 0);
        third = gradient(second, x, false);
        CHECK_NEAR(at(third, 0), factor * 6, 0);
        drop(third);
        drop(second);
        drop(first);
        drop(y);
        if (u != x)
            drop(u);
        drop(one);
        drop(x);
    }
}

/* A kernel forward, the composition backward. */
TEST(with_a_kernel)
{
    H a = leaf(VEC(2, 3)), b = VEC(5, 7), y = run1(&fast, a, b), first;
    N node = edge_of(y, NULL);

    CHECK_STR(name_of(node), "MineBackward0");
    CHECK_INT(MXLNodeFree(node), 0);
    first = gradient(y, a, false);
    CHECK_NEAR(at(first, 1), 14, 0);
    drop(first);
    drop(y);
    drop(b);
    drop(a);
}

/* A second backward without retain_graph is an error; so is an edit of a saved input. */
TEST(released_and_edited)
{
    H a = leaf(VEC(2, 3)), one = VEC(1, 1), c = NULL, y;

    y = run1(&aab, a, one);
    CHECK_INT(run_from(y, &keep), 0);
    CHECK_INT(run_from(y, &plain), 0);
    CHECK_NEAR(grad_at(a, 1), 12, 0);
    CHECK_INT(run_from(y, &plain), -1);
    CHECK_HAS(MXGetLastError(), "have been released by an earlier backward");
    drop(y);
    c = op_scalar("_mul_scalar", one, "3");
    y = run1(&aab, a, c);
    CHECK_INT(op_into("square", 1, &c, c), 0);
    CHECK_INT(run_from(y, &plain), -1);
    CHECK_HAS(MXGetLastError(), "saved for backward, was edited in place by square");
    drop(y);
    drop(c);
    drop(one);
    drop(a);
}

/* (a b, a): both gradients, one alone; an output that is an input has memory of its own. */
TEST(several_outputs)
{
    H a = leaf(VEC(2, 3)), b = leaf(VEC(5, 7)), out[2] = {NULL, NULL}, sum, first;
    int output = 0;
    N node;

    CHECK_INT(run(&pair, true, a, b, 2, out), 0);
    node = edge_of(out[1], &output);
    CHECK_INT(output, 1);
    CHECK_STR(name_of(node), "MineBackward0");
    CHECK_INT(MXLNodeFree(node), 0);
    first = gradient(out[0], a, true);
    CHECK_NEAR(at(first, 1), 7, 0);
    drop(first);
    first = gradient(out[1], a, true);
    CHECK_NEAR(at(first, 1), 1, 0);
    drop(first);
    sum = run1(&aab, out[1], out[0]); /* a^3 b */
    first = gradient(sum, a, true);
    CHECK_NEAR(at(first, 1), 3 * 9 * 7, 0);
    drop(first);
    drop(sum);
    CHECK_INT(MXLSetGradMode(0, NULL), 0);
    CHECK_INT(op_into("square", 1, &a, a), 0);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    CHECK_NEAR(at(out[1], 1), 3, 0);
    drop(out[0]);
    drop(out[1]);
    drop(b);
    drop(a);
}

/* y = 2 a; y becomes f(y, b): the node saves what y was. An array that does not fit is an error. */
TEST(in_place)
{
    H a = leaf(VEC(2, 3)), b = leaf(VEC(5, 7)), two = VEC(1, 1), y = run1(&fast, a, two);
    H short_one = VEC(1);
    N node;

    CHECK_INT(run(&aab, true, a, b, 1, &short_one), -1);
    CHECK_HAS(MXGetLastError(), "aab: the output given has shape (1,), the result has (2,)");
    CHECK_INT(run(&aab, true, y, b, 1, &y), 0);
    node = edge_of(y, NULL);
    CHECK_STR(name_of(node), "MineBackward0");
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_NEAR(at(y, 1), 36 * 7, 0);
    CHECK_INT(run_from(y, &plain), 0);
    CHECK_NEAR(grad_at(a, 1), 8 * 3 * 7, 0);
    CHECK_NEAR(grad_at(b, 1), 36, 0);
    drop(short_one);
    drop(y);
    drop(two);
    drop(b);
    drop(a);
}

/* The call and a backward with create_graph, with each allocation failing once. */
static bool composite(stage *s)
{
    MXLBackwardOptions options = {.keep_graph = 1, .create_graph = 1, .dialect = 1};
    H y = NULL, grad = NULL;
    N node[2] = {NULL, NULL};
    int output[2] = {0, 0};
    bool ok = failing(run(&aab, true, s->x, s->w, 1, &y) == 0) &&
              failing(MXLNDArrayGetEdge(y, &node[0], &output[0]) == 0) &&
              failing(MXLNDArrayGetEdge(s->x, &node[1], &output[1]) == 0) &&
              failing(MXLBackward(1, &node[0], &output[0], NULL, &options, 1, &node[1], &output[1],
                                  &grad) == 0);

    if (ok)
        CHECK_NEAR(at(grad, 1), 2 * 3 * 7, 0);
    CHECK_INT(MXLNodeFree(node[0]), 0);
    CHECK_INT(MXLNodeFree(node[1]), 0);
    let_go(grad);
    let_go(y);
    return ok;
}

WALK(failing_allocations, composite, true)

WALK_MAIN(ENTRY(one_node), ENTRY(three_orders), ENTRY(inputs_that_depend), ENTRY(with_a_kernel),
          ENTRY(released_and_edited), ENTRY(several_outputs), ENTRY(in_place),
          ENTRY(failing_allocations))
