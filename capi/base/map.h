/* A hash map from pointers to pointers, for one thread: the visited nodes of a graph walk. Open
 * addressing, grows by doubling, no removal. */
#ifndef MXL_BASE_MAP_H
#define MXL_BASE_MAP_H

#include <stddef.h>

typedef struct mxl_map_entry {
    const void *key;
    void *value;
} mxl_map_entry;

typedef struct mxl_map {
    mxl_map_entry *entries; /* NULL until the first insertion */
    size_t capacity;        /* a power of two, or 0 */
    size_t count;
} mxl_map;

/* An empty map is {0}. Frees the table, not the values. */
void mxl_map_clear(mxl_map *map);

/* The value of `key` (not NULL), or NULL if it is absent. Valid until the next insertion. */
void **mxl_map_find(const mxl_map *map, const void *key);

/* The value of `key`, inserted as NULL if it is absent. NULL with the error set. */
void **mxl_map_put(mxl_map *map, const void *key);

#endif
