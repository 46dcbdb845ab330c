/* A transform of one length over one floating type, and the jobs made of it; included by fft.c
 * behind fft_stages.tmpl.h. The inverse swaps real and imaginary parts, before and after. */

typedef struct NAME(stage) {
    int radix;
    int64_t m;
    const NAME(pair) *w, *circle;
} NAME(stage);

/* A length by its factors. */
typedef struct NAME(chain) {
    int count;
    NAME(stage) stages[MXL_FFT_STAGES];
} NAME(chain);

/* A length. It is one chain; or, of a single transform with `columns`, which is a matrix then, a
 * chain along its columns, roots, and a chain along its rows; or a convolution. */
typedef struct NAME(plan) {
    int64_t n, columns;
    NAME(chain) first, second;
    NAME(roots) turn, half;    /* half: of 2 n, for halves */
    struct NAME(plan) *padded; /* of a convolution, or NULL */
    const NAME(pair) *chirp, *spectrum;
    NAME(pair) *room; /* of all roots; owned */
    int64_t pairs, used;
} NAME(plan);

/* Two buffers of parts, between which stages go. */
typedef struct NAME(parts) {
    T *re[2], *im[2];
} NAME(parts);

/* ---- running ---- */

/* From the buffer `at`; returns the buffer of the result. */
static int NAME(run_chain)(const NAME(chain) *chain, const NAME(parts) *b, int at, int64_t lanes)
{
    for (int i = 0; i < chain->count; i++, at = !at) {
        const NAME(stage) *stage = &chain->stages[i];
        NAME(ends) e = {b->re[at], b->im[at], b->re[!at], b->im[!at]};

        switch (stage->radix) {
        case 2:
            NAME(stage2)(e, stage->m, lanes, stage->w);
            break;
        case 3:
            NAME(stage3)(e, stage->m, lanes, stage->w);
            break;
        case 4:
            NAME(stage4)(e, stage->m, lanes, stage->w);
            break;
        case 5:
            NAME(stage5)(e, stage->m, lanes, stage->w);
            break;
        default:
            NAME(odd)(stage->radix, e, stage->m, lanes, stage->w, stage->circle);
        }
        lanes *= stage->radix;
    }
    return at;
}

static int NAME(run_plain)(const NAME(plan) *plan, const NAME(parts) *b, int64_t lanes)
{
    int at = NAME(run_chain)(&plan->first, b, 0, plan->columns > 0 ? plan->columns : lanes);
    NAME(ends) e = {b->re[at], b->im[at], b->re[!at], b->im[!at]};

    if (plan->columns == 0)
        return at;
    NAME(turn)(e, plan->n / plan->columns, plan->columns, plan->turn);
    return NAME(run_chain)(&plan->second, b, !at, plan->n / plan->columns);
}

/* Bluestein: with b[j] = e^(-pi i j^2 / n), y[k] = b[k] times the convolution of x b with the
 * conjugate of b. */
static int NAME(run_padded)(const NAME(plan) *plan, const NAME(parts) *b)
{
    const int64_t size = plan->padded->n, n = plan->n;
    NAME(parts) back;
    int at;

    NAME(multiply)(b->re[0], b->im[0], plan->chirp, n);
    memset(b->re[0] + n, 0, (size_t)(size - n) * sizeof(T));
    memset(b->im[0] + n, 0, (size_t)(size - n) * sizeof(T));
    at = NAME(run_plain)(plan->padded, b, 1);
    NAME(multiply)(b->re[at], b->im[at], plan->spectrum, size);
    back = (NAME(parts)){{b->im[at], b->im[!at]}, {b->re[at], b->re[!at]}};
    if (NAME(run_plain)(plan->padded, &back, 1) != 0)
        at = !at;
    NAME(multiply)(b->re[at], b->im[at], plan->chirp, n);
    return at;
}

static int NAME(run)(const NAME(plan) *plan, const NAME(parts) *b, int64_t lanes)
{
    return plan->padded != NULL ? NAME(run_padded)(plan, b) : NAME(run_plain)(plan, b, lanes);
}

/* ---- planning ---- */

