/* Outputs of a call that overlap its inputs: memory shared with inputs, updated inputs, the first
 * input as output, and saved tensors of inputs that a kernel got as copies. */
#include "graph_kit.h"

#include <stdio.h>

static MXLCallHandle torch(const char *name, int count, const char **keys, const char **values)
{
    MXLCallHandle call = NULL;

    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, count, keys, values, 0, NULL, &call), 0);
    return call;
}

/* ---- memory that is shared ---- */

/* Extents and strides, and where it begins; shape "()" has none. */
typedef struct part {
    const char *shape, *strides, *skip;
} part;

/* PyTorch 2.13 was asked for all of them but the last. */
static const struct {
    part out, in;
    bool taken;
} pairs[] = {
    {{"(4,)", "(1,)", "0"}, {"(4,)", "(1,)", "0"}, true},
    {{"(4,)", "(1,)", "0"}, {"(4,)", "(1,)", "2"}, false},
    {{"(4,)", "(1,)", "0"}, {"(4,)", "(1,)", "4"}, true}, /* side by side */
    {{"(4,)", "(1,)", "4"}, {"(4,)", "(1,)", "0"}, true},
    {{"(4,)", "(1,)", "4"}, {"(4,)", "(1,)", "7"}, false}, /* one element */
    {{"(4,)", "(1,)", "7"}, {"(4,)", "(1,)", "4"}, false},
    {{"(4,)", "(1,)", "1"}, {"(4,)", "(1,)", "0"}, false},
    {{"(2, 2)", "(2, 1)", "0"}, {"(2, 2)", "(1, 2)", "0"}, false}, /* in another order */
    {{"(2, 2)", "(2, 1)", "0"}, {"(2, 2)", "(2, 1)", "0"}, true},
    {{"(3, 2)", "(1, 3)", "0"}, {"(3, 2)", "(1, 3)", "1"}, false},
    {{"(3, 2)", "(1, 3)", "0"}, {"(3, 2)", "(1, 3)", "0"}, true},
    {{"(3, 2)", "(1, 3)", "0"}, {"(3, 2)", "(2, 1)", "0"}, false},
    {{"(4,)", "(2,)", "0"}, {"(4,)", "(1,)", "1"}, true}, /* with gaps: nobody looks */
    {{"(4,)", "(2,)", "1"}, {"(4,)", "(1,)", "0"}, true},
    {{"(4,)", "(1,)", "1"}, {"(4,)", "(2,)", "0"}, true},
    {{"(4,)", "(1,)", "0"}, {"(4,)", "(2,)", "1"}, true},
    {{"(4,)", "(2,)", "0"}, {"(4,)", "(2,)", "2"}, true},
    {{"(2, 2)", "(3, 1)", "0"}, {"(2, 2)", "(2, 1)", "1"}, true},
    {{"(4,)", "(1,)", "0"}, {"(4,)", "(0,)", "1"}, true}, /* one element, repeated */
    {{"(2, 2)", "(2, 1)", "0"}, {"(2,)", "(1,)", "0"}, false},
    {{"(2, 2)", "(2, 1)", "0"}, {"(2,)", "(1,)", "2"}, false},
    {{"(2, 2)", "(2, 1)", "0"}, {"(2,)", "(1,)", "4"}, true},
    {{"(1, 4)", "(4, 1)", "0"}, {"(4,)", "(1,)", "0"}, false}, /* as many, with other axes */
    {{"(0,)", "(1,)", "0"}, {"(0,)", "(1,)", "0"}, true},
    {{"(0, 2)", "(2, 1)", "0"}, {"(2,)", "(1,)", "0"}, true},
    {{"(1,)", "(1,)", "3"}, {"(1,)", "(1,)", "3"}, true},
    {{"(1,)", "(1,)", "3"}, {"(1,)", "(1,)", "4"}, true},
    {{"(2,)", "(1,)", "0"}, {"(1,)", "(1,)", "0"}, false},
    {{"(2,)", "(1,)", "3"}, {"(1,)", "(1,)", "4"}, false},
    {{"(2,)", "(1,)", "3"}, {"(1,)", "(1,)", "5"}, true},
    {{"(2,)", "(1,)", "3"}, {"(1,)", "(0,)", "4"}, false},
    {{"(2,)", "(1,)", "0"}, {"()", "()", "0"}, false},
    {{"(2,)", "(1,)", "0"}, {"()", "()", "2"}, true},
    {{"()", "()", "1"}, {"()", "()", "1"}, true},
    {{"(1, 2, 1, 2, 2)", "(8, 4, 4, 2, 1)", "1"},
     {"(1, 2, 1, 2, 2)", "(8, 4, 4, 2, 1)", "1"},
     true},
    /* PyTorch refuses this, though the elements are the same: steps along one element say nothing.
     */
    {{"(2, 1)", "(1, 5)", "0"}, {"(2, 1)", "(1, 1)", "0"}, true},
};

