/* Shapes and dtypes of symbols. The forms of a function differ in the type of the sizes: they read
 * them into one form, and lend the answers in theirs. */
#include <string.h>

#include "api/symbol/handles.h"
#include "base/memory/mem.h"
#include "base/text/near.h"
#include "symbol/infer.h"

/* One question: the graph, what the caller says, what follows. */
typedef struct question {
    const char *function;
    SymbolHandle handle;
    mxl_indexed graph;
    mxl_facts facts;
} question;

static int begin(question *q)
{
    mxl_symbol *symbol = api_symbol_pin(q->handle, q->function);
    int status;

    if (symbol == NULL)
        return -1;
    status = mxl_indexed_begin(&q->graph, symbol);
    if (status == 0) {
        status = mxl_facts_begin(&q->facts, &q->graph, api_mode().legacy_shape);
        if (status != 0)
            mxl_indexed_end(&q->graph);
    }
    if (status != 0)
        api_symbol_unpin(q->handle);
    return status;
}

static int end(question *q, int status)
{
    mxl_facts_end(&q->facts);
    mxl_indexed_end(&q->graph);
    api_symbol_unpin(q->handle);
    return status == 0 ? 0 : mxl_error_prefix(q->function);
}

/* -1 with the error of a key that names no variable. */
static int not_found(const question *q, const char *key)
{
    mxl_near near;

    mxl_near_begin(&near, key);
    for (int n = 0; n < q->graph.walk.count; n++)
        if (q->graph.walk.node[n]->op == NULL)
            mxl_near_offer(&near, q->graph.walk.node[n]->name);
    return mxl_error("argument name %.200s not found%s", key, mxl_near_text(&near));
}

/* The entry of the variable that a key names, or, without keys, of argument i. -1 with the error
 * set. */
static int find_entry(const question *q, const char *const *keys, uint32_t i,
                      const mxl_node_walk *args)
{
    for (int n = 0; n < q->graph.walk.count; n++) {
        const mxl_graph_node *node = q->graph.walk.node[n];

        if (node->op != NULL)
            continue;
        if (keys == NULL ? (int)i < args->count && args->node[i] == node
                         : keys[i] != NULL && strcmp(keys[i], node->name) == 0)
            return q->graph.first[n];
    }
    if (keys == NULL)
        return mxl_error("argument %u is given, but the symbol has %d", i, args->count);
    return not_found(q, keys[i] != NULL ? keys[i] : "(NULL)");
}

/* The variables of one kind; freed with mxl_walk_end. */
static int variables_of(const question *q, mxl_which which, mxl_node_walk *walk)
{
    if (mxl_walk_begin(walk, q->graph.symbol) != 0)
        return -1;
    if (mxl_walk_variables(walk, which) == 0)
        return 0;
    mxl_walk_end(walk);
    return -1;
}

/* ---- what the caller says ---- */

/* Sizes of one of three types. */
typedef enum width { U32, I32, I64 } width;

static int64_t size_at(width type, const void *sizes, int64_t i)
{
    return type == U32   ? (int64_t)((const uint32_t *)sizes)[i]
           : type == I32 ? ((const int32_t *)sizes)[i]
                         : ((const int64_t *)sizes)[i];
}

static int64_t index_at(width type, const void *index, uint32_t i)
{
    return type == I64 ? ((const int64_t *)index)[i] : (int64_t)((const uint32_t *)index)[i];
}

