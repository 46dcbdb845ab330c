/* Parses numbers and tuples; for param.c. */
#include "op/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"

/* A double depends on at most 767 significant digits and on whether any nonzero one follows. */
enum { FLOAT_DIGITS = 770, FLOAT_EXPONENT = 100000 };

/* <ctype.h> depends on the locale. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/* If `word` (in any case) is at *at, moves *at behind it. */
static bool skip_word(const char **at, const char *word)
{
    const char *p = *at;

    for (; *word != '\0'; word++, p++)
        if (lower(*p) != *word)
            return false;
    *at = p;
    return true;
}

mxl_text_result mxl_text_int_at(const char **at, int64_t *value)
{
    const char *p = skip_blanks(*at);
    bool negative = *p == '-', overflow = false;
    int64_t n = 0;

    if (*p == '-' || *p == '+')
        p++;
    if (!is_digit(*p))
        return MXL_TEXT_MALFORMED;
    for (; is_digit(*p); p++) {
        int digit = negative ? '0' - *p : *p - '0';

        overflow =
            overflow || __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n);
    }
    *at = p;
    *value = n;
    return overflow ? MXL_TEXT_RANGE : MXL_TEXT_OK;
}

mxl_text_result mxl_text_int(const char *text, bool suffix, int64_t *value)
{
    mxl_text_result result = mxl_text_int_at(&text, value);

    if (result == MXL_TEXT_MALFORMED)
        return result;
    if (suffix && *text == 'L')
        text++;
    return *skip_blanks(text) != '\0' ? MXL_TEXT_MALFORMED : result;
}

mxl_text_result mxl_text_bool(const char *text, int *value)
{
    static const struct {
        const char *word;
        int value;
    } builtin[] = {{"1", 1}, {"0", 0}, {"true", 1}, {"false", 0}};

    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++) {
        const char *p = text;

        if (skip_word(&p, builtin[i].word) && *p == '\0') {
            *value = builtin[i].value;
            return MXL_TEXT_OK;
        }
    }
    return MXL_TEXT_MALFORMED;
}

mxl_text_result mxl_text_opt_bool(const char *text, int *value)
{
    char word[8];
    size_t length;

    text = skip_blanks(text);
    length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    if (length >= sizeof word)
        return MXL_TEXT_MALFORMED;
    memcpy(word, text, length);
    word[length] = '\0';
    text = word;
    if (skip_word(&text, "none") && *text == '\0') {
        *value = -1;
        return MXL_TEXT_OK;
    }
    return mxl_text_bool(word, value);
}

bool mxl_text_is_none(const char *text)
{
    return strncmp(text, "None", 4) == 0 && *skip_blanks(text + 4) == '\0';
}

/* "nan(...)" as C's strtod accepts it. */
static void skip_nan_payload(const char **at)
{
    const char *p = *at;

    if (*p != '(')
        return;
    do
        p++;
    while (is_digit(*p) || (lower(*p) >= 'a' && lower(*p) <= 'z') || *p == '_');
    if (*p == ')')
        *at = p + 1;
}

/* Collects the significant digits without the point, and the power of ten that corrects for it.
 * strtod then sees no point, the only part of a number that depends on the locale. */
static bool read_digits(const char **at, char *digits, int64_t *exponent)
{
    const char *p = *at;
    bool any = false, point = false, rest = false;
    int n = 0;

    for (; is_digit(*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        *exponent -= point;
        if (n == 0 && *p == '0')
            continue;
        if (n < FLOAT_DIGITS) {
            digits[n++] = *p;
        } else {
            rest = rest || *p != '0';
            *exponent += 1;
        }
    }
    if (rest) {
        digits[n++] = '1';
        *exponent -= 1;
    }
    if (n == 0)
        digits[n++] = '0';
    digits[n] = '\0';
    *at = p;
    return any;
}

static mxl_text_result read_exponent(const char **at, int64_t *exponent)
{
    const char *p = *at;
    int64_t n = 0;
    bool negative;

    if (lower(*p) != 'e')
        return MXL_TEXT_OK;
    p++;
    negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!is_digit(*p))
        return MXL_TEXT_MALFORMED;
    /* Digits beyond the limit change only the exponent, if they are before the point. */
    for (; is_digit(*p); p++)
        n = n < INT64_MAX / 100 ? n * 10 + (*p - '0') : n;
    *exponent += negative ? -n : n;
    *at = p;
    return MXL_TEXT_OK;
}

/* A number without sign; no word. */
static mxl_text_result read_number(const char **at, double *value)
{
    char text[FLOAT_DIGITS + 16];
    int64_t exponent = 0;
    size_t length;

    if (!read_digits(at, text, &exponent) || read_exponent(at, &exponent) != MXL_TEXT_OK)
        return MXL_TEXT_MALFORMED;
    if (exponent > FLOAT_EXPONENT)
        exponent = FLOAT_EXPONENT;
    if (exponent < -FLOAT_EXPONENT)
        exponent = -FLOAT_EXPONENT;
    length = strlen(text);
    snprintf(text + length, sizeof text - length, "e%lld", (long long)exponent);
    *value = strtod(text, NULL);
    return isinf(*value) || (*value == 0 && text[0] != '0') ? MXL_TEXT_RANGE : MXL_TEXT_OK;
}

