/* Loops of resampling; included by image_resize.c with NAME(x), T (an element), C (a sum) and
 * WEIGHT(w), a tap's weight as C, defined; STORE(sum) where a sum is no element, and LINEAR(a, wa,
 * b, wb) where two taps down have a sum of their own. */

#if !defined(STORE)
#define STORE(sum) (sum)
#endif

/* One element of a row of the result's width. */
static inline C NAME(sum)(const resize_job *job, const T *in, const int64_t *from,
                          const float *weight, int64_t count)
{
    C sum = 0;

    for (int64_t k = 0; k < count; k++)
        sum += WEIGHT(weight[k]) * (C)in[from[k] * job->channels];
    return sum;
}

/* Rows of the image, in the result's width. */
static void NAME(across)(void *data, int64_t begin, int64_t end)
{
    const resize_job *job = data;
    const mxl_image_taps *t = job->columns;

    for (int64_t y = begin; y < end; y++) {
        const T *in = (const T *)job->in + y * t->in * job->channels;
        C *out = (C *)job->wide + y * t->out * job->channels;

        for (int64_t x = 0; x < t->out; x++) {
            for (int64_t c = 0; c < job->channels; c++)
                *out++ = NAME(sum)(job, in + c, t->from + x * t->count, t->weight + x * t->count,
                                   t->count);
        }
    }
}

/* Rows of the result. */
static void NAME(down)(void *data, int64_t begin, int64_t end)
{
    const resize_job *job = data;
    const mxl_image_taps *t = job->rows;
    int64_t row = job->columns->out * job->channels;

    for (int64_t y = begin; y < end; y++) {
        const int64_t *from = t->from + y * t->count;
        const float *weight = t->weight + y * t->count;
        const C *wide = job->wide;
        T *out = (T *)job->out + y * row;

#if defined(LINEAR)
        if (job->how == MXL_LINEAR || job->how == MXL_AREA) {
            const C *a = wide + from[0] * row, *b = wide + from[1] * row;
            C of_a = WEIGHT(weight[0]), of_b = WEIGHT(weight[1]);

            for (int64_t x = 0; x < row; x++)
                out[x] = LINEAR(a[x], of_a, b[x], of_b);
            continue;
        }
#endif
        for (int64_t x = 0; x < row; x++) {
            C sum = 0;

            for (int64_t k = 0; k < t->count; k++)
                sum += WEIGHT(weight[k]) * wide[from[k] * row + x];
            out[x] = STORE(sum);
        }
    }
}

#undef NAME
#undef T
#undef C
#undef WEIGHT
#undef STORE
#undef LINEAR
