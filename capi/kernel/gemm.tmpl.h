/* The matrix product over one floating type; included by gemm.c with T and NAME(x) defined, and
 * MICRO(), the micro kernel. Small products run straight from the operands, products with a vector
 * row by row, the others from packed blocks that fit the caches. */

/* op(A)[i][p] is a[i * a_row + p * a_col], op(B)[p][j] is b[p * b_row + j * b_col]. */
typedef struct NAME(job) {
    const T *a, *b;
    T *c;
    int64_t a_row, a_col, b_row, b_col, ldc;
    int64_t m, n, k;
    bool add;
    /* the blocks at hand: rows [i0, i0 + mb), columns [j0, j0 + nb), depth [p0, p0 + kb) */
    const mxl_gemm_micro *micro;
    int64_t i0, j0, p0, mb, nb, kb;
    T *packed_a, *packed_b;
} NAME(job);

/* ---- small ---- */

/* One row of C in pieces of W columns that are kept in registers. */
#define SMALL_PIECE(W)                                                                             \
    for (; j + W <= n; j += W) {                                                                   \
        T acc[W];                                                                                  \
                                                                                                   \
        for (int l = 0; l < W; l++)                                                                \
            acc[l] = add ? c[j + l] : 0;                                                           \
        for (int64_t p = 0; p < k; p++) {                                                          \
            T s = a[p * a_col];                                                                    \
            for (int l = 0; l < W; l++)                                                            \
                acc[l] += s * b[p * b_row + j + l];                                                \
        }                                                                                          \
        for (int l = 0; l < W; l++)                                                                \
            c[j + l] = acc[l];                                                                     \
    }

MXL_INLINE void NAME(small_row_at)(int level, const T *a, int64_t a_col, const T *b, int64_t b_row,
                                   T *c, int64_t n, int64_t k, bool add)
{
    int64_t j = 0;

    (void)level;
    SMALL_PIECE(16)
    SMALL_PIECE(4)
    SMALL_PIECE(1)
}
MXL_BY_LEVEL(NAME(small_row),
             (const T *a, int64_t a_col, const T *b, int64_t b_row, T *c, int64_t n, int64_t k,
              bool add),
             a, a_col, b, b_row, c, n, k, add)

static void NAME(small)(const NAME(job) * job)
{
    T turned[SMALL_SIDE * SMALL_SIDE];
    const T *b = job->b;
    int64_t b_row = job->b_row;

    if (job->b_col != 1) {
        for (int64_t p = 0; p < job->k; p++) {
            for (int64_t j = 0; j < job->n; j++)
                turned[p * job->n + j] = b[p * b_row + j * job->b_col];
        }
        b = turned;
        b_row = job->n;
    }
    for (int64_t i = 0; i < job->m; i++)
        NAME(small_row)(job->a + i * job->a_row, job->a_col, b, b_row, job->c + i * job->ldc,
                        job->n, job->k, job->add);
}

/* ---- one of the operands is a vector: m rows of a matrix times x ---- */
typedef struct NAME(vector_job) {
    const T *matrix, *x;
    T *y;
    int64_t row, col, x_step, y_step; /* strides; row or col is 1 */
    int64_t k;
    bool add;
} NAME(vector_job);

/* *out = the product of two vectors */
MXL_INLINE void NAME(dot_at)(int level, const T *a, const T *x, int64_t n, T *out)
{
    T lane[16], total = 0;
    int64_t i = 0;

    (void)level;
    for (int l = 0; l < 16; l++)
        lane[l] = 0;
    for (; i + 16 <= n; i += 16) {
        for (int l = 0; l < 16; l++)
            lane[l] += a[i + l] * x[i + l];
    }
    for (; i < n; i++)
        total += a[i] * x[i];
    for (int l = 0; l < 16; l++)
        total += lane[l];
    *out = total;
}
MXL_BY_LEVEL(NAME(dot), (const T *a, const T *x, int64_t n, T *out), a, x, n, out)

MXL_INLINE void NAME(add_scaled_at)(int level, T *y, const T *a, T s, int64_t n)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        y[i] += s * a[i];
}
MXL_BY_LEVEL(NAME(add_scaled), (T * y, const T *a, T s, int64_t n), y, a, s, n)

