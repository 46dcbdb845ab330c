/* What a graph keeps and when it lets go: release rules, edited values, in-place writes, errors
 * that change nothing, cycles, long chains. */
#include "engine_kit.h"

#include <pthread.h>

#include "array/array.h"
#include "base/handle.h"
#include "engine/backward.h"
#include "engine/invoke.h"
#include "engine/tape.h"

/* ---- release ---- */

TEST(released_graph_is_an_error)
{
    H x = VEC(3), y, z, q;

    attach(x, REQ_ADD);
    record(true);
    y = op1("square", x);
    z = op1("exp", y); /* recorded before the release */
    record(false);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 12, 0);
    CHECK_INT(MXNDArraySetGradState(x, 0), 0);
    CHECK_FAILS(backward(y), "square");
    CHECK_FAILS(backward(z), "retain_graph");
    CHECK_NEAR(grad_at(x, 0), 12, 0);
    CHECK_INT(fresh(x), 0);
    /* recorded after it: a constant */
    record(true);
    q = MUL(y, x);
    record(false);
    CHECK_INT(backward(q), 0);
    CHECK_NEAR(grad_at(x, 0), 21, 0);
    /* and nothing else wants a gradient: no graph */
    drop(q);
    record(true);
    q = op1("exp", y);
    record(false);
    CHECK_FAILS(backward(q), "not in a recorded graph");
    drop(q);
    drop(z);
    drop(y);
    drop(x);
}

/* h = h * w, batch after batch, without detach: the numbers of 1.9.1. */
TEST(hidden_state)
{
    H h = VEC(1, 1), w = VEC(2, 3);
    int64_t bytes = 0, now = 0;

    attach(w, REQ_WRITE);
    for (int batch = 0; batch < 40; batch++) {
        H next;

        record(true);
        next = MUL(h, w);
        record(false);
        drop(h);
        h = next;
        CHECK_INT(backward(h), 0);
        CHECK_NEAR(grad_at(w, 0), pow(2, batch), 0);
        CHECK_NEAR(at(h, 1), pow(3, batch + 1), 1e-12);
        CHECK_INT(MXLGetLiveBytes(&now), 0);
        if (batch == 5)
            bytes = now;
        CHECK(batch < 5 || now == bytes); /* earlier batches are gone */
    }
    drop(h);
    drop(w);
}

/* Several operators of the torch dialect; arrays are internal here. */
static mxl_array *torch_op(const char *name, mxl_array *a, mxl_array *b)
{
    mxl_mode mode = {.record = true, .dialect = &mxl_dialect_torch};
    mxl_array *in[2] = {a, b}, *out = NULL;
    const mxl_op *op = mxl_op_find(name);

    CHECK(op != NULL);
    if (op != NULL)
        CHECK_INT(mxl_invoke(op, NULL, b == NULL ? 1 : 2, in, 1, &out, mode), 0);
    return out;
}

static int torch_backward(mxl_array *head, bool retain)
{
    mxl_backward_args args = {
        .num_heads = 1, .heads = &head, .retain_graph = retain, .dialect = &mxl_dialect_torch};

    return mxl_backward(&args);
}

TEST(torch_release_rule)
{
    H x = VEC(3), seen;
    mxl_array *leaf = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)x);
    mxl_array *sum, *twice, *square, *top;

    REQUIRE(leaf != NULL);
    attach(x, REQ_ADD);
    sum = torch_op("broadcast_add", leaf, leaf); /* saves nothing */
    REQUIRE(sum != NULL);
    twice = torch_op("broadcast_add", sum, leaf);
    square = torch_op("square", sum, NULL);
    CHECK_INT(torch_backward(twice, false), 0);
    CHECK_INT(torch_backward(twice, false), 0); /* nothing was read that is gone */
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    top = torch_op("broadcast_mul", sum, leaf); /* a released node still stands in the graph */
    CHECK_INT(torch_backward(top, false), 0);   /* d (2x * x) = 4x */
    CHECK_NEAR(grad_at(x, 0), 18, 0);
    CHECK_INT(torch_backward(square, false), 0); /* 8x */
    CHECK_NEAR(grad_at(x, 0), 42, 0);
    CHECK_FAILS(torch_backward(square, false), "square: the values saved for backward");
    CHECK_NEAR(grad_at(x, 0), 42, 0);
    seen = grad_of(x);
    drop(seen);
    mxl_array_drop(top);
    mxl_array_drop(square);
    mxl_array_drop(twice);
    mxl_array_drop(sum);
    mxl_handle_unpin((uint64_t)(uintptr_t)x);
    drop(x);
}

/* ---- what is saved ---- */

static mxl_node *node_of(H array)
{
    mxl_array *a = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)array);
    mxl_node *node = a == NULL ? NULL : (mxl_node *)atomic_load(&a->target);

    if (a != NULL)
        mxl_handle_unpin((uint64_t)(uintptr_t)array);
    return node;
}

static int saved_inputs(H array)
{
    mxl_node *node = node_of(array);
    int bits = 0;

    for (int i = 0; node != NULL && i < node->num_inputs; i++)
        bits |= node->in_saved[i].array != NULL ? 1 << i : 0;
    return node == NULL ? -1 : bits;
}

