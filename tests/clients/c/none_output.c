/* cpp-package: `NDArray out; Operator("...").Invoke(out)`, and ResizeInput, by which its networks
 * take MNISTIter's batches: a reshape with code 0, BilinearResize2D into an array without a shape,
 * _copyto into one that has one. */
#include "client.h"

static const uint32_t picture[] = {2, 1, 28, 28};

static void resize_input(void)
{
    static float numbers[2 * 784];
    const client_param size[] = {{"height", "28"}, {"width", "28"}, {NULL, NULL}};
    const uint32_t flat[] = {2, 784};
    NDArrayHandle batch = NULL, pictures = NULL, resized = none(), data = NULL;
    int codes[] = {0, 1, 28, 28}, dtype = -2;

    for (int i = 0; i < 2 * 784; i++)
        numbers[i] = (float)i;
    CALL(MXNDArrayCreate(flat, 2, 1, 0, 0, &batch));
    CALL(MXNDArraySyncCopyFromCPU(batch, numbers, 2 * 784));
    CALL(MXNDArrayReshape(batch, 4, codes, &pictures));
    EXPECT(has_shape(pictures, 4, picture));
    CALL(run_into("_contrib_BilinearResize2D", size, 1, &pictures, 1, &resized));
    CALL(MXNDArrayGetDType(resized, &dtype));
    EXPECT(dtype == 0 && has_shape(resized, 4, picture));
    CALL(MXNDArrayCreate(picture, 4, 1, 0, 0, &data));
    CALL(run_into("_copyto", NULL, 1, &resized, 1, &data));
    CALL(MXNDArraySyncCopyToCPU(data, numbers, 2 * 784));
    EXPECT(numbers[1] == 1 && numbers[783] == 783 && numbers[1567] == 1567);
}

/* Composite operators, creators, several outputs; a second call writes to the same array, which
 * must fit. */
static void operators(void)
{
    const client_param axis[] = {{"axis", "1"}, {NULL, NULL}},
                       both[] = {{"ret_typ", "both"}, {"k", "2"}, {NULL, NULL}},
                       shape[] = {{"shape", "(2, 3)"}, {"ctx", "cpu(1)"}, {NULL, NULL}};
    const uint32_t square[] = {2, 2}, own[] = {2, 3};
    NDArrayHandle in = filled(2, 3, 4, 1), other = filled(3, 3, 4, 1), out = none(),
                  pair[] = {none(), none()};

    CALL(run_into("log_softmax", axis, 1, &in, 1, &out));
    EXPECT(has_shape(out, 2, own) && device_of(out) == 1);
    CALL(run_into("exp", NULL, 1, &in, 1, &out));
    EXPECT(first(out) > 54);
    REFUSED(run_into("exp", NULL, 1, &other, 1, &out), "(3,3)");
    CALL(run_into("topk", both, 1, &in, 2, pair));
    EXPECT(has_shape(pair[0], 2, square) && has_shape(pair[1], 2, square));
    out = none();
    CALL(run_into("_zeros", shape, 0, NULL, 1, &out));
    EXPECT(has_shape(out, 2, own) && device_of(out) == 1);
    out = none();
    REFUSED(run_into("exp", NULL, 1, &out, 1, &in), "no shape");
}

static void cached_operators(void)
{
    const uint32_t own[] = {2, 3};
    SymbolHandle x = variable("x"), softmax = symbol("log_softmax", "s", NULL, 1, &x);
    NDArrayHandle in = filled(2, 3, 4, 1), out = none(), *given = &out;
    CachedOpHandle cached = NULL;
    const int *stypes;
    int count = 1;

    CALL(MXCreateCachedOp(softmax, &cached));
    CALL(MXInvokeCachedOp(cached, 1, &in, &count, &given));
    EXPECT(given == &out && has_shape(out, 2, own) && device_of(out) == 1 && first(out) < -1);
    out = none();
    CALL(MXInvokeCachedOpEx(cached, 1, &in, &count, &given, &stypes));
    EXPECT(given == &out && has_shape(out, 2, own));
}

int main(void)
{
    resize_input();
    operators();
    cached_operators();
    return failures != 0;
}
