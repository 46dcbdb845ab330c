/* What is said of calls that run on dense copies (engine/run/fallback.c): once for an operator and
 * its storage types, in the whole process; so lines are counted over all tests of this program. */
#include "sparse_kit.h"

#include "mxlite/mxlite.h"

enum { MOST = 1100, WIDTH = 220 };

static char heard[MOST][WIDTH];
static int count;

static void listen(const char *line)
{
    CHECK(strlen(line) < WIDTH);
    if (CHECK(count < MOST))
        snprintf(heard[count++], WIDTH, "%s", line);
}

/* How many lines begin so. */
static int said(const char *begin)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found += strncmp(heard[i], begin, strlen(begin)) == 0;
    return found;
}

/* Runs it on arrays stored as the letters say, into a dense array or one stored as `given`. */
static void call(const char *op, const char *params, const char *letters, char given)
{
    int n = (int)strlen(letters);
    mxl_array *dense = ARRAY(MXL_F32, SHAPE(2, 2), 0, 0, 0, 5), *in[40], *out = NULL;
    mxl_array *to = as_stored(dense, given == 0 ? 'd' : given);

    for (int i = 0; i < n; i++)
        in[i] = as_stored(dense, letters[i]);
    out = given == 0 ? NULL : to;
    CHECK_INT(run_into(op, params, mode_of(true, false), n, in, &out), 0);
    for (int i = 0; i < n; i++)
        mxl_array_release(in[i]);
    if (out != to)
        mxl_array_release(out);
    mxl_array_release(to);
    mxl_array_release(dense);
}

TEST(lines)
{
    char most[41] = "";

    CHECK_INT(MXLSetNotice(listen), 0);
    for (int times = 0; times < 3; times++) {
        call("cos", "", "r", 0);
        call("cos", "", "c", 0);
        call("cos", "", "d", 'r');
        call("cos", "", "d", 0);
        call("sin", "", "r", 0);
        call("broadcast_maximum", "", "rd", 0);
        call("_ones", "shape=(2,2)", "", 'c');
    }
    CHECK_INT(said("cos: "), 3);
    CHECK_INT(said("cos: no sparse form for (row_sparse); it runs on dense copies"), 1);
    CHECK_INT(said("cos: no sparse form for (csr); "), 1);
    CHECK_INT(said("cos: no sparse form for (default) -> (row_sparse); "), 1);
    CHECK_INT(said("sin"), 0);
    CHECK_INT(said("_ones"), 0);
    CHECK_INT(said("broadcast_maximum: no sparse form for (row_sparse, default); "), 1);
    memset(most, 'c', 40);
    call("add_n", "", most, 0);
    CHECK_INT(said("add_n: no sparse form for (csr, csr, csr, csr, csr, csr, csr, csr, ...); "), 1);
    call("add_n", "", most + 32, 0);
    CHECK_INT(said("add_n: no sparse form for (csr, csr, csr, csr, csr, csr, csr, csr); "), 1);
    CHECK_INT(MXLSetNotice(NULL), 0);
}

TEST(nobody_listens)
{
    int before = count;

    call("tan", "", "c", 0);
    call("exp", "", "c", 0);
    CHECK_INT(count, before);
    CHECK_INT(MXLSetNotice(listen), 0);
    call("exp", "", "c", 0); /* it was not said before */
    CHECK_INT(said("exp: no sparse form for (csr); "), 1);
    CHECK_INT(MXLSetNotice(NULL), 0);
}

/* A call that fails is said too, and its error is the caller's. */
TEST(failures)
{
    mxl_array *dense = ARRAY(MXL_F32, SHAPE(2, 2), 0, 0, 0, 5),
              *other = mxl_array_zeros(MXL_F32, 1, SHAPE(3));
    mxl_array *csr = as_stored(dense, 'c');

    CHECK_INT(MXLSetNotice(listen), 0);
    fails("broadcast_power: ", "broadcast_power", "", 2, csr, other);
    CHECK_INT(said("broadcast_power: no sparse form for (csr, default); "), 1);
    CHECK_INT(MXLSetNotice(NULL), 0);
    mxl_array_release(csr);
    mxl_array_release(other);
    mxl_array_release(dense);
}

/* More lines than are told apart: the others are not said, and no line comes twice. The last test.
 */
TEST(no_room)
{
    CHECK_INT(MXLSetNotice(listen), 0);
    for (int i = 0; i < 2 * 2187; i++) {
        char letters[8] = "";

        for (int k = 0, rest = i; k < 7; k++, rest /= 3)
            letters[k] = "drc"[rest % 3];
        call("add_n", "", letters, 0);
    }
    CHECK_INT(MXLSetNotice(NULL), 0);
    CHECK_INT(count, 1024);
    for (int i = 0; i < count; i++)
        CHECK_INT(said(heard[i]), 1);
}

HARNESS_MAIN(ENTRY(lines), ENTRY(nobody_listens), ENTRY(failures), ENTRY(no_room))
