/* MXLPrepare: parses the constant parameters of operators once. Equal calls share one entry, which
 * is never freed. */
#include <stdatomic.h>
#include <string.h>

#include "api/prepared.h"
#include "base/fork.h"
#include "base/memory/mem.h"
#include "ops/index/key.h"
#include "ops/shape/movement.h"
#include "base/system/threads.h"

enum {
    CHUNK = 1024, /* calls in a chunk of the table */
    CHUNKS = 64
};

static api_prepared **_Atomic table[CHUNKS];
static atomic_uint table_count;
static mxl_mutex table_lock = MXL_MUTEX_INIT;

static void lock_table(void)
{
    mxl_mutex_lock(&table_lock);
}

static void unlock_table(void)
{
    mxl_mutex_unlock(&table_lock);
}

__attribute__((constructor)) static void guard_forks(void)
{
    mxl_fork_guard(MXL_FORK_PREPARED, lock_table, unlock_table, unlock_table);
}

static const api_prepared *table_at(uint32_t number)
{
    api_prepared **chunk = atomic_load_explicit(&table[number / CHUNK], memory_order_acquire);

    return chunk[number % CHUNK];
}

const api_prepared *api_prepared_get(const void *handle)
{
    uint32_t count = atomic_load_explicit(&table_count, memory_order_acquire);
    int64_t number = mxl_handle_number(MXL_KIND_CALL, api_number(handle), count);

    return number < 0 ? NULL : table_at((uint32_t)number);
}

/* ---- preparing ---- */

typedef struct request {
    const mxl_op *op;
    int kind;
    const char *label, *slots;
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
        const mxl_param *param;

        if (name == NULL || (i < r->num_constant && r->values[i] == NULL))
            return mxl_error("MXLPrepare: a parameter of %s has a NULL name or value", r->op->name);
        param = mxl_param_find(r->op, name);
        if (param == NULL)
            return mxl_param_unknown(r->op, name);
        if (i >= r->num_constant && param->type == MXL_P_STRING)
            return mxl_error("%s: parameter \"%s\" is text, and text is always constant",
                             r->op->name, name);
        if (i >= r->num_constant && param->type == MXL_P_FLOATS)
            return mxl_error(
                "%s: parameter \"%s\" is a list of fractions, which is always constant",
                r->op->name, name);
        for (int k = 0; k < i; k++) {
            const char *other =
                k < r->num_constant ? r->keys[k] : r->arguments[k - r->num_constant];

            if (strcmp(name, other) == 0)
                return mxl_error("%s: parameter \"%s\" is named twice", r->op->name, name);
        }
    }
    return 0;
}

