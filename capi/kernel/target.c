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

#if MXL_HAS_WIDE
enum { HAS_AVX2 = 1, HAS_AVX512 = 2, HAS_VNNI = 4, HAS_BFLOAT16 = 8, ASKED = 16 };

/* Bits of the leaf 7 of cpuid, which every level of AVX-512 needs all of: F, DQ, BW, VL. */
#define AVX512_BITS (1u << 16 | 1u << 17 | 1u << 30 | 1u << 31)

/* What the processor has and the system keeps the registers of. By cpuid: zig's
 * __builtin_cpu_supports says no to all. */
static unsigned ask_processor(void)
{
    unsigned a, b, c, d, kept, has = 0;

    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0)
        return 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
    if ((kept & 0x6) != 0x6 || (c & bit_AVX) == 0 || (c & bit_FMA) == 0 || (c & bit_F16C) == 0 ||
        !__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & bit_AVX2) == 0)
        return 0;
    has = HAS_AVX2;
    if ((kept & 0xe6) != 0xe6 || (b & AVX512_BITS) != AVX512_BITS)
        return has;
    has |= HAS_AVX512 | ((c & 1u << 11) != 0 ? HAS_VNNI : 0);
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 5) != 0)
        has |= HAS_BFLOAT16;
    return has;
}

/* Whether the processor has these; asked once, as cpuid is slow in a virtual machine. */
static bool processor_has(unsigned wanted)
{
    static atomic_uint answer;
    unsigned has = atomic_load_explicit(&answer, memory_order_relaxed);

    if (has == 0) {
        has = ask_processor() | ASKED;
        atomic_store_explicit(&answer, has, memory_order_relaxed);
    }
    return (has & wanted) == wanted;
}
#endif

static bool has(int level)
{
    if (level == MXL_BASELINE)
        return true;
#if MXL_HAS_WIDE
    return processor_has(level == MXL_AVX2 ? HAS_AVX2 : HAS_AVX512);
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
    return mxl_level() == MXL_AVX512 && processor_has(HAS_VNNI);
#else
    return false;
#endif
}

bool mxl_level_has_bfloat16(void)
{
#if MXL_HAS_WIDE
    return mxl_level() == MXL_AVX512 && processor_has(HAS_BFLOAT16);
#else
    return false;
#endif
}
