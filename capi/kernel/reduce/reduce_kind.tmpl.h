/* The loops of one kind of reduction of one dtype; included by reduce.tmpl.h with
 *   KIND(x)   the names
 *   LANE, SEEN                             what a lane holds, and what it remembers beside
 *   EMPTY                                  a lane, or an element, of nothing
 *   KIND(four)(&lane, &seen, a, b, c, d)   four elements into a lane
 *   KIND(meet)(&lane, &seen, other, seen)  another lane into a lane
 *   KIND(whole)(lane, seen)                the accumulator of a lane
 *   KIND(join)(a, b)                       of two accumulators
 *   KIND_LEVELS                            the vector levels, of kernel/target.h
 *   PARTS                                  whether the elements of an output may come in parts
 * Everything goes by lanes or columns: so it vectorises, and the order of additions is the same at
 * every vector level. */

/* Accumulates four rows of n elements into n lanes. */
MXL_INLINE void KIND(step)(LANE *lane, SEEN *seen, int64_t n, const T *a, const T *b, const T *c,
                           const T *d)
{
    MXL_IVDEP
    MXL_AS_LOOP
    for (int64_t l = 0; l < n; l++)
        KIND(four)(&lane[l], &seen[l], a[l], b[l], c[l], d[l]);
}

MXL_INLINE void KIND(clear)(LANE *lane, SEEN *seen)
{
    for (int l = 0; l < LANES; l++) {
        lane[l] = EMPTY;
        seen[l] = 0;
    }
}

/* As many of n neighbours as are whole steps: how many. */
MXL_INLINE int64_t KIND(steps)(LANE *lane, SEEN *seen, const T *x, int64_t n)
{
    int64_t i = 0;

    for (; i + 4 * LANES <= n; i += 4 * LANES)
        KIND(step)(lane, seen, LANES, x + i, x + i + LANES, x + i + 2 * LANES, x + i + 3 * LANES);
    return i;
}

/* The n neighbours that are left after the steps; `none` is LANES times EMPTY. */
MXL_INLINE void KIND(rest)(LANE *lane, SEEN *seen, const T *x, int64_t n, const T *none)
{
    T last[LANES];
    int64_t rest = n % LANES, whole = n - rest;
    const T *tail = rest == 0 ? none : last;

    /* A masked load, if the processor has it. */
    MXL_AS_LOOP
    for (int64_t l = 0; l < LANES; l++)
        last[l] = l < rest ? x[whole + l] : EMPTY;
    KIND(step)(lane, seen, LANES, 0 < whole ? x : tail,
               LANES < whole    ? x + LANES
               : LANES == whole ? tail
                                : none,
               2 * LANES < whole    ? x + 2 * LANES
               : 2 * LANES == whole ? tail
                                    : none,
               3 * LANES == whole ? tail : none);
}

/* Combines all lanes. */
MXL_INLINE A KIND(total)(LANE *lane, SEEN *seen, bool short_row)
{
    if (short_row) { /* in vectors, through memory */
        MXL_AS_LOOP
        for (int l = 0; l < LANES / 2; l++)
            KIND(meet)(&lane[l], &seen[l], lane[l + LANES / 2], seen[l + LANES / 2]);
        MXL_AS_LOOP
        for (int l = 0; l < LANES / 4; l++)
            KIND(meet)(&lane[l], &seen[l], lane[l + LANES / 4], seen[l + LANES / 4]);
    } else { /* the same unrolled: the lanes of a long row are in registers */
        for (int l = 0; l < LANES / 2; l++)
            KIND(meet)(&lane[l], &seen[l], lane[l + LANES / 2], seen[l + LANES / 2]);
        for (int l = 0; l < LANES / 4; l++)
            KIND(meet)(&lane[l], &seen[l], lane[l + LANES / 4], seen[l + LANES / 4]);
    }
    for (int l = 1; l < LANES / 4; l++)
        KIND(meet)(&lane[0], &seen[0], lane[l], seen[l]);
    return KIND(whole)(lane[0], seen[0]);
}

