/* For tests of sparse forms: each call is made with sparse inputs and with dense copies of them,
 * and both must agree, also in gradients. */
#ifndef SPARSE_KIT_H
#define SPARSE_KIT_H

#include <stdio.h>

#include "array/copy.h"
#include "array/sparse/sparse.h"
#include "ops_kit.h"

/* A dense array of whole numbers and halves, of which about one in `every` is not 0. */
static inline mxl_array *scattered(uint64_t *seed, int dtype, const int64_t *shape, int every)
{
    mxl_array *array = mxl_array_zeros(dtype, shape_ndim(shape), shape);

    for (int64_t i = 0; i < array->size; i++) {
        uint64_t r = harness_random(seed) >> 20;

        if (r % (uint64_t)every == 0)
            set_item(array, i, (double)(1 + r / (uint64_t)every % 5) / (dtype < 3 ? 4 : 1));
    }
    return array;
}

static inline mxl_stype stype_of(char letter)
{
    return letter == 'r' ? MXL_ROW_SPARSE : letter == 'c' ? MXL_CSR : MXL_DENSE;
}

static inline char letter_of(const mxl_array *array)
{
    return "drc"[array->stype];
}

static inline mxl_array *as_stored(const mxl_array *array, char letter)
{
    return mxl_array_cast_storage(array, stype_of(letter));
}

static inline bool same_values(const mxl_array *a, const mxl_array *b)
{
    mxl_array *x = as_stored(a, 'd'), *y = as_stored(b, 'd');
    bool same = CHECK(x != NULL && y != NULL) && CHECK_INT(x->dtype, y->dtype) &&
                CHECK(mxl_array_same_shape(x, y));

    for (int64_t i = 0; same && i < x->size; i++)
        same = CHECK_NEAR(item(x, i), item(y, i), x->dtype == MXL_F16 ? 2e-3 : 1e-5);
    mxl_array_release(x);
    mxl_array_release(y);
    return same;
}

/* Runs `op` on the arrays as the letters store them ("cd"): the result is stored as `result` says,
 * with the values of the dense call. Returns it. */
static inline mxl_array *agrees(const char *op, const char *params, const char *letters,
                                char result, mxl_array *const *arrays)
{
    int count = (int)strlen(letters);
    mxl_array *in[4] = {NULL}, *out = NULL, *want = NULL;
    bool good = true;

    for (int i = 0; i < count; i++)
        in[i] = as_stored(arrays[i], letters[i]);
    good = CHECK_INT(run_into(op, params, PLAIN, count, in, &out), 0) &&
           CHECK_INT(run_into(op, params, PLAIN, count, arrays, &want), 0);
    if (!good)
        CHECK_STR(mxl_error_text(), "");
    else
        good = CHECK_INT(letter_of(out), result) &&
               (mxl_array_is_dense(out) || CHECK_INT(mxl_sparse_check(out, true), 0)) &&
               same_values(out, want);
    if (!good)
        printf("  in %s %s %s\n", op, letters, params);
    for (int i = 0; i < count; i++)
        mxl_array_release(in[i]);
    mxl_array_release(want);
    return out;
}

static inline void agree(const char *op, const char *params, const char *letters, char result,
                         mxl_array *a, mxl_array *b)
{
    mxl_array_release(agrees(op, params, letters, result, (mxl_array *[]){a, b}));
}

/* Gradients of all inputs for a head of ones. */
static inline bool gradients(const char *op, const char *params, int count, mxl_array *const *in,
                             mxl_array *head, mxl_array **grads)
{
    mxl_array *y = NULL;
    bool done;

    for (int i = 0; i < count; i++) {
        make_variable(in[i]);
        grads[i] = NULL;
    }
    done = CHECK_INT(run_into(op, params, mode_of(true, true), count, in, &y), 0);
    if (done)
        done = CHECK_INT(mxl_backward(&(mxl_backward_args){.num_heads = 1,
                                                           .heads = &y,
                                                           .head_grads = &head,
                                                           .num_variables = count,
                                                           .variables = in,
                                                           .grads = grads,
                                                           .training = true,
                                                           .dialect = &mxl_dialect_mxnet}),
                         0);
    if (!done)
        CHECK_STR(mxl_error_text(), "");
    mxl_array_release(y);
    return done;
}

/* The gradients are those of the dense call, stored as the letters of `results` say. */
static inline void gradients_agree(const char *op, const char *params, const char *letters,
                                   const char *results, mxl_array *a, mxl_array *b, char head)
{
    int count = (int)strlen(letters);
    mxl_array *arrays[2] = {a, b}, *in[2] = {NULL}, *dense[2] = {NULL}, *got[2] = {NULL},
              *want[2] = {NULL};
    mxl_array *y = NULL, *ones[2] = {NULL, NULL};
    bool good;

    for (int i = 0; i < count; i++) {
        in[i] = as_stored(arrays[i], letters[i]);
        dense[i] = mxl_array_copy(arrays[i]);
    }
    if (head != ' ' && CHECK_INT(run_into(op, params, PLAIN, count, dense, &y), 0)) {
        ones[1] = as_stored(y, 'd');
        ones[0] = as_stored(y, head);
    }
    mxl_array_release(y);
    good = gradients(op, params, count, in, ones[0], got) &&
           gradients(op, params, count, dense, ones[1], want);
    for (int i = 0; i < count; i++) {
        if (good)
            good = CHECK(got[i] != NULL && want[i] != NULL) &&
                   CHECK_INT(letter_of(got[i]), results[i]) && same_values(got[i], want[i]);
        mxl_array_release(in[i]);
        mxl_array_release(dense[i]);
        mxl_array_release(got[i]);
        mxl_array_release(want[i]);
    }
    mxl_array_release(ones[0]);
    mxl_array_release(ones[1]);
    if (!good)
        printf("  in the gradient of %s %s %s\n", op, letters, params);
}

#endif