static NAME(pair) *NAME(take)(NAME(plan) *plan, int64_t pairs)
{
    NAME(pair) *room = plan->room + plan->used;

    plan->used += pairs;
    return room;
}

/* Roots step * i of n, for i < count, `apart` pairs from one to the next. */
static void NAME(put_roots)(NAME(pair) *w, int64_t apart, int64_t n, int64_t step, int64_t count)
{
    double k[CHUNK], cosines[CHUNK], sines[CHUNK];

    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t some = count - first < CHUNK ? count - first : CHUNK;

        for (int64_t i = 0; i < some; i++)
            k[i] = (double)((first + i) * step);
        mxl_fft_roots(n, some, k, cosines, sines);
        for (int64_t i = 0; i < some; i++)
            w[(first + i) * apart] = (NAME(pair)){(T)cosines[i], (T)sines[i]};
    }
}

/* e^(-pi i j^2 / n) for j < n. */
static void NAME(put_chirp)(NAME(pair) *w, int64_t n)
{
    double k[CHUNK], cosines[CHUNK], sines[CHUNK];
    int64_t square = 0;

    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t some = n - first < CHUNK ? n - first : CHUNK;

        for (int64_t i = 0; i < some; i++) {
            k[i] = (double)square;
            square += 2 * (first + i) + 1;
            while (square >= 2 * n)
                square -= 2 * n;
        }
        mxl_fft_roots(2 * n, some, k, cosines, sines);
        for (int64_t i = 0; i < some; i++)
            w[first + i] = (NAME(pair)){(T)cosines[i], (T)sines[i]};
    }
}

/* The roots w^(step k) of n, k < count, as products. Takes BLOCK + blocks_of(count) pairs. */
static void NAME(put_products)(NAME(pair) *coarse, NAME(pair) *fine, int64_t n, int64_t step,
                               int64_t count)
{
    NAME(put_roots)(coarse, 1, n, step * BLOCK, blocks_of(count));
    NAME(put_roots)(fine, 1, n, step, count < BLOCK ? count : BLOCK);
}

/* Takes at most 2 n pairs. */
static void NAME(make_chain)(NAME(plan) *plan, NAME(chain) *chain, int64_t n)
{
    int factors[MXL_FFT_STAGES];
    int64_t left = n;

    chain->count = mxl_fft_factors(n, factors);
    for (int i = 0; i < chain->count; i++) {
        const int radix = factors[i];
        const int64_t m = left / radix;
        NAME(pair) *w = NAME(take)(plan, (radix - 1) * m), *circle = NULL;

        for (int k = 1; k < radix; k++)
            NAME(put_roots)(w + k - 1, radix - 1, left, k, m);
        if (radix > 5) {
            circle = NAME(take)(plan, radix);
            NAME(put_roots)(circle, 1, radix, 1, radix);
        }
        chain->stages[i] = (NAME(stage)){radix, m, w, circle};
        left = m;
    }
}

static void NAME(free_plan)(NAME(plan) *plan)
{
    if (plan == NULL)
        return;
    NAME(free_plan)(plan->padded);
    mxl_free(plan->room, (size_t)plan->pairs * sizeof(*plan->room));
    mxl_free(plan, sizeof(*plan));
}

/* With room for so many pairs, n of them for halves; NULL with the error set. */
static NAME(plan) *NAME(new_plan)(int64_t n, int64_t pairs)
{
    NAME(plan) *plan = mxl_alloc_zero(sizeof(*plan));

    if (plan == NULL)
        return NULL;
    plan->n = n;
    pairs += blocks_of(n) + BLOCK;
    plan->pairs = pairs;
    plan->room = mxl_alloc((size_t)pairs * sizeof(*plan->room));
    if (plan->room != NULL)
        return plan;
    mxl_free(plan, sizeof(*plan));
    return NULL;
}

