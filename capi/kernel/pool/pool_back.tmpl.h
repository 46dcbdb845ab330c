/* Gradients of pooling for one element type; included by pool_back.c with NAME(x), T, P (an
 * integer of T's width) and LEVELS (of kernel/target.h) defined. */

/* ---- the largest element ---- */

/* The largest of the columns o * stride .. + kernel - 1, its row, and which of these columns it is.
 * Of equal ones that in the first row, of these the first column. */
MXL_INLINE void NAME(choose)(const T *restrict column, const P *restrict row_of, int64_t n,
                             int64_t stride, int64_t kernel, T lowest, T *restrict top,
                             P *restrict row, P *restrict where)
{
    for (int64_t o = 0; o < n; o++) {
        top[o] = lowest;
        row[o] = -1;
        where[o] = 0;
    }
    for (int64_t k = 0; k < kernel; k++) {
        MXL_IVDEP
        for (int64_t o = 0; o < n; o++) {
            T v = column[o * stride + k];
            P r = row_of[o * stride + k];
            bool take = (v > top[o]) | ((v == top[o]) & (r < row[o]));

            top[o] = take ? v : top[o];
            row[o] = take ? r : row[o];
            where[o] = take ? (P)k : where[o];
        }
    }
}

/* Adds `n` elements of dy to a plane of dx at their positions, or takes the elements of `from`
 * there; position -1: none. Positions are `step` elements apart, channels `channel` (0: one). */
MXL_INLINE void NAME(put)(const pool_job *job, int64_t plane, int64_t place, int64_t n,
                          const P *restrict position, int64_t step, int64_t channel)
{
    if (job->y != NULL) {
        const T *from = (const T *)job->from + plane;
        T *restrict y = (T *)job->y + place;

        for (int64_t o = 0; o < n; o++)
            y[o] = position[o] < 0 ? 0 : from[position[o] * step + o * channel];
    } else {
        const T *dy = (const T *)job->dy + place;
        T *restrict dx = (T *)job->dx + plane;

        for (int64_t o = 0; o < n; o++) {
            if (position[o] >= 0)
                dx[position[o] * step + o * channel] += dy[o];
        }
    }
}

/* n windows, or more that are whole vectors, where there is room: they hold nothing. */
MXL_INLINE int64_t NAME(whole_vectors)(const mxl_window *w, int64_t n)
{
    int64_t whole = (n + CHUNK - 1) / CHUNK * CHUNK;

    return (whole - 1) * w->stride + w->kernel <= POOL_SPAN ? whole : n;
}

/* One row of windows of a plane; `from` is the place of the first one in dy. */
MXL_INLINE void NAME(max_row)(const pool_job *job, int64_t at_plane, int64_t od, int64_t oh,
                              int64_t from)
{
    const mxl_window *axis = job->p->axis, *w = &axis[2];
    const T *plane = (const T *)job->x + at_plane * job->in_plane;
    pool_range d = pool_inside(&axis[0], od), h = pool_inside(&axis[1], oh);
    int64_t step = (POOL_SPAN - w->kernel) / w->stride + 1;
    T column[POOL_SPAN], top[POOL_SPAN];
    P row_of[POOL_SPAN], best[POOL_SPAN], where[POOL_SPAN];

    for (int64_t first = 0; first < w->out; first += step) {
        int64_t n = pool_least(step, w->out - first), begin = first * w->stride - w->pad;
        pool_range in = pool_clip(begin, (n - 1) * w->stride + w->kernel, w->in);
        int64_t whole = NAME(whole_vectors)(w, n), span = (whole - 1) * w->stride + w->kernel;

        for (int64_t j = 0; j < span; j++) {
            column[j] = (T)job->lowest;
            row_of[j] = -1;
        }
        for (int64_t id = d.begin; id < d.end; id++) {
            for (int64_t ih = h.begin; ih < h.end; ih++) {
                P r = (P)(id * axis[1].in + ih);
                const T *row = plane + r * w->in;

                MXL_IVDEP
                for (int64_t j = in.begin; j < in.end; j++) {
                    bool take = row[begin + j] > column[j];

                    column[j] = take ? row[begin + j] : column[j];
                    row_of[j] = take ? r : row_of[j];
                }
            }
        }
        if (w->stride == 1)
            NAME(choose)(column, row_of, whole, 1, w->kernel, (T)job->lowest, top, best, where);
        else if (w->stride == 2)
            NAME(choose)(column, row_of, whole, 2, w->kernel, (T)job->lowest, top, best, where);
        else
            NAME(choose)(column, row_of, whole, w->stride, w->kernel, (T)job->lowest, top, best,
                         where);
        for (int64_t o = 0; o < whole; o++)
            best[o] = best[o] < 0
                          ? -1
                          : (P)(best[o] * (P)w->in + (P)begin + (P)(o * w->stride) + where[o]);
        NAME(put)(job, at_plane * job->in_plane, from + first, n, best, 1, 0);
    }
}

