/* Which vector level is in force. */
#include "kernel/target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if MXL_HAS_WIDE
#include <cpuid.h>
#endif

#include "base/error.h"
#include "base/system/process.h"

atomic_int mxl_level_in_force = -1;

#if defined(__aarch64__)
static const char *const names[MXL_LEVELS] = {"baseline", "neon", "dotprod"};
#else
static const char *const names[MXL_LEVELS] = {"baseline", "avx2", "avx512"};
#endif

static bool has(int level)
{
    if (level == MXL_BASELINE)
        return true;
#if MXL_HAS_WIDE
    unsigned a, b, c, d;

    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__get_cpuid(1, &a, &b, &c, &d) || (c & bit_F16C) == 0)
        return false;
    return level == MXL_AVX2 ||
           (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#elif MXL_HAS_NEON
    return level == MXL_NEON || mxl_processor_has_dot_products();
#else
    return false;
#endif
}

/* The level that the environment names; MXL_LEVELS: none, -1: no level's name. */
static int named_level(void)
{
    const char *text = getenv("MXLITE_VECTOR_LEVEL");

    if (text == NULL || text[0] == 0)
        return MXL_LEVELS;
    for (int level = 0; level < MXL_LEVELS; level++) {
        if (strcmp(text, names[level]) == 0)
            return level;
    }
    return -1;
}

int mxl_level_find(void)
{
    int level = named_level();

    if (level == MXL_LEVELS) {
        level = MXL_LEVELS - 1;
        while (!has(level))
            level--;
    } else if (level < 0 || !has(level)) {
        level = MXL_BASELINE;
    }
    atomic_store_explicit(&mxl_level_in_force, level, memory_order_relaxed);
    return level;
}

int mxl_level_check(void)
{
    int level = named_level();

    if (level < 0)
        return mxl_error("MXLITE_VECTOR_LEVEL is \"%s\"; \"%s\", \"%s\" and \"%s\" are known",
                         getenv("MXLITE_VECTOR_LEVEL"), names[0], names[1], names[2]);
    if (level < MXL_LEVELS && !has(level))
        return mxl_error("MXLITE_VECTOR_LEVEL is \"%s\", which this processor%s has not got",
                         names[level], MXL_HAS_WIDE || MXL_HAS_NEON ? "" : ", or this build,");
    return 0;
}

int mxl_level_set(int level)
{
    if (level < 0 || level >= MXL_LEVELS || !has(level))
        return mxl_error("vector level %d is not one of this processor", level);
    atomic_store_explicit(&mxl_level_in_force, level, memory_order_relaxed);
    return 0;
}

const char *mxl_level_name(int level)
{
    return names[level];
}

bool mxl_level_has_vnni(void)
{
#if MXL_HAS_WIDE
    return mxl_level() == MXL_AVX512 && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}
