/* One element type's correlation. The includer defines NAME, T, MICRO and STORE.
 *
 * Weights are packed once, tile by tile of rows. For a chunk of images at a time, planes are made,
 * and a tile of sums stays in registers while the products of some channels with all taps pass by:
 * the vectors come straight out of the planes, at a table of offsets. The positions of a sheet
 * (an image at one position of the first dimension) count as one line of the planes' pitch; sums
 * at positions between rows are dropped. Where that would waste more than it saves, as in small
 * images, the vectors are packed first, for all rows of the output (panels). */

typedef struct NAME(engine) {
    const mxl_correlation *c;
    const mxl_conv_micro *micro;
    T *packed;       /* the weights of all lattices, in a form */
    const T *images; /* planes of the chunk */
    bool in_place;   /* these are the images themselves */
    int64_t image_pitch, channel_pitch;
    int64_t image0, num_images;     /* of the chunk */
    int64_t dst_image, dst_channel; /* elements of an image, of a channel of the output */

    const mxl_lattice *lattice;
    const T *lattice_weights;
    bool panels;                    /* the vectors are packed */
    bool by_rows;                   /* each row of positions is a line by itself */
    int64_t sheets, vectors;        /* lines of positions, and vectors of each */
    int64_t strips;                 /* of each sheet */
    int columns;                    /* positions of its last strip, which is a narrow one; or 0 */
    int64_t rows_unit, strips_unit; /* of a unit of work */
    int64_t row_units, strip_units; /* of a group */
    T *panel;                       /* [groups][strip][depth][width of the strip] */

    int64_t c0, depth;                 /* the first channel of the block; its products */
    bool last;                         /* it is the last block */
    int64_t *offsets;                  /* [depth], into planes */
    int64_t *widths[MXL_CONV_VECTORS]; /* [depth], into a panel of this many vectors */
} NAME(engine);

/* The height of the tallest tile that fits the remaining rows. */
static int64_t NAME(height)(const NAME(engine) *e, int64_t rows)
{
    const int *height = e->micro->heights;

    while (*height > rows)
        height++;
    return *height;
}

/* Channels of a block: their products with all taps are about DEPTH; all at once for float16, whose
 * sums must not be rounded in between. */
static int64_t NAME(block_channels)(const NAME(engine) *e)
{
    int64_t taps = e->lattice->num_taps, in = e->c->in, blocks;

    if (taps == 0 || e->c->planes.dtype == MXL_F16)
        return in;
    blocks = (in * taps + DEPTH - 1) / DEPTH;
    return blocks <= 1 ? in : (in + blocks - 1) / blocks;
}

#include "kernel/conv/correlate_weights.tmpl.h"

#include "kernel/conv/correlate_strips.tmpl.h"

/* ---- the output ---- */

/* The same as STORE, rounded to float16. There is one block only. */
static void NAME(store_half)(const mxl_conv_row *r, const T *sums, const uint16_t *add,
                             uint16_t *dst)
{
    float sum[WIDEST];
    uint16_t half[WIDEST];
    const void *in = sum;
    int64_t step = 1;

    for (int64_t i = 0; i < r->n; i++) {
        T more = add != NULL ? mxl_half_to_float(add[i * r->apart]) : 0;
        T y = sums[i] + (T)r->bias + more;

        sum[i] = (float)MXL_CONV_LIMIT(y, (T)r->low, (T)r->high);
    }
    mxl_cast_float_to_half(half, &in, &step, r->n, NULL);
    for (int64_t i = 0; i < r->n; i++)
        dst[i * r->apart] = half[i];
}

/* Stores a tile of rows from `row` on, whose rows are `width` apart. The tail is that of the last
 * block. */
static void NAME(store_tile)(const NAME(engine) *e, int64_t row, int64_t height, const T *tile,
                             int64_t width, const run *runs, int num_runs)
{
    const mxl_correlation *c = e->c;
    const mxl_conv_tail *tail = e->last ? c->tail : NULL;
    const char *add = tail != NULL ? tail->add : NULL;
    mxl_conv_row r = {.apart = e->lattice->apart[2],
                      .adds_up = e->c0 > 0,
                      .low = tail != NULL ? tail->low : -INFINITY,
                      .high = tail != NULL ? tail->high : INFINITY};

    for (int64_t i = 0; i < height; i++) {
        r.bias = c->bias != NULL ? ((const T *)c->bias)[row + i] : 0;
        for (int k = 0; k < num_runs; k++) {
            const T *from = tile + i * width + runs[k].from;
            int64_t at = (row + i) * e->dst_channel + runs[k].at;
            size_t bytes = (size_t)at * mxl_dtype_size(c->planes.dtype);
            const void *more = add != NULL ? add + bytes : NULL;
            void *to = (char *)c->dst + bytes;

            r.n = runs[k].n;
            if (c->planes.dtype == MXL_F16)
                NAME(store_half)(&r, from, more, to);
            else
                STORE(&r, from, more, to);
        }
    }
}

