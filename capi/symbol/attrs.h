/* Attributes of a symbol's node: texts by key, in the order of the keys. */
#ifndef MXL_SYMBOL_ATTRS_H
#define MXL_SYMBOL_ATTRS_H

#include <stdbool.h>

typedef struct mxl_attr {
    char *key, *value; /* owned */
} mxl_attr;

typedef struct mxl_attrs {
    mxl_attr *list; /* NULL while empty */
    int count, room;
} mxl_attrs;

/* A copy of a text, and its release; NULL with the error set. */
char *mxl_text_copy(const char *text);
void mxl_text_free(char *text);

/* Sets or replaces one; -1 with the error set and the list unchanged. */
int mxl_attrs_set(mxl_attrs *attrs, const char *key, const char *value);
/* The value of a key, or NULL. Borrowed. */
const char *mxl_attrs_get(const mxl_attrs *attrs, const char *key);
/* Adds all of `from`; -1 with the error set. */
int mxl_attrs_add(mxl_attrs *attrs, const mxl_attrs *from);
void mxl_attrs_clear(mxl_attrs *attrs);

/* The name under which MXNet stores an attribute that a user writes without underscores: lr_mult as
 * __lr_mult__. NULL for any other key. */
const char *mxl_attr_hidden(const char *key);
/* The reverse: lr_mult for __lr_mult__, else NULL. */
const char *mxl_attr_shown(const char *key);
/* True for weight_lr_mult and such: MXNet refuses attributes of a layer's variables. */
bool mxl_attr_of_variable(const char *key);

#endif
