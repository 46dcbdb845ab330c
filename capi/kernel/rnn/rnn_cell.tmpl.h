/* A row of a step over one floating type; included by rnn_cell.c with T, the element, NAME(x)
 * and LEVELS (of kernel/target.h).
 * Gates are in parts of `n` units. */

/* ---- forward ---- */

static void NAME(clamp)(const mxl_rnn *r, T *c)
{
    T low = (T)r->clip_min, high = (T)r->clip_max;

    for (int64_t j = 0; j < r->hidden; j++) {
        T least = c[j] > high ? high : c[j];

        c[j] = least < low || (r->clips_nan && least != least) ? low : least;
    }
}

/* c = f * c_before + i * g */
MXL_INLINE void NAME(lstm_cell_at)(int level, int64_t n, T *a, const T *c_before, T *c)
{
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T i = mxl_loop_sigmoid(a[j]), f = mxl_loop_sigmoid(a[n + j]);
        T g = mxl_loop_tanh(a[2 * n + j]);

        a[j] = i;
        a[n + j] = f;
        a[2 * n + j] = g;
        c[j] = f * c_before[j] + i * g;
    }
}
LEVELS(NAME(lstm_cell), (int64_t n, T *a, const T *c_before, T *c), n, a, c_before, c)

/* h = o * tanh(c) */
MXL_INLINE void NAME(lstm_state_at)(int level, int64_t n, T *o, const T *c, T *h)
{
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        o[j] = mxl_loop_sigmoid(o[j]);
        h[j] = o[j] * mxl_loop_tanh(c[j]);
    }
}
LEVELS(NAME(lstm_state), (int64_t n, T *o, const T *c, T *h), n, o, c, h)

static void NAME(lstm)(const mxl_rnn *r, T *a, const T *c_before, T *c, T *h)
{
    NAME(lstm_cell)(r->hidden, a, c_before, c);
    if (r->clips)
        NAME(clamp)(r, c);
    NAME(lstm_state)(r->hidden, a + 3 * r->hidden, c, h);
}
/* n = tanh(its input's share + r * its state's share); h = (1 - z) n + z h_before */
MXL_INLINE void NAME(gru_at)(int level, int64_t n, T *a, const T *s, const T *before, T *h)
{
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T reset = mxl_loop_sigmoid(a[j] + s[j]), z = mxl_loop_sigmoid(a[n + j] + s[n + j]);
        T share = s[2 * n + j], now = mxl_loop_tanh(a[2 * n + j] + reset * share);

        a[j] = reset;
        a[n + j] = z;
        a[2 * n + j] = now;
        a[3 * n + j] = share;
        h[j] = (1 - z) * now + z * before[j];
    }
}
LEVELS(NAME(gru), (int64_t n, T *a, const T *s, const T *before, T *h), n, a, s, before, h)

MXL_INLINE void NAME(plain_at)(int level, bool relu, int64_t n, T *a, T *h)
{
    if (relu) {
        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            h[j] = a[j] = a[j] < 0 ? 0 : a[j];
    } else {
        MXL_IVDEP
        for (int64_t j = 0; j < n; j++)
            h[j] = a[j] = mxl_loop_tanh(a[j]);
    }
}
LEVELS(NAME(plain), (bool relu, int64_t n, T *a, T *h), relu, n, a, h)

/* A row that has ended keeps its states, and its gates are 0 for the backward. */
static void NAME(skip)(const mxl_rnn_step *step, int64_t b, T *h)
{
    const mxl_rnn *r = step->layer;
    int64_t n = r->hidden, kept = mxl_rnn_kept(r->mode) * n;

    memset((T *)step->kept + b * kept, 0, (size_t)kept * sizeof(T));
    if (r->mode == MXL_RNN_LSTM)
        memcpy((T *)step->cell_after + b * n, (const T *)step->cell_before + b * n,
               (size_t)n * sizeof(T));
    if (step->wide != NULL)
        memset(h, 0, (size_t)n * sizeof(T));
    else
        memcpy(h, (const T *)step->before + b * n, (size_t)n * sizeof(T));
}

