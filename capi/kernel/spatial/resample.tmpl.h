/* One row of a resampled image for one element type; included by resample.c with NAME(x) and T
 * defined. */

/* y[o] for `first` <= o < `end`, from sums of rows in `column`, which begins with input column
 * `from`. */
MXL_INLINE void NAME(join_columns)(const mxl_taps *taps, int64_t first, int64_t end, int64_t from,
                                   const T *restrict column, T *restrict y)
{
    for (int64_t o = first; o < end; o++) {
        T sum = 0;

        for (int64_t t = taps->start[o]; t < taps->start[o + 1]; t++)
            sum += (T)taps->weight[t] * column[taps->index[t] - from];
        y[o] = sum;
    }
}

/* One output whose columns are more than fit the buffer. */
MXL_INLINE T NAME(join_all)(const resample_job *job, const T *plane, int64_t row, int64_t o)
{
    const mxl_taps *rows = job->rows, *columns = job->columns;
    T all = 0;

    for (int64_t r = rows->start[row]; r < rows->start[row + 1]; r++) {
        const T *x = plane + rows->index[r] * columns->in;
        T sum = 0;

        for (int64_t t = columns->start[o]; t < columns->start[o + 1]; t++)
            sum += (T)columns->weight[t] * x[columns->index[t]];
        all += (T)rows->weight[r] * sum;
    }
    return all;
}

/* One output row: first the rows are joined, a part of the columns at a time, then the columns. */
MXL_INLINE void NAME(row)(const resample_job *job, const T *plane, int64_t row, T *y)
{
    const mxl_taps *rows = job->rows, *columns = job->columns;
    T column[SPAN];

    for (int64_t first = 0, end; first < columns->out; first = end) {
        tap_span span = span_from(columns, first);
        int64_t n = span.last - span.first;

        end = span.end;
        if (n > SPAN) {
            y[first] = NAME(join_all)(job, plane, row, first);
            continue;
        }
        for (int64_t j = 0; j < n; j++)
            column[j] = 0;
        for (int64_t r = rows->start[row]; r < rows->start[row + 1]; r++) {
            const T *x = plane + rows->index[r] * columns->in + span.first;
            const T weight = (T)rows->weight[r];

            MXL_IVDEP
            for (int64_t j = 0; j < n; j++)
                column[j] += weight * x[j];
        }
        NAME(join_columns)(columns, first, end, span.first, column, y);
    }
}

/* One item is an output row. */
MXL_INLINE void NAME(chunk_at)(int level, void *data, int64_t begin, int64_t end)
{
    const resample_job *job = data;
    int64_t height = job->rows->out, in = job->rows->in * job->columns->in;

    (void)level;
    for (int64_t i = begin; i < end; i++)
        NAME(row)(job, (const T *)job->x + i / height * in, i % height,
                  (T *)job->y + i * job->columns->out);
}
MXL_FROM_AVX2(NAME(chunk), (void *data, int64_t begin, int64_t end), data, begin, end)

#undef NAME
#undef T