TEST(saved_sets)
{
    H x = VEC(3), w = VEC(4), y;

    attach(x, REQ_WRITE);
    record(true);
    y = MUL(x, w);
    CHECK_INT(saved_inputs(y), 2); /* w alone */
    drop(y);
    y = MUL(w, x);
    CHECK_INT(saved_inputs(y), 1);
    drop(y);
    y = op2("elemwise_div", x, w);
    CHECK_INT(saved_inputs(y), 2);
    drop(y);
    y = MUL(x, x);
    CHECK_INT(saved_inputs(y), 3);
    drop(y);
    y = ADD(x, w);
    CHECK_INT(node_of(y)->saves_any, false);
    drop(y);
    y = op_scalar("_mul_scalar", x, "2");
    CHECK_INT(node_of(y)->saves_any, false);
    drop(y);
    y = op1("exp", x);
    CHECK_INT(saved_inputs(y), 0);
    CHECK(node_of(y)->out_saved[0].array != NULL);
    drop(y);
    y = MUL(w, w); /* nothing wants a gradient: no node */
    CHECK(node_of(y) == NULL);
    record(false);
    drop(y);
    drop(w);
    drop(x);
}

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
    CHECK_FAILS(op_into("broadcast_mul", 2, in, c), "in-place");
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
    CHECK_FAILS(op_into("broadcast_add", 2, in, y), "in-place");
    CHECK_FAILS(op_into("broadcast_add", 2, in, x), "in-place");
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
    CHECK_FAILS(op_into("_copyto", 1, &y, z), "in-place");
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
    CHECK_FAILS(op_into("_copyto", 1, &y, z), "_copyto");
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

/* ---- errors change nothing ---- */

TEST(bad_heads)
{
    H x = VEC(3, 4), c = VEC(1, 1), y, z, wide = VEC(1, 1, 1), single, none = NULL;
    int64_t two = 2;
    H heads[2], grads[2] = {NULL, NULL};

    single = make(F32, 1, &two);
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    attach_start(x, REQ_WRITE, 9);
    record(true);
    y = op1("square", x);
    z = op1("exp", y);
    record(false);
    CHECK_FAILS(backward(c), "head 0 is not in a recorded graph");
    CHECK_INT(backward(none), -1);
    heads[0] = z;
    heads[1] = c;
    CHECK_FAILS(MXAutogradBackward(2, heads, NULL, 0), "head 1");
    heads[1] = y;
    grads[1] = wide;
    CHECK_FAILS(MXAutogradBackward(2, heads, grads, 0), "(3,)");
    grads[1] = single;
    CHECK_FAILS(MXAutogradBackward(2, heads, grads, 0), "float32");
    grads[1] = none;
    CHECK_INT(MXAutogradBackward(2, heads, grads, 0), -1);
    CHECK_NEAR(grad_at(x, 0), 9, 0);
    CHECK_INT(fresh(x), 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    drop(none);
    drop(single);
    drop(wide);
    drop(z);
    drop(y);
    drop(c);
    drop(x);
}

/* An operator without a derivative on the way: nothing is written, and other heads still work. */
TEST(not_differentiable)
{
    H x = VEC(3, 4), y, a;
    H heads[2];

    attach_start(x, REQ_ADD, 1);
    record(true);
    y = op1("square", x);
    a = op1("argmax", y);
    record(false);
    heads[0] = y;
    heads[1] = a;
    if (MXAutogradBackward(2, heads, NULL, 0) == 0) {
        CHECK_NEAR(grad_at(x, 0), 7, 0); /* argmax: zero */
    } else {
        CHECK_HAS(MXGetLastError(), "argmax");
        CHECK_NEAR(grad_at(x, 0), 1, 0);
        CHECK_INT(backward(y), 0);
    }
    drop(a);
    drop(y);
    drop(x);
}

/* ---- a long chain, on a small stack ---- */

static void *long_chain(void *data)
{
#ifdef MXL_SANITIZER
    enum { LENGTH = 100000 };
#else
    enum { LENGTH = 1000000 };
#endif
    MXLCallHandle call = NULL;
    const char *key = "scalar";
    H x = VEC(1), y;
    int64_t before = 0, half = 0, whole = 0;

    (void)data;
    CHECK_INT(MXLPrepare("_plus_scalar", 0, NULL, NULL, 1, &key, &call), 0);
    attach(x, REQ_WRITE);
    CHECK_INT(MXLGetLiveBytes(&before), 0);
    record(true);
    y = MXLCall1Float(call, x, 1);
    for (int i = 1; i < LENGTH; i++) {
        H next = MXLCall1Float(call, y, 1);

        if (!CHECK(next != NULL))
            break;
        drop(y);
        y = next;
        if (i == LENGTH / 2)
            CHECK_INT(MXLGetLiveBytes(&half), 0);
    }
    record(false);
    CHECK_INT(MXLGetLiveBytes(&whole), 0);
    CHECK(whole - before < 2 * (half - before) + 4096); /* a node costs the same everywhere */
    CHECK_NEAR(at(y, 0), LENGTH + 1, 0);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 1, 0);
    CHECK_INT(backward(y), 0);
    drop(y); /* releases the chain */
    CHECK_INT(MXLGetLiveBytes(&whole), 0);
    CHECK_INT(whole, before);
    drop(x);
    return NULL;
}

TEST(chain_on_a_small_stack)
{
    pthread_attr_t attr;
    pthread_t thread;

    REQUIRE(pthread_attr_init(&attr) == 0);
    REQUIRE(pthread_attr_setstacksize(&attr, 256 * 1024) == 0);
    REQUIRE(pthread_create(&thread, &attr, long_chain, NULL) == 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

HARNESS_MAIN(ENTRY(released_graph_is_an_error), ENTRY(hidden_state), ENTRY(torch_release_rule),
             ENTRY(saved_sets), ENTRY(edited_saved_value), ENTRY(edited_by_itself),
             ENTRY(in_place_refused), ENTRY(in_place_recorded), ENTRY(in_place_into_null_request),
             ENTRY(no_cycle_by_out), ENTRY(no_cycle_by_out_into_saved), ENTRY(create_graph_cycle),
             ENTRY(own_buffer_refused), ENTRY(bad_heads), ENTRY(not_differentiable),
             ENTRY(chain_on_a_small_stack))