static int say_shapes(question *q, width type, uint32_t count, const char *const *keys,
                      const void *index, const void *sizes)
{
    mxl_node_walk args;
    int status = variables_of(q, MXL_ARGUMENTS, &args);

    if (status != 0)
        return -1;
    for (uint32_t i = 0; i < count && status == 0; i++) {
        int64_t begin_at = index_at(type, index, i), end_at = index_at(type, index, i + 1);
        int entry = find_entry(q, keys, i, &args);
        mxl_shape shape = {.ndim = (int)(end_at - begin_at)};

        if (entry >= 0 && (end_at < begin_at || end_at - begin_at > MXL_MAX_NDIM))
            entry = mxl_error("argument %u has %lld axes; at most %d are supported", i,
                              (long long)(end_at - begin_at), MXL_MAX_NDIM);
        if (entry < 0) {
            status = -1;
            break;
        }
        for (int k = 0; k < shape.ndim; k++)
            shape.dim[k] = size_at(type, sizes, begin_at + k);
        mxl_shape_from_caller(&shape, q->facts.legacy_shape);
        status = mxl_facts_say_shape(&q->facts, entry, &shape);
    }
    mxl_walk_end(&args);
    return status;
}

/* ---- the answers: of arguments, outputs and auxiliary states ---- */

typedef struct answer {
    int count;
    int *entry; /* within the question's block */
} answer;

typedef struct answers {
    answer of[3];
    int *block;
    size_t bytes;
} answers;

static int entries_of(const question *q, const mxl_graph_node *node)
{
    for (int n = 0; n < q->graph.walk.count; n++) {
        if (q->graph.walk.node[n] == node)
            return q->graph.first[n];
    }
    return -1;
}

/* Which entries are asked for. */
static int list_entries(const question *q, answers *a)
{
    static const mxl_which kinds[] = {MXL_ARGUMENTS, MXL_ARGUMENTS, MXL_AUXILIARY};
    int outs = q->graph.symbol->count, at = 0;

    a->bytes = ((size_t)q->graph.walk.count + (size_t)outs + 1) * sizeof(int);
    a->block = mxl_alloc(a->bytes);
    if (a->block == NULL)
        return -1;
    for (int k = 0; k < 3; k++) {
        mxl_node_walk walk = {0};

        a->of[k].entry = a->block + at;
        if (k == 1) {
            memcpy(a->block + at, q->graph.head, (size_t)outs * sizeof(int));
            a->of[k].count = outs;
        } else {
            if (variables_of(q, kinds[k], &walk) != 0)
                return -1;
            for (int n = 0; n < walk.count; n++)
                a->of[k].entry[n] = entries_of(q, walk.node[n]);
            a->of[k].count = walk.count;
            mxl_walk_end(&walk);
        }
        at += a->of[k].count;
    }
    return 0;
}

/* What a caller gets for one list. */
typedef struct shape_list {
    void *size; /* uint32_t, size_t with I64 */
    const int **ndim;
    const void ***data;
} shape_list;

/* An unknown number of axes is 0 and an unknown size 0 in MXNet's legacy mode, else -1. */
static int shown_ndim(const question *q, width type, const mxl_shape *shape)
{
    return shape->ndim < 0 && (q->facts.legacy_shape || type == U32) ? 0 : shape->ndim;
}

static void put_size(const question *q, width type, void *to, int64_t size)
{
    if (size < 0 && q->facts.legacy_shape)
        size = 0;
    if (type == I64)
        *(int64_t *)to = size;
    else
        *(int32_t *)to = (int32_t)size;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* The bytes that all answers need: numbers of axes, pointers, sizes. */
static size_t answer_bytes(const question *q, const answers *a)
{
    size_t bytes = 0;

    for (int k = 0; k < 3; k++) {
        bytes += padded((size_t)a->of[k].count * sizeof(int));
        bytes += (size_t)a->of[k].count * sizeof(void *);
        for (int i = 0; i < a->of[k].count; i++) {
            int ndim = q->facts.shape[a->of[k].entry[i]].ndim;

            bytes += (size_t)(ndim > 0 ? ndim : 0) * sizeof(int64_t);
        }
    }
    return bytes;
}

static char *lend_list(const question *q, width type, const answer *a, const shape_list *to,
                       char *room)
{
    size_t each = type == I64 ? sizeof(int64_t) : sizeof(int32_t);
    int *ndim = (int *)(void *)room;
    const void **data = (const void **)(void *)(room + padded((size_t)a->count * sizeof(int)));

    room = (char *)(data + a->count);
    for (int i = 0; i < a->count; i++) {
        const mxl_shape *shape = &q->facts.shape[a->entry[i]];

        ndim[i] = shown_ndim(q, type, shape);
        data[i] = room;
        for (int k = 0; k < shape->ndim; k++, room += each)
            put_size(q, type, room, shape->dim[k]);
        room = (char *)(uintptr_t)padded((size_t)(uintptr_t)room);
    }
    if (type == I64)
        *(size_t *)to->size = (size_t)a->count;
    else
        *(uint32_t *)to->size = (uint32_t)a->count;
    *to->ndim = ndim;
    *to->data = data;
    return room;
}

static bool shapes_known(const question *q, const answers *a)
{
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < a->of[k].count; i++) {
            if (!mxl_shape_known(&q->facts.shape[a->of[k].entry[i]]))
                return false;
        }
    }
    return true;
}

