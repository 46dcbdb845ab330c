/* The nearest names: the number of edits, counted twice so that a letter in the other case is one.
 */
#include "base/text/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What other packages call parameters. */
static const char *const words[][2] = {
    {"axis", "dim"},
    {"bias", "no_bias"},
    {"dilation", "dilate"},
    {"dim", "axis"},
    {"dims", "axes"},
    {"dims", "axis"},
    {"eps", "epsilon"},
    {"filters", "num_filter"},
    {"groups", "num_group"},
    {"input", "data"},
    {"keep_dims", "keepdims"},
    {"keepdim", "keepdims"},
    {"kernel_size", "kernel"},
    {"learning_rate", "lr"},
    {"other", "rhs"},
    {"out_channels", "num_filter"},
    {"out_features", "num_hidden"},
    {"padding", "pad"},
    {"self", "data"},
    {"size", "shape"},
    {"units", "num_hidden"},
    {"weight_decay", "wd"},
    {"x", "data"},
};
enum { WORDS = sizeof words / sizeof *words, EDIT = 2, OTHER_CASE = 1 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int of_letters(char a, char b)
{
    if (a == b)
        return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? OTHER_CASE : EDIT;
}

/* Edits that make a of b: letters that are other, missing, more, or two exchanged neighbours. */
static int distance_of(const char *a, size_t n, const char *b, size_t m)
{
    int rows[3][MXL_NEAR_LONGEST + 1];

    for (size_t j = 0; j <= m; j++)
        rows[0][j] = EDIT * (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = EDIT * (int)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = smaller(above[j], row[j - 1]) + EDIT;
            row[j] = smaller(row[j], above[j - 1] + of_letters(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + EDIT);
        }
    }
    return rows[n % 3][m];
}

static bool is_word(const char *given, const char *name)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(words[i][0], given) == 0 && strcmp(words[i][1], name) == 0)
            return true;
    return false;
}

void mxl_near_begin(mxl_near *near, const char *given)
{
    near->given = given;
    near->count = 0;
    near->text[0] = '\0';
}

void mxl_near_offer(mxl_near *near, const char *name)
{
    size_t n = strlen(near->given), m = strlen(name);
    int most = EDIT * (int)((n + 1) / 3), at, distance;

    if (is_word(near->given, name)) {
        distance = 0;
    } else {
        if (n > MXL_NEAR_LONGEST || m > MXL_NEAR_LONGEST)
            return;
        if (EDIT * (int)(n > m ? n - m : m - n) > most)
            return;
        distance = distance_of(near->given, n, name, m);
        if (distance > most)
            return;
    }
    at = near->count;
    while (at > 0 && near->distance[at - 1] > distance)
        at--;
    if (at == MXL_NEAR_MOST)
        return;
    if (near->count < MXL_NEAR_MOST)
        near->count++;
    for (int i = near->count - 1; i > at; i--) {
        near->distance[i] = near->distance[i - 1];
        near->name[i] = near->name[i - 1];
    }
    near->distance[at] = distance;
    near->name[at] = name;
}

const char *mxl_near_text(mxl_near *near)
{
    size_t room = sizeof near->text, used = 0;
    int last = 0;

    if (near->count == 0)
        return "";
    while (last + 1 < near->count && near->distance[last + 1] <= near->distance[0] + EDIT)
        last++;
    for (int i = 0; i <= last && used < room; i++)
        used += (size_t)snprintf(near->text + used, room - used, "%s\"%s\"",
                                 i == 0      ? "; did you mean "
                                 : i == last ? " or "
                                             : ", ",
                                 near->name[i]);
    if (used < room)
        (void)snprintf(near->text + used, room - used, "?");
    return near->text;
}

const char *mxl_near_of(mxl_near *near, const char *given, const char *const *names)
{
    mxl_near_begin(near, given);
    for (; *names != NULL; names++)
        mxl_near_offer(near, *names);
    return mxl_near_text(near);
}
