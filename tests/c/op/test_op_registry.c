/* The registry with this program's own operator families in place of ops/all.c's. */
#include "harness.h"

#include "base/error.h"
#include "base/state.h"
#include "op/op.h"

static const char *const sum_aliases[] = {"sum_axis", "_sparse_sum", NULL};
static const mxl_op op_sum = {.name = "sum", .aliases = sum_aliases};
static const mxl_op op_exp = {.name = "exp", .aliases = (const char *const[]){"_npi_exp", NULL}};
static const mxl_op op_inner = {.name = "_mxl_inner"};
static const mxl_op op_cast = {.name = "Cast", .aliases = (const char *const[]){"cast", NULL}};
static const mxl_op op_stranger = {.name = "stranger"};
static const mxl_op op_double = {.name = "exp"};

static const mxl_op *const first[] = {&op_sum, &op_exp, NULL};
static const mxl_op *const none[] = {NULL};
static const mxl_op *const second[] = {&op_inner, &op_cast, NULL};

extern const mxl_op *const *const mxl_families[];
const mxl_op *const *const mxl_families[] = {first, none, second, NULL};

/* In place of ops/all.c, which is not linked where the list is defined already. */
__attribute__((constructor)) static void start(void)
{
    mxl_registry_begin(mxl_families);
}

/* First: nothing has been looked up yet. */
TEST(without_memory_the_next_call_tries_again)
{
    const char *const *names;

    atomic_store(&mxl_state_system_fails, true);
    CHECK(mxl_op_find("exp") == NULL);
    CHECK_HAS(mxl_error_text(), "out of memory");
    CHECK_INT(mxl_op_names(&names), -1);
    CHECK_INT(mxl_op_count(), 0);
    CHECK(mxl_op_at(0) == NULL);
    CHECK_INT(mxl_op_number(&op_exp), -1);
    atomic_store(&mxl_state_system_fails, false);
    CHECK(mxl_op_find("exp") == &op_exp);
}

TEST(finds)
{
    CHECK(mxl_op_find("sum") == &op_sum);
    CHECK(mxl_op_find("_sparse_sum") == &op_sum);
    CHECK(mxl_op_find("sum_axis") == &op_sum);
    CHECK(mxl_op_find("cast") == &op_cast);
    CHECK(mxl_op_find("_mxl_inner") == &op_inner);
    CHECK(mxl_op_find("_npi_exp") == &op_exp);
    CHECK(mxl_op_find("Sum") == NULL);
    CHECK_STR(mxl_error_text(), "operator Sum is not registered; did you mean \"sum\"?");
    CHECK(mxl_op_find("") == NULL);
    CHECK(mxl_op_find(NULL) == NULL);
    CHECK_HAS(mxl_error_text(), "NULL where a name was expected");
}

TEST(numbers)
{
    CHECK_INT(mxl_op_count(), 4);
    for (int i = 0; i < mxl_op_count(); i++)
        CHECK_INT(mxl_op_number(mxl_op_at(i)), i);
    CHECK(mxl_op_at(0) == &op_sum);
    CHECK(mxl_op_at(3) == &op_cast);
    CHECK(mxl_op_at(4) == NULL);
    CHECK(mxl_op_at(-1) == NULL);
    CHECK_INT(mxl_op_number(&op_stranger), -1);
    CHECK_INT(mxl_op_number(&op_double), -1);
}

TEST(public_names_are_sorted)
{
    static const char *const expected[] = {"Cast", "_npi_exp", "_sparse_sum", "cast",
                                           "exp",  "sum",      "sum_axis"};
    const char *const *names;

    REQUIRE(CHECK_INT(mxl_op_names(&names), 7));
    for (int i = 0; i < 7; i++)
        CHECK_STR(names[i], expected[i]);
}

/* Last: the registry stays so. */
TEST(operators_are_added_all_or_none)
{
    static const mxl_op op_more = {.name = "more"};
    static const mxl_op *const some[] = {&op_stranger, &op_more};
    static const mxl_op *const taken[] = {&op_more, &op_double};
    static const mxl_op *const twice[] = {&op_more, &op_more};
    const char *const *before, *const *names;

    REQUIRE(CHECK_INT(mxl_op_names(&before), 7));
    CHECK_INT(mxl_op_add(2, taken), -1);
    CHECK_STR(mxl_error_text(), "exp: there is an operator of that name already");
    CHECK_INT(mxl_op_add(2, twice), -1);
    CHECK_INT(mxl_op_add(MXL_OPS_MOST, some), -1);
    CHECK_HAS(mxl_error_text(), "too many");
    atomic_store(&mxl_state_system_fails, true);
    CHECK_INT(mxl_op_add(2, some), -1);
    atomic_store(&mxl_state_system_fails, false);
    CHECK(mxl_op_find("more") == NULL);
    CHECK_INT(mxl_op_count(), 4);
    CHECK_INT(mxl_op_add(2, some), 0);
    CHECK(mxl_op_find("more") == &op_more);
    CHECK_INT(mxl_op_number(&op_stranger), 4);
    CHECK(mxl_op_at(5) == &op_more);
    CHECK(mxl_op_find("sum_axis") == &op_sum);
    CHECK_INT(mxl_op_number(&op_cast), 3);
    REQUIRE(CHECK_INT(mxl_op_names(&names), 9));
    CHECK_STR(names[5], "more");
    CHECK_STR(names[6], "stranger");
    CHECK_STR(before[5], "sum"); /* as it was */
}

HARNESS_MAIN(ENTRY(without_memory_the_next_call_tries_again), ENTRY(finds), ENTRY(numbers),
             ENTRY(public_names_are_sorted), ENTRY(operators_are_added_all_or_none))