static int lend_shapes(question *q, width type, const shape_list to[3], int *complete)
{
    answers a = {0};
    char *room = NULL;

    if (list_entries(q, &a) == 0)
        room = api_buffer_get(API_BUFFER_INFERRED, answer_bytes(q, &a) + 8);
    if (room != NULL) {
        for (int k = 0; k < 3; k++)
            room = lend_list(q, type, &a.of[k], &to[k], room);
        *complete = shapes_known(q, &a);
    }
    mxl_free(a.block, a.bytes);
    return room != NULL ? 0 : -1;
}

static int infer_shape(const char *function, width type, bool partial, SymbolHandle sym,
                       uint32_t count, const char *const *keys, const void *index,
                       const void *sizes, const shape_list to[3], int *complete)
{
    question q = {.function = function, .handle = sym};
    int status;

    for (int k = 0; k < 3; k++) {
        if (to[k].size == NULL || to[k].ndim == NULL || to[k].data == NULL)
            return mxl_error("%s: an output argument is NULL", function);
    }
    if (complete == NULL)
        return api_null(function, "complete");
    if (count > 0 && (index == NULL || sizes == NULL))
        return api_null(function, index == NULL ? "arg_ind_ptr" : "arg_shape_data");
    if (begin(&q) != 0)
        return -1;
    status = say_shapes(&q, type, count, keys, index, sizes);
    if (status == 0 && mxl_infer_dtypes(&q.facts) != 0)
        mxl_facts_forget_dtypes(&q.facts); /* a contradiction is none of the shapes */
    if (status == 0)
        status = mxl_infer_shapes(&q.facts);
    if (status == 0)
        status = lend_shapes(&q, type, to, complete);
    *complete |= status == 0 && partial;
    return end(&q, status);
}

/* Each form, and its partial twin, which always calls the answer complete. */
#define INFER_SHAPE(name, type, partial, index_type, count_type, ndim_type, item)                  \
    int name(SymbolHandle sym, uint32_t num_args, const char **keys,                               \
             const index_type *arg_ind_ptr, const item *arg_shape_data, count_type *in_shape_size, \
             const ndim_type **in_shape_ndim, const item ***in_shape_data,                         \
             count_type *out_shape_size, const ndim_type **out_shape_ndim,                         \
             const item ***out_shape_data, count_type *aux_shape_size,                             \
             const ndim_type **aux_shape_ndim, const item ***aux_shape_data, int *complete)        \
    {                                                                                              \
        const shape_list to[3] = {                                                                 \
            {in_shape_size, (const int **)in_shape_ndim, (const void ***)in_shape_data},           \
            {out_shape_size, (const int **)out_shape_ndim, (const void ***)out_shape_data},        \
            {aux_shape_size, (const int **)aux_shape_ndim, (const void ***)aux_shape_data}};       \
                                                                                                   \
        return infer_shape(__func__, type, partial, sym, num_args, keys, arg_ind_ptr,              \
                           arg_shape_data, to, complete);                                          \
    }