static H show(H x, const part *p)
{
    const char *keys[3] = {"shape", "strides", "skip"};
    const char *values[3] = {p->shape, p->strides, p->skip};
    H out = MXLCall1(torch("_mxl_as_strided", 3, keys, values), x);

    CHECK(out != NULL);
    return out;
}

/* out = in + zeros of out's shape; what is refused changes nothing. */
TEST(parts_of_one_memory)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        H x = VEC(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), out = show(x, &pairs[i].out);
        H in[2] = {show(x, &pairs[i].in), NULL};
        const char *key = "scalar", *zero = "0";
        int count = 1, status;

        in[1] = MXLCall1(torch("_mul_scalar", 1, &key, &zero), out);
        status = MXLCallInto(torch("broadcast_add", 0, NULL, NULL), 2, in, NULL, &count, &out);
        if (!CHECK_INT(status, pairs[i].taken ? 0 : -1))
            printf("    pair %d\n", (int)i);
        if (status != 0) {
            CHECK_HAS(MXGetLastError(), "shares a part of its memory with an input");
            for (int k = 0; k < 12; k++)
                CHECK_NEAR(at(x, k), k, 0);
        }
        drop(in[1]);
        drop(in[0]);
        drop(out);
        drop(x);
    }
}

/* MXNet's dialect makes a copy where PyTorch's refuses. */
TEST(parts_in_mxnets_dialect)
{
    H x = VEC(1, 2, 3, 4, 5), low = MXLNDArraySlice(x, 0, 4), high = MXLNDArraySlice(x, 1, 5);
    H in[2] = {low, low};

    CHECK_INT(op_into("broadcast_add", 2, in, high), 0);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(at(x, i + 1), 2 * (i + 1), 0);
    drop(high);
    drop(low);
    drop(x);
}

/* ---- what may be written ---- */

/* A state that an optimizer updates, in memory that may only be read. */
TEST(states_that_may_only_be_read)
{
    const char *keys[2] = {"lr", "momentum"}, *values[2] = {"0.5", "0.5"};
    OpHandle step;
    double momentum = 1;
    int64_t one = 1;
    H w = VEC(4), g = VEC(2), m = MXLNDArrayFromMemory(&momentum, 1, &one, F64, NULL, NULL);
    H in[3] = {w, g, m}, *outputs = &w;
    const int *stypes;
    int num = 1;

    CHECK_INT(NNGetOpHandle("sgd_mom_update", &step), 0);
    CHECK_INT(MXLNDArrayProtect(m), 0);
    CHECK_FAILS(MXImperativeInvokeEx(step, 3, in, &num, &outputs, 2, keys, values, &stypes),
                "sgd_mom_update: the array's memory may only be read");
    CHECK_NEAR(at(w, 0), 4, 0);
    CHECK_NEAR(at(m, 0), 1, 0);
    drop(m);
    drop(g);
    drop(w);
}

/* While recording: a state that is recorded is not updated; one that has no place may be. A state
 * that lies in memory with gaps is brought back there. */
