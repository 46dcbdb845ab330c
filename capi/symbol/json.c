/* A parser of JSON: RFC 8259, with values in an arena. */
#include "symbol/json.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct parser {
    const char *at, *begin;
    mxl_arena *arena;
    int depth;
} parser;

static void *refuse(const parser *p, const char *what)
{
    int line = 1;

    for (const char *c = p->begin; c < p->at; c++)
        line += *c == '\n';
    return mxl_error_null("JSON: %s in line %d", what, line);
}

static void skip_space(parser *p)
{
    while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')
        p->at++;
}

/* ---- texts ---- */

static int hex_digits(const char *at)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        char c = at[i];

        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            value = value * 16 + ((c | 32) - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* Writes a code point as UTF-8; returns the place after it. */
static char *put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* Reads what follows \u; the position is after the last digit. -1: malformed. */
static int read_code(parser *p)
{
    int high = hex_digits(p->at), low;

    if (high <= 0)
        return -1;
    p->at += 4;
    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || p->at[0] != '\\' || p->at[1] != 'u')
        return -1;
    low = hex_digits(p->at + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    p->at += 6;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Reads one escape after the backslash; the place after what it stands for, or NULL. */
static char *read_escape(parser *p, char *to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = *p->at++;
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    int code;

    if (name != NULL) {
        *to++ = values[name - names];
        return to;
    }
    if (c != 'u')
        return NULL;
    code = read_code(p);
    return code < 0 ? NULL : put_code(to, (unsigned)code);
}

/* The position is after the opening quote. */
static const char *read_text(parser *p)
{
    const char *end = p->at;
    char *text, *to;

    while (*end != '"') {
        if (*end == '\0')
            return refuse(p, "a text without an end");
        end += end[0] == '\\' && end[1] != '\0' ? 2 : 1;
    }
    text = to = mxl_arena_alloc(p->arena, (size_t)(end - p->at) + 1);
    if (text == NULL)
        return NULL;
    while (*p->at != '"') {
        if (*p->at != '\\') {
            *to++ = *p->at++;
            continue;
        }
        p->at++;
        to = read_escape(p, to);
        if (to == NULL)
            return refuse(p, "a malformed escape");
    }
    p->at++;
    *to = '\0';
    return text;
}

/* ---- values ---- */

static mxl_json *read_value(parser *p);

/* A key and its colon; NULL with the error set. */
static const char *read_key(parser *p)
{
    const char *key;

    skip_space(p);
    if (*p->at != '"')
        return refuse(p, "a key without quotes");
    p->at++;
    key = read_text(p);
    skip_space(p);
    if (key != NULL && *p->at != ':')
        return refuse(p, "a key without a value");
    p->at++;
    return key;
}

/* The items of a list or an object up to `end`; the position is after the opening bracket. */
static mxl_json *read_items(parser *p, mxl_json *value, char end)
{
    mxl_json **last = &value->first;

    skip_space(p);
    if (*p->at == end) {
        p->at++;
        return value;
    }
    for (;;) {
        const char *key = NULL;

        if (value->type == MXL_JSON_OBJECT && (key = read_key(p)) == NULL)
            return NULL;
        *last = read_value(p);
        if (*last == NULL)
            return NULL;
        (*last)->key = key;
        last = &(*last)->next;
        value->count++;
        skip_space(p);
        if (*p->at != ',' && *p->at != end)
            return refuse(p, "a comma or a bracket is missing");
        if (*p->at++ == end)
            return value;
    }
}

/* The length of a word. (A strspn may look for the end of the whole text first, as zig's does.) */
static size_t word_length(const char *at)
{
    static const char of_words[] = "+-.0123456789abcdefghijklmnopqrstuvwxyzEINF";
    size_t length = 0;

    while (at[length] != '\0' && strchr(of_words, at[length]) != NULL)
        length++;
    return length;
}

/* A number, true, false or null. */
static mxl_json *read_word(parser *p, mxl_json *value)
{
    size_t length = word_length(p->at);
    char *text = mxl_arena_alloc(p->arena, length + 1), *end;

    if (text == NULL)
        return NULL;
    memcpy(text, p->at, length);
    text[length] = '\0';
    value->text = text;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        value->type = MXL_JSON_BOOL;
    } else if (strcmp(text, "null") != 0) {
        value->type = MXL_JSON_NUMBER;
        (void)strtod(text, &end);
        if (length == 0 || *end != '\0')
            return refuse(p, "no value");
    }
    p->at += length;
    return value;
}

static mxl_json *read_value(parser *p)
{
    mxl_json *value = mxl_arena_alloc(p->arena, sizeof(*value)), *result;

    if (value == NULL)
        return NULL;
    *value = (mxl_json){0};
    skip_space(p);
    if (*p->at == '"') {
        p->at++;
        value->type = MXL_JSON_TEXT;
        value->text = read_text(p);
        return value->text != NULL ? value : NULL;
    }
    if (*p->at != '{' && *p->at != '[')
        return read_word(p, value);
    if (++p->depth > DEEPEST)
        return refuse(p, "lists in lists too deep");
    value->type = *p->at == '{' ? MXL_JSON_OBJECT : MXL_JSON_LIST;
    p->at++;
    result = read_items(p, value, value->type == MXL_JSON_OBJECT ? '}' : ']');
    p->depth--;
    return result;
}

mxl_json *mxl_json_parse(const char *text, mxl_arena *arena)
{
    parser p = {text, text, arena, 0};
    mxl_json *value = read_value(&p);

    if (value == NULL)
        return NULL;
    skip_space(&p);
    return *p.at == '\0' ? value : refuse(&p, "more text after the end");
}

const mxl_json *mxl_json_member(const mxl_json *object, const char *key)
{
    if (object == NULL || object->type != MXL_JSON_OBJECT)
        return NULL;
    for (const mxl_json *each = object->first; each != NULL; each = each->next) {
        if (strcmp(each->key, key) == 0)
            return each;
    }
    return NULL;
}

int mxl_json_count(const mxl_json *value, int most, const char *what)
{
    long long number = -1;
    char *end = NULL;

    if (value != NULL && value->type == MXL_JSON_NUMBER)
        number = strtoll(value->text, &end, 10);
    if (end == NULL || *end != '\0' || number < 0 || number > most)
        return mxl_error("%s is no whole number from 0 to %d", what, most);
    return (int)number;
}
