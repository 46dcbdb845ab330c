/* Parsing parameters: spellings that 1.9.1 accepts and refuses, and the error messages. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "op/op.h"

typedef struct fake_params {
    int64_t count, axis, num_args;
    double p, temperature, scalar;
    int keepdims, cudnn_off, mode, stype, dtype;
    mxl_tuple shape, axes, late, begin;
    const char *ctx;
    int unlisted; /* no parameter: always 0 after parsing */
} fake_params;

static const char *const modes[] = {"clip", "raise", "wrap", NULL};
static const char *const stypes[] = {"None", "csr", "default", NULL};
static const char *const dtypes[] = {"bfloat16", "float16", "float32", "int64", NULL};

#define FIELD(field_name, field_type)                                                              \
    .name = #field_name, .type = field_type, .offset = offsetof(fake_params, field_name)

static const mxl_param params_table[] = {
    {FIELD(count, MXL_P_INT), .min = 1, .has_min = true},
    {FIELD(axis, MXL_P_OPT_INT), .def = "None"},
    {FIELD(num_args, MXL_P_INT), .min = 1, .has_min = true},
    {FIELD(p, MXL_P_FLOAT), .def = "0.5"},
    {FIELD(temperature, MXL_P_OPT_FLOAT), .def = "None"},
    {FIELD(scalar, MXL_P_FLOAT), .def = "1", .type_name = "double"},
    {FIELD(keepdims, MXL_P_BOOL), .def = "0"},
    {FIELD(cudnn_off, MXL_P_OPT_BOOL), .def = "None"},
    {FIELD(mode, MXL_P_ENUM), .def = "clip", .values = modes},
    {FIELD(stype, MXL_P_ENUM), .def = "None", .values = stypes},
    {FIELD(dtype, MXL_P_DTYPE), .def = "float32", .values = dtypes},
    {FIELD(shape, MXL_P_SHAPE), .def = "[]"},
    {FIELD(axes, MXL_P_OPT_SHAPE), .def = "None"},
    {FIELD(late, MXL_P_SHAPE), .def = "None"},
    {FIELD(begin, MXL_P_TUPLE_OPT), .def = "(None, 1)"},
    {FIELD(ctx, MXL_P_STRING), .def = ""},
    {0},
};

static int check_fake(void *params)
{
    const fake_params *p = params;

    return p->count == 77 ? mxl_error("fake: 77 is not liked") : 0;
}

static const mxl_op fake = {
    .name = "fake",
    .params = params_table,
    .params_size = sizeof(fake_params),
    .key_var_num_args = "num_args",
    .check = check_fake,
};
static const mxl_op bare = {.name = "bare", .params = params_table + 16};
static const mxl_op counted = {
    .name = "counted", .params = params_table + 16, .key_var_num_args = "num_args"};

static mxl_arena arena;
static fake_params got;

/* Parses `count` = 1 and one more parameter. */
static int parse(const char *key, const char *value)
{
    const char *keys[] = {"count", key};
    const char *values[] = {"1", value};

    mxl_arena_clear(&arena);
    memset(&got, 0x55, sizeof got);
    return mxl_params_parse(&fake, 2, keys, values, &got, &arena);
}

/* All values of a list that ends with NULL are refused, with a line that names the parameter. */
static void check_refused(const char *key, const char *const *values)
{
    char line[64];

    snprintf(line, sizeof line, "fake: parameter %s: ", key);
    for (; *values != NULL; values++) {
        mxl_error("none");
        if (!CHECK_INT(parse(key, *values), -1) || !CHECK_HAS(mxl_error_text(), line))
            printf("    value \"%s\"\n", *values);
    }
}

#define REFUSED(key, ...) check_refused(key, (const char *const[]){__VA_ARGS__, NULL})

TEST(defaults)
{
    const char *key = "count", *value = "3";

    mxl_arena_init(&arena);
    REQUIRE(mxl_params_parse(&fake, 1, &key, &value, &got, &arena) == 0);
    CHECK_INT(got.count, 3);
    CHECK(got.axis == MXL_NONE);
    CHECK_INT(got.num_args, -1);
    CHECK(got.p == 0.5);
    CHECK(isnan(got.temperature));
    CHECK(got.scalar == 1);
    CHECK_INT(got.keepdims, 0);
    CHECK_INT(got.cudnn_off, -1);
    CHECK_INT(got.mode, 0);
    CHECK_INT(got.stype, 0);
    CHECK_INT(got.dtype, MXL_F32);
    CHECK_INT(got.shape.n, 0);
    CHECK_INT(got.axes.n, -1);
    CHECK_INT(got.late.n, -1);
    CHECK_INT(got.begin.n, 2);
    CHECK(got.begin.v[0] == MXL_NONE);
    CHECK_INT(got.begin.v[1], 1);
    CHECK_STR(got.ctx, "");
    CHECK_INT(parse("p", "1"), 0);
    CHECK_INT(got.unlisted, 0);
    mxl_arena_clear(&arena);
}