/* ---- tiles ---- */

/* Cache lines that the vectors of a strip touch, wherever they begin. */
static int64_t NAME(lines)(int64_t width)
{
    return (width * (int64_t)sizeof(T) + LINE_BYTES - 1) / LINE_BYTES + 1;
}

/* How far beyond b the tile number `tile` of a strip prefetches. Images that are read where they
 * are come from memory, from as many places at once as there are channels, which the processor
 * does not foresee: each tile fetches one line of the next strip from every place. */
static int64_t NAME(ahead)(const NAME(engine) *e, int64_t tile, int64_t width)
{
    bool far = e->in_place && !e->panels && tile < NAME(lines)(width);

    return far ? width + tile * LINE_BYTES / (int64_t)sizeof(T) : 0;
}

/* The rows from `first` on that narrow tiles compute, at the last positions of a sheet, which are
 * at `at` of a channel of the output. Returns the row behind them. */
static int64_t NAME(narrow)(const NAME(engine) *e, int64_t group, int64_t first, int64_t last,
                            const T *b, const int64_t *offsets, int64_t at)
{
    const mxl_correlation *c = e->c;
    const mxl_conv_tail *tail = e->last ? c->tail : NULL;
    const T *a = NAME(block_weights)(e, e->c0, e->depth, group);
    const T *add = tail != NULL ? tail->add : NULL;
    T low = tail != NULL ? (T)tail->low : -INFINITY, high = tail != NULL ? (T)tail->high : INFINITY;
    T sums[MXL_CONV_TALL * MXL_CONV_COLUMNS];

    for (int64_t rows; last - first >= MXL_CONV_HEIGHT; first += rows) {
        rows = least((last - first) / MXL_CONV_HEIGHT * MXL_CONV_HEIGHT, MXL_CONV_TALL);
        e->micro->columns(e->depth, (int)(rows / MXL_CONV_HEIGHT), e->columns, a + first * e->depth,
                          b, offsets, sums);
        for (int64_t i = 0; i < rows; i++) {
            int64_t k = group * c->out + first + i, to = k * e->dst_channel + at;
            T bias = c->bias != NULL ? ((const T *)c->bias)[k] : 0;

            for (int64_t j = 0; j < e->columns; j++) {
                T *dst = (T *)c->dst + to + j;
                T y = sums[i * MXL_CONV_COLUMNS + j] + (e->c0 > 0 ? *dst : bias);

                y += add != NULL ? add[to + j] : 0;
                *dst = MXL_CONV_LIMIT(y, low, high);
            }
        }
    }
    return first;
}

/* Whether tiles of a strip are stored where they belong. */
static bool NAME(is_direct)(const NAME(engine) *e, const run *runs, int num_runs, int64_t width)
{
    const mxl_correlation *c = e->c;
    bool whole = num_runs == 1 && runs[0].n == width && e->lattice->apart[2] == 1 && e->c0 == 0;

    return whole && c->planes.dtype != MXL_F16 && (!has_end(c) || (e->micro->ends && e->last));
}

