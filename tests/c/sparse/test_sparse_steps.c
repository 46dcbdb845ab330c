/* Embeddings with row_sparse gradients and weights, and steps of optimizers with such gradients:
 * values against those of dense arrays, rows that are left alone, memory, failures. */
#include "ops_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "array/copy.h"
#include "array/sparse/sparse.h"
#include "base/memory/mem.h"
#include "op/sparse_forms.h"

enum { VOCABULARY = 50, MOST_COLUMNS = 70, MOST_NAMED = 60 };

static const int floats[] = {MXL_F32, MXL_F64, MXL_F16};

/* A row_sparse matrix with these rows; its values are of `dense`. */
static mxl_array *with_rows(const mxl_array *dense, int64_t count, const int64_t *rows)
{
    int64_t columns = dense->size / dense->shape[0], shape[2] = {count, columns};
    mxl_array *data = mxl_array_new(dense->dtype, 2, shape);
    mxl_array *indices = mxl_array_new(MXL_I64, 1, shape);

    for (int64_t k = 0; k < count; k++) {
        set_item(indices, k, (double)rows[k]);
        for (int64_t c = 0; c < columns; c++)
            set_item(data, k * columns + c, item(dense, rows[k] * columns + c));
    }
    return mxl_array_new_sparse(MXL_ROW_SPARSE, dense->dtype, 2, dense->shape,
                                mxl_parts_new(false, data, indices, NULL));
}

static mxl_array *with_all_rows(const mxl_array *dense)
{
    int64_t rows[VOCABULARY];

    for (int64_t i = 0; i < VOCABULARY; i++)
        rows[i] = i;
    return with_rows(dense, dense->shape[0], rows);
}

/* Random numbers of a dtype, in [0.5, 1.5). */
static mxl_array *numbers(uint64_t *seed, int dtype, int64_t rows, int64_t columns)
{
    mxl_array *wide = random_array(seed, SHAPE(rows, columns));
    mxl_array *array = mxl_array_copy_as(wide, dtype);

    mxl_array_release(wide);
    return array;
}

static double tolerance(int dtype)
{
    return dtype == MXL_F64 ? 1e-12 : dtype == MXL_F32 ? 1e-5 : 4e-3;
}

static bool same(const mxl_array *array, const mxl_array *dense, double near)
{
    mxl_array *all = mxl_array_cast_storage(array, MXL_DENSE);
    bool equal = mxl_array_same_shape(all, dense);

    for (int64_t i = 0; equal && i < dense->size; i++)
        equal = CHECK_NEAR(item(all, i), item(dense, i), near);
    mxl_array_release(all);
    return equal;
}

/* ---- embeddings ---- */

/* The gradient of the weight for a gradient of ones times 1, 2, 3 ... of the result. */
static mxl_array *embedding_grad(const char *op, const char *params, mxl_array *index,
                                 mxl_array *weight, mxl_array *head)
{
    mxl_array *inputs[2] = {index, weight}, *y = NULL, *grad = NULL;
    mxl_backward_args args = {.num_heads = 1,
                              .heads = &y,
                              .head_grads = &head,
                              .num_variables = 1,
                              .variables = &weight,
                              .grads = &grad,
                              .dialect = &mxl_dialect_mxnet};

    make_variable(weight);
    CHECK_INT(run_into(op, params, mode_of(true, true), 2, inputs, &y), 0);
    if (y != NULL && mxl_backward(&args) != 0)
        grad = NULL;
    mxl_array_release(y);
    return grad;
}