/* ---- windows of 2 x 2 that do not overlap ---- */

/* The larger of both elements of each column of two rows, and its row; -1: none is above `lowest`.
 */
MXL_INLINE void NAME(join_rows)(const T *restrict x, const T *restrict below, int64_t n, T lowest,
                                T *restrict column, P *restrict row)
{
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T upper = x[j] > lowest ? x[j] : lowest;
        P first = x[j] > lowest ? 0 : -1;

        column[j] = below[j] > upper ? below[j] : upper;
        row[j] = below[j] > upper ? 1 : first;
    }
}

/* dy for the column of each pair that has the largest element, of equal ones that in the first row;
 * 0 for the other. */
MXL_INLINE void NAME(choose_sides)(const T *restrict column, const P *restrict row, int64_t n,
                                   const T *restrict dy, T *restrict share)
{
    MXL_IVDEP
    for (int64_t o = 0; o < n; o++) {
        T left = column[2 * o], right = column[2 * o + 1];
        bool take = (right > left) | ((right == left) & (row[2 * o + 1] < row[2 * o]));

        share[2 * o] = take ? 0 : dy[o];
        share[2 * o + 1] = take ? dy[o] : 0;
    }
}

MXL_INLINE void NAME(part_rows)(const T *restrict share, const P *restrict row, int64_t n,
                                T *restrict dx, T *restrict below)
{
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        dx[j] = row[j] == 0 ? share[j] : 0;
        below[j] = row[j] == 1 ? share[j] : 0;
    }
}

/* A whole plane: all of dx is written, and what no window holds becomes 0. */
MXL_INLINE void NAME(max_pairs)(const pool_job *job, const T *x, const T *dy, T *dx)
{
    const mxl_window *h = &job->p->axis[1], *w = &job->p->axis[2];
    int64_t in = w->in, n = 2 * w->out, most = POOL_SPAN / n;
    T column[POOL_SPAN], share[POOL_SPAN];
    P row[POOL_SPAN];

    for (int64_t first = 0; first < h->out; first += most) {
        int64_t rows = pool_least(most, h->out - first);

        for (int64_t r = 0; r < rows; r++) {
            const T *at = x + 2 * (first + r) * in;

            NAME(join_rows)(at, at + in, n, (T)job->lowest, column + r * n, row + r * n);
        }
        NAME(choose_sides)(column, row, rows * w->out, dy + first * w->out, share);
        for (int64_t r = 0; r < rows; r++) {
            T *to = dx + 2 * (first + r) * in;

            NAME(part_rows)(share + r * n, row + r * n, n, to, to + in);
            for (int64_t j = n; j < in; j++)
                to[j] = to[in + j] = 0;
        }
    }
    memset(dx + 2 * h->out * in, 0, (size_t)((h->in - 2 * h->out) * in) * sizeof(T));
}

/* One window of a plane, of `n` <= CHANNELS inner elements from `channel` on. */
MXL_INLINE void NAME(max_position)(const pool_job *job, int64_t at_plane, int64_t od, int64_t oh,
                                   int64_t ow, int64_t channel, int64_t n, int64_t from)
{
    const mxl_window *axis = job->p->axis;
    pool_range d = pool_inside(&axis[0], od), h = pool_inside(&axis[1], oh),
               w = pool_inside(&axis[2], ow);
    const T *plane = (const T *)job->x + at_plane * job->in_plane * job->p->inner + channel;
    T top[CHANNELS];
    P best[CHANNELS];

    for (int64_t c = 0; c < n; c++) {
        top[c] = (T)job->lowest;
        best[c] = -1;
    }
    for (int64_t id = d.begin; id < d.end; id++) {
        for (int64_t ih = h.begin; ih < h.end; ih++) {
            for (int64_t iw = w.begin; iw < w.end; iw++) {
                int64_t position = (id * axis[1].in + ih) * axis[2].in + iw;
                const T *x = plane + position * job->p->inner;

                MXL_IVDEP
                for (int64_t c = 0; c < n; c++) {
                    bool take = x[c] > top[c];

                    top[c] = take ? x[c] : top[c];
                    best[c] = take ? (P)position : best[c];
                }
            }
        }
    }
    NAME(put)(job, at_plane * job->in_plane * job->p->inner + channel, from, n, best, job->p->inner,
              1);
}