/* Fills constants and defaults. Arguments stay zero and are checked at each call. */
static int fill(const request *r, void *params, mxl_arena *arena)
{
    memset(params, 0, r->op->params_size);
    for (const mxl_param *p = mxl_op_params(r->op); p->name != NULL; p++) {
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
    return r->num_arguments == 0 && r->op->check != NULL ? r->op->check(params) : 0;
}

static bool same_text(const char *x, const char *y)
{
    return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

/* True if a prepared call equals the request: same operator, parameters and arguments. Blocks made
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

        return x->n == y->n && (x->n <= 0 || memcmp(x->v, y->v, (size_t)x->n * sizeof(*x->v)) == 0);
    }
    case MXL_P_FLOATS: {
        const mxl_floats *x = (const mxl_floats *)a, *y = (const mxl_floats *)b;

        return x->n == y->n && (x->n <= 0 || memcmp(x->v, y->v, (size_t)x->n * sizeof(*x->v)) == 0);
    }
    case MXL_P_STRING: {
        const char *x = *(const char *const *)a, *y = *(const char *const *)b;

        return same_text(x, y);
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

static bool matches(const api_prepared *call, const request *r, const void *params)
{
    if (call->op != r->op || call->num_arguments != r->num_arguments ||
        (int)call->kind != r->kind || !same_text(call->dialect.label, r->label) ||
        !same_text(call->dialect.slots, r->slots))
        return false;
    for (int i = 0; i < r->num_arguments; i++) {
        if (strcmp(call->arguments[i]->name, r->arguments[i]) != 0)
            return false;
    }
    for (const mxl_param *p = mxl_op_params(r->op); p->name != NULL; p++) {
        if (!is_argument(r, p->name) && !same_field(p, call->params, params))
            return false;
    }
    return true;
}

static size_t text_bytes(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

/* Appends a text to the block; NULL stays NULL. */
static const char *put_text(char **room, const char *text)
{
    char *at = *room;
    size_t bytes = text_bytes(text);

    memcpy(at, text == NULL ? "" : text, bytes);
    *room += bytes;
    return text == NULL ? NULL : at;
}

/* Sets `view`. */
static void know_view(api_prepared *call)
{
    const mxl_op *op = call->op;

    call->view = API_ANY;
    if (op == &mxl_op_index && call->kind == API_PLAIN && call->num_arguments == 1 &&
        call->arguments[0] == mxl_param_find(op, "key"))
        call->view = API_KEY;
    if (call->kind != API_TORCH)
        return;
    if (op == &mxl_op_slice_axis && call->num_arguments == 3 &&
        call->arguments[0] == mxl_param_find(op, "axis") &&
        call->arguments[1] == mxl_param_find(op, "begin"))
        call->view = API_ROWS;
    if (op == &mxl_op_select && call->num_arguments == 1 &&
        call->arguments[0] == mxl_param_find(op, "index") && *(const int64_t *)call->params == 0)
        call->view = API_ROW;
}

/* Sets `promotion` and `numbers`. */
static void know_promotion(api_prepared *call)
{
    const mxl_promotion *rule = call->dialect.promotes ? call->op->promotion : NULL;

    call->promotion = rule;
    call->numbers =
        rule != NULL && (rule->of_two != NULL || (rule->from == 0 && call->num_arguments == 0 &&
                                                  mxl_op_inputs(call->op)[1].name != NULL));
}

static api_prepared *prepared_new(const request *r, const void *params)
{
    size_t fixed = sizeof(api_prepared) + (size_t)r->num_arguments * sizeof(mxl_param *);
    size_t bytes = fixed + text_bytes(r->label) + text_bytes(r->slots);
    api_prepared *call = mxl_alloc(bytes);
    char *room = (char *)call + fixed;
    const mxl_param *count;

    if (call == NULL)
        return NULL;
    call->op = r->op;
    call->kind = r->kind;
    call->dialect = r->kind == API_TORCH ? mxl_dialect_torch : mxl_dialect_mxnet_follow;
    call->dialect.label = put_text(&room, r->label);
    call->dialect.slots = put_text(&room, r->slots);
    call->num_arguments = r->num_arguments;
    for (int i = 0; i < r->num_arguments; i++)
        call->arguments[i] = mxl_param_find(r->op, r->arguments[i]);
    count = r->op->key_var_num_args == NULL ? NULL : mxl_param_find(r->op, r->op->key_var_num_args);
    call->count_offset = count == NULL ? -1 : (int)count->offset;
    call->constant = call->num_arguments == 0 && call->count_offset < 0;
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
    know_view(call);
    know_promotion(call);
    return call;
}

/* The number of the request's call, which is added if no equal one exists; -1 with the error set.
 * The lock is held. */
static int64_t intern(const request *r, const void *params)
{
    uint32_t count = atomic_load_explicit(&table_count, memory_order_relaxed);
    api_prepared **chunk;
    api_prepared *call;

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

/* "0-1": each character is a digit below the number of inputs, or '-'. */
static int check_slots(const char *slots)
{
    if (slots[0] == '\0')
        return 0;
    for (const char *c = slots; *c != '\0'; c++) {
        if (*c != '-' && (*c < '0' || *c > '9'))
            return mxl_error("MXLPrepareAs: slots are digits and '-', got \"%s\"", slots);
    }
    return 0;
}

static int prepare(const char *function, request *r, const char *name, MXLCallHandle *out)
{
    _Alignas(16) char params[API_PARAMS_ROOM];
    mxl_arena arena;
    int64_t number = -1;

    *out = NULL;
    if (name == NULL)
        return api_null(function, "name");
    if (r->num_constant < 0 || r->num_arguments < 0)
        return mxl_error("%s: a negative number of parameters", function);
    if ((r->num_constant > 0 && (r->keys == NULL || r->values == NULL)) ||
        (r->num_arguments > 0 && r->arguments == NULL))
        return mxl_error("%s: parameters are announced, but their list is NULL", function);
    r->op = mxl_op_find(name);
    if (r->op == NULL || mxl_op_check_refused(r->op) != 0)
        return -1;
    if (r->op->parse != NULL)
        return mxl_error("%s: %s makes its own parameters of each call, which cannot be prepared",
                         function, name);
    if (check_names(r) != 0)
        return -1;
    mxl_arena_init(&arena);
    if (fill(r, params, &arena) == 0) {
        lock_table();
        number = intern(r, params);
        unlock_table();
    }
    mxl_arena_clear(&arena);
    if (number < 0)
        return -1;
    *out = (MXLCallHandle)(uintptr_t)mxl_handle_permanent(MXL_KIND_CALL, (uint32_t)number);
    return 0;
}

int MXLPrepare(const char *name, int num_constant, const char **keys, const char **values,
               int num_arguments, const char **arguments, MXLCallHandle *out)
{
    request r = {.num_constant = num_constant,
                 .num_arguments = num_arguments,
                 .keys = keys,
                 .values = values,
                 .arguments = arguments};

    API_NEED(out);
    return prepare(__func__, &r, name, out);
}

int MXLPrepareAs(int dialect, const char *label, const char *slots, const char *name,
                 int num_constant, const char **keys, const char **values, int num_arguments,
                 const char **arguments, MXLCallHandle *out)
{
    request r = {.kind = dialect == MXL_DIALECT_TORCH ? API_TORCH : API_MXNET,
                 .label = label,
                 .slots = slots,
                 .num_constant = num_constant,
                 .num_arguments = num_arguments,
                 .keys = keys,
                 .values = values,
                 .arguments = arguments};

    API_NEED(out);
    if (dialect != MXL_DIALECT_TORCH && dialect != MXL_DIALECT_MXNET)
        return mxl_error("%s: there is no dialect %d", __func__, dialect);
    if (slots != NULL && check_slots(slots) != 0)
        return -1;
    return prepare(__func__, &r, name, out);
}
