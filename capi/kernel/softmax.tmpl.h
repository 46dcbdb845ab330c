/* softmax over one dtype; included by softmax.c with T (the element), C (what it is computed in),
 * LOAD(v), STORE(v) and NAME(x) defined. Loops go by lanes or columns, which vectorise and
 * fix the order of additions. */

/* One row of n neighbours, the first `length` of which count. */
MXL_INLINE void NAME(row_at)(int level, const softmax_job *job, const T *in, T *out, int64_t length)
{
    C scale = (C)job->temperature, top = -(C)INFINITY, tail = job->take_log ? -(C)INFINITY : 0;
    C most[LANES];
    double part[LANES], sum = 0;
    int64_t lanes = length < LANES ? length : LANES, i;

    for (int64_t l = 0; l < lanes; l++) {
        most[l] = -(C)INFINITY;
        part[l] = 0;
    }
    for (i = 0; i < length; i += lanes) {
        int64_t n = length - i < lanes ? length - i : lanes;

        for (int64_t l = 0; l < n; l++) {
            C v = LOAD(in[i + l]) / scale;
            most[l] = v > most[l] ? v : most[l];
        }
    }
    for (int64_t l = 0; l < lanes; l++)
        top = most[l] > top ? most[l] : top;
    /* A NaN is not found above; it reaches every output through the sum. */
    for (i = 0; i < length; i += lanes) {
        int64_t n = length - i < lanes ? length - i : lanes;

        for (int64_t l = 0; l < n; l++)
            part[l] += (double)mxl_row_exp(LOAD(in[i + l]) / scale - top);
    }
    for (int64_t l = 0; l < lanes; l++)
        sum += part[l];
    if (job->take_log) {
        C shift = (C)log(sum);

        for (i = 0; i < length; i++)
            out[i] = STORE(LOAD(in[i]) / scale - top - shift);
    } else {
        C factor = (C)(1 / sum);

        for (i = 0; i < length; i++)
            out[i] = STORE(mxl_row_exp(LOAD(in[i]) / scale - top) * factor);
    }
    for (i = length; i < job->n; i++)
        out[i] = STORE(tail);
}
MXL_BY_LEVEL(NAME(row), (const softmax_job *job, const T *in, T *out, int64_t length), job, in, out,
             length)

/* `width` (at most COLUMNS) neighbouring columns, rows job->inner elements apart; the first
 * length[j] rows of column j count. */
MXL_INLINE void NAME(columns_at)(int level, const softmax_job *job, const T *in, T *out,
                                 int64_t width, const int64_t *length)
{
    C scale = (C)job->temperature;
    C top[COLUMNS], last[COLUMNS];
    double sum[COLUMNS];

    for (int64_t j = 0; j < width; j++) {
        top[j] = -(C)INFINITY;
        sum[j] = 0;
    }
    for (int64_t i = 0; i < job->n; i++) {
        for (int64_t j = 0; j < width; j++) {
            C v = LOAD(in[i * job->inner + j]) / scale;
            top[j] = ((v > top[j]) & (i < length[j])) ? v : top[j];
        }
    }
    for (int64_t i = 0; i < job->n; i++) {
        for (int64_t j = 0; j < width; j++) {
            C e = mxl_row_exp(LOAD(in[i * job->inner + j]) / scale - top[j]);
            sum[j] += i < length[j] ? (double)e : 0;
        }
    }
    for (int64_t j = 0; j < width; j++)
        last[j] = (C)(job->take_log ? log(sum[j]) : 1 / sum[j]);
    if (job->take_log) {
        for (int64_t i = 0; i < job->n; i++) {
            for (int64_t j = 0; j < width; j++) {
                C v = LOAD(in[i * job->inner + j]) / scale - top[j] - last[j];
                out[i * job->inner + j] = STORE(i < length[j] ? v : -(C)INFINITY);
            }
        }
        return;
    }
    for (int64_t i = 0; i < job->n; i++) {
        for (int64_t j = 0; j < width; j++) {
            C v = mxl_row_exp(LOAD(in[i * job->inner + j]) / scale - top[j]) * last[j];
            out[i * job->inner + j] = STORE(i < length[j] ? v : 0);
        }
    }
}
MXL_BY_LEVEL(NAME(columns),
             (const softmax_job *job, const T *in, T *out, int64_t width, const int64_t *length),
             job, in, out, width, length)

/* Columns of one outer position, in tiles. */
static void NAME(tiles)(const softmax_job *job, const T *in, T *out, const int64_t *length)
{
    int64_t whole[COLUMNS];

    for (int64_t j = 0; j < COLUMNS; j++)
        whole[j] = job->n;
    for (int64_t j = 0; j < job->inner; j += COLUMNS) {
        int64_t width = job->inner - j < COLUMNS ? job->inner - j : COLUMNS;

        NAME(columns)(job, in + j, out + j, width, length == NULL ? whole : length + j);
    }
}

/* A unit is one outer position. */
static void NAME(share)(void *data, int64_t begin, int64_t end)
{
    const softmax_job *job = data;

    for (int64_t o = begin; o < end; o++) {
        const T *in = (const T *)job->in + o * job->n * job->inner;
        T *out = (T *)job->out + o * job->n * job->inner;
        const int64_t *length = job->length == NULL ? NULL : job->length + o * job->inner;

        if (job->inner == 1) {
            int64_t count = length == NULL || *length > job->n ? job->n : *length;

            NAME(row)(job, in, out, count < 0 ? 0 : count);
            continue;
        }
        NAME(tiles)(job, in, out, length);
    }
}

#undef T
#undef C
#undef LOAD
#undef STORE
#undef NAME
