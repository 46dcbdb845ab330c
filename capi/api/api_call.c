/* Prepared calls: MXLPrepare and the MXLCall family, the hot path of every binding. */
#include "api/common.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"

/* An operator with its constant parameters; lives as long as the process. */
typedef struct prepared {
    const mxl_op *op;
    void *params; /* with all constants and defaults filled in; arguments are put into a copy */
    size_t params_bytes;
    int num_arguments;
    int count_offset; /* where the number of inputs goes, or -1 */
    const mxl_param *arguments[];
} prepared;

enum {
    CHUNK = 1024, /* calls a chunk of the table holds */
    CHUNKS = 64,
    PARAMS_ROOM = 512, /* the largest parameter struct */
    INPUT_ROOM = 32    /* inputs that need no memory */
};

static prepared **_Atomic table[CHUNKS];
static atomic_uint table_count;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static const prepared *table_at(uint32_t number)
{
    prepared **chunk = atomic_load_explicit(&table[number / CHUNK], memory_order_acquire);

    return chunk[number % CHUNK];
}

static const prepared *call_of(const void *handle)
{
    uint32_t count = atomic_load_explicit(&table_count, memory_order_acquire);
    int64_t number = mxl_handle_number(MXL_KIND_CALL, api_number(handle), count);

    return number < 0 ? NULL : table_at((uint32_t)number);
}

/* ---- preparing ---- */

typedef struct request {
    const mxl_op *op;
    int num_constant, num_arguments;
    const char **keys, **values, **arguments;
} request;

static bool is_argument(const request *r, const char *name)
{
    for (int i = 0; i < r->num_arguments; i++) {
        if (strcmp(r->arguments[i], name) == 0)
            return true;
    }
    return false;
}

static int check_names(const request *r)
{
    for (int i = 0; i < r->num_constant + r->num_arguments; i++) {
        const char *name = i < r->num_constant ? r->keys[i] : r->arguments[i - r->num_constant];

        if (name == NULL || (i < r->num_constant && r->values[i] == NULL))
            return mxl_error("MXLPrepare: a parameter of %s has a NULL name or value", r->op->name);
        if (mxl_param_find(r->op, name) == NULL)
            return mxl_error("%s: unknown parameter \"%s\"", r->op->name, name);
        for (int k = 0; k < i; k++) {
            const char *other = k < r->num_constant ? r->keys[k] : r->arguments[k - r->num_constant];

            if (strcmp(name, other) == 0)
                return mxl_error("%s: parameter \"%s\" is named twice", r->op->name, name);
        }
    }
    return 0;
}

/* Fills constants and defaults; what is an argument stays zero. */
static int fill(const request *r, void *params, mxl_arena *arena)
{
    memset(params, 0, r->op->params_size);
    for (const mxl_param *p = r->op->params; p->name != NULL; p++) {
        const char *text = p->def;

        if (is_argument(r, p->name))
            continue;
        for (int i = 0; i < r->num_constant; i++) {
            if (strcmp(r->keys[i], p->name) == 0)
                text = r->values[i];
        }
        if (text == NULL && r->op->key_var_num_args != NULL &&
            strcmp(r->op->key_var_num_args, p->name) == 0)
            continue;
        if (text == NULL)
            return mxl_error("%s: required parameter \"%s\" is missing", r->op->name, p->name);
        if (mxl_param_parse(r->op, p, text, params, arena) != 0)
            return -1;
    }
    return 0;
}

/* Whether a prepared call answers the request: same operator, parameters and arguments. Blocks made
 * by mxl_params_copy differ only in addresses, so the constants are compared field by field. */
