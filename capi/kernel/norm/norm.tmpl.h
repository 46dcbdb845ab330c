/* Normalisation over one dtype; included by norm.c with NAME(x), T (the element), C (the type of
 * computations), DTYPE and WIDE (both as mxl_dtype), JOINS (whether relu may be in the pass) and
 * IN_PLACE (whether sums take several runs) defined. norm_back.tmpl.h follows it. */

#define NARROW (DTYPE != WIDE)
#define LANES  (LANE_BYTES / (int)sizeof(C))

/* ---- pieces ---- */

/* The elements of a piece, one after another, as C: in place, or copied into `block`. */
static const C *NAME(load)(const mxl_norm *norm, const T *group, const piece *p, C *block)
{
    const T *from = group + p->at;
    int64_t step = 1;

    if (!NARROW && p->rows == 1)
        return (const C *)(const void *)from;
    for (int64_t r = 0; r < p->rows; r++, from += norm->jump) {
        const void *in = from;

        if (NARROW)
            mxl_cast_loop(DTYPE, WIDE)(block + r * p->n, &in, &step, p->n, NULL);
        else
            memcpy(block + r * p->n, from, (size_t)p->n * sizeof(C));
    }
    return block;
}

/* The same, in place too where whole vectors of lanes are neighbours: then *seen has several runs.
 */
static const C *NAME(see)(const mxl_norm *norm, const T *group, const piece *p, C *block,
                          runs *seen)
{
    *seen = (runs){p->rows, p->n, norm->jump};
    if (IN_PLACE && p->n % LANES == 0)
        return (const C *)(const void *)(group + p->at);
    *seen = (runs){1, p->rows * p->n, 0};
    return NAME(load)(norm, group, p, block);
}

/* Where the results of a piece are computed: in place, or in `block`, for `store`. */
static C *NAME(target)(T *group, const piece *p, C *block)
{
    return NARROW ? block : (C *)(void *)(group + p->at);
}

static void NAME(store)(const mxl_norm *norm, T *group, const piece *p, const C *block)
{
    T *to = group + p->at;
    int64_t step = 1;

    for (int64_t r = 0; NARROW && r < p->rows; r++, to += norm->jump) {
        const void *in = block + r * p->n;

        mxl_cast_loop(WIDE, DTYPE)(to, &in, &step, p->n, NULL);
    }
}

/* ---- mean and variance ---- */

/* The sum of all lanes, in double from the first addition on; in a tree, as a chain of additions
 * would take longer than the loop over a short row. */
MXL_INLINE double NAME(total)(const C *lane)
{
    double sum[LANES / 2];

    MXL_AS_LOOP
    for (int l = 0; l < LANES / 2; l++)
        sum[l] = (double)lane[l] + (double)lane[l + LANES / 2];
    for (int half = LANES / 4; half >= 4; half /= 2) {
        MXL_AS_LOOP
        for (int l = 0; l < half; l++)
            sum[l] += sum[l + half];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

MXL_INLINE void NAME(sum_at)(int level, const C *x, const runs *r, double *sum)
{
    C lane[LANES] = {0};

    (void)level;
    for (int64_t row = 0; row < (IN_PLACE ? r->rows : 1); row++, x += r->jump) {
        int64_t i = 0;

        for (; i + LANES <= r->n; i += LANES) {
            for (int l = 0; l < LANES; l++)
                lane[l] += x[i + l];
        }
        for (int64_t l = 0; i + l < r->n; l++)
            lane[l] += x[i + l];
    }
    *sum = NAME(total)(lane);
}
MXL_FROM_AVX2(NAME(sum), (const C *x, const runs *r, double *sum), x, r, sum)

/* The sum of distances from `about`, and of their squares. Prefetches what follows: the elements of
 * the next piece, whose sum waits for nothing else. */
MXL_INLINE void NAME(spread_at)(int level, const C *x, const runs *r, C about, double *rest,
                                double *squares)
{
    C lane[LANES] = {0}, square[LANES] = {0};
    int64_t next = IN_PLACE && r->rows > 1 ? r->rows * r->jump : r->n;

    (void)level;
    for (int64_t row = 0; row < (IN_PLACE ? r->rows : 1); row++, x += r->jump) {
        int64_t i = 0;

        for (; i + LANES <= r->n; i += LANES) {
            for (int b = 0; b < LANE_BYTES; b += LINE_BYTES)
                __builtin_prefetch((const char *)(x + i + next) + b);
            for (int l = 0; l < LANES; l++) {
                C far = x[i + l] - about;
                lane[l] += far;
                square[l] += far * far;
            }
        }
        for (int64_t l = 0; i + l < r->n; l++) {
            C far = x[i + l] - about;
            lane[l] += far;
            square[l] += far * far;
        }
    }
    *rest = NAME(total)(lane);
    *squares = NAME(total)(square);
}
MXL_FROM_AVX2(NAME(spread), (const C *x, const runs *r, C about, double *rest, double *squares), x,
              r, about, rest, squares)

static void NAME(measure)(const mxl_norm *norm, const T *group, C *mean, C *inverse)
{
    moments all = {0, 0, 0};
    piece p;
    C block[BLOCK];

    for (int64_t done = 0; done < count_of(norm); done += p.rows * p.n) {
        const C *x;
        double sum, squares;
        runs seen;
        C about;

        p = piece_at(norm, done);
        x = NAME(see)(norm, group, &p, block, &seen);
        NAME(sum)(x, &seen, &sum);
        about = (C)(sum / (double)(p.rows * p.n));
        NAME(spread)(x, &seen, about, &sum, &squares);
        add_piece(&all, (double)(p.rows * p.n), (double)about, sum, squares);
    }
    *mean = all.count > 0 ? (C)all.mean : (C)NAN;
    *inverse = (C)(1 / sqrt(all.squares / all.count + norm->eps));
}

/* ---- the result ---- */

/* One scale and shift, and no result less than `low`, ... */
MXL_INLINE void NAME(give_at)(int level, const C *x, C *y, int64_t n, C mean, C by, C shift, C low)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++) {
        C v = (x[i] - mean) * by + shift;

        y[i] = v < low ? low : v;
    }
}
MXL_FROM_AVX2(NAME(give), (const C *x, C *y, int64_t n, C mean, C by, C shift, C low), x, y, n,
              mean, by, shift, low)