static void NAME(vector_rows)(void *data, int64_t begin, int64_t end)
{
    const NAME(vector_job) *job = data;

    for (int64_t i = begin; i < end; i++) {
        T *y = job->y + i * job->y_step;
        T v = 0;

        if (job->col == 1 && job->x_step == 1) {
            NAME(dot)(job->matrix + i * job->row, job->x, job->k, &v);
        } else {
            for (int64_t p = 0; p < job->k; p++)
                v += job->matrix[i * job->row + p * job->col] * job->x[p * job->x_step];
        }
        *y = job->add ? *y + v : v;
    }
}

/* The matrix runs down its columns: whole columns are added up, in tiles. */
static void NAME(vector_columns)(void *data, int64_t begin, int64_t end)
{
    const NAME(vector_job) *job = data;
    T y[VECTOR_TILE];

    for (int64_t i = begin; i < end; i += VECTOR_TILE) {
        int64_t n = end - i < VECTOR_TILE ? end - i : VECTOR_TILE;

        for (int64_t l = 0; l < n; l++)
            y[l] = job->add ? job->y[(i + l) * job->y_step] : 0;
        for (int64_t p = 0; p < job->k; p++)
            NAME(add_scaled)(y, job->matrix + i + p * job->col, job->x[p * job->x_step], n);
        for (int64_t l = 0; l < n; l++)
            job->y[(i + l) * job->y_step] = y[l];
    }
}

static void NAME(vector)(NAME(vector_job) * job, int64_t rows)
{
    if (job->row == 1 && job->col != 1)
        mxl_parallel_for(rows, VECTOR_TILE, NAME(vector_columns), job);
    else
        mxl_parallel_for(rows, 1 + 65536 / (job->k + 1), NAME(vector_rows), job);
}

/* ---- packed blocks ---- */

/* A unit is a group of mr rows of A: kb columns of mr elements, missing rows are zeros. */
static void NAME(pack_a)(void *data, int64_t begin, int64_t end)
{
    const NAME(job) *job = data;
    int mr = job->micro->mr;

    for (int64_t group = begin; group < end; group++) {
        const T *a = job->a + (job->i0 + group * mr) * job->a_row + job->p0 * job->a_col;
        T *out = job->packed_a + group * mr * job->kb;
        int64_t rows = job->mb - group * mr < mr ? job->mb - group * mr : mr;

        for (int64_t i = 0; i < mr; i++) {
            for (int64_t p = 0; p < job->kb; p++)
                out[p * mr + i] = i < rows ? a[i * job->a_row + p * job->a_col] : 0;
        }
    }
}

/* A unit is a group of nr columns of B: kb rows of nr elements. */
static void NAME(pack_b)(void *data, int64_t begin, int64_t end)
{
    const NAME(job) *job = data;
    int nr = job->micro->nr;

    for (int64_t group = begin; group < end; group++) {
        const T *b = job->b + job->p0 * job->b_row + (job->j0 + group * nr) * job->b_col;
        T *out = job->packed_b + group * nr * job->kb;
        int64_t columns = job->nb - group * nr < nr ? job->nb - group * nr : nr;

        if (job->b_col == 1 && columns == nr) {
            for (int64_t p = 0; p < job->kb; p++)
                memcpy(out + p * nr, b + p * job->b_row, (size_t)nr * sizeof(T));
            continue;
        }
        for (int64_t j = 0; j < nr; j++) {
            for (int64_t p = 0; p < job->kb; p++)
                out[p * nr + j] = j < columns ? b[p * job->b_row + j * job->b_col] : 0;
        }
    }
}

/* One tile at the edge of C: computed beside it, the part that exists is moved. */
static void NAME(edge)(const NAME(job) * job, const T *a, const T *b, T *c, int64_t rows,
                       int64_t columns, bool add)
{
    T tile[MXL_GEMM_MR * MXL_GEMM_NR];
    int nr = job->micro->nr;

    job->micro->run(job->kb, a, b, tile, nr, 0);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            c[i * job->ldc + j] = add ? c[i * job->ldc + j] + tile[i * nr + j] : tile[i * nr + j];
    }
}

