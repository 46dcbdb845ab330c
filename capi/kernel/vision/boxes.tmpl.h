/* Loops over boxes of one dtype; included by boxes.c with NAME(x), T (the number), MASK (an integer
 * of its size) and DTYPE defined. */

static inline T NAME(length)(T from, T to)
{
    T length = to - from;

    return length < 0 ? 0 : length;
}

/* The lists of sides and areas of boxes that lie one after another. */
static void NAME(spread)(mxl_box_format format, int64_t n, const void *boxes, void *lists)
{
    const T *b = boxes;
    T *list = lists;

    for (int64_t i = 0; i < n; i++, b += 4) {
        bool center = format == MXL_BOX_CENTER;
        T left = center ? b[0] - b[2] / 2 : b[0], right = center ? b[0] + b[2] / 2 : b[2];
        T top = center ? b[1] - b[3] / 2 : b[1], bottom = center ? b[1] + b[3] / 2 : b[3];

        list[i] = left;
        list[n + i] = top;
        list[2 * n + i] = right;
        list[3 * n + i] = bottom;
        list[4 * n + i] = NAME(length)(left, right) * NAME(length)(top, bottom);
    }
}

/* A row of overlaps: of one box with n boxes. */
MXL_INLINE void NAME(overlap_row_at)(int level, const T *box, const T *list, int64_t n, T *out)
{
    const T *left = list, *top = list + n, *right = list + 2 * n, *bottom = list + 3 * n;
    const T *area = list + 4 * n;

    (void)level;
    MXL_IVDEP
    for (int64_t j = 0; j < n; j++) {
        T width = (box[2] < right[j] ? box[2] : right[j]) - (box[0] > left[j] ? box[0] : left[j]);
        T height = (box[3] < bottom[j] ? box[3] : bottom[j]) - (box[1] > top[j] ? box[1] : top[j]);
        T shared = (width < 0 ? 0 : width) * (height < 0 ? 0 : height);
        T covered = box[4] + area[j] - shared;

        out[j] = covered <= 0 ? 0 : shared / covered;
    }
}
MXL_FROM_AVX2(NAME(overlap_row), (const T *box, const T *list, int64_t n, T *out), box, list, n,
              out)

static void NAME(overlap_rows)(void *data, int64_t begin, int64_t end)
{
    const overlap_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        T box[5];

        NAME(spread)(job->format, 1, (const T *)job->a + 4 * i, box);
        NAME(overlap_row)(box, job->list, job->columns, (T *)job->out + i * job->columns);
    }
}

/* Marks the candidates [begin, end) that box i beats. The overlap of two boxes without an area is
 * not a number, and beats nothing. */
MXL_INLINE void NAME(strike_at)(int level, const mxl_candidates *c, const mxl_contest *contest,
                                int64_t i, int64_t begin, int64_t end)
{
    const T *left = c->side[0], *top = c->side[1], *right = c->side[2], *bottom = c->side[3];
    const T *area = c->area, *kind = c->kind != NULL ? c->kind : c->area;
    T x = left[i], y = top[i], to_x = right[i], to_y = bottom[i], own = area[i], same = kind[i];
    T threshold = (T)contest->threshold, extra = (T)contest->extra;
    MASK *lost = c->lost, all = c->kind == NULL, equal = contest->inclusive;

    (void)level;
    MXL_IVDEP
    for (int64_t j = begin; j < end; j++) {
        T width = (to_x < right[j] ? to_x : right[j]) - (x > left[j] ? x : left[j]) + extra;
        T height = (to_y < bottom[j] ? to_y : bottom[j]) - (y > top[j] ? y : top[j]) + extra;
        T shared = (width < 0 ? 0 : width) * (height < 0 ? 0 : height);
        T overlap = shared / (own + area[j] - shared);
        MASK beats = (overlap > threshold) | (equal & (overlap == threshold));

        lost[j] |= beats & (all | (kind[j] == same));
    }
}
MXL_FROM_AVX2(NAME(strike),
              (const mxl_candidates *c, const mxl_contest *contest, int64_t i, int64_t begin,
               int64_t end),
              c, contest, i, begin, end)

static void NAME(strike_rest)(void *data, int64_t begin, int64_t end)
{
    const strike_job *job = data;

    for (int64_t i = 0; i < job->num_winners; i++)
        NAME(strike)(job->list, job->contest, job->winners[i], job->begin + begin,
                     job->begin + end);
}

/* Moves candidate `from` to an earlier place, as one that is not lost. */
static void NAME(move)(mxl_candidates *c, int64_t from, int64_t to)
{
    c->at[to] = c->at[from];
    for (int k = 0; k < 4; k++)
        ((T *)c->side[k])[to] = ((T *)c->side[k])[from];
    ((T *)c->area)[to] = ((T *)c->area)[from];
    if (c->kind != NULL)
        ((T *)c->kind)[to] = ((T *)c->kind)[from];
    ((MASK *)c->lost)[to] = 0;
}

