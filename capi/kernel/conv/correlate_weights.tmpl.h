/* The weights of correlate.tmpl.h, which includes this: packed in the order in which tiles read
 * them. */

/* True if the lattice uses all taps in the order of the weights. */
static bool NAME(whole)(const mxl_lattice *l, int64_t taps)
{
    return l->num_taps == taps && (taps == 0 || l->weight_at[0] == 0);
}

/* One tile of rows of the block, of which `w` are the weights at its first row and channel: row i
 * of the tile becomes column i. */
static void NAME(pack_tile)(const NAME(engine) *e, const T *w, int64_t height, int64_t channels,
                            T *out)
{
    const mxl_lattice *l = e->lattice;
    const mxl_correlation *c = e->c;
    int64_t taps = l->num_taps;

    if (NAME(whole)(l, c->taps) && c->w_in == taps) {
        mxl_transpose_kernel(sizeof(T), out, height, w, c->w_out, channels * taps, height);
        return;
    }
    for (int64_t ch = 0; ch < channels; ch++, w += c->w_in, out += taps * height) {
        if (taps == 1 && c->w_out == 1) {
            memcpy(out, w + l->weight_at[0], (size_t)height * sizeof(T));
            continue;
        }
        if (NAME(whole)(l, c->taps)) {
            mxl_transpose_kernel(sizeof(T), out, height, w, c->w_out, taps, height);
            continue;
        }
        for (int64_t t = 0; t < taps; t++)
            for (int64_t i = 0; i < height; i++)
                out[t * height + i] = w[i * c->w_out + l->weight_at[t]];
    }
}

static void NAME(scale_tile)(T *tile, int64_t depth, int64_t height, const T *scale)
{
    for (int64_t p = 0; p < depth; p++, tile += height)
        for (int64_t i = 0; i < height; i++)
            tile[i] *= scale[i];
}

/* Where the weights of a block of channels begin, for a group. */
static T *NAME(block_weights)(const NAME(engine) *e, int64_t c0, int64_t depth, int64_t group)
{
    const mxl_correlation *c = e->c;

    return (T *)e->lattice_weights + c0 * e->lattice->num_taps * c->groups * c->out +
           group * c->out * depth;
}

/* One item of the range is a tallest tile's rows of a group, of all channels. */
static void NAME(pack_weights)(void *data, int64_t begin, int64_t end)
{
    const NAME(engine) *e = data;
    const mxl_correlation *c = e->c;
    int64_t tall = e->micro->heights[0], tiles = (c->out + tall - 1) / tall;
    int64_t most = NAME(block_channels)(e);

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / tiles, first = item % tiles * tall;
        int64_t last = least(first + tall, c->out);

        for (int64_t c0 = 0; c0 < c->in; c0 += most) {
            int64_t channels = least(most, c->in - c0), depth = channels * e->lattice->num_taps;
            T *out = NAME(block_weights)(e, c0, depth, group);

            for (int64_t i = first, height; i < last; i += height) {
                const T *w = (const T *)c->weights + group * c->w_group + i * c->w_out;

                height = NAME(height)(e, last - i);
                NAME(pack_tile)(e, w + c0 * c->w_in, height, channels, out + i * depth);
                if (c->tail != NULL && c->tail->scale != NULL)
                    NAME(scale_tile)(out + i * depth, depth, height,
                                     (const T *)c->tail->scale + group * c->out + i);
            }
        }
    }
}

static void NAME(pack_all_weights)(NAME(engine) *e)
{
    const mxl_correlation *c = e->c;
    int64_t tall = e->micro->heights[0], items = c->groups * ((c->out + tall - 1) / tall);

    e->lattice_weights = e->packed;
    for (int64_t l = 0; l < c->num_lattices; l++) {
        e->lattice = &c->lattices[l];
        mxl_parallel_for(items, 1 + UNIT_WORK / 8 / (1 + tall * c->in * e->lattice->num_taps),
                         NAME(pack_weights), e);
        e->lattice_weights += e->lattice->num_taps * c->in * c->groups * c->out;
    }
}