/* A unit is GROUP_ROWS micro tiles down by GROUP_COLUMNS across. */
static void NAME(tiles)(void *data, int64_t begin, int64_t end)
{
    const NAME(job) *job = data;
    int64_t mr = job->micro->mr, nr = job->micro->nr;
    int64_t across = (job->nb + nr * GROUP_COLUMNS - 1) / (nr * GROUP_COLUMNS);
    bool add = job->add || job->p0 > 0;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t i_first = unit / across * GROUP_ROWS * mr,
                j_first = unit % across * GROUP_COLUMNS * nr;
        int64_t i_end = i_first + GROUP_ROWS * mr < job->mb ? i_first + GROUP_ROWS * mr : job->mb;
        int64_t j_end =
            j_first + GROUP_COLUMNS * nr < job->nb ? j_first + GROUP_COLUMNS * nr : job->nb;

        for (int64_t j = j_first; j < j_end; j += nr) {
            for (int64_t i = i_first; i < i_end; i += mr) {
                const T *a = job->packed_a + i * job->kb, *b = job->packed_b + j * job->kb;
                T *c = job->c + (job->i0 + i) * job->ldc + job->j0 + j;

                if (i + mr <= job->mb && j + nr <= job->nb)
                    job->micro->run(job->kb, a, b, c, job->ldc, add);
                else
                    NAME(edge)(job, a, b, c, job->mb - i < mr ? job->mb - i : mr,
                               job->nb - j < nr ? job->nb - j : nr, add);
            }
        }
    }
}

static int64_t NAME(up)(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int NAME(blocks)(NAME(job) * job)
{
    int64_t mr, nr, most_m, most_n, most_k;
    size_t bytes_a, bytes_b;

    job->micro = MICRO();
    mr = job->micro->mr;
    nr = job->micro->nr;
    most_m = job->m < BLOCK_M ? job->m : BLOCK_M / mr * mr;
    most_n = job->n < BLOCK_N ? job->n : BLOCK_N;
    most_k = job->k < BLOCK_K ? job->k : BLOCK_K;
    bytes_a = (size_t)(NAME(up)(most_m, mr) * most_k) * sizeof(T);
    bytes_b = (size_t)(NAME(up)(most_n, nr) * most_k) * sizeof(T);
    job->packed_a = mxl_alloc(bytes_a + bytes_b);
    if (job->packed_a == NULL)
        return -1;
    job->packed_b = job->packed_a + bytes_a / sizeof(T);
    for (job->j0 = 0; job->j0 < job->n; job->j0 += most_n) {
        job->nb = job->n - job->j0 < most_n ? job->n - job->j0 : most_n;
        for (job->p0 = 0; job->p0 < job->k; job->p0 += most_k) {
            job->kb = job->k - job->p0 < most_k ? job->k - job->p0 : most_k;
            mxl_parallel_for((job->nb + nr - 1) / nr, 1 + 65536 / (nr * job->kb), NAME(pack_b),
                             job);
            for (job->i0 = 0; job->i0 < job->m; job->i0 += most_m) {
                int64_t down, across;

                job->mb = job->m - job->i0 < most_m ? job->m - job->i0 : most_m;
                mxl_parallel_for((job->mb + mr - 1) / mr, 1 + 65536 / (mr * job->kb), NAME(pack_a),
                                 job);
                down = (job->mb + mr * GROUP_ROWS - 1) / (mr * GROUP_ROWS);
                across = (job->nb + nr * GROUP_COLUMNS - 1) / (nr * GROUP_COLUMNS);
                mxl_parallel_for(down * across, 1, NAME(tiles), job);
            }
        }
    }
    mxl_free(job->packed_a, bytes_a + bytes_b);
    return 0;
}

static int NAME(gemm)(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                      const void *b, int64_t ldb, void *c, int64_t ldc, bool add)
{
    NAME(job)
    job = {.a = a,
           .b = b,
           .c = c,
           .ldc = ldc,
           .m = m,
           .n = n,
           .k = k,
           .add = add,
           .a_row = ta ? 1 : lda,
           .a_col = ta ? lda : 1,
           .b_row = tb ? 1 : ldb,
           .b_col = tb ? ldb : 1};

    if (n == 1) {
        NAME(vector_job) v = {a, b, c, job.a_row, job.a_col, job.b_row, ldc, k, add};
        NAME(vector)(&v, m);
    } else if (m == 1) {
        NAME(vector_job) v = {b, a, c, job.b_col, job.b_row, job.a_col, 1, k, add};
        NAME(vector)(&v, n);
    } else if (m <= SMALL_SIDE && n <= SMALL_SIDE && k <= SMALL_SIDE) {
        NAME(small)(&job);
    } else {
        return NAME(blocks)(&job);
    }
    return 0;
}

#undef SMALL_PIECE
#undef NAME
#undef T
#undef MICRO