/* A block of the best candidates is decided one by one; then its winners strike the rest, which
 * closes ranks. */
static int64_t NAME(keep)(mxl_candidates *c, const mxl_contest *contest)
{
    T *area = c->area, **side = (T **)c->side, extra = (T)contest->extra;
    MASK *lost = c->lost;
    int64_t kept = 0, winners[BLOCK];

    for (int64_t i = 0; i < c->count; i++) {
        area[i] = NAME(length)(side[0][i], side[2][i] + extra) *
                  NAME(length)(side[1][i], side[3][i] + extra);
        lost[i] = 0;
    }
    while (kept < c->count) {
        int64_t end = c->count - kept < BLOCK ? c->count : kept + BLOCK, begin = kept, to;
        strike_job job = {.list = c, .contest = contest, .winners = winners, .begin = end};

        for (int64_t i = begin; i < end; i++) {
            if (lost[i])
                continue;
            winners[job.num_winners++] = i;
            NAME(strike)(c, contest, i, i + 1, end);
        }
        mxl_parallel_fine(c->count - end, UNIT, GRAIN, NAME(strike_rest), &job);
        kept += job.num_winners;
        to = begin;
        for (int64_t i = begin; i < c->count; i++) {
            if (!lost[i])
                NAME(move)(c, i, to++);
        }
        c->count = to;
    }
    return kept;
}

/* The scores, where rows that do not compete have that of the worst. */
static void NAME(take_scores)(const mxl_nms_job *job, void *scores)
{
    const T *row = job->in;
    T *score = scores;

    for (int64_t i = 0; i < job->batch * job->rows; i++, row += job->width) {
        bool valid = row[job->score] > (T)job->valid &&
                     (job->kind < 0 || row[job->kind] != (T)job->background);

        score[i] = valid ? row[job->score] : -(T)INFINITY;
    }
}

/* The candidates of one batch, in the order of their scores. */
static void NAME(enlist)(const mxl_nms_job *job, const T *scores, const T *rows,
                         const int64_t *order, mxl_candidates *c)
{
    bool kinds = job->kind >= 0 && !job->across_kinds;
    int64_t n = 0;

    while (n < job->most && scores[order[n]] > -(T)INFINITY)
        n++;
    c->count = n;
    for (int64_t i = 0; i < n; i++) {
        const T *row = rows + order[i] * job->width;
        T box[5];

        NAME(spread)(job->from, 1, row + job->coord, box);
        c->at[i] = order[i];
        for (int k = 0; k < 4; k++)
            ((T *)c->side[k])[i] = box[k];
        if (kinds) /* kinds are whole numbers; as such all NaN are the same one */
            ((T *)c->kind)[i] =
                isnan(row[job->kind]) ? -(T)INFINITY : (T)trunc((double)row[job->kind]);
    }
}

/* Rewrites a box in the other format. */
static void NAME(reformat)(T *box, mxl_box_format to)
{
    T a = box[0], b = box[1], c = box[2], d = box[3];

    if (to == MXL_BOX_CORNER) {
        box[0] = a - c / 2;
        box[1] = b - d / 2;
        box[2] = a + c / 2;
        box[3] = b + d / 2;
    } else {
        box[0] = (a + c) / 2;
        box[1] = (b + d) / 2;
        box[2] = c - a;
        box[3] = d - b;
    }
}

static void NAME(suppress)(void *data, int64_t begin, int64_t end)
{
    const nms_run *run = data;
    const mxl_nms_job *job = run->job;
    const mxl_contest contest = {.threshold = job->threshold};

    for (int64_t b = begin; b < end; b++) {
        const T *in = (const T *)job->in + b * job->rows * job->width;
        T *out = (T *)job->out + b * job->rows * job->width;
        int64_t *origin = job->origin + b * job->rows, kept;
        mxl_candidates list;

        mxl_candidates_place(&list, DTYPE, job->most, job->kind >= 0 && !job->across_kinds,
                             run->room + (size_t)b * run->bytes);
        NAME(enlist)(job, (const T *)run->scores + b * job->rows, in, run->order + b * job->most,
                     &list);
        kept = NAME(keep)(&list, &contest);
        for (int64_t i = 0; i < kept; i++, out += job->width) {
            memcpy(out, in + list.at[i] * job->width, (size_t)job->width * sizeof(T));
            if (job->from != job->to)
                NAME(reformat)(out + job->coord, job->to);
            origin[i] = b * job->rows + list.at[i];
        }
        for (int64_t i = 0; i < (job->rows - kept) * job->width; i++)
            out[i] = -1;
        for (int64_t i = kept; i < job->rows; i++)
            origin[i] = -1;
    }
}

#undef NAME
#undef T
#undef MASK
#undef DTYPE