/* ---- the sum ---- */

/* column[q * stride + r] = the values of the windows that hold it, value[q], value[q - 1] ... as
 * far as their kernel reaches. Values outside of [0, n) are zeros. */
MXL_INLINE void NAME(spread_columns)(const T *value, int64_t n, int64_t stride, int64_t kernel,
                                     T *restrict column)
{
    int64_t more = (kernel - 1) / stride;

    for (int64_t r = 0; r < stride; r++) {
        T *restrict to = column + r;

        MXL_IVDEP
        for (int64_t q = 0; q < n + more; q++)
            to[q * stride] = r < kernel ? value[q] : 0;
        for (int64_t j = 1; j * stride + r < kernel; j++) {
            MXL_IVDEP
            for (int64_t q = 0; q < n + more; q++)
                to[q * stride] += value[q - j];
        }
    }
}

/* The same for stride 2: both columns of a pair together, which vectorises. */
MXL_INLINE void NAME(spread_pairs)(const T *value, int64_t n, int64_t kernel, T *restrict column)
{
    int64_t more = (kernel - 1) / 2;
    T even[POOL_SPAN], odd[POOL_SPAN];

    for (int64_t q = 0; q < n + more; q++) {
        even[q] = value[q];
        odd[q] = kernel > 1 ? value[q] : 0;
    }
    for (int64_t k = 2; k < kernel; k++) {
        T *restrict to = k % 2 == 0 ? even : odd;

        for (int64_t q = 0; q < n + more; q++)
            to[q] += value[q - k / 2];
    }
    for (int64_t q = 0; q < n + more; q++) {
        column[2 * q] = even[q];
        column[2 * q + 1] = odd[q];
    }
}

/* value = dy of a row from `first` on, divided. */
MXL_INLINE void NAME(shares)(const pool_job *job, const T *dy, int64_t rows, int64_t first,
                             int64_t n, T *value)
{
    const mxl_window *w = &job->p->axis[2];
    bool divides = job->p->divide != MXL_POOL_SUM;
    T whole = divides ? (T)(rows * w->kernel) : 1;

    for (int64_t o = 0; o < n; o++)
        value[o] = dy[o] / whole;
    for (int64_t o = 0; divides && o < n; o++) {
        int64_t count;

        if (o + first == job->whole.begin && job->whole.end > job->whole.begin)
            o = job->whole.end - first;
        if (o >= n)
            return;
        count = rows * pool_count(w, first + o, job->p->divide);
        value[o] = count > 0 ? dy[o] / (T)count : 0;
    }
}

MXL_INLINE void NAME(spread_row)(const pool_job *job, T *plane, int64_t od, int64_t oh, const T *dy)
{
    const mxl_window *axis = job->p->axis, *w = &axis[2];
    pool_range d = pool_inside(&axis[0], od), h = pool_inside(&axis[1], oh);
    int64_t rows =
        pool_count(&axis[0], od, job->p->divide) * pool_count(&axis[1], oh, job->p->divide);
    int64_t step = (POOL_SPAN - w->kernel) / w->stride + 1;
    int64_t more = (w->kernel - 1) / w->stride; /* windows on either side that overlap */
    T column[POOL_SPAN + POOL_WIDEST], shared[POOL_SPAN + 2 * POOL_WIDEST];
    T *value = shared + POOL_WIDEST;

    for (int64_t first = 0; first < w->out; first += step) {
        int64_t n = pool_least(step, w->out - first), begin = first * w->stride - w->pad;
        pool_range in = pool_clip(begin, (n - 1) * w->stride + w->kernel, w->in);

        NAME(shares)(job, dy + first, rows, first, n, value);
        memset(value - more, 0, (size_t)more * sizeof(T));
        memset(value + n, 0, (size_t)more * sizeof(T));
        if (w->stride == 1)
            NAME(spread_columns)(value, n, 1, w->kernel, column);
        else if (w->stride == 2)
            NAME(spread_pairs)(value, n, w->kernel, column);
        else
            NAME(spread_columns)(value, n, w->stride, w->kernel, column);
        for (int64_t id = d.begin; id < d.end; id++) {
            for (int64_t ih = h.begin; ih < h.end; ih++) {
                T *row = plane + (id * axis[1].in + ih) * w->in;

                MXL_IVDEP
                for (int64_t j = in.begin; j < in.end; j++)
                    row[begin + j] += column[j];
            }
        }
    }
}

