/* Products of sparse and dense matrices, in all forms. */
#include "sparse_kit.h"

/* lhs, rhs, transpose_a, transpose_b, and how the result is stored if nobody asks. */
static const struct {
    const char *letters;
    int ta, tb;
    char result;
} forms[] = {{"cd", 0, 0, 'd'}, {"cd", 1, 0, 'r'}, {"cd", 0, 1, 'd'}, {"cd", 1, 1, 'd'},
             {"cr", 0, 0, 'd'}, {"cr", 1, 0, 'r'}, {"cr", 0, 1, 'd'}, {"dc", 0, 0, 'c'},
             {"dc", 0, 1, 'c'}, {"dc", 1, 0, 'd'}, {"dc", 1, 1, 'd'}, {"cc", 0, 0, 'd'},
             {"cc", 1, 0, 'd'}, {"rd", 0, 0, 'd'}, {"dr", 0, 1, 'd'}, {"rr", 1, 0, 'd'},
             {"rc", 0, 0, 'd'}, {"dd", 0, 0, 'd'}};

enum { NUM_FORMS = sizeof(forms) / sizeof(*forms) };

/* Every form of a product of m x k and k x n. */
static void products_of(int dtype, int64_t m, int64_t k, int64_t n, int every)
{
    static const struct {
        const char *name;
        char result; /* ' ': as it comes */
    } asked[] = {{"None", ' '}, {"default", 'd'}, {"row_sparse", 'r'}, {"csr", 'c'}};
    uint64_t seed = 20;

    for (int i = 0; i < NUM_FORMS; i++) {
        const int64_t *left = forms[i].ta ? SHAPE(k, m) : SHAPE(m, k);
        const int64_t *right = forms[i].tb ? SHAPE(n, k) : SHAPE(k, n);
        mxl_array *a = scattered(&seed, dtype, left, every);
        mxl_array *b = scattered(&seed, dtype, right, every);

        for (int s = 0; s < 4; s++) {
            char params[80];

            snprintf(params, sizeof(params), "transpose_a=%d transpose_b=%d forward_stype=%s",
                     forms[i].ta, forms[i].tb, asked[s].name);
            agree("dot", params, forms[i].letters,
                  asked[s].result == ' ' ? forms[i].result : asked[s].result, a, b);
        }
        mxl_array_release(a);
        mxl_array_release(b);
    }
}

TEST(products)
{
    products_of(MXL_F32, 7, 9, 5, 3);
    products_of(MXL_F64, 7, 9, 5, 3);
    products_of(MXL_F16, 7, 9, 5, 3);
    products_of(MXL_F32, 7, 9, 1, 3);
    products_of(MXL_F32, 1, 70, 130, 3);
    products_of(MXL_F32, 4, 5, 6, 1000);
    products_of(MXL_F64, 0, 3, 2, 2);
    products_of(MXL_F64, 3, 0, 2, 2);
    products_of(MXL_F64, 3, 2, 0, 2);
}

TEST(large_products) /* shared by threads; columns of several digits */
{
    products_of(MXL_F32, 300, 2100, 67, 10);
}

TEST(many_columns)
{
    int64_t columns = 1000000000000;
    mxl_array *m = mxl_array_new_sparse(MXL_CSR, MXL_F32, 2, SHAPE(2, columns),
                                        mxl_parts_new(true, ARRAY(MXL_F32, SHAPE(3), 1, 2, 3),
                                                      ARRAY(MXL_I64, SHAPE(3), 5, 999999999999, 5),
                                                      ARRAY(MXL_I64, SHAPE(3), 0, 2, 3)));
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 10, 100, 1000);
    mxl_array *y = run("dot", "transpose_a=1", PLAIN, 2, m, x);
    mxl_parts *parts = mxl_array_parts(y);

    CHECK_INT(y->stype, MXL_ROW_SPARSE);
    CHECK_INT(y->shape[0], columns);
    mxl_array_retain(parts->indices);
    mxl_array_retain(parts->data);
    is(parts->indices, MXL_I64, SHAPE(2), (const double[]){5, 999999999999});
    IS(parts->data, MXL_F32, SHAPE(2, 2), 301, 3010, 2, 20);
    mxl_parts_release(parts);
    mxl_array_release(y);
    mxl_array_release(x);
    mxl_array_release(m);
}

TEST(other_ranks)
{
    uint64_t seed = 21;
    mxl_array *a = scattered(&seed, MXL_F32, SHAPE(4, 5), 2);
    mxl_array *cube = scattered(&seed, MXL_F32, SHAPE(5, 2, 3), 2);
    mxl_array *vector = scattered(&seed, MXL_F32, SHAPE(5), 2);

    agree("dot", "", "cd", 'd', a, cube);
    agree("dot", "", "cd", 'd', a, vector);
    agree("dot", "", "cr", 'd', a, vector);
    mxl_array_release(a);
    mxl_array_release(cube);
    mxl_array_release(vector);
}

TEST(gradients_of_dot)
{
    static const struct {
        const char *letters;
        int ta, tb;
        const char *results;
    } rows[] = {{"cd", 0, 0, "dr"}, {"cd", 0, 1, "dd"}, {"cd", 1, 0, "dd"}, {"cd", 1, 1, "dd"},
                {"cr", 0, 0, "dr"}, {"cc", 0, 0, "dr"}, {"dc", 0, 0, "dd"}, {"dc", 0, 1, "dd"},
                {"dc", 1, 0, "dd"}, {"rd", 0, 0, "dd"}, {"rc", 0, 0, "dd"}, {"cc", 0, 1, "dd"},
                {"cr", 0, 1, "dd"}, {"dr", 0, 0, "dd"}};
    uint64_t seed = 22;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mxl_array *a = scattered(&seed, MXL_F64, rows[i].ta ? SHAPE(6, 4) : SHAPE(4, 6), 3);
        mxl_array *b = scattered(&seed, MXL_F64, rows[i].tb ? SHAPE(3, 6) : SHAPE(6, 3), 2);
        char params[48];

        snprintf(params, sizeof(params), "transpose_a=%d transpose_b=%d", rows[i].ta, rows[i].tb);
        gradients_agree("dot", params, rows[i].letters, rows[i].results, a, b, ' ');
        mxl_array_release(a);
        mxl_array_release(b);
    }
}

HARNESS_MAIN(ENTRY(products), ENTRY(large_products), NOT_WASM(many_columns), ENTRY(other_ranks),
             ENTRY(gradients_of_dot))
