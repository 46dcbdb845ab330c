/* Gradients of normalisation over one dtype; included by norm.c behind norm.tmpl.h.
 *
 * With c = x - mean, d = dy * scale and the sums of a group of n elements
 *     dx = inverse * (d - sum(d) / n - c * inverse^2 * sum(d * c) / n)
 * and without the sums if mean and inverse are given. */

/* The sums of dy and of dy * (x - mean). Prefetches x's next piece. */
MXL_INLINE void NAME(sums_at)(int level, const C *x, const runs *r, const C *dy, int64_t dy_jump,
                              C mean, double *sums)
{
    C lane[LANES] = {0}, product[LANES] = {0};
    int64_t next = IN_PLACE && r->rows > 1 ? r->rows * r->jump : r->n;

    (void)level;
    for (int64_t row = 0; row < (IN_PLACE ? r->rows : 1); row++, x += r->jump, dy += dy_jump) {
        int64_t i = 0;

        for (; i + LANES <= r->n; i += LANES) {
            for (int b = 0; b < LANE_BYTES; b += LINE_BYTES)
                __builtin_prefetch((const char *)(x + i + next) + b);
            for (int l = 0; l < LANES; l++) {
                lane[l] += dy[i + l];
                product[l] += dy[i + l] * (x[i + l] - mean);
            }
        }
        for (int64_t l = 0; i + l < r->n; l++) {
            lane[l] += dy[i + l];
            product[l] += dy[i + l] * (x[i + l] - mean);
        }
    }
    sums[0] += NAME(total)(lane);
    sums[1] += NAME(total)(product);
}
MXL_FROM_AVX2(NAME(sums),
              (const C *x, const runs *r, const C *dy, int64_t dy_jump, C mean, double *sums), x, r,
              dy, dy_jump, mean, sums)

/* The same of d = dy * scale, with scales of their own for the elements; adds what the elements
 * contribute to the gradients of their scales and shifts. */
MXL_INLINE void NAME(sums_each_at)(int level, const C *x, const C *dy, const C *scale, int64_t n,
                                   C mean, C inverse, double *sums, C *dscale, C *dshift)
{
    C lane[LANES] = {0}, product[LANES] = {0};
    int64_t i = 0;

    (void)level;
    for (; i + LANES <= n; i += LANES) {
        MXL_IVDEP
        for (int l = 0; l < LANES; l++) {
            C c = x[i + l] - mean, d = dy[i + l] * scale[i + l];
            lane[l] += d;
            product[l] += d * c;
            dscale[i + l] += dy[i + l] * (c * inverse);
            dshift[i + l] += dy[i + l];
        }
    }
    for (int64_t l = 0; i + l < n; l++) {
        C c = x[i + l] - mean, d = dy[i + l] * scale[i + l];
        lane[l] += d;
        product[l] += d * c;
        dscale[i + l] += dy[i + l] * (c * inverse);
        dshift[i + l] += dy[i + l];
    }
    sums[0] += NAME(total)(lane);
    sums[1] += NAME(total)(product);
}
MXL_FROM_AVX2(NAME(sums_each),
              (const C *x, const C *dy, const C *scale, int64_t n, C mean, C inverse, double *sums,
               C *dscale, C *dshift),
              x, dy, scale, n, mean, inverse, sums, dscale, dshift)

/* dx = dy * by + (x - mean) * slope + more; `scale` (NULL: 1) is another factor of dy. dx may be
 * dy. */
MXL_INLINE void NAME(turn_at)(int level, const C *x, const C *dy, const C *scale, C *dx, int64_t n,
                              C mean, C by, C slope, C more)
{
    (void)level;
    if (scale == NULL) {
        MXL_IVDEP
        for (int64_t i = 0; i < n; i++)
            dx[i] = dy[i] * by + (x[i] - mean) * slope + more;
    } else {
        MXL_IVDEP
        for (int64_t i = 0; i < n; i++)
            dx[i] = dy[i] * scale[i] * by + (x[i] - mean) * slope + more;
    }
}
MXL_FROM_AVX2(NAME(turn),
              (const C *x, const C *dy, const C *scale, C *dx, int64_t n, C mean, C by, C slope,
               C more),
              x, dy, scale, dx, n, mean, by, slope, more)

