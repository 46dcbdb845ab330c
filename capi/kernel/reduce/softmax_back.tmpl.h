/* Gradients of softmax and log_softmax over one dtype, in one pass over y (the job's `in`) and dy;
 * included by softmax.c with NAME(x), C (the element) and DTYPE defined. */

MXL_INLINE void NAME(product_at)(int level, C *out, const C *a, const C *b, int64_t n)
{
    (void)level;
    for (int64_t i = 0; i < n; i++)
        out[i] = a[i] * b[i];
}
MXL_BY_LEVEL(NAME(product), (C * out, const C *a, const C *b, int64_t n), out, a, b, n)

/* dx of a run of elements: of one row, whose sum is *sum, or of one row of columns, each with its
 * own sum. */
MXL_INLINE void NAME(give_at)(int level, const softmax_job *job, int64_t at, int64_t n,
                              const C *sum, bool of_columns)
{
    const C *y = (const C *)job->in + at, *dy = (const C *)job->dy + at, all = *sum;
    C *dx = (C *)job->out + at, temperature = (C)job->temperature;

    if (job->take_log && of_columns) {
        for (int64_t i = 0; i < n; i++)
            dx[i] = dy[i] - mxl_loop_exp(y[i]) * sum[i];
    } else if (job->take_log) {
        for (int64_t i = 0; i < n; i++)
            dx[i] = dy[i] - mxl_loop_exp(y[i]) * all;
    } else if (of_columns) {
        for (int64_t i = 0; i < n; i++)
            dx[i] = y[i] * (dy[i] - sum[i]);
    } else {
        for (int64_t i = 0; i < n; i++)
            dx[i] = y[i] * (dy[i] - all);
    }
    for (int64_t i = 0; temperature != 1 && i < n; i++)
        dx[i] /= temperature;
}
MXL_BY_LEVEL(NAME(give),
             (const softmax_job *job, int64_t at, int64_t n, const C *sum, bool of_columns), job,
             at, n, sum, of_columns)

/* The elements [at, at + n) of the sum: dy, or dy y. */
static const C *NAME(summed)(const softmax_job *job, int64_t at, int64_t n, C *block)
{
    const C *y = (const C *)job->in + at, *dy = (const C *)job->dy + at;

    if (job->take_log)
        return dy;
    NAME(product)(block, dy, y, n);
    return block;
}

/* One item of the range is a row. */
static void NAME(back_rows_chunk)(void *data, int64_t begin, int64_t end)
{
    const softmax_job *job = data;
    mxl_reduce_loop add = mxl_reduce_loops_of(DTYPE)->rows[MXL_REDUCE_SUM];
    int64_t n = job->n, many = n < BLOCK ? least(BLOCK / n, ROWS) : 1;
    C block[BLOCK];
    double acc[ROWS];

    for (int64_t row = begin; row < end; row += many) {
        int64_t rows = least(many, end - row);

        mxl_reduce_start(MXL_REDUCE_SUM, DTYPE, acc, rows);
        for (int64_t i = 0; i < n; i += BLOCK) {
            int64_t m = least(n - i, BLOCK);

            add(acc, NAME(summed)(job, row * n + i, rows * m, block), rows, m, m);
        }
        for (int64_t r = 0; r < rows; r++) {
            C sum = (C)acc[r];

            NAME(give)(job, (row + r) * n, n, &sum, false);
        }
    }
}

/* One item of the range is a tile of columns of one outer position. */
static void NAME(back_columns_chunk)(void *data, int64_t begin, int64_t end)
{
    const softmax_job *job = data;
    mxl_reduce_loop add = mxl_reduce_loops_of(DTYPE)->columns[MXL_REDUCE_SUM];
    C block[BLOCK], sum[COLUMNS];
    double acc[COLUMNS];

    for (int64_t unit = begin; unit < end; unit++) {
        softmax_tile tile = tile_at(job, unit);
        int64_t width = tile.width, at = tile.at;

        mxl_reduce_start(MXL_REDUCE_SUM, DTYPE, acc, width);
        for (int64_t i = 0; i < job->n; i += BLOCK / COLUMNS) {
            int64_t rows = least(job->n - i, BLOCK / COLUMNS);

            if (job->take_log) {
                add(acc, (const C *)job->dy + at + i * job->inner, width, rows, job->inner);
                continue;
            }
            for (int64_t r = 0; r < rows; r++)
                NAME(summed)(job, at + (i + r) * job->inner, width, block + r * width);
            add(acc, block, width, rows, width);
        }
        for (int64_t j = 0; j < width; j++)
            sum[j] = (C)acc[j];
        for (int64_t i = 0; i < job->n; i++)
            NAME(give)(job, at + i * job->inner, width, sum, true);
    }
}