TEST(integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } fine[] = {{"3", 3},     {" 3", 3},  {"3 ", 3}, {"+3", 3},
                {"\t3\n", 3}, {"003", 3}, {"1", 1},  {"2147483647", INT32_MAX}};

    mxl_arena_init(&arena);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        CHECK_INT(parse("num_args", fine[i].text), 0);
        CHECK_INT(got.num_args, fine[i].value);
    }
    REFUSED("num_args", "", " ", "a", "1.5", "1.0", "1e0", "1L", "0x1", "None", "True", "--1",
            "1 2", "- 1", "2147483648", "-2147483649", "99999999999", "99999999999999999999999",
            "-9223372036854775808");
    CHECK_INT(parse("num_args", "99999999999999999999999"), -1);
    CHECK_HAS(mxl_error_text(), "99999999999999999999999 is out of range");
    CHECK_INT(parse("num_args", "0"), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter num_args must be at least 1, got 0");
    CHECK_INT(parse("axis", "-2147483648"), 0);
    CHECK_INT(got.axis, INT32_MIN);
    CHECK_INT(parse("axis", "1L"), 0);
    CHECK_INT(got.axis, 1);
    CHECK_INT(parse("axis", "None "), 0);
    CHECK(got.axis == MXL_NONE);
    REFUSED("axis", "none", " None", "None1", "1LL", "1.0", "", "2147483648");
    CHECK_INT(parse("axis", "none"), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter axis: \"none\" is not an integer or None");
    mxl_arena_clear(&arena);
}

TEST(floats)
{
    static const struct {
        const char *text;
        double value;
    } fine[] = {
        {"1", 1},
        {" 1", 1},
        {"+1", 1},
        {"-1.5", -1.5},
        {".5", .5},
        {"5.", 5},
        {"1e-3", 1e-3},
        {"1E3", 1e3},
        {"1.e+5", 1e5},
        {"1.5f", 1.5},
        {"1F", 1},
        {"1e0000001", 10},
        {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
        {"9007199254740993", 9007199254740992.0},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"5e-324", 5e-324},
        {"0.00000000000000000000000000000000000000001e41", 1},
        {"100000000000000000000000000000e-29", 1},
        {"0e99999999999999999999", 0},
        {"inf", INFINITY},
        {"-INF", -INFINITY},
        {"+Infinity", INFINITY},
        {"nan", NAN},
        {"-NaN", NAN},
        {"nan(0)", NAN},
    };

    mxl_arena_init(&arena);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (!CHECK_INT(parse("scalar", fine[i].text), 0) ||
            !CHECK_NEAR(got.scalar, fine[i].value, 0))
            printf("    value \"%s\"\n", fine[i].text);
    REFUSED("scalar", "", " ", "1 ", "1e", "e1", "1e+", ".", "-", "1d", "0x10", "1,5", "1.5 x",
            "None", "1e400", "-1e400", "1e-400", "1e99999999999999999999",
            "1e-99999999999999999999", "True", "1_0", "1e -5", "- 1", "infx", "nanx", "1ff",
            "1e-3f ", "1.2.3", "nan(", "inff ");
    CHECK_INT(parse("scalar", "x1"), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter scalar: \"x1\" is not a number");
    CHECK_INT(parse("scalar", "1e400"), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter scalar: 1e400 is out of range");
    CHECK_INT(parse("scalar", "-0"), 0);
    CHECK(got.scalar == 0 && signbit(got.scalar));
    /* What prints as float must fit into one. */
    CHECK_INT(parse("p", "3e38"), 0);
    REFUSED("p", "1e39", "-1e39");
    CHECK_INT(parse("temperature", "2"), 0);
    CHECK(got.temperature == 2);
    REFUSED("temperature", "nan", "none", "");
    mxl_arena_clear(&arena);
}

/* Any double that printf writes comes back as it was, with any number of digits. */
TEST(floats_round_trip)
{
    uint64_t seed = 7;

    mxl_arena_init(&arena);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = harness_random(&seed);
        const char *formats[] = {"%.17g", "%.25e", "%.17G"};
        char text[64];
        double value;

        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, formats[i % 3], value);
        if (!CHECK_INT(parse("scalar", text), 0) || !CHECK(got.scalar == value)) {
            printf("    value \"%s\"\n", text);
            return;
        }
    }
    mxl_arena_clear(&arena);
}

