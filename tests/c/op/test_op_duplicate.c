/* A registry in which two operators have one name: every lookup fails with an error. */
#include "harness.h"

#include "base/error.h"
#include "op/op.h"

static const char *const taken[] = {"Exp", "log", NULL};
static const mxl_op op_log = {.name = "log"};
static const mxl_op op_exp = {.name = "exp", .aliases = taken};
static const mxl_op *const family[] = {&op_log, &op_exp, NULL};

extern const mxl_op *const *const mxl_families[];
const mxl_op *const *const mxl_families[] = {family, NULL};

/* In place of ops/all.c, which is not linked where the list is defined already. */
__attribute__((constructor)) static void start(void)
{
    mxl_registry_begin(mxl_families);
}

TEST(is_an_error)
{
    const char *const *names;

    for (int i = 0; i < 2; i++) {
        CHECK(mxl_op_find("exp") == NULL);
        CHECK_STR(mxl_error_text(), "operator registry: the name log is listed twice");
    }
    CHECK_INT(mxl_op_names(&names), -1);
    CHECK_INT(mxl_op_number(&op_log), -1);
}

HARNESS_MAIN(ENTRY(is_an_error))
