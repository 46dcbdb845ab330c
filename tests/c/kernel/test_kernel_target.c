/* Vector levels: the current one, valid and invalid environment variables, and equal results of a
 * loop at each level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/system/process.h"
#include "harness.h"
#include "kernel/target.h"
#include "op/op.h"

MXL_INLINE void which_at(int level, int *out)
{
    *out = level;
}
MXL_BY_LEVEL(which, (int *out), out)

#if defined(__aarch64__)
#define KNOWN "\"baseline\", \"neon\" and \"dotprod\" are known"
#else
#define KNOWN "\"baseline\", \"avx2\" and \"avx512\" are known"
#endif

/* The loops that run at a level; aarch64 has the same at its last two. */
static int loops_of(int level)
{
#if defined(__aarch64__)
    return level < MXL_NEON ? level : MXL_NEON;
#else
    return level;
#endif
}

TEST(the_loop_of_the_level_in_force_runs)
{
    int best;

    CHECK(mxl_environment_set("MXLITE_VECTOR_LEVEL", NULL) == 0);
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
        CHECK_INT(ran, loops_of(level));
    }
    CHECK(mxl_level_set(MXL_LEVELS) == -1);
    CHECK_HAS(mxl_error_text(), "is not one of this processor");
    CHECK(mxl_level_set(-1) == -1);
    CHECK_HAS(mxl_error_text(), "is not one of this processor");
}

TEST(the_environment_chooses)
{
    CHECK(mxl_environment_set("MXLITE_VECTOR_LEVEL", "baseline") == 0);
    CHECK(mxl_level_check() == 0 && mxl_level_find() == MXL_BASELINE);
    CHECK(mxl_environment_set("MXLITE_VECTOR_LEVEL", "avx1024") == 0);
    CHECK(mxl_level_check() == -1);
    CHECK_HAS(mxl_error_text(), "MXLITE_VECTOR_LEVEL is \"avx1024\"");
    CHECK(mxl_level_find() == MXL_BASELINE);
    CHECK(mxl_op_find("exp") == NULL); /* nothing runs at a level that nobody asked for */
    CHECK(mxl_environment_set("MXLITE_VECTOR_LEVEL", "") == 0);
    CHECK(mxl_level_check() == 0 && mxl_op_find("exp") != NULL);
}

/* What is none of a variable's values is found before the first operator. */
TEST(the_environment_is_checked)
{
    static const struct {
        const char *variable, *value, *error;
    } rows[] = {
        {"MXLITE_VECTOR_LEVEL", "AVX2", KNOWN},
        {"MXLITE_BACKENDS", "mkl", "it may be \"none\" or \"openblas\""},
        {"MXLITE_NUM_THREADS", "many", "a number of threads is expected"},
        {"MXLITE_NUM_THREADS", "-1", "a number of threads is expected"},
        {"MXLITE_NUM_THREADS", "4x", "a number of threads is expected"},
        {"MXLITE_NUM_THREADS", " ", "a number of threads is expected"},
        {"OMP_NUM_THREADS", "4,", "a number of threads is expected"},
        {"OMP_NUM_THREADS", ",4", "a number of threads is expected"},
        {"MXLITE_POOL_MB", "1G", "a number of megabytes is expected"},
        {"MXLITE_DEFER", "on", "a number of elements is expected"},
    };
    static const char *const numbers[] = {"", "0", "4", " 4, 2 ", "99999999999999999999"};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char begin[64];

        (void)snprintf(begin, sizeof(begin), "%s is \"%s\"; ", rows[i].variable, rows[i].value);
        CHECK(mxl_environment_set(rows[i].variable, rows[i].value) == 0);
        CHECK(mxl_op_find("exp") == NULL);
        CHECK_HAS(mxl_error_text(), begin);
        CHECK_HAS(mxl_error_text(), rows[i].error);
        CHECK(mxl_environment_set(rows[i].variable, NULL) == 0);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        CHECK(mxl_environment_set("MXLITE_POOL_MB", numbers[i]) == 0);
        CHECK_INT(mxl_env_check("MXLITE_POOL_MB", "a number"), 0);
    }
    CHECK(mxl_environment_set("MXLITE_POOL_MB", NULL) == 0);
    CHECK_INT(mxl_env_check("MXLITE_POOL_MB", "a number"), 0);
}

HARNESS_MAIN(ENTRY(the_environment_is_checked), ENTRY(the_loop_of_the_level_in_force_runs),
             ENTRY(the_environment_chooses))
