/* The nearest names, as errors offer them. */
#include "harness.h"

#include <stdio.h>

#include "base/text/near.h"

static const char *near_of(const char *given, const char *const *names)
{
    static mxl_near near;

    return mxl_near_of(&near, given, names);
}

TEST(edits)
{
    static const char *const names[] = {"relu", "sigmoid", "softmax", "tanh", "kernel", NULL};

    CHECK_STR(near_of("relux", names), "; did you mean \"relu\"?");
    CHECK_STR(near_of("rleu", names), "; did you mean \"relu\"?"); /* exchanged */
    CHECK_STR(near_of("rel", names), "; did you mean \"relu\"?");
    CHECK_STR(near_of("kernal", names), "; did you mean \"kernel\"?");
    CHECK_STR(near_of("SoftMax", names), "; did you mean \"softmax\"?");
    CHECK_STR(near_of("dropout", names), "");
    CHECK_STR(near_of("", names), "");
    CHECK_STR(near_of("x", names), "");
}

TEST(several)
{
    static const char *const many[] = {"pad_a", "pad_b", "pad_c", "pad_d", NULL};
    static const char *const two[] = {"Softmax", "softmax", "softmin", NULL};

    CHECK_STR(near_of("pad_e", many), "; did you mean \"pad_a\", \"pad_b\" or \"pad_c\"?");
    CHECK_STR(near_of("softmaxx", two), "; did you mean \"softmax\" or \"Softmax\"?");
}

TEST(words_of_others)
{
    static const char *const reduce[] = {"axis", "keepdims", "exclude", NULL};
    static const char *const concat[] = {"num_args", "dim", NULL};

    CHECK_STR(near_of("dim", reduce), "; did you mean \"axis\"?");
    CHECK_STR(near_of("keepdim", reduce), "; did you mean \"keepdims\"?");
    CHECK_STR(near_of("axis", concat), "; did you mean \"dim\"?");
    CHECK_STR(near_of("dim", concat + 2), "");
}

TEST(long_names)
{
    char given[3 * MXL_NEAR_LONGEST], other[3 * MXL_NEAR_LONGEST];
    const char *names[] = {other, other, other, other, NULL};

    for (size_t length = MXL_NEAR_LONGEST - 1; length < sizeof given; length++) {
        memset(given, 'a', length);
        memset(other, 'a', length);
        given[length] = other[length] = '\0';
        other[length / 2] = 'b';
        CHECK((near_of(given, names)[0] != '\0') == (length <= MXL_NEAR_LONGEST));
    }
}

HARNESS_MAIN(ENTRY(edits), ENTRY(several), ENTRY(words_of_others), ENTRY(long_names))
