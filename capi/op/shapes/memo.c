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

/* ---- what decides about a call, as words ---- */

/* One walk over a call's words serves both: it compares them with those that are kept, or keeps
 * them. */
typedef struct walk {
    int64_t *at, *end;
    bool keep;
} walk;

/* False: the words differ, or there are more than fit. */
__attribute__((always_inline)) static inline bool walk_word(walk *w, int64_t word)
{
    if (w->at == w->end)
        return false;
    if (w->keep)
        *w->at = word;
    return *w->at++ == word;
}

__attribute__((always_inline)) static inline bool walk_list(walk *w, int64_t head, int count,
                                                            const int64_t *list)
{
    bool same = walk_word(w, head);

    for (int i = 0; i < count && same; i++)
        same = walk_word(w, list[i]);
    return same;
}

/* The head of each list tells how long it is: lists whose words are equal are. */
__attribute__((always_inline)) static inline bool walk_call(mxl_shapes *shapes,
                                                            const mxl_infer *infer, bool keep)
{
    walk w = {shapes->memo.word, shapes->memo.word + MXL_SHAPES_WORDS, keep};
    const mxl_op *op = infer->op;

    if (!walk_word(&w, infer->num_inputs * 256 + infer->num_outputs) ||
        (op->dtypes_of != NULL && !walk_word(&w, (intptr_t)op->dtypes_of(infer->params))))
        return false;
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *in = infer->in[i];

        if (!walk_list(&w, in->dtype * 256 + in->ndim, in->ndim, in->shape))
            return false;
    }
    for (int i = 0; i < shapes->reads; i++) {
        const void *field = (const char *)infer->params + shapes->read[i].offset;
        const mxl_tuple *list = field;
        int64_t wide = 0;
        bool same;

        if (shapes->read[i].bytes == 0) {
            same = walk_list(&w, list->n, list->n, list->v);
        } else {
            memcpy(&wide, field, shapes->read[i].bytes == 8 ? 8 : 4);
            same = walk_word(&w, wide);
        }

        if (!same)
            return false;
    }
    return true;
}

/* ---- the memo ---- */

static bool begin(mxl_shapes *shapes)
{
    return shapes->reads >= 0 &&
           !atomic_flag_test_and_set_explicit(&shapes->memo.busy, memory_order_acquire);
}

static void end(mxl_shapes *shapes)
{
    atomic_flag_clear_explicit(&shapes->memo.busy, memory_order_release);
}

bool mxl_memo_find(mxl_shapes *shapes, mxl_infer *infer)
{
    const int64_t *result = shapes->memo.result;
    bool found;

    if (!begin(shapes))
        return false;
    found = shapes->memo.full && walk_call(shapes, infer, false);
    for (int i = 0; i < infer->num_outputs && found; i++) {
        mxl_shape *out = &infer->out_shape[i];

        infer->out_dtype[i] = (int)*result++;
        out->ndim = (int)*result++;
        for (int k = 0; k < out->ndim; k++)
            out->dim[k] = *result++;
    }
    end(shapes);
    return found;
}

void mxl_memo_keep(mxl_shapes *shapes, const mxl_infer *infer)
{
    int64_t *result = shapes->memo.result;
    int total = 0;

    for (int i = 0; i < infer->num_outputs; i++)
        total += 2 + (infer->out_shape[i].ndim > 0 ? infer->out_shape[i].ndim : 0);
    if (total > MXL_SHAPES_WORDS || !begin(shapes))
        return;
    shapes->memo.full = walk_call(shapes, infer, true);
    for (int i = 0; i < infer->num_outputs; i++) {
        const mxl_shape *out = &infer->out_shape[i];

        *result++ = infer->out_dtype[i];
        *result++ = out->ndim;
        for (int k = 0; k < out->ndim; k++)
            *result++ = out->dim[k];
    }
    end(shapes);
}