/* n neighbours; `none` is LANES times EMPTY. */
MXL_INLINE A KIND(run)(const T *x, int64_t n, const T *none)
{
    LANE lane[LANES];
    SEEN seen[LANES];
    int64_t i;

    KIND(clear)(lane, seen);
    i = KIND(steps)(lane, seen, x, n);
    if (i < n)
        KIND(rest)(lane, seen, x + i, n - i, none);
    return KIND(total)(lane, seen, n <= SHORT_ROW);
}

/* n < LANES neighbours */
MXL_INLINE A KIND(few)(const T *x, int64_t n)
{
    LANE lane = EMPTY;
    SEEN seen = 0;

    for (int64_t i = 0; i < n; i += 4)
        KIND(four)(&lane, &seen, x[i], i + 1 < n ? x[i + 1] : EMPTY, i + 2 < n ? x[i + 2] : EMPTY,
                   i + 3 < n ? x[i + 3] : EMPTY);
    return KIND(whole)(lane, seen);
}

MXL_INLINE void KIND(rows_at)(int level, void *acc, const void *in, int64_t n, int64_t m,
                              int64_t stride)
{
    A *a = acc;
    T none[LANES];

    (void)level;
    for (int l = 0; l < LANES; l++)
        none[l] = EMPTY;
    for (int64_t j = 0; j < n; j++) {
        const T *x = (const T *)in + j * stride;

        a[j] = KIND(join)(a[j], m < LANES ? KIND(few)(x, m) : KIND(run)(x, m, none));
    }
}
KIND_LEVELS(KIND(rows), (void *acc, const void *in, int64_t n, int64_t m, int64_t stride), acc, in,
            n, m, stride)

#if PARTS
/* The next n neighbours of one output, whose lanes are kept in between; `acc` (NULL: more follow)
 * gets them all with the last. At least LANES in all; only the last n may be no whole steps. */
MXL_INLINE void KIND(part_at)(int level, mxl_reduce_lanes *kept, void *acc, const void *in,
                              int64_t n)
{
    LANE lane[LANES];
    SEEN seen[LANES];
    T none[LANES];
    A *a = acc;
    int64_t i;

    (void)level;
    _Static_assert(sizeof(lane) <= sizeof(kept->lane) && sizeof(seen) <= sizeof(kept->seen),
                   "there is room for the lanes");
    KIND(clear)(lane, seen);
    for (int l = 0; kept->used && l < LANES; l++) {
        memcpy(&lane[l], kept->lane + (size_t)l * sizeof(LANE), sizeof(LANE));
        memcpy(&seen[l], kept->seen + (size_t)l * sizeof(SEEN), sizeof(SEEN));
    }
    i = KIND(steps)(lane, seen, in, n);
    kept->used = a == NULL;
    /* One by one: with AddressSanitizer, gcc 12 copies whole arrays by instructions for memory that
     * is aligned to 64, which its own frames are not when it looks for uses after return. */
    for (int l = 0; a == NULL && l < LANES; l++) {
        memcpy(kept->lane + (size_t)l * sizeof(LANE), &lane[l], sizeof(LANE));
        memcpy(kept->seen + (size_t)l * sizeof(SEEN), &seen[l], sizeof(SEEN));
    }
    if (a == NULL)
        return;
    for (int l = 0; l < LANES; l++)
        none[l] = EMPTY;
    if (i < n)
        KIND(rest)(lane, seen, (const T *)in + i, n - i, none);
    *a = KIND(join)(*a, KIND(total)(lane, seen, false));
}
KIND_LEVELS(KIND(part), (mxl_reduce_lanes * kept, void *acc, const void *in, int64_t n), kept, acc,
            in, n)
#endif

