/* PyTorch's front end from C: results that share memory, edits in place that the tape follows, and
 * refused edits. Expected gradients are derived by hand beside each test. */
#include "engine_kit.h"

/* One operator in PyTorch's dialect, with up to two parameters as text. */
static MXLCallHandle prepared(const char *name, const char *key, const char *value,
                              const char *key2, const char *value2)
{
    const char *keys[2] = {key, key2}, *values[2] = {value, value2};
    MXLCallHandle call = NULL;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name,
                           key == NULL    ? 0
                           : key2 == NULL ? 1
                                          : 2,
                           keys, values, 0, NULL, &call),
              0);
    return call;
}

static H torch1(const char *name, H a, const char *key, const char *value)
{
    H out = MXLCall1(prepared(name, key, value, NULL, NULL), a);

    if (!CHECK(out != NULL))
        CHECK_STR(MXGetLastError(), name);
    return out;
}

static H torch2(const char *name, H a, H b)
{
    H out = MXLCall2(prepared(name, NULL, NULL, NULL, NULL), a, b);

    CHECK(out != NULL);
    return out;
}

static H pick(H a, const char *axis, const char *index)
{
    H out = MXLCall1(prepared("_mxl_select", "axis", axis, "index", index), a);

    CHECK(out != NULL);
    return out;
}

/* `a` becomes what the operator makes of it (and b); the status. */
static int edit(const char *name, H a, H b, const char *scalar)
{
    H in[2] = {a, b};
    int count = 1;

    return MXLCallInto(prepared(name, scalar == NULL ? NULL : "scalar", scalar, NULL, NULL),
                       b == NULL ? 1 : 2, in, NULL, &count, &a);
}

static H matrix(const double *values)
{
    int64_t shape[2] = {2, 3};
    H out = make(F64, 2, shape);

    fill(out, values, 6);
    return out;
}

static void leaf(H a)
{
    uint32_t req = REQ_ADD;
    H none = NULL;

    CHECK_INT(MXAutogradMarkVariables(1, &a, &req, &none), 0);
}

static uint64_t version(H a)
{
    uint64_t out = 0;

    CHECK_INT(MXLNDArrayGetVersion(a, &out), 0);
    return out;
}

static const double six[6] = {0, 1, 2, 3, 4, 5};

/* t = x^T, p = t[1], r = t as (6): all but r, whose elements are in another order, are x's memory.
 */
TEST(views_share_memory)
{
    H x = matrix(six), t = torch1("transpose", x, NULL, NULL), p = pick(t, "0", "1");
    H r = torch1("_mxl_reshape_to", t, "shape", "(6,)"), w = torch1("expand_dims", p, "axis", "0");

    CHECK_NEAR(at(t, 1), 3, 0);
    CHECK_NEAR(at(p, 1), 4, 0);
    CHECK_NEAR(at(r, 5), 5, 0);
    CHECK_INT(edit("_mul_scalar", x, NULL, "10"), 0);
    CHECK_NEAR(at(t, 1), 30, 0);
    CHECK_NEAR(at(w, 1), 40, 0);
    CHECK_NEAR(at(r, 5), 5, 0);
    CHECK_INT(version(p), version(x));
    drop(w);
    drop(r);
    drop(p);
    drop(t);
    drop(x);
}

/* y = 2x, y *= 3: dy/dx = 6; one node after another. */
TEST(whole_array)
{
    H x = VEC(1, 2), y, z;

    leaf(x);
    y = torch1("_mul_scalar", x, "scalar", "2");
    CHECK_INT(version(y), 0);
    CHECK_INT(edit("_mul_scalar", y, NULL, "3"), 0);
    CHECK_INT(version(y), 1);
    z = torch2("broadcast_mul", y, y); /* 36 x^2 */
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 1), 144, 0);
    drop(z);
    drop(y);
    drop(x);
}

/* y = 2x; v = y[1]; v *= 3; v *= w; z = (y^T)^2, taken before the last edit: d z/dx = 8x in row 0,
 * 8 (3w)^2 x in row 1; dw = 2 * (6 x1)^2 w. */
