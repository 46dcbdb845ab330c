/* The strips of correlate.tmpl.h, which includes this: where their vectors are in the planes and in
 * the output, and the units of work that they make with rows of weights. */

/* The runs of a strip: elements [q, q + n) of a sheet, of which those between rows are dropped; or
 * of all positions of the chunk. Returns their number. */
static int NAME(find_runs)(const NAME(engine) *e, int64_t sheet, int64_t q, int64_t n, run *runs)
{
    const mxl_lattice *l = e->lattice;
    const mxl_correlation *c = e->c;
    int64_t pitch = e->panels ? l->count[2] : c->planes.pitch;
    int64_t row = e->by_rows ? sheet % l->count[1] : q / pitch;
    int64_t column = e->by_rows ? q : q % pitch;
    int64_t s = e->panels ? row / l->count[1] : e->by_rows ? sheet / l->count[1] : sheet;
    int64_t h = row % l->count[1], d = s % l->count[0], image = s / l->count[0], at;
    int count = 0;

    for (int64_t from = 0, step; from < n; from += step, column = 0) {
        at = (e->image0 + image) * e->dst_image +
             ((l->first[0] + d * l->apart[0]) * c->dst_size[1] + l->first[1] + h * l->apart[1]) *
                 c->dst_size[2] +
             l->first[2];
        step = pitch - column;
        if (column < l->count[2])
            runs[count++] =
                (run){at + column * l->apart[2], from, least(l->count[2] - column, n - from)};
        if (e->by_rows)
            break;
        if (++h < l->count[1])
            continue;
        /* The next sheet: with panels, positions go on there. */
        h = 0;
        if (++d == l->count[0]) {
            d = 0;
            image++;
        }
        if (!e->panels || image == e->num_images)
            break;
    }
    return count;
}

/* The planes of the block's first channel, at a position of the chunk's lattice. */
static const T *NAME(plane_at)(const NAME(engine) *e, int64_t group, int64_t sheet)
{
    const mxl_correlation *c = e->c;
    int64_t depth = e->lattice->count[0], row = e->by_rows ? sheet % e->lattice->count[1] : 0;

    sheet = e->by_rows ? sheet / e->lattice->count[1] : sheet;
    return e->images + sheet / depth * e->image_pitch + (group * c->in + e->c0) * e->channel_pitch +
           (sheet % depth * c->planes.plane[1] + row) * c->planes.pitch;
}

/* Where the panel of a strip is. */
static T *NAME(panel_at)(const NAME(engine) *e, int64_t group, int64_t first)
{
    return e->panel + (group * e->vectors + first) * e->micro->lanes * e->depth;
}

/* strip_at, and the narrow strip at the end, if there is one: the vector that has it. */
static int64_t NAME(strip_at)(const NAME(engine) *e, bool line, int64_t s, int64_t *first)
{
    if (e->columns == 0)
        return strip_at(e->vectors, line, s, first);
    if (s < e->strips - 1)
        return strip_at(e->vectors - 1, line, s, first);
    *first = e->vectors - 1;
    return 1;
}

/* One item of the range is a strip of a group: packs its vectors. */
static void NAME(pack_panels)(void *data, int64_t begin, int64_t end)
{
    const NAME(engine) *e = data;
    const mxl_lattice *l = e->lattice;
    int64_t lanes = e->micro->lanes, pitch = e->c->planes.pitch;
    run runs[WIDEST];

    for (int64_t item = begin; item < end; item++) {
        int64_t first, width = NAME(strip_at)(e, false, item % e->strips, &first) * lanes;
        int64_t group = item / e->strips, row = first * lanes / l->count[2];
        int count = NAME(find_runs)(e, 0, first * lanes, width, runs);
        T *out = NAME(panel_at)(e, group, first);
        const T *from[WIDEST];

        for (int r = 0; r < count; r++, row++) {
            int64_t column = r == 0 ? first * lanes % l->count[2] : 0;

            from[r] =
                NAME(plane_at)(e, group, row / l->count[1]) + row % l->count[1] * pitch + column;
        }
        for (int64_t p = 0; p < e->depth; p++, out += width) {
            for (int r = 0; r < count; r++)
                for (int64_t i = 0; i < runs[r].n; i++)
                    out[runs[r].from + i] = from[r][e->offsets[p] + i];
            for (int64_t i = count > 0 ? runs[count - 1].from + runs[count - 1].n : 0; i < width;
                 i++)
                out[i] = 0;
        }
    }
}

/* The units of rows of a block: as many as their weights fit a cache, and enough for all threads
 * where strips are few. */
static void NAME(divide_rows)(NAME(engine) *e)
{
    const mxl_correlation *c = e->c;
    int64_t tall = e->micro->heights[0], strips = e->sheets * e->strips * c->groups;
    int64_t fits = WEIGHT_BYTES / (int64_t)sizeof(T) / (1 + e->depth) / tall * tall;
    int64_t threads = mxl_thread_count(), most = c->out / (LEAST_TALL * tall) / threads * threads;
    int64_t wanted = least((threads * UNITS + strips - 1) / strips, most), each;

    e->rows_unit = fits < tall ? tall : fits;
    if (threads > 1 && wanted > 1 && (c->out + wanted - 1) / wanted < e->rows_unit) {
        each = (c->out + wanted - 1) / wanted;
        e->rows_unit = (each + tall - 1) / tall * tall;
    }
    e->row_units = (c->out + e->rows_unit - 1) / e->rows_unit;
}

/* Divides the work of a block into units. */
static void NAME(divide)(NAME(engine) *e)
{
    int64_t strips = e->sheets * e->strips, units;

    NAME(divide_rows)(e);
    units = mxl_thread_count() * UNITS / (e->row_units * e->c->groups) + 1;
    e->strips_unit = (strips + units - 1) / units;
    if (e->strips_unit > UNIT_STRIPS)
        e->strips_unit = UNIT_STRIPS;
    e->strip_units = (strips + e->strips_unit - 1) / e->strips_unit;
}
