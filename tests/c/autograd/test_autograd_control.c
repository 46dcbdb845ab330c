/* Loops and branches in symbols: composing, files, inference, running and gradients of any order.
 */
#include "control_kit.h"

#include <stdlib.h>

#include "engine_kit.h"

/* Runs a symbol on arrays by a cached operator; the results are new. */
static int run(SymbolHandle symbol, int count, H *in, int results, H *out)
{
    CachedOpHandle op = NULL;
    H *made = NULL;
    int num = 0, status = MXCreateCachedOp(symbol, &op);

    if (status == 0)
        status = MXInvokeCachedOp(op, count, in, &num, &made);
    for (int i = 0; i < results && status == 0; i++)
        out[i] = made[i];
    CHECK_INT(MXFreeCachedOp(op), 0);
    CHECK(status != 0 || num == results);
    return status;
}

static SymbolHandle read_json(const char *json)
{
    SymbolHandle symbol = NULL;

    CHECK_INT(MXSymbolCreateFromJSON(json, &symbol), 0);
    return symbol;
}

/* Data 1, 2, 3 with state 1 and weight 10: results 11, 14, 22, states 2, 4, 7. */
TEST(a_loop_runs)
{
    static const double results[] = {11, 14, 22}, slopes[] = {6, 5, 4};
    SymbolHandle loop = make_loop("[0]", "2");
    H in[3] = {VEC(1, 2, 3), VEC(1), VEC(10)}, out[2] = {NULL};

    for (int i = 0; i < 3; i++)
        attach_start(in[i], REQ_WRITE, 0);
    record(true);
    REQUIRE(run(loop, 3, in, 2, out) == 0);
    record(false);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(at(out[0], i), results[i], 0);
    CHECK_NEAR(at(out[1], 0), 7, 0);
    CHECK_INT(MXAutogradBackwardEx(1, out, NULL, 0, NULL, 0, 0, 1, NULL, NULL), 0);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(grad_at(in[0], i), slopes[i], 0);
    CHECK_NEAR(grad_at(in[1], 0), 6, 0);
    CHECK_NEAR(grad_at(in[2], 0), 3, 0);
    for (int i = 0; i < 3; i++)
        drop(in[i]);
    drop(out[0]);
    drop(out[1]);
    CHECK_INT(MXSymbolFree(loop), 0);
}

/* The sum of results depends on the products of data: d2 / (d data0 d data1) is 1. */
TEST(a_loop_has_second_derivatives)
{
    SymbolHandle loop = make_loop("[0]", "2");
    H in[3] = {VEC(1, 2, 3), VEC(1), VEC(10)}, out[2] = {NULL}, *grads = NULL, first;
    int *stypes;

    attach_start(in[0], REQ_WRITE, 0);
    record(true);
    REQUIRE(run(loop, 3, in, 2, out) == 0);
    CHECK_INT(MXAutogradBackwardEx(1, out, NULL, 1, in, 1, 1, 1, &grads, &stypes), 0);
    first = grads[0];
    CHECK_NEAR(at(first, 0), 6, 0);
    record(false);
    CHECK_INT(MXAutogradBackwardEx(1, &first, NULL, 0, NULL, 0, 0, 1, NULL, NULL), 0);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(grad_at(in[0], i), 2, 0);
    for (int i = 0; i < 3; i++)
        drop(in[i]);
    drop(first);
    drop(out[0]);
    drop(out[1]);
    CHECK_INT(MXSymbolFree(loop), 0);
}

TEST(a_loop_is_written_and_read)
{
    SymbolHandle loop = make_loop("[0]", "2"), again;
    const char *text;
    char *first;

    CHECK_INT(MXSymbolSaveToJSON(loop, &text), 0);
    CHECK_HAS(text, "\"num_args\": \"4\"");
    CHECK_HAS(text, "      \"inputs\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], \n"
                    "      \"subgraphs\": [\n        {\n          \"nodes\": [\n            {\n");
    first = malloc(strlen(text) + 1);
    REQUIRE(first != NULL);
    strcpy(first, text);
    again = read_json(first);
    CHECK_INT(MXSymbolSaveToJSON(again, &text), 0);
    CHECK_STR(text, first);
    free(first);
    CHECK_INT(MXSymbolFree(loop), 0);
    CHECK_INT(MXSymbolFree(again), 0);
}