/* A tie that only the last of more than a thousand digits breaks. */
TEST(floats_long_texts)
{
    char text[1300];
    const char *half = "9007199254740993."; /* between two doubles; ties go to the even one below */

    mxl_arena_init(&arena);
    memset(text, '0', sizeof text);
    memcpy(text, half, strlen(half));
    text[sizeof text - 1] = '\0';
    CHECK_INT(parse("scalar", text), 0);
    CHECK(got.scalar == 9007199254740992.0);
    text[sizeof text - 2] = '1';
    CHECK_INT(parse("scalar", text), 0);
    CHECK(got.scalar == 9007199254740994.0);
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = '\0';
    CHECK_INT(parse("scalar", text), -1);
    mxl_arena_clear(&arena);
}

TEST(booleans)
{
    static const char *const yes[] = {"1", "True", "true", "TRUE", "tRue"};
    static const char *const no[] = {"0", "False", "false", "FALSE"};

    mxl_arena_init(&arena);
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        CHECK_INT(parse("keepdims", yes[i]), 0);
        CHECK_INT(got.keepdims, 1);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        CHECK_INT(parse("keepdims", no[i]), 0);
        CHECK_INT(got.keepdims, 0);
    }
    REFUSED("keepdims", "", " 1", "1 ", "true ", "01", "1.0", "on", "yes", "2", "-1", "t", "None");
    CHECK_STR(mxl_error_text(), "fake: parameter keepdims: \"None\" is not True or False");
    CHECK_INT(parse("cudnn_off", " true "), 0);
    CHECK_INT(got.cudnn_off, 1);
    CHECK_INT(parse("cudnn_off", "none"), 0);
    CHECK_INT(got.cudnn_off, -1);
    CHECK_INT(parse("cudnn_off", " 0"), 0);
    CHECK_INT(got.cudnn_off, 0);
    REFUSED("cudnn_off", "", "x", "nonee", "a very long word indeed");
    mxl_arena_clear(&arena);
}

TEST(names)
{
    mxl_arena_init(&arena);
    CHECK_INT(parse("mode", "wrap"), 0);
    CHECK_INT(got.mode, 2);
    CHECK_INT(parse("stype", "csr"), 0);
    CHECK_INT(got.stype, 1);
    CHECK_INT(parse("stype", "None"), 0);
    CHECK_INT(got.stype, 0);
    CHECK_INT(parse("dtype", "int64"), 0);
    CHECK_INT(got.dtype, MXL_I64);
    REFUSED("mode", "", "Clip", " clip", "clip ", "0", "None");
    REFUSED("dtype", "", "Float32", "float32 ", "0", "None", "<f4", "int32");
    CHECK_INT(parse("dtype", "bfloat16"), 0);
    CHECK_INT(got.dtype, MXL_BF16);
    CHECK_INT(parse("dtype", "floaty"), -1);
    CHECK_STR(mxl_error_text(),
              "fake: parameter dtype: \"floaty\" is not one of bfloat16, float16, "
              "float32, int64; did you mean \"float16\" or \"float32\"?");
    CHECK_INT(parse("ctx", "cpu(0)"), 0);
    CHECK_STR(got.ctx, "cpu(0)");
    mxl_arena_clear(&arena);
}

static void check_tuple(const char *key, const mxl_tuple *tuple, const char *text, int n,
                        const int64_t *v)
{
    bool good = CHECK_INT(parse(key, text), 0) && CHECK_INT(tuple->n, n);

    for (int i = 0; good && i < n; i++)
        good = CHECK(tuple->v[i] == v[i]);
    if (!good)
        printf("    value \"%s\": %s\n", text, mxl_error_text());
}

