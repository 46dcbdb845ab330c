/* The pointer map: open addressing with linear probing, at most half full. */
#include "base/map.h"

#include <stdint.h>
#include <string.h>

#include "base/memory/mem.h"

/* The entry of `key`, or the free entry where it would be inserted. */
static mxl_map_entry *probe(const mxl_map *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(hash >> 32) & (map->capacity - 1);

    while (map->entries[i].key != NULL && map->entries[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->entries[i];
}

static int grow(mxl_map *map)
{
    mxl_map bigger = {NULL, map->capacity > 0 ? 2 * map->capacity : 32, map->count};

    bigger.entries = mxl_alloc_zero(bigger.capacity * sizeof *bigger.entries);
    if (bigger.entries == NULL)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key != NULL)
            *probe(&bigger, map->entries[i].key) = map->entries[i];
    mxl_map_clear(map);
    *map = bigger;
    return 0;
}

void mxl_map_clear(mxl_map *map)
{
    mxl_free(map->entries, map->capacity * sizeof *map->entries);
    memset(map, 0, sizeof *map);
}

void **mxl_map_find(const mxl_map *map, const void *key)
{
    mxl_map_entry *entry;

    if (map->capacity == 0)
        return NULL;
    entry = probe(map, key);
    return entry->key != NULL ? &entry->value : NULL;
}

void **mxl_map_put(mxl_map *map, const void *key)
{
    mxl_map_entry *entry;
    void **found = mxl_map_find(map, key);

    if (found != NULL)
        return found;
    if (2 * (map->count + 1) > map->capacity && grow(map) != 0)
        return NULL;
    entry = probe(map, key);
    entry->key = key;
    entry->value = NULL;
    map->count++;
    return &entry->value;
}
