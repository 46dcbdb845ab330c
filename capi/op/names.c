/* Names of inputs, under which a symbol has variables for those that are missing; and of outputs.
 */
#include <stdio.h>
#include <string.h>

#include "op/op.h"

/* Words between spaces and parentheses. */
static const char *word_begin(const char *text)
{
    return text + strspn(text, " ()");
}

static size_t word_length(const char *word)
{
    return strcspn(word, " ()");
}

static int words(const char *text, const char *end)
{
    int count = 0;

    for (const char *word = word_begin(text); word < end && *word != '\0';
         word = word_begin(word + word_length(word)))
        count++;
    return count;
}

/* Word i of a text, to `room`, with a number if that is not negative; NULL: there is none. */
static const char *word_at(const char *text, int i, int number, char room[MXL_NAME])
{
    const char *word = word_begin(text);

    while (*word != '\0' && i-- > 0)
        word = word_begin(word + word_length(word));
    if (*word == '\0')
        return NULL;
    if (number < 0)
        (void)snprintf(room, MXL_NAME, "%.*s", (int)word_length(word), word);
    else
        (void)snprintf(room, MXL_NAME, "%.*s_%d", (int)word_length(word), word, number);
    return room;
}

/* The name of input i by a text, whose group is repeated for all inputs but those of the words that
 * follow it. */
static const char *name_in(const char *text, int num_inputs, int i, char room[MXL_NAME])
{
    const char *close = strchr(text, ')');
    int each, rest;

    if (close == NULL)
        return word_at(text, i, -1, room);
    each = words(text, close);
    rest = words(close, close + strlen(close));
    if (i >= num_inputs - rest && i < num_inputs)
        return word_at(close, i - (num_inputs - rest), -1, room);
    return word_at(text, i % each, i / each, room);
}

const char *mxl_op_input_name(const mxl_op *op, const void *params, int num_inputs, int i,
                              char room[MXL_NAME])
{
    const char *name = op->input_name != NULL ? op->input_name(params, i) : NULL;
    const mxl_input *inputs = mxl_op_inputs(op);
    int listed = 0;

    if (name == NULL && op->input_names != NULL)
        name = name_in(op->input_names, num_inputs, i, room);
    if (name != NULL)
        return name;
    while (op->key_var_num_args == NULL && inputs[listed].name != NULL && listed < i)
        listed++;
    if (op->key_var_num_args == NULL && inputs[listed].name != NULL)
        return inputs[listed].name;
    (void)snprintf(room, MXL_NAME, "arg%d", i);
    return room;
}

int mxl_op_total_outputs(const mxl_op *op, const void *params, int outputs)
{
    int total = op->count_outputs != NULL ? op->count_outputs(params) : op->total_outputs;

    return total > 0 ? total : outputs;
}

const char *mxl_op_output_name(const mxl_op *op, const void *params, int i, char room[MXL_NAME])
{
    if (op->output_name != NULL)
        return op->output_name(params, i);
    return op->output_names != NULL ? word_at(op->output_names, i, -1, room) : NULL;
}