/* y of one row: the state, or zeros behind the row's end. */
static void NAME(show)(const mxl_rnn_step *step, int64_t b)
{
    const mxl_rnn *r = step->layer;
    T *y = (T *)step->y + b * r->y_row;

    if (is_active(r, step->t, b))
        memcpy(y, (const T *)step->after + b * r->out, (size_t)r->out * sizeof(T));
    else
        memset(y, 0, (size_t)r->out * sizeof(T));
}

/* One item of a range is a row of the batch. */
static void NAME(forward_rows)(void *data, int64_t begin, int64_t end)
{
    const mxl_rnn_step *step = data;
    const mxl_rnn *r = step->layer;
    int64_t n = r->hidden, kept = mxl_rnn_kept(r->mode) * n;

    for (int64_t b = begin; b < end; b++) {
        T *a = (T *)step->kept + b * kept;
        T *h = (T *)(step->wide != NULL ? step->wide : step->after) + b * n;

        if (!is_active(r, step->t, b))
            NAME(skip)(step, b, h);
        else if (r->mode == MXL_RNN_LSTM)
            NAME(lstm)(r, a, (const T *)step->cell_before + b * n, (T *)step->cell_after + b * n,
                       h);
        else if (r->mode == MXL_RNN_GRU)
            NAME(gru)(n, a, (const T *)step->from_state + b * 3 * n,
                      (const T *)step->before + b * n, h);
        else
            NAME(plain)(r->mode == MXL_RNN_RELU, n, a, h);
        if (step->wide == NULL)
            NAME(show)(step, b);
    }
}

static void NAME(put_rows)(void *data, int64_t begin, int64_t end)
{
    const mxl_rnn_step *step = data;
    const mxl_rnn *r = step->layer;

    for (int64_t b = begin; b < end; b++) {
        if (!is_active(r, step->t, b))
            memcpy((T *)step->after + b * r->out, (const T *)step->before + b * r->out,
                   (size_t)r->out * sizeof(T));
        NAME(show)(step, b);
    }
}

/* ---- backward ---- */

/* With the gradient h of the state: do = h tanh(c), and dc += h o (1 - tanh(c)^2) gives those of
 * the other gates. Where the cell was clamped, dc is 0. */
MXL_INLINE void NAME(lstm_back_loop)(int level, bool clips, const mxl_rnn *r, const T *a,
                                     const T *c_before, const T *c, const T *h, T *dc, T *d)
{
    T low = (T)r->clip_min, high = (T)r->clip_max;
    int64_t n = r->hidden;

    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T i = a[j], f = a[n + j], g = a[2 * n + j], o = a[3 * n + j];
        T was = c_before[j], now = mxl_loop_tanh(c[j]), sum = f * was + i * g;
        T all = dc[j] + h[j] * o * (1 - now * now);

        if (clips)
            all = sum >= low && sum <= high ? all : 0;
        d[j] = all * g * i * (1 - i);
        d[n + j] = all * was * f * (1 - f);
        d[2 * n + j] = all * i * (1 - g * g);
        d[3 * n + j] = h[j] * now * o * (1 - o);
        dc[j] = all * f;
    }
}

MXL_INLINE void NAME(lstm_back_at)(int level, const mxl_rnn *r, const T *a, const T *c_before,
                                   const T *c, const T *h, T *dc, T *d)
{
    if (r->clips)
        NAME(lstm_back_loop)(level, true, r, a, c_before, c, h, dc, d);
    else
        NAME(lstm_back_loop)(level, false, r, a, c_before, c, h, dc, d);
}
LEVELS(NAME(lstm_back),
       (const mxl_rnn *r, const T *a, const T *c_before, const T *c, const T *h, T *dc, T *d), r, a,
       c_before, c, h, dc, d)

/* dn = dh (1 - z), dz = dh (h_before - n), dr = dn' share, and the state's share of n gets dn' r;
 * h becomes dh z. */
