/* A growing string that remembers a failed allocation, so that its users check once. */
#ifndef MXL_BASE_STR_H
#define MXL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct mxl_str {
    char *text; /* NULL while empty, else ends with a zero byte */
    size_t length;
    size_t capacity;
    bool failed; /* an allocation failed; the text is not complete */
} mxl_str;

void mxl_str_add(mxl_str *str, const char *text);
void mxl_str_addf(mxl_str *str, const char *fmt, ...) MXL_PRINTF(2, 3);
void mxl_str_clear(mxl_str *str);

#endif
