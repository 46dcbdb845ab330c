/* One element type's derivative by the weights. The includer defines NAME, T and MICRO.
 *
 * For a chunk of images, x becomes planes and y is transposed into panels, in which the output
 * channels of a position are contiguous. A tile of sums (some channels with their taps, by some
 * output channels) stays in registers while rows of positions pass by. */

typedef struct NAME(weights) {
    const mxl_conv *conv;
    const mxl_planes *planes;
    int64_t *row_at; /* [rows]: where a row of sums begins in the planes of a group */
    const mxl_conv_micro *micro;
    int64_t num_taps, rows;  /* rows of sums: channels with taps */
    int64_t positions;       /* of an image */
    int64_t vectors, panels; /* of the output channels of a group */
    int64_t image_pitch, channel_pitch;
    int64_t num_images; /* of the chunk */
    const T *images;
    const char *y; /* of the chunk */
    T *panel;      /* [image][group][panel][position][width] */
    T *sums;       /* [group][panel][row][width] */
    void *w;
    int64_t rows_unit, units; /* of a panel */
} NAME(weights);

/* Transposes the channels of a panel; those beyond the last one are zero. */
static void NAME(transpose)(const NAME(weights) *e, const T *from, int64_t channels, int64_t width,
                            T *out)
{
    int64_t n = e->positions;

    if (channels < width)
        memset(out, 0, (size_t)(n * width) * sizeof(T));
    mxl_transpose_kernel(sizeof(T), out, width, from, n, n, channels);
}

/* The same from float16. */
static void NAME(transpose_half)(const NAME(weights) *e, const uint16_t *from, int64_t channels,
                                 int64_t width, T *out)
{
    int64_t n = e->positions, step = 1;
    float row[POSITIONS];

    if (channels < width)
        memset(out, 0, (size_t)(n * width) * sizeof(T));
    for (int64_t k = 0; k < channels; k++)
        for (int64_t p = 0; p < n; p += POSITIONS) {
            int64_t some = n - p < POSITIONS ? n - p : POSITIONS;
            const void *in = from + k * n + p;

            mxl_cast_half_to_float(row, &in, &step, some, NULL);
            for (int64_t i = 0; i < some; i++)
                out[(p + i) * width + k] = row[i];
        }
}

/* Where the panel of a group of an image begins. */
static T *NAME(panel)(const NAME(weights) *e, int64_t image, int64_t group, int64_t first)
{
    int64_t lanes = e->micro->lanes;

    return e->panel +
           ((image * e->conv->groups + group) * e->vectors + first) * lanes * e->positions;
}

/* One item of the range is a panel. */
static void NAME(make_panels)(void *data, int64_t begin, int64_t end)
{
    const NAME(weights) *e = data;
    const mxl_conv *v = e->conv;

    for (int64_t item = begin; item < end; item++) {
        int64_t image = item / e->panels / v->groups, group = item / e->panels % v->groups, first;
        int64_t width = panel_at(e->vectors, item % e->panels, &first) * e->micro->lanes;
        int64_t k = first * e->micro->lanes, channels = v->out - k < width ? v->out - k : width;
        int64_t from = ((image * v->groups + group) * v->out + k) * e->positions;
        T *out = NAME(panel)(e, image, group, first);

        if (v->dtype == MXL_F16)
            NAME(transpose_half)(e, (const uint16_t *)(const void *)e->y + from, channels, width,
                                 out);
        else
            NAME(transpose)(e, (const T *)(const void *)e->y + from, channels, width, out);
    }
}

/* ---- sums ---- */

/* A block of rows of positions of an image, or a part of one row. */
typedef struct NAME(block) {
    mxl_conv_positions at;
    const T *image; /* planes, at the block's first position */
    const T *y;     /* the panel (or the contiguous channel) there */
} NAME(block);

/* Rows [first, last) of sums, each `width` wide. */
static void NAME(add_block)(const NAME(weights) *e, const NAME(block) *block, int64_t group,
                            int64_t first, int64_t last, int64_t vectors, T *sums)
{
    int64_t width = vectors * e->micro->lanes;
    const T *image = block->image + group * e->conv->in * e->channel_pitch;

    for (int64_t i = first, height; i < last; i += height) {
        const int *fits = e->micro->heights;
        const void *a[MXL_CONV_HEIGHT];

        while (*fits > last - i)
            fits++;
        height = *fits;
        for (int64_t r = 0; r < height; r++)
            a[r] = image + e->row_at[i + r];
        e->micro->weight[height][vectors - 1](&block->at, a, block->y, sums + i * width);
    }
}

