/* Recording: saved tensors packed and unpacked, the record hook. */
#include "graph_kit.h"

/* ---- saved values ---- */

typedef struct store {
    int packs, unpacks, drops, released, fails, recording;
    bool wrong;  /* unpacks something of another shape */
    bool other;  /* unpacks twice the value */
    H *releases; /* runs backward from it when it packs */
    bool copies; /* keeps a copy */
    bool pops;   /* takes itself and the record hook away when it packs */
} store;

static int on_pack(void *payload, H array, void **packed)
{
    store *s = payload;
    bool recording = true;
    N node;

    CHECK_INT(MXAutogradIsRecording(&recording), 0);
    CHECK(!recording);
    node = edge_of(array, NULL);
    CHECK(node == NULL);
    s->packs++;
    if (s->releases != NULL) {
        H head = *s->releases;

        s->releases = NULL;
        CHECK_INT(backward(head), 0);
    }
    if (s->pops) {
        CHECK_INT(MXLPopSavedHooks(), 0);
        CHECK_INT(s->released, 0); /* not while it runs */
        CHECK_INT(MXLSetRecordHook(NULL, NULL), 0);
        s->pops = false;
    }
    if (s->fails == 1) {
        drop(array);
        NNAPISetLastError("no room");
        return 1;
    }
    *packed = s->copies ? op1("_copy", array) : array;
    if (s->copies)
        drop(array);
    return 0;
}

static int on_unpack(void *payload, void *packed, H *array)
{
    store *s = payload;
    bool recording = false;

    CHECK_INT(MXAutogradIsRecording(&recording), 0);
    s->recording = recording;
    s->unpacks++;
    if (s->fails == 2)
        return 1;
    if (s->wrong)
        *array = VEC(1, 2, 3, 4, 5);
    else if (s->other)
        *array = op_scalar("_mul_scalar", packed, "2");
    else
        CHECK_INT(MXShallowCopyNDArray(packed, array), 0);
    return 0;
}

static void on_drop(void *payload, void *packed)
{
    ((store *)payload)->drops++;
    drop(packed);
}

static void on_release(void *payload)
{
    ((store *)payload)->released++;
}

static void push(store *s)
{
    CHECK_INT(MXLPushSavedHooks(on_pack, on_unpack, on_drop, s, on_release), 0);
}

