/* JSON texts as trees of values, and symbols as JSON. */
#ifndef MXL_SYMBOL_JSON_H
#define MXL_SYMBOL_JSON_H

#include "symbol/symbol.h"

typedef enum mxl_json_type {
    MXL_JSON_NULL,
    MXL_JSON_BOOL,
    MXL_JSON_NUMBER,
    MXL_JSON_TEXT,
    MXL_JSON_LIST,
    MXL_JSON_OBJECT
} mxl_json_type;

typedef struct mxl_json {
    mxl_json_type type;
    const char *key;        /* of a member of an object */
    const char *text;       /* of a text; of a number or a bool: as it is written */
    struct mxl_json *next;  /* in the list or object that it is part of */
    struct mxl_json *first; /* of a list or an object */
    int count;
} mxl_json;

/* Parses a text into values that live in the arena, as copies of all their texts do. NULL with the
 * error set, which gives the line. */
mxl_json *mxl_json_parse(const char *text, mxl_arena *arena);

/* The member of an object, or NULL. */
const mxl_json *mxl_json_member(const mxl_json *object, const char *key);
/* The value of a whole number from 0 to `most`; -1 with the error set, which names `what`. */
int mxl_json_count(const mxl_json *value, int most, const char *what);

/* Appends a symbol in 1.9.1's format, byte for byte, which says whether it was written in
 * numpy-shape mode. -1 with the error set. */
int mxl_symbol_write(const mxl_symbol *symbol, bool numpy_shape, mxl_str *out);
/* A symbol from a text of any version of MXNet. In numpy-shape mode the shapes of variables in a
 * text that was not written in it get that mode's unknown sizes. NULL with the error set. */
mxl_symbol *mxl_symbol_read(const char *text, bool numpy_shape);

#endif
