/* What the texts `shapes` and `dtypes` of an operator's descriptor say of a call, or of a node of a
 * graph. */
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/state.h"
#include "op/rule.h"
#include "op/shapes/solver.h"

/* One side of a text: letters, then a group that is repeated, then letters; or letters, the last
 * one for all further entries. */
typedef struct side {
    const char *text;
    int before, group, after; /* how many letters each part has */
    char rest;                /* the letter of all further entries */
    int count;                /* of the entries */
} side;

static side side_of(const char *text, const char *end, int count)
{
    const char *open = memchr(text, '(', (size_t)(end - text));
    const char *close = open != NULL ? memchr(open, ')', (size_t)(end - open)) : NULL;

    if (close == NULL && end > text + 1 && end[-1] == '*')
        return (side){text, (int)(end - text - 2), 0, 0, end[-2], count};
    if (close == NULL)
        return (side){text, (int)(end - text), 0, 0, '.', count};
    return (side){text, (int)(open - text), (int)(close - open - 1), (int)(end - close - 1), '.',
                  count};
}

/* The letter of entry i, and which repetition of the group it is in, -1: none. */
static char letter_at(const side *s, int i, int *repetition)
{
    int behind = s->count - s->after;

    *repetition = -1;
    if (i < s->before)
        return s->text[i];
    if (s->group == 0)
        return s->rest;
    if (i >= behind)
        return s->text[s->before + 2 + s->group + i - behind];
    *repetition = (i - s->before) / s->group;
    return s->text[s->before + 1 + (i - s->before) % s->group];
}

/* Both sides of a node. */
typedef struct signature {
    const mxl_rule *rule;
    side in, out;
} signature;

static signature signature_of(const mxl_rule *rule, const char *text)
{
    const char *arrow = strchr(text, '>');

    return (signature){rule, side_of(text, arrow, rule->num_in),
                       side_of(arrow + 1, arrow + strlen(arrow), rule->num_out)};
}

/* Number i of the inputs and then the outputs: its entry and its letter. */
static int entry_at(const signature *s, int i, char *letter, int *repetition)
{
    int num_in = s->rule->num_in;

    *letter =
        i < num_in ? letter_at(&s->in, i, repetition) : letter_at(&s->out, i - num_in, repetition);
    return mxl_rule_entry(s->rule, i);
}

/* ---- shapes ---- */

const char *mxl_op_shapes(const mxl_op *op, const void *params)
{
    const char *text = op->shapes_of != NULL ? op->shapes_of(params) : NULL;

    return text != NULL ? text : op->shapes;
}

/* The text as an operator's descriptor keeps it, compiled when it is first used. */
static mxl_shapes *compiled(const mxl_op *op, const char *text)
{
    mxl_shapes *first = atomic_load_explicit(&op->shape_forms->first, memory_order_acquire);
    mxl_shapes *made;

    for (mxl_shapes *s = first; s != NULL; s = s->next)
        if (s->text == text)
            return s;
    /* Kept for the process, as the registry is. Of two threads that compile a text both keep it. */
    made = mxl_state_system_memory(sizeof(*made));
    if (made == NULL) {
        mxl_error_memory(sizeof(*made));
        return NULL;
    }
    if (mxl_shapes_compile(op, text, made) != 0)
        return NULL;
    do {
        made->next = first;
    } while (!atomic_compare_exchange_weak(&op->shape_forms->first, &first, made));
    return made;
}

static int solve(const char *text, const mxl_shape_facts *facts)
{
    mxl_shapes room;
    const mxl_shapes *shapes = &room;

    if (facts->op->shape_forms != NULL)
        shapes = compiled(facts->op, text);
    else if (mxl_shapes_compile(facts->op, text, &room) != 0)
        return -1;
    return shapes == NULL ? -1 : mxl_shapes_solve(shapes, facts);
}

int mxl_solver_say(mxl_solver *s, int i, const mxl_shape *found)
{
    const mxl_shape_facts *f = s->facts;

    if (f->rule != NULL)
        return mxl_rule_merge(f->rule, &f->rule->shapes[mxl_rule_entry(f->rule, i)], found);
    for (int k = 0; k < found->ndim; k++)
        if (found->dim[k] < 0)
            return mxl_solver_open(s);
    return 0;
}

/* Of a node of which no shape has a rank nothing is said, as in 1.9.1, though its parameters may
 * tell sizes of weights. */
int mxl_rule_said_shapes(mxl_rule *rule, const char *text)
{
    bool known = false;

    for (int i = 0; i < rule->num_in + rule->num_out; i++)
        known |= rule->shapes[mxl_rule_entry(rule, i)].ndim >= 0;
    return !known ? 0
                  : solve(text, &(mxl_shape_facts){.op = rule->op,
                                                   .params = rule->params,
                                                   .num_in = rule->num_in,
                                                   .num_out = rule->num_out,
                                                   .rule = rule});
}

