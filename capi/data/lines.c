/* Lines and words of text files; see data/lines.h. */
#include "data/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

int mxl_lines_open(mxl_lines *l, const char *path)
{
    *l = (mxl_lines){.path = path};
    if (mxl_content_read(path, &l->content) != 0)
        return -1;
    mxl_lines_restart(l);
    return 0;
}

void mxl_lines_close(mxl_lines *l)
{
    mxl_content_free(&l->content);
}

void mxl_lines_restart(mxl_lines *l)
{
    l->next = l->begin = l->at = l->end = l->content.bytes;
    l->number = 0;
}

bool mxl_lines_next(mxl_lines *l)
{
    const char *all = l->content.bytes + l->content.size;

    while (l->next < all) {
        const char *stop = memchr(l->next, '\n', (size_t)(all - l->next));

        l->begin = l->at = l->next;
        l->end = stop != NULL ? stop : all;
        l->next = stop != NULL ? stop + 1 : all;
        l->number++;
        while (l->at < l->end && mxl_is_blank(*l->at))
            l->at++;
        if (l->at < l->end)
            return true;
    }
    return false;
}

bool mxl_lines_word(mxl_lines *l, char word[MXL_WORD])
{
    const char *begin;
    size_t length;

    while (l->at < l->end && mxl_is_blank(*l->at))
        l->at++;
    begin = l->at;
    while (l->at < l->end && !mxl_is_blank(*l->at))
        l->at++;
    length = (size_t)(l->at - begin);
    (void)snprintf(word, MXL_WORD, "%.*s%s", (int)(length < MXL_WORD ? length : MXL_WORD - 4),
                   begin, length < MXL_WORD ? "" : "...");
    return length > 0;
}

int64_t mxl_lines_count(const mxl_lines *lines)
{
    mxl_lines l = *lines;
    int64_t count = 0;

    mxl_lines_restart(&l);
    while (mxl_lines_next(&l))
        count++;
    return count;
}

int mxl_lines_error(const mxl_lines *l, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return mxl_error("%s: line %lld: %s", l->path, (long long)l->number, text);
}
