/* Errors that are kept and reported where a result is read: wrong parameters of random numbers. */
#include "engine_kit.h"

/* One draw that fails: the call succeeds. */
static H wrong_draw(void)
{
    const char *keys[] = {"scale", "shape", "dtype"}, *values[] = {"-1", "(2,)", "float64"};

    return try_op("_random_normal", 0, NULL, 3, keys, values);
}

TEST(the_first_read_reports)
{
    double data[2];
    H x = wrong_draw();

    CHECK_FAILS(MXNDArrayWaitToRead(x), "scale must be above 0");
    CHECK_INT(MXNDArrayWaitToRead(x), 0);
    CHECK_INT(MXNDArrayWaitAll(), 0);
    drop(x);
    x = wrong_draw();
    CHECK_FAILS(MXNDArraySyncCopyToCPU(x, data, 2), "scale must be above 0");
    CHECK_INT(MXNDArraySyncCopyToCPU(x, data, 2), 0);
    CHECK_NEAR(data[1], 0, 0);
    drop(x);
}

TEST(a_wait_for_all_reports_what_is_gone)
{
    drop(wrong_draw());
    CHECK_FAILS(MXNDArrayWaitAll(), "scale must be above 0");
    CHECK_INT(MXNDArrayWaitAll(), 0);
}

TEST(what_is_computed_has_it_too)
{
    H x = wrong_draw(), y = op1("square", x), z = op1("exp", y), other = VEC(1, 2);

    CHECK_INT(MXNDArrayWaitToRead(other), 0);
    CHECK_FAILS(MXNDArrayWaitToRead(z), "scale must be above 0");
    CHECK_INT(MXNDArrayWaitToRead(y), 0); /* once */
    CHECK_INT(MXNDArrayWaitToRead(x), 0);
    drop(other);
    drop(z);
    drop(y);
    drop(x);
}

TEST(gradients_have_it)
{
    H x = VEC(1, 2), noise = wrong_draw(), y, grad;

    attach(x, REQ_WRITE);
    record(true);
    y = op2("elemwise_mul", x, noise);
    record(false);
    CHECK_INT(backward(y), 0);
    grad = grad_of(x);
    CHECK_FAILS(MXNDArrayWaitToRead(grad), "scale must be above 0");
    drop(grad);
    drop(y);
    drop(noise);
    drop(x);
}

HARNESS_MAIN(ENTRY(the_first_read_reports), ENTRY(a_wait_for_all_reports_what_is_gone),
             ENTRY(what_is_computed_has_it_too), ENTRY(gradients_have_it))