/* ... or those of each element. */
MXL_INLINE void NAME(give_each_at)(int level, const C *x, C *y, int64_t n, C mean, C by,
                                   const C *scale, const C *shift)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * by * scale[i] + shift[i];
}
MXL_FROM_AVX2(NAME(give_each),
              (const C *x, C *y, int64_t n, C mean, C by, const C *scale, const C *shift), x, y, n,
              mean, by, scale, shift)

#if JOINS
/* y = relu(y) of some runs. */
MXL_INLINE void NAME(cut_at)(int level, C *y, const runs *r)
{
    (void)level;
    for (int64_t row = 0; row < r->rows; row++, y += r->jump) {
        MXL_IVDEP
        for (int64_t i = 0; i < r->n; i++)
            y[i] = y[i] <= 0 ? 0 : y[i];
    }
}
MXL_FROM_AVX2(NAME(cut), (C * y, const runs *r), y, r)
#endif

/* One item of the range is a group. */
static void NAME(groups)(void *data, int64_t begin, int64_t end)
{
    const norm_job *job = data;
    const mxl_norm *norm = job->norm;
    const C *scale = job->scale, *shift = job->shift;
    C *mean = job->mean, *inverse = job->inverse;
    C block[BLOCK];

    for (int64_t g = begin; g < end; g++) {
        const T *x = (const T *)job->x + g * norm->run;
        T *y = (T *)job->out + g * norm->run;
        C by, more;
        piece p;

        if (!norm->given)
            NAME(measure)(norm, x, &mean[g], &inverse[g]);
        by = norm->each || scale == NULL ? inverse[g] : inverse[g] * scale[g % norm->params];
        more = norm->each ? 0 : shift[g % norm->params];
        for (int64_t done = 0; done < count_of(norm); done += p.rows * p.n) {
            int64_t jump;
            const C *from;
            C *to;

            p = piece_at(norm, done);
            jump = NARROW ? p.n : norm->jump;
            from = NARROW ? NAME(load)(norm, x, &p, block) : (const C *)(const void *)(x + p.at);
            to = NAME(target)(y, &p, block);
            for (int64_t r = 0; r < p.rows; r++, from += jump, to += jump) {
                if (norm->each)
                    NAME(give_each)(from, to, p.n, mean[g], by, scale + p.at, shift + p.at);
                else
                    NAME(give)(from, to, p.n, mean[g], by, more, norm->relu ? 0 : -(C)INFINITY);
            }
#if JOINS
            if (norm->cut)
                NAME(cut)(y + p.at, &(runs){p.rows, p.n, norm->jump});
#endif
            NAME(store)(norm, y, &p, block);
        }
    }
}