TEST(through_a_view)
{
    H x = matrix(six), w = VEC(1, 2, 3), y, v, t, z;

    leaf(x);
    leaf(w);
    y = torch1("_mul_scalar", x, "scalar", "2");
    v = pick(y, "0", "1");
    CHECK_INT(edit("_mul_scalar", v, NULL, "3"), 0);
    t = torch1("transpose", y, NULL, NULL);
    CHECK_INT(edit("broadcast_mul", v, w, NULL), 0);
    z = torch2("broadcast_mul", t, t);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 1), 8, 0);
    CHECK_NEAR(grad_at(x, 3), 216, 0);
    CHECK_NEAR(grad_at(x, 5), 3240, 0);
    CHECK_NEAR(grad_at(w, 2), 5400, 0);
    drop(z);
    drop(t);
    drop(v);
    drop(y);
    drop(w);
    drop(x);
}

/* b of zeros takes w into its row 0 and a number into its row 1: dw = head. */
TEST(into_a_constant)
{
    H b = matrix((double[6]){0}), w = VEC(1, 2, 3), row0, row1, z;

    leaf(w);
    row0 = pick(b, "0", "0");
    CHECK_INT(edit("_mxl_copy_over", row0, w, NULL), 0);
    row1 = pick(b, "0", "1");
    CHECK_INT(edit("_mxl_fill", row1, NULL, "7"), 0);
    z = torch2("broadcast_mul", b, b);
    CHECK_NEAR(at(z, 2), 9, 0);
    CHECK_NEAR(at(z, 4), 49, 0);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(w, 2), 6, 0);
    drop(z);
    drop(row1);
    drop(row0);
    drop(w);
    drop(b);
}

/* A rule that reads the value before the edit has a copy of it; one of another node finds the edit,
 * and says who made it. */
TEST(saved_values)
{
    H x = VEC(1, 2), y, q;

    leaf(x);
    y = torch1("_mul_scalar", x, "scalar", "2");
    q = torch1("square", y, NULL, NULL);
    CHECK_INT(edit("square", y, NULL, NULL), 0); /* (2x)^2 */
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 1), 16, 0);
    CHECK_INT(backward(q), -1);
    CHECK_HAS(MXGetLastError(), "saved for backward, was edited in place by square");
    CHECK_HAS(MXGetLastError(), "version 1, expected version 0");
    drop(q);
    drop(y);
    drop(x);
}

TEST(refused)
{
    H x = matrix(six), v, wide, y, u;
    H one = VEC(1);
    int before;

    leaf(x);
    v = pick(x, "0", "0");
    CHECK_INT(edit("_mul_scalar", x, NULL, "2"), -1);
    CHECK_HAS(MXGetLastError(), "a variable whose gradient is wanted");
    CHECK_INT(edit("_mul_scalar", v, NULL, "2"), -1);
    CHECK_HAS(MXGetLastError(), "a view of a variable whose gradient is wanted");
    wide = torch1("_mxl_broadcast_to", one, "shape", "(3,)");
    CHECK_INT(edit("_mul_scalar", wide, NULL, "2"), -1);
    CHECK_HAS(MXGetLastError(), "share memory");
    CHECK_INT(MXLSetGradMode(0, &before), 0);
    CHECK_INT(before, 1);
    CHECK_INT(edit("_mul_scalar", x, NULL, "2"), 0);
    CHECK_NEAR(at(v, 2), 4, 0);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    y = torch1("_mul_scalar", x, "scalar", "2");
    CHECK_INT(MXLSetGradMode(0, NULL), 0);
    u = pick(y, "0", "0");
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    CHECK_INT(edit("_mul_scalar", u, NULL, "2"), -1);
    CHECK_HAS(MXGetLastError(), "while nothing was recorded");
    CHECK_NEAR(at(y, 2), 8, 0);
    drop(u);
    drop(y);
    drop(wide);
    drop(v);
    drop(one);
    drop(x);
}

/* MXNet's functions with edits followed: y[1:2] *= 3 by its view, then y as a whole. */
TEST(in_mxnets_dialect)
{
    H x = VEC(1, 2), y, v, in[1], z;
    int before;

    attach(x, REQ_WRITE);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    v = MXLNDArraySlice(y, 1, 2);
    REQUIRE(v != NULL);
    in[0] = v;
    CHECK_INT(op_into("square", 1, in, v), -1); /* the strict rule */
    CHECK_INT(MXLSetInplace(1, &before), 0);
    CHECK_INT(before, 0);
    CHECK_INT(op_into("square", 1, in, v), 0);
    z = MUL(y, y); /* (2x)^2, (2x)^4 */
    record(false);
    CHECK_INT(MXLSetInplace(0, NULL), 0);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 0), 8, 0);
    CHECK_NEAR(grad_at(x, 1), 512, 0);
    drop(z);
    drop(v);
    drop(y);
    drop(x);
}

