/* Reading numbers and flags from the environment. */
#include "base/env.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* True for a number or a comma-separated list of numbers, with spaces allowed around each. */
static bool is_list(const char *text)
{
    for (;;) {
        size_t length;

        text += strspn(text, " ");
        length = strspn(text, "0123456789");
        text += length;
        text += strspn(text, " ");
        if (length == 0 || *text != ',')
            return length > 0 && *text == '\0';
        text++;
    }
}

int64_t mxl_env_number(const char *variable, int64_t otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && is_list(text) ? strtoll(text, NULL, 10) : otherwise;
}

int mxl_env_check(const char *variable, const char *wanted)
{
    const char *text = getenv(variable);

    if (text == NULL || *text == '\0' || is_list(text))
        return 0;
    return mxl_error("%s is \"%.100s\"; %s is expected", variable, text, wanted);
}

/* Whether a text is a word of small letters, in letters of any case. */
static bool is_word(const char *text, const char *word)
{
    while (*word != '\0' && tolower((unsigned char)*text) == *word)
        text++, word++;
    return *word == '\0' && *text == '\0';
}

/* 0 or 1; -1: neither. */
static int flag_of(const char *text)
{
    if (is_word(text, "1") || is_word(text, "true"))
        return 1;
    return is_word(text, "0") || is_word(text, "false") ? 0 : -1;
}

bool mxl_env_flag(const char *variable, bool otherwise)
{
    const char *text = getenv(variable);
    int flag = text == NULL ? -1 : flag_of(text);

    return flag < 0 ? otherwise : flag == 1;
}

int mxl_env_check_flag(const char *variable)
{
    const char *text = getenv(variable);

    if (text == NULL || *text == '\0' || flag_of(text) >= 0)
        return 0;
    return mxl_error("%s is \"%.100s\"; 0, 1, false or true is expected", variable, text);
}
