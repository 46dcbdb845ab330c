/* The growing string. */
#include "base/text/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/mem.h"

/* Makes room for `more` bytes and the terminating zero; false after any failure. */
static bool reserve(mxl_str *str, size_t more)
{
    size_t need = str->length + more + 1;
    size_t capacity = str->capacity > 0 ? 2 * str->capacity : 64;
    char *text;

    if (str->failed)
        return false;
    if (need <= str->capacity)
        return true;
    if (capacity < need)
        capacity = need;
    text = mxl_realloc(str->text, str->capacity, capacity);
    if (text == NULL) {
        str->failed = true;
        return false;
    }
    str->text = text;
    str->capacity = capacity;
    return true;
}

void mxl_str_add(mxl_str *str, const char *text)
{
    size_t length = strlen(text);

    if (!reserve(str, length))
        return;
    memcpy(str->text + str->length, text, length + 1);
    str->length += length;
}

void mxl_str_addf(mxl_str *str, const char *fmt, ...)
{
    va_list args;
    int length;

    va_start(args, fmt);
    length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0) {
        mxl_error("a text could not be formatted");
        str->failed = true;
        return;
    }
    if (!reserve(str, (size_t)length))
        return;
    va_start(args, fmt);
    (void)vsnprintf(str->text + str->length, (size_t)length + 1, fmt, args);
    va_end(args);
    str->length += (size_t)length;
}

void mxl_str_clear(mxl_str *str)
{
    mxl_free(str->text, str->capacity);
    memset(str, 0, sizeof *str);
}
