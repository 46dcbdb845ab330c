/* Operands of several dtypes and numbers in PyTorch's front end: the dtype and the values of the
 * result, gradients in the operand's dtype, edits that do not fit, and calls that promote nothing.
 * Expected values are derived by hand; tests/torch/promotion compares all pairs with PyTorch.
 */
#include "engine_kit.h"

enum { F16 = 2, U8 = 3, I8 = 5, I64 = 6, BOOL = 7, I16 = 8 };

static MXLCallHandle prepared(int dialect, const char *name, const char *slots, int arguments)
{
    const char *names[2] = {"scalar", "is_int"};
    MXLCallHandle call = NULL;

    CHECK_INT(MXLPrepareAs(dialect, NULL, slots, name, 0, NULL, NULL, arguments, names, &call), 0);
    return call;
}

static MXLCallHandle torch(const char *name)
{
    return prepared(MXL_DIALECT_TORCH, name, NULL, 0);
}

/* Two numbers as an array of a dtype, or the first alone without dimensions. */
static H of(int dtype, bool scalar, double first, double second)
{
    static const char *const words[] = {"float32", "float64", "float16", "uint8",
                                        "int32",   "int8",    "int64",   "bool"};
    const char *key = "dtype", *word = words[dtype];
    const int64_t two = 2;
    H plain = MXLNDArrayFromData((double[]){first, second}, !scalar, &two, F64), made;
    MXLCallHandle cast = NULL;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "Cast", 1, &key, &word, 0, NULL, &cast),
              0);
    made = MXLCall1(cast, plain);
    CHECK(made != NULL);
    drop(plain);
    return made;
}

/* Checks dtype and numbers of an array of two, and drops it. */
static void is(H made, int dtype, double first, double second)
{
    const char *key = "dtype", *word = "float64";
    MXLCallHandle cast = NULL;
    int found = -1;
    H wide;

    if (!CHECK(made != NULL)) {
        CHECK_STR(MXGetLastError(), "");
        return;
    }
    CHECK_INT(MXLNDArrayGetInfo(made, 0, NULL, &found), 1);
    CHECK_INT(found, dtype);
    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "Cast", 1, &key, &word, 0, NULL, &cast),
              0);
    wide = MXLCall1(cast, made);
    CHECK_NEAR(at(wide, 0), first, 0);
    CHECK_NEAR(at(wide, 1), second, 0);
    drop(wide);
    drop(made);
}

/* The operator of two new arrays. */
static H two(const char *name, H a, H b)
{
    H made = MXLCall2(torch(name), a, b);

    drop(a);
    drop(b);
    return made;
}

static H with_float(MXLCallHandle call, H a, double number)
{
    H made = MXLCall1Float(call, a, number);

    drop(a);
    return made;
}

static H with_int(MXLCallHandle call, H a, int64_t number)
{
    H made = MXLCall1Int(call, a, number);

    drop(a);
    return made;
}

TEST(the_wider_of_two)
{
    is(two("broadcast_add", of(I32, 0, 1, -2), of(F32, 0, 0.5, 0.25)), F32, 1.5, -1.75);
    is(two("broadcast_sub", of(F16, 0, 1, 2), of(F64, 0, 0.5, 0.5)), F64, 0.5, 1.5);
    is(two("broadcast_mul", of(U8, 0, 200, 2), of(I32, 0, 2, -2)), I32, 400, -4);
    is(two("broadcast_mul", of(F16, 0, 1, 2), of(I64, 0, 3, 3)), F16, 3, 6);
    is(two("broadcast_add", of(BOOL, 0, 1, 0), of(BOOL, 0, 1, 1)), BOOL, 1, 1);
    is(two("_npi_bitwise_and", of(U8, 0, 7, 4), of(I64, 0, 5, 1)), I64, 5, 0);
    is(two("_mxl_maximum", of(BOOL, 0, 1, 0), of(I8, 0, -1, 3)), I8, 1, 3);
}

TEST(arrays_without_dimensions_are_weaker)
{
    is(two("broadcast_add", of(F32, 0, 1, 2), of(F64, 1, 0.5, 0)), F32, 1.5, 2.5);
    is(two("broadcast_add", of(U8, 0, 1, 2), of(I64, 1, 256, 0)), U8, 1, 2);
    is(two("broadcast_add", of(I64, 1, 1, 0), of(F16, 0, 2, 4)), F16, 3, 5);
    is(two("broadcast_add", of(I32, 0, 1, 2), of(F64, 1, 0.5, 0)), F64, 1.5, 2.5);
}

