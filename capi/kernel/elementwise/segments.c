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
    if (link->taker != NULL || link->opcode == MXL_CODE_NONE || !whole)
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

/* Fills a vector with a number of `size` bytes. */
static void fill(char *vector, size_t size, const char *number)
{
    for (size_t i = 0; i < MXL_VECTOR_BYTES; i += size)
        memcpy(vector + i, number, size);
}

static void fill_scalar(char *vector, size_t size, const mxl_scalar_params *params)
{
    float f32 = (float)params->scalar;

    fill(vector, size, size == sizeof(f32) ? (char *)&f32 : (char *)&params->scalar);
}

static inline char *operand_at(const mxl_stream *s, const mxl_chain_tile *tile)
{
    int64_t run;

    if (s->strided == NULL)
        return mxl_stream_at(s, tile, 0);
    return (char *)(uintptr_t)mxl_strided_at(s, tile->pos, &run);
}

int64_t mxl_segment_run(const mxl_segments *s, int i, size_t size, const mxl_chain_tile *tile)
{
    mxl_instruction program[MXL_SEGMENT_ROOM];
    _Alignas(MXL_VECTOR_BYTES) char numbers[MXL_CHAIN_LINKS][MXL_VECTOR_BYTES];
    const mxl_segment_instruction *list = s->list + s->first[i];
    int count = s->end[i] - s->first[i], used = 0;
    int64_t block = mxl_instructions_block(), bytes = tile->n * (int64_t)size / block * block;

    if (bytes == 0)
        return 0;
    for (int j = 0; j < count; j++) {
        char *data = list[j].stream == NULL ? NULL : operand_at(list[j].stream, tile);

        if (list[j].params != NULL || (data != NULL && is_number(list[j].stream))) {
            if (list[j].params != NULL)
                fill_scalar(numbers[used], size, list[j].params);
            else
                fill(numbers[used], size, data);
            data = numbers[used++];
        }
        program[j] = (mxl_instruction){list[j].run, data};
    }
    mxl_instructions_run(program, bytes);
    return bytes / (int64_t)size;
}