/* The same where each group has one channel of x and of y: one sum for each tap. */
static void NAME(add_dots)(const NAME(weights) *e, const NAME(block) *block, int64_t group, T *sums)
{
    const T *image = block->image + group * e->channel_pitch;

    for (int64_t t = 0, n; t < e->num_taps; t += n) {
        bool many = e->num_taps - t > MXL_CONV_FEW_DOTS;
        int64_t together = many ? MXL_CONV_DOTS : MXL_CONV_FEW_DOTS;
        const void *a[MXL_CONV_DOTS];
        T some[MXL_CONV_DOTS] = {0};

        n = e->num_taps - t < together ? e->num_taps - t : together;
        for (int64_t i = 0; i < together; i++)
            a[i] = image + e->row_at[t + (i < n ? i : 0)];
        (many ? e->micro->dots : e->micro->few_dots)(&block->at, a, block->y, some);
        for (int64_t i = 0; i < n; i++)
            sums[t + i] += some[i];
    }
}

/* Adds the products at all positions of an image to rows [first, last) of a panel. */
static void NAME(add_image)(const NAME(weights) *e, int64_t image, int64_t group, int64_t panel,
                            int64_t first, int64_t last)
{
    const mxl_conv *v = e->conv;
    const int64_t *size = v->y_size, *plane = e->planes->plane;
    int64_t begin, vectors = panel_at(e->vectors, panel, &begin), width = vectors * e->micro->lanes;
    const T *from = e->images + image * e->image_pitch, *y = NAME(panel)(e, image, group, begin);
    int64_t rows = size[2] < POSITIONS ? POSITIONS / size[2] : 1;
    bool dots = e->panels == 0;
    T *sums = e->sums + (group * e->vectors + begin) * e->micro->lanes * e->rows;

    if (dots) {
        width = 1;
        sums = e->sums + group * e->rows;
        y = (const T *)(const void *)e->y + (image * v->groups + group) * e->positions;
    }
    for (int64_t d = 0; d < size[0]; d++)
        for (int64_t h = 0, some; h < size[1]; h += some) {
            some = size[1] - h < rows ? size[1] - h : rows;
            for (int64_t x = 0, run; x < size[2]; x += run) {
                NAME(block) block = {.image = from + (d * plane[1] + h) * e->planes->pitch + x,
                                     .y = y + ((d * size[1] + h) * size[2] + x) * width};

                run = size[2] - x < POSITIONS ? size[2] - x : POSITIONS;
                block.at = (mxl_conv_positions){some, run, e->planes->pitch};
                if (dots)
                    NAME(add_dots)(e, &block, group, sums);
                else
                    NAME(add_block)(e, &block, group, first, last, vectors, sums);
            }
        }
}

/* One item of the range is a unit: some rows of a panel of a group. */
static void NAME(add_units)(void *data, int64_t begin, int64_t end)
{
    const NAME(weights) *e = data;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit % e->units * e->rows_unit, last = first + e->rows_unit;
        int64_t panels = e->panels > 0 ? e->panels : 1;
        int64_t panel = unit / e->units % panels, group = unit / e->units / panels;

        for (int64_t image = 0; image < e->num_images; image++)
            NAME(add_image)(e, image, group, panel, first, last < e->rows ? last : e->rows);
    }
}

/* One item of the range is a panel of a group: its sums become weights, w[g, k, row]. */
static void NAME(finish)(void *data, int64_t begin, int64_t end)
{
    const NAME(weights) *e = data;
    const mxl_conv *v = e->conv;
    int64_t lanes = e->micro->lanes, panels = e->panels > 0 ? e->panels : 1;

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / panels, first, width, channels, to;
        const T *sums;

        width = panel_at(e->vectors, item % panels, &first) * lanes;
        channels = v->out - first * lanes < width ? v->out - first * lanes : width;
        to = (group * v->out + first * lanes) * e->rows;
        sums = e->sums + (group * e->vectors + first) * lanes * e->rows;
        if (e->panels == 0)
            memcpy((T *)e->w + group * e->rows, e->sums + group * e->rows,
                   (size_t)e->rows * sizeof(T));
        else if (v->dtype != MXL_F16)
            mxl_transpose_kernel(sizeof(T), (T *)e->w + to, e->rows, sums, width, channels,
                                 e->rows);
        else
            for (int64_t k = 0; k < channels; k++)
                for (int64_t i = 0; i < e->rows; i++)
                    ((mxl_half *)e->w)[to + k * e->rows + i] =
                        mxl_half_from_float((float)sums[i * width + k]);
    }
}

