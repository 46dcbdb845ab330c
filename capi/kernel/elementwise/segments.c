/* Segments of a pass; see segments.h. */
#include "kernel/elementwise/segments.h"

#include <string.h>

static bool is_number(const mxl_stream *s)
{
    return s->strided != NULL ? s->strided->stride[s->strided->ndim - 1] == 0 : s->step == 0;
}

/* Whether the link is an instruction. */
static bool is_instruction(const mxl_link *link, bool whole)
{
    if (link->taker != NULL || link->opcode == MXL_CODE_NONE || !whole ||
        link->out.size < sizeof(float))
        return false;
    for (int k = 0; k < link->num_in; k++) {
        if (link->in[k].size != link->out.size)
            return false;
    }
    return true;
}

/* Which operand of a link is what the link before it has in registers; -1: none. */
static int operand_in_registers(const mxl_link *link)
{
    const mxl_stream *made = &link[-1].out;

    for (int k = 0; k < link->num_in; k++) {
        const mxl_stream *s = &link->in[k];

        if (s->data == made->data && s->scratch == made->scratch && s->step == 1 &&
            s->strided == NULL)
            return k;
    }
    return -1;
}

/* Whether the result of link i is needed in memory: by others than the next link, which has it in
 * registers as its operand `held` (-1: it does not read it). */
static bool needs_memory(const mxl_link *links, int count, int i, int held)
{
    const mxl_stream *made = &links[i].out;

    if (!made->scratch)
        return true;
    for (int j = i + 1; j < count; j++) {
        for (int k = 0; k < links[j].num_in; k++) {
            if (links[j].in[k].scratch && links[j].in[k].data == made->data &&
                !(j == i + 1 && k == held))
                return true;
        }
        if (links[j].out.scratch && links[j].out.data == made->data)
            return false;
    }
    return false;
}

static void add_instruction(mxl_segments *s, mxl_opcode opcode, const mxl_stream *operand,
                            const mxl_link *link)
{
    bool scalar = operand == NULL && mxl_opcode_has_two(opcode);

    s->list[s->count++] = (mxl_segment_instruction){
        .run = mxl_opcode_find(opcode, link->out.size,
                               scalar || (operand != NULL && is_number(operand))),
        .stream = operand,
        .params = scalar ? link->params : NULL,
    };
}

/* Adds the instructions of a link, whose operand `held` is in registers; -1: none is. */
static void add_link(mxl_segments *s, const mxl_link *link, int held)
{
    mxl_opcode opcode = link->opcode;

    if (held < 0) {
        held = 0;
        add_instruction(s, MXL_CODE_LOAD, &link->in[0], link);
    }
    if (held == 1)
        opcode = mxl_opcode_swapped(opcode);
    if (link->num_in == 2)
        add_instruction(s, opcode, &link->in[1 - held], link);
    else if (opcode != MXL_CODE_COPY)
        add_instruction(s, opcode, NULL, link);
}

static void add_segment(mxl_segments *s, const mxl_link *links, int count, int begin, int end)
{
    s->links[begin] = end - begin;
    s->first[begin] = s->count;
    for (int i = begin; i < end; i++) {
        int held = i == begin ? -1 : operand_in_registers(&links[i]);

        if (i > begin && needs_memory(links, count, i - 1, held)) {
            add_instruction(s, MXL_CODE_STORE, &links[i - 1].out, &links[i - 1]);
            s->in_registers = s->in_registers && !links[i - 1].out.scratch;
        }
        add_link(s, &links[i], held);
    }
    add_instruction(s, MXL_CODE_LAST, &links[end - 1].out, &links[end - 1]);
    s->end[begin] = s->count;
}

void mxl_segments_find(mxl_segments *s, const mxl_link *links, int count, const bool *whole)
{
    s->count = 0;
    s->in_registers = true;
    for (int i = 0, end; i < count; i = end) {
        end = i;
        while (end < count && is_instruction(&links[end], whole[end]) &&
               links[end].out.size == links[i].out.size)
            end++;
        s->links[i] = 0;
        if (end > i + 1)
            add_segment(s, links, count, i, end);
        else
            end = i + 1;
    }
    s->in_registers = s->in_registers && s->links[0] == count;
}

static void fill_f32(char *vector, float number)
{
    float *to = (float *)(void *)vector;

    for (size_t i = 0; i < MXL_VECTOR_BYTES / sizeof(number); i++)
        to[i] = number;
}

static void fill_f64(char *vector, double number)
{
    double *to = (double *)(void *)vector;

    for (size_t i = 0; i < MXL_VECTOR_BYTES / sizeof(number); i++)
        to[i] = number;
}

/* Fills a vector with the scalar, or (NULL) with the number at `data`. */
static void fill(char *vector, size_t size, const mxl_scalar_params *scalar, const char *data)
{
    if (size == sizeof(float))
        fill_f32(vector,
                 scalar != NULL ? (float)scalar->scalar : *(const float *)(const void *)data);
    else
        fill_f64(vector, scalar != NULL ? scalar->scalar : *(const double *)(const void *)data);
}

static inline char *operand_at(const mxl_stream *s, const mxl_chain_tile *tile)
{
    int64_t run;

    if (s->strided == NULL)
        return mxl_stream_at(s, tile, 0);
    return (char *)(uintptr_t)mxl_strided_at(s, tile->pos, &run);
}

/* Whether the elements of an operand are asked for before they are needed. Where all results stay
 * in registers the processor sees a few runs through memory and does that itself: it takes 0.7 of
 * the time for relu(a * b + c) * d - a with 1e7 elements. With its gradients, twelve runs, asking
 * takes 0.65 of the time (1e6 elements, Zen 4). */
static bool is_fetched(const mxl_segments *s, const mxl_stream *operand)
{
    return operand != NULL && operand->fetched && !s->in_registers;
}

int64_t mxl_segment_run(const mxl_segments *s, int i, size_t size, const mxl_chain_tile *tile)
{
    mxl_instruction list[MXL_SEGMENT_ROOM + 2 * MXL_CHAIN_LINKS]; /* and fetches of two operands */
    _Alignas(MXL_VECTOR_BYTES) char numbers[MXL_CHAIN_LINKS][MXL_VECTOR_BYTES];
    const mxl_code_fn fetch = mxl_opcode_find(MXL_CODE_FETCH, size, false);
    int64_t block = mxl_instructions_block(), bytes = tile->n * (int64_t)size / block * block;
    int count = 0, used = 0;

    if (bytes == 0)
        return 0;
    for (int j = s->first[i]; j < s->end[i]; j++) {
        const mxl_segment_instruction *from = &s->list[j];
        char *data = from->stream == NULL ? NULL : operand_at(from->stream, tile);

        if (is_fetched(s, from->stream))
            list[count++] = (mxl_instruction){fetch, data};
        if (from->params != NULL || (data != NULL && is_number(from->stream))) {
            fill(numbers[used], size, from->params, data);
            data = numbers[used++];
        }
        list[count++] = (mxl_instruction){from->run, data};
    }
    mxl_instructions_run(list, bytes);
    return bytes / (int64_t)size;
}
