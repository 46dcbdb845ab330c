/* Sorting an array of one entry type; included by sort.c with E (the entry), K (its unsigned key),
 * KEY(e), LESS(a, b) and NAME(x) defined. LESS agrees with the order of the keys, and may tell
 * entries of equal keys apart. `b` is room for as many entries as `a` has. */

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

static void NAME(merge_sort)(E *a, E *b, int64_t n)
{
    E *from = a, *to = b;

    for (int64_t i = 0; i < n; i += RUN)
        NAME(insert)(a + i, n - i < RUN ? n - i : RUN);
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

/* By the bytes of the key, the lowest first; a byte that all keys share costs nothing. */
static void NAME(radix_sort)(E *a, E *b, int64_t n)
{
    int64_t counts[sizeof(K)][256] = {{0}};
    E *from = a, *to = b;

    for (int64_t i = 0; i < n; i++) {
        K key = KEY(a[i]);

        for (size_t byte = 0; byte < sizeof(K); byte++)
            counts[byte][(uint8_t)(key >> 8 * byte)]++;
    }
    for (size_t byte = 0; byte < sizeof(K); byte++) {
        int64_t *next = counts[byte], begin = 0;
        E *other = from;

        if (next[(uint8_t)(KEY(from[0]) >> 8 * byte)] == n)
            continue;
        for (int digit = 0; digit < 256; digit++) {
            int64_t count = next[digit];

            next[digit] = begin;
            begin += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[next[(uint8_t)(KEY(from[i]) >> 8 * byte)]++] = from[i];
        from = to;
        to = other;
    }
    if (from != a)
        memcpy(a, from, (size_t)n * sizeof(E));
}

/* Entries of equal keys stay in their order. */
static void NAME(sort)(E *a, E *b, int64_t n)
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
