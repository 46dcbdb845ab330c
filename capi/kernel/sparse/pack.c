/* Conversions between dense and sparse storage; see pack.h. */
#include "kernel/sparse/pack.h"

#include <string.h>

#include "base/thread.h"

/* Loops over elements of one width, as unsigned integers: `mask` leaves the sign out. */
#define LOOPS(type, name)                                                                          \
    static bool any_##name(const type *in, int64_t n, type mask)                                   \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            if ((in[i] & mask) != 0)                                                               \
                return true;                                                                       \
        }                                                                                          \
        return false;                                                                              \
    }                                                                                              \
                                                                                                   \
    static int64_t rows_##name(int64_t rows, int64_t row, const type *in, type mask,               \
                               int64_t *indices)                                                   \
    {                                                                                              \
        int64_t found = 0;                                                                         \
                                                                                                   \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            if (!any_##name(in + i * row, row, mask))                                              \
                continue;                                                                          \
            if (indices != NULL)                                                                   \
                indices[found] = i;                                                                \
            found++;                                                                               \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
                                                                                                   \
    static int64_t count_##name(int64_t rows, int64_t columns, const type *in, type mask,          \
                                int64_t *indptr)                                                   \
    {                                                                                              \
        int64_t found = 0;                                                                         \
                                                                                                   \
        indptr[0] = 0;                                                                             \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            for (int64_t j = 0; j < columns; j++)                                                  \
                found += (in[i * columns + j] & mask) != 0;                                        \
            indptr[i + 1] = found;                                                                 \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
                                                                                                   \
    static void take_##name(int64_t rows, int64_t columns, const type *in, type mask,              \
                            type *values, int64_t *indices)                                        \
    {                                                                                              \
        int64_t at = 0;                                                                            \
                                                                                                   \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            for (int64_t j = 0; j < columns; j++) {                                                \
                type value = in[i * columns + j];                                                  \
                                                                                                   \
                if ((value & mask) == 0)                                                           \
                    continue;                                                                      \
                values[at] = value;                                                                \
                indices[at++] = j;                                                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void put_##name(int64_t rows, int64_t columns, const type *values,                      \
                           const int64_t *indptr, const int64_t *indices, type *out)               \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            for (int64_t j = indptr[i]; j < indptr[i + 1]; j++)                                    \
                out[i * columns + indices[j]] = values[j];                                         \
        }                                                                                          \
    }

LOOPS(uint8_t, 1)
LOOPS(uint16_t, 2)
LOOPS(uint32_t, 4)
LOOPS(uint64_t, 8)

/* Calls the loop of the width, with what follows the number of rows; `use` is what becomes of its
 * answer. */
#define MASK(type) (type)(is_float ? (type) - 1 >> 1 : (type) - 1)
#define BY_WIDTH(use, loop, arguments)                                                             \
    switch (width) {                                                                               \
    case 1:                                                                                        \
        use loop##_1(rows, arguments(uint8_t));                                                    \
        break;                                                                                     \
    case 2:                                                                                        \
        use loop##_2(rows, arguments(uint16_t));                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        use loop##_4(rows, arguments(uint32_t));                                                   \
        break;                                                                                     \
    default:                                                                                       \
        use loop##_8(rows, arguments(uint64_t));                                                   \
        break;                                                                                     \
    }

int64_t mxl_sparse_find_rows(size_t width, bool is_float, int64_t rows, int64_t row,
                             const void *data, int64_t *indices)
{
#define ARGUMENTS(type) row, (const type *)data, MASK(type), indices
    int64_t found;

    BY_WIDTH(found =, rows, ARGUMENTS)
#undef ARGUMENTS
    return found;
}

int64_t mxl_sparse_count(size_t width, bool is_float, int64_t rows, int64_t columns,
                         const void *data, int64_t *indptr)
{
#define ARGUMENTS(type) columns, (const type *)data, MASK(type), indptr
    int64_t found;

    BY_WIDTH(found =, count, ARGUMENTS)
#undef ARGUMENTS
    return found;
}

void mxl_sparse_take(size_t width, bool is_float, int64_t rows, int64_t columns, const void *data,
                     void *values, int64_t *indices)
{
#define ARGUMENTS(type) columns, (const type *)data, MASK(type), (type *)values, indices
    BY_WIDTH(, take, ARGUMENTS)
#undef ARGUMENTS
}

void mxl_sparse_put(size_t width, int64_t rows, int64_t columns, const void *values,
                    const int64_t *indptr, const int64_t *indices, void *out)
{
#define ARGUMENTS(type) columns, (const type *)values, indptr, indices, (type *)out
    BY_WIDTH(, put, ARGUMENTS)
#undef ARGUMENTS
}

void mxl_sparse_gather_rows(size_t row_bytes, int64_t count, const int64_t *indices, const void *in,
                            void *out)
{
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)out + (size_t)k * row_bytes,
               (const char *)in + (size_t)indices[k] * row_bytes, row_bytes);
}

void mxl_sparse_put_rows(size_t row_bytes, int64_t count, const int64_t *indices, const void *in,
                         void *out)
{
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)out + (size_t)indices[k] * row_bytes,
               (const char *)in + (size_t)k * row_bytes, row_bytes);
}
