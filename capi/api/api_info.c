/* Names, handles, documentation and arguments of operators, for bindings. Made at the first request
 * and kept for the process. The memory comes from the system, since it outlives any allocator and
 * is no leak. */
#include "api/common.h"

#include <stdlib.h>
#include <string.h>

/* The description of one operator; MXNet calls inputs and parameters arguments. */
typedef struct op_info {
    const char *description;
    uint32_t num_args;
    const char **names;
    const char **types;
    const char **docs;
} op_info;

enum { TYPE_TEXT = 1024 };

/* Between what an operator does and its shapes, at the end of a description. */
#define SHAPES "\n\nShapes: "

/* Publishes `made` unless another thread was faster. Returns the published object. */
static void *publish(_Atomic(void *) *edge, void *made)
{
    void *there = NULL;

    if (atomic_compare_exchange_strong(edge, &there, made))
        return made;
    free(made);
    return there;
}

static void *system_memory(const char *function, size_t bytes)
{
    void *block = mxl_state_system_memory(bytes);

    if (block == NULL) {
        mxl_error_memory(bytes);
        (void)mxl_error_prefix(function);
    }
    return block;
}

static const mxl_op *find_op(const char *function, const void *handle)
{
    const mxl_op *op = api_op(handle);

    if (op == NULL)
        (void)mxl_error_prefix(function);
    return op;
}

/* ---- names and handles ---- */

static int list_names(const char *function, uint32_t *size, const char ***array)
{
    const char *const *names = NULL;
    int count;

    *size = 0;
    *array = NULL;
    count = mxl_op_names(&names);
    if (count < 0)
        return mxl_error_prefix(function);
    *size = (uint32_t)count;
    *array = (const char **)(uintptr_t)names;
    return 0;
}

int MXListAllOpNames(uint32_t *out_size, const char ***out_array)
{
    API_NEED(out_size);
    API_NEED(out_array);
    return list_names(__func__, out_size, out_array);
}

int NNListAllOpNames(nn_uint *out_size, const char ***out_array)
{
    API_NEED(out_size);
    API_NEED(out_array);
    return list_names(__func__, out_size, out_array);
}

static void *op_handle(int number)
{
    return (void *)(uintptr_t)mxl_handle_permanent(MXL_KIND_OP, (uint32_t)number);
}

int NNGetOpHandle(const char *op_name, OpHandle *op_out)
{
    const mxl_op *op;

    API_NEED(op_out);
    *op_out = NULL;
    API_NEED(op_name);
    op = mxl_op_find(op_name);
    if (op == NULL)
        return mxl_error_prefix(__func__);
    *op_out = op_handle(mxl_op_number(op) + (mxl_op_is_numpys(op, op_name) ? MXL_OPS_MOST : 0));
    return 0;
}

/* Operators that MXNet lacks are called only by vjps and views, not by name. */
static bool is_public(const mxl_op *op)
{
    return strncmp(op->name, "_mxl_", 5) != 0;
}

/* A list of the public operators' handles, after its length. */
typedef struct creators {
    const struct creators *older; /* stays with those who asked for it */
    int ops;                      /* how many operators there were */
    uint32_t count;
    AtomicSymbolCreator list[];
} creators;

static creators *creators_new(const char *function, int ops, const creators *older)
{
    creators *made = system_memory(function, sizeof(*made) + (size_t)ops * sizeof(*made->list));

    if (made == NULL)
        return NULL;
    made->older = older;
    made->ops = ops;
    for (int i = 0; i < ops; i++) {
        if (is_public(mxl_op_at(i)))
            made->list[made->count++] = op_handle(i);
    }
    return made;
}

int MXSymbolListAtomicSymbolCreators(uint32_t *out_size, AtomicSymbolCreator **out_array)
{
    static _Atomic(creators *) made;
    creators *all, *longer;
    int count;

    API_NEED(out_size);
    API_NEED(out_array);
    *out_size = 0;
    *out_array = NULL;
    count = mxl_op_count();
    if (count == 0) /* Building the registry failed. */
        return mxl_error_prefix(__func__);
    all = atomic_load(&made);
    while (all == NULL || all->ops < count) {
        longer = creators_new(__func__, count, all);
        if (longer == NULL)
            return -1;
        if (atomic_compare_exchange_strong(&made, &all, longer))
            all = longer;
        else
            free(longer);
    }
    *out_size = all->count;
    *out_array = all->list;
    return 0;
}

int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name)
{
    const mxl_op *op;
    bool is_numpys;

    API_NEED(name);
    *name = NULL;
    op = api_op_named(creator, &is_numpys);
    if (op == NULL)
        return mxl_error_prefix(__func__);
    *name = is_numpys ? op->numpy_name : op->name;
    return 0;
}

/* ---- arguments ---- */

static const char *input_type(const mxl_op *op, const mxl_input *input)
{
    if (input->type_text != NULL)
        return input->type_text;
    return op->key_var_num_args != NULL ? "NDArray-or-Symbol[]" : "NDArray-or-Symbol";
}

static size_t count_args(const mxl_op *op)
{
    size_t count = 0;

    for (const mxl_input *input = mxl_op_inputs(op); input->name != NULL; input++)
        count++;
    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++)
        count++;
    return count;
}