/* By factors, for lanes side by side, or for one. */
static NAME(plan) *NAME(plan_plain)(int64_t n, bool one)
{
    const int64_t columns = one ? mxl_fft_columns(n) : 0, rows = columns > 0 ? n / columns : n;
    const int64_t blocks = blocks_of(rows);
    NAME(plan) *plan = NAME(new_plan)(n, 2 * (rows + columns) + columns * (blocks + BLOCK));
    NAME(pair) *coarse, *fine;

    if (plan == NULL)
        return NULL;
    plan->columns = columns;
    NAME(make_chain)(plan, &plan->first, rows);
    if (columns == 0)
        return plan;
    NAME(make_chain)(plan, &plan->second, columns);
    coarse = NAME(take)(plan, columns * blocks);
    fine = NAME(take)(plan, columns * BLOCK);
    for (int64_t j = 0; j < columns; j++)
        NAME(put_products)(coarse + j * blocks, fine + j * BLOCK, n, j, rows);
    plan->turn = (NAME(roots)){coarse, fine};
    return plan;
}

/* The transform of the conjugate chirp, which the convolution multiplies with; -1 with the error
 * set. */
static int NAME(make_spectrum)(NAME(plan) *plan, NAME(pair) *spectrum)
{
    const int64_t size = plan->padded->n, n = plan->n;
    T *room = mxl_alloc_zero((size_t)(4 * size) * sizeof(T));
    NAME(parts) b = {{room, room + size}, {room + 2 * size, room + 3 * size}};
    int at;

    if (room == NULL)
        return -1;
    for (int64_t j = 0; j < n; j++) {
        const int64_t mirror = j == 0 ? 0 : size - j;

        b.re[0][j] = b.re[0][mirror] = plan->chirp[j].re;
        b.im[0][j] = b.im[0][mirror] = -plan->chirp[j].im;
    }
    at = NAME(run_plain)(plan->padded, &b, 1);
    for (int64_t j = 0; j < size; j++)
        spectrum[j] = (NAME(pair)){b.re[at][j] / (T)size, b.im[at][j] / (T)size};
    mxl_free(room, (size_t)(4 * size) * sizeof(T));
    return 0;
}

/* As a convolution; NULL with the error set. */
static NAME(plan) *NAME(plan_padded)(int64_t n)
{
    const int64_t size = mxl_fft_padded(n);
    NAME(plan) *plan = NAME(new_plan)(n, n + size);
    NAME(pair) *chirp, *spectrum;

    if (plan == NULL)
        return NULL;
    plan->chirp = chirp = NAME(take)(plan, n);
    plan->spectrum = spectrum = NAME(take)(plan, size);
    NAME(put_chirp)(chirp, n);
    plan->padded = NAME(plan_plain)(size, true);
    if (plan->padded != NULL && NAME(make_spectrum)(plan, spectrum) == 0)
        return plan;
    NAME(free_plan)(plan);
    return NULL;
}

/* For halves, too; NULL with the error set. */
static void *NAME(make_plan)(int64_t n, bool one)
{
    NAME(plan) *plan = mxl_fft_convolves(n) ? NAME(plan_padded)(n) : NAME(plan_plain)(n, one);
    NAME(pair) *coarse, *fine;

    if (plan == NULL)
        return NULL;
    coarse = NAME(take)(plan, blocks_of(n));
    fine = NAME(take)(plan, BLOCK);
    NAME(put_products)(coarse, fine, 2 * n, 1, n);
    plan->half = (NAME(roots)){coarse, fine};
    return plan;
}

/* ---- odd n: all pairs, of which half are conjugates ---- */

/* All n pairs from n / 2 + 1. */
static void NAME(to_whole)(const NAME(ends) *e, int64_t n, int64_t lanes, T middle, T sign)
{
    for (int64_t k = 0; k < n; k++) {
        const bool near = k <= n / 2;
        const int64_t from = (near ? k : n - k) * lanes, to = k * lanes;
        const T f = k == 0 ? 1 : (T)0.5 * middle, i = near ? sign * f : -sign * f;

        for (int64_t q = 0; q < lanes; q++) {
            e->yr[to + q] = e->xr[from + q] * f;
            e->yi[to + q] = k == 0 ? 0 : e->xi[from + q] * i;
        }
    }
}

static void NAME(from_whole)(T *re, T *im, int64_t n, int64_t lanes, T middle, T sign)
{
    for (int64_t k = 0; k <= n / 2; k++) {
        for (int64_t q = k * lanes; q < (k + 1) * lanes; q++) {
            re[q] *= k == 0 ? 1 : middle;
            im[q] = k == 0 ? 0 : im[q] * middle * sign;
        }
    }
}