/* Rows [first, last) of a group at one strip. */
static void NAME(strip)(const NAME(engine) *e, int64_t group, int64_t first, int64_t last,
                        int64_t strip)
{
    const mxl_correlation *c = e->c;
    bool line = c->out == 1;
    int64_t tall = e->micro->heights[0];
    int64_t sheet = strip / e->strips, q;
    int64_t vectors = NAME(strip_at)(e, line, strip % e->strips, &q);
    int64_t width = vectors * e->micro->lanes;
    const int64_t *offsets = e->panels ? e->widths[vectors - 1] : e->offsets;
    const T *a = NAME(block_weights)(e, e->c0, e->depth, group);
    const T *b = e->panels ? NAME(panel_at)(e, group, q)
                           : NAME(plane_at)(e, group, sheet) + q * e->micro->lanes;
    _Alignas(64) T tile[MXL_CONV_HEIGHT * MXL_CONV_VECTORS * MXL_CONV_LANES];
    run runs[WIDEST];
    int num_runs = NAME(find_runs)(e, sheet, q * e->micro->lanes, width, runs);
    mxl_conv_end ends = ends_of(c), *end = has_end(c) ? &ends : NULL;
    bool direct;

    if (e->lattice->apart[2] == 1)
        num_runs = join_runs(runs, num_runs);
    direct = NAME(is_direct)(e, runs, num_runs, width);
    if (e->columns > 0 && strip % e->strips == e->strips - 1 && num_runs == 1)
        first = NAME(narrow)(e, group, first, last, b, offsets, runs[0].at);
    for (int64_t i = first, height, ahead; i < last; i += height) {
        int64_t row = group * c->out + i;
        mxl_conv_tile sums;

        height = NAME(height)(e, last - i);
        ahead = NAME(ahead)(e, (i - first) / tall, width);
        sums = vectors == MXL_CONV_LINE ? e->micro->line : e->micro->tile[height][vectors - 1];
        if (direct) {
            int64_t at = row * e->dst_channel + runs[0].at;

            ends.bias = c->bias != NULL ? (const float *)c->bias + row : NULL;
            ends.add =
                c->tail != NULL && c->tail->add != NULL ? (const float *)c->tail->add + at : NULL;
            sums(e->depth, a + i * e->depth, b, offsets, ahead, (T *)c->dst + at, e->dst_channel,
                 end);
            continue;
        }
        sums(e->depth, a + i * e->depth, b, offsets, ahead, tile, width, NULL);
        NAME(store_tile)(e, row, height, tile, width, runs, num_runs);
    }
}

/* One item of the range is a unit: some strips at some rows of a group. */
static void NAME(units)(void *data, int64_t begin, int64_t end)
{
    const NAME(engine) *e = data;
    int64_t strips = e->sheets * e->strips;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit / e->strip_units % e->row_units * e->rows_unit;
        int64_t last = least(first + e->rows_unit, e->c->out);
        int64_t s = unit % e->strip_units * e->strips_unit;
        int64_t group = unit / (e->strip_units * e->row_units);

        for (int64_t end_s = least(s + e->strips_unit, strips); s < end_s; s++)
            NAME(strip)(e, group, first, last, s);
    }
}

/* The products of `channels` channels from c0 on. */
static void NAME(block)(NAME(engine) *e, int64_t channels)
{
    const mxl_lattice *l = e->lattice;
    int64_t lanes = e->micro->lanes, work;

    e->depth = channels * l->num_taps;
    for (int64_t ch = 0, p = 0; ch < channels; ch++)
        for (int64_t t = 0; t < l->num_taps; t++, p++) {
            e->offsets[p] = ch * e->channel_pitch + l->plane_at[t];
            for (int v = 0; v < MXL_CONV_VECTORS; v++)
                e->widths[v][p] = p * (v + 1) * lanes;
        }
    if (e->panels)
        mxl_parallel_for(e->c->groups * e->strips,
                         1 + UNIT_WORK / 8 / (1 + e->depth * lanes * MXL_CONV_VECTORS),
                         NAME(pack_panels), e);
    NAME(divide)(e);
    work = least(e->rows_unit, e->c->out) * e->strips_unit * MXL_CONV_VECTORS * lanes;
    mxl_parallel_for(e->c->groups * e->row_units * e->strip_units,
                     1 + UNIT_WORK / (1 + work * e->depth), NAME(units), e);
}

/* ---- chunks ---- */

/* Vectors of a sheet of a lattice, read from planes. */
static int64_t NAME(sheet_vectors)(const NAME(engine) *e, const mxl_lattice *l)
{
    int64_t positions = (l->count[1] - 1) * e->c->planes.pitch + l->count[2];

    return (positions + e->micro->lanes - 1) / e->micro->lanes;
}

/* Positions of a lattice in `images` images. */
static int64_t NAME(positions)(const mxl_lattice *l, int64_t images)
{
    return images * l->count[0] * l->count[1] * l->count[2];
}

/* Whether packing `images` images costs less than the sums between rows: a packed element costs
 * about a cycle, two vectors of sums as much. */
static bool NAME(wants_panels)(const NAME(engine) *e, const mxl_lattice *l, int64_t images)
{
    int64_t lanes = e->micro->lanes, exact = NAME(positions)(l, images);
    int64_t read = images * l->count[0] * NAME(sheet_vectors)(e, l) * lanes;

    return e->c->out > 1 &&
           (double)(read - exact) * (double)e->c->out / (2.0 * (double)lanes) > (double)exact;
}

