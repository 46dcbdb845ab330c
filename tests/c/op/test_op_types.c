/* Types of parameters as introspection prints them: the strings of MXNet 1.9.1. */
#include "harness.h"

#include "op/op.h"

static const char *const all_dtypes[] = {"uint8",   "int8",     "int64", "int32",   "float64",
                                         "float32", "bfloat16", "bool",  "float16", NULL};
static const char *const float_dtypes[] = {"None", "float16", "float32", "float64", NULL};
static const char *const stypes[] = {"None", "default", "row_sparse", "csr", NULL};
static const char *const modes[] = {"training", "always", NULL};

static const struct {
    const char *text;
    mxl_param param;
} cases[] = {
    {"int, required", {.type = MXL_P_INT}},
    {"int, optional, default='-1'", {.type = MXL_P_INT, .def = "-1"}},
    {"int or None, optional, default='None'", {.type = MXL_P_OPT_INT, .def = "None"}},
    {"int or None, optional, default='-1'", {.type = MXL_P_OPT_INT, .def = "-1"}},
    {"int or None, required", {.type = MXL_P_OPT_INT}},
    {"float, required", {.type = MXL_P_FLOAT}},
    {"float, optional, default=0.5", {.type = MXL_P_FLOAT, .def = "0.5"}},
    {"float or None, optional, default=None", {.type = MXL_P_OPT_FLOAT, .def = "None"}},
    {"float or None, required", {.type = MXL_P_OPT_FLOAT}},
    {"boolean, required", {.type = MXL_P_BOOL}},
    {"boolean, optional, default=0", {.type = MXL_P_BOOL, .def = "0"}},
    {"boolean or None, optional, default=0", {.type = MXL_P_OPT_BOOL, .def = "0"}},
    {"Shape(tuple), required", {.type = MXL_P_TUPLE_OPT}},
    {"Shape(tuple), optional, default=[]", {.type = MXL_P_SHAPE, .def = "[]"}},
    {"Shape(tuple), optional, default=None", {.type = MXL_P_SHAPE, .def = "None"}},
    {"Shape or None, optional, default=None", {.type = MXL_P_OPT_SHAPE, .def = "None"}},
    {"tuple of <float>, required", {.type = MXL_P_FLOATS}},
    {"tuple of <float>, optional, default=[0.5,0.5]", {.type = MXL_P_FLOATS, .def = "[0.5,0.5]"}},
    {"string, required", {.type = MXL_P_STRING}},
    {"string, optional, default=''", {.type = MXL_P_STRING, .def = ""}},
    {"{'bfloat16', 'bool', 'float16', 'float32', 'float64', 'int32', 'int64', 'int8', 'uint8'}, "
     "required",
     {.type = MXL_P_DTYPE, .values = all_dtypes}},
    {"{'bfloat16', 'bool', 'float16', 'float32', 'float64', 'int32', 'int64', 'int8', "
     "'uint8'},optional, default='float32'",
     {.type = MXL_P_DTYPE, .values = all_dtypes, .def = "float32"}},
    {"{None, 'float16', 'float32', 'float64'},optional, default='None'",
     {.type = MXL_P_DTYPE, .values = float_dtypes, .def = "None"}},
    {"{None, 'csr', 'default', 'row_sparse'},optional, default='None'",
     {.type = MXL_P_ENUM, .values = stypes, .def = "None"}},
    {"{'always', 'training'},optional, default='training'",
     {.type = MXL_P_ENUM, .values = modes, .def = "training"}},
    {"double, optional, default=1",
     {.type = MXL_P_FLOAT, .def = "1", .type_text = "double, optional, default=1"}},
};

TEST(spelled_as_in_mxnet)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buf[256];

        CHECK(mxl_param_type_text(&cases[i].param, buf, sizeof buf) == buf);
        CHECK_STR(buf, cases[i].text);
    }
}

/* A short buffer gets the beginning and nothing behind it is touched. */
TEST(cut_to_size)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t size = 0; size <= strlen(cases[i].text); size++) {
            char buf[256];

            memset(buf, '#', sizeof buf);
            mxl_param_type_text(&cases[i].param, buf, size);
            CHECK(buf[size] == '#');
            if (size > 0) {
                CHECK_INT(strlen(buf), size - 1);
                CHECK(strncmp(buf, cases[i].text, size - 1) == 0);
            }
        }
}

HARNESS_MAIN(ENTRY(spelled_as_in_mxnet), ENTRY(cut_to_size))
