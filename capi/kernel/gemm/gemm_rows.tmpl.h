/* Products without tiles, over one floating type; included by gemm.c with T and NAME(x). Inner
 * products of rows, if both operands are contiguous along k; sums of scaled rows, if one operand is
 * a vector and the other is contiguous along the result. */

/* ---- inner products ---- */

/* The operand with few rows and that with many. Result (i, j) = few row i times many row j, is at
 * c[i * c_few + j * c_many]. */
typedef struct NAME(inner_job) {
    const mxl_gemm_micro *micro;
    const T *few, *many, *addend;
    T *c;
    int64_t num_few, num_many, k;
    int64_t few_row, many_row, c_few, c_many, add_few, add_many;
} NAME(inner_job);

/* Stores results (i, j), (i, j + 1) ... */
static inline void NAME(inner_put)(const NAME(inner_job) *job, int64_t i, int64_t j, int64_t count,
                                   const T *sums)
{
    T *c = job->c + i * job->c_few + j * job->c_many;

    for (int64_t l = 0; l < count; l++)
        c[l * job->c_many] =
            job->addend == NULL ? sums[l]
                                : job->addend[i * job->add_few + (j + l) * job->add_many] + sums[l];
}

/* One item of the range is MXL_GEMM_INNER of the many rows, with all of the few. */
static void NAME(inner_units)(void *data, int64_t begin, int64_t end)
{
    enum { R = MXL_GEMM_INNER };
    const NAME(inner_job) *job = data;
    const void *few[R], *many[R];
    T out[R * R];

    for (int64_t j = begin * R; j < end * R && j < job->num_many; j += R) {
        int64_t columns = job->num_many - j < R ? job->num_many - j : R;

        for (int64_t l = 0; l < R; l++)
            many[l] = job->many + (l < columns ? j + l : j) * job->many_row;
        for (int64_t i = 0; i < job->num_few; i += R) {
            int64_t rows = job->num_few - i < R ? job->num_few - i : R;

            for (int64_t l = 0; l < R; l++)
                few[l] = job->few + (l < rows ? i + l : i) * job->few_row;
            (rows == 1 ? job->micro->inner_row : job->micro->inner)(job->k, few, many, out);
            for (int64_t l = 0; l < rows; l++)
                NAME(inner_put)(job, i + l, j, columns, out + l * R);
        }
    }
}

static void NAME(inner)(NAME(inner_job) *job)
{
    int64_t units = (job->num_many + MXL_GEMM_INNER - 1) / MXL_GEMM_INNER;

    mxl_parallel_for(units, grain_of(MXL_GEMM_INNER * job->num_few * job->k), NAME(inner_units),
                     job);
}

/* ---- scaled rows ---- */

/* c[i * c_row + j * c_step] = sum of x[i * x_row + p * x_step] * rows[p * row + j], for m x n */
typedef struct NAME(scaled_job) {
    const T *rows, *x, *addend;
    T *c;
    int64_t m, n, k, row, x_row, x_step, c_row, c_step, add_row, add_step;
} NAME(scaled_job);

/* y += the sum of 4 scaled rows */
MXL_INLINE void NAME(add_rows_at)(int level, T *y, const T *a, int64_t row, const T *x, int64_t n)
{
    T s0 = x[0], s1 = x[1], s2 = x[2], s3 = x[3];

    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T sum = mxl_fma(level, s0, a[j], y[j]);

        sum = mxl_fma(level, s1, a[row + j], sum);
        sum = mxl_fma(level, s2, a[2 * row + j], sum);
        y[j] = mxl_fma(level, s3, a[3 * row + j], sum);
    }
}
MXL_BY_LEVEL(NAME(add_rows), (T *y, const T *a, int64_t row, const T *x, int64_t n), y, a, row, x,
             n)

MXL_INLINE void NAME(add_row_at)(int level, T *y, const T *a, T s, int64_t n)
{
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++)
        y[j] = mxl_fma(level, s, a[j], y[j]);
}
MXL_BY_LEVEL(NAME(add_row), (T *y, const T *a, T s, int64_t n), y, a, s, n)

/* Columns [j, j + n) of row i. */
static void NAME(scaled_piece)(const NAME(scaled_job) *job, int64_t i, int64_t j, int64_t n)
{
    const T *x = job->x + i * job->x_row;
    T *c = job->c + i * job->c_row + j * job->c_step, beside[VECTOR_TILE];
    T *y = job->c_step == 1 && job->addend == NULL ? c : beside;
    int64_t p = 0;

    memset(y, 0, (size_t)n * sizeof(T));
    for (; p + 4 <= job->k; p += 4, x += 4 * job->x_step) {
        const T four[4] = {x[0], x[job->x_step], x[2 * job->x_step], x[3 * job->x_step]};

        NAME(add_rows)(y, job->rows + p * job->row + j, job->row, four, n);
    }
    for (; p < job->k; p++, x += job->x_step)
        NAME(add_row)(y, job->rows + p * job->row + j, *x, n);
    for (int64_t l = 0; l < n && y != c; l++)
        c[l * job->c_step] = job->addend == NULL
                                 ? y[l]
                                 : job->addend[i * job->add_row + (j + l) * job->add_step] + y[l];
}

/* Items of the range are columns if there is one row, else rows. */
static void NAME(scaled_columns)(void *data, int64_t begin, int64_t end)
{
    for (int64_t j = begin; j < end; j += VECTOR_TILE)
        NAME(scaled_piece)(data, 0, j, end - j < VECTOR_TILE ? end - j : VECTOR_TILE);
}

static void NAME(scaled_rows)(void *data, int64_t begin, int64_t end)
{
    const NAME(scaled_job) *job = data;

    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < job->n; j += VECTOR_TILE)
            NAME(scaled_piece)(job, i, j, job->n - j < VECTOR_TILE ? job->n - j : VECTOR_TILE);
    }
}

static void NAME(scaled)(NAME(scaled_job) *job)
{
    int64_t grain = grain_of(job->k);

    if (job->m == 1)
        mxl_parallel_for(job->n, grain < VECTOR_TILE / 8 ? VECTOR_TILE / 8 : grain,
                         NAME(scaled_columns), job);
    else
        mxl_parallel_for(job->m, grain_of(job->n * job->k), NAME(scaled_rows), job);
}