/* ---- dtypes ---- */

/* The dtype of a lower-case letter; unknown for others. */
static int fixed_dtype(char letter)
{
    static const struct {
        char letter;
        int dtype;
    } fixed[] = {{'h', MXL_F16},  {'f', MXL_F32}, {'d', MXL_F64}, {'i', MXL_I32}, {'l', MXL_I64},
                 {'b', MXL_BOOL}, {'u', MXL_U8},  {'c', MXL_I8},  {'n', MXL_I32}};

    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (fixed[i].letter == letter)
            return fixed[i].dtype;
    }
    return MXL_DTYPE_UNKNOWN;
}

/* What letters of results make of A's dtype: s of a sum, q of a quotient, r of a root. */
static int derived_dtype(char letter, int of)
{
    if (of == MXL_DTYPE_UNKNOWN || mxl_dtype_is_float(of))
        return of;
    if (letter == 's')
        return of == MXL_BOOL ? MXL_I64 : of;
    return letter == 'q' ? MXL_F32 : letter == 'r' ? MXL_F64 : of;
}

/* The first dtype that is known of what has this letter, in any repetition, or, with `t` as A, that
 * letter. */
static int dtype_of_letter(const signature *s, int count, char wanted, bool t_is_a)
{
    int found = fixed_dtype(wanted);

    for (int i = 0; i < count && found == MXL_DTYPE_UNKNOWN; i++) {
        char letter;
        int at, entry = entry_at(s, i, &letter, &at);

        if (letter == wanted || (wanted == 'A' && t_is_a && strchr("tsqr", letter) != NULL))
            found = s->rule->dtypes[entry];
    }
    return found;
}

/* That of w beside F. */
static int statistics_dtype(int of)
{
    return of == MXL_F16 || of == MXL_BF16 ? MXL_F32 : of;
}

int mxl_rule_said_dtypes(mxl_rule *rule, const char *text)
{
    signature s = signature_of(rule, text);
    int count = rule->num_in + rule->num_out, said = mxl_rule_dtype_parameter(rule);
    bool t_is_a = said == MXL_DTYPE_UNKNOWN;
    int known[128];

    for (int c = 0; c < 128; c++) {
        bool read = c == 'A' || (c > '.' && strchr(text, c) != NULL);

        known[c] = read ? dtype_of_letter(&s, count, (char)c, t_is_a) : MXL_DTYPE_UNKNOWN;
    }
    if (known['A'] == MXL_DTYPE_UNKNOWN)
        known['A'] = known['e'];
    known['e'] = known['A'];
    if (known['T'] == MXL_DTYPE_UNKNOWN)
        known['T'] = said;
    known['a'] = strchr(text, 'F') != NULL ? known['F'] : known['A'];
    known['w'] = statistics_dtype(known['F']);
    for (const char *letter = "tsqr"; *letter != '\0'; letter++)
        known[*letter & 127] = t_is_a ? derived_dtype(*letter, known['A']) : said;
    for (int i = 0; i < count; i++) {
        char letter;
        int at, entry = entry_at(&s, i, &letter, &at);
        bool yields = letter == 'a' || letter == 'n' || letter == 'e' ||
                      (letter == 'w' && rule->dtypes[entry] == MXL_BF16);

        if (yields && rule->dtypes[entry] != MXL_DTYPE_UNKNOWN)
            continue;
        if (mxl_rule_say_dtype(rule, entry, known[letter & 127]) != 0)
            return -1;
    }
    return 0;
}

/* ---- dtypes of calls ---- */

const char *mxl_op_dtypes(const mxl_op *op, const void *params)
{
    const char *text = op->dtypes_of != NULL ? op->dtypes_of(params) : NULL;

    return text != NULL ? text : op->dtypes != NULL ? op->dtypes : "A*>A*";
}

/* What the letter means beside those that are known; unknown: anything. */
static int wanted_dtype(char letter, const int *known, int parameter)
{
    if (letter >= 'A' && letter <= 'Z')
        return known[letter - 'A'];
    if (letter == 'w')
        return statistics_dtype(known['F' - 'A']);
    if (strchr("tsqr", letter) != NULL)
        return parameter != MXL_DTYPE_UNKNOWN ? parameter : derived_dtype(letter, known[0]);
    return strchr("aen", letter) != NULL ? MXL_DTYPE_UNKNOWN : fixed_dtype(letter);
}

