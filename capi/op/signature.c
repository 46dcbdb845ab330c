/* What the texts `shapes` and `dtypes` of an operator's descriptor say of a node: which inputs and
 * outputs are alike, and which dtypes are fixed. */
#include <string.h>

#include "base/memory/mem.h"
#include "op/rule.h"

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

enum { LETTERS = 2 }; /* of shapes: A and B */

/* What is known of the shape of each letter in each repetition. */
static int gather_shapes(const signature *s, int count, mxl_shape *all)
{
    mxl_rule gather = *s->rule; /* what it changes is `all` */

    for (int i = 0; i < count; i++) {
        char letter;
        int at, entry = entry_at(s, i, &letter, &at);

        if (letter != '.' && mxl_rule_merge(&gather, &all[(at + 1) * LETTERS + letter - 'A'],
                                            &s->rule->shapes[entry]) != 0)
            return -1;
    }
    return 0;
}

static int spread_shapes(mxl_rule *rule, const signature *s, int count, const mxl_shape *all)
{
    for (int i = 0; i < count; i++) {
        char letter;
        int at, entry = entry_at(s, i, &letter, &at);

        if (letter != '.' && mxl_rule_merge(rule, &rule->shapes[entry],
                                            &all[(at + 1) * LETTERS + letter - 'A']) != 0)
            return -1;
    }
    return 0;
}

int mxl_rule_said_shapes(mxl_rule *rule, const char *text)
{
    signature s = signature_of(rule, text);
    int count = rule->num_in + rule->num_out, status;
    size_t each = (size_t)LETTERS * ((size_t)count + 1), bytes = each * sizeof(mxl_shape);
    mxl_shape *all = mxl_alloc(bytes);

    if (all == NULL)
        return -1;
    for (size_t i = 0; i < each; i++)
        all[i].ndim = -1;
    status = gather_shapes(&s, count, all) != 0 ? -1 : spread_shapes(rule, &s, count, all);
    mxl_free(all, bytes);
    return status;
}

/* ---- dtypes ---- */

/* The dtype of a lower-case letter; unknown for others. */
static int fixed_dtype(char letter)
{
    static const struct {
        char letter;
        int dtype;
    } fixed[] = {{'h', MXL_F16}, {'f', MXL_F32},  {'d', MXL_F64}, {'i', MXL_I32},
                 {'l', MXL_I64}, {'b', MXL_BOOL}, {'u', MXL_U8},  {'n', MXL_I32}};

    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (fixed[i].letter == letter)
            return fixed[i].dtype;
    }
    return MXL_DTYPE_UNKNOWN;
}

/* The first dtype that is known of what has this letter, in any repetition, or, with `t` as A, that
 * letter. */
static int dtype_of_letter(const signature *s, int count, char wanted, bool t_is_a)
{
    int found = fixed_dtype(wanted);

    for (int i = 0; i < count && found == MXL_DTYPE_UNKNOWN; i++) {
        char letter;
        int at, entry = entry_at(s, i, &letter, &at);

        if (letter == wanted || (letter == 't' && t_is_a && wanted == 'A'))
            found = s->rule->dtypes[entry];
    }
    return found;
}

int mxl_rule_said_dtypes(mxl_rule *rule, const char *text)
{
    signature s = signature_of(rule, text);
    int count = rule->num_in + rule->num_out, said = mxl_rule_dtype_parameter(rule);
    bool t_is_a = said == MXL_DTYPE_UNKNOWN;
    int known[128];

    for (int c = 0; c < 128; c++)
        known[c] = strchr(text, c) != NULL && c > '.' ? dtype_of_letter(&s, count, (char)c, t_is_a)
                                                      : MXL_DTYPE_UNKNOWN;
    known['a'] = known['A'];
    known['t'] = t_is_a ? known['A'] : said;
    for (int i = 0; i < count; i++) {
        char letter;
        int at, entry = entry_at(&s, i, &letter, &at);
        bool yields = letter == 'a' || letter == 'n';

        if (yields && rule->dtypes[entry] != MXL_DTYPE_UNKNOWN)
            continue;
        if (mxl_rule_say_dtype(rule, entry, known[letter & 127]) != 0)
            return -1;
    }
    return 0;
}
