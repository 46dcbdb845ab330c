/* MXLNodeGetParams: the parameters of a recorded call as text. */
#include "api/autograd/node.h"

#include <string.h>

#include "op/op.h"

enum { MAX_PARAMS = 64 };

/* Names, and the offsets of their values in the text. */
typedef struct listing {
    mxl_str text;
    const char *names[MAX_PARAMS];
    size_t begin[MAX_PARAMS], end[MAX_PARAMS];
    int count;
} listing;

static void begin(listing *list, const char *name)
{
    list->names[list->count] = name;
    list->begin[list->count] = list->text.length;
}

/* A newline reserves space for the zero byte. */
static void end(listing *list)
{
    list->end[list->count++] = list->text.length;
    mxl_str_add(&list->text, "\n");
}

static int list_params(const mxl_node *node, listing *list)
{
    const mxl_op *op = node->op;
    const char *counts = op->key_var_num_args; /* may be missing in the call, and in the table */

    if (counts != NULL) {
        begin(list, counts);
        mxl_str_addf(&list->text, "%d", node->num_inputs);
        end(list);
    }
    for (const mxl_param *p = mxl_op_params(op); p->name != NULL; p++) {
        bool listed = counts != NULL && strcmp(counts, p->name) == 0;
        int is_default = listed ? 1 : mxl_param_is_default(op, p, node->params);

        if (is_default < 0)
            return -1;
        if (is_default != 0 || list->count == MAX_PARAMS)
            continue;
        begin(list, p->name);
        if (mxl_param_print(p, node->params, &list->text) != 0)
            return -1;
        end(list);
    }
    return list->text.failed ? mxl_error("not enough memory for a list of parameters") : 0;
}

static int lend(const listing *list, int *count, const char ***keys, const char ***values)
{
    size_t n = (size_t)list->count, table = 2 * n * sizeof(char *);
    char *buffer = api_buffer_get(API_BUFFER_PARAMS, table + list->text.length + 1);
    char *text;

    if (buffer == NULL)
        return -1;
    text = buffer + table;
    *keys = (const char **)(void *)buffer;
    *values = *keys + n;
    if (n > 0)
        memcpy(text, list->text.text, list->text.length);
    for (size_t i = 0; i < n; i++) {
        (*keys)[i] = list->names[i];
        (*values)[i] = text + list->begin[i];
        text[list->end[i]] = '\0';
    }
    *count = list->count;
    return 0;
}

int MXLNodeGetParams(MXLNodeHandle node, int *count, const char ***keys, const char ***values)
{
    listing list = {.count = 0};
    const api_node *n;
    int status = 0;

    API_NEED(count);
    API_NEED(keys);
    API_NEED(values);
    *count = 0;
    *keys = *values = NULL;
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    if (!api_node_accumulates(n))
        status = list_params(api_node_recorded(n), &list);
    if (status == 0)
        status = lend(&list, count, keys, values);
    mxl_str_clear(&list.text);
    api_unpin(node);
    return status == 0 ? 0 : mxl_error_prefix(__func__);
}