#define TUPLE(field_name, text, n, ...)                                                            \
    check_tuple(#field_name, &got.field_name, text, n, (const int64_t[]){__VA_ARGS__})

TEST(tuples)
{
    mxl_arena_init(&arena);
    TUPLE(shape, "(2,3)", 2, 2, 3);
    TUPLE(shape, "[2, 3]", 2, 2, 3);
    TUPLE(shape, "[2,3)", 2, 2, 3);
    TUPLE(shape, "(2,)", 1, 2);
    TUPLE(shape, "(2)", 1, 2);
    TUPLE(shape, "2", 1, 2);
    TUPLE(shape, " 2 ", 1, 2);
    TUPLE(shape, "-1", 1, -1);
    TUPLE(shape, "()", 0, 0);
    TUPLE(shape, "[ )", 0, 0);
    TUPLE(shape, "(2L, 3L)", 2, 2, 3);
    TUPLE(shape, " ( 2 , -3 , ) ", 2, 2, -3);
    TUPLE(shape, "(0,\n+1)", 2, 0, 1);
    TUPLE(shape, "(99999999999,)", 1, 99999999999);
    REFUSED("shape", "", "(,)", "(,1)", "(3,,)", "(3 4)", "(3;4)", "3,4", "0 1", "(0,1", "0,1)",
            "(1)x", "((1))", "(1l)", "3L", "+3", "3.0", "0x3", "(2.5,)", "(1e0,)", "(None,)",
            "None", "none", "(", "99999999999999999999", "(1,99999999999999999999)",
            "(-9223372036854775808,)", "-9223372036854775808");
    CHECK_INT(parse("shape", "(2;3)"), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter shape: \"(2;3)\" is not a tuple of integers");

    TUPLE(axes, "None", -1, 0);
    TUPLE(axes, "None ", -1, 0);
    TUPLE(late, "None", -1, 0);
    TUPLE(begin, "(None,1)", 2, MXL_NONE, 1);
    TUPLE(begin, "[None, None , -1]", 3, MXL_NONE, MXL_NONE, -1);
    TUPLE(begin, "(None)", 1, MXL_NONE);
    TUPLE(begin, "12L", 1, 12);
    REFUSED("begin", "None", "(none,1)", "(NoneNone,)", "None,1", "(1,)None", "(0,1", "(1.5,)");
    mxl_arena_clear(&arena);
}

TEST(long_tuples)
{
    static const int lengths[] = {31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 5000};
    static char text[6 * 5000 + 16];

    mxl_arena_init(&arena);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t end = 1;

        strcpy(text, "(");
        for (int i = 0; i < lengths[k]; i++)
            end += (size_t)snprintf(text + end, 8, "%d,", i - 7);
        strcpy(text + end, ")");
        CHECK_INT(parse("shape", text), 0);
        CHECK_INT(got.shape.n, lengths[k]);
        for (int i = 0; i < got.shape.n; i++)
            CHECK_INT(got.shape.v[i], i - 7);
        strcpy(text + end, "None)");
        CHECK_INT(parse("begin", text), 0);
        CHECK_INT(got.begin.n, lengths[k] + 1);
        CHECK(got.begin.v[lengths[k]] == MXL_NONE);
        CHECK_INT(parse("shape", text), -1);
        CHECK_HAS(mxl_error_text(), "fake: parameter shape: \"(-7,-6,");
        strcpy(text + end, "99999999999999999999)");
        CHECK_INT(parse("shape", text), -1);
        CHECK_HAS(mxl_error_text(), "is out of range");
    }
    mxl_arena_clear(&arena);
}

