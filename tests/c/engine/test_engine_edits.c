/* Writes to arrays of a graph: saved tensors edited later, in-place writes while recording, and the
 * cycles that such writes must not make. */
#include "engine_kit.h"

/* ---- edited since ---- */

TEST(edited_saved_value)
{
    H x = VEC(3), y, z;

    attach_start(x, REQ_ADD, 1);
    record(true);
    y = MUL(x, x);
    z = op_scalar("_mul_scalar", y, "2");
    record(false);
    fill(x, (double[]){100}, 1);
    CHECK_FAILS(backward(z), "broadcast_mul");
    CHECK_HAS(MXGetLastError(), "edited");
    CHECK_NEAR(grad_at(x, 0), 1, 0);
    CHECK_INT(fresh(x), 0);
    CHECK_FAILS(backward(z), "edited"); /* the same error, not "released" */
    drop(z);
    drop(y);
    /* an output that its rule reads */
    record(true);
    y = op1("exp", x);
    record(false);
    fill(y, (double[]){5}, 1);
    CHECK_FAILS(backward(y), "edited");
    drop(y);
    /* behind the engine's back, and told */
    record(true);
    y = op1("square", x);
    record(false);
    CHECK_INT(MXLNDArrayBumpVersion(x), 0);
    CHECK_FAILS(backward(y), "square");
    drop(y);
    /* what no rule reads may change */
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    z = op_scalar("_mul_scalar", y, "3");
    record(false);
    fill(x, (double[]){1}, 1);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 0), 7, 0);
    drop(z);
    drop(y);
    drop(x);
}

/* An input that a recorded operator would overwrite: refused, as in 1.9.1. */
TEST(edited_by_itself)
{
    H x = VEC(3), c = VEC(4);
    H in[2] = {x, c};

    attach(x, REQ_WRITE);
    record(true);
    CHECK_FAILS(op_into("broadcast_mul", 2, in, c),
                "edits in place (+=, x[:] = y, out=) are not recorded");
    CHECK_NEAR(at(c, 0), 4, 0);
    in[0] = c; /* nothing wants a gradient: not recorded, and allowed */
    CHECK_INT(op_into("broadcast_mul", 2, in, c), 0);
    record(false);
    CHECK_NEAR(at(c, 0), 16, 0);
    drop(c);
    drop(x);
}

/* ---- in-place writes while recording ---- */

