/* Objects: what packed functions take lists and their numbers as. A list of lists of numbers is
 * made from the inside out. Called by packed/functions.c. */
#ifndef MXL_API_PACKED_OBJECT_H
#define MXL_API_PACKED_OBJECT_H

#include "api/common.h"
#include "base/text/str.h"

typedef struct packed_object {
    mxl_ref ref;
    int64_t number; /* if count is -1 */
    int count;
    struct packed_object *item[]; /* owned */
} packed_object;

/* A new handle to a number, and to a list of `count` objects whose handles are in `items`. NULL
 * with the error set. */
MXNetObjectHandle packed_number(int64_t number);
MXNetObjectHandle packed_list(int count, const MXNetValue *items);

/* Borrowed until packed_unpin; NULL with the error set. */
packed_object *packed_pin(const void *handle);
void packed_unpin(const void *handle);

/* Adds "(2, 3)": a list of numbers, or one number. -1 with the error set for anything else. */
int packed_text(const packed_object *object, const char *what, mxl_str *text);

#endif
