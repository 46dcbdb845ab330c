/* Attention over one dtype; included by attention.c with NAME(x), T (the element) and DTYPE
 * defined. */

/* ---- loops over a tile: `rows` rows of n neighbours, `stride` apart ---- */

MXL_INLINE void NAME(exp_lanes)(int level, T *x, T less, T *sums)
{
    MXL_IVDEP
    for (int l = 0; l < LANES; l++) {
        T d = x[l] - less, e = NAME(exp_of)(level, d < LEAST ? LEAST : d);

        e = d < LEAST ? 0 : e;
        x[l] = e;
        sums[l] += e;
    }
}

/* s = e^(s - base), and the sums of rows of `stride`. Less than e^LEAST of the largest is 0:
 * numbers around the least one take many times the time. */
MXL_INLINE void NAME(exp_at)(int level, T *s, int64_t rows, int64_t stride, const double *base,
                             double *sum)
{
    for (int64_t r = 0; r < rows; r++) {
        const T less = (T)base[r];
        T sums[LANES] = {0};

        for (int64_t j = r * stride; j < (r + 1) * stride; j += LANES)
            NAME(exp_lanes)(level, s + j, less, sums);
        for (int w = LANES / 2; w > 0; w /= 2) {
            for (int l = 0; l < w; l++)
                sums[l] += sums[l + w];
        }
        sum[r] = (double)sums[0];
    }
}
MXL_BY_LEVEL(NAME(exp), (T *s, int64_t rows, int64_t stride, const double *base, double *sum), s,
             rows, stride, base, sum)

/* s = s + mask (NULL: nothing), -infinity behind n, and the greatest number of each row in `top`,
 * but for NaN. */
MXL_INLINE void NAME(top_at)(int level, T *s, const tile *t, const T *mask, int64_t mask_row,
                             int64_t mask_column, double *top)
{
    int64_t n = t->n, stride = t->stride;

    (void)level;
    for (int64_t r = 0; r < t->rows; r++) {
        const T *m = mask + r * mask_row;
        T *x = s + r * stride, most[2 * LANES];
        int64_t j = 0;

        for (int l = 0; l < 2 * LANES; l++)
            most[l] = -(T)INFINITY;
        for (int64_t i = n; i < stride; i++)
            x[i] = -(T)INFINITY;
        if (mask != NULL && mask_column == 0) {
            const T more = *m;

            MXL_IVDEP
            for (int64_t i = 0; i < n; i++)
                x[i] += more;
        } else if (mask != NULL) {
            MXL_IVDEP
            for (int64_t i = 0; i < n; i++)
                x[i] += m[i];
        }
        for (; j + 2 * LANES <= stride; j += 2 * LANES) {
            for (int l = 0; l < 2 * LANES; l++)
                most[l] = x[j + l] > most[l] ? x[j + l] : most[l];
        }
        for (int l = 0; l < LANES && j < stride; l++)
            most[l] = x[j + l] > most[l] ? x[j + l] : most[l];
        for (int w = LANES; w > 0; w /= 2) {
            for (int l = 0; l < w; l++)
                most[l] = most[l + w] > most[l] ? most[l + w] : most[l];
        }
        top[r] = (double)most[0] > top[r] ? (double)most[0] : top[r];
    }
}
MXL_BY_LEVEL(NAME(top),
             (T *s, const tile *t, const T *mask, int64_t mask_row, int64_t mask_column,
              double *top),
             s, t, mask, mask_row, mask_column, top)

/* y = y * by, of each row */
MXL_INLINE void NAME(times_at)(int level, T *y, int64_t rows, int64_t n, const double *by)
{
    (void)level;
    for (int64_t r = 0; r < rows; r++) {
        const T factor = (T)by[r];

        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            y[r * n + j] *= factor;
    }
}
MXL_BY_LEVEL(NAME(times), (T *y, int64_t rows, int64_t n, const double *by), y, rows, n, by)

