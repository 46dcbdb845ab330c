/* What the compiler is told about loops: which instruction sets to build them for, and that
 * operands which alias do so element by element. */
#ifndef MXL_KERNEL_TARGET_H
#define MXL_KERNEL_TARGET_H

/* A function marked so is built for the plain processor and for AVX2, and the loader picks one.
 * (Not "arch=...": functions of another architecture, such as the helpers in headers, are not
 * inlined into it.) Under sanitizers the loader's choice would run before they are up. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(MXL_SANITIZER)
#define MXL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MXL_CLONES
#endif

/* In front of a loop whose iterations do not depend on each other, though its arrays may be equal.
 * (Clang's word for it warns about loops that cannot be vectorised; it checks at run time instead.)
 */
#if defined(__GNUC__) && !defined(__clang__)
#define MXL_IVDEP _Pragma("GCC ivdep")
#else
#define MXL_IVDEP
#endif

#endif