/* ---- jobs ---- */

static void NAME(swap)(NAME(parts) *b)
{
    NAME(parts) was = *b;

    memcpy(b->re, was.im, sizeof(b->re));
    memcpy(b->im, was.re, sizeof(b->im));
}

/* Where lanes begin and how they lie: `width` is 2 for pairs, `numbers` along the axis. A row alone
 * is a row of lanes. */
static NAME(layout)
    NAME(layout_of)(const work *w, int64_t numbers, int width, bool halves, int64_t lanes)
{
    const int64_t inner = w->across ? 1 : w->job->inner;
    const int64_t next = w->across ? (int64_t)width * w->length[width - 1] : width;
    NAME(layout)
    a = {numbers, lanes, inner * width, next, width == 2 ? 1 : 0};

    if (halves) {
        a.other = inner;
        a.row = 2 * inner;
    }
    if (lanes == 1)
        a = (NAME(layout)){1, numbers, 0, a.row, a.other};
    return a;
}

/* The lanes `lane` and on of one outer position. */
static void NAME(run_lanes)(const work *w, int64_t outer, int64_t lane, int64_t lanes,
                            NAME(parts) b)
{
    const mxl_fft_job *job = w->job;
    const NAME(plan) *plan = w->plan;
    const bool from = job->kind == MXL_FFT_FROM_REAL, to = job->kind == MXL_FFT_TO_REAL;
    const int64_t n = job->n, half = n / 2;
    const T middle = (T)job->middle, sign = from == job->inverse ? -1 : 1;
    const NAME(half) h = {half, lanes, plan->half, middle, sign};
    const T *x = (const T *)job->in + start_of(w, outer, lane, from ? 1 : 2);
    T *y = (T *)job->out + start_of(w, outer, lane, to ? 1 : 2);
    int at = 0;

    NAME(load)(b.re[0], b.im[0], x,
               NAME(layout_of)(w,
                               from ? (w->halves ? half : n)
                               : to ? half + 1
                                    : n,
                               from ? 1 : 2, from && w->halves, lanes));
    if (to) {
        NAME(ends) e = {b.re[0], b.im[0], b.re[1], b.im[1]};

        if (w->halves)
            NAME(to_half)(e, h);
        else
            NAME(to_whole)(&e, n, lanes, middle, sign);
        b = (NAME(parts)){{b.re[1], b.re[0]}, {b.im[1], b.im[0]}};
    }
    if (to || (!from && job->inverse))
        NAME(swap)(&b);
    at = NAME(run)(plan, &b, lanes);
    if (to || (!from && job->inverse))
        NAME(swap)(&b);
    if (from && w->halves) {
        NAME(ends) e = {b.re[at], b.im[at], b.re[!at], b.im[!at]};

        NAME(from_half)(e, h);
        at = !at;
    } else if (from) {
        NAME(from_whole)(b.re[at], b.im[at], n, lanes, middle, sign);
    }
    NAME(store)(b.re[at], b.im[at], y,
                NAME(layout_of)(w,
                                to     ? (w->halves ? half : n)
                                : from ? half + 1
                                       : n,
                                to ? 1 : 2, to && w->halves, lanes),
                (T)job->scale);
}

/* One item of the range is a worker, with a room of its own and a share of the units. */
static void NAME(range)(void *data, int64_t begin, int64_t end)
{
    const work *w = data;

    for (int64_t worker = begin; worker < end; worker++) {
        T *room = (T *)w->room + worker * 4 * w->size;
        NAME(parts)
        b = {{room, room + w->size}, {room + 2 * w->size, room + 3 * w->size}};
        int64_t last = w->units * (worker + 1) / w->workers;

        for (int64_t unit = w->units * worker / w->workers; unit < last; unit++) {
            int64_t lane = unit % w->groups * w->lanes, left = w->across_lanes - lane;

            NAME(run_lanes)(w, unit / w->groups, lane, left < w->lanes ? left : w->lanes, b);
        }
    }
}

static void NAME(drop_plan)(void *plan)
{
    NAME(free_plan)(plan);
}