/* dx = dy * by. (With a slope of 0 an infinite x would make it NaN.) */
MXL_INLINE void NAME(times_at)(int level, const C *dy, C *dx, int64_t n, C by)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        dx[i] = dy[i] * by;
}
MXL_FROM_AVX2(NAME(times), (const C *dy, C *dx, int64_t n, C by), dy, dx, n, by)

#if JOINS
/* out = dy where y is above 0, as relu's derivative says it: dy * 1, dy * 0, or dy * NaN. Runs of
 * `out` are `jump` apart. Prefetches the next piece. */
MXL_INLINE void NAME(gate_at)(int level, const C *dy, const C *y, const runs *r, C *out,
                              int64_t jump)
{
    int64_t next = r->rows > 1 ? r->rows * r->jump : r->n;

    (void)level;
    for (int64_t row = 0; row < r->rows; row++, dy += r->jump, y += r->jump, out += jump) {
        for (int64_t i = 0; i < r->n; i += LINE_BYTES / (int64_t)sizeof(C)) {
            __builtin_prefetch(dy + next + i);
            __builtin_prefetch(y + next + i);
        }
        MXL_IVDEP
        for (int64_t i = 0; i < r->n; i++)
            out[i] = dy[i] * (y[i] > 0 ? 1 : y[i] != y[i] ? y[i] : 0);
    }
}
MXL_FROM_AVX2(NAME(gate), (const C *dy, const C *y, const runs *r, C *out, int64_t jump), dy, y, r,
              out, jump)

/* A piece of dy, as `see` gives it, where it counts. `at`: of the group. */
static const C *NAME(see_dy)(const norm_job *job, int64_t at, const piece *p, C *block, runs *seen)
{
    const mxl_norm *norm = job->norm;
    const T *dy = (const T *)job->dy + at;

    if (norm->gate != NULL) {
        runs r = {p->rows, p->n, norm->jump};
        C *out = job->out != NULL ? (C *)job->out + at + p->at : block;

        NAME(gate)((const C *)job->dy + at + p->at, (const C *)norm->gate + at + p->at, &r, out,
                   job->out != NULL ? norm->jump : p->n);
        *seen = (runs){p->rows, p->n, p->n};
        if (job->out == NULL)
            return block;
        dy = (const T *)job->out + at;
    }
    return NAME(see)(norm, dy, p, block, seen);
}
#else
static const C *NAME(see_dy)(const norm_job *job, int64_t at, const piece *p, C *block, runs *seen)
{
    return NAME(see)(job->norm, (const T *)job->dy + at, p, block, seen);
}
#endif

/* dx of a group, from its sums; `by` is the factor of its scale. */
static void NAME(back)(const norm_job *job, int64_t g, const double *sums, C by)
{
    const mxl_norm *norm = job->norm;
    const T *x = (const T *)job->x + g * norm->run;
    const T *dy = (const T *)(norm->gate != NULL ? job->out : job->dy) + g * norm->run;
    T *dx = (T *)job->out + g * norm->run;
    C mean = ((const C *)job->mean)[g], inverse = ((const C *)job->inverse)[g];
    double n = (double)count_of(norm), factor = (double)inverse * (double)by;
    double square = (double)inverse * (double)inverse;
    C slope = (C)(-factor * square * sums[1] / n);
    C more = (C)(-factor * sums[0] / n);
    C block[BLOCK], given[BLOCK];
    piece p;

    for (int64_t done = 0; done < count_of(norm); done += p.rows * p.n) {
        const C *from, *grad;
        int64_t jump;
        C *to;

        p = piece_at(norm, done);
        jump = NARROW ? p.n : norm->jump;
        from = NARROW ? NAME(load)(norm, x, &p, block) : (const C *)(const void *)(x + p.at);
        grad = NARROW ? NAME(load)(norm, dy, &p, given) : (const C *)(const void *)(dy + p.at);
        to = NAME(target)(dx, &p, given);
        for (int64_t r = 0; r < p.rows; r++, from += jump, grad += jump, to += jump) {
            if (norm->given)
                NAME(times)(grad, to, p.n, (C)factor);
            else
                NAME(turn)(from, grad, norm->each ? (const C *)job->scale + p.at : NULL, to, p.n,
                           mean, (C)factor, slope, more);
        }
        NAME(store)(norm, dx, &p, given);
    }
}

