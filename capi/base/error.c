/* The thread's last error: formatting and prefixing. */
#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/state.h"

/* The length of a leading "ValueError: " or other exception name, else 0. */
static size_t exception_length(const char *text)
{
    size_t n = 0;

    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z'))
        n++;
    if (n < 5 || text[0] < 'A' || text[0] > 'Z' || memcmp(text + n - 5, "Error", 5) != 0)
        return 0;
    if (text[n] != ':')
        return 0;
    return text[n + 1] == ' ' ? n + 2 : n + 1;
}

/* The length of the prefix that an operator's name has for its module: users know `randint`, not
 * `_random_randint`, and never call `_mxl_scatter`. */
static size_t module_length(const char *name)
{
    static const char *const modules[] = {"_mxl_",    "_contrib_", "_random_",
                                          "_sample_", "_image_",   "_linalg_",
                                          "_npi_",    "_npx_",     "_np_"};

    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        size_t length = strlen(modules[i]);

        if (strncmp(name, modules[i], length) == 0)
            return length;
    }
    return name[0] == '_' ? 1 : 0;
}

enum { LONGEST_MODULE = 9 };

/* Takes that prefix from the operator with which a line begins ("_copyto: ..."); returns how many
 * bytes went. */
static size_t shorten_name(char *line)
{
    char *name = line + exception_length(line);
    size_t end = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    size_t skipped = module_length(name);

    if (name[end] != ':' || skipped >= end)
        return 0;
    memmove(name, name + skipped, strlen(name + skipped) + 1);
    return skipped;
}

/* Copies a finished line into the state. `length` is the length that it would have without the
 * limit. */
static void keep_line(const char *line, size_t length)
{
    char *text = mxl_state_get()->error;
    size_t end = length < MXL_ERROR_TEXT ? length : MXL_ERROR_TEXT - 1;

    memcpy(text, line, end);
    if (end < length) {
        end -= 3;
        /* Never cuts inside a UTF-8 character. */
        while (end > 0 && ((unsigned char)line[end] & 0xC0) == 0x80)
            end--;
        memcpy(text + end, "...", 3);
        end += 3;
    }
    text[end] = '\0';
    for (size_t i = 0; i < end; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
}

MXL_PRINTF(1, 0) static void set_error(const char *fmt, va_list args)
{
    /* A separate buffer: the arguments may point into the current message. */
    char line[MXL_ERROR_TEXT + LONGEST_MODULE];
    int length = vsnprintf(line, sizeof line, fmt, args);

    if (length < 0)
        keep_line("an error whose text could not be formatted", 42);
    else
        keep_line(line, (size_t)length - shorten_name(line));
}

void mxl_error_set(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set_error(fmt, args);
    va_end(args);
}

void *mxl_error_null(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set_error(fmt, args);
    va_end(args);
    return NULL;
}

int mxl_error_memory(unsigned long long bytes)
{
    return mxl_error("out of memory: %llu bytes were asked for", bytes);
}

void mxl_error_put_before(const char *prefix)
{
    const char *text = mxl_error_text();
    size_t head = exception_length(text);
    size_t length;

    prefix += module_length(prefix);
    length = strlen(prefix);
    if (strncmp(text + head, prefix, length) != 0 || text[head + length] != ':')
        mxl_error_set("%.*s%s: %s", (int)head, text, prefix, text + head);
}

const char *mxl_error_text(void)
{
    return mxl_state_get()->error;
}