/* A rule that reads what the view became, recorded: y = 2x, v = y[1], v = exp(v); d2/dx2 = 4
 * exp(2x). What the node has saved gets no place by it: the node would lead to itself and stay (the
 * harness finds it). */
TEST(twice_through_a_view)
{
    double e = exp(4);
    H x = matrix((double[6]){0, 0, 0, 2, 2, 2}), y, v, first, second;

    leaf(x);
    y = torch1("_mul_scalar", x, "scalar", "2");
    v = pick(y, "0", "1");
    CHECK_INT(edit("exp", v, NULL, NULL), 0);
    first = derivative(y, x, 1, 1);
    REQUIRE(first != NULL);
    CHECK_NEAR(at(first, 1), 2, 0);
    CHECK_NEAR(at(first, 4), 2 * e, 1e-12);
    second = derivative(first, x, 1, 0);
    REQUIRE(second != NULL);
    CHECK_NEAR(at(second, 1), 0, 0);
    CHECK_NEAR(at(second, 4), 4 * e, 1e-12);
    drop(second);
    drop(first);
    drop(v);
    drop(y);
    drop(x);
}

/* What was a variable once, is saved by a node, and is then edited by what came of that: the node
 * does not lead to itself (the harness finds what stays). x = c w, c = c x. */
TEST(edits_of_former_variables)
{
    H c = VEC(3), w = VEC(5), x;

    leaf(w);
    leaf(c);
    CHECK_INT(MXLNDArraySetRequiresGrad(c, 0), 0);
    x = torch2("broadcast_mul", c, w);
    CHECK_INT(edit("broadcast_mul", c, x, NULL), 0);
    CHECK_NEAR(at(c, 0), 45, 0);
    CHECK_INT(backward_full(x, NULL, 1, 0), -1); /* c was edited since it was saved */
    CHECK_HAS(MXGetLastError(), "saved for backward, was edited in place");
    drop(x);
    drop(w);
    drop(c);
}

/* Heads of MXAutogradBackwardEx that are views of an array edited since have their present edge.
 * y = 2x, v = y[1:2], u = y[1:3]; y = y^2 by itself, then u = u^2: v = (2x)^4, dv/dx1 = 64 x1^3. */
TEST(heads_that_are_out_of_date)
{
    H x = VEC(1, 2, 3), y, v, u, c, g, in[1];

    attach(x, REQ_WRITE);
    CHECK_INT(MXLSetInplace(1, NULL), 0);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    v = MXLNDArraySlice(y, 1, 2);
    u = MXLNDArraySlice(y, 1, 3);
    REQUIRE(v != NULL && u != NULL);
    in[0] = y;
    CHECK_INT(op_into("square", 1, in, y), 0);
    record(false);
    CHECK_INT(backward_full(v, NULL, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    CHECK_NEAR(grad_at(x, 1), 16, 0);
    CHECK_NEAR(grad_at(x, 2), 0, 0);
    record(true);
    in[0] = u;
    CHECK_INT(op_into("square", 1, in, u), 0);
    record(false);
    CHECK_NEAR(at(v, 0), 256, 0);
    CHECK_INT(MXLSetInplace(0, NULL), 0); /* what was recorded counts, not what is set now */
    CHECK_INT(backward_full(v, NULL, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    CHECK_NEAR(grad_at(x, 1), 512, 0);
    CHECK_NEAR(grad_at(x, 2), 0, 0);
    CHECK_INT(MXLSetInplace(1, NULL), 0);
    g = derivative(v, x, 1, 0);
    REQUIRE(g != NULL);
    CHECK_NEAR(at(g, 1), 512, 0);
    drop(g);
    /* As a requested variable: nothing was computed from its present edge. */
    record(true);
    g = op1("square", v);
    in[0] = y;
    CHECK_INT(op_into("tanh", 1, in, y), 0);
    record(false);
    CHECK(derivative(g, v, 1, 0) == NULL);
    CHECK_HAS(MXGetLastError(), "variable 0 is not reached");
    /* Constants over all of it: the view leads nowhere. */
    c = VEC(0, 0, 0);
    record(true);
    CHECK_INT(op_into("_copyto", 1, &c, y), 0);
    record(false);
    CHECK_FAILS(backward(v), "head 0 is not in a recorded graph");
    CHECK_INT(MXLSetInplace(0, NULL), 0);
    drop(c);
    drop(g);
    drop(u);
    drop(v);
    drop(y);
    drop(x);
}

/* Views that are edited by what has more outputs: one that callers do not see is nothing to follow,
 * two that they see cannot be. */
TEST(several_outputs)
{
    const char *keys[3] = {"num_outputs", "axis", "squeeze_axis"}, *values[3] = {"2", "0", "1"};
    H x = matrix(six), y, v, outputs[2] = {NULL, NULL}, z;
    MXLCallHandle split = NULL, dropout = NULL;
    int count = 2;

    leaf(x);
    y = torch1("_mul_scalar", x, "scalar", "2");
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "split", 3, keys, values, 0, NULL, &split), 0);
    v = pick(y, "0", "1");
    outputs[1] = v;
    CHECK_FAILS(MXLCallInto(split, 1, &x, NULL, &count, outputs),
                "a view is edited by an operator with 2 outputs");
    CHECK_NEAR(at(y, 5), 10, 0);
    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "Dropout", 1, (const char *[]){"p"},
                           (const char *[]){"0"}, 0, NULL, &dropout),
              0);
    count = 1;
    CHECK_INT(MXLCallInto(dropout, 1, &v, NULL, &count, &v), 0);
    z = torch2("broadcast_mul", y, y);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 1), 8, 0);
    CHECK_NEAR(grad_at(x, 5), 40, 0);
    drop(z);
    drop(v);
    drop(y);
    drop(x);
}