static int check_dtype(const mxl_infer *infer, int i, char letter, int wanted)
{
    const mxl_array *in = infer->in[i];
    char room[MXL_NAME];

    if (wanted == MXL_DTYPE_UNKNOWN && letter == 'F')
        return mxl_check_float(infer->op, in);
    if (wanted == MXL_DTYPE_UNKNOWN && letter == 'W')
        return mxl_check_full_float(infer->op, in);
    if (wanted == MXL_DTYPE_UNKNOWN || in->dtype == wanted ||
        (letter == 'w' && in->dtype == MXL_BF16 && infer->in[0]->dtype == MXL_BF16))
        return 0;
    if (letter >= 'A' && letter <= 'Z')
        return mxl_check_dtypes(infer->op, infer->in[0], in);
    return mxl_error("%s: %s must be %s here, got %s", infer->op->name,
                     mxl_op_input_name(infer->op, infer->params, infer->num_inputs, i, room),
                     mxl_dtype_name(wanted), mxl_dtype_name(in->dtype));
}

/* "F*>F*": all inputs and results have one dtype. */
static int one_dtype(mxl_infer *infer, char letter)
{
    int dtype = infer->num_inputs > 0 ? infer->in[0]->dtype : MXL_DTYPE_UNKNOWN;

    for (int i = 0; i < infer->num_inputs; i++) {
        if (check_dtype(infer, i, letter, i == 0 ? MXL_DTYPE_UNKNOWN : dtype) != 0)
            return -1;
    }
    for (int i = 0; i < infer->num_outputs; i++)
        infer->out_dtype[i] = dtype;
    return 0;
}

static int call_dtypes(mxl_infer *infer)
{
    const char *text = mxl_op_dtypes(infer->op, infer->params);
    const mxl_rule rule = {.op = infer->op,
                           .params = infer->params,
                           .num_in = infer->num_inputs,
                           .num_out = infer->num_outputs};
    int known[26], parameter, at;
    signature s;

    if (text[0] >= 'A' && text[0] <= 'Z' && text[1] == '*' && text[2] == '>' && text[3] == text[0])
        return one_dtype(infer, text[0]);
    s = signature_of(&rule, text);
    parameter = strpbrk(text, "tsqr") != NULL ? mxl_rule_dtype_parameter(&rule) : MXL_DTYPE_UNKNOWN;
    for (int c = 0; c < 26; c++)
        known[c] = MXL_DTYPE_UNKNOWN;
    for (int i = 0; i < infer->num_inputs; i++) {
        char letter = letter_at(&s.in, i, &at);

        if (check_dtype(infer, i, letter, wanted_dtype(letter, known, parameter)) != 0)
            return -1;
        if (letter >= 'A' && letter <= 'Z')
            known[letter - 'A'] = infer->in[i]->dtype;
    }
    for (int i = 0; i < infer->num_outputs; i++)
        infer->out_dtype[i] = wanted_dtype(letter_at(&s.out, i, &at), known, parameter);
    return 0;
}

/* Of a call in a meta run with sizes that are unknown: as of a node of a graph. */
static int partly_said(mxl_infer *infer, const char *text)
{
    int count = infer->num_inputs + infer->num_outputs, status;
    size_t bytes = (size_t)count * (sizeof(mxl_shape) + sizeof(int));
    mxl_shape *shapes = mxl_alloc(bytes);
    int *entries = (int *)(shapes + count);
    mxl_rule rule = {.op = infer->op,
                     .params = infer->params,
                     .in = entries,
                     .num_in = infer->num_inputs,
                     .out = infer->num_inputs,
                     .num_out = infer->num_outputs,
                     .shapes = shapes};

    if (shapes == NULL)
        return -1;
    for (int i = 0; i < count; i++) {
        entries[i] = i;
        shapes[i].ndim = -1;
        if (i < rule.num_in)
            mxl_shape_set(&shapes[i], infer->in[i]->ndim, infer->in[i]->shape);
        for (int k = 0; k < shapes[i].ndim; k++)
            shapes[i].dim[k] = shapes[i].dim[k] < 0 ? -1 : shapes[i].dim[k];
    }
    status = mxl_rule_said_shapes(&rule, text);
    for (int i = 0; i < rule.num_out && status == 0; i++) {
        infer->out_shape[i] = shapes[rule.out + i];
        if (infer->out_shape[i].ndim < 0)
            status = mxl_error("%s: the result has an unknown number of axes", infer->op->name);
    }
    mxl_free(shapes, bytes);
    return status;
}

int mxl_infer_said(mxl_infer *infer)
{
    const char *text = mxl_op_shapes(infer->op, infer->params);
    mxl_shapes *shapes = compiled(infer->op, text);
    mxl_shape_facts facts;

    if (shapes == NULL)
        return -1;
    if (mxl_memo_find(shapes, infer))
        return 0;
    facts = (mxl_shape_facts){.op = infer->op,
                              .params = infer->params,
                              .num_in = infer->num_inputs,
                              .num_out = infer->num_outputs,
                              .call = infer};
    if (call_dtypes(infer) != 0)
        return -1;
    for (int i = 0; i < infer->num_inputs; i++) {
        if (infer->in[i]->size < 0)
            return partly_said(infer, text);
    }
    if (mxl_shapes_solve(shapes, &facts) != 0)
        return -1;
    mxl_memo_keep(shapes, infer);
    return 0;
}