static void check_embedding(int dtype, int index_dtype, int64_t n, int64_t columns, bool stored)
{
    uint64_t seed = (uint64_t)(n * 100 + columns + 1);
    char params[96];
    mxl_array *dense = numbers(&seed, dtype, VOCABULARY, columns), *index, *grad, *expected;
    mxl_array *head = numbers(&seed, dtype, n, columns);
    mxl_array *weight = stored ? with_all_rows(dense) : mxl_array_copy(dense);
    double sums[VOCABULARY][MOST_COLUMNS] = {{0}};
    bool named[VOCABULARY] = {false};
    int64_t different = 0;

    index = mxl_array_new(index_dtype, 1, &n);
    for (int64_t j = 0; j < n; j++) {
        int64_t row = (int64_t)(harness_random(&seed) % 23) * 2;

        set_item(index, j, (double)row);
        different += !named[row];
        named[row] = true;
        for (int64_t c = 0; c < columns; c++)
            sums[row][c] += item(head, j * columns + c);
    }
    (void)snprintf(params, sizeof(params), "input_dim=%d output_dim=%d sparse_grad=1", VOCABULARY,
                   (int)columns);
    grad = embedding_grad("Embedding", params, index, weight, head);
    expected = mxl_array_zeros(dtype, 2, dense->shape);
    for (int64_t row = 0; row < VOCABULARY; row++) {
        for (int64_t c = 0; c < columns; c++)
            set_item(expected, row * columns + c, sums[row][c]);
    }
    if (CHECK(grad != NULL && grad->stype == MXL_ROW_SPARSE)) {
        mxl_parts *parts = mxl_array_parts(grad);

        CHECK_INT(mxl_sparse_check(grad, true), 0);
        CHECK_INT(mxl_parts_stored(parts), different);
        CHECK(same(grad, expected, tolerance(dtype) * 40));
        mxl_parts_release(parts);
    }
    mxl_array_release(grad);
    mxl_array_release(expected);
    mxl_array_release(index);
    mxl_array_release(head);
    mxl_array_release(weight);
    mxl_array_release(dense);
}

TEST(gradients_of_rows)
{
    static const int indices[] = {MXL_F32, MXL_F64, MXL_I32, MXL_I64, MXL_U8, MXL_F16};
    static const int64_t sizes[] = {0, 1, 7, MOST_NAMED}, widths[] = {1, 3, MOST_COLUMNS};

    for (size_t d = 0; d < 3; d++) {
        for (size_t i = 0; i < 6; i++)
            check_embedding(floats[d], indices[i], 30, 5, i % 2 == 1);
        for (size_t i = 0; i < 12; i++)
            check_embedding(floats[d], MXL_I64, sizes[i % 4], widths[i / 4], i % 2 == 0);
    }
}