static int keep_grad(void *payload, int count, const H *grads, H *results)
{
    H *kept = payload;

    (void)count;
    (void)results;
    CHECK(*kept == NULL); /* once */
    *kept = grads[0];
    return 0;
}

/* A hook that was registered as `last` is on the value that its array has now, others stay. */
TEST(what_keeps_a_gradient_follows)
{
    H x = VEC(1, 2), y, v, z, last = NULL, first = NULL;

    attach(x, REQ_WRITE);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
    y = torch1("_mul_scalar", x, "scalar", "2");
    CHECK_INT(MXLNDArrayAddHook(y, keep_grad, 1, &last, NULL, NULL), 0);
    CHECK_INT(MXLNDArrayAddHook(y, keep_grad, 0, &first, NULL, NULL), 0);
    CHECK_INT(edit("_mul_scalar", y, NULL, "3"), 0);
    v = pick(y, "0", "1");
    CHECK_INT(edit("_mul_scalar", v, NULL, "5"), 0); /* y is its base */
    z = torch1("_mul_scalar", y, "scalar", "7");
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(at(last, 0), 7, 0);
    CHECK_NEAR(at(last, 1), 7, 0);
    CHECK_NEAR(at(first, 0), 21, 0);
    CHECK_NEAR(at(first, 1), 105, 0);
    CHECK_NEAR(grad_at(x, 1), 210, 0);
    drop(last);
    drop(first);
    drop(z);
    drop(v);
    drop(y);
    drop(x);
}

/* A view of what became recorded after it was taken is no variable, and cannot become one. */
TEST(late_views_are_no_variables)
{
    H b = matrix(six), row = pick(b, "0", "1"), x = matrix(six);

    leaf(x);
    CHECK_INT(edit("broadcast_mul", b, x, NULL), 0);
    CHECK_FAILS(MXLNDArraySetRequiresGrad(row, 1), "a recorded operator made the array");
    CHECK_FAILS(MXLNDArraySetRequiresGrad(b, 1), "a recorded operator made the array");
    drop(x);
    drop(row);
    drop(b);
}

HARNESS_MAIN(ENTRY(views_share_memory), ENTRY(whole_array), ENTRY(through_a_view),
             ENTRY(into_a_constant), ENTRY(saved_values), ENTRY(refused), ENTRY(in_mxnets_dialect),
             ENTRY(heads_that_are_out_of_date), ENTRY(twice_through_a_view),
             ENTRY(edits_of_former_variables), ENTRY(several_outputs),
             ENTRY(late_views_are_no_variables), ENTRY(what_keeps_a_gradient_follows))
