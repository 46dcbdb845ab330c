/* Packed functions: objects of numbers and lists, and the two operators that take them. */
#include "engine_kit.h"

#include <stdio.h>

enum { INT = 0, NOTHING = 4, OBJECT = 8, STR = 11, ARRAY = 14 };

static MXNetFunctionHandle function(const char *name)
{
    MXNetFunctionHandle found = NULL;

    CHECK_INT(MXNetFuncGetGlobal(name, &found), 0);
    CHECK(found != NULL);
    return found;
}

static MXNetObjectHandle number(int64_t value)
{
    MXNetValue in = {.v_int64 = value}, out = {0};
    int code = INT, got = -1;

    CHECK_INT(MXNetFuncCall(function("_Integer"), &in, &code, 1, &out, &got), 0);
    CHECK_INT(got, OBJECT);
    return out.v_handle;
}

/* A list that takes over the caller's objects. */
static MXNetObjectHandle list(int count, MXNetObjectHandle a, MXNetObjectHandle b)
{
    MXNetValue in[2] = {{.v_handle = a}, {.v_handle = b}}, out = {0};
    int code[2] = {OBJECT, OBJECT}, got = -1;

    CHECK_INT(MXNetFuncCall(function("_ADT"), in, code, count, &out, &got), 0);
    CHECK_INT(got, OBJECT);
    CHECK_INT(MXNetObjectFree(a), 0);
    CHECK_INT(MXNetObjectFree(b), 0);
    return out.v_handle;
}

TEST(names)
{
    const char **names = NULL;
    MXNetFunctionHandle found = (MXNetFunctionHandle)&names;
    int count = 0;

    CHECK_INT(MXNetFuncListGlobalNames(&count, &names), 0);
    CHECK_INT(count, 5);
    for (int i = 0; i < count; i++)
        CHECK_INT(MXNetFuncFree(function(names[i])), 0);
    CHECK_INT(MXNetFuncGetGlobal("no such function", &found), 0);
    CHECK(found == NULL);
    CHECK_INT(MXNetFuncFree(NULL), 0);
}

TEST(nothing)
{
    MXNetValue out = {.v_int64 = 7};
    int got = -1;

    CHECK_INT(MXNetFuncCall(function("_nop"), NULL, NULL, 0, &out, &got), 0);
    CHECK_INT(got, NOTHING);
}

/* shape, dtype and device; what is given as an object, the caller frees. */
static H zeros(MXNetValue shape, int code, const char *dtype, const char *ctx)
{
    MXNetValue in[3] = {shape, {.v_str = dtype}, {.v_str = ctx}}, out = {0};
    int codes[3] = {code, dtype != NULL ? STR : NOTHING, ctx != NULL ? STR : NOTHING}, got = -1;

    if (MXNetFuncCall(function("_npi.zeros"), in, codes, 3, &out, &got) != 0)
        return NULL;
    CHECK_INT(got, ARRAY);
    return out.v_handle;
}

TEST(zeros_of_shapes)
{
    MXNetObjectHandle shape = list(2, number(2), number(3));
    MXNetObjectHandle none = list(0, NULL, NULL);
    MXNetObjectHandle nested = list(2, list(1, number(2), NULL), number(3));
    H x = zeros((MXNetValue){.v_handle = shape}, OBJECT, "float64", "cpu(1)");
    H y = zeros((MXNetValue){.v_int64 = 4}, INT, NULL, NULL);
    int dtype = -1, type = -1, id = -1, ndim = -1;
    const int *dims;

    CHECK_INT(MXNDArrayGetDType(x, &dtype), 0);
    CHECK_INT(dtype, F64);
    CHECK_INT(MXNDArrayGetContext(x, &type, &id), 0);
    CHECK_INT(id, 1);
    CHECK_INT(MXNDArrayGetShapeEx(x, &ndim, &dims), 0);
    CHECK(ndim == 2 && dims[0] == 2 && dims[1] == 3);
    CHECK_INT(MXNDArrayGetDType(y, &dtype), 0);
    CHECK_INT(dtype, F32);
    CHECK(zeros((MXNetValue){.v_handle = nested}, OBJECT, NULL, NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "item 0 is a list");
    CHECK(zeros((MXNetValue){.v_int64 = 4}, INT, "no such dtype", NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "no such dtype");
    drop(x);
    drop(y);
    CHECK_INT(MXNetObjectFree(shape), 0);
    CHECK_INT(MXNetObjectFree(none), 0);
    CHECK_INT(MXNetObjectFree(nested), 0);
    CHECK_INT(MXNetObjectFree(nested), -1);
    CHECK_HAS(MXGetLastError(), "MXNetObjectFree: invalid packed object");
}

/* Many levels are released without recursion. */
TEST(deep_lists)
{
    MXNetObjectHandle deep = number(1);

    for (int i = 0; i < 100000; i++)
        deep = list(1, deep, NULL);
    CHECK_INT(MXNetObjectFree(deep), 0);
}

static H tensordot(H x, MXNetValue axes, int code)
{
    MXNetValue in[3] = {{.v_handle = x}, {.v_handle = x}, axes}, out = {0};
    int codes[3] = {ARRAY, ARRAY, code}, got = -1;

    if (MXNetFuncCall(function("_npi.tensordot"), in, codes, 3, &out, &got) != 0)
        return NULL;
    CHECK_INT(got, ARRAY);
    return out.v_handle;
}

TEST(axes_of_tensordot)
{
    static const int64_t square[] = {2, 2};
    static const double values[] = {1, 2, 3, 4};
    MXNetObjectHandle pair = list(2, list(1, number(1), NULL), list(1, number(0), NULL));
    MXNetObjectHandle numbers = list(2, number(1), number(0));
    MXNetObjectHandle one = list(1, number(1), NULL);
    H x = make(F64, 2, square), y[3];

    CHECK_INT(MXNDArraySyncCopyFromCPU(x, values, 4), 0);
    y[0] = tensordot(x, (MXNetValue){.v_int64 = 1}, INT);
    y[1] = tensordot(x, (MXNetValue){.v_handle = pair}, OBJECT);
    y[2] = tensordot(x, (MXNetValue){.v_handle = numbers}, OBJECT);
    for (int i = 0; i < 3; i++) {
        if (CHECK(y[i] != NULL)) {
            CHECK_NEAR(at(y[i], 0), 7, 0);
            CHECK_NEAR(at(y[i], 3), 22, 0);
        } else {
            fprintf(stderr, "    %s\n", MXGetLastError());
        }
        drop(y[i]);
    }
    CHECK(tensordot(x, (MXNetValue){.v_handle = one}, OBJECT) == NULL);
    CHECK_HAS(MXGetLastError(), "1 lists, 2 were expected");
    drop(x);
    CHECK_INT(MXNetObjectFree(pair), 0);
    CHECK_INT(MXNetObjectFree(numbers), 0);
    CHECK_INT(MXNetObjectFree(one), 0);
}

HARNESS_MAIN(ENTRY(names), ENTRY(nothing), ENTRY(zeros_of_shapes), ENTRY(deep_lists),
             ENTRY(axes_of_tensordot))
