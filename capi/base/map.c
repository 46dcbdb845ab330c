/* The pointer map: open addressing with linear probing, at most half full. */
#include "base/map.h"

#include <string.h>

#include "base/memory/mem.h"

static int grow(mxl_map *map)
{
    mxl_map bigger = {NULL, map->capacity > 0 ? 2 * map->capacity : 32, map->count};

    bigger.entries = mxl_alloc_zero(bigger.capacity * sizeof *bigger.entries);
    if (bigger.entries == NULL)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key != NULL)
            *mxl_map_probe(&bigger, map->entries[i].key) = map->entries[i];
    mxl_map_clear(map);
    *map = bigger;
    return 0;
}

void mxl_map_clear(mxl_map *map)
{
    mxl_free(map->entries, map->capacity * sizeof *map->entries);
    memset(map, 0, sizeof *map);
}

void **mxl_map_put(mxl_map *map, const void *key)
{
    mxl_map_entry *entry;

    if (2 * (map->count + 1) > map->capacity) {
        void **found = mxl_map_find(map, key);

        if (found != NULL)
            return found;
        if (grow(map) != 0)
            return NULL;
    }
    entry = mxl_map_probe(map, key);
    if (entry->key == NULL) {
        entry->key = key;
        entry->value = NULL;
        map->count++;
    }
    return &entry->value;
}