/* d = p (d - delta): the gradient of the scores */
MXL_INLINE void NAME(softmax_back_at)(int level, T *d, const T *p, const tile *t, const T *delta)
{
    (void)level;
    for (int64_t r = 0; r < t->rows; r++) {
        const T mean = delta[r];

        MXL_IVDEP
        for (int64_t j = r * t->stride; j < r * t->stride + t->n; j++)
            d[j] = p[j] * (d[j] - mean);
    }
}
MXL_BY_LEVEL(NAME(softmax_back), (T *d, const T *p, const tile *t, const T *delta), d, p, t, delta)

MXL_INLINE void NAME(scale_at)(int level, T *to, const T *from, int64_t n, double by)
{
    const T factor = (T)by;

    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i] * factor;
}
MXL_BY_LEVEL(NAME(scale), (T *to, const T *from, int64_t n, double by), to, from, n, by)

/* ---- scores ---- */

static int NAME(product)(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T *a, int64_t lda,
                         const T *b, int64_t ldb, T *c, int64_t ldc, bool accumulate)
{
    return mxl_products(&(mxl_product){.dtype = DTYPE,
                                       .ta = ta,
                                       .tb = tb,
                                       .accumulate = accumulate,
                                       .alone = true,
                                       .count = 1,
                                       .m = m,
                                       .n = n,
                                       .k = k,
                                       .a = a,
                                       .b = b,
                                       .c = c,
                                       .lda = lda,
                                       .ldb = ldb,
                                       .ldc = ldc});
}

/* -infinity where the query comes before the key. */
static void NAME(cut)(const tile *t, T *s)
{
    for (int64_t r = 0; r < t->rows; r++) {
        int64_t most = t->row + r + 1 - t->column;

        for (int64_t j = most < 0 ? 0 : most; j < t->n; j++)
            s[r * t->stride + j] = -(T)INFINITY;
    }
}

/* The scores of a tile, of queries that are scaled, with the mask; and the greatest of each row,
 * or `top` where that is greater. */
static int NAME(scores)(const mxl_attention *a, const tile *t, const T *q, T *s, double *top)
{
    int64_t next = a->turned ? a->keys : a->size; /* from row to row */
    const T *k = (const T *)a->k + t->c * a->keys * a->size + t->column * (a->turned ? 1 : next);
    const T *mask = NULL;

    if (a->mask != NULL)
        mask = (const T *)a->mask + a->mask_begin[t->c] + t->row * a->mask_row +
               t->column * a->mask_column;
    if (NAME(product)(false, !a->turned, t->rows, t->n, a->size, q, a->size, k, next, s, t->stride,
                      false) != 0)
        return -1;
    if (a->causal && t->column + t->n - 1 > t->row) {
        double none[ROWS] = {0};

        if (mask != NULL) /* it has nothing to say of what is cut */
            NAME(top)(s, t, mask, a->mask_row, a->mask_column, none);
        NAME(cut)(t, s);
        mask = NULL;
    }
    NAME(top)(s, t, mask, a->mask_row, a->mask_column, top);
    return 0;
}

/* ---- forward ---- */

/* The next tile of ROWS queries: y, unnormalised, with the maxima `top` and sums `sum` so far. */
static int NAME(add_tile)(const mxl_attention *a, const tile *t, const T *q, T *s, T *y,
                          double *top, double *sum)
{
    const T *v = (const T *)a->v + (t->c * a->keys + t->column) * a->width;
    double factor[ROWS], base[ROWS], more[ROWS];
    bool first = t->column == 0, same = true;

    memcpy(base, top, (size_t)t->rows * sizeof(*base));
    if (NAME(scores)(a, t, q, s, base) != 0)
        return -1;
    for (int64_t r = 0; r < t->rows; r++) {
        factor[r] = first || top[r] == base[r] ? 1 : exp(top[r] - base[r]);
        same = same && factor[r] == 1;
        top[r] = base[r];
        if (base[r] == -INFINITY)
            base[r] = 0;
    }
    NAME(exp)(s, t->rows, t->stride, base, more);
    for (int64_t r = 0; r < t->rows; r++)
        sum[r] = sum[r] * factor[r] + more[r];
    if (!same)
        NAME(times)(y, t->rows, a->width, factor);
    return NAME(product)(false, false, t->rows, a->width, t->n, s, t->stride, v, a->width, y,
                         a->width, !first);
}

