/* Texts of shapes: what follows from them in every direction, and what contradictions say. */
#include <stdio.h>
#include <string.h>

#include "harness.h"

#include "base/error.h"
#include "op/rule.h"
#include "op/shapes/shapes.h"

typedef struct params {
    int64_t filters, groups, axis;
    mxl_tuple kernel;
} params;

/* Three sizes share one of the result; and one the other way. */
static int halved(const mxl_size_ask *ask, int64_t *size)
{
    if (ask->arg[0] < 2)
        return mxl_error("fake: nothing to halve");
    *size = ask->arg[0] / 2;
    return 0;
}

static int less(const mxl_size_ask *ask, int64_t *size)
{
    *size = ask->arg[0] - ask->i;
    return 0;
}

static int64_t more(const mxl_size_ask *ask, int64_t size)
{
    return size + ask->i;
}

static const mxl_op fake = {
    .name = "fake",
    MXL_INPUTS(MXL_INPUT(data, ""), MXL_INPUT(weight, ""), MXL_INPUT(bias, "")),
    MXL_PARAMS_OF(params, MXL_PARAM(params, filters, MXL_P_INT, "1", ""),
                  MXL_PARAM(params, groups, MXL_P_INT, "1", ""),
                  MXL_PARAM(params, axis, MXL_P_INT, "0", ""),
                  MXL_PARAM(params, kernel, MXL_P_SHAPE, "()", "")),
    .size_functions =
        (const mxl_size_function[]){{"halved", halved, NULL}, {"less", less, more}, {0}},
};

static const int64_t three_by_five[] = {3, 5};
static params given = {4, 2, 1, {2, three_by_five}};

enum { MOST = 8 };

/* "2,?" or "()" becomes a shape, "*" an unknown one. */
static mxl_shape shape_of(const char *text, size_t length)
{
    mxl_shape shape = {.ndim = 0};
    const char *end = text + length;

    if (*text == '*')
        return (mxl_shape){.ndim = -1};
    if (*text == '(')
        return shape;
    while (text < end) {
        int64_t size = 0;

        for (; text < end && *text != ','; text++)
            size = *text == '?' ? -1 : size * 10 + (*text - '0');
        shape.dim[shape.ndim++] = size;
        text++;
    }
    return shape;
}

static void print(char *room, const mxl_shape *shape)
{
    strcat(room, room[0] == '\0' ? "" : " ");
    if (shape->ndim <= 0)
        strcat(room, shape->ndim < 0 ? "*" : "()");
    for (int i = 0; i < shape->ndim; i++)
        sprintf(room + strlen(room), shape->dim[i] < 0 ? "%s?" : "%s%lld", i > 0 ? "," : "",
                (long long)shape->dim[i]);
}

/* What a graph knows after the text, of so many inputs and the outputs behind them; or the error,
 * after which nothing has changed. */
static const char *graph(const char *text, int num_in, const char *known)
{
    static char answer[512];
    mxl_shape shapes[MOST], before[MOST];
    int in[MOST], count = 0;
    mxl_rule rule = {.op = &fake, .params = &given, .in = in, .num_in = num_in, .out = num_in};

    while (*known != '\0') {
        size_t length = strcspn(known, " ");

        shapes[count] = before[count] = shape_of(known, length);
        in[count] = count;
        count++;
        known += length + (known[length] == ' ');
    }
    rule.num_out = count - num_in;
    rule.shapes = shapes;
    answer[0] = '\0';
    if (mxl_rule_said_shapes(&rule, text) != 0) {
        for (int i = 0; i < count; i++)
            CHECK(shapes[i].ndim == before[i].ndim);
        return mxl_error_text();
    }
    for (int i = 0; i < count; i++)
        print(answer, &shapes[i]);
    return answer;
}

/* The results of a call. */
static const char *call(const char *text, int num_in, const char *known, int num_out)
{
    static char answer[512];
    mxl_shape shapes[MOST], outs[MOST];
    mxl_array arrays[MOST], *in[MOST];
    mxl_infer infer = {.op = &fake, .num_inputs = num_in, .num_outputs = num_out};
    mxl_shape_facts facts = {&fake, &given, num_in, num_out, &infer, NULL};
    mxl_shapes compiled;

    memset(arrays, 0, sizeof(arrays));
    for (int i = 0; i < num_in; i++) {
        size_t length = strcspn(known, " ");

        shapes[i] = shape_of(known, length);
        arrays[i].ndim = shapes[i].ndim;
        arrays[i].shape = shapes[i].dim;
        in[i] = &arrays[i];
        known += length + (known[length] == ' ');
    }
    for (int i = 0; i < num_out; i++)
        outs[i].ndim = -1;
    infer.in = in;
    infer.out_shape = outs;
    answer[0] = '\0';
    if (mxl_shapes_compile(&fake, text, &compiled) != 0 || mxl_shapes_solve(&compiled, &facts) != 0)
        return mxl_error_text();
    for (int i = 0; i < num_out; i++)
        print(answer, &outs[i]);
    return answer;
}

