/* CTC over one floating type; included by ctc.c with T, the element, and NAME(x). */

/* out[s] = log(e^a + e^b + e^(c + bar)) + e, where a, b and c are the values at s and one and two
 * steps of `way` beside it; bar is 0 or MXL_CTC_NEVER. */
MXL_INLINE void NAME(advance_at)(int level, int64_t n, T *out, const T *from, int64_t way,
                                 const T *bar, const T *e)
{
    const T never = (T)MXL_CTC_NEVER;

    MXL_IVDEP
    for (int64_t s = 0; s < n; s++) {
        T a = from[s], b = from[s + way], c = from[s + 2 * way] + bar[s];
        T top = a > b ? a : b, sum;

        top = c > top ? c : top;
        top = top > never ? top : never;
        sum = mxl_loop_exp(a - top) + mxl_loop_exp(b - top) + mxl_loop_exp(c - top);
        out[s] = top + mxl_loop_log(sum) + e[s];
    }
}
MXL_FROM_AVX2(NAME(advance),
              (int64_t n, T *out, const T *from, int64_t way, const T *bar, const T *e), n, out,
              from, way, bar, e)

/* gamma[s] = e^(a[s] + b[s] - total) */
MXL_INLINE void NAME(share_at)(int level, int64_t n, T *out, const T *a, const T *b, T total)
{
    MXL_IVDEP
    for (int64_t s = 0; s < n; s++)
        out[s] = mxl_loop_exp(a[s] + b[s] - total);
}
MXL_FROM_AVX2(NAME(share), (int64_t n, T *out, const T *a, const T *b, T total), n, out, a, b,
              total)

static void NAME(fill)(T *row, int64_t n, T value)
{
    for (int64_t s = 0; s < n; s++)
        row[s] = value;
}

/* The rows of scratch memory of one row of the batch, each with room for two positions on either
 * side. */
typedef struct NAME(rows) {
    T *emit, *bar, *bar_back, *beta, *next, *gamma, *alpha;
    int64_t row; /* elements of a row */
} NAME(rows);

static NAME(rows) NAME(rows_of)(const ctc_job *job, int64_t b)
{
    int64_t row = job->path->width + 4;
    T *at = (T *)job->room + b * (FIXED_ROWS + job->kept) * row + 2;

    return (NAME(rows)){at,           at + row,     at + 2 * row, at + 3 * row,
                        at + 4 * row, at + 5 * row, at + 6 * row, row};
}

static void NAME(emit)(const ctc_job *job, int64_t b, int64_t t, int64_t n, T *e)
{
    const T *logs = (const T *)job->logs + (t * job->batch + b) * job->classes;
    const int64_t *classes = job->path->classes + b * job->path->width;

    for (int64_t s = 0; s < n; s++)
        e[s] = logs[classes[s]];
}

/* All steps from the left; alpha rows of all steps are kept for the gradient, else two take turns.
 * Returns the logarithm of the probability. */
static T NAME(forward)(const ctc_job *job, int64_t b, const NAME(rows) *r, int64_t n)
{
    int64_t steps = job->path->steps[b];
    T *a = r->alpha, top, last, other;

    NAME(fill)(a - 2, r->row, (T)MXL_CTC_NEVER);
    NAME(emit)(job, b, 0, n, r->emit);
    a[0] = r->emit[0];
    if (n > 1)
        a[1] = r->emit[1];
    for (int64_t t = 1; t < steps; t++) {
        T *before = a;

        a = r->alpha + t % job->kept * r->row;
        NAME(fill)(a - 2, r->row, (T)MXL_CTC_NEVER);
        NAME(emit)(job, b, t, n, r->emit);
        NAME(advance)(n, a, before, -1, r->bar, r->emit);
    }
    last = a[n - 1];
    other = n > 1 ? a[n - 2] : (T)MXL_CTC_NEVER;
    top = last > other ? last : other;
    return top + (T)log((double)exp(last - top) + (double)exp(other - top));
}

/* Subtracts a step's shares of the paths through each class from the gradient. */
static void NAME(subtract)(const ctc_job *job, int64_t b, int64_t t, int64_t n, const T *gamma)
{
    const int64_t *classes = job->path->classes + b * job->path->width;
    T *grad = (T *)job->grad + (t * job->batch + b) * job->classes;

    for (int64_t s = 0; s < n; s++)
        grad[classes[s]] -= gamma[s];
}

/* All steps from the right: beta is that of the paths behind a step. */
static void NAME(backward)(const ctc_job *job, int64_t b, const NAME(rows) *r, int64_t n, T total)
{
    T *beta = r->beta, *next = r->next;
    int64_t steps = job->path->steps[b];

    NAME(fill)(beta - 2, r->row, (T)MXL_CTC_NEVER);
    NAME(fill)(next - 2, r->row, (T)MXL_CTC_NEVER);
    beta[n - 1] = 0;
    if (n > 1)
        beta[n - 2] = 0;
    for (int64_t t = steps - 1; t >= 0; t--) {
        NAME(share)(n, r->gamma, r->alpha + t * r->row, beta, total);
        NAME(subtract)(job, b, t, n, r->gamma);
        NAME(emit)(job, b, t, n, r->emit);
        for (int64_t s = 0; s < n; s++)
            next[s] = beta[s] + r->emit[s];
        NAME(fill)(r->emit, n, 0);
        NAME(advance)(n, beta, next, 1, r->bar_back, r->emit);
    }
}

/* One item of a range is a row of the batch. */
static void NAME(chunk)(void *data, int64_t begin, int64_t end)
{
    const ctc_job *job = data;
    const mxl_ctc_path *path = job->path;

    for (int64_t b = begin; b < end; b++) {
        const uint8_t *skip = path->skip + b * path->width;
        int64_t n = path->count[b];
        NAME(rows) r = NAME(rows_of)(job, b);
        T total;

        ((T *)job->loss)[b] = n == MXL_CTC_INFINITE ? (T)INFINITY : 0;
        if (n <= 0 || path->steps[b] == 0)
            continue;
        for (int64_t s = 0; s < n; s++) {
            r.bar[s] = skip[s] ? 0 : (T)MXL_CTC_NEVER;
            r.bar_back[s] = s + 2 < n && skip[s + 2] ? 0 : (T)MXL_CTC_NEVER;
        }
        total = NAME(forward)(job, b, &r, n);
        ((T *)job->loss)[b] = 0 - total; /* 0, not -0 */
        if (job->grad != NULL)
            NAME(backward)(job, b, &r, n, total);
    }
}
