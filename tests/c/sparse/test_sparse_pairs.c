/* Element-wise operators on sparse arrays: values, storage types and gradients. */
#include "sparse_kit.h"

static const int all_dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_U8, MXL_I32, MXL_I8, MXL_I64};

/* ---- one array ---- */

TEST(zeros_stay)
{
    static const char *const ops[] = {
        "abs",   "arcsin", "arcsinh",   "arctan",    "arctanh",   "cbrt",    "ceil", "degrees",
        "expm1", "fix",    "floor",     "log1p",     "negative",  "radians", "relu", "rint",
        "round", "sign",   "sin",       "sinh",      "sqrt",      "square",  "tan",  "tanh",
        "trunc", "_copy",  "BlockGrad", "make_loss", "zeros_like"};
    uint64_t seed = 3;
    mxl_array *a = scattered(&seed, MXL_F32, SHAPE(7, 9), 4);

    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        agree(ops[i], "", "c", 'c', a, NULL);
        agree(ops[i], "", "r", 'r', a, NULL);
    }
    agree("exp", "", "c", 'd', a, NULL);
    agree("cos", "", "r", 'd', a, NULL);
    agree("Cast", "dtype=float64", "c", 'd', a, NULL);
    mxl_array_release(a);
}

TEST(numbers)
{
    static const struct {
        const char *op, *number;
        char result; /* s: as the input */
    } rows[] = {{"_mul_scalar", "2", 's'},           {"_mul_scalar", "0", 's'},
                {"_div_scalar", "4", 's'},           {"_plus_scalar", "0", 's'},
                {"_plus_scalar", "2", 'd'},          {"_minus_scalar", "0", 's'},
                {"_minus_scalar", "1", 'd'},         {"_equal_scalar", "0.5", 's'},
                {"_equal_scalar", "0", 'd'},         {"_not_equal_scalar", "0", 's'},
                {"_not_equal_scalar", "1", 'd'},     {"_greater_scalar", "0.5", 's'},
                {"_greater_scalar", "-1", 'd'},      {"_greater_equal_scalar", "1", 's'},
                {"_greater_equal_scalar", "0", 'd'}, {"_lesser_scalar", "0", 's'},
                {"_lesser_scalar", "1", 'd'},        {"_lesser_equal_scalar", "-1", 's'},
                {"_lesser_equal_scalar", "0", 'd'},  {"_maximum_scalar", "-1", 'd'},
                {"_power_scalar", "2", 'd'},         {"_rdiv_scalar", "2", 'd'}};
    uint64_t seed = 4;
    mxl_array *a = scattered(&seed, MXL_F64, SHAPE(6, 5), 3);

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char params[32];

        snprintf(params, sizeof(params), "scalar=%s", rows[i].number);
        for (const char *s = "cr"; *s != 0; s++)
            agree(rows[i].op, params, (char[]){*s, 0}, rows[i].result == 's' ? *s : 'd', a, NULL);
    }
    agree("clip", "a_min=-1 a_max=0.5", "c", 'c', a, NULL);
    agree("clip", "a_min=0 a_max=0.5", "r", 'r', a, NULL);
    agree("clip", "a_min=0.25 a_max=0.5", "r", 'd', a, NULL);
    mxl_array_release(a);
}

/* ---- two arrays ---- */

