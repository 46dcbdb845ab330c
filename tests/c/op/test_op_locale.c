/* Numbers are read with a point in any locale: this program's strtod accepts only the decimal
 * comma. (A machine may lack a locale with a comma, so none is used.) */
#include "harness.h"

#include <stdlib.h>

#include "op/text.h"

static int calls;

/* Stands before the C library's. strtold is its twin for texts without a point. */
double strtod(const char *text, char **end)
{
    char cut[1024];
    size_t length = strcspn(text, ".");

    calls++;
    if (length >= sizeof cut)
        length = sizeof cut - 1;
    memcpy(cut, text, length);
    cut[length] = '\0';
    if (end != NULL)
        *end = (char *)(uintptr_t)(text + length);
    return (double)strtold(cut, NULL);
}

TEST(the_point_is_ours)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1.5", 1.5}, {".25", .25}, {"-12.5e1", -125}, {"0.001", 0.001}, {"7", 7}};
    double value;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(mxl_text_float(cases[i].text, &value), MXL_TEXT_OK);
        CHECK_NEAR(value, cases[i].value, 1e-15);
    }
    CHECK_INT(mxl_text_float("1,5", &value), MXL_TEXT_MALFORMED);
    CHECK(calls >= 5);
}

HARNESS_MAIN(ENTRY(the_point_is_ours))
