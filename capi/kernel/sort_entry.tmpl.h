/* Rows of entries that hold a key and a position; included by sort.c behind sort.tmpl.h, with E,
 * ENTRY(key, position), POSITION(e), LESS(a, b) and NAME(x) defined. */

/* Lets the entry at the root of a heap, whose greatest is at the root, sink to its place. */
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

/* The k first of a row, in no order: a heap of those that are the first so far. */
static void NAME(select)(const row_of *row, E *heap, int64_t k)
{
    uint64_t keys[CHUNK];

    for (int64_t i = 0; i < row->n; i += CHUNK) {
        int64_t count = read_keys(row, i, true, keys);

        for (int64_t c = 0; c < count; c++) {
            E e = ENTRY(keys[c], i + c);

            if (i + c < k) {
                heap[i + c] = e;
                for (int64_t root = k / 2 - 1; i + c == k - 1 && root >= 0; root--)
                    NAME(sink)(heap, k, root);
            } else if (LESS(e, heap[0])) {
                heap[0] = e;
                NAME(sink)(heap, k, 0);
            }
        }
    }
}

/* The k first of a row, in order, to a. */
static void NAME(order)(const mxl_sort_job *job, const row_of *row, E *a, E *b)
{
    uint64_t keys[CHUNK];

    if (selects(job)) {
        NAME(select)(row, a, job->k);
        NAME(merge_sort)(a, b, job->k);
        return;
    }
    for (int64_t i = 0; i < row->n; i += CHUNK) {
        int64_t count = read_keys(row, i, true, keys);

        for (int64_t c = 0; c < count; c++)
            a[i + c] = ENTRY(keys[c], i + c);
    }
    NAME(sort)(a, b, row->n);
}

/* Writes what is wanted of the k first of a row. */
static void NAME(row)(const mxl_sort_job *job, const row_of *row, void *room)
{
    int64_t positions[CHUNK];
    E *a = room, *b = a + entries(job);

    NAME(order)(job, row, a, b);
    for (int64_t i = 0; i < job->k; i += CHUNK) {
        int64_t count = job->k - i < CHUNK ? job->k - i : CHUNK;

        for (int64_t c = 0; c < count; c++)
            positions[c] = (int64_t)POSITION(a[i + c]);
        write_found(job, row, i, count, positions);
    }
}

#undef E
#undef ENTRY
#undef POSITION
#undef LESS
#undef NAME
