/* The texts of shapes (op/shapes/shapes.h) become tables. */
#include "op/shapes/shapes.h"

#include <string.h>

#include "base/error.h"

/* A parser: the text from its beginning, and where it is. */
typedef struct parser {
    const mxl_op *op;
    const char *text, *at;
    mxl_shapes *s;
    bool in_group;
    bool counts; /* a size depends on the repetitions of a group */
} parser;

static int fail(const parser *p, const char *problem)
{
    return mxl_error("%s: shapes \"%s\": %s, at \"%s\"", p->op->name, p->text, problem, p->at);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static void skip_spaces(parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool take(parser *p, const char *what)
{
    size_t length = strlen(what);

    skip_spaces(p);
    if (strncmp(p->at, what, length) != 0)
        return false;
    p->at += length;
    return true;
}

static int word_length(const char *at)
{
    int n = 0;

    while (is_word(at[n]))
        n++;
    return n;
}

static uint16_t place(const parser *p, const char *at)
{
    return (uint16_t)(at - p->text);
}

/* ---- names ---- */

static bool same_word(const char *a, const char *b, int length)
{
    return strncmp(a, b, (size_t)length) == 0 && !is_word(b[length]);
}

/* The number of the name of this length at the parser's place, among those of its kind that the
 * text had before; of a new one, the next. -1 with the error set. */
static int number_of(parser *p, int length, mxl_piece *names, uint8_t *count, int most,
                     uint16_t *each)
{
    int found = 0;

    while (found < *count && (names[found].length != length ||
                              strncmp(p->text + names[found].at, p->at, (size_t)length) != 0))
        found++;
    if (found == most)
        return fail(p, "too many names");
    if (found == *count)
        names[(*count)++] = (mxl_piece){place(p, p->at), (uint16_t)length};
    if (length > 2 && strncmp(p->at + length - 2, "_i", 2) == 0)
        *each |= (uint16_t)(1 << found);
    p->at += length;
    return found;
}

static int size_number(parser *p)
{
    return number_of(p, word_length(p->at), p->s->size_name, &p->s->sizes, MXL_SHAPES_SIZES,
                     &p->s->each_size);
}

static int list_number(parser *p, int length)
{
    uint8_t before = p->s->lists;
    int found =
        number_of(p, length, p->s->list_name, &p->s->lists, MXL_SHAPES_LISTS, &p->s->each_list);

    if (found == before)
        p->s->list_as[found] = -1;
    return found;
}

/* The offset of the parameter at the parser's place, which is an integer, or a list of them. */
static int parameter(parser *p, bool list)
{
    int length = word_length(p->at);

    for (const mxl_param *q = mxl_op_params(p->op); q->name != NULL && length > 0; q++) {
        bool is_list = q->type == MXL_P_SHAPE || q->type == MXL_P_OPT_SHAPE;

        if (!same_word(p->at, q->name, length) || is_list != list ||
            (!list && q->type != MXL_P_INT && q->type != MXL_P_OPT_INT))
            continue;
        mxl_memo_read(p->s, q);
        p->at += length;
        return (int)q->offset;
    }
    return fail(p, "no such parameter of this kind");
}

static int function_number(const parser *p, int length)
{
    const mxl_size_function *f = p->op->size_functions;

    for (int i = 0; f != NULL && f[i].name != NULL; i++)
        if (same_word(p->at, f[i].name, length))
            return i;
    return fail(p, "no such function");
}

/* ---- sizes ---- */

/* len(list), prod(S), sum(D_i) or count; 0: none of these. */
static int parse_builtin(parser *p, mxl_factor *f)
{
    if (take(p, "len(")) {
        f->kind = MXL_BY_LENGTH;
        f->value = parameter(p, true);
    } else if (take(p, "prod(")) {
        bool list = is_capital(*p->at);

        f->kind = list ? MXL_BY_PRODUCT : MXL_BY_PARAM_PRODUCT;
        f->value = list ? list_number(p, word_length(p->at)) : parameter(p, true);
    } else if (take(p, "sum(")) {
        f->kind = MXL_BY_SUM;
        p->counts = true;
        f->value = size_number(p);
    } else {
        return 0;
    }
    if (f->value < 0)
        return -1;
    return take(p, ")") ? 1 : fail(p, "expected )");
}

static int parse_factor(parser *p, mxl_factor *f)
{
    int status = parse_builtin(p, f), length = word_length(p->at);

    if (status != 0)
        return status < 0 ? -1 : 0;
    if (*p->at >= '0' && *p->at <= '9') {
        f->kind = MXL_BY_NUMBER;
        for (f->value = 0; *p->at >= '0' && *p->at <= '9'; p->at++)
            f->value = f->value * 10 + (*p->at - '0');
        return 0;
    }
    if (length == 5 && same_word(p->at, "count", length)) {
        f->kind = MXL_BY_COUNT;
        p->counts = true;
        p->at += length;
        return 0;
    }
    f->kind = is_capital(*p->at) ? MXL_BY_SIZE : MXL_BY_PARAM;
    f->value = is_capital(*p->at) ? size_number(p) : parameter(p, false);
    return f->value < 0 ? -1 : 0;
}

static int parse_product(parser *p, mxl_term *t)
{
    bool divides = false;

    do {
        if (t->factors == MXL_SHAPES_FACTORS)
            return fail(p, "too many factors");
        t->factor[t->factors].divides = divides;
        if (parse_factor(p, &t->factor[t->factors++]) != 0)
            return -1;
        divides = *p->at == '/';
    } while ((*p->at == '*' || *p->at == '/') && p->at++);
    return 0;
}

static int parse_list(parser *p, mxl_term *t)
{
    if (!is_capital(*p->at)) {
        t->tuple = (int16_t)parameter(p, true);
        return t->tuple < 0 ? -1 : 0;
    }
    t->list = (int8_t)list_number(p, word_length(p->at));
    if (t->list < 0 || *p->at != ':')
        return t->list < 0 ? -1 : 0;
    p->at++;
    p->s->list_as[t->list] = (int16_t)parameter(p, true);
    return p->s->list_as[t->list] < 0 ? -1 : 0;
}

/* function(X,...): its arguments are the term's factors. */
static int parse_function(parser *p, mxl_term *t)
{
    int length = word_length(p->at), status = 0;

    t->function = (int8_t)function_number(p, length);
    if (t->function < 0)
        return -1;
    mxl_memo_read_all(p->s, p->op);
    p->at += length + 1;
    do {
        mxl_factor *f = &t->factor[t->factors];

        if (t->factors++ == MXL_SHAPES_FACTORS)
            return fail(p, "too many arguments");
        skip_spaces(p);
        if (t->many && t->factors == 1) {
            f->kind = is_capital(*p->at) ? MXL_BY_LIST : MXL_BY_PARAM_LIST;
            status = parse_list(p, t);
            f->value = t->list >= 0 ? t->list : t->tuple;
        } else {
            status = parse_factor(p, f);
        }
    } while (status == 0 && take(p, ","));
    if (status != 0)
        return -1;
    return take(p, ")") ? 0 : fail(p, "expected )");
}

static bool at_function(const parser *p)
{
    static const char *const builtin[] = {"len", "prod", "sum"};
    int length = word_length(p->at);

    if (length == 0 || p->at[length] != '(')
        return false;
    for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++)
        if (strncmp(p->at, builtin[i], (size_t)length) == 0 && builtin[i][length] == '\0')
            return false;
    return true;
}

static mxl_term *new_term(parser *p, mxl_shape_entry *e)
{
    mxl_term *t = &p->s->term[p->s->terms];

    if (p->s->terms == MXL_SHAPES_TERMS) {
        (void)fail(p, "too many sizes");
        return NULL;
    }
    *t = (mxl_term){.list = -1, .function = -1, .tuple = -1, .axis = -1};
    t->text.at = place(p, p->at);
    p->s->terms++;
    e->terms++;
    return t;
}

static int parse_term(parser *p, mxl_shape_entry *e)
{
    mxl_term *t;
    int status;

    skip_spaces(p);
    t = new_term(p, e);
    if (t == NULL)
        return -1;
    t->many = take(p, "*");
    e->lists = (uint8_t)(e->lists + t->many);
    if (at_function(p))
        status = parse_function(p, t);
    else
        status = t->many ? parse_list(p, t) : parse_product(p, t);
    if (status != 0)
        return -1;
    if (*p->at == '@') {
        p->at++;
        t->axis = (int16_t)parameter(p, false);
        if (t->axis < 0 || t->many || e->at >= 0)
            return t->axis < 0 ? -1 : fail(p, "@ is for one size of an array");
        e->at = (int8_t)(e->terms - 1);
    }
    t->plain = !t->many && t->function < 0 && t->factors == 1 && t->factor[0].kind == MXL_BY_SIZE;
    t->text.length = (uint16_t)(place(p, p->at) - t->text.at);
    return 0;
}

/* ---- arrays ---- */

static mxl_shape_entry *new_entry(parser *p)
{
    mxl_shape_entry *e = &p->s->entry[p->s->entries];

    if (p->s->entries == MXL_SHAPES_ENTRIES) {
        (void)fail(p, "too many arrays");
        return NULL;
    }
    *e = (mxl_shape_entry){.first = p->s->terms, .at = -1, .text = {place(p, p->at), 1}};
    p->s->entries++;
    return e;
}

/* A for [*A], or in a group for [*A_i]. */
static int parse_letter(parser *p, mxl_shape_entry *e)
{
    mxl_term *t = new_term(p, e);

    if (t == NULL)
        return -1;
    t->many = true;
    e->lists = 1;
    t->list = (int8_t)list_number(p, 1);
    if (t->list >= 0 && p->in_group)
        p->s->each_list |= (uint16_t)(1 << t->list);
    e->text.length = t->text.length = (uint16_t)(place(p, p->at) - e->text.at);
    return t->list < 0 ? -1 : 0;
}

/* Behind a [. */
static int parse_brackets(parser *p, mxl_shape_entry *e)
{
    e->text.at = place(p, p->at - 1);
    if (!take(p, "]")) {
        do {
            if (parse_term(p, e) != 0)
                return -1;
        } while (take(p, ","));
        e->or_one = take(p, "|1");
        if (!take(p, "]"))
            return fail(p, "expected , or ]");
    }
    e->text.length = (uint16_t)(place(p, p->at) - e->text.at);
    return 0;
}

/* name[N,C], or of several forms name[N]|[N,1]. */
static int parse_forms(parser *p, mxl_shape_entry *e)
{
    mxl_piece name = {place(p, p->at), (uint16_t)word_length(p->at)};

    p->at += name.length;
    for (;;) {
        e->name = name;
        if (!take(p, "["))
            return fail(p, "expected [");
        if (parse_brackets(p, e) != 0)
            return -1;
        if (!take(p, "|"))
            return 0;
        e->or_next = true;
        e = new_entry(p);
        if (e == NULL)
            return -1;
    }
}

/* One array, whose first entry joins the side. */
static int parse_array(parser *p, mxl_side *side, int count)
{
    mxl_shape_entry *e;

    skip_spaces(p);
    e = new_entry(p);
    if (e == NULL)
        return -1;
    side->entry[count] = (uint8_t)(e - p->s->entry);
    if (take(p, ".")) {
        e->any = true;
        return 0;
    }
    return is_capital(*p->at) && p->at[1] != '[' ? parse_letter(p, e) : parse_forms(p, e);
}

/* (a[*S_i] b[*S_i])..., behind the (. */
static int parse_group(parser *p, mxl_side *side, int count)
{
    side->before = (uint8_t)count;
    p->in_group = true;
    do {
        if (parse_array(p, side, side->before + side->group++) != 0)
            return -1;
    } while (!take(p, ")"));
    p->in_group = false;
    (void)take(p, "...");
    return 0;
}

/* Until the arrow, or the end. */
static int parse_side(parser *p, mxl_side *side)
{
    int count = 0;

    *side = (mxl_side){.group = 0};
    for (;;) {
        skip_spaces(p);
        if (*p->at == '\0' || *p->at == '>' || *p->at == '-')
            break;
        if (side->group > 0 && (*p->at == '(' || p->at[1] == '*'))
            return fail(p, "a second group");
        if (take(p, "(")) {
            if (parse_group(p, side, count) != 0)
                return -1;
            count += side->group;
            continue;
        }
        if (parse_array(p, side, count) != 0)
            return -1;
        if (take(p, "*")) {
            side->group = 1;
            side->before = (uint8_t)count;
        }
        count++;
    }
    if (side->group == 0)
        side->before = (uint8_t)count;
    side->after = (uint8_t)(count - side->before - side->group);
    return 0;
}

static bool same_text(const mxl_shapes *s, mxl_piece a, mxl_piece b)
{
    return a.length == b.length && strncmp(s->text + a.at, s->text + b.at, a.length) == 0;
}

/* Notes which outputs have the text of an input. */
static void note_alike(mxl_shapes *s)
{
    const mxl_side *in = &s->side[0], *out = &s->side[1];

    for (int i = 0; i < in->before + in->group + in->after; i++) {
        for (int k = 0; k < out->before + out->group + out->after; k++) {
            mxl_shape_entry *e = &s->entry[out->entry[k]];

            e->as_input |= same_text(s, s->entry[in->entry[i]].text, e->text);
        }
    }
}

int mxl_shapes_compile(const mxl_op *op, const char *text, mxl_shapes *shapes)
{
    const mxl_param *dtype = mxl_param_find(op, "dtype");
    parser p = {.op = op, .text = text, .at = text, .s = shapes};

    shapes->next = NULL;
    shapes->text = text;
    shapes->sizes = shapes->lists = shapes->terms = shapes->entries = 0;
    shapes->each_size = shapes->each_list = 0;
    shapes->reads = 0;
    shapes->memo.full = false;
    atomic_flag_clear(&shapes->memo.busy);
    if (dtype != NULL)
        mxl_memo_read(shapes, dtype);
    if (parse_side(&p, &shapes->side[0]) != 0)
        return -1;
    if (!take(&p, "->") && !take(&p, ">"))
        return fail(&p, "expected ->");
    if (parse_side(&p, &shapes->side[1]) != 0)
        return -1;
    note_alike(shapes);
    shapes->groups = (uint8_t)((shapes->side[0].group > 0) + (shapes->side[1].group > 0));
    if (shapes->groups == 0 && p.counts)
        return fail(&p, "count or sum without a group");
    return *p.at == '\0' ? 0 : fail(&p, "expected an array");
}
