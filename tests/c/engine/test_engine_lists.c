/* Lists of any length, of numbers as a parameter, of inputs and of outputs: results, derivatives,
 * and the parameters that a node prints. */
#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/shape.h"
#include "op/op.h"

static const int lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000};
enum { LENGTHS = sizeof lengths / sizeof *lengths, LONGEST = 1000, TEXT = 8 * LONGEST };

/* "(0, 1, 2)", every entry `step` above the one before it. */
static const char *list_text(char *text, int count, int64_t first, int step)
{
    size_t used = (size_t)sprintf(text, "(");

    for (int i = 0; i < count; i++)
        used += (size_t)sprintf(text + used, "%s%lld", i == 0 ? "" : ", ",
                                (long long)(first + (int64_t)step * i));
    sprintf(text + used, count == 1 ? ",)" : ")");
    return text;
}

/* ---- values and derivatives ---- */

/* 1, 2, 3, ... as a variable. */
static H counting(int n)
{
    double values[LONGEST];
    H x;

    for (int i = 0; i < n; i++)
        values[i] = i + 1;
    x = vec(n, values);
    attach(x, REQ_WRITE);
    return x;
}

/* Element i of `array` is constant + factor * (i + 1). */
static void check_line(H array, int n, double constant, double factor)
{
    double values[LONGEST];

    REQUIRE(array != NULL);
    REQUIRE(MXNDArraySyncCopyToCPU(array, values, (size_t)n) == 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(values[i], constant + factor * (i + 1), 1e-12);
}

/* The parameter of the node that made the array, as text. */
static void check_param(H array, const char *name, const char *text)
{
    MXLNodeHandle node = NULL;
    const char **keys, **values;
    int count = 0, output, found = 0;

    REQUIRE(MXLNDArrayGetEdge(array, &node, &output) == 0 && node != NULL);
    CHECK_INT(MXLNodeGetParams(node, &count, &keys, &values), 0);
    for (int i = 0; i < count; i++) {
        if (strcmp(keys[i], name) == 0)
            found += CHECK_STR(values[i], text);
    }
    CHECK_INT(found, 1);
    CHECK_INT(MXLNodeFree(node), 0);
}

/* All of a list's parts joined again by `name`, cubed (or squared where they were summed). */
static void check_joined(H x, int n, H *parts, const char *name, bool sums)
{
    const char *keys[2] = {"num_args", strcmp(name, "stack") == 0 ? "axis" : "dim"};
    char count[16];
    const char *values[2] = {count, "0"};
    H whole, square, y, first, second;

    sprintf(count, "%d", n);
    record(true);
    whole = try_op(name, n, parts, sums ? 1 : 2, keys, values);
    if (!CHECK(whole != NULL))
        CHECK_STR(MXGetLastError(), name);
    square = MUL(whole, whole);
    y = sums ? square : MUL(square, whole);
    first = derivative(y, x, 1, 1);
    second = derivative(first, x, 1, 0);
    record(false);
    if (sums) { /* (sum x)^2 */
        check_line(first, n, (double)n * (n + 1), 0);
        check_line(second, n, 2.0 * n, 0);
    } else { /* x^3, its gradient 3 x^2 summed */
        double slopes[LONGEST];

        REQUIRE(MXNDArraySyncCopyToCPU(first, slopes, (size_t)n) == 0);
        for (int i = 0; i < n; i++)
            CHECK_NEAR(slopes[i], 3.0 * (i + 1) * (i + 1), 1e-12);
        check_line(second, n, 0, 6);
    }
    drop(second);
    drop(first);
    if (y != square)
        drop(y);
    drop(square);
    drop(whole);
}

static void check_parts(H x, int n, H *parts)
{
    check_joined(x, n, parts, "add_n", true);
    check_joined(x, n, parts, "stack", false);
    check_joined(x, n, parts, "Concat", false);
    for (int i = 0; i < n; i++)
        drop(parts[i]);
}

/* x cut into its elements by a list of n positions: as text, and as a typed argument. */
TEST(parts_of_a_list)
{
    static char text[TEXT];
    static int64_t begins[LONGEST];
    static H parts[LONGEST];
    const char *keys[2] = {"indices", "axis"}, *values[2] = {text, "0"};
    MXLCallHandle call;
    OpHandle split;

    CHECK_INT(NNGetOpHandle("_split_v2", &split), 0);
    CHECK_INT(MXLPrepare("_split_v2", 1, &keys[1], &values[1], 1, keys, &call), 0);
    for (int k = 0; k < LENGTHS; k++) {
        int n = lengths[k], num = 0, count = n;
        MXLValue list = {.list = {n, begins}};
        H x = counting(n), *outputs = NULL;
        const int *stypes;

        for (int i = 0; i < n; i++) {
            begins[i] = i;
            parts[i] = NULL;
        }
        list_text(text, n, 0, 1);
        record(true);
        CHECK_INT(MXImperativeInvokeEx(split, 1, &x, &num, &outputs, 2, keys, values, &stypes), 0);
        REQUIRE(num == n);
        memcpy(parts, outputs, (size_t)n * sizeof(*parts));
        record(false);
        check_param(parts[n - 1], "indices", text);
        check_parts(x, n, parts);

        memset(parts, 0, sizeof parts);
        record(true);
        CHECK_INT(MXLCallGetNumOutputs(call, &list, &num), 0);
        CHECK_INT(num, n);
        CHECK_INT(MXLCallInto(call, 1, &x, &list, &count, parts), 0);
        REQUIRE(count == n);
        record(false);
        memset(begins, -1, sizeof begins); /* the node has a copy */
        check_param(parts[0], "indices", text);
        check_parts(x, n, parts);
        drop(x);
    }
}

TEST(parts_of_a_number)
{
    static H parts[LONGEST];
    const char *keys[2] = {"num_outputs", "axis"};
    OpHandle split;

    CHECK_INT(NNGetOpHandle("SliceChannel", &split), 0);
    for (int k = 0; k < LENGTHS; k++) {
        int n = lengths[k], num = 0;
        char number[16];
        const char *values[2] = {number, "0"};
        H x = counting(n), *outputs = NULL;
        const int *stypes;

        sprintf(number, "%d", n);
        record(true);
        CHECK_INT(MXImperativeInvokeEx(split, 1, &x, &num, &outputs, 2, keys, values, &stypes), 0);
        REQUIRE(num == n);
        memcpy(parts, outputs, (size_t)n * sizeof(*parts));
        record(false);
        check_parts(x, n, parts);
        drop(x);
    }
}

/* Three axes of 4 and 13 of 1, each split into two: 48 codes; read from either end. */
TEST(codes)
{
    for (int reverse = 0; reverse < 2; reverse++) {
        int64_t extents[16], codes[49], shape[32];
        H x, y;

        for (int i = 0; i < 16; i++) {
            int64_t half = i < 3 ? 2 : 1, code[3] = {-4, half, -1};

            extents[reverse ? 15 - i : i] = half * half;
            for (int k = 0; k < 3; k++)
                codes[reverse ? 47 - 3 * i - k : 3 * i + k] = code[k];
        }
        x = make(F64, 16, extents);
        y = MXLNDArrayReshape(x, 48, codes, reverse);
        REQUIRE(y != NULL);
        CHECK_INT(MXLNDArrayGetInfo(y, 32, shape, NULL), 32);
        for (int i = 0; i < 32; i++)
            CHECK_INT(shape[reverse ? 31 - i : i], i < 6 ? 2 : 1);
        drop(y);
        codes[48] = 1;
        CHECK(MXLNDArrayReshape(x, 49, codes, 0) == NULL);
        if (!reverse)
            CHECK_HAS(MXGetLastError(), "reshape: more than 32 axes");
        drop(x);
    }
}

/* Typed lists that cannot be: nothing is made, and the message says what was asked for. */
TEST(bad_lists)
{
    static const int64_t two[2] = {0, INT64_MIN};
    static const struct {
        MXLList list;
        const char *text;
    } bad[] = {
        {{2, NULL}, "is a list of 2 numbers, which are NULL"},
        {{-2, two}, "is a list of -2 numbers; 0 to"},
        {{INT64_MAX, two}, "is a list of 9223372036854775807 numbers; 0 to"},
        {{2, two}, "entry 1 of parameter \"indices\" cannot be None"},
        {{-1, NULL}, "parameter \"indices\" cannot be None"},
    };
    const char *keys[2] = {"indices", "axis"}, *zero = "0";
    H x = VEC(1, 2), out[2] = {NULL, NULL};
    MXLCallHandle call;

    CHECK_INT(MXLPrepare("_split_v2", 1, &keys[1], &zero, 1, keys, &call), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MXLValue value = {.list = bad[i].list};
        int count = 2;

        CHECK_FAILS(MXLCallInto(call, 1, &x, &value, &count, out), bad[i].text);
        CHECK_INT(count, 2);
        CHECK(out[0] == NULL && out[1] == NULL);
    }
    drop(x);
}

/* ---- every operator that takes a list ---- */

static bool is_list(const mxl_param *param)
{
    return param->type == MXL_P_SHAPE || param->type == MXL_P_OPT_SHAPE ||
           param->type == MXL_P_TUPLE_OPT;
}

static const char *required(const mxl_param *param)
{
    return param->type == MXL_P_ENUM || param->type == MXL_P_DTYPE ? param->values[0] : "1";
}

/* Runs the operator, all of its lists being `text`, and asks for a derivative of the result:
 * neither may touch what is not its own. Whether it ran. */
static bool try_list(const mxl_op *op, const char *text, int num_inputs, H *in)
{
    const char *keys[64], *values[64];
    int count = 0, num = 0, status;
    const int *stypes;
    H *outputs = NULL, *made, first;
    OpHandle handle;

    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
        if (is_list(param) || param->def == NULL) {
            keys[count] = param->name;
            values[count++] = is_list(param) ? text : required(param);
        }
    }
    CHECK_INT(NNGetOpHandle(op->name, &handle), 0);
    record(true);
    status =
        MXImperativeInvokeEx(handle, num_inputs, in, &num, &outputs, count, keys, values, &stypes);
    record(false);
    if (status != 0) {
        CHECK_HAS(MXGetLastError(), ": ");
        return false;
    }
    made = malloc((size_t)num * sizeof(*made));
    memcpy(made, outputs, (size_t)num * sizeof(*made));
    first = num_inputs > 0 ? derivative(made[0], in[0], 0, 0) : NULL;
    drop(first);
    for (int i = 0; i < num; i++)
        drop(made[i]);
    free(made);
    return true;
}