MXL_INLINE void NAME(gru_back_at)(int level, int64_t n, const T *a, const T *before, T *h, T *d,
                                  T *s)
{
    (void)level;
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T reset = a[j], z = a[n + j], now = a[2 * n + j], share = a[3 * n + j], dh = h[j];
        T dn = dh * (1 - z) * (1 - now * now), dz = dh * (before[j] - now) * z * (1 - z);
        T dr = dn * share * reset * (1 - reset);

        d[j] = s[j] = dr;
        d[n + j] = s[n + j] = dz;
        d[2 * n + j] = dn;
        s[2 * n + j] = dn * reset;
        h[j] = dh * z;
    }
}
LEVELS(NAME(gru_back), (int64_t n, const T *a, const T *before, T *h, T *d, T *s), n, a, before, h,
       d, s)

MXL_INLINE void NAME(plain_back_at)(int level, bool relu, int64_t n, const T *a, const T *h, T *d)
{
    (void)level;
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++)
        d[j] = relu ? (a[j] > 0 ? h[j] : a[j] != a[j] ? a[j] : 0) : h[j] * (1 - a[j] * a[j]);
}
LEVELS(NAME(plain_back), (bool relu, int64_t n, const T *a, const T *h, T *d), relu, n, a, h, d)

/* One item of a range is a row of the batch. */
static void NAME(arrive_rows)(void *data, int64_t begin, int64_t end)
{
    const mxl_rnn_step *step = data;
    const mxl_rnn *r = step->layer;
    int64_t n = r->out;

    for (int64_t b = begin; b < end; b++) {
        const T *dy = step->dy == NULL ? NULL : (const T *)step->dy + b * r->y_row;
        T *dh = (T *)step->dh + b * n, *all = (T *)step->arrived + b * n;

        if (!is_active(r, step->t, b)) {
            memset(all, 0, (size_t)n * sizeof(T));
            continue;
        }
        for (int64_t j = 0; j < n; j++) {
            all[j] = dy == NULL ? dh[j] : dh[j] + dy[j];
            dh[j] = 0;
        }
    }
}

/* The gates' gradients of one row from that of its state, h, which becomes what flows past the
 * product with the state. */
static void NAME(row_back)(const mxl_rnn_step *step, int64_t b, T *h)
{
    const mxl_rnn *r = step->layer;
    int64_t n = r->hidden, gates = mxl_rnn_gates(r->mode) * n;
    const T *a = (const T *)step->kept + b * mxl_rnn_kept(r->mode) * n;
    T *d = (T *)step->dgates + b * gates;

    if (r->mode == MXL_RNN_GRU) {
        NAME(gru_back)(n, a, (const T *)step->before + b * n, h, d, (T *)step->dstate + b * gates);
        return;
    }
    if (r->mode == MXL_RNN_LSTM)
        NAME(lstm_back)(r, a, (const T *)step->cell_before + b * n,
                        (const T *)step->cell_after + b * n, h, (T *)step->dcell + b * n, d);
    else
        NAME(plain_back)(r->mode == MXL_RNN_RELU, n, a, h, d);
    if (step->dwide == NULL)
        memset(h, 0, (size_t)n * sizeof(T));
}

static void NAME(backward_rows)(void *data, int64_t begin, int64_t end)
{
    const mxl_rnn_step *step = data;
    const mxl_rnn *r = step->layer;
    int64_t n = r->hidden, gates = mxl_rnn_gates(r->mode) * n;

    for (int64_t b = begin; b < end; b++) {
        T *h = (T *)(step->dwide != NULL ? (void *)(uintptr_t)step->dwide : step->dh) + b * n;

        if (!is_active(r, step->t, b)) {
            memset((T *)step->dgates + b * gates, 0, (size_t)gates * sizeof(T));
            if (r->mode == MXL_RNN_GRU)
                memset((T *)step->dstate + b * gates, 0, (size_t)gates * sizeof(T));
            continue;
        }
        for (int64_t j = 0; step->dwide == NULL && step->dy != NULL && j < n; j++)
            h[j] += ((const T *)step->dy)[b * r->y_row + j];
        NAME(row_back)(step, b, h);
    }
}