TEST(sizes_follow_in_every_direction)
{
    const char *text = "data[N,C,*S:kernel] weight[filters,C/groups,*kernel] bias[filters] -> "
                       "[N,filters,*less(S)]";

    CHECK_STR(graph(text, 3, "2,6,9,9 * * *"), "2,6,9,9 4,3,3,5 4 2,4,9,8");
    CHECK_STR(graph(text, 3, "* 4,3,3,5 * 2,4,9,8"), "2,6,9,9 4,3,3,5 4 2,4,9,8");
    CHECK_STR(graph(text, 2, "?,6,?,? * *"), "?,6,?,? 4,3,3,5 ?,4,?,?");
    CHECK_STR(graph(text, 2, "* * *"), "* * *");
    CHECK_STR(call(text, 3, "2,6,9,9 4,3,3,5 4", 1), "2,4,9,8");
    CHECK_STR(call(text, 2, "0,6,9,9 4,3,3,5", 1), "0,4,9,8");
}

TEST(errors_say_what_must_be_and_why)
{
    const char *text = "data[N,C,*S:kernel] weight[filters,C/groups,*kernel] bias[N] -> [N,C*2]";

    CHECK_STR(call(text, 2, "2,6,9,9 5,3,3,5", 1),
              "fake: axis 0 of weight is 5; it must be 4, the parameter filters");
    CHECK_STR(call(text, 2, "2,6,9,9 4,6,3,5", 1),
              "fake: axis 1 of weight is 6; it must be 3, C/groups with C 6, axis 1 of data");
    CHECK_STR(call(text, 2, "2,6,9,9 4,3,3,4", 1),
              "fake: axis 3 of weight is 4; it must be 5, the parameter kernel");
    CHECK_STR(call(text, 3, "2,6,9,9 4,3,3,5 3", 1),
              "fake: axis 0 of bias is 3; it must be 2, axis 0 of data");
    CHECK_STR(call(text, 2, "2,7,9,9 4,3,3,5", 1),
              "fake: 7 cannot be divided by 2, C/groups with C 7, axis 1 of data");
    CHECK_STR(call(text, 2, "2,6,9 4,3,3,5", 1),
              "fake: data must have shape [N,C,*S:kernel], got (2,6,9)");
    CHECK_STR(graph(text, 2, "* * 2,7"), "fake: axis 1 of the result is 7; it must be a multiple "
                                         "of 2, C*2");
    CHECK_STR(call("data[*S] weight[*S] -> [*S]", 2, "2,3 2,4", 1),
              "fake: axis 1 of weight is 4; it must be 3, axis 1 of data");
    CHECK_STR(call("data[N] -> [halved(N)]", 1, "1", 1), "fake: nothing to halve");
    CHECK_STR(call("data[N] -> [M]", 1, "1", 1),
              "fake: the result's shape, [M], does not follow from the inputs");
}

TEST(an_axis_is_where_a_parameter_says)
{
    const char *text = "data[*A,C@axis,*B] weight[C] -> [*A,C,*B] [*A,1,*B]";
    const char *inserted = "data[*A,*B] -> [*A,7@axis,*B]";

    CHECK_STR(graph(text, 2, "2,3,4 * * *"), "2,3,4 3 2,3,4 2,1,4");
    CHECK_STR(graph(text, 2, "?,?,? 5 * 2,1,4"), "2,5,4 5 2,5,4 2,1,4");
    CHECK_STR(call(inserted, 1, "2,3", 1), "2,7,3");
    CHECK_STR(graph(inserted, 1, "* 2,7,3"), "2,3 2,7,3");
    given.axis = -1;
    CHECK_STR(graph(text, 2, "2,3,4 * * *"), "2,3,4 4 2,3,4 2,3,1");
    CHECK_STR(call(inserted, 1, "2,3", 1), "2,3,7");
    given.axis = 3;
    CHECK(strstr(call(text, 2, "2,3,4 3", 2), "fake: ") != NULL);
    given.axis = 1;
    CHECK_STR(call("data[*A,N@axis,*B] weight[*I] -> [*A,*I,*B]", 2, "2,3,4 5,6", 1), "2,5,6,4");
    CHECK_STR(graph("data[*A,N@axis,*B] weight[*I] -> [*A,*I,*B]", 2, "2,3,? * 2,5,6,4"),
              "2,3,4 5,6 2,5,6,4");
}