TEST(rows_of_weights)
{
    static const int64_t stored[] = {1, 4};
    mxl_array *dense = ARRAY(MXL_F32, SHAPE(6, 2), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    mxl_array *weight = with_rows(dense, 2, stored), *index = ARRAY(MXL_I32, SHAPE(3), 4, 2, 1);
    mxl_array *far = ARRAY(MXL_F32, SHAPE(1), 6), *head = ARRAY(MXL_F32, SHAPE(1, 2), 1, 1);

    IS(run("Embedding", "input_dim=6 output_dim=2", PLAIN, 2, index, weight), MXL_F32, SHAPE(3, 2),
       9, 10, 0, 0, 3, 4);
    IS(run("_contrib_SparseEmbedding", "input_dim=6 output_dim=2", PLAIN, 2, index, dense), MXL_F32,
       SHAPE(3, 2), 9, 10, 5, 6, 3, 4);
    IS(run("Embedding", "input_dim=6 output_dim=2 sparse_grad=1", PLAIN, 2, far, dense), MXL_F32,
       SHAPE(1, 2), 11, 12);
    fails("index 6 is out of bounds", "Embedding", "input_dim=6 output_dim=2", 2, far, weight);
    fails("it must be 5, the parameter input_dim", "Embedding", "input_dim=5 output_dim=2", 2,
          index, weight);
    CHECK(embedding_grad("_contrib_SparseEmbedding", "input_dim=6 output_dim=2", far, dense,
                         head) == NULL);
    CHECK_HAS(mxl_error_text(), "index 6 is out of bounds");
    mxl_array_release(dense);
    mxl_array_release(weight);
    mxl_array_release(index);
    mxl_array_release(far);
    mxl_array_release(head);
}

/* What graphs make gradient arrays of: the operator's parameter decides, not its inputs. */
TEST(gradients_in_graphs)
{
    static const struct {
        const char *op, *key;
        int stype;
    } rows[] = {{"Embedding", "sparse_grad", MXL_ROW_SPARSE},
                {"Embedding", NULL, MXL_DENSE},
                {"_contrib_SparseEmbedding", NULL, MXL_ROW_SPARSE}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *keys[] = {"input_dim", "output_dim", rows[i].key}, *values[] = {"6", "2", "1"};
        const int8_t in[2] = {MXL_DENSE, MXL_DENSE}, out_grad[1] = {MXL_DENSE};
        const mxl_op *op = mxl_op_find(rows[i].op);
        int8_t in_grad[2] = {MXL_DENSE, MXL_DENSE};
        _Alignas(16) char params[512];
        mxl_stypes call = {.op = op, .params = params, .num_inputs = 2, .in = in};
        mxl_arena arena;

        mxl_arena_init(&arena);
        CHECK_INT(mxl_params_parse(op, rows[i].key != NULL ? 3 : 2, keys, values, params, &arena),
                  0);
        op->sparse->grad_stypes(&call, out_grad, in_grad);
        CHECK_INT(in_grad[0], MXL_DENSE);
        CHECK_INT(in_grad[1], rows[i].stype);
        mxl_arena_clear(&arena);
    }
}

/* ---- steps ---- */

typedef struct optimizer {
    const char *op, *params;
    int states;
    bool has_lazy;    /* and without it all rows are updated */
    bool only_stored; /* a dense weight is updated as by a dense gradient */
    bool by_rows;     /* one number of state for each row */
} optimizer;

static const optimizer optimizers[] = {
    {"sgd_update", "lr=0.1 wd=0.1 rescale_grad=0.5", 0, true, false, false},
    {"sgd_mom_update", "lr=0.1 wd=0.1 momentum=0.9 clip_gradient=0.9", 1, true, false, false},
    {"adam_update", "lr=0.1 wd=0.1", 2, true, false, false},
    {"ftrl_update", "lr=0.1 wd=0.1", 2, false, true, false},
    {"_sparse_adagrad_update", "lr=0.1", 1, false, false, false},
    {"_contrib_group_adagrad_update", "lr=0.1", 1, false, false, true},
};

enum { OPTIMIZERS = 6, ARRAYS = 4 };

typedef struct step {
    const optimizer *o;
    int dtype;
    int64_t columns, count;
    const int64_t *rows;
    bool stored, lazy;
} step;

static void run_step(const step *s, mxl_array **in)
{
    char params[128];
    mxl_array *out = in[0];

    (void)snprintf(params, sizeof(params), "%s%s", s->o->params,
                   !s->o->has_lazy ? ""
                   : s->lazy       ? " lazy_update=1"
                                   : " lazy_update=0");
    if (!CHECK_INT(run_into(s->o->op, params, PLAIN, 2 + s->o->states, in, &out), 0))
        CHECK_STR(mxl_error_text(), s->o->op);
}

/* in[i] with the rows of the gradient from after[i]. */
static void mix(const step *s, const mxl_array *before, const mxl_array *after, mxl_array *mixed)
{
    int64_t columns = before->size / before->shape[0];
    bool rest = s->o->has_lazy ? !s->lazy : s->o->only_stored && !s->stored;

    for (int64_t i = 0; i < before->size; i++)
        set_item(mixed, i, item(rest ? after : before, i));
    for (int64_t k = 0; k < s->count; k++) {
        for (int64_t c = 0; c < columns; c++)
            set_item(mixed, s->rows[k] * columns + c, item(after, s->rows[k] * columns + c));
    }
}

static void check_step(const step *s)
{
    uint64_t seed = (uint64_t)(s->columns + s->count);
    mxl_array *before[ARRAYS], *after[ARRAYS], *in[ARRAYS], *grad, *full;
    int count = 2 + s->o->states;

    for (int i = 0; i < count; i++) {
        before[i] = numbers(&seed, s->dtype, VOCABULARY, i > 1 && s->o->by_rows ? 1 : s->columns);
        after[i] = mxl_array_copy(before[i]);
        in[i] = s->stored ? with_all_rows(before[i]) : mxl_array_copy(before[i]);
    }
    grad = with_rows(before[1], s->count, s->rows);
    full = mxl_array_cast_storage(grad, MXL_DENSE);
    mxl_array_release(in[1]);
    mxl_array_release(after[1]);
    in[1] = grad;
    after[1] = full;
    run_step(s, after);
    run_step(s, in);
    for (int i = 0; i < count; i++) {
        mxl_array *mixed = mxl_array_copy(before[i]);

        if (i != 1) {
            mix(s, before[i], after[i], mixed);
            CHECK_INT(in[i]->stype, s->stored ? MXL_ROW_SPARSE : MXL_DENSE);
            if (!CHECK(same(in[i], mixed, tolerance(s->dtype))))
                CHECK_STR(s->o->op, "");
        }
        mxl_array_release(mixed);
        mxl_array_release(before[i]);
        mxl_array_release(after[i]);
        mxl_array_release(in[i]);
    }
}

TEST(steps)
{
    static const int64_t rows[] = {0, 3, 4, 5, 17, 30, 48, 49};
    static const int64_t counts[] = {0, 1, 8}, widths[] = {1, 3, MOST_COLUMNS};

    for (int o = 0; o < OPTIMIZERS; o++) {
        for (int i = 0; i < 9 * 3 * 4; i++) {
            step s = {.o = &optimizers[o],
                      .dtype = floats[i % 3],
                      .columns = widths[i / 3 % 3],
                      .count = counts[i / 9 % 3],
                      .rows = rows,
                      .stored = i / 27 % 2 == 1,
                      .lazy = i / 54 == 0};

            check_step(&s);
        }
    }
}

/* A row that is named twice is updated twice where rows are; all rows can not be so. */
TEST(repeated_rows)
{
    static const int64_t rows[] = {7, 7}, falling[] = {9, 2};
    uint64_t seed = 3;
    mxl_array *dense = numbers(&seed, MXL_F32, VOCABULARY, 3), *g = numbers(&seed, MXL_F32, 50, 3);
    mxl_array *once = mxl_array_copy(dense), *twice = mxl_array_copy(dense);
    mxl_array *one = with_rows(g, 1, rows), *both = with_rows(g, 2, rows);
    mxl_array *back = with_rows(g, 2, falling), *in[2] = {once, one};

    CHECK_INT(run_into("sgd_update", "lr=0.1", PLAIN, 2, in, &once), 0);
    CHECK_INT(run_into("sgd_update", "lr=0.1", PLAIN, 2, in, &once), 0);
    in[0] = twice;
    in[1] = both;
    CHECK_INT(run_into("sgd_update", "lr=0.1", PLAIN, 2, in, &twice), 0);
    CHECK(same(twice, once, 0));
    CHECK_INT(run_into("sgd_update", "lr=0.1 lazy_update=0", PLAIN, 2, in, &twice), -1);
    CHECK_HAS(mxl_error_text(), "ValueError: sgd_update: the indices of the gradient must ascend");
    in[1] = back;
    CHECK_INT(run_into("sgd_update", "lr=0.1 lazy_update=0", PLAIN, 2, in, &twice), -1);
    CHECK(same(twice, once, 0));
    mxl_array_release(dense);
    mxl_array_release(g);
    mxl_array_release(once);
    mxl_array_release(twice);
    mxl_array_release(one);
    mxl_array_release(both);
    mxl_array_release(back);
}

/* Rows that a state lacks are zeros; a weight that lacks some is refused. */
TEST(missing_rows)
{
    static const int64_t rows[] = {1, 4};
    mxl_array *dense = ARRAY(MXL_F32, SHAPE(6, 1), 1, 2, 3, 4, 5, 6), *weight, *part, *grad, *some;
    mxl_array *mom = mxl_array_sparse_zeros(MXL_ROW_SPARSE, MXL_F32, 2, dense->shape), *out;
    mxl_array *in[3];
    mxl_parts *parts;

    weight = with_all_rows(dense);
    grad = with_rows(dense, 2, rows);
    part = with_rows(dense, 2, rows);
    in[0] = part;
    in[1] = grad;
    in[2] = mom;
    out = part;
    CHECK_INT(run_into("sgd_mom_update", "lr=0.5 momentum=0.5", PLAIN, 3, in, &out), -1);
    CHECK_HAS(mxl_error_text(), "must have all of its 6 rows in their order, got 2");
    parts = mxl_array_parts(mom);
    CHECK_INT(mxl_parts_stored(parts), 0);
    mxl_parts_release(parts);
    in[0] = out = weight;
    CHECK_INT(run_into("sgd_mom_update", "lr=0.5 momentum=0.5", PLAIN, 3, in, &out), 0);
    parts = mxl_array_parts(mom);
    CHECK_INT(mxl_parts_stored(parts), 6);
    mxl_parts_release(parts);
    IS(mxl_array_cast_storage(mom, MXL_DENSE), MXL_F32, SHAPE(6, 1), 0, -1, 0, 0, -2.5, 0);
    IS(mxl_array_cast_storage(weight, MXL_DENSE), MXL_F32, SHAPE(6, 1), 1, 1, 3, 4, 2.5, 6);
    in[2] = some = with_rows(dense, 1, rows);
    CHECK_INT(run_into("sgd_mom_update", "lr=0.5 momentum=0.5", PLAIN, 3, in, &out), 0);
    IS(mxl_array_cast_storage(some, MXL_DENSE), MXL_F32, SHAPE(6, 1), 0, 0, 0, 0, -2.5, 0);
    IS(mxl_array_cast_storage(weight, MXL_DENSE), MXL_F32, SHAPE(6, 1), 1, 1, 3, 4, 0, 6);
    mxl_array_release(dense);
    mxl_array_release(weight);
    mxl_array_release(part);
    mxl_array_release(some);
    mxl_array_release(grad);
    mxl_array_release(mom);
}

/* Results that are not the weight, arrays that are not contiguous, data that others share. */
TEST(other_arrays)
{
    static const int64_t rows[] = {1}, turned[] = {1, 3};
    mxl_array *dense = ARRAY(MXL_F32, SHAPE(3, 2), 1, 2, 3, 4, 5, 6), *stored, *grad, *out = NULL;
    mxl_array *base = ARRAY(MXL_F32, SHAPE(2, 3), 1, 3, 5, 2, 4, 6), *view, *shared, *in[2];
    mxl_parts *parts;

    stored = with_all_rows(dense);
    grad = with_rows(dense, 1, rows);
    in[0] = dense;
    in[1] = grad;
    CHECK_INT(run_into("sgd_update", "lr=1", PLAIN, 2, in, &out), 0);
    IS(out, MXL_F32, SHAPE(3, 2), 1, 2, 0, 0, 5, 6);
    in[0] = stored;
    out = NULL;
    CHECK_INT(run_into("sgd_update", "lr=1", PLAIN, 2, in, &out), 0);
    CHECK_INT(out->stype, MXL_ROW_SPARSE);
    IS(mxl_array_cast_storage(out, MXL_DENSE), MXL_F32, SHAPE(3, 2), 1, 2, 0, 0, 5, 6);
    mxl_array_release(out);
    CHECK(same(stored, dense, 0));
    view = mxl_array_strided(base, 0, 2, SHAPE(3, 2), turned);
    in[0] = out = view;
    CHECK_INT(run_into("sgd_update", "lr=1", PLAIN, 2, in, &out), 0);
    IS(mxl_array_copy(base), MXL_F32, SHAPE(2, 3), 1, 0, 5, 2, 0, 6);
    parts = mxl_array_parts(stored);
    shared = parts->data;
    mxl_array_retain(shared);
    mxl_parts_release(parts);
    in[0] = out = stored;
    CHECK_INT(run_into("sgd_update", "lr=1", PLAIN, 2, in, &out), 0);
    IS(mxl_array_cast_storage(stored, MXL_DENSE), MXL_F32, SHAPE(3, 2), 1, 2, 0, 0, 5, 6);
    CHECK_NEAR(item(shared, 2), 3, 0);
    mxl_array_release(shared);
    mxl_array_release(view);
    mxl_array_release(base);
    mxl_array_release(dense);
    mxl_array_release(stored);
    mxl_array_release(grad);
}

/* ---- memory ---- */

static int64_t taken, until_failure = -1;

static void *counted(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    if (until_failure == 0)
        return NULL;
    until_failure -= until_failure > 0;
    taken += (int64_t)bytes;
    return kit_alloc(bytes, align);
}

static void counted_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
    kit_free(block);
}