/* The weight has the shape of a step, and so has the state; outside of MXNet's legacy mode. */
TEST(shapes_follow_through_a_loop)
{
    static const char *names[] = {"data"};
    static const uint32_t places[] = {0, 2};
    static const int sizes[] = {3, 4};
    SymbolHandle loop = make_loop("[0]", "2");
    const int *ndims[3], **data[3];
    uint32_t counts[3];
    int complete = 0;

    CHECK_INT(MXSymbolInferShapeEx(loop, 1, names, places, sizes, &counts[0], &ndims[0], &data[0],
                                   &counts[1], &ndims[1], &data[1], &counts[2], &ndims[2], &data[2],
                                   &complete),
              0);
    CHECK_INT(complete, 1);
    CHECK_INT(ndims[0][1], 1);
    CHECK_INT(data[0][2][0], 4);
    CHECK_INT(ndims[1][0], 2);
    CHECK_INT(data[1][0][0], 3);
    CHECK_INT(data[1][0][1], 4);
    CHECK_INT(ndims[1][1], 1);
    CHECK_INT(MXSymbolFree(loop), 0);
}

/* Results behind the last step are zeros; a loop without steps has no others. */
TEST(a_while_loop_runs)
{
    static const double ends[] = {7, 2, 0}, expected[][4] = {{0, 1, 4, 9}, {0, 1}, {0}};
    SymbolHandle loop = read_json(WHILE_JSON("[0]", "4"));

    for (int k = 0; k < 3; k++) {
        H in[2] = {VEC(0), vec(1, &ends[k])}, out[2] = {NULL};

        attach_start(in[0], REQ_WRITE, 0);
        record(true);
        REQUIRE(run(loop, 2, in, 2, out) == 0);
        record(false);
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(at(out[0], i), expected[k][i], 0);
        CHECK_NEAR(at(out[1], 0), k == 0 ? 4 : ends[k], 0);
        CHECK_INT(
            MXAutogradBackwardEx(2 - (k == 2), out + (k == 2), NULL, 0, NULL, 0, 0, 1, NULL, NULL),
            0);
        CHECK_NEAR(grad_at(in[0], 0), 1 + (k == 0 ? 12 : k == 1 ? 2 : 0), 0);
        for (int i = 0; i < 2; i++) {
            drop(in[i]);
            drop(out[i]);
        }
    }
    CHECK_INT(MXSymbolFree(loop), 0);
}

TEST(a_branch_runs)
{
    SymbolHandle branch = read_json(BRANCH_JSON("[1]"));

    for (int k = 0; k < 2; k++) {
        H in[2] = {VEC(k), VEC(3)}, out[1] = {NULL};

        attach_start(in[1], REQ_WRITE, 0);
        record(true);
        REQUIRE(run(branch, 2, in, 1, out) == 0);
        record(false);
        CHECK_NEAR(at(out[0], 0), k == 1 ? 9 : 3, 0);
        CHECK_INT(MXAutogradBackwardEx(1, out, NULL, 0, NULL, 0, 0, 1, NULL, NULL), 0);
        CHECK_NEAR(grad_at(in[1], 0), k == 1 ? 6 : 1, 0);
        drop(in[0]);
        drop(in[1]);
        drop(out[0]);
    }
    CHECK_INT(MXSymbolFree(branch), 0);
}

/* Arrays that do not fit: the error names the node and the problem. */
TEST(what_does_not_fit_is_an_error)
{
    SymbolHandle loop = make_loop("[0]", "2"), branch = read_json(BRANCH_JSON("[1]"));
    int64_t none[] = {0, 2};
    H in[3] = {make(F64, 2, none), VEC(1), VEC(10)}, out[2] = {NULL}, pair = VEC(1, 2);

    CHECK_INT(run(loop, 3, in, 2, out), -1);
    CHECK_HAS(MXGetLastError(), "foreach: data has no steps: its shape is (0,2)");
    CHECK_INT(run(branch, 2, (H[]){pair, in[1]}, 1, out), -1);
    CHECK_HAS(MXGetLastError(), "cond: a condition has one element, got shape (2,)");
    for (int i = 0; i < 3; i++)
        drop(in[i]);
    drop(pair);
    CHECK_INT(MXSymbolFree(loop), 0);
    CHECK_INT(MXSymbolFree(branch), 0);
}

