/* softmax over one dtype; included by softmax.c with NAME(x), T (the element), C (the type of
 * computations), DTYPE and WIDE (both as mxl_dtype), LOAD(v) and STORE(v) defined. */

#define NARROW (DTYPE != WIDE)

/* ---- rows: a few short ones, or a piece of a long one ---- */

/* out = e^((in - top) / scale) of `rows` rows of n elements that follow each other */
MXL_INLINE void NAME(exp_at)(int level, C *out, const C *in, int64_t rows, int64_t n, C scale,
                             const double *top)
{
    bool separately = n < SHORT;

    for (int64_t r = 0; r < rows; r++) {
        const C *x = in + r * n, most = (C)top[r];
        C *y = out + r * n;

        if (separately) {
            for (int64_t i = 0; i < n; i++)
                y[i] = scale == 1 ? x[i] - most : (x[i] - most) / scale;
        } else if (scale == 1) {
            MXL_IVDEP
            for (int64_t i = 0; i < n; i++)
                y[i] = mxl_loop_exp(x[i] - most);
        } else {
            MXL_IVDEP
            for (int64_t i = 0; i < n; i++)
                y[i] = mxl_loop_exp((x[i] - most) / scale);
        }
    }
    for (int64_t i = 0; separately && i < rows * n; i++)
        out[i] = mxl_loop_exp(out[i]);
}
MXL_BY_LEVEL(NAME(exp), (C * out, const C *in, int64_t rows, int64_t n, C scale, const double *top),
             out, in, rows, n, scale, top)

/* out = (in - top) / scale - shift */
MXL_INLINE void NAME(less_at)(int level, C *out, const C *in, int64_t rows, int64_t n, C scale,
                              const double *top, const double *shift)
{
    (void)level;
    for (int64_t r = 0; r < rows; r++) {
        const C most = (C)top[r], more = (C)shift[r];

        MXL_IVDEP
        for (int64_t i = r * n; i < (r + 1) * n; i++)
            out[i] = (scale == 1 ? in[i] - most : (in[i] - most) / scale) - more;
    }
}
MXL_BY_LEVEL(NAME(less),
             (C * out, const C *in, int64_t rows, int64_t n, C scale, const double *top,
              const double *shift),
             out, in, rows, n, scale, top, shift)

/* out = in * factor */
MXL_INLINE void NAME(times_at)(int level, C *out, const C *in, int64_t rows, int64_t n,
                               const double *factor)
{
    (void)level;
    for (int64_t r = 0; r < rows; r++) {
        const C by = (C)factor[r];

        MXL_IVDEP
        for (int64_t i = r * n; i < (r + 1) * n; i++)
            out[i] = in[i] * by;
    }
}
MXL_BY_LEVEL(NAME(times), (C * out, const C *in, int64_t rows, int64_t n, const double *factor),
             out, in, rows, n, factor)

/* n neighbours as C: in place, or converted into `block`. */
static const C *NAME(load)(const T *in, int64_t n, C *block)
{
    const void *from = in;
    int64_t step = 1;

    if (!NARROW)
        return from;
    mxl_cast_loop(DTYPE, WIDE)(block, &from, &step, n, NULL);
    return block;
}

/* Finishes the piece [at, at + n) of `rows` rows, given top and last (log_softmax subtracts `last`,
 * softmax multiplies by it). With `done`, `e` holds the exponentials. */
static void NAME(finish)(const softmax_job *job, const T *in, T *out, int64_t rows, int64_t n,
                         const double *top, const double *last, const C *e)
{
    C room[BLOCK], *to = NARROW ? room : (C *)(void *)out;
    const void *from = to;
    int64_t step = 1;

    if (job->take_log) {
        NAME(less)(to, NAME(load)(in, rows * n, room), rows, n, (C)job->temperature, top, last);
    } else {
        if (e == NULL) {
            NAME(exp)(room, NAME(load)(in, rows * n, room), rows, n, (C)job->temperature, top);
            e = room;
        }
        NAME(times)(to, e, rows, n, last);
    }
    if (NARROW)
        mxl_cast_loop(WIDE, DTYPE)(out, &from, &step, rows * n, NULL);
}

/* `rows` rows of n neighbours; more than one only if all of them fit one piece. */
static void NAME(rows)(const softmax_job *job, const T *in, T *out, int64_t rows, int64_t n)
{
    const mxl_reduce_loops *loops = mxl_reduce_loops_of(WIDE);
    mxl_reduction most = job->temperature < 0 ? MXL_REDUCE_MIN : MXL_REDUCE_MAX;
    int64_t piece = least(n, BLOCK);
    /* The exponentials of a long row stay in `out` if it can hold them. */
    bool stay = !NARROW && !job->take_log;
    double top[ROWS], last[ROWS];
    C x[BLOCK], e[BLOCK];

    mxl_reduce_start(most, WIDE, top, rows);
    mxl_reduce_start(MXL_REDUCE_SUM, WIDE, last, rows);
    for (int64_t i = 0; i < n; i += piece) {
        int64_t m = least(n - i, piece);

        loops->rows[most](top, NAME(load)(in + i, rows * m, x), rows, m, m);
    }
    for (int64_t i = 0; i < n; i += piece) {
        int64_t m = least(n - i, piece);
        C *to = stay ? (C *)(void *)(out + i) : e;

        NAME(exp)(to, NAME(load)(in + i, rows * m, x), rows, m, (C)job->temperature, top);
        loops->rows[MXL_REDUCE_SUM](last, to, rows, m, m);
    }
    for (int64_t r = 0; r < rows; r++)
        last[r] = job->take_log ? log(last[r]) : 1 / last[r];
    for (int64_t i = 0; i < n; i += piece) {
        int64_t m = least(n - i, piece);

        NAME(finish)(job, in + i, out + i, rows, m, top, last,
                     stay         ? (const C *)(const void *)(out + i)
                     : n == piece ? e
                                  : NULL);
    }
}

