/* A hash map from pointers to pointers, for one thread: the visited nodes of a graph walk. Open
 * addressing, grows by doubling, no removal. */
#ifndef MXL_BASE_MAP_H
#define MXL_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

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

/* The entry of `key`, or the free entry where it would be inserted. The map has a table. */
static inline mxl_map_entry *mxl_map_probe(const mxl_map *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(hash >> 32) & (map->capacity - 1);

    while (map->entries[i].key != NULL && map->entries[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->entries[i];
}

/* The value of `key` (not NULL), or NULL if it is absent. Valid until the next insertion. */
static inline void **mxl_map_find(const mxl_map *map, const void *key)
{
    mxl_map_entry *entry;

    if (map->capacity == 0)
        return NULL;
    entry = mxl_map_probe(map, key);
    return entry->key != NULL ? &entry->value : NULL;
}

/* The value of `key`, inserted as NULL if it is absent. NULL with the error set. */
void **mxl_map_put(mxl_map *map, const void *key);

#endif