/* ROWS queries, from `row` on; `room` has space for them and for a tile. */
static int NAME(forward_rows)(const attention_job *job, int64_t c, int64_t row, T *room)
{
    const mxl_attention *a = job->a;
    int64_t rows = least(ROWS, a->queries - row), at = c * a->queries + row;
    T *y = (T *)job->out + at * a->width, *s = room + ROWS * a->size;
    double top[ROWS], sum[ROWS];

    for (int64_t r = 0; r < rows; r++) {
        top[r] = -INFINITY;
        sum[r] = 0;
    }
    if (a->keys == 0)
        memset(y, 0, (size_t)(rows * a->width) * sizeof(T));
    NAME(scale)(room, (const T *)a->q + at * a->size, rows * a->size, a->scale);
    for (int64_t j = 0; j < a->keys; j += COLUMNS) {
        int64_t n = least(COLUMNS, a->keys - j);
        tile t = {c, row, rows, j, n, stride_of(n)};

        if (tile_is_empty(a, &t))
            break;
        if (NAME(add_tile)(a, &t, room, s, y, top, sum) != 0)
            return -1;
    }
    for (int64_t r = 0; r < rows; r++) {
        if (job->out_lse != NULL)
            ((T *)job->out_lse)[at + r] = sum[r] == 0 ? -(T)INFINITY : (T)(top[r] + log(sum[r]));
        sum[r] = sum[r] == 0 ? (a->undefined ? NAN : 1) : 1 / sum[r];
    }
    NAME(times)(y, rows, a->width, sum);
    return 0;
}

/* One item of the range is ROWS queries of a product. */
static void NAME(forward)(void *data, int64_t begin, int64_t end)
{
    attention_job *job = data;
    int64_t each = pieces(job->a->queries, ROWS);
    size_t bytes =
        (size_t)(ROWS * (job->a->size + stride_of(least(COLUMNS, job->a->keys)))) * sizeof(T);
    T *room = mxl_alloc(bytes);

    for (int64_t i = begin; i < end; i++) {
        if (room == NULL || NAME(forward_rows)(job, i / each, i % each * ROWS, room) != 0)
            atomic_store(&job->failed, true);
    }
    if (room != NULL)
        mxl_free(room, bytes);
}

/* ---- backward ---- */

/* Scales queries and sums dy y of each. One item of the range is ROWS queries of all products. */
static void NAME(prepare)(void *data, int64_t begin, int64_t end)
{
    const attention_job *job = data;
    const mxl_attention *a = job->a;
    int64_t first = begin * ROWS, last = least(end * ROWS, a->count * a->queries);

    NAME(scale)((T *)job->scaled + first * a->size, (const T *)a->q + first * a->size,
                (last - first) * a->size, a->scale);
    for (int64_t row = first; row < last; row++) {
        const T *y = (const T *)job->y + row * a->width, *dy = (const T *)job->dy + row * a->width;
        double sum = 0;

        for (int64_t j = 0; j < a->width; j++)
            sum += (double)y[j] * (double)dy[j];
        ((T *)job->delta)[row] = (T)sum;
    }
}

/* What one tile adds to dq, to dk and to dv. `room` has space for two tiles. */
static int NAME(back_tile)(const attention_job *job, const tile *t, T *dq, T *dk, T *dv, T *room)
{
    const mxl_attention *a = job->a;
    int64_t row = t->c * a->queries + t->row, column = t->c * a->keys + t->column;
    const T *q = (const T *)job->scaled + row * a->size, *dy = (const T *)job->dy + row * a->width;
    const T *k = (const T *)a->k + column * a->size, *v = (const T *)a->v + column * a->width;
    const T *lse = (const T *)job->lse + row;
    T *p = room, *d = room + t->rows * t->stride;
    double base[ROWS], other[ROWS] = {0};

    for (int64_t r = 0; r < t->rows; r++)
        base[r] = lse[r] == -(T)INFINITY ? INFINITY : (double)lse[r];
    if (NAME(scores)(a, t, q, p, other) != 0)
        return -1;
    NAME(exp)(p, t->rows, t->stride, base, other);
    if (dv != NULL && NAME(product)(true, false, t->n, a->width, t->rows, p, t->stride, dy,
                                    a->width, dv + column * a->width, a->width, true) != 0)
        return -1;
    if (dq == NULL && dk == NULL)
        return 0;
    if (NAME(product)(false, true, t->rows, t->n, a->width, dy, a->width, v, a->width, d, t->stride,
                      false) != 0)
        return -1;
    NAME(softmax_back)(d, p, t, (const T *)job->delta + row);
    if (dk != NULL && NAME(product)(true, false, t->n, a->size, t->rows, d, t->stride, q, a->size,
                                    dk + column * a->size, a->size, true) != 0)
        return -1;
    return dq == NULL ? 0
                      : NAME(product)(false, false, t->rows, a->size, t->n, d, t->stride, k,
                                      a->size, dq + row * a->size, a->size, true);
}

