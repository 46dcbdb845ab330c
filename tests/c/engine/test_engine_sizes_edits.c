/* Views of one storage, successive edits in place, and saved-tensor hooks, around the sizes at
 * which their lists grow. */
#include "sizes_kit.h"

/* One operator in PyTorch's dialect, with a parameter as text. */
static MXLCallHandle prepared(const char *name, const char *key, const char *value)
{
    MXLCallHandle call = NULL;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, key == NULL ? 0 : 1, &key, &value,
                           0, NULL, &call),
              0);
    return call;
}

static H torch_scalar(const char *name, H a, int scalar)
{
    char text[16];
    H out;

    (void)snprintf(text, sizeof(text), "%d", scalar);
    out = MXLCall1(prepared(name, "scalar", text), a);
    CHECK(out != NULL);
    return out;
}

/* Element i of a vector, as a view of shape (). */
static H pick(H a, int i)
{
    const char *keys[2] = {"axis", "index"}, *values[2] = {"0", NULL};
    MXLCallHandle call = NULL;
    char text[16];
    H out;

    (void)snprintf(text, sizeof(text), "%d", i);
    values[1] = text;
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mxl_select", 2, keys, values, 0, NULL, &call),
        0);
    out = MXLCall1(call, a);
    CHECK(out != NULL);
    return out;
}

/* `a` becomes the operator's result of it, and of b or a number. */
static void edit(const char *name, H a, H b, int scalar)
{
    H in[2] = {a, b};
    char text[16];
    int count = 1;

    (void)snprintf(text, sizeof(text), "%d", scalar);
    CHECK_INT(MXLCallInto(prepared(name, b == NULL ? "scalar" : NULL, text), b == NULL ? 1 : 2, in,
                          NULL, &count, &a),
              0);
}

static int backward_torch(H head, int keep)
{
    MXLBackwardOptions options = {.keep_graph = keep, .dialect = MXL_DIALECT_TORCH};

    return run_from(head, &options);
}

/* ---- views ---- */

/* x in n parts, each a view; y is the sum of (i + 1) x[i]. The parts are heads, too. */
static void parts(int n)
{
    H x = counting(n, 1), part[MOST], scaled[MOST], y;

    leaf(x);
    record(true);
    for (int i = 0; i < n; i++) {
        part[i] = MXLNDArraySlice(x, i, i + 1);
        scaled[i] = times(part[i], i + 1);
    }
    y = add_all(n, scaled);
    record(false);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(MXAutogradBackward((uint32_t)n, part, NULL, 0), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_element(x, i), i + 2, 0);
    drop(y);
    drop_all(n, scaled);
    drop_all(n, part);
    drop(x);
}

TEST(many_views_of_a_variable)
{
    at_each_size(parts);
}

/* A view of a view of ...: each leaves out the first element, and keeps the others alive. */
static void nested(int n)
{
    H x = counting(n, 1), view = leaf(x), last;

    record(true);
    for (int i = 1; i < n; i++) {
        H next = MXLNDArraySlice(view, 1, n - i + 1);

        REQUIRE(next != NULL);
        if (view != x)
            drop(view);
        view = next;
    }
    last = times(view, 3);
    record(false);
    CHECK_NEAR(at(last, 0), 3 * n, 0);
    CHECK_INT(backward(last), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_element(x, i), i == n - 1 ? 3 : 0, 0);
    drop(last);
    if (view != x)
        drop(view);
    drop(x);
}

TEST(views_of_views)
{
    at_each_size(nested);
}

/* ---- edits ---- */

/* y += x, n times: its version counts them, and the last place is the sum of all. */
static void edits(int n)
{
    H x = leaf(VEC(3)), y;
    uint64_t version = 0;

    record(true);
    y = torch_scalar("_mul_scalar", x, 1);
    for (int i = 0; i < n; i++)
        edit("broadcast_add", y, x, 0);
    record(false);
    CHECK_NEAR(at(y, 0), 3 * (n + 1), 0);
    CHECK_INT(MXLNDArrayGetVersion(y, &version), 0);
    CHECK_INT(version, n);
    CHECK_INT(backward_torch(y, 0), 0);
    CHECK_NEAR(grad_at(x, 0), n + 1, 0);
    drop(y);
    drop(x);
}

TEST(many_edits_of_an_array)
{
    at_each_size(edits);
}

/* Every element of y by a view of its own: y[i] *= i + 1, y[i] += x[0]. All views are there from
 * the beginning, are out of date after the first edit, and follow when they are read. */
