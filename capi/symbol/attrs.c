/* Sorted lists of attributes. */
#include "symbol/attrs.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"

char *mxl_text_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = mxl_alloc(bytes);

    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

void mxl_text_free(char *text)
{
    if (text != NULL)
        mxl_free(text, strlen(text) + 1);
}

/* The place of a key: the first entry that is not before it. */
static int place(const mxl_attrs *attrs, const char *key)
{
    int low = 0, high = attrs->count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (strcmp(attrs->list[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const mxl_attrs *attrs, int at, const char *key)
{
    return at < attrs->count && strcmp(attrs->list[at].key, key) == 0;
}

static int grow(mxl_attrs *attrs)
{
    int room = attrs->room == 0 ? 4 : 2 * attrs->room;
    mxl_attr *list;

    if (attrs->count < attrs->room)
        return 0;
    list = mxl_alloc((size_t)room * sizeof(*list));
    if (list == NULL)
        return -1;
    if (attrs->count > 0)
        memcpy(list, attrs->list, (size_t)attrs->count * sizeof(*list));
    mxl_free(attrs->list, (size_t)attrs->room * sizeof(*list));
    attrs->list = list;
    attrs->room = room;
    return 0;
}

int mxl_attrs_set(mxl_attrs *attrs, const char *key, const char *value)
{
    int at = place(attrs, key);
    char *own = mxl_text_copy(value), *own_key = NULL;

    if (own == NULL)
        return -1;
    if (is_at(attrs, at, key)) {
        mxl_text_free(attrs->list[at].value);
        attrs->list[at].value = own;
        return 0;
    }
    own_key = mxl_text_copy(key);
    if (own_key == NULL || grow(attrs) != 0) {
        mxl_text_free(own);
        mxl_text_free(own_key);
        return -1;
    }
    memmove(attrs->list + at + 1, attrs->list + at,
            (size_t)(attrs->count - at) * sizeof(*attrs->list));
    attrs->list[at] = (mxl_attr){own_key, own};
    attrs->count++;
    return 0;
}

const char *mxl_attrs_get(const mxl_attrs *attrs, const char *key)
{
    int at = place(attrs, key);

    return is_at(attrs, at, key) ? attrs->list[at].value : NULL;
}

int mxl_attrs_add(mxl_attrs *attrs, const mxl_attrs *from)
{
    for (int i = 0; i < from->count; i++) {
        if (mxl_attrs_set(attrs, from->list[i].key, from->list[i].value) != 0)
            return -1;
    }
    return 0;
}

void mxl_attrs_clear(mxl_attrs *attrs)
{
    for (int i = 0; i < attrs->count; i++) {
        mxl_text_free(attrs->list[i].key);
        mxl_text_free(attrs->list[i].value);
    }
    mxl_free(attrs->list, (size_t)attrs->room * sizeof(*attrs->list));
    *attrs = (mxl_attrs){0};
}

/* Keys without and with underscores, in pairs. */
static const char *const hidden[][2] = {
    {"ctx_group", "__ctx_group__"},       {"lr_mult", "__lr_mult__"},
    {"wd_mult", "__wd_mult__"},           {"force_mirroring", "__force_mirroring__"},
    {"mirror_stage", "__mirror_stage__"},
};

enum { HIDDEN = sizeof(hidden) / sizeof(hidden[0]) };

const char *mxl_attr_hidden(const char *key)
{
    for (int i = 0; i < HIDDEN; i++) {
        if (strcmp(key, hidden[i][0]) == 0)
            return hidden[i][1];
    }
    return NULL;
}

const char *mxl_attr_shown(const char *key)
{
    for (int i = 0; i < HIDDEN; i++) {
        if (strcmp(key, hidden[i][1]) == 0)
            return hidden[i][0];
    }
    return NULL;
}

bool mxl_attr_of_variable(const char *key)
{
    size_t length = strlen(key);

    for (int i = 0; i < HIDDEN; i++) {
        size_t tail = strlen(hidden[i][0]);

        if (length > tail + 1 && key[length - tail - 1] == '_' &&
            strcmp(key + length - tail, hidden[i][0]) == 0)
            return true;
    }
    return false;
}