TEST(groups_are_repeated)
{
    const char *joined = "(data[*A,D_i@axis,*B])... -> [*A,sum(D_i),*B]";
    const char *stacked = "(data[*A,*B])... -> [*A,count@axis,*B]";

    CHECK_STR(call(joined, 3, "2,3 2,4 2,0", 1), "2,7");
    CHECK_STR(graph(joined, 3, "2,3 ?,? ?,1 2,9"), "2,3 2,5 2,1 2,9");
    CHECK_STR(graph(joined, 2, "2,3 ?,? *"), "2,3 2,? 2,?");
    CHECK_STR(call(joined, 2, "2,3 4,3", 1),
              "fake: axis 0 of weight is 4; it must be 2, axis 0 of data");
    CHECK_STR(call(stacked, 3, "2,3 2,3 2,3", 1), "2,3,3");
    CHECK_STR(graph(stacked, 2, "* * 5,2,6"), "5,6 5,6 5,2,6");
    CHECK_STR(graph("(AA).>(A)", 5, "2 * * * * * 3,4"), "2 2 3,4 3,4 * 2 3,4");
    CHECK_STR(graph("A*>A", 3, "* 2,? * ?,3"), "2,3 2,3 2,3 2,3");
    CHECK_STR(graph("(data[*S_i] weight[N_i])... bias[N] -> ([*S_i,N_i])...", 5, "2 3 4 * * * 4,5"),
              "2 3 4 5 ? 2,3 4,5");
}

TEST(one_of_several_forms_holds)
{
    const char *text = "data[*A,N@axis,*B] weight[*A,*B]|[*A,1,*B] -> [*A,*B]";

    CHECK_STR(call(text, 2, "2,3,4 2,4", 1), "2,4");
    CHECK_STR(call(text, 2, "2,3,4 2,1,4", 1), "2,4");
    CHECK_STR(graph(text, 2, "2,3,4 * *"), "2,3,4 2,4 2,4");
    CHECK_STR(graph(text, 2, "2,3,4 ?,?,? *"), "2,3,4 2,1,4 2,4");
    CHECK_STR(graph(text, 2, "* 2,1 *"), "* 2,1 *");
    CHECK_STR(call(text, 2, "2,3,4 2,5", 1),
              "fake: axis 1 of weight is 5; it must be 4, axis 2 of data");
}

TEST(products_of_lists_and_lengths)
{
    CHECK_STR(graph("data[N,*S] weight[filters,prod(S)] -> [N,filters]", 2, "2,?,5 4,15 *"),
              "2,3,5 4,15 2,4");
    CHECK_STR(call("data[N,*S] weight[filters,prod(S)] -> [N,filters]", 2, "2 4,1", 1), "2,4");
    CHECK_STR(graph("data[len(kernel),N] -> [N]", 1, "* 6"), "2,6 6");
    CHECK_STR(call("data[*S] -> [*kernel]", 1, "6", 1), "3,5");
}

TEST(what_does_not_follow_ends_the_search)
{
    int64_t sizes[] = {3, -2};

    /* a product that is too large, an entry of a parameter that is no size, and sizes of a call
     * that are known by a function alone */
    CHECK_STR(graph("data[*A,N] -> [prod(A)]", 1, "3,6148914691236517205,?,2 8"),
              "3,6148914691236517205,?,2 8");
    CHECK_STR(
        call("data[halved(N)] weight[*less(S:kernel)] bias[prod(S)] -> [*S]", 3, "2 6,4 30", 1),
        "6,5");
    CHECK_STR(call("data[*S:kernel] -> .", 1, "2,3", 1), "*");
    given.kernel.v = sizes;
    CHECK_STR(graph("data[N] weight[*kernel] -> [N]", 2, "2 3,5 *"), "2 3,5 2");
    given.kernel.v = three_by_five;
}

TEST(an_axis_of_one_stands_for_none)
{
    const char *text = "data[*A,K] weight[K,*B] -> [*A,*B|1]";

    CHECK_STR(call(text, 2, "3 3", 1), "1");
    CHECK_STR(call(text, 2, "2,3 3", 1), "2");
    CHECK_STR(graph(text, 2, "3 3 *"), "3 3 1");
    CHECK_STR(graph(text, 2, "3 3 ?"), "3 3 1");
    CHECK_STR(graph(text, 2, "?,3 * 1"), "?,3 * 1");
    CHECK_STR(graph(text, 2, "?,3 * 4,5"), "4,3 3,5 4,5");
    CHECK_STR(graph("data[N,*A] weight[*A|1] -> [N]", 2, "3 () *"), "3 () 3");
    CHECK_STR(graph("data[N,*A] weight[*A|1] -> [N]", 2, "3 * *"), "3 1 3");
    CHECK_STR(graph(text, 2, "3 3 2"), "fake: the result must have shape [*A,*B|1], got (2,)");
}