/* Whether rows are lines by themselves: whole vectors, where the line of a sheet has gaps. Their
 * tiles go to the output without a buffer. */
static bool NAME(wants_rows)(const NAME(engine) *e, const mxl_lattice *l)
{
    return !e->panels && l->count[2] % e->micro->lanes == 0 && l->count[1] > 1 &&
           l->count[2] != e->c->planes.pitch && l->count[2] >= 2 * e->micro->lanes;
}

/* Divides the positions of the current chunk into lines, and these into strips. */
static void NAME(divide_lines)(NAME(engine) *e)
{
    const mxl_lattice *l = e->lattice;
    int64_t lanes = e->micro->lanes, lines = e->num_images * l->count[0], length, rest;

    e->panels = NAME(wants_panels)(e, l, e->num_images);
    e->by_rows = NAME(wants_rows)(e, l);
    e->sheets = e->panels ? 1 : e->by_rows ? lines * l->count[1] : lines;
    length = e->panels    ? NAME(positions)(l, e->num_images)
             : e->by_rows ? l->count[2]
                          : (l->count[1] - 1) * e->c->planes.pitch + l->count[2];
    rest = length % lanes;
    e->vectors = (length + lanes - 1) / lanes;
    e->columns = e->micro->columns != NULL && l->apart[2] == 1 && e->c->out >= MXL_CONV_HEIGHT &&
                         e->c->planes.dtype != MXL_F16 && rest <= MXL_CONV_COLUMNS
                     ? (int)rest
                     : 0;
    e->strips = strip_count(e->vectors - (e->columns > 0), e->c->out == 1) + (e->columns > 0);
}

/* All of a lattice in the current chunk. */
static void NAME(lattice)(NAME(engine) *e)
{
    const mxl_correlation *c = e->c;
    const mxl_lattice *l = e->lattice;
    int64_t most = NAME(block_channels)(e), channels;

    if (NAME(positions)(l, 1) == 0)
        return;
    NAME(divide_lines)(e);
    e->c0 = 0;
    do {
        channels = least(most, c->in - e->c0);
        e->last = e->c0 + channels == c->in;
        NAME(block)(e, channels);
        e->c0 += channels;
    } while (e->c0 < c->in);
}

/* The largest depth of a block, and the elements of panels for `images` images. */
static void NAME(room)(NAME(engine) *e, int64_t images, int64_t *depth, int64_t *panels)
{
    const mxl_correlation *c = e->c;
    int64_t slack = e->micro->lanes;

    *depth = *panels = 0;
    for (int64_t i = 0; i < c->num_lattices; i++) {
        int64_t products, elements;

        e->lattice = &c->lattices[i];
        products = NAME(block_channels)(e) * e->lattice->num_taps;
        elements = c->groups * (NAME(positions)(e->lattice, images) + slack) * products;
        if (products > *depth)
            *depth = products;
        if (NAME(wants_panels)(e, e->lattice, images) && elements > *panels)
            *panels = elements;
    }
}

/* Whether a vector may reach beyond the last plane. */
static bool NAME(overruns)(const NAME(engine) *e)
{
    const mxl_correlation *c = e->c;
    int64_t size = mxl_planes_size(&c->planes), sheet = c->planes.plane[1] * c->planes.pitch;

    for (int64_t i = 0; i < c->num_lattices; i++) {
        const mxl_lattice *l = &c->lattices[i];
        int64_t end = (l->count[0] - 1) * sheet + NAME(sheet_vectors)(e, l) * e->micro->lanes;

        for (int64_t t = 0; t < l->num_taps; t++)
            if (l->plane_at[t] + end > size)
                return true;
    }
    return false;
}

/* Images [e->image0, + e->num_images), from their planes. */
static void NAME(chunk)(NAME(engine) *e, T *planes)
{
    const mxl_correlation *c = e->c;
    size_t image = (size_t)(c->planes.channels * c->planes.image[0] * c->planes.image[1] *
                            c->planes.image[2]) *
                   mxl_dtype_size(c->planes.dtype);
    const char *from = (const char *)c->src + (size_t)e->image0 * image;

    e->images = planes;
    e->in_place = planes == NULL;
    if (planes == NULL)
        e->images = (const T *)(const void *)from;
    else
        mxl_planes_make(&c->planes, e->num_images, from, planes);
    e->lattice_weights = e->packed;
    for (int64_t l = 0; l < c->num_lattices; l++) {
        e->lattice = &c->lattices[l];
        NAME(lattice)(e);
        e->lattice_weights += e->lattice->num_taps * c->in * c->groups * c->out;
    }
}