/* The tiles of product c of the rows [row, row_end) and columns [column, column_end). */
static int NAME(back_tiles)(const attention_job *job, int64_t c, int64_t row, int64_t row_end,
                            int64_t column, int64_t column_end, T *dq, T *dk, T *dv, T *room)
{
    for (int64_t j = column; j < column_end; j += BACK_COLUMNS) {
        for (int64_t i = row; i < row_end; i += ROWS) {
            int64_t n = least(BACK_COLUMNS, column_end - j);
            tile t = {c, i, least(ROWS, row_end - i), j, n, stride_of(n)};

            if (!tile_is_empty(job->a, &t) && NAME(back_tile)(job, &t, dq, dk, dv, room) != 0)
                return -1;
        }
    }
    return 0;
}

/* Rows [row, end) of all products, of an array with `size` columns, begin with zeros. */
static void NAME(clear)(T *to, int64_t row, int64_t end, int64_t size)
{
    if (to != NULL)
        memset(to + row * size, 0, (size_t)((end - row) * size) * sizeof(T));
}

static void NAME(back_items)(attention_job *job, int kind, int64_t begin, int64_t end)
{
    const mxl_attention *a = job->a;
    int64_t each = kind == OF_ALL       ? 1
                   : kind == OF_QUERIES ? pieces(a->queries, ROWS)
                                        : pieces(a->keys, BACK_COLUMNS);
    T *dq = kind == OF_KEYS ? NULL : job->dq, *dk = kind == OF_QUERIES ? NULL : job->dk;
    T *dv = kind == OF_QUERIES ? NULL : job->dv;
    size_t bytes = (size_t)(2 * ROWS * stride_of(least(BACK_COLUMNS, a->keys))) * sizeof(T);
    T *room = mxl_alloc(bytes);

    for (int64_t item = begin; item < end; item++) {
        int64_t c = item / each, at = item % each, row = 0, row_end = a->queries;
        int64_t column = 0, column_end = a->keys, q0 = c * a->queries, k0 = c * a->keys;

        if (kind == OF_QUERIES) {
            row = at * ROWS;
            row_end = least(row + ROWS, row_end);
        } else if (kind == OF_KEYS) {
            column = at * BACK_COLUMNS;
            column_end = least(column + BACK_COLUMNS, column_end);
        }
        NAME(clear)(dq, q0 + row, q0 + row_end, a->size);
        NAME(clear)(dk, k0 + column, k0 + column_end, a->size);
        NAME(clear)(dv, k0 + column, k0 + column_end, a->width);
        if (room == NULL ||
            NAME(back_tiles)(job, c, row, row_end, column, column_end, dq, dk, dv, room) != 0)
            atomic_store(&job->failed, true);
        if (dq != NULL)
            NAME(scale)(dq + (q0 + row) * a->size, dq + (q0 + row) * a->size,
                        (row_end - row) * a->size, a->scale);
    }
    if (room != NULL)
        mxl_free(room, bytes);
}

static void NAME(back)(void *data, int64_t begin, int64_t end)
{
    NAME(back_items)(data, OF_ALL, begin, end);
}

static void NAME(back_queries)(void *data, int64_t begin, int64_t end)
{
    NAME(back_items)(data, OF_QUERIES, begin, end);
}

static void NAME(back_keys)(void *data, int64_t begin, int64_t end)
{
    NAME(back_items)(data, OF_KEYS, begin, end);
}

#undef NAME
#undef T
#undef DTYPE
#undef LEAST
