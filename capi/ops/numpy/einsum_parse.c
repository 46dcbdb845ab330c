/* Parsing of einsum's subscripts; see einsum.h. */
#include "ops/numpy/einsum.h"

#include <ctype.h>
#include <string.h>

#include "base/memory/mem.h"

/* Reads one term up to `end`. -1 with the error set. */
static int parse_term(const char *name, const char *text, const char *end, mxl_einsum_term *t)
{
    *t = (mxl_einsum_term){0};
    for (; text < end; text++) {
        if (*text == ' ')
            continue;
        if (*text == '.') {
            if (t->dots || end - text < 3 || strncmp(text, "...", 3) != 0)
                return mxl_error("%s: an ellipsis must be one '...' in a term", name);
            t->dots = true;
            t->dots_at = t->count;
            text += 2;
            continue;
        }
        if (!isalpha((unsigned char)*text))
            return mxl_error("%s: labels must be letters, got '%c'", name, *text);
        if (t->count == MXL_MAX_NDIM)
            return mxl_error("%s: a term has more than %d labels", name, MXL_MAX_NDIM);
        t->label[t->count++] = *text;
    }
    return 0;
}

/* Puts labels for `count` axes in the ellipsis's place. */
static int fill_dots(const char *name, mxl_einsum_term *t, int count)
{
    if (count < 0 || t->count + count > MXL_MAX_NDIM || (count > 0 && !t->dots))
        return mxl_error("%s: a term has %d labels for an operand of %d axes", name, t->count,
                         t->count + count);
    t->dots_count = count;
    memmove(t->label + t->dots_at + count, t->label + t->dots_at,
            (size_t)(t->count - t->dots_at) * sizeof(int));
    for (int i = 0; i < count; i++)
        t->label[t->dots_at + i] = MXL_EINSUM_ELLIPSIS + count - 1 - i;
    t->count += count;
    return 0;
}

/* Without an arrow the result has the axes of the ellipsis, then the labels that occur once. */
static void implicit_result(const mxl_einsum *e, int dots, mxl_einsum_term *result)
{
    int times[MXL_EINSUM_LABELS] = {0};

    *result = (mxl_einsum_term){0};
    for (int i = 0; i < e->count; i++)
        for (int j = 0; j < e->terms[i].count; j++)
            times[e->terms[i].label[j]]++;
    for (int i = dots - 1; i >= 0; i--)
        result->label[result->count++] = MXL_EINSUM_ELLIPSIS + i;
    for (int c = 0; c < MXL_EINSUM_ELLIPSIS; c++)
        if (times[c] == 1 && result->count < MXL_MAX_NDIM)
            result->label[result->count++] = c;
}

static int check_result(const mxl_einsum *e, const mxl_einsum_term *result)
{
    bool seen[MXL_EINSUM_LABELS] = {false}, twice[MXL_EINSUM_LABELS] = {false};

    for (int i = 0; i < e->count; i++)
        for (int j = 0; j < e->terms[i].count; j++)
            seen[e->terms[i].label[j]] = true;
    for (int j = 0; j < result->count; j++) {
        int c = result->label[j];

        if (!seen[c] || twice[c])
            return mxl_error("%s: label '%c' of the result %s", e->name, c,
                             twice[c] ? "occurs twice" : "does not occur in an operand");
        twice[c] = true;
    }
    return 0;
}

/* The size of each label; axes of size 1 are repeated, but those of a diagonal must be equal. */
static int measure(mxl_einsum *e, mxl_array *const *in)
{
    for (int c = 0; c < MXL_EINSUM_LABELS; c++)
        e->size[c] = 1;
    for (int i = 0; i < e->count; i++) {
        const mxl_einsum_term *t = &e->terms[i];

        for (int j = 0; j < t->count; j++) {
            int64_t size = in[i]->shape[j], *known = &e->size[t->label[j]];

            if (size != 1 && *known != 1 && size != *known)
                return mxl_error("%s: label '%c' has sizes %lld and %lld", e->name,
                                 t->label[j] < MXL_EINSUM_ELLIPSIS ? t->label[j] : '.',
                                 (long long)*known, (long long)size);
            for (int k = 0; k < j; k++)
                if (t->label[k] == t->label[j] && in[i]->shape[k] != size)
                    return mxl_error("%s: axes of sizes %lld and %lld have no diagonal", e->name,
                                     (long long)in[i]->shape[k], (long long)size);
            if (size != 1)
                *known = size;
        }
    }
    return 0;
}

/* Parses into e->terms, which have room. */
static int parse_terms(mxl_einsum *e, const char *text, mxl_array *const *in)
{
    const char *arrow = strstr(text, "->"), *end = arrow != NULL ? arrow : text + strlen(text);
    mxl_einsum_term *result = &e->terms[e->count];
    int dots = 0, i = 0;

    for (const char *at = text;; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;

        if (i == e->count)
            return mxl_error("%s: there are more terms than operands, %d", e->name, e->count);
        if (parse_term(e->name, at, stop, &e->terms[i]) != 0 ||
            fill_dots(e->name, &e->terms[i], in[i]->ndim - e->terms[i].count) != 0)
            return -1;
        if (e->terms[i].dots_count > dots)
            dots = e->terms[i].dots_count;
        if (comma == NULL)
            break;
        at = comma + 1;
    }
    if (i + 1 != e->count)
        return mxl_error("%s: there are %d terms for %d operands", e->name, i + 1, e->count);
    if (arrow == NULL) {
        implicit_result(e, dots, result);
    } else if (parse_term(e->name, arrow + 2, arrow + strlen(arrow), result) != 0) {
        return -1;
    } else if (dots > 0 && !result->dots) {
        return mxl_error("%s: the result has no ellipsis for the operands' %d axes", e->name, dots);
    } else if (fill_dots(e->name, result, result->dots ? dots : 0) != 0) {
        return -1;
    }
    return check_result(e, result) != 0 ? -1 : measure(e, in);
}

static size_t terms_bytes(const mxl_einsum *e)
{
    return (size_t)(e->count + 1) * sizeof(mxl_einsum_term);
}

int mxl_einsum_parse(const mxl_op *op, const mxl_einsum_params *p, int count, mxl_array *const *in,
                     mxl_einsum *e)
{
    *e = (mxl_einsum){.name = op->name, .count = count};
    e->terms = mxl_alloc(terms_bytes(e));
    if (e->terms == NULL)
        return -1;
    if (parse_terms(e, p->subscripts, in) == 0)
        return 0;
    mxl_free(e->terms, terms_bytes(e));
    return -1;
}

void mxl_einsum_free(mxl_einsum *e)
{
    mxl_free(e->terms, terms_bytes(e));
}
