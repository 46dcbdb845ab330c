/* Every operator of the library: its descriptor is complete, its defaults parse, its names lead
 * back to it. Results of operators are tested elsewhere. */
#include <string.h>

#include "harness.h"

#include <stdio.h>

#include "api/prepared.h"
#include "base/error.h"
#include "op/op.h"
#include "op/shapes/shapes.h"

/* The library itself has room for 64, the Python bindings for 32 typed arguments. */
enum { MOST_BYTES = API_PARAMS_ROOM, MOST_PARAMS = 32 };

static bool holds(bool held, const mxl_op *op, const char *what)
{
    if (!held)
        printf("    operator %s, %s\n", op->name, what);
    return held;
}

#define HOLDS(condition, op, what) holds(CHECK(condition), op, what)

static size_t field_bytes(mxl_param_type type)
{
    switch (type) {
    case MXL_P_INT:
    case MXL_P_OPT_INT:
        return sizeof(int64_t);
    case MXL_P_FLOAT:
    case MXL_P_OPT_FLOAT:
        return sizeof(double);
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT:
        return sizeof(mxl_tuple);
    case MXL_P_FLOATS:
        return sizeof(mxl_floats);
    case MXL_P_STRING:
        return sizeof(const char *);
    default:
        return sizeof(int);
    }
}

static bool public_name(const char *name)
{
    return strncmp(name, "_mxl_", 5) != 0;
}

TEST(names_lead_back)
{
    const char *const *names;
    int count = mxl_op_names(&names), listed = 0;

    if (!CHECK(count > 0))
        printf("    %s\n", mxl_error_text());
    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);
        const char *const *alias = op->aliases;

        REQUIRE(HOLDS(mxl_op_find(op->name) == op, op, "its name"));
        CHECK_INT(mxl_op_number(op), i);
        listed += public_name(op->name) + (op->numpy_name != NULL);
        HOLDS(!mxl_op_is_numpys(op, op->name), op, op->name);
        if (op->numpy_name != NULL) {
            HOLDS(mxl_op_find(op->numpy_name) == op, op, op->numpy_name);
            HOLDS(mxl_op_is_numpys(op, op->numpy_name), op, op->numpy_name);
        }
        for (; alias != NULL && *alias != NULL; alias++) {
            HOLDS(mxl_op_find(*alias) == op, op, *alias);
            listed += public_name(*alias);
        }
    }
    CHECK_INT(listed, count);
    for (int i = 1; i < count; i++)
        CHECK(strcmp(names[i - 1], names[i]) < 0);
}

TEST(descriptors_are_whole)
{
    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);

        HOLDS(!public_name(op->name) || (op->doc != NULL && op->doc[0] != '\0'), op, "doc");
        HOLDS(op->compute != NULL || op->compose != NULL || op->refused != NULL, op, "compute");
        HOLDS(op->compute == NULL || op->infer != NULL, op, "infer");
        HOLDS(op->saves == NULL || op->grad != NULL, op, "saves without grad");
        /* It need not be a parameter: of add_n it is in the C API alone. */
        HOLDS(op->key_var_num_args == NULL || op->arity != NULL, op, "key_var_num_args");
        for (const mxl_input *input = mxl_op_inputs(op); input->name != NULL; input++)
            HOLDS(!public_name(op->name) || input->doc != NULL, op, input->name);
    }
}

/* A digit of its slots is an input's. */
TEST(nodes_have_slots_of_inputs)
{
    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);

        HOLDS(op->node_slots == NULL || strspn(op->node_slots, "01-") == strlen(op->node_slots), op,
              "slots");
    }
}

/* The field lies in the struct, aligned, and overlaps no other. */
static void check_field(const mxl_op *op, const mxl_param *param)
{
    size_t bytes = field_bytes(param->type);

    HOLDS(param->offset + bytes <= op->params_size, op, param->name);
    HOLDS(param->offset % (bytes > 8 ? 8 : bytes) == 0, op, param->name);
    for (const mxl_param *other = mxl_op_params(op); other != param; other++) {
        HOLDS(strcmp(other->name, param->name) != 0, op, param->name);
        HOLDS(param->offset + bytes <= other->offset ||
                  other->offset + field_bytes(other->type) <= param->offset,
              op, param->name);
    }
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);

    return length >= end && strcmp(text + length - end, ending) == 0;
}

/* Where the text is written by hand, it must not promise another default. */
static void check_type_text(const mxl_op *op, const mxl_param *param)
{
    char text[512], plain[128], quoted[128];

    mxl_param_type_text(param, text, sizeof text);
    HOLDS(strlen(text) < sizeof text - 1, op, param->name);
    if (strchr(text, ',') == NULL)
        return; /* smooth_l1's and _set_value's name a type and nothing else */
    if (param->def == NULL) {
        HOLDS(ends_with(text, ", required"), op, text);
        return;
    }
    if (strstr(text, "default=") == NULL && strstr(text, "required") == NULL)
        return; /* as 1.9.1 prints smooth_l1's scalar: it promises nothing */
    snprintf(plain, sizeof plain, "optional, default=%s", param->def);
    snprintf(quoted, sizeof quoted, "optional, default='%s'", param->def);
    HOLDS(ends_with(text, plain) || ends_with(text, quoted), op, text);
}

