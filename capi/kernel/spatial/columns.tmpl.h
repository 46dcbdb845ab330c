/* Windows as columns for one element type; included by columns.c with NAME(x) and T defined. */

/* Element k of the windows of one row: `n` elements of a row of the image that are `step` apart. */
MXL_INLINE void NAME(take_row)(const T *image, int64_t step, int64_t n, T *restrict columns)
{
    if (step == 1) {
        memcpy(columns, image, (size_t)n * sizeof(T));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        columns[i] = image[i * step];
}

MXL_INLINE void NAME(put_row)(const T *restrict columns, int64_t step, int64_t n, T *image)
{
    if (step == 1) {
        MXL_IVDEP
        for (int64_t i = 0; i < n; i++)
            image[i] += columns[i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        image[i * step] += columns[i];
}

/* All windows of a plane have element k = (kd, kh, kw) at `columns`. One of `image` and `columns`
 * is written. */
MXL_INLINE void NAME(element)(bool takes, const columns_job *job, int64_t k, T *image, T *columns)
{
    const mxl_column_axis *axis = job->c->axis, *w = &axis[2];
    int64_t kw = k % w->kernel, kh = k / w->kernel % axis[1].kernel,
            kd = k / w->kernel / axis[1].kernel;
    columns_range d = windows_inside(&axis[0], kd), h = windows_inside(&axis[1], kh),
                  in = windows_inside(w, kw);
    int64_t n = in.end - in.begin, left = in.begin * w->stride - w->pad + kw * w->dilate;

    for (int64_t od = d.begin; n > 0 && od < d.end; od++) {
        int64_t id = od * axis[0].stride - axis[0].pad + kd * axis[0].dilate;

        for (int64_t oh = h.begin; oh < h.end; oh++) {
            int64_t ih = oh * axis[1].stride - axis[1].pad + kh * axis[1].dilate;
            T *row = image + (id * axis[1].in + ih) * w->in + left;
            T *column = columns + (od * axis[1].out + oh) * w->out + in.begin;

            if (takes)
                NAME(take_row)(row, w->stride, n, column);
            else
                NAME(put_row)(column, w->stride, n, row);
        }
    }
}

/* One item is a plane. (The array that is read is const where it comes from.) */
MXL_INLINE void NAME(planes)(bool takes, const columns_job *job, int64_t begin, int64_t end)
{
    int64_t size = job->windows * job->elements;

    for (int64_t i = begin; i < end; i++) {
        T *image = (T *)(takes ? (void *)(uintptr_t)job->from : job->to) + i * job->in;
        T *columns = (T *)(takes ? job->to : (void *)(uintptr_t)job->from) + i * size;

        if (takes)
            memset(columns, 0, (size_t)size * sizeof(T));
        else
            memset(image, 0, (size_t)job->in * sizeof(T));
        for (int64_t k = 0; k < job->elements; k++)
            NAME(element)(takes, job, k, image, columns + k * job->windows);
    }
}

MXL_INLINE void NAME(take_at)(int level, void *data, int64_t begin, int64_t end)
{
    (void)level;
    NAME(planes)(true, data, begin, end);
}
MXL_UP_TO_AVX2(NAME(take), (void *data, int64_t begin, int64_t end), data, begin, end)

MXL_INLINE void NAME(put_at)(int level, void *data, int64_t begin, int64_t end)
{
    (void)level;
    NAME(planes)(false, data, begin, end);
}
MXL_UP_TO_AVX2(NAME(put), (void *data, int64_t begin, int64_t end), data, begin, end)

#undef NAME
#undef T