TEST(keys)
{
    const char *keys[] = {"count", "axis", "__ctx_group__"}, *values[] = {"1", "0", "dev1"};

    mxl_arena_init(&arena);
    CHECK_INT(mxl_params_parse(&fake, 3, keys, values, &got, &arena), 0);
    CHECK_INT(mxl_params_parse(&fake, 0, NULL, NULL, &got, &arena), -1);
    CHECK_STR(mxl_error_text(), "fake: required parameter \"count\" is missing");

    keys[2] = "axis";
    CHECK_INT(mxl_params_parse(&fake, 3, keys, values, &got, &arena), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter \"axis\" is given twice");
    keys[2] = NULL;
    CHECK_INT(mxl_params_parse(&fake, 3, keys, values, &got, &arena), -1);
    CHECK_STR(mxl_error_text(), "fake: the name of parameter 2 is NULL");
    keys[2] = "ctx";
    values[2] = NULL;
    CHECK_INT(mxl_params_parse(&fake, 3, keys, values, &got, &arena), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter ctx: the value is NULL");

    CHECK_INT(parse("axsi", "1"), -1);
    CHECK_STR(mxl_error_text(),
              "fake: unknown parameter \"axsi\"; did you mean \"axis\"? It takes count, axis, "
              "num_args, p, temperature, scalar, "
              "keepdims, cudnn_off, mode, stype, dtype, shape, axes, late, begin, ctx");
    for (const char *const *key =
             (const char *const[]){"", "__", "____", "__a", "a__", "Axis", NULL};
         *key != NULL; key++)
        CHECK_INT(parse(*key, "1"), -1);
    CHECK_INT(mxl_params_parse(&bare, 2, keys, values, NULL, &arena), 0);
    CHECK_INT(mxl_params_parse(&bare, 0, NULL, NULL, NULL, &arena), 0);
    CHECK_INT(mxl_params_parse(&counted, 1, keys, values, NULL, &arena), -1);
    CHECK_STR(mxl_error_text(), "counted: unknown parameter \"count\"; it takes none");

    values[0] = "77";
    CHECK_INT(mxl_params_parse(&fake, 2, keys, values, &got, &arena), -1);
    CHECK_STR(mxl_error_text(), "fake: 77 is not liked");
    CHECK(mxl_param_find(&fake, "p") == &params_table[3]);
    CHECK(mxl_param_find(&fake, "nothing") == NULL);
    CHECK(mxl_param_find(&bare, "p") == NULL);
    mxl_arena_clear(&arena);
}

TEST(long_values_are_cut_in_errors)
{
    char *text = malloc(100001);

    REQUIRE(text != NULL);
    memset(text, '%', 100000);
    text[100000] = '\0';
    mxl_arena_init(&arena);
    CHECK_INT(parse("axis", text), -1);
    CHECK_HAS(mxl_error_text(), "%%%...\" is not an integer or None");
    CHECK_INT(parse("mode", text), -1);
    CHECK_HAS(mxl_error_text(), "...\" is not one of clip, raise, wrap");
    CHECK_INT(parse(text, "1"), -1);
    CHECK_HAS(mxl_error_text(), "...\"; it takes count");
    mxl_arena_clear(&arena);
    free(text);
}

/* A copy is independent: it has no pointer into the original. */
TEST(copies)
{
    const char *keys[] = {"count", "shape", "begin", "ctx"};
    const char *values[] = {"5", "(2,3,4)", "(None,7)", "gpu(1)"};
    fake_params *copy, *second;
    size_t bytes;

    mxl_arena_init(&arena);
    REQUIRE(mxl_params_parse(&fake, 4, keys, values, &got, &arena) == 0);
    bytes = mxl_params_bytes(&fake, &got);
    copy = malloc(bytes);
    second = malloc(bytes);
    REQUIRE(copy != NULL && second != NULL);
    mxl_params_copy(&fake, copy, &got);
    mxl_arena_clear(&arena);
    memset(&arena, 0xaa, sizeof arena);
    memset(&got, 0xaa, sizeof got);
    CHECK_INT(mxl_params_bytes(&fake, copy), bytes);
    mxl_params_copy(&fake, second, copy);
    memset(copy, 0xaa, bytes);
    free(copy);

    CHECK_INT(second->count, 5);
    CHECK_INT(second->shape.n, 3);
    CHECK_INT(second->shape.v[2], 4);
    CHECK_INT(second->axes.n, -1);
    CHECK_INT(second->begin.n, 2);
    CHECK(second->begin.v[0] == MXL_NONE);
    CHECK_INT(second->begin.v[1], 7);
    CHECK_STR(second->ctx, "gpu(1)");
    CHECK((const char *)second->ctx + strlen(second->ctx) + 1 == (char *)second + bytes);
    free(second);
    mxl_arena_init(&arena);
    CHECK_INT(mxl_params_bytes(&bare, NULL), 0);
}

TEST(arena_grows)
{
    size_t sizes[] = {1, 16, 1000, 24, 5000, 100, 0, 4080, 4096, 70000, 8};
    unsigned char *places[sizeof sizes / sizeof *sizes];

    mxl_arena_init(&arena);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        places[i] = mxl_arena_alloc(&arena, sizes[i]);
        REQUIRE(places[i] != NULL);
        CHECK_INT((uintptr_t)places[i] % 16, 0);
        memset(places[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizes[i]; k += sizes[i] - 1 > 0 ? sizes[i] - 1 : 1)
            CHECK_INT(places[i][k], i + 1);
    CHECK(mxl_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK_HAS(mxl_error_text(), "out of memory");
    mxl_arena_clear(&arena);
}

HARNESS_MAIN(ENTRY(defaults), ENTRY(integers), ENTRY(floats), ENTRY(floats_round_trip),
             ENTRY(floats_long_texts), ENTRY(booleans), ENTRY(names), ENTRY(tuples),
             ENTRY(long_tuples), ENTRY(keys), ENTRY(long_values_are_cut_in_errors), ENTRY(copies),
             ENTRY(arena_grows))
