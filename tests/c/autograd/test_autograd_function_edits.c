/* MXLFunctionRecord with inputs edited by the function, or after their creation. */
#include "function_kit.h"

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

/* A variable that was edited would lead to itself. */
TEST(edits_of_variables)
{
    rule r = {.factor = {3}};
    H x = leaf(VEC(1, 2)), v = part(x, "0");

    CHECK_FAILS(function(&r, 1, &x, 1, &x), "a variable whose gradient is wanted");
    CHECK_FAILS(function(&r, 1, &v, 1, &v), "a view of a variable whose gradient is wanted");
    CHECK_INT(r.released, 0);
    CHECK_INT(MXLSetGradMode(0, NULL), 0);
    CHECK_INT(function(&r, 1, &x, 1, &x), 0);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    drop(v);
    drop(x);
}

/* An input that is a view of an array edited since has its present edge: y = 2x, v = y[1],
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

/* A value that was kept in another form gets its edge again, of a node or of a variable. */
TEST(a_value_that_is_placed)
{
    H x = leaf(VEC(1, 2)), y = torch1("_mul_scalar", x, "scalar", "2"), value = VEC(7, 8), at;
    N node = edge_of(y, NULL), variable = edge_of(x, NULL);

    CHECK_INT(MXLNDArrayPlace(value, node, 0, &at), 0);
    CHECK_INT(run_from(at, &keep), 0);
    CHECK_NEAR(grad_at(x, 1), 2, 0);
    drop(at);
    CHECK_INT(MXLNDArrayPlace(value, variable, 0, &at), 0);
    CHECK_INT(run_from(at, &keep), 0);
    CHECK_NEAR(grad_at(x, 1), 3, 0);
    drop(at);
    CHECK_FAILS(MXLNDArrayPlace(value, node, 1, &at), "output 1 of a node with 1");
    CHECK(at == NULL);
    drop(value);
    value = VEC(7, 8, 9);
    CHECK_FAILS(MXLNDArrayPlace(value, node, 0, &at), "has not the shape and dtype of output 0");
    CHECK_FAILS(MXLNDArrayPlace(value, variable, 0, &at),
                "has not the shape and dtype of output 0");
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(MXLNodeFree(variable), 0);
    drop(value);
    drop(y);
    drop(x);
}

/* A change of shape in place: a variable takes it on, and so does what was computed, with the
 * view's place; a view, or elements that come to lie in another order, leave it to the other view.
 */
TEST(an_array_that_is_turned)
{
    int64_t square[2] = {2, 2}, shape[2];
    H x = leaf(VEC(1, 2, 3, 4)), y = torch1("_mul_scalar", x, "scalar", "2"),
      view = torch1("expand_dims", y, "axis", "0"), own;
    MXLNodeHandle places[2];
    uint64_t ids[2];
    int kept = -1, output;

    CHECK_INT(MXLNDArrayTurn(y, view, &kept), 0);
    CHECK_INT(kept, 1);
    CHECK_INT(MXLNDArrayGetInfo(y, 2, shape, NULL), 2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXLNDArrayGetEdge(i == 0 ? y : view, &places[i], &output), 0);
        CHECK_INT(MXLNodeGetId(places[i], &ids[i]), 0);
        CHECK_INT(MXLNodeFree(places[i]), 0);
    }
    CHECK(ids[0] == ids[1]);
    for (int i = 0; i < 2; i++) { /* of what was computed, one that is not recorded */
        own = MXLNDArrayReshape(i == 0 ? view : y, 2, square, 0);
        CHECK_INT(MXLNDArrayTurn(i == 0 ? view : y, own, &kept), 0);
        CHECK_INT(kept, 0);
        drop(own);
    }
    drop(view);
    own = MXLNDArrayReshape(x, 2, square, 0);
    CHECK_INT(MXLNDArrayTurn(x, own, &kept), 0);
    CHECK_INT(kept, 1);
    CHECK_INT(MXLNDArrayGetInfo(x, 2, shape, NULL), 2);
    CHECK_FAILS(run_from(y, &keep), "arrived at a variable of shape (2,2)");
    drop(own);
    drop(y);
    y = torch1("_mul_scalar", x, "scalar", "2");
    own = torch1("transpose", y, NULL, NULL);
    CHECK_INT(MXLNDArrayTurn(y, own, &kept), 0);
    CHECK_INT(kept, 0);
    drop(own);
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

/* f returns a view of y = 2x. An edit of y, of the view or of a part of it would attach the view to
 * y's elements, and f's vjp would not be called. */
TEST(a_view_that_a_function_returns)
{
    rule r = {.factor = {-1}};
    H x = leaf(VEC(1, 2)), y = torch1("_mul_scalar", x, "scalar", "2"), v, part_of_v;
    int number;
    N node;

    CHECK_INT(MXLSetGradMode(0, &number), 0);
    v = torch1("_mxl_reshape_to", y, "shape", "(2,)");
    CHECK_INT(MXLSetGradMode(number, &number), 0);
    CHECK_INT(function(&r, 1, &y, 1, &v), 1);
    part_of_v = part(v, "0");
    CHECK_FAILS(MXLNDArrayCheckEdit(v), "a custom function returned");
    CHECK_FAILS(MXLNDArrayCheckEdit(part_of_v), "a custom function returned");
    CHECK_INT(run_from(v, &keep), 0);
    CHECK_NEAR(grad_at(x, 1), -2, 0);
    write_over(y, 3);
    CHECK_FAILS(MXLNDArrayGetEdge(v, &node, &number), "a custom function returned");
    CHECK_FAILS(MXLNDArrayGetEdge(part_of_v, &node, &number), "a custom function returned");
    CHECK_INT(r.calls, 1);
    drop(part_of_v);
    drop(v);
    drop(y);
    drop(x);
    CHECK_INT(r.released, 1);
}

HARNESS_MAIN(ENTRY(edits_its_input), ENTRY(edits_of_variables), ENTRY(edits_a_view),
             ENTRY(writes_over_a_view), ENTRY(an_edited_view_that_is_kept),
             ENTRY(an_input_that_is_out_of_date), ENTRY(a_pin_that_is_out_of_date),
             ENTRY(a_value_that_is_placed), ENTRY(an_array_that_is_turned),
             ENTRY(a_view_among_several_outputs), ENTRY(a_view_that_a_function_returns))