/* One item of the range is a row. */
static void NAME(rows_chunk)(void *data, int64_t begin, int64_t end)
{
    const softmax_job *job = data;
    int64_t n = job->n, many = least(BLOCK / n, ROWS);

    if (many == 0 || job->length != NULL)
        many = 1;
    for (int64_t row = begin; row < end; row += many) {
        const T *in = (const T *)job->in + row * n;
        T *out = (T *)job->out + row * n;
        int64_t counted = job->length == NULL ? n : job->length[row];

        counted = counted < 0 ? 0 : counted > n ? n : counted;
        if (counted > 0)
            NAME(rows)(job, in, out, least(end - row, many), counted);
        for (int64_t i = counted; i < n; i++)
            out[i] = STORE(job->take_log ? -(C)INFINITY : 0);
    }
}

/* ---- columns ---- */

/* `width` (at most COLUMNS) neighbouring columns, rows job->inner elements apart; the first
 * length[j] rows of column j count. */
MXL_INLINE void NAME(scaled_columns)(int level, const softmax_job *job, const T *in, T *out,
                                     int64_t width, const int64_t *length, C scale)
{
    const C worst = scale < 0 ? (C)INFINITY : -(C)INFINITY;
    C top[COLUMNS], last[COLUMNS];
    double sum[COLUMNS];

    for (int64_t j = 0; j < width; j++) {
        top[j] = worst;
        sum[j] = 0;
    }
    for (int64_t i = 0; i < job->n; i++) {
        const T *x = in + i * job->inner;

        for (int64_t j = 0; j < width; j++) {
            C v = LOAD(x[j]);
            top[j] = ((scale < 0 ? v < top[j] : v > top[j]) & (i < length[j])) ? v : top[j];
        }
    }
    /* The maximum ignores NaN; the sum carries it to every output. */
    for (int64_t i = 0; i < job->n; i++) {
        const T *x = in + i * job->inner;
        T *y = out + i * job->inner;

        MXL_IVDEP
        for (int64_t j = 0; j < width; j++) {
            C e = mxl_loop_exp((LOAD(x[j]) - top[j]) / scale);

            if (!NARROW && !job->take_log)
                y[j] = STORE(e);
            sum[j] += i < length[j] ? (double)e : 0;
        }
    }
    for (int64_t j = 0; j < width; j++)
        last[j] = (C)(job->take_log ? log(sum[j]) : 1 / sum[j]);
    for (int64_t i = 0; i < job->n; i++) {
        const T *x = in + i * job->inner;
        T *y = out + i * job->inner;

        if (job->take_log) {
            MXL_IVDEP
            for (int64_t j = 0; j < width; j++) {
                C v = (LOAD(x[j]) - top[j]) / scale - last[j];
                y[j] = STORE(i < length[j] ? v : -(C)INFINITY);
            }
        } else {
            MXL_IVDEP
            for (int64_t j = 0; j < width; j++) {
                C e = NARROW ? mxl_loop_exp((LOAD(x[j]) - top[j]) / scale) : LOAD(y[j]);
                y[j] = STORE(i < length[j] ? e * last[j] : 0);
            }
        }
    }
}

/* Skips divisions by 1. */
MXL_INLINE void NAME(columns_at)(int level, const softmax_job *job, const T *in, T *out,
                                 int64_t width, const int64_t *length)
{
    if (!NARROW && job->temperature == 1)
        NAME(scaled_columns)(level, job, in, out, width, length, 1);
    else
        NAME(scaled_columns)(level, job, in, out, width, length, (C)job->temperature);
}
MXL_BY_LEVEL(NAME(columns),
             (const softmax_job *job, const T *in, T *out, int64_t width, const int64_t *length),
             job, in, out, width, length)

/* One item of the range is a tile of columns of one outer position. */
static void NAME(columns_chunk)(void *data, int64_t begin, int64_t end)
{
    const softmax_job *job = data;
    int64_t whole[COLUMNS];

    for (int64_t j = 0; j < COLUMNS; j++)
        whole[j] = job->n;
    for (int64_t unit = begin; unit < end; unit++) {
        softmax_tile tile = tile_at(job, unit);

        NAME(columns)(job, (const T *)job->in + tile.at, (T *)job->out + tile.at, tile.width,
                      job->length == NULL ? whole : job->length + tile.column);
    }
}

#undef T
#undef C
#undef DTYPE
#undef WIDE
#undef NARROW
#undef LOAD
#undef STORE
#undef NAME
