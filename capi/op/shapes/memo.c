/* The last call of each text: most calls have the shapes of the one before, and comparing them
 * takes a tenth of the time that solving does. */
#include <string.h>

#include "op/shapes/shapes.h"

/* ---- which parameters decide ---- */

void mxl_memo_read(mxl_shapes *shapes, const mxl_param *param)
{
    bool list = param->type == MXL_P_SHAPE || param->type == MXL_P_OPT_SHAPE;
    bool wide = param->type == MXL_P_INT || param->type == MXL_P_OPT_INT ||
                param->type == MXL_P_FLOAT || param->type == MXL_P_OPT_FLOAT;
    bool narrow = param->type == MXL_P_BOOL || param->type == MXL_P_OPT_BOOL ||
                  param->type == MXL_P_ENUM || param->type == MXL_P_DTYPE;

    for (int i = 0; i < shapes->reads; i++)
        if (shapes->read[i].offset == param->offset)
            return;
    if (shapes->reads < 0 || shapes->reads == MXL_SHAPES_READS || !(list || wide || narrow))
        shapes->reads = -1;
    else
        shapes->read[shapes->reads++] =
            (mxl_shape_read){(uint16_t)param->offset, (uint8_t)(list   ? 0
                                                                : wide ? 8
                                                                       : 4)};
}

void mxl_memo_read_all(mxl_shapes *shapes, const mxl_op *op)
{
    for (const mxl_param *p = mxl_op_params(op); p->name != NULL; p++)
        mxl_memo_read(shapes, p);
}

/* ---- words ---- */

/* The number of words after this list; 0: more than fit. */
static int add_list(int64_t *word, int used, int head, int count, const int64_t *list)
{
    if (used == 0 || used + 1 + count > MXL_SHAPES_WORDS)
        return 0;
    word[used++] = head;
    for (int i = 0; i < count; i++)
        word[used + i] = list[i];
    return used + (count > 0 ? count : 0);
}

int mxl_memo_words(const mxl_shapes *shapes, const mxl_infer *infer, int64_t *word)
{
    int used = 2;

    if (shapes->reads < 0)
        return 0;
    word[0] = infer->num_inputs * 256 + infer->num_outputs;
    word[1] = (int64_t)(intptr_t)mxl_op_dtypes(infer->op, infer->params);
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *in = infer->in[i];

        used = add_list(word, used, in->dtype * 256 + in->ndim, in->ndim, in->shape);
    }
    for (int i = 0; i < shapes->reads && used > 0; i++) {
        const char *field = (const char *)infer->params + shapes->read[i].offset;
        const mxl_tuple *list = (const void *)field;

        if (shapes->read[i].bytes == 0)
            used = add_list(word, used, list->n, list->n, list->v);
        else if (shapes->read[i].bytes == 8)
            used = add_list(word, used, 0, 1, (const int64_t *)(const void *)field);
        else
            used = add_list(word, used, *(const int *)(const void *)field, 0, NULL);
    }
    return used;
}

/* ---- the memo ---- */

static bool same_words(const mxl_shape_memo *m, int words, const int64_t *word)
{
    if (m->words != words)
        return false;
    for (int i = 0; i < words; i++)
        if (m->word[i] != word[i])
            return false;
    return true;
}

bool mxl_memo_find(mxl_shapes *shapes, int words, const int64_t *word, mxl_infer *infer)
{
    mxl_shape_memo *m = &shapes->memo;
    const int64_t *result = m->result;
    bool found;

    if (words == 0 || atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire))
        return false;
    found = same_words(m, words, word);
    for (int i = 0; i < infer->num_outputs && found; i++) {
        mxl_shape *out = &infer->out_shape[i];

        infer->out_dtype[i] = (int)*result++;
        out->ndim = (int)*result++;
        for (int k = 0; k < out->ndim; k++)
            out->dim[k] = *result++;
    }
    atomic_flag_clear_explicit(&m->busy, memory_order_release);
    return found;
}

void mxl_memo_keep(mxl_shapes *shapes, int words, const int64_t *word, const mxl_infer *infer)
{
    mxl_shape_memo *m = &shapes->memo;
    int total = 0, used = 0;

    for (int i = 0; i < infer->num_outputs; i++)
        total += 2 + (infer->out_shape[i].ndim > 0 ? infer->out_shape[i].ndim : 0);
    if (words == 0 || total > MXL_SHAPES_WORDS ||
        atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire))
        return;
    m->words = (uint16_t)words;
    memcpy(m->word, word, (size_t)words * sizeof(*word));
    for (int i = 0; i < infer->num_outputs; i++) {
        const mxl_shape *out = &infer->out_shape[i];

        m->result[used++] = infer->out_dtype[i];
        m->result[used++] = out->ndim;
        for (int k = 0; k < out->ndim; k++)
            m->result[used++] = out->dim[k];
    }
    atomic_flag_clear_explicit(&m->busy, memory_order_release);
}