TEST(packing)
{
    store s = {0}, inner = {0};
    H x = VEC(2, 3), y, z, u, value = NULL;
    N node;
    int count = -1, position = -1, is_output = -1;
    int64_t bytes = -1;

    attach(x, REQ_WRITE);
    record(true);
    push(&s);
    y = op1("exp", x); /* saves its output */
    z = op1("square", y);
    push(&inner);
    u = op1("square", z);
    CHECK_INT(MXLPopSavedHooks(), 0);
    CHECK_INT(inner.released, 0);
    CHECK_INT(MXLPopSavedHooks(), 0);
    record(false);
    CHECK_INT(s.packs, 2);
    CHECK_INT(inner.packs, 1);
    CHECK_INT(s.released, 0);
    CHECK_FAILS(MXLPopSavedHooks(), "there are no functions");
    node = edge_of(y, NULL);
    CHECK_INT(MXLNodeGetNumSaved(node, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLNodeGetSaved(node, 0, NULL, &is_output, &position, &bytes), 0);
    CHECK_INT(s.unpacks, 0);
    CHECK_INT(is_output, 1);
    CHECK_INT(bytes, 16);
    CHECK_INT(MXLNodeGetSaved(node, 0, &value, NULL, NULL, NULL), 0);
    CHECK_INT(s.unpacks, 1);
    CHECK_NEAR(at(value, 0), exp(2), 1e-12);
    drop(value);
    CHECK_INT(MXLNodeFree(node), 0);
    CHECK_INT(backward(u), 0);
    CHECK_NEAR(grad_at(x, 0), 4 * exp(8), 1e-6);
    CHECK_INT(s.unpacks, 3);
    CHECK_INT(inner.unpacks, 1);
    CHECK_INT(s.recording, 0);
    CHECK_INT(s.drops, 2); /* released by backward */
    CHECK_INT(inner.drops, 1);
    CHECK_INT(s.released + inner.released, 2);
    drop(u);
    drop(z);
    drop(y);
    drop(x);
}

/* The value that unpacks is what the rule reads, at the place the saved one had. */
TEST(unpacked_values_count)
{
    store s = {.other = true};
    H x = VEC(3), y, g, gg;

    attach(x, REQ_WRITE);
    record(true);
    push(&s);
    y = op1("square", x);
    CHECK_INT(MXLPopSavedHooks(), 0);
    record(false);
    fill(x, (double[]){100}, 1);
    fill(x, (double[]){3}, 1); /* edits are not found; what was packed shares memory here */
    g = derivative(y, x, 1, 1);
    CHECK_NEAR(at(g, 0), 12, 0); /* 2 * (2x) */
    CHECK_INT(s.recording, 1);
    gg = derivative(g, x, 1, 0);
    CHECK(gg != NULL);
    CHECK_NEAR(at(gg, 0), 2, 0); /* the packed value has x's edge */
    drop(gg);
    drop(g);
    drop(y);
    CHECK_INT(s.drops, 1);
    CHECK_INT(s.released, 1);
    drop(x);
}

TEST(packing_fails)
{
    store s = {.fails = 1};
    H x = VEC(3), y, in;
    int64_t shape = 0;

    attach(x, REQ_WRITE);
    record(true);
    push(&s);
    in = x;
    CHECK(try_op("square", 1, &in, 0, NULL, NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "square: packing of a value that it saves failed: no room");
    s.fails = 0;
    y = op1("square", x);
    CHECK_INT(MXLPopSavedHooks(), 0);
    record(false);
    s.fails = 2;
    CHECK_FAILS(backward(y), "square: unpacking of a value that it saved failed");
    s.fails = 0;
    s.wrong = true;
    CHECK_FAILS(backward(y), "unpacked with shape (5,)");
    s.wrong = false;
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    CHECK_INT(MXLNDArrayGetInfo(y, 1, &shape, NULL), 1);
    drop(y);
    drop(x);
    CHECK_INT(s.released, 1);
}

static int never_shown(void *payload, N node, int num_outputs, const H *outputs)
{
    (void)payload;
    (void)node;
    (void)outputs;
    CHECK_INT(num_outputs, 0);
    return 1;
}

/* Functions that take themselves away go on with what is saved at the time: x and w. */
TEST(packing_that_pops)
{
    store s = {.pops = true};
    H x = leaf(VEC(3)), w = leaf(VEC(5)), y;

    push(&s);
    CHECK_INT(MXLSetRecordHook(never_shown, NULL), 0);
    record(true);
    y = MUL(x, w);
    CHECK_INT(s.packs, 2);
    drop(y);
    CHECK_INT(s.drops, 2);
    CHECK_INT(s.released, 1);
    y = MUL(x, w);
    record(false);
    CHECK_INT(s.packs, 2);
    CHECK_FAILS(MXLPopSavedHooks(), "no functions for saved values");
    drop(y);
    drop(w);
    drop(x);
}

/* A backward over the node whose values are being packed: it keeps none of them. */
TEST(packing_that_releases)
{
    store s = {0};
    H x = leaf(VEC(3)), y;

    CHECK_INT(MXLSetInplace(1, NULL), 0);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    push(&s);
    s.releases = &y;
    CHECK_INT(op_into("exp", 1, &y, y), 0); /* the result is packed when it has its place */
    CHECK_INT(MXLPopSavedHooks(), 0);
    record(false);
    CHECK_INT(MXLSetInplace(0, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 2 * exp(6), 1e-3);
    CHECK_INT(s.packs, 1);
    CHECK_INT(s.drops, 1);
    CHECK_INT(s.released, 1);
    CHECK_FAILS(backward(y), "released");
    drop(y);
    drop(x);
}

/* What an edit in place overwrites is packed before that, and unpacked for the rule. */
TEST(packing_before_an_edit)
{
    store s = {.copies = true};
    H x = leaf(VEC(3)), y, same, in[2];

    CHECK_INT(MXLSetInplace(1, NULL), 0);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    CHECK_INT(MXNDArrayDetach(y, &same), 0);
    push(&s);
    in[0] = y;
    in[1] = same;
    CHECK_INT(op_into("broadcast_mul", 2, in, y), 0); /* y times its own elements, as a constant */
    CHECK_INT(MXLPopSavedHooks(), 0);
    record(false);
    CHECK_INT(MXLSetInplace(0, NULL), 0);
    CHECK_INT(s.packs, 1);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 12, 0);
    drop(same);
    drop(y);
    drop(x);
}

/* A thread that ends with functions on its stack lets them go. */
static store left_behind;

TEST(stack_of_a_thread)
{
    CHECK_INT(left_behind.released, 0);
    push(&left_behind);
}

TEST(after_that_thread)
{
    CHECK_INT(left_behind.released, 1);
}

/* ---- the record hook ---- */

typedef struct seen {
    int count, outputs, fails;
    char last[64];
    bool records; /* records something itself */
    store *packs; /* and has functions for saved values meanwhile */
} seen;

static int on_record(void *payload, N node, int num_outputs, const H *outputs)
{
    seen *s = payload;
    N made = edge_of(outputs[0], NULL);

    s->count++;
    s->outputs = num_outputs;
    strncpy(s->last, name_of(node), sizeof(s->last) - 1);
    CHECK(node_id(made) == node_id(node));
    if (s->packs != NULL)
        push(s->packs);
    if (s->records) {
        H again = op1("exp", outputs[0]);

        drop(again);
    }
    if (s->packs != NULL) {
        CHECK_INT(MXLPopSavedHooks(), 0);
        CHECK_INT(MXLSetRecordHook(on_record, s), 0); /* sets what is set */
        drop(op1("exp", outputs[0]));
    }
    MXLNodeFree(made);
    MXLNodeFree(node);
    for (int i = 0; i < num_outputs; i++)
        drop(outputs[i]);
    if (s->fails)
        NNAPISetLastError("not this one");
    return s->fails;
}

TEST(record_hook)
{
    seen s = {.records = true};
    H x = VEC(1, 2), c = VEC(1, 1), y, z, in, none = NULL;

    attach(x, REQ_WRITE);
    CHECK_INT(MXLSetRecordHook(on_record, &s), 0);
    y = op1("exp", x); /* not recorded */
    CHECK_INT(s.count, 0);
    drop(y);
    record(true);
    y = op1("exp", c);
    CHECK_INT(s.count, 0);
    drop(y);
    y = op1("exp", x);
    CHECK_INT(s.count, 1);
    CHECK_INT(s.outputs, 1);
    CHECK_STR(s.last, "ExpBackward0");
    z = MXLNDArraySlice(y, 0, 1);
    CHECK_INT(s.count, 2);
    drop(z);
    s.fails = 1;
    in = y;
    CHECK(try_op("square", 1, &in, 0, NULL, NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "square: the hook on what is recorded failed: not this one");
    CHECK(MXLNDArraySlice(y, 0, 1) == NULL);
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    CHECK_INT(op_into("square", 1, &in, none), -1);
    CHECK(edge_of(none, NULL) == NULL);
    drop(none);
    s.fails = 0;
    CHECK_INT(MXLSetRecordHook(NULL, NULL), 0);
    z = op1("square", y);
    CHECK_INT(s.count, 5);
    record(false);
    CHECK_INT(backward(z), 0);
    drop(z);
    drop(y);
    drop(c);
    drop(x);
}

/* What the hook records is not shown, whatever it sets meanwhile; what comes after it is. */
TEST(record_hook_that_sets_hooks)
{
    store packs = {0};
    seen s = {.records = true, .packs = &packs};
    H x = leaf(VEC(1, 2)), y;

    CHECK_INT(MXLSetRecordHook(on_record, &s), 0);
    for (int i = 1; i < 4; i++) {
        record(true);
        y = op1("exp", x);
        record(false);
        CHECK_INT(s.count, i);
        drop(y);
    }
    CHECK_INT(packs.packs, 0);
    CHECK_INT(packs.released, 3);
    CHECK_INT(MXLSetRecordHook(NULL, NULL), 0);
    drop(x);
}

/* Under create_graph backward records, and that is shown too; but never under a lock. */
TEST(record_hook_in_backward)
{
    seen s = {0};
    H x = VEC(1, 2), y;

    attach(x, REQ_ADD);
    record(true);
    y = op1("square", x);
    record(false);
    CHECK_INT(MXLSetRecordHook(on_record, &s), 0);
    CHECK_INT(backward_full(y, NULL, 1, 1), 0);
    CHECK(s.count > 0);
    CHECK_INT(MXLSetRecordHook(NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 1), 4, 0);
    CHECK_INT(MXLNDArraySetGrad(x, NULL), 0);
    drop(y);
    drop(x);
}

HARNESS_MAIN(ENTRY(packing), ENTRY(unpacked_values_count), ENTRY(packing_fails),
             ENTRY(packing_that_pops), ENTRY(packing_that_releases), ENTRY(packing_before_an_edit),
             NOT_WASM(stack_of_a_thread), NOT_WASM(after_that_thread), ENTRY(record_hook),
             ENTRY(record_hook_that_sets_hooks), ENTRY(record_hook_in_backward))
