/* Lifetime in a graph: saved tensors, when they are released, errors that change nothing, long
 * chains. */
#include "graph_kit.h"

#include <pthread.h>
#include <stddef.h>

#include "array/array.h"
#include "base/handle.h"
#include "engine/backward/backward.h"
#include "engine/run/invoke.h"
#include "engine/tape/tape.h"

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
    top = torch_op("broadcast_mul", sum, leaf); /* a released node is still in the graph */
    CHECK_INT(torch_backward(top, false), 0);   /* d (2x * x) = 4x */
    CHECK_NEAR(grad_at(x, 0), 18, 0);
    CHECK_INT(torch_backward(square, false), 0); /* 8x */
    CHECK_NEAR(grad_at(x, 0), 42, 0);
    CHECK_FAILS(torch_backward(square, false), "square: the values saved for backward");
    CHECK_NEAR(grad_at(x, 0), 42, 0);
    seen = grad_of(x);
    drop(seen);
    mxl_array_release(top);
    mxl_array_release(square);
    mxl_array_release(twice);
    mxl_array_release(sum);
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

/* ---- errors change nothing ---- */

TEST(bad_heads)
{
    H x = VEC(3, 4), c = VEC(1, 1), y, z, narrow = VEC(1), none = NULL;
    H heads[2], grads[2] = {NULL, NULL};

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
    grads[1] = narrow;
    CHECK_FAILS(MXAutogradBackward(2, heads, grads, 0), "(1,)");
    grads[1] = none;
    CHECK_INT(MXAutogradBackward(2, heads, grads, 0), -1);
    CHECK_NEAR(grad_at(x, 0), 9, 0);
    CHECK_INT(fresh(x), 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    drop(none);
    drop(narrow);
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

/* An alias with a variable's edge (a saved value that was unpacked, say) is recorded,
 * whatever lies in the variable where a node would have its flag, or its dialect. */
TEST(alias_of_a_variable)
{
    H x = leaf(VEC(3)), alias_handle, y;
    mxl_array *variable = (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, (uint64_t)(uintptr_t)x);
    mxl_edge place = {&variable->ref, MXL_PLACE_LEAF};
    mxl_array *alias = mxl_array_alias(variable);
    unsigned char *flag = (unsigned char *)variable + offsetof(mxl_node, released), kept = *flag;

    mxl_array_set_edge(alias, place);
    CHECK(mxl_edge_node(place) == NULL);
    CHECK(mxl_edge_variable(place) == variable);
    *flag = 1;
    CHECK(mxl_tape_recorded(alias, &mxl_dialect_mxnet));
    CHECK(mxl_tape_recorded(alias, &mxl_dialect_torch));
    *flag = kept;
    alias_handle = (H)(uintptr_t)mxl_handle_new(MXL_KIND_ARRAY, &alias->ref);
    record(true);
    y = op1("square", alias_handle);
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    CHECK_FAILS(MXLNDArraySetRequiresGrad(alias_handle, 1), "it is no variable");
    mxl_handle_unpin((uint64_t)(uintptr_t)x);
    drop(y);
    drop(alias_handle);
    drop(x);
}

HARNESS_MAIN(ENTRY(released_graph_is_an_error), ENTRY(hidden_state), ENTRY(torch_release_rule),
             ENTRY(alias_of_a_variable), ENTRY(saved_sets), ENTRY(bad_heads),
             ENTRY(not_differentiable), NOT_WASM(chain_on_a_small_stack))
