/* Vector levels: which is in force, what the environment may say, and that a loop built for each
 * gives the same. */
#define _GNU_SOURCE 1 /* setenv */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "kernel/target.h"
#include "op/op.h"

MXL_INLINE void which_at(int level, int *out)
{
    *out = level;
}
MXL_BY_LEVEL(which, (int *out), out)

TEST(the_loop_of_the_level_in_force_runs)
{
    int best;

    CHECK(unsetenv("MXLITE_VECTOR_LEVEL") == 0);
    best = mxl_level_find();

    for (int level = MXL_BASELINE; level < MXL_LEVELS; level++) {
        int ran = -1;

        if (level > best) {
            CHECK(mxl_level_set(level) == -1);
            CHECK_HAS(mxl_error_text(), "is not one of this processor");
            continue;
        }
        CHECK(mxl_level_set(level) == 0 && mxl_level() == level);
        which(&ran);
        CHECK_INT(ran, level);
    }
    CHECK(mxl_level_set(MXL_LEVELS) == -1);
    CHECK_HAS(mxl_error_text(), "is not one of this processor");
    CHECK(mxl_level_set(-1) == -1);
    CHECK_HAS(mxl_error_text(), "is not one of this processor");
}

TEST(the_environment_chooses)
{
    CHECK(setenv("MXLITE_VECTOR_LEVEL", "baseline", 1) == 0);
    CHECK(mxl_level_check() == 0 && mxl_level_find() == MXL_BASELINE);
    CHECK(setenv("MXLITE_VECTOR_LEVEL", "avx1024", 1) == 0);
    CHECK(mxl_level_check() == -1);
    CHECK_HAS(mxl_error_text(), "MXLITE_VECTOR_LEVEL is \"avx1024\"");
    CHECK(mxl_level_find() == MXL_BASELINE);
    CHECK(mxl_op_find("exp") == NULL); /* nothing runs at a level that nobody asked for */
    CHECK(setenv("MXLITE_VECTOR_LEVEL", "", 1) == 0);
    CHECK(mxl_level_check() == 0 && mxl_op_find("exp") != NULL);
}

HARNESS_MAIN(ENTRY(the_loop_of_the_level_in_force_runs), ENTRY(the_environment_chooses))