TEST(numbers_are_weaker_still)
{
    MXLCallHandle add = torch("broadcast_add"), plus = torch("_plus_scalar"), first;

    first = prepared(MXL_DIALECT_TORCH, "broadcast_sub", "-1", 0);
    is(with_float(add, of(F16, 0, 1, 2), 0.5), F16, 1.5, 2.5);
    is(with_float(plus, of(I64, 0, 1, 2), 0.5), F32, 1.5, 2.5);
    is(with_int(plus, of(U8, 0, 1, 2), -2), U8, 255, 0);
    is(with_int(plus, of(BOOL, 0, 1, 0), 2), I64, 3, 2);
    is(with_int(torch("_equal_scalar"), of(U8, 0, 5, 6), 261), BOOL, 1, 0);
    is(with_int(first, of(I32, 0, 1, 2), 10), I32, 9, 8);
    is(with_float(torch("_rminus_scalar"), of(I32, 0, 1, 2), 0.5), F32, -0.5, -1.5);
    is(with_int(torch("_rpower_scalar"), of(I32, 0, 3, 4), 2), I32, 8, 16);
}

/* 2^53 + 1 is no double. */
TEST(numbers_of_64_bits)
{
    const int64_t large = ((int64_t)1 << 53) + 1;
    H a = of(I64, 0, 0, 1), made = MXLCall1Int(torch("_plus_scalar"), a, large);
    int64_t values[2] = {0, 0};

    CHECK_INT(MXNDArraySyncCopyToCPU(made, values, 2), 0);
    CHECK(values[0] == large && values[1] == large + 1);
    drop(made);
    drop(a);
}

TEST(what_operators_do_with_it)
{
    H a = of(I32, 0, 1, 2), b = of(I32, 0, 1, 0), t = of(BOOL, 0, 1, 0);

    is(MXLCall2(torch("broadcast_div"), a, a), F32, 1, 1);
    is(MXLCall1(torch("exp"), b), F32, 2.718281828459045F, 1);
    is(MXLCall2(torch("broadcast_greater"), a, b), BOOL, 0, 1);
    is(with_float(torch("_lesser_scalar"), of(I32, 0, 1, 2), 1.5), BOOL, 1, 0);
    is(MXLCall1Int(torch("broadcast_power"), a, 3), I32, 1, 8);
    CHECK(MXLCall1Int(torch("_power_scalar"), a, -1) == NULL);
    CHECK_HAS(MXGetLastError(), "the exponent of integers is 0 or more, got -1");
    CHECK(MXLCall2(torch("_mxl_floor_divide"), a, b) == NULL);
    CHECK_HAS(MXGetLastError(), "floor_divide: integers are divided by 0");
    CHECK(MXLCall2(torch("broadcast_sub"), a, t) == NULL);
    CHECK_HAS(MXGetLastError(), "broadcast_sub: truth values have no difference");
    CHECK(MXLCall1Float(torch("_npi_bitwise_or"), a, 1) == NULL);
    CHECK_HAS(MXGetLastError(), "bitwise_or: float32 is not supported");
    CHECK(MXLCall2(torch("_mxl_left_shift"), t, t) == NULL);
    drop(t);
    drop(b);
    drop(a);
}

/* The dtype of both is int16. */
TEST(uint8_and_int8)
{
    H a = of(U8, 0, 200, 2), b = of(I8, 0, -56, 2);

    is(MXLCall2(torch("broadcast_add"), a, b), I16, 144, 4);
    is(MXLCall2(torch("broadcast_equal"), a, b), BOOL, 0, 1);
    is(MXLCall2(torch("broadcast_div"), a, b), F32, 200 / -56.0F, 1);
    drop(b);
    drop(a);
}

TEST(the_default_dtype)
{
    int before = -1;

    CHECK_INT(MXLSetDefaultDtype(F64, &before), 0);
    CHECK_INT(before, F32);
    is(with_float(torch("_plus_scalar"), of(I32, 0, 1, 2), 0.5), F64, 1.5, 2.5);
    CHECK_INT(MXLSetDefaultDtype(F32, NULL), 0);
    CHECK_FAILS(MXLSetDefaultDtype(I32, NULL), "takes a floating dtype, got int32");
}

TEST(gradients_in_the_operands_dtype)
{
    H a = of(F16, 0, 1, 2), b = of(F32, 0, 3, 4), made, grad;

    CHECK_INT(MXLNDArraySetRequiresGrad(a, 1), 0);
    CHECK_INT(MXLNDArraySetRequiresGrad(b, 1), 0);
    made = MXLCall2(torch("broadcast_mul"), a, b);
    CHECK_INT(MXAutogradBackward(1, &made, NULL, 0), 0);
    CHECK_INT(MXNDArrayGetGrad(a, &grad), 0);
    is(grad, F16, 3, 4);
    CHECK_INT(MXNDArrayGetGrad(b, &grad), 0);
    is(grad, F32, 1, 2);
    drop(made);
    drop(b);
    drop(a);
}

