/* Entries of a key and a position; included by sort_entry.c after sort.tmpl.h, with E, K (its key),
 * ENTRY(key, position), KEY(e), POSITION(e), LESS(a, b) and NAME(x) defined. */

/* Converts elements begin, begin + 1, ... of a row to entries. */
static void NAME(read)(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                       void *entries)
{
    K keys[CHUNK];
    E *e = entries;

    for (int64_t i = begin; i < end; i += CHUNK) {
        int64_t count = read_keys(job, row, i, end, sizeof(K), keys);

        for (int64_t c = 0; c < count; c++)
            *e++ = ENTRY(keys[c], i + c);
    }
}

/* Restores a heap, with its greatest entry at the root, after entry `root` changed. */
static void NAME(sink)(E *heap, int64_t n, int64_t root)
{
    E e = heap[root];

    for (int64_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
        child += child + 1 < n && LESS(heap[child], heap[child + 1]);
        if (!LESS(e, heap[child]))
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = e;
}

/* The first k of elements begin, ... of a row, in any order: a heap of the first k so far. Few
 * later elements are below its root, and a vector search finds those. */
static void NAME(heap)(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                       void *entries)
{
    int64_t k = job->k;
    E *heap = entries;
    K keys[CHUNK];

    NAME(read)(job, row, begin, begin + k, heap);
    for (int64_t root = k / 2 - 1; root >= 0; root--)
        NAME(sink)(heap, k, root);
    for (int64_t i = begin + k; i < end; i += CHUNK) {
        int64_t count = read_keys(job, row, i, end, sizeof(K), keys), c = 0;

        for (;; c++) {
            c = mxl_sort_find_below(sizeof(K), keys, c, count, KEY(heap[0]));
            if (c == count)
                break;
            heap[0] = ENTRY(keys[c], i + c);
            NAME(sink)(heap, k, 0);
        }
    }
}

/* The first k of a row in the order of their positions, 0 < k < n; `room` is a buffer for the row's
 * keys. */
static void NAME(divide)(const mxl_sort_job *job, const void *row, void *room, void *entries)
{
    K *keys = room;
    uint64_t limit;
    int64_t equal;
    E *e = entries;

    for (int64_t i = 0; i < job->n; i += CHUNK)
        read_keys(job, row, i, job->n, sizeof(K), keys + i);
    equal = job->k - find_limit(sizeof(K), keys, job->n, job->k, &limit);
    for (int64_t i = 0; e < (E *)entries + job->k; i++) {
        bool is_limit = keys[i] == limit;

        *e = ENTRY(keys[i], i);
        e += keys[i] < limit || (is_limit && equal > 0);
        equal -= is_limit;
    }
}

static void NAME(positions)(const void *entries, int64_t count, int64_t *positions)
{
    const E *e = entries;

    for (int64_t c = 0; c < count; c++)
        positions[c] = (int64_t)POSITION(e[c]);
}

#undef E
#undef ENTRY
#undef K
#undef KEY
#undef POSITION
#undef LESS
#undef NAME