/* Inputs of the operator, all of one shape, that are variables. */
static void try_shape(const mxl_op *op, const char *text, int ndim, const int64_t *shape, int *ran)
{
    H in[16];
    int count = 0;

    while (mxl_op_inputs(op)[count].name != NULL) {
        in[count] = make(F64, ndim, shape);
        CHECK_INT(MXNDArraySyncCopyFromCPU(in[count], (double[1024]){0}, (size_t)shape[0]), 0);
        attach(in[count++], REQ_WRITE);
    }
    *ran += try_list(op, text, count, in);
    while (count > 0)
        drop(in[--count]);
}

TEST(every_operator)
{
    static char text[TEXT];
    static const int64_t vector[1] = {4}, table[2] = {2, 1};
    int64_t ones[MXL_MAX_NDIM];
    int operators = 0, ran = 0, before;

    for (int i = 0; i < MXL_MAX_NDIM; i++)
        ones[i] = 1;
    CHECK_INT(MXSetIsNumpyShape(1, &before), 0);
    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);
        bool takes = false;

        for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++)
            takes = takes || is_list(param);
        operators += takes;
        for (int k = 0; k < LENGTHS && takes; k++) {
            for (int first = -1; first <= 1; first++) {
                for (int step = 0; step < 2; step++) {
                    list_text(text, lengths[k], first, step);
                    try_shape(op, text, 1, vector, &ran);
                    try_shape(op, text, 2, table, &ran);
                    try_shape(op, text, MXL_MAX_NDIM, ones, &ran);
                }
            }
        }
    }
    CHECK_INT(MXSetIsNumpyShape(before, &before), 0);
    CHECK(operators > 50);
    CHECK(ran > 1400); /* layers refuse most lists */
}

HARNESS_MAIN(ENTRY(parts_of_a_list), ENTRY(parts_of_a_number), ENTRY(codes), ENTRY(bad_lists),
             ENTRY(every_operator))
