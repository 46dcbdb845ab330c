/* Sorting an array of one entry type; included by sort_entry.c with E (the entry), K (its unsigned
 * key), KEY(e), LESS(a, b) and NAME(x) defined. LESS agrees with the order of the keys, and may
 * order entries of equal keys. `b` is a buffer of the size of `a`. */

static void NAME(insert)(E *a, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        E e = a[i];
        int64_t k = i;

        for (; k > 0 && LESS(e, a[k - 1]); k--)
            a[k] = a[k - 1];
        a[k] = e;
    }
}

/* to[0..end) = the sorted runs from[0..middle) and from[middle..end), in order. */
static void NAME(merge)(E *to, const E *from, int64_t middle, int64_t end)
{
    int64_t i = 0, k = middle, n = 0;

    while (i < middle && k < end) {
        bool right = LESS(from[k], from[i]);

        to[n++] = right ? from[k] : from[i];
        k += right;
        i += !right;
    }
    memcpy(to + n, from + i, (size_t)(middle - i) * sizeof(E));
    n += middle - i;
    memcpy(to + n, from + k, (size_t)(end - k) * sizeof(E));
}

static void NAME(merge_sort)(void *a, void *b, int64_t n)
{
    E *from = a, *to = b;

    for (int64_t i = 0; i < n; i += RUN)
        NAME(insert)(from + i, n - i < RUN ? n - i : RUN);
    for (int64_t width = RUN; width < n; width *= 2) {
        E *other = from;

        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t end = n - i < 2 * width ? n - i : 2 * width;

            NAME(merge)(to + i, from + i, end < width ? end : width, end);
        }
        from = to;
        to = other;
    }
    if (from != a)
        memcpy(a, from, (size_t)n * sizeof(E));
}

/* Counts the digits of entries [begin, end); the second function moves the entries to the positions
 * that the counts give. */
static void NAME(count_digits)(void *data, int64_t begin, int64_t end)
{
    radix_job *job = data;
    const int shift = job->shift;

    for (int64_t part = begin; part < end; part++) {
        const E *e = (const E *)job->from + radix_border(job, part);
        const E *last = (const E *)job->from + radix_border(job, part + 1);
        int64_t *counts = job->counts[part];

        memset(counts, 0, sizeof(job->counts[part]));
        for (; e < last; e++)
            counts[(uint8_t)(KEY(*e) >> shift)]++;
    }
}

static void NAME(move_by_digit)(void *data, int64_t begin, int64_t end)
{
    radix_job *job = data;
    const int shift = job->shift;

    for (int64_t part = begin; part < end; part++) {
        const E *e = (const E *)job->from + radix_border(job, part);
        const E *last = (const E *)job->from + radix_border(job, part + 1);
        int64_t *next = job->counts[part];
        E *to = job->to;

        for (; e < last; e++)
            to[next[(uint8_t)(KEY(*e) >> shift)]++] = *e;
    }
}

/* For one thread: moves all entries, and counts the digits of the next pass. */
static void NAME(move_and_count)(radix_job *job, int next_shift)
{
    const E *e = job->from, *last = e + job->n;
    const int shift = job->shift;
    int64_t *next = job->counts[0], *counts = job->counts[1];
    E *to = job->to;

    memset(counts, 0, sizeof(job->counts[1]));
    for (; e < last; e++) {
        K key = KEY(*e);

        to[next[(uint8_t)(key >> shift)]++] = *e;
        counts[(uint8_t)(key >> next_shift)]++;
    }
    memcpy(next, counts, sizeof(job->counts[0]));
}

/* Radix sort by the bytes of the key, the lowest first; skips a byte that all keys share. Each
 * thread counts and moves a part of the entries, in their order. */
static void NAME(radix_sort)(E *a, E *b, int64_t n)
{
    K first = KEY(a[0]), differ = 0;
    int shifts[sizeof(K)], digits = 0;
    radix_job job;

    for (int64_t i = 0; i < n; i++)
        differ |= KEY(a[i]) ^ first;
    for (int shift = 0; shift < 8 * (int)sizeof(K); shift += 8)
        if ((differ >> shift & 255) != 0)
            shifts[digits++] = shift;
    job.from = a;
    job.to = b;
    job.n = n;
    job.parts = radix_parts(n);
    for (int d = 0; d < digits; d++) {
        void *other = job.from;

        job.shift = shifts[d];
        if (d == 0 || job.parts > 1)
            mxl_parallel_for(job.parts, 1, NAME(count_digits), &job);
        radix_starts(&job);
        if (d + 1 == digits || job.parts > 1)
            mxl_parallel_for(job.parts, 1, NAME(move_by_digit), &job);
        else
            NAME(move_and_count)(&job, shifts[d + 1]);
        job.from = job.to;
        job.to = other;
    }
    if (job.from != a)
        mxl_copy_bytes(a, b, (size_t)n * sizeof(E));
}

/* Stable: entries of equal keys stay in their order. */
static void NAME(sort)(void *a, void *b, int64_t n)
{
    if (n < RADIX_FROM)
        NAME(merge_sort)(a, b, n);
    else
        NAME(radix_sort)(a, b, n);
}

#undef E
#undef K
#undef KEY
#undef LESS
#undef NAME