TEST(states_that_are_recorded)
{
    for (int follows = 0; follows < 2; follows++) {
        const char *keys[2] = {"lr", "momentum"}, *values[2] = {"0.5", "0.5"};
        OpHandle step;
        H x = VEC(1), w = VEC(4), g = VEC(2), m, in[3], *outputs = &w;
        const int *stypes;
        int num = 1;

        CHECK_INT(NNGetOpHandle("sgd_mom_update", &step), 0);
        attach(x, REQ_WRITE);
        CHECK_INT(MXLSetInplace(follows, NULL), 0);
        record(true);
        m = op1("square", x);
        in[0] = w;
        in[1] = g;
        in[2] = m;
        CHECK_FAILS(MXImperativeInvokeEx(step, 3, in, &num, &outputs, 2, keys, values, &stypes),
                    "updates input 2");
        CHECK_NEAR(at(m, 0), 1, 0);
        drop(m);
        m = in[2] = VEC(1);
        CHECK_INT(MXImperativeInvokeEx(step, 3, in, &num, &outputs, 2, keys, values, &stypes), 0);
        CHECK_NEAR(at(m, 0), -0.5, 0);
        record(false);
        CHECK_INT(MXLSetInplace(0, NULL), 0);
        drop(m);
        drop(g);
        drop(w);
        drop(x);
    }
}

TEST(a_state_with_gaps)
{
    static const part every_other = {"(2,)", "(2,)", "0"};
    const char *keys[2] = {"lr", "momentum"}, *values[2] = {"0.5", "0.5"};
    H w = VEC(4, 4), g = VEC(2, 2), x = VEC(1, 7, 3, 7), m = show(x, &every_other);
    H in[3] = {w, g, m};
    int count = 1;

    CHECK_INT(MXLCallInto(torch("sgd_mom_update", 2, keys, values), 3, in, NULL, &count, &w), 0);
    CHECK_NEAR(at(x, 0), -0.5, 0); /* 0.5 * 1 - 0.5 * 2 */
    CHECK_NEAR(at(x, 1), 7, 0);
    CHECK_NEAR(at(x, 2), 0.5, 0);
    CHECK_NEAR(at(x, 3), 7, 0);
    CHECK_NEAR(at(w, 1), 4.5, 0);
    drop(m);
    drop(x);
    drop(g);
    drop(w);
}

/* A recorded value into an input that is a constant: the first or the second. */
TEST(into_an_input)
{
    for (int first = 0; first < 2; first++) {
        H x = VEC(2), c = VEC(5), in[2];

        attach(x, REQ_WRITE);
        in[first] = c;
        in[1 - first] = x;
        record(true);
        CHECK_FAILS(op_into("broadcast_mul", 2, in, c), "written into one of its inputs");
        record(false);
        CHECK_NEAR(at(c, 0), 5, 0);
        drop(c);
        drop(x);
    }
}

/* A part that is older than what was recorded into its base is refused by every operator: by those
 * with any number of inputs, too. */
TEST(older_parts_in_lists)
{
    H x = VEC(2, 3), base = VEC(0, 0), old = MXLNDArraySlice(base, 0, 1), y, in[2] = {old, old};
    const char *key = "num_args", *two = "2";

    attach(x, REQ_WRITE);
    record(true);
    CHECK_INT(op_into("square", 1, &x, base), 0);
    y = try_op("add_n", 2, in, 1, &key, &two);
    CHECK(y == NULL);
    CHECK_HAS(MXGetLastError(), "take it again");
    record(false);
    drop(old);
    drop(base);
    drop(x);
}

/* ---- versions ---- */

static uint64_t version_of(H array)
{
    uint64_t version = 99;

    CHECK_INT(MXLNDArrayGetVersion(array, &version), 0);
    return version;
}

/* PyTorch's dialect counts edits: one, however often an operator writes (strided_put copies, then
 * puts), and each output counts its own. */
