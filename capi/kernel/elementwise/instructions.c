/* The code of the instructions, for two widths of vectors and both dtypes; see instructions.h. */
#include "kernel/elementwise/instructions.h"

#include "kernel/target.h"

/* ---- what the instructions compute, of the vectors x and y ---- */

/* clang-format off */
#define OPCODES_OF_ONE(CODE, ...)                                                                  \
    CODE(COPY, __VA_ARGS__, x)                                                                     \
    CODE(NEGATIVE, __VA_ARGS__, -x)                                                                \
    CODE(SQUARE, __VA_ARGS__, x * x)                                                               \
    CODE(RELU, __VA_ARGS__, ZERO_WHERE(x <= 0, x))                                                 \
    CODE(RELU_CUT, __VA_ARGS__, ZERO_WHERE(x < 0, x))

#define OPCODES_OF_TWO(CODE, ...)                                                                  \
    CODE(ADD, __VA_ARGS__, x + y)                                                                  \
    CODE(SUB, __VA_ARGS__, x - y)                                                                  \
    CODE(RSUB, __VA_ARGS__, y - x)                                                                 \
    CODE(MUL, __VA_ARGS__, x * y)                                                                  \
    CODE(DIV, __VA_ARGS__, x / y)                                                                  \
    CODE(RDIV, __VA_ARGS__, y / x)                                                                 \
    CODE(PASS, __VA_ARGS__, ZERO_WHERE(x <= 0, y))                                                 \
    CODE(RPASS, __VA_ARGS__, ZERO_WHERE(y <= 0, x))                                                \
    CODE(GATE, __VA_ARGS__, y * POSITIVE(x))                                                       \
    CODE(RGATE, __VA_ARGS__, x * POSITIVE(y))                                                      \
    CODE(MAX, __VA_ARGS__, SELECT((x > y) | (x != x), x, y))                                       \
    CODE(RMAX, __VA_ARGS__, SELECT((y > x) | (y != y), y, x))                                      \
    CODE(MIN, __VA_ARGS__, SELECT((x < y) | (x != x), x, y))                                       \
    CODE(RMIN, __VA_ARGS__, SELECT((y < x) | (y != y), y, x))                                      \
    CODE(EQUAL, __VA_ARGS__, ONE_WHERE(x == y))                                                    \
    CODE(NOT_EQUAL, __VA_ARGS__, ONE_WHERE(x != y))                                                \
    CODE(GREATER, __VA_ARGS__, ONE_WHERE(x > y))                                                   \
    CODE(GREATER_EQUAL, __VA_ARGS__, ONE_WHERE(x >= y))                                            \
    CODE(LESSER, __VA_ARGS__, ONE_WHERE(x < y))                                                    \
    CODE(LESSER_EQUAL, __VA_ARGS__, ONE_WHERE(x <= y))
/* clang-format on */

/* A comparison of vectors has all bits set where it holds. */
#define ZERO_WHERE(condition, v) ((vector)((bits)(v) & ~(bits)(condition)))
#define SELECT(condition, a, b)                                                                    \
    ((vector)(((bits)(a) & (bits)(condition)) | ((bits)(b) & ~(bits)(condition))))
#define ONE_WHERE(condition) ((vector)((bits)((vector){0} + 1) & (bits)(condition)))
/* 1 where v > 0, NaN where v is, else 0. */
#define POSITIVE(v) SELECT(v != v, v, ONE_WHERE(v > 0))

mxl_opcode mxl_opcode_swapped(mxl_opcode opcode)
{
    static const mxl_opcode swapped[MXL_CODE_COUNT] = {
        [MXL_CODE_SUB] = MXL_CODE_RSUB,
        [MXL_CODE_RSUB] = MXL_CODE_SUB,
        [MXL_CODE_DIV] = MXL_CODE_RDIV,
        [MXL_CODE_RDIV] = MXL_CODE_DIV,
        [MXL_CODE_PASS] = MXL_CODE_RPASS,
        [MXL_CODE_RPASS] = MXL_CODE_PASS,
        [MXL_CODE_GATE] = MXL_CODE_RGATE,
        [MXL_CODE_RGATE] = MXL_CODE_GATE,
        [MXL_CODE_MAX] = MXL_CODE_RMAX,
        [MXL_CODE_RMAX] = MXL_CODE_MAX,
        [MXL_CODE_MIN] = MXL_CODE_RMIN,
        [MXL_CODE_RMIN] = MXL_CODE_MIN,
        [MXL_CODE_GREATER] = MXL_CODE_LESSER,
        [MXL_CODE_LESSER] = MXL_CODE_GREATER,
        [MXL_CODE_GREATER_EQUAL] = MXL_CODE_LESSER_EQUAL,
        [MXL_CODE_LESSER_EQUAL] = MXL_CODE_GREATER_EQUAL,
    };

    return swapped[opcode] == MXL_CODE_NONE ? opcode : swapped[opcode];
}

