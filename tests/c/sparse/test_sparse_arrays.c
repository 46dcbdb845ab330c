/* Sparse arrays: made from parts, converted both ways, refused where the parts contradict one
 * another, edited, differentiated through, saved. */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

enum { I64 = 6, DENSE = 0, ROW_SPARSE = 1, CSR = 2 };

static H index_of(int64_t n, const int64_t *values)
{
    H out = make(I64, 1, &n);

    CHECK_INT(MXNDArraySyncCopyFromCPU(out, values, (size_t)n), 0);
    return out;
}

static int put_part(H array, H part, int i)
{
    int status = MXNDArraySyncCopyFromNDArray(array, part, i);

    drop(part);
    return status;
}

/* A csr matrix of float64 of so many stored elements. */
static H csr(const int64_t *shape, int64_t stored, const double *values, const int64_t *indices,
             const int64_t *indptr)
{
    int types[2] = {I64, I64}, ndims[2] = {1, 1};
    int64_t sizes[2] = {shape[0] + 1, stored};
    H out = NULL, data = make(F64, 1, &stored);

    CHECK_INT(MXNDArrayCreateSparseEx64(CSR, shape, 2, 1, 0, 0, F64, 2, types, ndims, sizes, &out),
              0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(data, values, (size_t)stored), 0);
    CHECK_INT(put_part(out, data, -1), 0);
    CHECK_INT(put_part(out, index_of(shape[0] + 1, indptr), 0), 0);
    CHECK_INT(put_part(out, index_of(stored, indices), 1), 0);
    return out;
}

/* A row_sparse matrix of two columns. */
static H rows(int64_t count, int64_t stored, const double *values, const int64_t *indices)
{
    int type = I64, ndim = 1;
    int64_t shape[2] = {count, 2}, part[2] = {stored, 2};
    H out = NULL, data = make(F64, 2, part);

    CHECK_INT(MXNDArrayCreateSparseEx64(ROW_SPARSE, shape, 2, 1, 0, 0, F64, 1, &type, &ndim,
                                        &stored, &out),
              0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(data, values, (size_t)(2 * stored)), 0);
    CHECK_INT(put_part(out, data, -1), 0);
    CHECK_INT(put_part(out, index_of(stored, indices), 0), 0);
    return out;
}

static H try_cast(H array, const char *stype)
{
    const char *key = "stype";

    return try_op("cast_storage", 1, &array, 1, &key, &stype);
}

static H cast(H array, const char *stype)
{
    H out = try_cast(array, stype);

    CHECK(out != NULL);
    return out;
}

static void refused(H array, const char *why)
{
    CHECK(try_cast(array, "default") == NULL);
    CHECK_HAS(MXGetLastError(), why);
}

static int stype_of(H array)
{
    int stype = -7;

    CHECK_INT(MXNDArrayGetStorageType(array, &stype), 0);
    return stype;
}

static const int64_t three_by_four[2] = {3, 4};

TEST(parts)
{
    H a = csr(three_by_four, 3, (double[]){1, 2, 3}, (int64_t[]){1, 0, 2}, (int64_t[]){0, 1, 1, 3});
    H dense = cast(a, "default"), data = NULL, indptr = NULL, indices = NULL;
    int64_t read[4];
    int type = -1;

    CHECK_INT(stype_of(a), CSR);
    CHECK_INT(stype_of(dense), DENSE);
    CHECK_NEAR(at(dense, 1), 1, 0);
    CHECK_NEAR(at(dense, 8), 2, 0);
    CHECK_NEAR(at(dense, 10), 3, 0);
    CHECK_NEAR(at(dense, 5), 0, 0);
    CHECK_INT(MXNDArrayGetDataNDArray(a, &data), 0);
    CHECK_NEAR(at(data, 2), 3, 0);
    CHECK_INT(MXNDArrayGetAuxNDArray(a, 0, &indptr), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(indptr, read, 4), 0);
    CHECK_INT(read[3], 3);
    CHECK_INT(MXNDArrayGetAuxNDArray64(a, 1, &indices), 0);
    CHECK_INT(MXNDArrayGetAuxType(a, 1, &type), 0);
    CHECK_INT(type, I64);
    CHECK_INT(MXNDArrayGetAuxType(a, 2, &type), -1);
    CHECK_INT(MXNDArraySyncCheckFormat(a, true), 0);
    /* A copy of a part is not the part. */
    CHECK_INT(MXNDArraySyncCopyFromCPU(indptr, (int64_t[]){9, 9, 9, 9}, 4), 0);
    CHECK_INT(MXNDArraySyncCheckFormat(a, true), 0);
    drop(a);
    drop(dense);
    drop(data);
    drop(indptr);
    drop(indices);
}

TEST(conversions)
{
    static const char *const names[] = {"csr", "row_sparse"};
    H x = make(F64, 2, three_by_four);
    double values[12] = {0, 1, 0, 2, 0, 0, 0, 0, 3, -0.0, (double)NAN, 4};

    fill(x, values, 12);
    for (int i = 0; i < 2; i++) {
        H sparse = cast(x, names[i]), back = cast(sparse, "default"),
          again = cast(sparse, names[i]);

        CHECK_INT(stype_of(sparse), i == 0 ? CSR : ROW_SPARSE);
        CHECK_INT(MXNDArraySyncCheckFormat(sparse, true), 0);
        CHECK_INT(stype_of(again), stype_of(sparse));
        for (int k = 0; k < 12; k++) {
            if (k == 10)
                CHECK(isnan(at(back, k)));
            else
                CHECK_NEAR(at(back, k), values[k], 0);
        }
        CHECK_INT(MXNDArraySyncCopyToCPU(sparse, values, 12), -1);
        CHECK_HAS(MXGetLastError(), "cast_storage");
        drop(sparse);
        drop(back);
        drop(again);
    }
    drop(x);
}

