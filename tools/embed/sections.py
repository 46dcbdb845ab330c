"""What the one file has beside the sources: its first lines, refused functions, the test of itself."""

import re

from c_names import without_comments

FIRST = """\
/* mxlite {version} in one file, made by `make amalgamation` of mxlite's sources. Use it with mxlite.h:
 *
 *     cc -std=c17 -O3 -fno-math-errno -c mxlite.c   an object; programs link it, and the C library: -lm -pthread
 *     cc -DMXL_SELF_TEST mxlite.c -lm -pthread      a program that tests it
 *
 * Parts: {parts}
 * Operators: {ops}
 *
 * -DMXL_WITHOUT_WIDE   loops for the vectors that all processors have, and for no wider ones
 * -DMXL_NO_THREADS     no threads: the thread that calls does all work
 * -DMXL_NO_FILES       no files: functions that read or write one fail with an error that says so
 * -DMXL_BARE=1         a C17 library is all that there is: no threads, memory maps, libraries
 *
 * docs/embedding.md tells more. The licence is Apache-2.0, as that of all of mxlite. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
{macros}
/* What the library's own Makefile asks for: signed numbers wrap, mathematical functions set no errno, and
 * floating-point exceptions are not looked at. clang has no such pragma: give it -fwrapv -fno-math-errno there.
 * (A pragma for the level of optimisation, or for a pass, would keep gcc from inlining and vectorising.) */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("wrapv", "no-math-errno", "no-trapping-math")
#endif
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define MXL_ONE_FILE_INLINE static inline __attribute__((always_inline))
#else
#define MXL_ONE_FILE_INLINE static inline
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(MXL_WITHOUT_WIDE)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
{headers}
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(hidden)
#endif
"""

#: Headers of C17 that all may have; they are included once.
HEADERS = (
    *("ctype", "errno", "float", "inttypes", "limits", "math", "setjmp", "stdarg", "stdatomic"),
    *("stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time"),
)
ALREADY = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(?:" + "|".join(HEADERS) + r")\.h>.*\n", re.M)
OTHERS = re.compile(r"((?:^[ \t]*#[ \t]*include[ \t]*<[^>]+>.*\n)+)", re.M)


def system_headers(text: str) -> str:
    """The text without the headers that are included already; what the others declare is not hidden."""
    around = "#if defined(__GNUC__) && !defined(_WIN32)\n#pragma GCC visibility {}\n#endif\n"
    return OTHERS.sub(around.format("push(default)") + r"\1" + around.format("pop"), ALREADY.sub("", text))


LAST = """
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility pop
#endif

/* ==== the test of itself ==== */
#ifdef MXL_SELF_TEST
{test}
#endif
"""


def prototypes(header: str) -> dict[str, str]:
    """The declaration of each function of the public header, by its name."""
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", "", without_comments(header), flags=re.M)
    text = re.sub(r"MXL_DEFAULT\([^()]*\)", "", text)
    found = re.findall(r"\bMXL_API\s+([\w\s\*]*?\b(\w+)\s*\([^;{}]*\))\s*;", text)
    return {name: re.sub(r"\s+", " ", whole) for whole, name in found}


def absent_functions(files: list[str], header: str) -> str:
    """Definitions of the functions that fail, with the parameters that the header declares. (The library's own are
    without parameters, since each is in a file that does not see the header.)"""
    known = prototypes(header)
    parts = ['\n/* ==== functions that are refused, or whose part is left out ==== */\n#include "mxlite.h"\n']
    parts.append('#if defined(__GNUC__)\n#pragma GCC diagnostic ignored "-Wunused-parameter"\n#endif\n')
    for text in files:
        for line in re.sub(r"\\\n", " ", without_comments(text)).split("\n"):
            match = re.match(r"REFUSED\((\w+),\s*(.*)\)\s*$", line)
            if match is None:
                if line.startswith("#define"):
                    parts.append(line + "\n")
                continue
            name, why = match.groups()
            parts.append(
                f"{known.get(name, f'int {name}(void)')}\n{{\n"
                f'    return mxl_error("%s: refused: %s; " MXL_HELP("compatibility") " says more",\n'
                f'                     "{name}", {why});\n}}\n'
            )
    return "".join(parts)