static void pairs_of(int dtype, const int64_t *shape, int every)
{
    static const char *const merged[] = {"elemwise_add", "elemwise_sub", "_grad_add", "_maximum",
                                         "_minimum"};
    uint64_t seed = 5;
    mxl_array *a = scattered(&seed, dtype, shape, every),
              *b = scattered(&seed, dtype, shape, every);

    for (size_t i = 0; i < sizeof(merged) / sizeof(*merged); i++) {
        agree(merged[i], "", "cc", 'c', a, b);
        agree(merged[i], "", "cc", 'c', a, a);
        agree(merged[i], "", "rr", 'r', a, b);
        agree(merged[i], "", "rr", 'r', b, b);
        agree(merged[i], "", "cr", 'd', a, b);
        agree(merged[i], "", "cd", 'd', a, b);
        agree(merged[i], "", "dr", 'd', a, b);
    }
    agree("elemwise_mul", "", "cc", 'c', a, b);
    agree("elemwise_mul", "", "rr", 'r', a, b);
    agree("elemwise_mul", "", "cd", 'c', a, b);
    agree("elemwise_mul", "", "dc", 'c', a, b);
    agree("elemwise_mul", "", "rd", 'r', a, b);
    agree("elemwise_mul", "", "dr", 'r', a, b);
    agree("elemwise_mul", "", "rc", 'd', a, b);
    agree("broadcast_add", "", "cc", 'd', a, b);
    agree("broadcast_mul", "", "cd", 'c', a, b);
    agree("broadcast_mul", "", "dc", 'd', a, b);
    agree("broadcast_mul", "", "cc", 'd', a, b);
    agree("add_n", "", "rr", 'r', a, b);
    agree("add_n", "", "cc", 'd', a, b);
    agree("add_n", "", "rd", 'd', a, b);
    mxl_array_release(a);
    mxl_array_release(b);
}

TEST(pairs)
{
    for (size_t i = 0; i < sizeof(all_dtypes) / sizeof(*all_dtypes); i++) {
        pairs_of(all_dtypes[i], SHAPE(7, 9), 3);
        pairs_of(all_dtypes[i], SHAPE(5, 3), 1000);
    }
    pairs_of(MXL_F32, SHAPE(0, 4), 2);
    pairs_of(MXL_F32, SHAPE(4, 0), 2);
    pairs_of(MXL_F32, SHAPE(1, 1), 1);
    pairs_of(MXL_F32, SHAPE(300, 700), 5); /* shared by threads */
}

TEST(pairs_of_rows)
{
    uint64_t seed = 8;
    mxl_array *a = scattered(&seed, MXL_F32, SHAPE(9, 2, 3), 12);
    mxl_array *b = scattered(&seed, MXL_F32, SHAPE(9, 2, 3), 12);
    mxl_array *all[3] = {a, b, a};

    agree("elemwise_add", "", "rr", 'r', a, b);
    agree("elemwise_mul", "", "rd", 'r', a, b);
    mxl_array_release(agrees("add_n", "", "rrr", 'r', all));
    mxl_array_release(a);
    mxl_array_release(b);
}

TEST(broadcasting)
{
    uint64_t seed = 6;
    mxl_array *a = scattered(&seed, MXL_F32, SHAPE(6, 5), 3);
    const int64_t *shapes[] = {SHAPE(5), SHAPE(1, 5), SHAPE(6, 1), SHAPE(1, 1), SHAPE(1)};
    mxl_array *tall = random_array(&seed, SHAPE(2, 6, 5)), *wide;

    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        mxl_array *b = scattered(&seed, MXL_F32, shapes[i], 1);

        agree("broadcast_mul", "", "cd", 'c', a, b);
        agree("broadcast_div", "", "cd", 'c', a, b);
        agree("broadcast_add", "", "cd", 'd', a, b);
        agree("broadcast_mul", "", "rd", 'd', a, b);
        mxl_array_release(b);
    }
    wide = mxl_array_copy_as(a, MXL_F64);
    agree("broadcast_mul", "", "cd", 'd', wide, tall);
    mxl_array_release(wide);
    mxl_array_release(tall);
    mxl_array_release(a);
}

/* ---- parts out of order ---- */

static mxl_array *made(mxl_stype stype, const int64_t *shape, mxl_array *data, mxl_array *indices,
                       mxl_array *indptr)
{
    return mxl_array_new_sparse(stype, data->dtype, shape_ndim(shape), shape,
                                mxl_parts_new(stype == MXL_CSR, data, indices, indptr));
}