/* Each is one clear line, and nothing is read outside. */
TEST(bad_parts)
{
    H a = csr(three_by_four, 3, (double[]){1, 2, 3}, (int64_t[]){1, 0, 4}, (int64_t[]){0, 1, 1, 3});
    H b = csr(three_by_four, 3, (double[]){1, 2, 3}, (int64_t[]){1, 0, 2}, (int64_t[]){0, 2, 1, 3});
    H c = csr(three_by_four, 3, (double[]){1, 2, 3}, (int64_t[]){1, 0, 2}, (int64_t[]){0, 1, 1, 9});
    H d = rows(4, 2, (double[]){1, 2, 3, 4}, (int64_t[]){-1, 2});
    H unsorted = rows(4, 2, (double[]){1, 2, 3, 4}, (int64_t[]){2, 1}), dense;

    refused(a, "index 4 is out of range");
    refused(b, "indptr falls");
    refused(c, "indptr goes from 0 to 9");
    refused(d, "index -1 is out of range");
    CHECK_INT(MXNDArraySyncCheckFormat(a, false), 0);
    CHECK_INT(MXNDArraySyncCheckFormat(a, true), -1);
    CHECK_INT(MXNDArraySyncCheckFormat(unsorted, true), -1);
    CHECK_HAS(MXGetLastError(), "ascend");
    dense = cast(unsorted, "default");
    CHECK_NEAR(at(dense, 2), 3, 0);
    drop(a);
    drop(b);
    drop(c);
    drop(d);
    drop(unsorted);
    drop(dense);
}

/* An operator without a form runs on a dense copy, and gradients pass through the conversions. */
TEST(gradients)
{
    static const int64_t shape[2] = {2, 2};
    H x = make(F64, 2, shape), s, y;

    fill(x, (double[]){0, 1, 0, 2}, 4);
    attach(x, REQ_WRITE);
    record(true);
    s = cast(x, "csr");
    y = op1("exp", s);
    record(false);
    CHECK_INT(stype_of(y), DENSE);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 1), exp(1), 1e-12);
    CHECK_NEAR(grad_at(x, 0), 1, 1e-12);
    drop(x);
    drop(s);
    drop(y);
}

/* An array that is saved for backward and given other parts is an edited one. */
TEST(edits)
{
    H a = rows(3, 1, (double[]){1, 2}, (int64_t[]){2}),
      b = rows(3, 1, (double[]){5, 6}, (int64_t[]){0});
    H x = cast(a, "default"), y;

    attach(x, REQ_WRITE);
    record(true);
    y = MUL(x, a);
    record(false);
    CHECK_INT(op_into("_copyto", 1, &b, a), 0);
    CHECK_INT(stype_of(a), ROW_SPARSE);
    CHECK_INT(backward(y), 0); /* the copy that was multiplied is as it was */
    CHECK_NEAR(grad_at(x, 4), 1, 0);
    CHECK_INT(op_into("_copyto", 1, &x, b), 0);
    CHECK_INT(stype_of(b), ROW_SPARSE);
    drop(y);
    drop(a);
    drop(b);
    drop(x);
}

TEST(files)
{
    H list[2] = {
        csr(three_by_four, 2, (double[]){1, 2}, (int64_t[]){1, 0}, (int64_t[]){0, 1, 1, 2}),
        rows(3, 1, (double[]){1, 2}, (int64_t[]){2})};
    size_t bytes = 0;
    const char *lent = NULL;
    char *kept;
    H back = NULL, dense;

    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXNDArraySaveRawBytes(list[i], &bytes, &lent), 0);
        kept = malloc(bytes);
        memcpy(kept, lent, bytes);
        CHECK_INT(MXNDArrayLoadFromRawBytes(kept, bytes, &back), 0);
        CHECK_INT(stype_of(back), i == 0 ? CSR : ROW_SPARSE);
        dense = cast(back, "default");
        CHECK_NEAR(at(dense, i == 0 ? 8 : 4), i == 0 ? 2 : 1, 0);
        drop(dense);
        drop(back);
        for (size_t cut = 0; cut < bytes; cut++)
            CHECK_INT(MXNDArrayLoadFromRawBytes(kept, cut, &back), -1);
        free(kept);
        drop(list[i]);
    }
}

/* Nothing is stored: no elements, no rows, no columns. */
TEST(empty)
{
    static const int64_t shapes[][2] = {{0, 3}, {3, 0}, {0, 0}, {2, 2}};

    for (size_t i = 0; i < 4; i++) {
        H x = make(F64, 2, shapes[i]), c, r, zeros = op1("zeros_like", x);

        c = cast(zeros, "csr");
        r = cast(zeros, "row_sparse");
        CHECK_INT(MXNDArraySyncCheckFormat(c, true), 0);
        CHECK_INT(MXNDArraySyncCheckFormat(r, true), 0);
        drop(cast(c, "default"));
        drop(cast(r, "default"));
        drop(x);
        drop(zeros);
        drop(c);
        drop(r);
    }
}

HARNESS_MAIN(ENTRY(parts), ENTRY(conversions), ENTRY(bad_parts), ENTRY(gradients), ENTRY(edits),
             ENTRY(files), ENTRY(empty))