static bool same_field(const mxl_param *p, const char *a, const char *b)
{
    a += p->offset;
    b += p->offset;
    switch (p->type) {
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT: {
        const mxl_tuple *x = (const mxl_tuple *)a, *y = (const mxl_tuple *)b;

        return x->n == y->n &&
               (x->n <= 0 || memcmp(x->v, y->v, (size_t)x->n * sizeof(*x->v)) == 0);
    }
    case MXL_P_STRING: {
        const char *x = *(const char *const *)a, *y = *(const char *const *)b;

        return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
    }
    case MXL_P_INT:
    case MXL_P_OPT_INT:
    case MXL_P_FLOAT:
    case MXL_P_OPT_FLOAT:
        return memcmp(a, b, sizeof(int64_t)) == 0;
    default:
        return memcmp(a, b, sizeof(int)) == 0;
    }
}

static bool matches(const prepared *call, const request *r, const void *params)
{
    if (call->op != r->op || call->num_arguments != r->num_arguments)
        return false;
    for (int i = 0; i < r->num_arguments; i++) {
        if (strcmp(call->arguments[i]->name, r->arguments[i]) != 0)
            return false;
    }
    for (const mxl_param *p = r->op->params; p->name != NULL; p++) {
        if (!is_argument(r, p->name) && !same_field(p, call->params, params))
            return false;
    }
    return true;
}

static prepared *prepared_new(const request *r, const void *params)
{
    size_t bytes = sizeof(prepared) + (size_t)r->num_arguments * sizeof(mxl_param *);
    prepared *call = mxl_alloc(bytes);
    const mxl_param *count;

    if (call == NULL)
        return NULL;
    call->op = r->op;
    call->num_arguments = r->num_arguments;
    for (int i = 0; i < r->num_arguments; i++)
        call->arguments[i] = mxl_param_find(r->op, r->arguments[i]);
    count = r->op->key_var_num_args == NULL ? NULL : mxl_param_find(r->op, r->op->key_var_num_args);
    call->count_offset = count == NULL ? -1 : (int)count->offset;
    call->params = NULL;
    call->params_bytes = r->op->params_size == 0 ? 0 : mxl_params_bytes(r->op, params);
    if (call->params_bytes > 0) {
        call->params = mxl_alloc(call->params_bytes);
        if (call->params == NULL) {
            mxl_free(call, bytes);
            return NULL;
        }
        mxl_params_copy(r->op, call->params, params);
    }
    return call;
}

/* The number of the request's call, made when it is the first of its kind; -1. The lock is held. */
static int64_t intern(const request *r, const void *params)
{
    uint32_t count = atomic_load_explicit(&table_count, memory_order_relaxed);
    prepared **chunk;
    prepared *call;

    for (uint32_t i = 0; i < count; i++) {
        if (matches(table_at(i), r, params))
            return i;
    }
    if (count == CHUNK * CHUNKS)
        return mxl_error("MXLPrepare: more than %d different calls; pass what varies as arguments",
                         CHUNK * CHUNKS);
    chunk = atomic_load_explicit(&table[count / CHUNK], memory_order_relaxed);
    if (chunk == NULL) {
        chunk = mxl_alloc(CHUNK * sizeof(*chunk));
        if (chunk == NULL)
            return -1;
        atomic_store_explicit(&table[count / CHUNK], chunk, memory_order_release);
    }
    call = prepared_new(r, params);
    if (call == NULL)
        return -1;
    chunk[count % CHUNK] = call;
    atomic_store_explicit(&table_count, count + 1, memory_order_release);
    return count;
}

int MXLPrepare(const char *name, int num_constant, const char **keys, const char **values,
               int num_arguments, const char **arguments, MXLCallHandle *out)
{
    request r = {NULL, num_constant, num_arguments, keys, values, arguments};
    _Alignas(16) char params[PARAMS_ROOM];
    mxl_arena arena;
    int64_t number = -1;

    API_NEED(out);
    *out = NULL;
    API_NEED(name);
    if (num_constant < 0 || num_arguments < 0)
        return mxl_error("MXLPrepare: a negative number of parameters");
    if ((num_constant > 0 && (keys == NULL || values == NULL)) ||
        (num_arguments > 0 && arguments == NULL))
        return mxl_error("MXLPrepare: parameters are announced, but their list is NULL");
    r.op = mxl_op_find(name);
    if (r.op == NULL || check_names(&r) != 0)
        return -1;
    mxl_arena_init(&arena);
    if (fill(&r, params, &arena) == 0) {
        pthread_mutex_lock(&table_lock);
        number = intern(&r, params);
        pthread_mutex_unlock(&table_lock);
    }
    mxl_arena_clear(&arena);
    if (number < 0)
        return -1;
    *out = (MXLCallHandle)(uintptr_t)mxl_handle_permanent(MXL_KIND_CALL, (uint32_t)number);
    return 0;
}