/* Whether the description ends with the shapes: one line behind an empty one. */
static bool shows_shapes(const mxl_op *op)
{
    return op->shapes != NULL && strchr(op->shapes, '[') != NULL;
}

/* Types of parameters, and the description with shapes, are printed into text after the three
 * lists. MXNet lists some inputs after parameters. */
static op_info *info_new(const char *function, const mxl_op *op)
{
    size_t count = count_args(op), lists = sizeof(op_info) + 3 * count * sizeof(char *), text = 0;
    const mxl_input *input = mxl_op_inputs(op);
    const mxl_param *param = mxl_op_params(op);
    char type[TYPE_TEXT], *next;
    op_info *info;

    for (const mxl_param *each = mxl_op_params(op); each->name != NULL; each++)
        text += strlen(mxl_param_type_text(each, type, sizeof(type))) + 1;
    if (shows_shapes(op))
        text += strlen(op->doc) + strlen(SHAPES) + strlen(op->shapes) + 1;
    info = system_memory(function, lists + text);
    if (info == NULL)
        return NULL;
    info->names = (const char **)(info + 1);
    info->types = info->names + count;
    info->docs = info->types + count;
    next = (char *)info + lists;
    info->description = op->doc != NULL ? op->doc : "";
    if (shows_shapes(op)) {
        info->description = strcat(strcat(strcpy(next, op->doc), SHAPES), op->shapes);
        next += strlen(next) + 1;
    }
    for (int i = 0; param->name != NULL || input->name != NULL; info->num_args++) {
        uint32_t at = info->num_args;

        if (input->name != NULL && (input->after <= i || param->name == NULL)) {
            info->names[at] = input->name;
            info->types[at] = input_type(op, input);
            info->docs[at] = input->doc != NULL ? input->doc : "";
            input++;
            continue;
        }
        info->names[at] = param->name;
        info->types[at] = strcpy(next, mxl_param_type_text(param, type, sizeof(type)));
        info->docs[at] = param->doc != NULL ? param->doc : "";
        next += strlen(next) + 1;
        param++;
        i++;
    }
    return info;
}

/* The operator's info, made at the first request; NULL with the error set. */
static const op_info *info_of(const char *function, const mxl_op *op)
{
    enum { BLOCK = 1024 };
    static _Atomic(void *) blocks[MXL_OPS_MOST / BLOCK]; /* of one entry per operator */
    int number = mxl_op_number(op);
    _Atomic(void *) *edges = atomic_load(&blocks[number / BLOCK]);
    op_info *info;

    if (edges == NULL) {
        edges = system_memory(function, BLOCK * sizeof(*edges));
        if (edges == NULL)
            return NULL;
        edges = publish(&blocks[number / BLOCK], edges);
    }
    edges += number % BLOCK;
    info = atomic_load(edges);
    if (info == NULL) {
        info = info_new(function, op);
        if (info != NULL)
            info = publish(edges, info);
    }
    return info;
}

static int get_info(const char *function, const void *handle, const char **name,
                    const char **description, uint32_t *num_args, const char ***arg_names,
                    const char ***arg_types, const char ***arg_docs)
{
    const mxl_op *op;
    const op_info *info;

    *name = NULL;
    *description = NULL;
    *num_args = 0;
    *arg_names = *arg_types = *arg_docs = NULL;
    op = find_op(function, handle);
    info = op == NULL ? NULL : info_of(function, op);
    if (info == NULL)
        return -1;
    *name = op->name;
    *description = info->description;
    *num_args = info->num_args;
    *arg_names = info->names;
    *arg_types = info->types;
    *arg_docs = info->docs;
    return 0;
}

int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char **name,
                                const char **description, uint32_t *num_args,
                                const char ***arg_names, const char ***arg_type_infos,
                                const char ***arg_descriptions, const char **key_var_num_args,
                                const char **return_type)
{
    const mxl_op *op;

    API_NEED(name);
    API_NEED(description);
    API_NEED(num_args);
    API_NEED(arg_names);
    API_NEED(arg_type_infos);
    API_NEED(arg_descriptions);
    API_NEED(key_var_num_args);
    *key_var_num_args = NULL;
    if (return_type != NULL)
        *return_type = NULL;
    if (get_info(__func__, creator, name, description, num_args, arg_names, arg_type_infos,
                 arg_descriptions) != 0)
        return -1;
    op = api_op(creator);
    *key_var_num_args = op->key_var_num_args != NULL ? op->key_var_num_args : "";
    return 0;
}

int NNGetOpInfo(OpHandle op, const char **real_name, const char **description,
                nn_uint *num_doc_args, const char ***arg_names, const char ***arg_type_infos,
                const char ***arg_descriptions, const char **return_type)
{
    API_NEED(real_name);
    API_NEED(description);
    API_NEED(num_doc_args);
    API_NEED(arg_names);
    API_NEED(arg_type_infos);
    API_NEED(arg_descriptions);
    if (return_type != NULL)
        *return_type = NULL;
    return get_info(__func__, op, real_name, description, num_doc_args, arg_names, arg_type_infos,
                    arg_descriptions);
}

int MXLOpGetRefusal(const char *name, const char **reason)
{
    const mxl_op *op;

    API_NEED(name);
    API_NEED(reason);
    *reason = NULL;
    op = mxl_op_find(name);
    if (op == NULL)
        return mxl_error_prefix(__func__);
    *reason = op->refused;
    return 0;
}