/* Bytes that a step of a vocabulary takes: its gradient, and Adam on what that names. */
static int64_t bytes_of_step(int64_t vocabulary, bool stored)
{
    char params[96];
    mxl_array *index = ARRAY(MXL_I64, SHAPE(4), 900, 3, 900, 7), *grad, *out, *in[4];
    mxl_array *head = ARRAY(MXL_F32, SHAPE(4, 2), 1, 2, 3, 4, 5, 6, 7, 8);
    int64_t before;

    for (int i = 0; i < 4; i++) {
        mxl_array *dense = mxl_array_zeros(MXL_F32, 2, SHAPE(vocabulary, 2));

        for (int64_t k = 0; k < dense->size; k++)
            set_item(dense, k, 1);
        in[i] = stored ? mxl_array_cast_storage(dense, MXL_ROW_SPARSE) : mxl_array_copy(dense);
        mxl_array_release(dense);
    }
    (void)snprintf(params, sizeof(params), "input_dim=%d output_dim=2 sparse_grad=1",
                   (int)vocabulary);
    mxl_array_release(in[1]);
    before = taken;
    grad = embedding_grad("Embedding", params, index, in[0], head);
    in[1] = grad;
    out = in[0];
    CHECK_INT(run_into("adam_update", "lr=1", PLAIN, 4, in, &out), 0);
    before = taken - before;
    for (int i = 0; i < 4; i++)
        mxl_array_release(in[i]);
    mxl_array_release(index);
    mxl_array_release(head);
    return before;
}