TEST(an_edit_is_one_version)
{
    const char *keys[3] = {"shape", "strides", "skip"}, *values[3] = {"(2,)", "(2,)", "0"};
    const char *split[2] = {"num_outputs", "axis"}, *two[2] = {"2", "0"}, *scalar = "scalar";
    H a = VEC(1, 2, 3, 4), b = VEC(7, 8), put = VEC(0, 0, 0, 0), in[2] = {a, b}, parts[2];
    uint64_t before = version_of(put);
    int count = 1;

    CHECK_INT(MXLCallInto(torch("_mxl_strided_put", 3, keys, values), 2, in, NULL, &count, &put),
              0);
    CHECK_NEAR(at(put, 2), 8, 0);
    CHECK_INT(version_of(put), before + 1);
    parts[0] = MXLCall1(torch("_mul_scalar", 1, &scalar, two), b);
    parts[1] = MXLCall1(torch("_mul_scalar", 1, &scalar, two), b);
    for (int i = 0; i < 5; i++)
        CHECK_INT(
            MXLCallInto(torch("_mul_scalar", 1, &scalar, two), 1, &b, NULL, &count, &parts[1]), 0);
    CHECK_INT(version_of(parts[0]), 0);
    CHECK_INT(version_of(parts[1]), 5);
    count = 2;
    CHECK_INT(MXLCallInto(torch("SliceChannel", 2, split, two), 1, &a, NULL, &count, parts), 0);
    CHECK_NEAR(at(parts[1], 1), 4, 0);
    CHECK_INT(version_of(parts[0]), 1);
    CHECK_INT(version_of(parts[1]), 6);
    drop(parts[0]);
    drop(parts[1]);
    drop(put);
    drop(b);
    drop(a);
}

/* ---- what the tape keeps ---- */

/* A kernel that wants its input without gaps gets a copy; the tape keeps the input. */
TEST(inputs_that_were_copied)
{
    static const part turned = {"(2, 2)", "(1, 2)", "0"};
    const char *key = "axis", *zero = "0";
    MXLBackwardOptions options = {.dialect = MXL_DIALECT_TORCH};
    H x = leaf(VEC(1, 2, 3, 4)), t, y, z;

    record(true);
    t = show(x, &turned);
    y = MXLCall1(torch("_np_cumsum", 1, &key, &zero), t); /* x[0] x[2]; x[0] + x[1] x[2] + x[3] */
    REQUIRE(y != NULL);
    CHECK_NEAR(at(y, 2), 3, 0);
    z = MXLCall2(torch("broadcast_mul", 0, NULL, NULL), y, y);
    record(false);
    CHECK_INT(run_from(z, &options), 0);
    CHECK_NEAR(grad_at(x, 0), 2 * 1 + 2 * 3, 0);
    CHECK_NEAR(grad_at(x, 1), 2 * 3, 0);
    CHECK_NEAR(grad_at(x, 2), 2 * 3 + 2 * 7, 0);
    CHECK_NEAR(grad_at(x, 3), 2 * 7, 0);
    drop(z);
    drop(y);
    drop(t);
    drop(x);
}

/* A hook of a variable that fails costs no graph: nothing that ran before it was released. */
static int fails_once(void *payload, int count, const H *grads, H *results)
{
    int *left = payload;

    (void)results;
    for (int i = 0; i < count; i++)
        drop(grads[i]);
    return (*left)-- > 0 ? -1 : 0;
}

TEST(hooks_of_variables_that_fail)
{
    int left = 1;
    H x = leaf(VEC(3)), y, z;

    record(true);
    y = op1("square", x);
    z = op1("square", y);
    record(false);
    CHECK_INT(MXLNDArrayAddHook(x, fails_once, 0, &left, NULL, NULL), 0);
    CHECK_INT(backward(z), -1);
    CHECK_NEAR(grad_or(x, 0), -1, 0);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 0), 108, 0);
    drop(z);
    drop(y);
    drop(x);
}

HARNESS_MAIN(ENTRY(parts_of_one_memory), ENTRY(parts_in_mxnets_dialect),
             ENTRY(states_that_may_only_be_read), ENTRY(states_that_are_recorded),
             ENTRY(a_state_with_gaps), ENTRY(into_an_input), ENTRY(older_parts_in_lists),
             ENTRY(an_edit_is_one_version), ENTRY(inputs_that_were_copied),
             ENTRY(hooks_of_variables_that_fail))