/* The images of a chunk: as many as CHUNK_BYTES hold. */
static int64_t NAME(chunk_images)(NAME(engine) *e)
{
    int64_t depth, panels, each, fits;

    NAME(room)(e, e->c->batch, &depth, &panels);
    each = (e->image_pitch + panels / e->c->batch) * (int64_t)sizeof(T);
    fits = CHUNK_BYTES / (each + 1);
    return fits < 1 ? 1 : least(fits, e->c->batch);
}

/* Packs the weights, unless the kept form has them; NULL with the error set. Forms are kept of
 * weights whose taps are all there, in order: only then do they not depend on the images. */
static mxl_conv_form *NAME(form)(NAME(engine) *e, int64_t weights)
{
    const mxl_correlation *c = e->c;
    bool whole = c->num_lattices == 1 && NAME(whole)(&c->lattices[0], c->taps), done;
    mxl_conv_form_key key = {.dtype = c->planes.dtype,
                             .level = mxl_level(),
                             .groups = c->groups,
                             .in = c->in,
                             .out = c->out,
                             .taps = c->taps,
                             .w_group = c->w_group,
                             .w_out = c->w_out,
                             .w_in = c->w_in};
    mxl_conv_form *form =
        mxl_conv_form_get(whole ? c->form : NULL, &key, (size_t)weights * sizeof(T), &done);

    if (form != NULL)
        e->packed = form->data;
    if (form != NULL && !done)
        NAME(pack_all_weights)(e);
    return form;
}

static int NAME(correlate)(const mxl_correlation *c)
{
    NAME(engine) e = {.c = c,
                      .micro = MICRO(),
                      .channel_pitch = mxl_planes_channel(&c->planes),
                      .image_pitch = c->planes.channels * mxl_planes_channel(&c->planes)};
    int64_t slack = WIDEST + c->planes.plane[2] - c->planes.pitch;
    bool overruns = NAME(overruns)(&e);
    /* A vector of the image before the last one must end within that. */
    bool direct = mxl_planes_direct(&c->planes) && (!overruns || e.image_pitch >= slack);
    bool copies_last = !direct || overruns;
    int64_t most = NAME(chunk_images)(&e), weights = 0, depth, panels, planes;
    mxl_conv_form *form = NULL;
    char *room;
    size_t bytes;

    e.dst_channel = c->dst_size[0] * c->dst_size[1] * c->dst_size[2];
    e.dst_image = c->groups * c->out * e.dst_channel;
    NAME(room)(&e, most, &depth, &panels);
    for (int64_t l = 0; l < c->num_lattices; l++)
        weights += c->lattices[l].num_taps * c->in * c->groups * c->out;
    planes = !copies_last ? 0 : (direct ? 1 : most) * e.image_pitch + slack;
    bytes = (size_t)(panels + planes) * sizeof(T) +
            (size_t)depth * (1 + MXL_CONV_VECTORS) * sizeof(int64_t);
    room = mxl_alloc(bytes);
    if (room != NULL)
        form = NAME(form)(&e, weights);
    if (form == NULL) {
        mxl_free(room, bytes);
        return -1;
    }
    e.offsets = (int64_t *)(void *)room;
    for (int v = 0; v < MXL_CONV_VECTORS; v++)
        e.widths[v] = e.offsets + (v + 1) * depth;
    e.panel = (T *)(void *)(e.offsets + (1 + MXL_CONV_VECTORS) * depth);
    if (planes > 0)
        memset(e.panel + panels + planes - slack, 0, (size_t)slack * sizeof(T));
    for (; e.image0 < c->batch; e.image0 += e.num_images) {
        bool last = direct && copies_last && e.image0 == c->batch - 1;

        e.num_images = least(most, c->batch - e.image0);
        if (direct && copies_last && !last)
            e.num_images = least(most, c->batch - 1 - e.image0);
        NAME(chunk)(&e, direct && !last ? NULL : e.panel + panels);
    }
    if (c->form == NULL || *c->form != form)
        mxl_conv_form_free(form);
    mxl_free(room, bytes);
    return 0;
}

#undef NAME
#undef T
#undef MICRO
#undef STORE
