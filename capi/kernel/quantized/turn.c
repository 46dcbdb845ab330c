/* See turn.h. Squares of 16 x 16 bytes are turned in registers: each of four steps interleaves the
 * first half of the rows with the second. */
#include "kernel/quantized/turn.h"

#include <stddef.h>
#include <string.h>

#include "base/thread.h"
#include "kernel/target.h"

enum { SQUARE = 16, GRAIN = 1 << 15 };

typedef struct turning {
    int size;
    int64_t rows, columns;
    const char *from;
    char *to;
} turning;

typedef uint8_t sixteen __attribute__((vector_size(SQUARE)));

/* Eight bytes of either, in turns, from `first` on. */
#define BOTH(first)                                                                                \
    first, (first) + 16, (first) + 1, (first) + 17, (first) + 2, (first) + 18, (first) + 3,        \
        (first) + 19, (first) + 4, (first) + 20, (first) + 5, (first) + 21, (first) + 6,           \
        (first) + 22, (first) + 7, (first) + 23
#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (sixteen){__VA_ARGS__})
#endif

/* Rows of `from` and of `to` are so many bytes apart. */
static void turn_square(const char *from, int64_t from_step, char *to, int64_t to_step)
{
    sixteen a[SQUARE], b[SQUARE];

    for (int i = 0; i < SQUARE; i++)
        memcpy(&a[i], from + i * from_step, SQUARE);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < SQUARE / 2; i++) {
            b[2 * i] = PICK(a[i], a[i + SQUARE / 2], BOTH(0));
            b[2 * i + 1] = PICK(a[i], a[i + SQUARE / 2], BOTH(8));
        }
        memcpy(a, b, sizeof(a));
    }
    for (int i = 0; i < SQUARE; i++)
        memcpy(to + i * to_step, &a[i], SQUARE);
}

/* Any matrix: rows of `from` are from_step elements apart, those of `to` to_step. */
static void turn_few(int size, int64_t rows, int64_t columns, const char *from, int64_t from_step,
                     char *to, int64_t to_step)
{
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t r = 0; r < rows; r++) {
            if (size == 1)
                to[c * to_step + r] = from[r * from_step + c];
            else
                memcpy(to + 4 * (c * to_step + r), from + 4 * (r * from_step + c), 4);
        }
    }
}

/* Up to SQUARE columns. */
static void turn_band(int size, int64_t rows, int64_t columns, const char *from, int64_t from_step,
                      char *to, int64_t to_step)
{
    for (int64_t r = 0; r < rows; r += SQUARE) {
        int64_t n = rows - r < SQUARE ? rows - r : SQUARE;

        if (size == 1 && n == SQUARE && columns == SQUARE)
            turn_square(from + r * from_step, from_step, to + r, to_step);
        else
            turn_few(size, n, columns, from + size * r * from_step, from_step, to + size * r,
                     to_step);
    }
}

/* Ranges count bands of SQUARE columns, of all. */
static void turn_bands(void *data, int64_t begin, int64_t end)
{
    const turning *t = data;
    int64_t bands = (t->columns + SQUARE - 1) / SQUARE, image = t->rows * t->columns * t->size;

    for (int64_t i = begin; i < end; i++) {
        int64_t c = i % bands * SQUARE, columns = t->columns - c < SQUARE ? t->columns - c : SQUARE;

        turn_band(t->size, t->rows, columns, t->from + i / bands * image + c * t->size, t->columns,
                  t->to + i / bands * image + c * t->rows * t->size, t->rows);
    }
}

void mxl_quantized_turn(int size, int64_t n, int64_t rows, int64_t columns, const void *from,
                        void *to)
{
    turning t = {size, rows, columns, from, to};

    if (rows == 1 || columns == 1)
        memcpy(to, from, (size_t)(n * rows * columns * size));
    else
        mxl_parallel_for(n * ((columns + SQUARE - 1) / SQUARE), GRAIN / (SQUARE * rows) + 1,
                         turn_bands, &t);
}

/* Three rows, as pictures have them. */
MXL_INLINE void weave_at(int level, const char *a, const char *b, const char *c, char *to,
                         int64_t n)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++) {
        to[3 * i] = a[i];
        to[3 * i + 1] = b[i];
        to[3 * i + 2] = c[i];
    }
}
MXL_BY_LEVEL(weave, (const char *a, const char *b, const char *c, char *to, int64_t n), a, b, c, to,
             n)

void mxl_quantized_turn_line(int64_t rows, int64_t columns, const char *from, int64_t step,
                             char *to)
{
    if (rows == 3) {
        weave(from, from + step, from + 2 * step, to, columns);
        return;
    }
    for (int64_t c = 0; c < columns; c += SQUARE)
        turn_band(1, rows, columns - c < SQUARE ? columns - c : SQUARE, from + c, step,
                  to + c * rows, rows);
}
