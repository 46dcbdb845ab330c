/* Parameters that are lists of numbers with a fraction: parsing, copying, printing, refusals. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "op/op.h"

typedef struct fake_params {
    mxl_floats sizes, exact;
} fake_params;

static const mxl_param params_table[] = {
    MXL_PARAM(fake_params, sizes, MXL_P_FLOATS, "[1]"),
    MXL_PARAM(fake_params, exact, MXL_P_FLOATS, "[]", .type_name = "double"),
    {0},
};
static const mxl_op fake = {.name = "fake", MXL_PARAMS(fake_params, params_table)};

static mxl_arena arena;
static fake_params got;

static int parse(const char *key, const char *value)
{
    mxl_arena_clear(&arena);
    memset(&got, 0x55, sizeof got);
    return mxl_params_parse(&fake, 1, &key, &value, &got, &arena);
}

TEST(accepted)
{
    static const struct {
        const char *text;
        int n;
        double v[3];
    } fine[] = {
        {"(0.5, 1e-3)", 2, {0.5, 1e-3}},
        {"[1,2,3]", 3, {1, 2, 3}},
        {"0.25", 1, {0.25}},
        {"(.5,)", 1, {0.5}},
        {"()", 0, {0}},
        {" ( -1 , +2 ) ", 2, {-1, 2}},
        {"(inf)", 1, {INFINITY}},
        {"-1", 1, {-1}},
        {"[0.5,1)", 2, {0.5, 1}},
    };

    mxl_arena_init(&arena);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        REQUIRE(parse("sizes", fine[i].text) == 0);
        REQUIRE(CHECK_INT(got.sizes.n, fine[i].n));
        for (int k = 0; k < fine[i].n; k++)
            CHECK(got.sizes.v[k] == fine[i].v[k]);
    }
    REQUIRE(parse("exact", "1e300") == 0);
    CHECK(got.exact.n == 1 && got.exact.v[0] == 1e300);
    CHECK(got.sizes.n == 1 && got.sizes.v[0] == 1); /* the default */
    mxl_arena_clear(&arena);
}

TEST(refused)
{
    static const char *const bad[] = {"",    "a",     "(a)",  "(1,2",    "(1 2)",  "1,2", "(1,2)x",
                                      "(,)", "(1,,)", "None", "(None,)", "(1e40)", "1L",  "((1))"};

    mxl_arena_init(&arena);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mxl_error("none");
        CHECK_INT(parse("sizes", bad[i]), -1);
        CHECK_HAS(mxl_error_text(), "fake: parameter sizes: ");
    }
    CHECK_INT(parse("sizes", "(1;2)"), -1);
    CHECK_STR(mxl_error_text(), "fake: parameter sizes: \"(1;2)\" is not a tuple of numbers");
    CHECK_INT(parse("sizes", "(1, 1e40)"), -1);
    CHECK_HAS(mxl_error_text(), "is out of range");
    mxl_arena_clear(&arena);
}

/* A copy has its own entries; it prints as text that parses to the same entries. */
TEST(copied_and_printed)
{
    enum { MANY = 1000 };
    static const int lengths[] = {0, 1, 2, 31, 32, 33, 64, 65, 128, MANY};
    static char text[16 * MANY];
    fake_params *copy;
    mxl_str printed = {0};

    mxl_arena_init(&arena);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t end = 1, bytes;

        strcpy(text, "(");
        for (int i = 0; i < lengths[k]; i++)
            end += (size_t)snprintf(text + end, 16, "%d.125,", i);
        strcpy(text + end, ")");
        REQUIRE(parse("sizes", text) == 0);
        bytes = mxl_params_bytes(&fake, &got);
        copy = malloc(bytes);
        REQUIRE(copy != NULL);
        mxl_params_copy(&fake, copy, &got);
        mxl_arena_clear(&arena);
        memset(&got, 0xaa, sizeof got);
        CHECK_INT(mxl_params_bytes(&fake, copy), bytes);
        REQUIRE(CHECK_INT(copy->sizes.n, lengths[k]));
        for (int i = 0; i < lengths[k]; i++)
            CHECK(copy->sizes.v[i] == i + 0.125);
        REQUIRE(mxl_param_print(&params_table[0], copy, &printed) == 0);
        REQUIRE(parse("sizes", printed.text) == 0);
        CHECK_INT(got.sizes.n, lengths[k]);
        mxl_str_clear(&printed);
        free(copy);
    }
    mxl_arena_clear(&arena);
}

HARNESS_MAIN(ENTRY(accepted), ENTRY(refused), ENTRY(copied_and_printed))