TEST(in_place_refused)
{
    H x = VEC(3, 4), c = VEC(1, 1), y, part;
    H in[2] = {c, c};

    attach(x, REQ_WRITE);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    CHECK_FAILS(op_into("broadcast_add", 2, in, y),
                "edits in place (+=, x[:] = y, out=) are not recorded");
    CHECK_FAILS(op_into("broadcast_add", 2, in, x),
                "edits in place (+=, x[:] = y, out=) are not recorded");
    part = MXLNDArraySlice(y, 0, 1);
    REQUIRE(part != NULL);
    CHECK_INT(op_into("_copyto", 1, &c, part), -1);
    CHECK_NEAR(at(x, 0), 3, 0);
    CHECK_NEAR(at(y, 0), 6, 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    /* released now: a constant, and may be written to */
    CHECK_INT(op_into("broadcast_add", 2, in, y), 0);
    record(false);
    CHECK_INT(op_into("broadcast_add", 2, in, x), 0); /* not recording */
    CHECK_NEAR(at(x, 0), 2, 0);
    drop(part);
    drop(y);
    drop(c);
    drop(x);
}

TEST(in_place_recorded)
{
    H x = VEC(3, 4), z = VEC(0, 0), y, q, part, shut = VEC(0, 0), none = NULL;
    H in[2];

    attach(x, REQ_WRITE);
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    record(true);
    y = op1("square", x);
    CHECK_INT(op_into("_copyto", 1, &y, z), 0); /* z[:] = y */
    CHECK_FAILS(op_into("_copyto", 1, &y, z),
                "edits in place (+=, x[:] = y, out=) are not recorded");
    in[0] = z;
    in[1] = x;
    CHECK_INT(op_into("broadcast_mul", 2, in, none), 0); /* out= without a shape */
    q = op_scalar("_mul_scalar", none, "2");             /* 2 x^3 */
    /* a part of an array: not with a recorded value, but with a constant */
    part = MXLNDArraySlice(shut, 1, 2);
    REQUIRE(part != NULL);
    in[0] = MXLNDArraySlice(y, 0, 1);
    CHECK_FAILS(op_into("_copyto", 1, in, part), "part of another array");
    CHECK_NEAR(at(shut, 1), 0, 0);
    drop(in[0]);
    in[0] = VEC(5);
    CHECK_INT(op_into("_copyto", 1, in, part), 0);
    CHECK_NEAR(at(shut, 1), 5, 0);
    record(false);
    CHECK_INT(backward(q), 0);
    CHECK_NEAR(grad_at(x, 0), 6 * 9, 0);
    CHECK_NEAR(grad_at(x, 1), 6 * 16, 0);
    drop(in[0]);
    drop(part);
    drop(shut);
    drop(q);
    drop(none);
    drop(z);
    drop(y);
    drop(x);
}

/* A recorded value into an array whose gradient request is null: the gradient would be lost without
 * a word, 1.9.1 refuses it too. A constant may be written. */
TEST(in_place_into_null_request)
{
    H x = VEC(3), z = VEC(0), y, c = VEC(8);

    attach(x, REQ_WRITE);
    attach(z, REQ_NULL);
    record(true);
    y = op1("square", x);
    CHECK_FAILS(op_into("_copyto", 1, &y, z), "copyto: ");
    CHECK_NEAR(at(z, 0), 0, 0);
    CHECK_INT(op_into("_copyto", 1, &c, z), 0);
    record(false);
    CHECK_NEAR(at(z, 0), 8, 0);
    drop(c);
    drop(y);
    drop(z);
    drop(x);
}

/* An array written into the graph after an operator saved it: no cycle keeps it alive (the harness
 * counts). */
TEST(no_cycle_by_out)
{
    H x = VEC(3), z = VEC(2), y;

    attach(x, REQ_WRITE);
    record(true);
    y = MUL(x, z); /* saves z */
    CHECK_INT(op_into("_copyto", 1, &y, z), 0);
    record(false);
    drop(y);
    drop(z);
    drop(x);
}

/* h was recorded, is saved by a node that lives, loses its own node to a backward, and then takes a
 * value computed from that node: h -> its new node -> ... -> the saved h must not be a circle. */
TEST(no_cycle_by_out_into_saved)
{
    H x = VEC(3), h, kept, first;

    attach(x, REQ_WRITE);
    record(true);
    h = MUL(x, x);
    kept = MUL(h, x); /* saves h */
    first = op1("_copy", h);
    CHECK_INT(backward(first), 0); /* releases the node of h */
    CHECK_INT(op_into("_copyto", 1, &kept, h), 0);
    record(false);
    drop(first);
    drop(kept);
    drop(h);
    drop(x);
}

/* x.grad -> graph -> x under create_graph with add: ends when the gradient is dropped. */
TEST(create_graph_cycle)
{
    H x = VEC(3), y, g, none = NULL;
    uint32_t req = REQ_NULL;

    attach(x, REQ_ADD);
    record(true);
    y = op1("square", x);
    CHECK_INT(backward_full(y, NULL, 1, 1), 0);
    g = grad_of(x);
    CHECK_INT(backward_full(y, NULL, 1, 1), 0); /* 4x now, with its graph */
    CHECK_NEAR(at(g, 0), 12, 0);
    record(false);
    H again = derivative(g, x, 1, 0);
    REQUIRE(again != NULL);
    CHECK_NEAR(at(again, 0), 4, 0);
    drop(again);
    fill(g, (double[]){1}, 1); /* set anew by its owner: a constant under what is added */
    record(true);
    CHECK_INT(backward_full(y, NULL, 1, 1), 0);
    record(false);
    CHECK_NEAR(at(g, 0), 7, 0);
    CHECK_INT(backward_full(g, NULL, 1, 0), 0); /* 2 more */
    CHECK_NEAR(at(g, 0), 9, 0);
    CHECK_FAILS(backward(g), "not in a recorded graph"); /* added to without a record */
    drop(y);
    drop(g);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &none), 0);
    drop(x);
}

/* A gradient buffer that is the variable, or a part of it, would keep it alive for ever. */
TEST(own_buffer_refused)
{
    H x = VEC(3, 4), part = MXLNDArraySlice(x, 0, 2);
    uint32_t req = REQ_WRITE;

    REQUIRE(part != NULL);
    CHECK_FAILS(MXAutogradMarkVariables(1, &x, &req, &x), "memory");
    CHECK_FAILS(MXAutogradMarkVariables(1, &x, &req, &part), "memory");
    drop(part);
    drop(x);
}

HARNESS_MAIN(ENTRY(edited_saved_value), ENTRY(edited_by_itself), ENTRY(in_place_refused),
             ENTRY(in_place_recorded), ENTRY(in_place_into_null_request), ENTRY(no_cycle_by_out),
             ENTRY(no_cycle_by_out_into_saved), ENTRY(create_graph_cycle),
             ENTRY(own_buffer_refused))
