/* Maximum and sum of windows for one element type; included by pool.c with NAME(x), T
 * and LEVELS (of kernel/target.h) defined. */

/* `a` joined with an element of x, or with its square (`more` is 0) or cube (1): one loop takes
 * both, which are rare. */
MXL_INLINE T NAME(taken)(pool_kind kind, T more, T a, T x)
{
    if (kind == POOL_MAX)
        return x > a ? x : a;
    return kind == POOL_SUM ? a + x : a + x * x * (more > 0 ? x : 1);
}

/* y[o] = the `kernel` joined columns from o * stride on, joined. */
MXL_INLINE void NAME(join_columns)(pool_kind kind, const T *restrict column, int64_t n,
                                   int64_t stride, int64_t kernel, T *restrict y)
{
    kind = kind == POOL_MAX ? POOL_MAX : POOL_SUM;
    for (int64_t o = 0; o < n; o++)
        y[o] = column[o * stride];
    for (int64_t k = 1; k < kernel; k++) {
        MXL_IVDEP
        for (int64_t o = 0; o < n; o++)
            y[o] = NAME(taken)(kind, 0, y[o], column[o * stride + k]);
    }
}

/* The sums of one output row from `first` on, divided; `rows` positions count along the other two
 * axes. */
MXL_INLINE void NAME(divide)(const pool_job *job, int64_t rows, int64_t first, int64_t n, T *y)
{
    const mxl_window *w = &job->p->axis[2];
    T whole = (T)(rows * w->kernel);

    for (int64_t o = 0; o < n; o++) {
        bool is_whole = first + o >= job->whole.begin && first + o < job->whole.end;
        int64_t most = is_whole ? pool_least(n, job->whole.end - first) : o;
        int64_t count;

        for (; rows > 0 && o < most; o++)
            y[o] /= whole;
        if (o >= n)
            return;
        count = rows * pool_count(w, first + o, job->p->divide);
        if (count > 0)
            y[o] /= (T)count;
    }
}

/* column[j] = the rows of the windows (od, oh) of an input plane joined, at begin + j; `lowest` or
 * 0 for j outside of `in`. */
MXL_INLINE void NAME(join_rows)(pool_kind kind, const pool_job *job, const T *plane, pool_range d,
                                pool_range h, int64_t begin, pool_range in, int64_t n,
                                T *restrict column)
{
    const mxl_window *axis = job->p->axis;
    const T start = kind == POOL_MAX ? (T)job->lowest : 0, more = job->p->power == 3;

    for (int64_t j = 0; j < n; j++)
        column[j] = start;
    for (int64_t id = d.begin; id < d.end; id++) {
        for (int64_t ih = h.begin; ih < h.end; ih++) {
            const T *row = plane + (id * axis[1].in + ih) * axis[2].in;

            MXL_IVDEP
            for (int64_t j = in.begin; j < in.end; j++)
                column[j] = NAME(taken)(kind, more, column[j], row[begin + j]);
        }
    }
}

MXL_INLINE void NAME(join_windows)(pool_kind kind, const mxl_window *w, const T *column, int64_t n,
                                   T *y)
{
    if (w->stride == 1)
        NAME(join_columns)(kind, column, n, 1, w->kernel, y);
    else if (w->stride == 2)
        NAME(join_columns)(kind, column, n, 2, w->kernel, y);
    else
        NAME(join_columns)(kind, column, n, w->stride, w->kernel, y);
}

/* One row of outputs, of the windows (od, oh) of an input plane: first the rows of the windows are
 * joined, then the columns of that row. */
MXL_INLINE void NAME(row)(pool_kind kind, const pool_job *job, const T *plane, int64_t od,
                          int64_t oh, T *y)
{
    const mxl_window *axis = job->p->axis, *w = &axis[2];
    pool_range d = pool_inside(&axis[0], od), h = pool_inside(&axis[1], oh);
    int64_t rows =
        pool_count(&axis[0], od, job->p->divide) * pool_count(&axis[1], oh, job->p->divide);
    int64_t step = (POOL_SPAN - w->kernel) / w->stride + 1;
    T column[POOL_SPAN];

    for (int64_t first = 0; first < w->out; first += step) {
        int64_t n = pool_least(step, w->out - first), begin = first * w->stride - w->pad;
        int64_t span = (n - 1) * w->stride + w->kernel;

        NAME(join_rows)(kind, job, plane, d, h, begin, pool_clip(begin, span, w->in), span, column);
        NAME(join_windows)(kind, w, column, n, y + first);
        if (job->p->divide != MXL_POOL_SUM)
            NAME(divide)(job, rows, first, n, y + first);
    }
}

/* The rows of outputs [begin, end) of all planes, of windows that lie side by side: the columns of
 * many rows are joined at once. */