TEST(parts_out_of_order)
{
    mxl_array *a = made(MXL_CSR, SHAPE(2, 4), ARRAY(MXL_F32, SHAPE(5), 1, 2, 3, 4, 5),
                        ARRAY(MXL_I64, SHAPE(5), 3, 0, 3, 2, 1), ARRAY(MXL_I32, SHAPE(3), 0, 3, 5));
    mxl_array *b = made(MXL_ROW_SPARSE, SHAPE(4, 1), ARRAY(MXL_F32, SHAPE(3, 1), 1, 2, 3),
                        ARRAY(MXL_I64, SHAPE(3), 2, 0, 2), NULL);
    mxl_array *y = run("elemwise_add", "", PLAIN, 2, a, a);

    CHECK_INT(mxl_sparse_check(y, true), 0);
    IS(as_stored(y, 'd'), MXL_F32, SHAPE(2, 4), 4, 0, 0, 6, 0, 10, 8, 0);
    mxl_array_release(y);
    y = run("elemwise_sub", "", PLAIN, 2, b, b);
    CHECK_INT(mxl_sparse_check(y, true), 0);
    CHECK_INT(y->stype, MXL_ROW_SPARSE);
    IS(as_stored(y, 'd'), MXL_F32, SHAPE(4, 1), 0, 0, 0, 0);
    mxl_array_release(y);
    mxl_array_release(a);
    mxl_array_release(b);
}

TEST(parts_out_of_range)
{
    mxl_array *bad = made(MXL_CSR, SHAPE(2, 4), ARRAY(MXL_F32, SHAPE(2), 1, 2),
                          ARRAY(MXL_I64, SHAPE(2), 0, 4), ARRAY(MXL_I64, SHAPE(3), 0, 1, 2));
    mxl_array *good = mxl_array_sparse_zeros(MXL_CSR, MXL_F32, 2, SHAPE(2, 4));

    fails("out of range", "elemwise_add", "", 2, bad, good);
    fails("out of range", "elemwise_add", "", 2, good, bad);
    fails("out of range", "sin", "", 1, bad);
    mxl_array_release(bad);
    mxl_array_release(good);
}

/* ---- gradients ---- */

TEST(gradients_of_one)
{
    uint64_t seed = 9;
    mxl_array *a = scattered(&seed, MXL_F64, SHAPE(5, 6), 3);

    gradients_agree("sin", "", "c", "d", a, NULL, ' ');
    gradients_agree("square", "", "c", "d", a, NULL, ' ');
    gradients_agree("square", "", "c", "c", a, NULL, 'c');
    gradients_agree("square", "", "r", "r", a, NULL, 'r');
    gradients_agree("relu", "", "r", "r", a, NULL, 'r');
    gradients_agree("abs", "", "r", "d", a, NULL, 'c');
    gradients_agree("negative", "", "c", "c", a, NULL, 'c');
    gradients_agree("_mul_scalar", "scalar=3", "r", "r", a, NULL, 'r');
    gradients_agree("_mul_scalar", "scalar=3", "r", "d", a, NULL, ' ');
    mxl_array_release(a);
}

TEST(gradients_of_two)
{
    static const char *const stored[] = {"dc", "cd", "rr", "cc", "rd", "rc"};
    static const char *const of_mul[] = {"cd", "dc", "dd", "dd", "dd", "dd"};
    uint64_t seed = 10;
    mxl_array *a = scattered(&seed, MXL_F64, SHAPE(5, 6), 3);
    mxl_array *b = scattered(&seed, MXL_F64, SHAPE(5, 6), 3);

    for (size_t i = 0; i < sizeof(stored) / sizeof(*stored); i++) {
        gradients_agree("elemwise_mul", "", stored[i], of_mul[i], a, b, ' ');
        gradients_agree("broadcast_mul", "", stored[i], "dd", a, b, ' ');
        gradients_agree("elemwise_sub", "", stored[i], "dd", a, b, ' ');
        gradients_agree("add_n", "", stored[i], "dd", a, b, ' ');
        gradients_agree("_maximum", "", stored[i], "dd", a, b, ' ');
    }
    gradients_agree("elemwise_sub", "", "rr", "rr", a, b, 'r');
    gradients_agree("elemwise_add", "", "cc", "cc", a, b, 'c');
    mxl_array_release(a);
    mxl_array_release(b);
}

HARNESS_MAIN(ENTRY(zeros_stay), ENTRY(numbers), ENTRY(pairs), ENTRY(pairs_of_rows),
             ENTRY(broadcasting), ENTRY(parts_out_of_order), ENTRY(parts_out_of_range),
             ENTRY(gradients_of_one), ENTRY(gradients_of_two))