/* ---- calling ---- */

static int set_enum(const prepared *call, const mxl_param *p, int64_t value, int *field)
{
    int count = 0;

    if (p->type == MXL_P_ENUM) {
        while (p->values[count] != NULL)
            count++;
    } else {
        count = p->type == MXL_P_DTYPE ? MXL_DTYPE_COUNT : 2;
    }
    if (value < (p->type == MXL_P_ENUM || p->type == MXL_P_BOOL ? 0 : -1) || value >= count)
        return mxl_error("%s: parameter \"%s\" cannot be %lld", call->op->name, p->name,
                         (long long)value);
    *field = (int)value;
    return 0;
}

static int set_list(const prepared *call, const mxl_param *p, const MXLList *list, mxl_tuple *field)
{
    if (list->n > MXL_MAX_NDIM || list->n < -1 || (list->n > 0 && list->values == NULL))
        return mxl_error("%s: parameter \"%s\" is a list of %lld numbers; 0 to %d are possible",
                         call->op->name, p->name, (long long)list->n, MXL_MAX_NDIM);
    if (list->n < 0 && p->type != MXL_P_OPT_SHAPE)
        return mxl_error("%s: parameter \"%s\" cannot be None", call->op->name, p->name);
    for (int64_t i = 0; i < list->n && p->type != MXL_P_TUPLE_OPT; i++) {
        if (list->values[i] == MXL_NONE)
            return mxl_error("%s: entry %lld of parameter \"%s\" cannot be None", call->op->name,
                             (long long)i, p->name);
    }
    field->n = (int)list->n;
    field->v = list->values;
    return 0;
}

static int set_argument(const prepared *call, const mxl_param *p, const MXLValue *value, char *params)
{
    void *field = params + p->offset;

    switch (p->type) {
    case MXL_P_INT:
        if (value->i == MXL_NONE || (p->has_min && value->i < p->min))
            return mxl_error("%s: parameter \"%s\" cannot be %lld", call->op->name, p->name,
                             (long long)value->i);
        *(int64_t *)field = value->i;
        return 0;
    case MXL_P_OPT_INT:
        *(int64_t *)field = value->i;
        return 0;
    case MXL_P_FLOAT:
    case MXL_P_OPT_FLOAT:
        *(double *)field = value->f;
        return 0;
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT:
        return set_list(call, p, &value->list, field);
    case MXL_P_STRING:
        return mxl_error("%s: parameter \"%s\" is text, and text is always constant", call->op->name,
                         p->name);
    default:
        return set_enum(call, p, value->i, field);
    }
}

/* The parameters of one call: the prepared ones, or a copy in `room` with the arguments set. */
static const void *call_params(const prepared *call, int num_inputs, const MXLValue *arguments,
                               char *room)
{
    if (call->num_arguments == 0 && call->count_offset < 0)
        return call->params;
    if (call->num_arguments > 0 && arguments == NULL)
        return mxl_error_null("%s: was prepared with %d arguments, got NULL", call->op->name,
                              call->num_arguments);
    memcpy(room, call->params, call->op->params_size);
    if (call->count_offset >= 0)
        *(int64_t *)(void *)(room + call->count_offset) = num_inputs;
    for (int i = 0; i < call->num_arguments; i++) {
        if (set_argument(call, call->arguments[i], &arguments[i], room) != 0)
            return NULL;
    }
    if (call->op->check != NULL && call->op->check(room) != 0)
        return NULL;
    return room;
}