TEST(parameters_fit_the_graphs)
{
    static const struct {
        const char *json, *error;
    } bad[] = {
        {WHILE_JSON("[1]", "4"), "func_var_locs has position 1, but there are 1 variables"},
        {WHILE_JSON("[]", "4"), "num_out_data: expected 2"},
        {WHILE_JSON("[0]", "-1"), "max_iterations"},
        {BRANCH_JSON("[2]"), "then_input_locs has position 2, but there are 2 arrays"},
        {BRANCH_JSON("[]"), "then_input_locs: expected 1"},
        {GRAPH(OPERATOR("_zeros", "\"shape\": \"(1,)\"", "") ", \"subgraphs\": [{}]}", "[0, 0]"),
         "zeros: \"subgraphs\" must be a list of 0"},
    };
    SymbolHandle symbol = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(MXSymbolCreateFromJSON(bad[i].json, &symbol), -1);
        CHECK_HAS(MXGetLastError(), bad[i].error);
    }
    CHECK(make_loop("[1]", "2") == NULL);
    CHECK_HAS(MXGetLastError(), "foreach: position 1 of a variable is given twice");
    CHECK(make_loop("[]", "2") == NULL);
    CHECK_HAS(MXGetLastError(), "in_data_locs is empty");
    CHECK(make_loop("[0]", "3") == NULL);
    CHECK_HAS(MXGetLastError(), "num_outputs: expected 2");
    CHECK(apply_to("_foreach", 0, NULL, NULL, 0, NULL) == NULL);
    symbol = make_loop("[0]", "2");
    CHECK_INT(MXSymbolSetAttr(symbol, "num_outputs", "3"), -1);
    CHECK_INT(MXSymbolSetAttr(symbol, "__note__", "3"), 0);
    CHECK_INT(MXSymbolFree(symbol), 0);
    CHECK(try_op("_foreach", 0, NULL, 0, NULL, NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "only symbols have");
}

/* Of (a * 2) + b + (a * 2), where the sums are marked and b is, the product is cut off. */
TEST(a_part_is_cut_out)
{
    static const char *scalar = "scalar", *two = "2";
    SymbolHandle args[2] = {NULL}, a, b, sums[2], *cut;
    const char **names;
    uint32_t count;
    int size = -1;

    CHECK_INT(MXSymbolCreateVariable("a", &a), 0);
    CHECK_INT(MXSymbolCreateVariable("b", &b), 0);
    CHECK_INT(MXSymbolSetAttr(b, "__subgraph_name__", "g"), 0);
    args[0] = apply_to("_mul_scalar", 1, &scalar, &two, 1, &a);
    args[1] = b;
    sums[0] = apply_to("elemwise_add", 0, NULL, NULL, 2, args);
    CHECK_INT(MXSymbolCutSubgraph(sums[0], &cut, &size), 0);
    CHECK_INT(size, 0);
    CHECK_INT(MXSymbolSetAttr(sums[0], "__subgraph_name__", "g"), 0);
    sums[1] = apply_to("elemwise_add", 0, NULL, NULL, 2, (SymbolHandle[]){sums[0], args[0]});
    CHECK_INT(MXSymbolSetAttr(sums[1], "__subgraph_name__", "g"), 0);
    CHECK_INT(MXSymbolCutSubgraph(sums[1], &cut, &size), 0);
    REQUIRE(size == 2);
    for (int i = 0; i < 2; i++) {
        SymbolHandle one = cut[i];

        CHECK_INT(MXSymbolListArguments(one, &count, &names), 0);
        CHECK_INT(count, 1);
        CHECK_STR(names[0], "a");
        CHECK_INT(MXSymbolFree(one), 0);
    }
    CHECK_INT(MXSymbolListArguments(sums[1], &count, &names), 0);
    CHECK_INT(count, 2);
    CHECK_STR(names[0], "_mul_scalar_output");
    CHECK_STR(names[1], "b");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXSymbolFree(args[i]), 0);
        CHECK_INT(MXSymbolFree(sums[i]), 0);
    }
    CHECK_INT(MXSymbolFree(a), 0);
}

HARNESS_MAIN(ENTRY(a_loop_runs), ENTRY(a_loop_has_second_derivatives),
             ENTRY(a_loop_is_written_and_read), ENTRY(shapes_follow_through_a_loop),
             ENTRY(a_while_loop_runs), ENTRY(a_branch_runs), ENTRY(what_does_not_fit_is_an_error),
             ENTRY(parameters_fit_the_graphs), ENTRY(a_part_is_cut_out))
