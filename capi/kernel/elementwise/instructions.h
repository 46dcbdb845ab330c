/* Arithmetic that stays in registers. A program is a list of instructions; each is one operation on
 * a block, eight vector registers of elements: it loads, computes with an operand in memory or with
 * a number, or stores. An instruction ends with a jump to the next one, and the eight registers are
 * the arguments of that jump, so that a chain of operations reads its operands and writes its
 * result once, like a loop that was compiled for it. kernel/elementwise/chain.c makes the programs.
 */
#ifndef MXL_KERNEL_ELEMENTWISE_INSTRUCTIONS_H
#define MXL_KERNEL_ELEMENTWISE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a loop (mxl_kernels) computes with float32 and float64 numbers, if it is one instruction: of
 * x, the first operand, and y, the second one or the scalar. In a program, x is in registers and y
 * in memory. */
typedef enum mxl_opcode {
    MXL_CODE_NONE, /* something else */
    MXL_CODE_COPY,
    MXL_CODE_NEGATIVE,
    MXL_CODE_SQUARE,
    MXL_CODE_RELU,     /* x <= 0 ? 0 : x */
    MXL_CODE_RELU_CUT, /* x < 0 ? 0 : x */
    MXL_CODE_ADD,      /* x + y; it and those up to LESSER_EQUAL have two operands */
    MXL_CODE_SUB,      /* x - y */
    MXL_CODE_RSUB,     /* y - x */
    MXL_CODE_MUL,
    MXL_CODE_DIV,   /* x / y */
    MXL_CODE_RDIV,  /* y / x */
    MXL_CODE_PASS,  /* x <= 0 ? 0 : y */
    MXL_CODE_RPASS, /* y <= 0 ? 0 : x */
    MXL_CODE_GATE,  /* y * (1 where x > 0, NaN where x is, else 0) */
    MXL_CODE_RGATE, /* the same with x and y swapped */
    MXL_CODE_MAX,   /* x > y || x != x ? x : y */
    MXL_CODE_RMAX,  /* y > x || y != y ? y : x */
    MXL_CODE_MIN,   /* x < y || x != x ? x : y */
    MXL_CODE_RMIN,  /* y < x || y != y ? y : x */
    MXL_CODE_EQUAL, /* 1 where x == y, else 0; likewise: */
    MXL_CODE_NOT_EQUAL,
    MXL_CODE_GREATER, /* x > y */
    MXL_CODE_GREATER_EQUAL,
    MXL_CODE_LESSER,
    MXL_CODE_LESSER_EQUAL,
    MXL_CODE_LOAD,  /* y */
    MXL_CODE_STORE, /* writes x, which stays */
    MXL_CODE_FETCH, /* asks for elements of y that later blocks need, in the second-level cache */
    MXL_CODE_LAST,  /* writes x, and ends the program */
    MXL_CODE_COUNT
} mxl_opcode;

static inline bool mxl_opcode_has_two(mxl_opcode opcode)
{
    return opcode >= MXL_CODE_ADD && opcode <= MXL_CODE_LESSER_EQUAL;
}

/* The instruction with x and y swapped. */
mxl_opcode mxl_opcode_swapped(mxl_opcode opcode);

/* The machine code of an instruction. It has other parameters, which only instructions.c knows. */
typedef void (*mxl_code_fn)(void);

/* One instruction of a program. `data` is the operand: the first element of many, or
 * MXL_VECTOR_BYTES bytes that are filled with a number. */
typedef struct mxl_instruction {
    mxl_code_fn run;
    char *data;
} mxl_instruction;

enum { MXL_VECTOR_BYTES = 32 /* bytes of the widest vector */ };

/* The code of an instruction for elements of `size` bytes, 4 (float32) or 8 (float64), on this
 * processor. `number`: its operand is a number; stores and instructions of one operand have no such
 * code. */
mxl_code_fn mxl_opcode_find(mxl_opcode opcode, size_t size, bool number);

/* The bytes of a block on this processor. */
int64_t mxl_instructions_block(void);

/* Runs a program, which begins with a load and ends with MXL_CODE_LAST, on `bytes` bytes of each
 * operand, a multiple of mxl_instructions_block. Operands may be equal, but must not overlap
 * otherwise.
 */
void mxl_instructions_run(const mxl_instruction *program, int64_t bytes);

#endif