static int run(const prepared *call, int num_inputs, const NDArrayHandle *inputs,
               const MXLValue *arguments, int num_outputs, mxl_array **out)
{
    _Alignas(16) char room[PARAMS_ROOM];
    const void *params = call_params(call, num_inputs, arguments, room);
    mxl_array *in_room[INPUT_ROOM], **in = in_room;
    size_t bytes = (size_t)num_inputs * sizeof(*in);
    int status = -1;

    if (params == NULL && call->params_bytes > 0)
        return -1;
    if (num_inputs > INPUT_ROOM) {
        in = mxl_alloc(bytes);
        if (in == NULL)
            return -1;
    }
    if (api_pin_many(num_inputs, inputs, in, false) == 0) {
        status = mxl_invoke(call->op, params, num_inputs, in, num_outputs, out, api_mode());
        api_unpin_many(num_inputs, inputs);
    }
    if (in != in_room)
        mxl_free(in, bytes);
    return status;
}

static NDArrayHandle run_one(const prepared *call, int num_inputs, const NDArrayHandle *inputs,
                             const MXLValue *arguments)
{
    mxl_array *out = NULL;

    if (call == NULL || run(call, num_inputs, inputs, arguments, 1, &out) != 0)
        return NULL;
    return api_handle(out);
}

/* One or two inputs: as run, without a list to pin. */
static NDArrayHandle run_few(const prepared *call, NDArrayHandle a, NDArrayHandle b, bool two,
                             const MXLValue *arguments)
{
    _Alignas(16) char room[PARAMS_ROOM];
    const void *params;
    mxl_array *in[2], *out = NULL;
    int status = -1;

    if (call == NULL)
        return NULL;
    params = call_params(call, two ? 2 : 1, arguments, room);
    if (params == NULL && call->params_bytes > 0)
        return NULL;
    in[0] = api_pin(a);
    if (in[0] == NULL)
        return NULL;
    in[1] = two ? api_pin(b) : NULL;
    if (!two || in[1] != NULL)
        status = mxl_invoke(call->op, params, two ? 2 : 1, in, 1, &out, api_mode());
    if (in[1] != NULL)
        api_unpin(b);
    api_unpin(a);
    return status == 0 ? api_handle(out) : NULL;
}

NDArrayHandle MXLCall(MXLCallHandle call, int num_inputs, const NDArrayHandle *inputs,
                      const MXLValue *arguments)
{
    if (num_inputs < 0 || (num_inputs > 0 && inputs == NULL))
        return mxl_error_null("MXLCall: %d inputs are announced, their list is %s", num_inputs,
                              inputs == NULL ? "NULL" : "given");
    return run_one(call_of(call), num_inputs, inputs, arguments);
}

NDArrayHandle MXLCall1(MXLCallHandle call, NDArrayHandle a)
{
    return run_few(call_of(call), a, NULL, false, NULL);
}

NDArrayHandle MXLCall2(MXLCallHandle call, NDArrayHandle a, NDArrayHandle b)
{
    return run_few(call_of(call), a, b, true, NULL);
}

/* The one-argument forms check that the call was prepared with one argument of their type. */
static NDArrayHandle run_typed(MXLCallHandle handle, NDArrayHandle a, const MXLValue *value,
                               const char *form, unsigned types)
{
    const prepared *call = call_of(handle);

    if (call == NULL)
        return NULL;
    if (call->num_arguments != 1 || (types >> call->arguments[0]->type & 1) == 0)
        return mxl_error_null("%s: %s was not prepared with one argument of that type", form,
                              call->op->name);
    return run_few(call, a, NULL, false, value);
}

