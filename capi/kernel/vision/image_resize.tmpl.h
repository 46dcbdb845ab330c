/* Loops of resampling; included by image_resize.c with NAME(x), T (an element), C (a sum) and
 * WEIGHT(w), a tap's weight as C, defined; STORE(sum) where a sum is no element, and LINEAR(a, wa,
 * b, wb) and CUBIC(at, from, row, weight) where two and four taps down have a sum of their own. */

#if !defined(STORE)
#define STORE(sum) (sum)
#endif

/* The weights of an axis as sums count them. */
static void NAME(weigh)(const resize_job *job, const mxl_image_taps *t, void *weights)
{
    C *weight = weights;

    (void)job;
    for (int64_t i = 0; i < t->out * t->count; i++)
        weight[i] = WEIGHT(t->weight[i]);
}

/* A row of the image, in the result's width; `count` and `channels` are constants where it is worth
 * it. */
MXL_INLINE void NAME(row)(const resize_job *job, const T *in, int64_t count, int64_t channels,
                          C *out)
{
    const int64_t *from = job->columns->from;
    const C *weight = job->column_weights;

    for (int64_t x = 0; x < job->columns->out; x++, from += count, weight += count) {
        for (int64_t c = 0; c < channels; c++) {
            C sum = 0;

            for (int64_t k = 0; k < count; k++)
                sum += weight[k] * (C)in[from[k] * channels + c];
            *out++ = sum;
        }
    }
}

/* Rows of the image that the result needs. */
static void NAME(across)(void *data, int64_t begin, int64_t end)
{
    const resize_job *job = data;
    int64_t count = job->columns->count, channels = job->channels;

    for (int64_t y = begin; y < end; y++) {
        const T *in = (const T *)job->in + y * job->columns->in * channels;
        C *out = (C *)job->wide + y * job->columns->out * channels;

        if (!job->needed[y])
            continue;
        if (count == 2 && channels == 3)
            NAME(row)(job, in, 2, 3, out);
        else if (count == 2 && channels == 1)
            NAME(row)(job, in, 2, 1, out);
        else if (count == 4)
            NAME(row)(job, in, 4, channels, out);
        else if (count == 8)
            NAME(row)(job, in, 8, channels, out);
        else
            NAME(row)(job, in, count, channels, out);
    }
}

/* One row of the result from rows in its width. */
MXL_INLINE void NAME(mix_at)(int level, const resize_job *job, const int64_t *from, const C *weight,
                             int64_t count, int64_t row, T *out)
{
    const C *wide = job->wide;
    int64_t done = 0;

    (void)level;
#if defined(LINEAR)
    if (job->how == MXL_LINEAR || job->how == MXL_AREA) {
        const C *a = wide + from[0] * row, *b = wide + from[1] * row;
        C of_a = weight[0], of_b = weight[1];

        for (int64_t x = 0; x < row; x++)
            out[x] = LINEAR(a[x], of_a, b[x], of_b);
        return;
    }
#endif
#if defined(CUBIC)
    for (; count == 4 && done < row - row % 8; done++)
        out[done] = CUBIC(wide + done, from, row, weight);
#endif
    for (int64_t x = done; x < row; x++) {
        C sum = 0;

        for (int64_t k = 0; k < count; k++)
            sum += weight[k] * wide[from[k] * row + x];
        out[x] = STORE(sum);
    }
}

/* The same, where the number of taps is a constant if it is usual. */
MXL_INLINE void NAME(blend_at)(int level, const resize_job *job, const int64_t *from,
                               const C *weight, int64_t row, T *out)
{
    switch (job->rows->count) {
    case 1:
        NAME(mix_at)(level, job, from, weight, 1, row, out);
        break;
    case 2:
        NAME(mix_at)(level, job, from, weight, 2, row, out);
        break;
    case 4:
        NAME(mix_at)(level, job, from, weight, 4, row, out);
        break;
    case 8:
        NAME(mix_at)(level, job, from, weight, 8, row, out);
        break;
    default:
        NAME(mix_at)(level, job, from, weight, job->rows->count, row, out);
    }
}
MXL_UP_TO_AVX2(NAME(blend),
               (const resize_job *job, const int64_t *from, const C *weight, int64_t row, T *out),
               job, from, weight, row, out)

/* Rows of the result. */
static void NAME(down)(void *data, int64_t begin, int64_t end)
{
    const resize_job *job = data;
    int64_t row = job->columns->out * job->channels, count = job->rows->count;

    for (int64_t y = begin; y < end; y++)
        NAME(blend)(job, job->rows->from + y * count, (const C *)job->row_weights + y * count, row,
                    (T *)job->out + y * row);
}

#undef NAME
#undef T
#undef C
#undef WEIGHT
#undef STORE
#undef LINEAR
#undef CUBIC