TEST(texts_that_are_none_are_refused)
{
    static const struct {
        const char *text, *problem;
    } bad[] = {
        {"data[N", "expected , or ]"},          {"data[N]", "expected ->"},
        {"data[size] -> [1]", "no such par"},   {"data[f(N)] -> [N]", "no such function"},
        {"data -> [N]", "expected ["},          {"data[*N@axis] -> .", "@ is for one size"},
        {"(.)(.) -> .", "a second group"},      {"data[prod(S] -> .", "expected )"},
        {"data[*filters] -> .", "no such par"}, {"data[N] -> [count]", "without a group"},
    };
    mxl_shapes shapes;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(mxl_shapes_compile(&fake, bad[i].text, &shapes) != 0);
        if (!CHECK(strstr(mxl_error_text(), bad[i].problem) != NULL))
            printf("    %s\n", mxl_error_text());
    }
}

/* Its text keeps its last call. */
static const mxl_op keeper = {
    .name = "keeper",
    MXL_PARAMS_OF(params, MXL_PARAM(params, filters, MXL_P_INT, "1", ""),
                  MXL_PARAM(params, kernel, MXL_P_SHAPE, "()", "")),
    MXL_SHAPES("data[N,*S] weight[*A] -> [N,filters,*kernel]"),
};

/* The dtype and shape of the result of a call. */
static const char *kept(const char *known, int num_in, int dtype)
{
    static char answer[512];
    mxl_array arrays[2], *in[2] = {&arrays[0], &arrays[1]};
    mxl_shape shape[2], out = {.ndim = -1};
    int out_dtype = MXL_DTYPE_UNKNOWN;
    mxl_infer infer = {.op = &keeper,
                       .params = &given,
                       .num_inputs = num_in,
                       .num_outputs = 1,
                       .in = in,
                       .out_shape = &out,
                       .out_dtype = &out_dtype};

    memset(arrays, 0, sizeof(arrays));
    for (int i = 0; i < num_in; i++) {
        size_t length = strcspn(known, " ");

        shape[i] = shape_of(known, length);
        arrays[i].ndim = shape[i].ndim;
        arrays[i].shape = shape[i].dim;
        arrays[i].dtype = dtype;
        known += length + (known[length] == ' ');
    }
    answer[0] = '\0';
    if (mxl_infer_said(&infer) != 0)
        return mxl_error_text();
    sprintf(answer, "%d: ", out_dtype);
    print(answer, &out);
    return answer;
}

TEST(what_is_kept_is_of_the_same_call)
{
    int64_t sizes[] = {3, 5};

    given.kernel.v = sizes;
    for (int i = 0; i < 2; i++) {
        CHECK_STR(kept("2,3", 1, MXL_F32), "0:  2,4,3,5");
        CHECK_STR(kept("2,3", 1, MXL_F32), "0:  2,4,3,5");
        CHECK_STR(kept("2,3", 1, MXL_F64), "1:  2,4,3,5");
        CHECK_STR(kept("7", 1, MXL_F64), "1:  7,4,3,5");
        CHECK_STR(kept("7 1", 2, MXL_F64), "1:  7,4,3,5");
        sizes[1] = 6;
        CHECK_STR(kept("7 1", 2, MXL_F64), "1:  7,4,3,6");
        given.filters = 9;
        CHECK_STR(kept("7 1", 2, MXL_F64), "1:  7,9,3,6");
        given.kernel.n = 1;
        CHECK_STR(kept("7 1", 2, MXL_F64), "1:  7,9,3");
        CHECK(strstr(kept("() 1", 2, MXL_F64), "data must have shape") != NULL);
        given = (params){4, 2, 1, {2, sizes}};
        sizes[1] = 5;
    }
    given.kernel.v = three_by_five;
}

HARNESS_MAIN(ENTRY(sizes_follow_in_every_direction), ENTRY(errors_say_what_must_be_and_why),
             ENTRY(an_axis_is_where_a_parameter_says), ENTRY(groups_are_repeated),
             ENTRY(one_of_several_forms_holds), ENTRY(products_of_lists_and_lengths),
             ENTRY(what_does_not_follow_ends_the_search), ENTRY(an_axis_of_one_stands_for_none),
             ENTRY(texts_that_are_none_are_refused), ENTRY(what_is_kept_is_of_the_same_call))