MXL_INLINE void NAME(spread_position)(const pool_job *job, T *plane, int64_t od, int64_t oh,
                                      int64_t ow, int64_t n, const T *restrict dy)
{
    const mxl_window *axis = job->p->axis;
    pool_range d = pool_inside(&axis[0], od), h = pool_inside(&axis[1], oh),
               w = pool_inside(&axis[2], ow);
    int64_t count = pool_count_at(job->p, od, oh, ow);
    T share = (T)(count > 0 ? count : 1);

    for (int64_t id = d.begin; id < d.end; id++) {
        for (int64_t ih = h.begin; ih < h.end; ih++) {
            for (int64_t iw = w.begin; iw < w.end; iw++) {
                T *dx = plane + ((id * axis[1].in + ih) * axis[2].in + iw) * job->p->inner;

                MXL_IVDEP
                for (int64_t c = 0; c < n; c++)
                    dx[c] += dy[c] / share;
            }
        }
    }
}

/* ---- planes ---- */

/* Sets dx to zero for a block of the inner elements of a plane. */
static void NAME(clear)(const pool_job *job, T *plane, int64_t n)
{
    if (n == job->p->inner) {
        memset(plane, 0, (size_t)(job->in_plane * n) * sizeof(T));
        return;
    }
    for (int64_t i = 0; i < job->in_plane; i++)
        memset(plane + i * job->p->inner, 0, (size_t)n * sizeof(T));
}

/* One item is a block of inner elements of a plane, of which all windows are this thread's. */
MXL_INLINE void NAME(back_at)(int level, void *data, int64_t begin, int64_t end)
{
    const pool_job *job = data;
    const mxl_window *axis = job->p->axis;
    int64_t inner = job->p->inner, width = axis[2].out, height = axis[1].out;

    (void)level;
    for (int64_t i = begin; i < end; i++) {
        int64_t outer = i / job->blocks, channel = i % job->blocks * CHANNELS;
        int64_t n = pool_least(inner - channel, CHANNELS);
        T *dx = job->dx == NULL ? NULL : (T *)job->dx + outer * job->in_plane * inner + channel;

        if (job->pairs) {
            NAME(max_pairs)(job, (const T *)job->x + outer * job->in_plane,
                            (const T *)job->dy + outer * job->out_plane, dx);
            continue;
        }
        if (dx != NULL)
            NAME(clear)(job, dx, n);
        for (int64_t o = 0; o < axis[0].out * height; o++) {
            int64_t from = (outer * job->out_plane + o * width) * inner + channel;
            const T *dy = job->dy == NULL ? NULL : (const T *)job->dy + from;

            if (job->way == POOL_ROWS && job->kind == POOL_MAX)
                NAME(max_row)(job, outer, o / height, o % height, from);
            else if (job->way == POOL_ROWS)
                NAME(spread_row)(job, dx, o / height, o % height, dy);
            for (int64_t ow = 0; job->way != POOL_ROWS && ow < width; ow++) {
                if (job->kind == POOL_MAX)
                    NAME(max_position)(job, outer, o / height, o % height, ow, channel, n,
                                       from + ow * inner);
                else
                    NAME(spread_position)(job, dx, o / height, o % height, ow, n, dy + ow * inner);
            }
        }
    }
}
LEVELS(NAME(back), (void *data, int64_t begin, int64_t end), data, begin, end)

#undef NAME
#undef T
#undef P
#undef LEVELS