/* Columns of up to four elements: directly, without lanes in memory. */
MXL_INLINE void KIND(low)(A *acc, const T *in, int64_t n, int64_t m, int64_t stride, T *none)
{
    const T *a = in, *b = m > 1 ? a + stride : none, *c = m > 2 ? b + stride : none;
    const T *d = m > 3 ? c + stride : none;

    for (int64_t j = 0; m < 4 && j < n; j++)
        none[j] = EMPTY;
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        LANE lane = EMPTY;
        SEEN seen = 0;

        KIND(four)(&lane, &seen, a[j], b[j], c[j], d[j]);
        acc[j] = KIND(join)(acc[j], KIND(whole)(lane, seen));
    }
}

/* A few rows: LANES columns at a time, with lanes in registers. */
MXL_INLINE void KIND(wide)(A *acc, const T *in, int64_t n, int64_t m, int64_t stride, const T *none)
{
    int64_t j = 0;

    for (; j + LANES <= n; j += LANES) {
        const T *x = in + j;
        LANE lane[LANES];
        SEEN seen[LANES];
        int64_t i = 0;

        for (int l = 0; l < LANES; l++) {
            lane[l] = EMPTY;
            seen[l] = 0;
        }
        for (; i + 4 <= m; i += 4)
            KIND(step)(lane, seen, LANES, x + i * stride, x + (i + 1) * stride,
                       x + (i + 2) * stride, x + (i + 3) * stride);
        if (i < m)
            KIND(step)(lane, seen, LANES, x + i * stride, i + 1 < m ? x + (i + 1) * stride : none,
                       i + 2 < m ? x + (i + 2) * stride : none, none);
        MXL_AS_LOOP
        for (int l = 0; l < LANES; l++)
            acc[j + l] = KIND(join)(acc[j + l], KIND(whole)(lane[l], seen[l]));
    }
    for (; j < n; j++) {
        LANE lane = EMPTY;
        SEEN seen = 0;

        for (int64_t i = 0; i < m; i += 4) {
            const T *x = in + i * stride + j;

            KIND(four)(&lane, &seen, x[0], i + 1 < m ? x[stride] : EMPTY,
                       i + 2 < m ? x[2 * stride] : EMPTY, i + 3 < m ? x[3 * stride] : EMPTY);
        }
        acc[j] = KIND(join)(acc[j], KIND(whole)(lane, seen));
    }
}

MXL_INLINE void KIND(columns_at)(int level, void *acc, const void *in, int64_t n, int64_t m,
                                 int64_t stride)
{
    A *a = acc;
    LANE lane[REDUCE_COLUMNS];
    SEEN seen[REDUCE_COLUMNS];
    T none[REDUCE_COLUMNS];

    (void)level;
    if (m <= 4) {
        KIND(low)(a, in, n, m, stride, none);
        return;
    }
    if (m <= WIDE_ROWS) {
        for (int l = 0; l < LANES; l++)
            none[l] = EMPTY;
        KIND(wide)(a, in, n, m, stride, none);
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        lane[j] = EMPTY;
        seen[j] = 0;
    }
    for (int64_t j = 0; m % 8 != 0 && j < n; j++)
        none[j] = EMPTY;
    /* Two groups of four for each load and store of a lane. */
    for (int64_t i = 0; i < m; i += 8) {
        const T *x[8];

        for (int64_t k = 0; k < 8; k++)
            x[k] = i + k < m ? (const T *)in + (i + k) * stride : none;
        MXL_IVDEP
        for (int64_t j = 0; j < n; j++) {
            KIND(four)(&lane[j], &seen[j], x[0][j], x[1][j], x[2][j], x[3][j]);
            KIND(four)(&lane[j], &seen[j], x[4][j], x[5][j], x[6][j], x[7][j]);
        }
    }
    for (int64_t j = 0; j < n; j++)
        a[j] = KIND(join)(a[j], KIND(whole)(lane[j], seen[j]));
}
KIND_LEVELS(KIND(columns), (void *acc, const void *in, int64_t n, int64_t m, int64_t stride), acc,
            in, n, m, stride)

#undef KIND