TEST(memory)
{
    int64_t small;

    CHECK_INT(mxl_mem_set_allocator(counted, counted_free, NULL, false), 0);
    for (int stored = 0; stored < 2; stored++) {
        (void)bytes_of_step(1000, stored);
        small = bytes_of_step(1000, stored);
        CHECK(small > 0);
        CHECK_INT(bytes_of_step(100000, stored), small);
    }
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
}

/* Whichever allocation fails: an error, and nothing is changed. */
TEST(failures)
{
    static const int64_t rows[] = {2, 3};
    uint64_t seed = 9;
    mxl_array *dense, *in[4];
    bool done = false;

    CHECK_INT(mxl_mem_set_allocator(counted, counted_free, NULL, false), 0);
    dense = numbers(&seed, MXL_F32, 6, 2);
    for (int64_t k = 0; k < 200 && !done; k++) {
        for (int i = 0; i < 4; i++)
            in[i] = i == 1 ? with_rows(dense, 2, rows) : with_all_rows(dense);
        until_failure = k;
        done = run_into("adam_update", k % 2 == 0 ? "lr=1" : "lr=1 lazy_update=0", PLAIN, 4, in,
                        &in[0]) == 0;
        until_failure = -1;
        if (!done)
            CHECK_HAS(mxl_error_text(), "out of memory");
        for (int i = 0; i < 4; i++) {
            if (!done && i != 1)
                CHECK(same(in[i], dense, 0));
            mxl_array_release(in[i]);
        }
    }
    CHECK(done);
    mxl_array_release(dense);
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
}

HARNESS_MAIN(ENTRY(gradients_of_rows), ENTRY(rows_of_weights), ENTRY(gradients_in_graphs),
             ENTRY(steps), ENTRY(repeated_rows), ENTRY(missing_rows), ENTRY(other_arrays),
             ENTRY(memory), ENTRY(failures))