/* ---- their code ----
 *
 * The names of what is made for one width of vectors begin with its name (`set`). The arguments of
 * an instruction are the list from itself on, how many bytes into its operand the block begins, and
 * the registers: vectors of float32, whatever they hold. */
enum {
    REGISTERS = 8,
    LINE = 64,         /* bytes of a line of the caches */
    FETCH_AHEAD = 2048 /* bytes */
};

/* Windows passes vectors in memory, where it is not asked to do as other systems. */
#if defined(_WIN32) && defined(__x86_64__)
#define IN_REGISTERS __attribute__((sysv_abi))
#else
#define IN_REGISTERS
#endif

#define PARAMETERS(set)                                                                            \
    const mxl_instruction *s, int64_t at, set##_vector a0, set##_vector a1, set##_vector a2,       \
        set##_vector a3, set##_vector a4, set##_vector a5, set##_vector a6, set##_vector a7
#define NEXT(set) ((set##_code)s[1].run)(s + 1, at, a0, a1, a2, a3, a4, a5, a6, a7)

#define EACH_REGISTER(DO, ...)                                                                     \
    do {                                                                                           \
        DO(a0, 0, __VA_ARGS__);                                                                    \
        DO(a1, 1, __VA_ARGS__);                                                                    \
        DO(a2, 2, __VA_ARGS__);                                                                    \
        DO(a3, 3, __VA_ARGS__);                                                                    \
        DO(a4, 4, __VA_ARGS__);                                                                    \
        DO(a5, 5, __VA_ARGS__);                                                                    \
        DO(a6, 6, __VA_ARGS__);                                                                    \
        DO(a7, 7, __VA_ARGS__);                                                                    \
    } while (0)