/* A number with its sign, or a word, with leading blanks. */
static mxl_text_result read_float(const char **at, double *value)
{
    const char *p = skip_blanks(*at);
    mxl_text_result result = MXL_TEXT_OK;
    bool negative = *p == '-';

    if (*p == '-' || *p == '+')
        p++;
    if (skip_word(&p, "inf")) {
        skip_word(&p, "inity");
        *value = INFINITY;
    } else if (skip_word(&p, "nan")) {
        skip_nan_payload(&p);
        *value = NAN;
    } else {
        result = read_number(&p, value);
        if (lower(*p) == 'f')
            p++;
    }
    *at = p;
    *value = negative ? -*value : *value;
    return result;
}

mxl_text_result mxl_text_float(const char *text, double *value)
{
    mxl_text_result result = read_float(&text, value);

    return *text != '\0' ? MXL_TEXT_MALFORMED : result;
}

/* One entry of a tuple, with blanks around it. */
static mxl_text_result read_entry(const char **at, bool none, int64_t *value)
{
    const char *p = skip_blanks(*at);
    mxl_text_result result = MXL_TEXT_OK;

    if (none && strncmp(p, "None", 4) == 0) {
        *value = MXL_NONE;
        p += 4;
    } else {
        result = mxl_text_int_at(&p, value);
        if (result == MXL_TEXT_MALFORMED)
            return result;
        if (*value == MXL_NONE)
            result = MXL_TEXT_RANGE;
        if (*p == 'L')
            p++;
    }
    *at = skip_blanks(p);
    return result;
}

/* Where the entries of a list go: integers, pairs of them, or else floats. */
typedef struct entries {
    int64_t *integers, *pairs;
    double *floats;
    bool none; /* an integer may be "None" */
    int room;
} entries;

/* "(1, 2)", with blanks around it. */
static mxl_text_result read_pair(const char **at, const entries *to, int position)
{
    mxl_text_result all = MXL_TEXT_OK;
    const char *p = skip_blanks(*at);

    if (*p != '(' && *p != '[')
        return MXL_TEXT_MALFORMED;
    p++;
    for (int i = 0; i < 2; i++) {
        int64_t value;
        mxl_text_result result = read_entry(&p, false, &value);

        if (result == MXL_TEXT_MALFORMED || (i == 0 && *p != ','))
            return MXL_TEXT_MALFORMED;
        all = result == MXL_TEXT_OK ? all : result;
        if (2 * position + i < to->room)
            to->pairs[2 * position + i] = value;
        p = *p == ',' ? skip_blanks(p + 1) : p;
    }
    *at = skip_blanks(p + 1);
    return *p == ')' || *p == ']' ? all : MXL_TEXT_MALFORMED;
}

static mxl_text_result read_into(const char **at, const entries *to, int position)
{
    mxl_text_result result;
    int64_t integer = 0;
    double number = 0;

    if (to->pairs != NULL)
        return read_pair(at, to, position);
    if (to->integers != NULL) {
        result = read_entry(at, to->none, &integer);
        if (position < to->room)
            to->integers[position] = integer;
        return result;
    }
    result = read_float(at, &number);
    if (position < to->room)
        to->floats[position] = number;
    *at = skip_blanks(*at);
    return result;
}

/* The entries of a bracketed list, of which `p` is the text behind the bracket. */
static mxl_text_result read_list(const char *p, const entries *to, int *count)
{
    mxl_text_result all = MXL_TEXT_OK;

    p = skip_blanks(p);
    while (*p != ')' && *p != ']') {
        mxl_text_result result = read_into(&p, to, *count);

        if (result == MXL_TEXT_MALFORMED)
            return result;
        all = result == MXL_TEXT_OK ? all : result;
        /* Stops before an int overflows; the caller refuses lists of this length. */
        *count += *count < INT32_MAX;
        if (*p == ',')
            p = skip_blanks(p + 1);
        else if (*p != ')' && *p != ']')
            return MXL_TEXT_MALFORMED;
    }
    return *skip_blanks(p + 1) == '\0' ? all : MXL_TEXT_MALFORMED;
}

mxl_text_result mxl_text_tuple(const char *text, bool none, int room, int64_t *values, int *count)
{
    const char *p = skip_blanks(text);
    mxl_text_result all = MXL_TEXT_OK;
    int64_t value = 0;

    *count = 0;
    if (*p != '(' && *p != '[') {
        all = *p == '+' ? MXL_TEXT_MALFORMED : mxl_text_int(p, none, &value);
        *count = 1;
        if (room > 0)
            values[0] = value;
        return all == MXL_TEXT_OK && value == MXL_NONE ? MXL_TEXT_RANGE : all;
    }
    return read_list(p + 1, &(entries){.integers = values, .none = none, .room = room}, count);
}

mxl_text_result mxl_text_floats(const char *text, int room, double *values, int *count)
{
    const entries to = {.floats = values, .room = room};
    const char *p = skip_blanks(text);
    mxl_text_result result;

    *count = 0;
    if (*p == '(' || *p == '[')
        return read_list(p + 1, &to, count);
    *count = 1;
    result = read_into(&p, &to, 0);
    return *p != '\0' ? MXL_TEXT_MALFORMED : result;
}

mxl_text_result mxl_text_pairs(const char *text, int room, int64_t *values, int *count)
{
    const char *p = skip_blanks(text);
    mxl_text_result result;

    *count = 0;
    if (*p != '(' && *p != '[')
        return MXL_TEXT_MALFORMED;
    result = read_list(p + 1, &(entries){.pairs = values, .room = room}, count);
    *count *= 2;
    return result;
}