/* One item of the range is a group. */
static void NAME(back_groups)(void *data, int64_t begin, int64_t end)
{
    const norm_job *job = data;
    const mxl_norm *norm = job->norm;
    const C *scale = job->scale, *mean = job->mean;
    C block[BLOCK], given[BLOCK];
    piece p;

    for (int64_t g = begin; g < end; g++) {
        const T *x = (const T *)job->x + g * norm->run;
        double *sums = job->sums + 2 * g;

        sums[0] = sums[1] = 0;
        for (int64_t done = 0; done < count_of(norm); done += p.rows * p.n) {
            const C *from, *grad;
            runs seen, dy;

            p = piece_at(norm, done);
            grad = NAME(see_dy)(job, g * norm->run, &p, given, &dy);
            from = NAME(see)(norm, x, &p, block, &seen);
            NAME(sums)(from, &seen, grad, dy.jump, mean[g], sums);
        }
        if (job->out != NULL)
            NAME(back)(job, g, sums, scale == NULL ? 1 : scale[g % norm->params]);
    }
}

/* One item of the range is a unit of rows. */
static void NAME(back_rows)(void *data, int64_t begin, int64_t end)
{
    const norm_job *job = data;
    const mxl_norm *norm = job->norm;
    const C *scale = job->scale, *mean = job->mean, *inverse = job->inverse;
    C block[BLOCK], given[BLOCK];
    piece p;

    for (int64_t g = begin * job->rows; g < least(end * job->rows, norm->groups); g++) {
        const T *x = (const T *)job->x + g * norm->run, *dy = (const T *)job->dy + g * norm->run;
        C *dshift = (C *)job->parts + g / job->rows * 2 * job->width, *dscale = dshift + job->width;
        double sums[2] = {0, 0};

        if (g % job->rows == 0)
            memset(dshift, 0, 2 * (size_t)job->width * sizeof(C));
        for (int64_t done = 0; done < count_of(norm); done += p.rows * p.n) {
            p = piece_at(norm, done);
            NAME(sums_each)(NAME(load)(norm, x, &p, block), NAME(load)(norm, dy, &p, given),
                            scale + p.at, p.n, mean[g], inverse[g], sums, dscale + p.at,
                            dshift + p.at);
        }
        if (job->out != NULL)
            NAME(back)(job, g, sums, 1);
    }
}

/* Adds the sums of all units. */
static void NAME(join_rows)(const norm_job *job, int64_t units, void *dscale, void *dshift)
{
    int64_t n = job->norm->run;

    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t width = least(n - at, BLOCK);

        for (int which = 0; which < 2; which++) {
            const C *part = (const C *)job->parts + which * job->width + at;
            C *to = which == 0 ? dshift : dscale;
            double sum[BLOCK] = {0};

            for (int64_t unit = 0; unit < units && to != NULL; unit++, part += 2 * job->width) {
                for (int64_t i = 0; i < width; i++)
                    sum[i] += (double)part[i];
            }
            for (int64_t i = 0; i < width && to != NULL; i++)
                to[at + i] = (C)sum[i];
        }
    }
}

#undef NAME
#undef T
#undef C
#undef DTYPE
#undef WIDE
#undef NARROW
#undef JOINS
#undef IN_PLACE
#undef LANES