TEST(parameters_are_whole)
{
    _Alignas(16) static char params[MOST_BYTES];
    static mxl_arena arena;

    mxl_arena_init(&arena);
    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);
        int count = 0;

        REQUIRE(HOLDS(op->params_size <= sizeof params, op, "params_size"));
        for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++, count++) {
            bool named = param->type == MXL_P_ENUM || param->type == MXL_P_DTYPE;

            HOLDS(!public_name(op->name) || param->doc != NULL, op, param->name);
            if (!HOLDS(!named || param->values != NULL, op, param->name))
                continue;
            check_field(op, param);
            check_type_text(op, param);
            if (param->def != NULL &&
                !CHECK_INT(mxl_param_parse(op, param, param->def, params, &arena), 0))
                printf("    %s\n", mxl_error_text());
            mxl_arena_clear(&arena);
        }
        HOLDS(count <= MOST_PARAMS, op, "number of parameters");
    }
}

/* ---- the number of outputs ---- */

enum { VALUES = 8 };

/* Puts the n-th of VALUES values into the field. */
static void vary(const mxl_param *param, char *params, int n)
{
    static const int64_t list[VALUES] = {1, 2};
    static const double fractions[VALUES] = {0.5, 2};
    int names = 0;
    void *field = params + param->offset;

    switch (param->type) {
    case MXL_P_INT:
    case MXL_P_OPT_INT:
        *(int64_t *)field = n == 0 && param->type == MXL_P_OPT_INT ? MXL_NONE : n;
        break;
    case MXL_P_FLOAT:
    case MXL_P_OPT_FLOAT:
        *(double *)field = n;
        break;
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT:
        *(mxl_tuple *)field = (mxl_tuple){n, list};
        break;
    case MXL_P_FLOATS:
        *(mxl_floats *)field = (mxl_floats){n, fractions};
        break;
    case MXL_P_STRING:
        *(const char **)field = n % 2 == 0 ? "" : "None";
        break;
    case MXL_P_ENUM:
        while (param->values[names] != NULL)
            names++;
        *(int *)field = n % names;
        break;
    default:
        *(int *)field = n % 2;
    }
}

static int visible(const mxl_op *op, const char *params)
{
    mxl_arity arity = {.inputs = -1, .outputs = 1, .visible = 1};

    return op->arity(params, &arity) == 0 ? arity.visible : -1;
}

/* Whether the number of outputs changes with the parameter, the others as `params` has them. */
static bool changes_outputs(const mxl_op *op, const mxl_param *param, const char *params)
{
    static _Alignas(16) char varied[MOST_BYTES];
    int first = -1;

    memcpy(varied, params, op->params_size);
    for (int n = 0; n < VALUES; n++) {
        int count;

        vary(param, varied, n);
        count = visible(op, varied);
        if (count >= 0 && first >= 0 && count != first)
            return true;
        first = first >= 0 ? first : count;
    }
    return false;
}

/* A caller asks once for the number of outputs of a prepared call, unless one of its arguments says
 * that it sets them. */
TEST(what_sets_the_number_of_outputs)
{
    static _Alignas(16) char params[MOST_BYTES];

    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);

        for (int n = 0; n < VALUES && op->arity != NULL; n++) {
            memset(params, 0, sizeof params);
            for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++)
                vary(param, params, n);
            for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++)
                HOLDS(param->sets_outputs || !changes_outputs(op, param, params), op, param->name);
        }
    }
}

/* An operator of as many arrays as are given says its outputs before there is one. */
TEST(outputs_before_inputs)
{
    static _Alignas(16) char params[MOST_BYTES];

    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);

        if (op->key_var_num_args == NULL)
            continue;
        memset(params, 0, sizeof params);
        for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
            if (strcmp(param->name, op->key_var_num_args) != 0)
                vary(param, params, 1);
        }
        HOLDS(visible(op, params) >= 0, op, mxl_error_text());
    }
}

/* A text of shapes is one, and names the inputs as errors do. */
static void check_shapes(const mxl_op *op, const void *params, const char *text)
{
    const mxl_input *inputs = mxl_op_inputs(op);
    mxl_shapes shapes;

    if (!HOLDS(mxl_shapes_compile(op, text, &shapes) == 0, op, mxl_error_text()))
        return;
    for (int i = 0; i < shapes.side[0].before && inputs[i].name != NULL; i++) {
        mxl_piece name = shapes.entry[shapes.side[0].entry[i]].name;
        const char *own = op->input_name != NULL ? op->input_name(params, i) : NULL;
        const char *want = own != NULL ? own : inputs[i].name;

        HOLDS(name.length == 0 ||
                  (strlen(want) == name.length && strncmp(want, text + name.at, name.length) == 0),
              op, want);
    }
}

TEST(shapes_are_texts)
{
    static _Alignas(16) char params[MOST_BYTES];

    for (int i = 0; i < mxl_op_count(); i++) {
        const mxl_op *op = mxl_op_at(i);

        HOLDS(op->shapes_of == NULL || op->shapes != NULL, op, "lacks a text for its page");
        HOLDS(op->infer != mxl_infer_said || op->shape_forms != NULL, op, "compiles in each call");
        if (op->shapes != NULL && op->shapes_of == NULL)
            check_shapes(op, params, op->shapes);
        for (int n = 0; n < VALUES && op->shapes_of != NULL; n++) {
            for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
                memset(params, 0, sizeof params);
                vary(param, params, n);
                check_shapes(op, params, mxl_op_shapes(op, params));
            }
        }
    }
}

HARNESS_MAIN(ENTRY(names_lead_back), ENTRY(descriptors_are_whole),
             ENTRY(nodes_have_slots_of_inputs), NOT_WASM(parameters_are_whole),
             ENTRY(what_sets_the_number_of_outputs), ENTRY(outputs_before_inputs),
             ENTRY(shapes_are_texts))