/* `a` becomes what the operator makes of it and b; the status. */
static int edit(const char *name, H a, H b)
{
    H in[2] = {a, b};

    return MXLCallInto(torch(name), 2, in, NULL, &(int){1}, &a);
}

/* Computed in the common dtype: 5 / -7 is -1, which uint8 stores as 255. */
TEST(edits)
{
    MXLCallHandle plus = prepared(MXL_DIALECT_TORCH, "_plus_scalar", NULL, 2);
    H a = of(U8, 0, 5, 250), b = of(I64, 0, -7, 7), f = of(F32, 0, 1, 1);
    H zero = of(I64, 1, 0, 0);
    MXLValue number[2];

    CHECK_INT(edit("_mxl_floor_divide", a, b), 0);
    CHECK_FAILS(edit("broadcast_div", a, b), "a result of dtype float32 does not fit");
    CHECK_FAILS(edit("broadcast_add", a, f), "does not fit in an array of dtype uint8");
    CHECK_FAILS(edit("_mxl_remainder", a, zero), "divided by 0");
    number[0].f = 0.5;
    number[1].i = 0;
    CHECK_FAILS(MXLCallInto(plus, 1, &a, number, &(int){1}, &a), "does not fit");
    number[0].i = 2;
    number[1].i = 1;
    CHECK_INT(MXLCallInto(plus, 1, &a, number, &(int){1}, &a), 0);
    CHECK_INT(edit("broadcast_add", f, b), 0);
    is(f, F32, -6, 8);
    is(a, U8, 1, 37);
    drop(zero);
    drop(b);
}

/* Wrong numbers of inputs, arrays without a shape, and numbers that are no integers though they are
 * called so. */
TEST(wrong_calls)
{
    H a = of(I32, 0, 1, 2), f = of(F32, 0, 1, 2), none = NULL, many[5] = {a, f, a, f, a};
    const char *key = "scalar", *nan = "nan";
    MXLCallHandle plus = NULL;

    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    CHECK(MXLCall(torch("broadcast_add"), 5, many, NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "takes 2 inputs, got 5");
    CHECK(MXLCall(torch("broadcast_add"), 1, many, NULL) == NULL);
    CHECK(MXLCall(torch("_plus_scalar"), 2, many, NULL) == NULL);
    CHECK(MXLCall(torch("exp"), 2, many, NULL) == NULL);
    CHECK(MXLCall2(torch("broadcast_add"), none, a) == NULL);
    CHECK_HAS(MXGetLastError(), "has no shape yet");
    CHECK(MXLCall1Int(torch("broadcast_add"), none, 1) == NULL);
    CHECK(MXLCall1(torch("exp"), none) == NULL);
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_plus_scalar", 1, &key, &nan, 0, NULL, &plus),
        0);
    is(MXLCall1(plus, a), F32, (double)NAN, (double)NAN);
    drop(none);
    drop(f);
    drop(a);
}

/* MXNet's operators take arrays of one dtype, and integers of numbers as they are. */
TEST(mxnets_front_end_promotes_nothing)
{
    H a = of(I32, 0, 1, 2), b = of(F32, 0, 1, 2);
    MXLCallHandle equal = prepared(MXL_DIALECT_MXNET, "_equal_scalar", NULL, 1);

    CHECK(MXLCall2(prepared(MXL_DIALECT_MXNET, "broadcast_add", NULL, 0), a, b) == NULL);
    CHECK_HAS(MXGetLastError(), "they must be the same");
    is(MXLCall1Float(equal, a, 1), I32, 1, 0);
    CHECK(MXLCall1Int(equal, a, 1) == NULL);
    CHECK(MXLCall1Int(prepared(MXL_DIALECT_MXNET, "broadcast_add", NULL, 0), a, 1) == NULL);
    drop(b);
    drop(a);
}

HARNESS_MAIN(ENTRY(the_wider_of_two), ENTRY(arrays_without_dimensions_are_weaker),
             ENTRY(numbers_are_weaker_still), ENTRY(numbers_of_64_bits),
             ENTRY(what_operators_do_with_it), ENTRY(uint8_and_int8), ENTRY(the_default_dtype),
             ENTRY(gradients_in_the_operands_dtype), ENTRY(edits), ENTRY(wrong_calls),
             ENTRY(mxnets_front_end_promotes_nothing))