INFER_SHAPE(MXSymbolInferShape, U32, false, uint32_t, uint32_t, uint32_t, uint32_t)
INFER_SHAPE(MXSymbolInferShapePartial, U32, true, uint32_t, uint32_t, uint32_t, uint32_t)
INFER_SHAPE(MXSymbolInferShapeEx, I32, false, uint32_t, uint32_t, int, int)
INFER_SHAPE(MXSymbolInferShapePartialEx, I32, true, uint32_t, uint32_t, int, int)
INFER_SHAPE(MXSymbolInferShapeEx64, I64, false, int64_t, size_t, int, int64_t)
INFER_SHAPE(MXSymbolInferShapePartialEx64, I64, true, int64_t, size_t, int, int64_t)

/* ---- dtypes ---- */

static int say_dtypes(question *q, uint32_t count, const char *const *keys, const int *dtypes)
{
    mxl_node_walk args;
    int status = variables_of(q, MXL_ARGUMENTS, &args);

    if (status != 0)
        return -1;
    for (uint32_t i = 0; i < count && status == 0; i++) {
        int entry = find_entry(q, keys, i, &args);

        if (entry >= 0 && dtypes[i] != MXL_DTYPE_UNKNOWN && !mxl_dtype_valid(dtypes[i]))
            entry = mxl_error("argument %u: there is no dtype %d", i, dtypes[i]);
        status = entry < 0 ? -1 : mxl_facts_say_dtype(&q->facts, entry, dtypes[i]);
    }
    mxl_walk_end(&args);
    return status;
}

static int lend_dtypes(question *q, uint32_t *const sizes[3], const int **const data[3],
                       int *complete)
{
    answers a = {0};
    int *room = NULL;

    if (list_entries(q, &a) == 0)
        room = api_buffer_get(API_BUFFER_INFERRED, a.bytes);
    *complete = 1;
    for (int k = 0; k < 3 && room != NULL; k++) {
        *sizes[k] = (uint32_t)a.of[k].count;
        *data[k] = room;
        for (int i = 0; i < a.of[k].count; i++) {
            *room = q->facts.dtype[a.of[k].entry[i]];
            *complete &= *room++ != MXL_DTYPE_UNKNOWN;
        }
    }
    mxl_free(a.block, a.bytes);
    return room != NULL ? 0 : -1;
}

static int infer_type(const char *function, bool partial, SymbolHandle sym, uint32_t count,
                      const char *const *keys, const int *dtypes, uint32_t *const sizes[3],
                      const int **const data[3], int *complete)
{
    question q = {.function = function, .handle = sym};
    int status;

    for (int k = 0; k < 3; k++) {
        if (sizes[k] == NULL || data[k] == NULL || complete == NULL)
            return mxl_error("%s: an output argument is NULL", function);
    }
    if (count > 0 && dtypes == NULL)
        return api_null(function, "arg_type_data");
    if (begin(&q) != 0)
        return -1;
    status = say_dtypes(&q, count, keys, dtypes);
    if (status == 0)
        status = mxl_infer_dtypes(&q.facts);
    if (status == 0)
        status = lend_dtypes(&q, sizes, data, complete);
    *complete |= status == 0 && partial;
    return end(&q, status);
}

#define INFER_TYPE(name, partial)                                                                  \
    int name(SymbolHandle sym, uint32_t num_args, const char **keys, const int *arg_type_data,     \
             uint32_t *in_type_size, const int **in_type_data, uint32_t *out_type_size,            \
             const int **out_type_data, uint32_t *aux_type_size, const int **aux_type_data,        \
             int *complete)                                                                        \
    {                                                                                              \
        return infer_type(__func__, partial, sym, num_args, keys, arg_type_data,                   \
                          (uint32_t *[3]){in_type_size, out_type_size, aux_type_size},             \
                          (const int **[3]){in_type_data, out_type_data, aux_type_data},           \
                          complete);                                                               \
    }

INFER_TYPE(MXSymbolInferType, false)
INFER_TYPE(MXSymbolInferTypePartial, true)