static void edits_by_views(int n)
{
    H x = counting(n, 1), y, view[MOST] = {NULL}, scaled;
    H first;

    leaf(x);
    record(true);
    y = torch_scalar("_mul_scalar", x, 1);
    first = pick(x, 0);
    for (int i = 0; i < n; i++)
        view[i] = pick(y, i);
    for (int i = 0; i < n; i++) {
        edit("_mul_scalar", view[i], NULL, i + 1);
        edit("broadcast_add", view[i], first, 0);
    }
    scaled = torch_scalar("_mul_scalar", view[n - 1], 2); /* 2 n x[n - 1] + 2 x[0] */
    record(false);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(element(y, i), (i + 1) * (i + 1) + 1, 0);
    CHECK_INT(backward_torch(scaled, 1), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_element(x, i), (i == n - 1 ? 2 * n : 0) + (i == 0 ? 2 : 0), 0);
    drop(scaled);
    record(true);
    scaled = MXLCall1(prepared("sum", NULL, NULL), y);
    record(false);
    CHECK_INT(backward_torch(scaled, 0), 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(grad_element(x, i), (i == n - 1 ? 2 * n : 0) + (i == 0 ? 2 + n : 0) + (i + 1),
                   0);
    drop(scaled);
    drop_all(n, view);
    drop(first);
    drop(y);
    drop(x);
}

TEST(many_edits_by_views)
{
    at_each_size(edits_by_views);
}

/* One view edited n times, and its base read through it and beside it. */
static void edits_by_one_view(int n)
{
    H x = leaf(VEC(3, 4)), y, view, other, sum;

    record(true);
    y = torch_scalar("_mul_scalar", x, 1);
    view = pick(y, 1);
    other = pick(x, 0);
    for (int i = 0; i < n; i++)
        edit("broadcast_add", view, other, 0);
    sum = MXLCall1(prepared("sum", NULL, NULL), y); /* x[0] + x[1] + n x[0] */
    record(false);
    CHECK_NEAR(at(sum, 0), 7 + 3 * n, 0);
    CHECK_INT(backward_torch(sum, 0), 0);
    CHECK_NEAR(grad_at(x, 0), n + 1, 0);
    CHECK_NEAR(grad_at(x, 1), 1, 0);
    drop(sum);
    drop(other);
    drop(view);
    drop(y);
    drop(x);
}

TEST(many_edits_by_one_view)
{
    at_each_size(edits_by_one_view);
}

/* ---- hooks around what is saved ---- */

typedef struct level {
    int packs, unpacks, drops;
} level;

static int on_pack(void *payload, H array, void **packed)
{
    ((level *)payload)->packs++;
    *packed = array;
    return 0;
}

static int on_unpack(void *payload, void *packed, H *array)
{
    ((level *)payload)->unpacks++;
    return MXShallowCopyNDArray(packed, array);
}

static void on_drop(void *payload, void *packed)
{
    ((level *)payload)->drops++;
    drop(packed);
}

/* n pairs, one inside the other: the innermost packs; and what n pairs packed each unpacks. */
static void pairs(int n)
{
    level levels[MOST] = {{0}};
    H x = leaf(VEC(3)), y[MOST], sum;

    for (int i = 0; i < n; i++)
        CHECK_INT(MXLPushSavedHooks(on_pack, on_unpack, on_drop, &levels[i], NULL), 0);
    record(true);
    for (int i = n - 1; i >= 0; i--) {
        y[i] = op1("square", x);
        CHECK_INT(MXLPopSavedHooks(), 0);
    }
    sum = add_all(n, y);
    record(false);
    CHECK_FAILS(MXLPopSavedHooks(), "no functions for saved values");
    CHECK_INT(backward(sum), 0);
    CHECK_NEAR(grad_at(x, 0), 6 * n, 0);
    drop(sum);
    drop_all(n, y);
    for (int i = 0; i < n; i++) {
        CHECK_INT(levels[i].packs, 1);
        CHECK_INT(levels[i].unpacks, 1);
        CHECK_INT(levels[i].drops, 1);
    }
    drop(x);
}

TEST(many_pairs_of_saved_hooks)
{
    at_each_size(pairs);
}

/* A value that is packed after its node was recorded. */
TEST(one_saved_value_packed_later)
{
    level counts = {0};
    H x = leaf(VEC(3)), y, made = NULL;
    MXLNodeHandle node;
    int output, saved;

    record(true);
    y = op1("square", x);
    record(false);
    CHECK_INT(MXLNDArrayGetEdge(y, &node, &output), 0);
    CHECK_INT(MXLNodePackSaved(node, 0), 0); /* nothing is pushed */
    CHECK_INT(MXLPushSavedHooks(on_pack, on_unpack, on_drop, &counts, NULL), 0);
    CHECK_INT(MXLNodePackSaved(node, 0), 0);
    CHECK_FAILS(MXLNodePackSaved(node, 0), "is packed already");
    CHECK_FAILS(MXLNodePackSaved(node, 7), "saved value 7 of a node with");
    CHECK_INT(MXLPopSavedHooks(), 0);
    CHECK_INT(MXLNodeGetNumSaved(node, &saved), 0);
    CHECK_INT(saved, 1);
    CHECK_INT(MXLNodeGetSaved(node, 0, &made, NULL, NULL, NULL), 0);
    CHECK_INT(counts.unpacks, 1);
    drop(made);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
    CHECK_INT(counts.packs, 1);
    CHECK_INT(counts.drops, 1);
    drop(x);
}

HARNESS_MAIN(ENTRY(many_views_of_a_variable), ENTRY(views_of_views), ENTRY(many_edits_of_an_array),
             ENTRY(many_edits_by_views), ENTRY(many_edits_by_one_view),
             ENTRY(many_pairs_of_saved_hooks), ENTRY(one_saved_value_packed_later))