MXL_INLINE void NAME(rows)(pool_kind kind, const pool_job *job, int64_t begin, int64_t end)
{
    const mxl_window *axis = job->p->axis, *w = &axis[2];
    int64_t n = w->out * w->stride, most = POOL_SPAN / n, all = axis[0].out * axis[1].out;
    T column[POOL_SPAN], *y = (T *)job->y + begin * w->out;

    for (int64_t i = begin; i < end; i += most, y += most * w->out) {
        int64_t rows = pool_least(most, end - i);

        for (int64_t r = 0; r < rows; r++) {
            int64_t o = (i + r) % all;
            const T *plane = (const T *)job->x + (i + r) / all * job->in_plane;

            NAME(join_rows)(kind, job, plane, pool_inside(&axis[0], o / axis[1].out),
                            pool_inside(&axis[1], o % axis[1].out), 0, (pool_range){0, n}, n,
                            column + r * n);
        }
        NAME(join_windows)(kind, w, column, rows * w->out, y);
        for (int64_t r = 0; job->p->divide != MXL_POOL_SUM && r < rows; r++) {
            int64_t o = (i + r) % all;
            int64_t count = pool_count(&axis[0], o / axis[1].out, job->p->divide) *
                            pool_count(&axis[1], o % axis[1].out, job->p->divide);

            NAME(divide)(job, count, 0, w->out, y + r * w->out);
        }
    }
}

/* One output position: `n` neighbouring inner elements, from plane on. */
MXL_INLINE void NAME(position)(pool_kind kind, const pool_job *job, const T *plane, int64_t od,
                               int64_t oh, int64_t ow, int64_t n, T *restrict y)
{
    const mxl_window *axis = job->p->axis;
    pool_range d = pool_inside(&axis[0], od), h = pool_inside(&axis[1], oh),
               w = pool_inside(&axis[2], ow);
    const T more = job->p->power == 3;
    int64_t inner = job->p->inner, count;

    for (int64_t c = 0; c < n; c++)
        y[c] = kind == POOL_MAX ? (T)job->lowest : 0;
    for (int64_t id = d.begin; id < d.end; id++) {
        for (int64_t ih = h.begin; ih < h.end; ih++) {
            const T *row = plane + (id * axis[1].in + ih) * axis[2].in * inner;

            for (int64_t iw = w.begin; iw < w.end; iw++) {
                const T *x = row + iw * inner;

                MXL_IVDEP
                for (int64_t c = 0; c < n; c++)
                    y[c] = NAME(taken)(kind, more, y[c], x[c]);
            }
        }
    }
    count = pool_count_at(job->p, od, oh, ow);
    for (int64_t c = 0; count > 1 && c < n; c++)
        y[c] /= (T)count;
}

/* One window holds the whole plane, contiguous: lanes, which are joined at the end. */
MXL_INLINE T NAME(plane)(pool_kind kind, const pool_job *job, const T *x)
{
    const T start = kind == POOL_MAX ? (T)job->lowest : 0, more = job->p->power == 3;
    pool_kind join = kind == POOL_MAX ? POOL_MAX : POOL_SUM;
    int64_t n = job->in_plane, i = 0, count = pool_count_at(job->p, 0, 0, 0);
    T lane[LANES], all = start;

    for (int l = 0; l < LANES; l++)
        lane[l] = start;
    for (; i + LANES <= n; i += LANES) {
        MXL_AS_LOOP
        for (int l = 0; l < LANES; l++)
            lane[l] = NAME(taken)(kind, more, lane[l], x[i + l]);
    }
    for (int l = 0; i + l < n; l++)
        lane[l] = NAME(taken)(kind, more, lane[l], x[i + l]);
    for (int l = 0; l < LANES; l++)
        all = NAME(taken)(join, 0, all, lane[l]);
    return count > 1 ? all / (T)count : all;
}

/* One item is a row of outputs; or a plane that one window holds. */
MXL_INLINE void NAME(range)(pool_kind kind, const pool_job *job, int64_t begin, int64_t end)
{
    const mxl_window *axis = job->p->axis;
    int64_t height = axis[1].out, width = axis[2].out, inner = job->p->inner;
    int64_t rows = axis[0].out * height;

    if (job->abut) {
        NAME(rows)(kind, job, begin, end);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t od = i % rows / height, oh = i % height;
        const T *plane = (const T *)job->x + i / rows * job->in_plane * inner;
        T *y = (T *)job->y + i * width * inner;

        if (job->way == POOL_PLANES) {
            *y = NAME(plane)(kind, job, plane);
        } else if (job->way == POOL_ROWS) {
            NAME(row)(kind, job, plane, od, oh, y);
        } else {
            for (int64_t ow = 0; ow < width; ow++)
                NAME(position)(kind, job, plane, od, oh, ow, inner, y + ow * inner);
        }
    }
}

MXL_INLINE void NAME(chunk_at)(int level, void *data, int64_t begin, int64_t end)
{
    const pool_job *job = data;

    (void)level;
    if (job->kind == POOL_MAX)
        NAME(range)(POOL_MAX, job, begin, end);
    else
        NAME(range)(POOL_SUM, job, begin, end);
}
LEVELS(NAME(chunk), (void *data, int64_t begin, int64_t end), data, begin, end)

MXL_INLINE void NAME(powers_at)(int level, void *data, int64_t begin, int64_t end)
{
    (void)level;
    NAME(range)(POOL_POWERS, data, begin, end);
}
MXL_UP_TO_AVX2(NAME(powers), (void *data, int64_t begin, int64_t end), data, begin, end)

#undef NAME
#undef T
#undef LEVELS