/* The images of a chunk: as many as CHUNK_BYTES hold. */
static int64_t NAME(chunk_size)(const NAME(weights) *e)
{
    const mxl_conv *v = e->conv;
    int64_t panels = v->groups * e->vectors * e->micro->lanes * e->positions;
    int64_t fits = CHUNK_BYTES / (int64_t)sizeof(T) / (1 + e->image_pitch + panels);

    return fits < 1 ? 1 : fits < v->batch ? fits : v->batch;
}

/* Adds the images from `image` on. */
static void NAME(add_chunk)(NAME(weights) *e, int64_t image, const char *x, const char *y,
                            T *planes)
{
    const mxl_conv *v = e->conv;
    const int64_t *size = e->planes->image;
    int64_t x_image = e->planes->channels * size[0] * size[1] * size[2];
    int64_t y_image = v->groups * v->out * e->positions;
    int64_t bytes = (int64_t)mxl_dtype_size(v->dtype), panels = e->panels > 0 ? e->panels : 1;
    int64_t all, tall = e->micro->heights[0];

    x += image * x_image * bytes;
    e->y = y + image * y_image * bytes;
    if (planes == NULL)
        e->images = (const T *)(const void *)x;
    else
        mxl_planes_make(e->planes, e->num_images, x, planes);
    mxl_parallel_for(e->num_images * v->groups * e->panels,
                     1 + UNIT_WORK / 8 / (1 + e->positions * MXL_CONV_LANES), NAME(make_panels), e);
    all = mxl_thread_count() * UNITS / (v->groups * panels) + 1;
    e->rows_unit = e->panels > 0 ? ((e->rows + all - 1) / all + tall - 1) / tall * tall : e->rows;
    e->units = (e->rows + e->rows_unit - 1) / e->rows_unit;
    mxl_parallel_for(v->groups * panels * e->units,
                     1 + UNIT_WORK / (1 + e->num_images * e->positions * e->rows_unit *
                                              (e->panels > 0 ? MXL_CONV_LANES : 1)),
                     NAME(add_units), e);
}

static int NAME(weight)(const mxl_conv *v, const mxl_conv_plan *plan, const void *x, const void *y,
                        void *w)
{
    NAME(weights)
    e = {.conv = v,
         .planes = &plan->planes,
         .micro = MICRO(),
         .w = w,
         .num_taps = plan->lattices[0].num_taps,
         .rows = v->in * plan->lattices[0].num_taps,
         .positions = v->y_size[0] * v->y_size[1] * v->y_size[2],
         .channel_pitch = mxl_planes_channel(&plan->planes),
         .image_pitch = plan->planes.channels * mxl_planes_channel(&plan->planes)};
    bool dots = v->in == 1 && v->out == 1 && v->dtype != MXL_F16;
    bool direct = mxl_planes_direct(&plan->planes);
    int64_t most, sums, planes, shared;
    size_t bytes;

    e.vectors = (v->out + e.micro->lanes - 1) / e.micro->lanes;
    e.panels = dots ? 0 : (e.vectors + 2) / 3;
    most = NAME(chunk_size)(&e);
    sums = v->groups * e.rows * (dots ? 1 : e.vectors * e.micro->lanes);
    shared = plan->planes.plane[2] - plan->planes.pitch;
    planes = direct ? 0 : most * e.image_pitch + shared;
    bytes = (size_t)(sums + planes +
                     (dots ? 0 : most * v->groups * e.vectors * e.micro->lanes * e.positions)) *
            sizeof(T);
    bytes = (bytes + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t) +
            (size_t)e.rows * sizeof(int64_t);
    e.sums = mxl_alloc(bytes);
    if (e.sums == NULL)
        return -1;
    memset(e.sums, 0, (size_t)sums * sizeof(T));
    memset(e.sums + sums + planes - (direct ? 0 : shared), 0,
           (size_t)(direct ? 0 : shared) * sizeof(T));
    e.panel = e.sums + sums + planes;
    e.row_at = (int64_t *)(void *)((char *)e.sums + bytes) - e.rows;
    for (int64_t i = 0; i < e.rows; i++)
        e.row_at[i] = i / e.num_taps * e.channel_pitch + plan->lattices[0].plane_at[i % e.num_taps];
    e.images = e.sums + sums;
    for (int64_t image = 0; image < v->batch && e.positions > 0; image += e.num_images) {
        e.num_images = v->batch - image < most ? v->batch - image : most;
        NAME(add_chunk)(&e, image, x, y, direct ? NULL : e.sums + sums);
    }
    mxl_parallel_for(v->groups * (dots ? 1 : e.panels),
                     1 + UNIT_WORK / 8 / (1 + e.rows * MXL_CONV_LANES), NAME(finish), &e);
    mxl_free(e.sums, bytes);
    return 0;
}

#undef NAME
#undef T
#undef MICRO