NDArrayHandle MXLCall1Float(MXLCallHandle call, NDArrayHandle a, double value)
{
    MXLValue v;

    v.f = value;
    return run_typed(call, a, &v, "MXLCall1Float", 1u << MXL_P_FLOAT | 1u << MXL_P_OPT_FLOAT);
}

NDArrayHandle MXLCall1Int(MXLCallHandle call, NDArrayHandle a, int64_t value)
{
    MXLValue v;

    v.i = value;
    return run_typed(call, a, &v, "MXLCall1Int",
                     1u << MXL_P_INT | 1u << MXL_P_OPT_INT | 1u << MXL_P_BOOL | 1u << MXL_P_OPT_BOOL |
                         1u << MXL_P_ENUM | 1u << MXL_P_DTYPE);
}

NDArrayHandle MXLCall1List(MXLCallHandle call, NDArrayHandle a, int64_t n, const int64_t *values)
{
    MXLValue v;

    v.list.n = n;
    v.list.values = values;
    return run_typed(call, a, &v, "MXLCall1List",
                     1u << MXL_P_SHAPE | 1u << MXL_P_OPT_SHAPE | 1u << MXL_P_TUPLE_OPT);
}

/* ---- several outputs, or outputs of the caller's ---- */

/* New handles for the outputs that had none; all or nothing. The arrays are given up. */
static int fill_handles(int count, mxl_array **out, NDArrayHandle *outputs)
{
    NDArrayHandle *made = api_buffer_get(API_BUFFER_HANDLES, ((size_t)count + 1) * sizeof(*made));
    int status = made == NULL ? -1 : 0;

    for (int i = 0; i < count; i++) {
        if (outputs[i] != NULL)
            continue;
        if (status != 0) {
            mxl_array_drop(out[i]);
            continue;
        }
        made[i] = api_handle(out[i]);
        if (made[i] != NULL)
            continue;
        status = -1;
        for (int k = 0; k < i; k++) {
            if (outputs[k] == NULL)
                mxl_handle_free(MXL_KIND_ARRAY, api_number(made[k]));
        }
    }
    for (int i = 0; i < count && status == 0; i++) {
        if (outputs[i] == NULL)
            outputs[i] = made[i];
    }
    return status;
}

int MXLCallInto(MXLCallHandle handle, int num_inputs, const NDArrayHandle *inputs,
                const MXLValue *arguments, int *num_outputs, NDArrayHandle *outputs)
{
    const prepared *call = call_of(handle);
    mxl_array *room[INPUT_ROOM], **out = room;
    mxl_arity arity;
    _Alignas(16) char params_room[PARAMS_ROOM];
    const void *params;
    int status = -1;

    API_NEED(num_outputs);
    if (call == NULL)
        return -1;
    if (num_inputs < 0 || (num_inputs > 0 && inputs == NULL))
        return mxl_error("MXLCallInto: %d inputs are announced, their list is %s", num_inputs,
                         inputs == NULL ? "NULL" : "given");
    params = call_params(call, num_inputs, arguments, params_room);
    if ((params == NULL && call->params_bytes > 0) ||
        mxl_invoke_arity(call->op, params, num_inputs, &arity) != 0)
        return -1;
    if (*num_outputs < arity.visible || outputs == NULL)
        return mxl_error("%s: has %d outputs, there is room for %d", call->op->name, arity.visible,
                         outputs == NULL ? 0 : *num_outputs);
    if (arity.visible > INPUT_ROOM) {
        out = mxl_alloc((size_t)arity.visible * sizeof(*out));
        if (out == NULL)
            return -1;
    }
    if (api_pin_many(arity.visible, outputs, out, true) == 0) {
        status = run(call, num_inputs, inputs, arguments, arity.visible, out);
        api_unpin_many(arity.visible, outputs);
        if (status == 0)
            status = fill_handles(arity.visible, out, outputs);
    }
    if (out != room)
        mxl_free(out, (size_t)arity.visible * sizeof(*out));
    if (status == 0)
        *num_outputs = arity.visible;
    return status;
}