/* In memory, vectors are aligned as their elements are. */
#define VECTORS(set, width)                                                                        \
    typedef float set##_vector __attribute__((vector_size(width)));                                \
    typedef float set##_memory __attribute__((vector_size(width), aligned(4), may_alias));         \
    typedef float set##_f32 __attribute__((vector_size(width)));                                   \
    typedef int32_t set##_f32_bits __attribute__((vector_size(width)));                            \
    typedef double set##_f64 __attribute__((vector_size(width)));                                  \
    typedef int64_t set##_f64_bits __attribute__((vector_size(width)));                            \
    typedef void(IN_REGISTERS * set##_code)(PARAMETERS(set));

#define OPERAND(set, k)           (((set##_memory *)(void *)(s->data + at))[k])
#define NUMBER(set)               (*(set##_memory *)(void *)s->data)
#define LOAD(a, k, set)           a = OPERAND(set, k)
#define LOAD_NUMBER(a, k, set)    a = NUMBER(set)
#define STORE(a, k, set)          OPERAND(set, k) = a
#define WITH_ITSELF(a, k, set, f) a = f(a, a)
#define WITH_NUMBER(a, k, set, f) a = f(a, NUMBER(set))
#define WITH_MEMORY(a, k, set, f) a = f(a, OPERAND(set, k))
#define FETCH(a, k, set)                                                                           \
    if ((k) * sizeof(a) % LINE == 0)                                                               \
    __builtin_prefetch(s->data + at + FETCH_AHEAD + (k) * sizeof(a), 0, 2)

/* An instruction: DO with each register, THEN what follows. */
#define INSTRUCTION(name, set, target, THEN, DO, ...)                                              \
    target IN_REGISTERS static void set##_##name(PARAMETERS(set))                                  \
    {                                                                                              \
        EACH_REGISTER(DO, __VA_ARGS__);                                                            \
        THEN;                                                                                      \
    }

#define EXPRESSION(name, set, target, D, ...)                                                      \
    target MXL_INLINE set##_vector set##_##D##_##name##_of(set##_vector a, set##_vector b)         \
    {                                                                                              \
        typedef set##_##D vector;                                                                  \
        typedef set##_##D##_bits bits;                                                             \
        const vector x = (vector)a, y = (vector)b;                                                 \
                                                                                                   \
        (void)y, (void)sizeof(bits);                                                               \
        return (set##_vector)(__VA_ARGS__);                                                        \
    }

#define OF_ONE(name, set, target, D, ...)                                                          \
    EXPRESSION(name, set, target, D, __VA_ARGS__)                                                  \
    INSTRUCTION(D##_##name, set, target, NEXT(set), WITH_ITSELF, set, set##_##D##_##name##_of)

#define OF_TWO(name, set, target, D, ...)                                                          \
    EXPRESSION(name, set, target, D, __VA_ARGS__)                                                  \
    INSTRUCTION(D##_##name, set, target, NEXT(set), WITH_MEMORY, set, set##_##D##_##name##_of)     \
    INSTRUCTION(D##_##name##_number, set, target, NEXT(set), WITH_NUMBER, set,                     \
                set##_##D##_##name##_of)

/* clang-format off */
#define ENTRY(name, set, D, ...) [MXL_CODE_##name] = (mxl_code_fn)set##_##D##_##name,
#define NUMBER_ENTRY(name, set, D, ...)                                                            \
    [MXL_CODE_##name] = (mxl_code_fn)set##_##D##_##name##_number,
#define TABLES(set, D)                                                                             \
    {{OPCODES_OF_ONE(ENTRY, set, D)                                                                \
      OPCODES_OF_TWO(ENTRY, set, D)                                                                \
      [MXL_CODE_LOAD] = (mxl_code_fn)set##_load,                                                   \
      [MXL_CODE_STORE] = (mxl_code_fn)set##_store,                                                 \
      [MXL_CODE_FETCH] = (mxl_code_fn)set##_fetch,                                                 \
      [MXL_CODE_LAST] = (mxl_code_fn)set##_last},                                                  \
     {OPCODES_OF_TWO(NUMBER_ENTRY, set, D)                                                         \
      [MXL_CODE_LOAD] = (mxl_code_fn)set##_load_number}}
/* clang-format on */

/* All of a set: vectors have `width` bytes; `leave` follows the last of them. */
#define SET(set, target, width, leave)                                                             \
    VECTORS(set, width)                                                                            \
    INSTRUCTION(load, set, target, NEXT(set), LOAD, set)                                           \
    INSTRUCTION(load_number, set, target, NEXT(set), LOAD_NUMBER, set)                             \
    INSTRUCTION(store, set, target, NEXT(set), STORE, set)                                         \
    INSTRUCTION(fetch, set, target, NEXT(set), FETCH, set)                                         \
    INSTRUCTION(last, set, target, (void)0, STORE, set)                                            \
    OPCODES_OF_ONE(OF_ONE, set, target, f32)                                                       \
    OPCODES_OF_TWO(OF_TWO, set, target, f32)                                                       \
    OPCODES_OF_ONE(OF_ONE, set, target, f64)                                                       \
    OPCODES_OF_TWO(OF_TWO, set, target, f64)                                                       \
                                                                                                   \
    target static void set##_run(const mxl_instruction *program, int64_t bytes)                    \
    {                                                                                              \
        const set##_vector a = {0};                                                                \
                                                                                                   \
        for (int64_t at = 0; at < bytes; at += REGISTERS * (width))                                \
            ((set##_code)program->run)(program, at, a, a, a, a, a, a, a, a);                       \
        leave;                                                                                     \
    }                                                                                              \
                                                                                                   \
    static const vector_set set = {.code = {TABLES(set, f32), TABLES(set, f64)},                   \
                                   .run = set##_run,                                               \
                                   .block = REGISTERS * (width)};

typedef struct vector_set {
    mxl_code_fn code[2][2][MXL_CODE_COUNT]; /* by dtype, and whether the operand is a number */
    void (*run)(const mxl_instruction *program, int64_t bytes);
    int64_t block;
} vector_set;

/* clang passes vectors of 32 bytes in memory where a whole file may not use AVX: there the
 * baseline's serve. */
#if defined(MXL_TARGET_AVX2) && !defined(__clang__)
#define HAS_WIDE_SET 1
#endif

SET(baseline, , 16, (void)0)
#ifdef HAS_WIDE_SET
SET(avx2, MXL_TARGET_AVX2, MXL_VECTOR_BYTES, __builtin_ia32_vzeroupper())
#endif

/* The set of this processor. (Vectors of 64 bytes are no faster: Zen 4.) */
static const vector_set *set_here(void)
{
#ifdef HAS_WIDE_SET
    if (mxl_level() >= MXL_AVX2)
        return &avx2;
#endif
    return &baseline;
}

mxl_code_fn mxl_opcode_find(mxl_opcode opcode, size_t size, bool number)
{
    return set_here()->code[size == sizeof(double)][number][opcode];
}

int64_t mxl_instructions_block(void)
{
    return set_here()->block;
}

void mxl_instructions_run(const mxl_instruction *program, int64_t bytes)
{
    set_here()->run(program, bytes);
}
