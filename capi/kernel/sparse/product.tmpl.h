/* Rows of a product for the element type T; NAME(x) is x of that type. */

typedef struct NAME(product) {
    const mxl_csr *m;
    int64_t n, height;
    const T *dense;
    T *out;
    const int64_t *to;
} NAME(product);

/* y = the sum of the rows of dense that indices[0, count) name, scaled by the values. */
MXL_INLINE void NAME(scaled_rows_at)(int level, T *y, const T *dense, int64_t n,
                                     const int64_t *indices, const T *values, int64_t count)
{
    int64_t k = count % 4;

    if (k == 0) {
        for (int64_t j = 0; j < n; j++)
            y[j] = 0;
    }
    for (int64_t i = 0; i < k; i++) {
        const T *a = dense + indices[i] * n;
        T s = values[i];

        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            y[j] = i == 0 ? s * a[j] : mxl_fma(level, s, a[j], y[j]);
    }
    for (; k < count; k += 4) {
        const T *a = dense + indices[k] * n, *b = dense + indices[k + 1] * n;
        const T *c = dense + indices[k + 2] * n, *d = dense + indices[k + 3] * n;
        T s0 = values[k], s1 = values[k + 1], s2 = values[k + 2], s3 = values[k + 3];

        MXL_IVDEP
        for (int64_t j = 0; j < n; j++) {
            T sum = mxl_fma(level, s0, a[j], y[j]);

            sum = mxl_fma(level, s1, b[j], sum);
            sum = mxl_fma(level, s2, c[j], sum);
            y[j] = mxl_fma(level, s3, d[j], sum);
        }
    }
}

MXL_INLINE T NAME(scaled_sum)(const T *dense, const int64_t *indices, const T *values,
                              int64_t count)
{
    T sum[4] = {0, 0, 0, 0};
    int64_t k = 0;

    for (; k + 4 <= count; k += 4) {
        for (int i = 0; i < 4; i++)
            sum[i] += values[k + i] * dense[indices[k + i]];
    }
    for (; k < count; k++)
        sum[0] += values[k] * dense[indices[k]];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* Rows [begin, end) of the product, and the zeros before each. */
MXL_INLINE void NAME(product_rows_at)(int level, const NAME(product) *p, int64_t begin, int64_t end)
{
    const mxl_csr *m = p->m;
    const T *values = m->values;

    for (int64_t row = begin; row < end; row++) {
        int64_t first = m->indptr[row], count = m->indptr[row + 1] - first;
        int64_t to = p->to == NULL ? row : p->to[row];
        int64_t after = p->to == NULL ? row : row == 0 ? 0 : p->to[row - 1] + 1;

        if (to > after)
            memset(p->out + after * p->n, 0, (size_t)((to - after) * p->n) * sizeof(T));
        if (p->n == 1)
            p->out[to] = NAME(scaled_sum)(p->dense, m->indices + first, values + first, count);
        else
            NAME(scaled_rows_at)(level, p->out + to * p->n, p->dense, p->n, m->indices + first,
                                 values + first, count);
    }
}
MXL_BY_LEVEL(NAME(product_rows), (const NAME(product) *p, int64_t begin, int64_t end), p, begin,
             end)

/* A range of the work: elements and rows, counted together. */
static void NAME(product_range)(void *data, int64_t begin, int64_t end)
{
    const NAME(product) *p = data;

    NAME(product_rows)(p, row_at(p->m, begin), row_at(p->m, end));
}

static void NAME(multiply)(const mxl_csr *m, int64_t n, const T *dense, T *out, const int64_t *to,
                           int64_t height)
{
    NAME(product) p = {m, n, height, dense, out, to};
    int64_t after = m->rows == 0 ? 0 : to == NULL ? m->rows : to[m->rows - 1] + 1;

    mxl_parallel_for(work_of(m), 1 + WORK_GRAIN / (n + 1), NAME(product_range), &p);
    if (to != NULL && after < height)
        memset(out + after * n, 0, (size_t)((height - after) * n) * sizeof(T));
}
