/* Trains a two-layer network on handwritten digits, in C against the public header alone.
 *
 *     cc -Iinclude -o digits examples/digits.c -Lbuild -lmxlite -Wl,-rpath,$PWD/build -lm
 *     ./digits [examples/data/digits.u8]
 *
 * The calls are those of MXNet 1.9.1's C API: operators by name through MXImperativeInvokeEx, with
 * their parameters as text; recording, MXAutogradBackwardEx and sgd_mom_update for the training.
 * The last line printed is the accuracy on images that were not trained on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mxlite/mxlite.h"

enum {
    PIXELS = 64,
    CLASSES = 10,
    RECORD = PIXELS + 1, /* bytes of an image and its digit */
    IMAGES = 1797,
    TRAIN = 1437,
    HELD_OUT = IMAGES - TRAIN,
    HIDDEN = 128,
    BATCH = 32,
    EPOCHS = 20,
    LAYERS = 4 /* weight and bias of both layers */
};

/* ---- errors: any failing call ends the program with the library's message ---- */

static void need(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "digits: %s: %s\n", what, MXGetLastError());
        exit(1);
    }
}

/* ---- operators ---- */

/* Parameters of one call, as name, value, name, value, ... */
typedef struct params {
    int count;
    const char *keys[8], *values[8];
} params;

static params with(const char *key, const char *value)
{
    params p = {1, {0}, {0}};

    p.keys[0] = key;
    p.values[0] = value;
    return p;
}

static params and(params p, const char *key, const char *value)
{
    p.keys[p.count] = key;
    p.values[p.count++] = value;
    return p;
}

static const params nothing = {0, {0}, {0}};

/* Runs an operator with one output: into `out`, or into a new array when that is NULL. */
static NDArrayHandle run(const char *name, int count, NDArrayHandle *inputs, params p,
                         NDArrayHandle out)
{
    OpHandle op;
    NDArrayHandle *outputs = out == NULL ? NULL : &out;
    int num_outputs = out == NULL ? 0 : 1;
    const int *stypes;

    need(NNGetOpHandle(name, &op), name);
    need(MXImperativeInvokeEx(op, count, inputs, &num_outputs, &outputs, p.count, p.keys, p.values,
                              &stypes),
         name);
    return outputs[0];
}

static NDArrayHandle one(const char *name, NDArrayHandle a, params p)
{
    return run(name, 1, &a, p, NULL);
}

static NDArrayHandle two(const char *name, NDArrayHandle a, NDArrayHandle b, params p)
{
    NDArrayHandle inputs[2];

    inputs[0] = a;
    inputs[1] = b;
    return run(name, 2, inputs, p, NULL);
}

static void drop(NDArrayHandle array)
{
    need(MXNDArrayFree(array), "free");
}

/* ---- arrays ---- */

static NDArrayHandle from_floats(const float *values, int64_t rows, int64_t columns)
{
    int64_t shape[2];
    NDArrayHandle array;

    shape[0] = rows;
    shape[1] = columns;
    need(MXNDArrayCreateEx64(shape, columns > 0 ? 2 : 1, 1, 0, 0, 0, &array), "create");
    need(MXNDArraySyncCopyFromCPU(array, values, (size_t)(rows * (columns > 0 ? columns : 1))),
         "copy in");
    return array;
}

static float first_of(NDArrayHandle array)
{
    float value;

    need(MXNDArraySyncCopyToCPU(array, &value, 1), "copy out");
    return value;
}

/* ---- the network ---- */

typedef struct network {
    NDArrayHandle weights[LAYERS], gradients[LAYERS], momenta[LAYERS];
} network;

static NDArrayHandle filled(const char *shape, double scale)
{
    char text[32];

    if (scale == 0)
        return run("_zeros", 0, NULL, with("shape", shape), NULL);
    snprintf(text, sizeof(text), "%.9g", scale);
    return run("_random_normal", 0, NULL, and(with("shape", shape), "scale", text), NULL);
}

/* He's initial weights (He et al. 2015): normal with variance 2 / inputs; biases zero. */
static void network_new(network *net)
{
    static const char *const shapes[LAYERS] = {"(128, 64)", "(128,)", "(10, 128)", "(10,)"};
    uint32_t write[LAYERS];

    for (int i = 0; i < LAYERS; i++) {
        double inputs = i == 0 ? PIXELS : HIDDEN;

        net->weights[i] = filled(shapes[i], i % 2 == 0 ? sqrt(2 / inputs) : 0);
        net->gradients[i] = filled(shapes[i], 0);
        net->momenta[i] = filled(shapes[i], 0);
        write[i] = 1;
    }
    need(MXAutogradMarkVariables(LAYERS, net->weights, write, net->gradients), "mark variables");
}

static void network_free(network *net)
{
    for (int i = 0; i < LAYERS; i++) {
        drop(net->weights[i]);
        drop(net->gradients[i]);
        drop(net->momenta[i]);
    }
}

static NDArrayHandle layer(NDArrayHandle x, NDArrayHandle weight, NDArrayHandle bias,
                           const char *outputs)
{
    NDArrayHandle inputs[3];

    inputs[0] = x;
    inputs[1] = weight;
    inputs[2] = bias;
    return run("FullyConnected", 3, inputs, with("num_hidden", outputs), NULL);
}

/* Scores of each digit for a batch of images: relu(x W1 + b1) W2 + b2. */
static NDArrayHandle scores(const network *net, NDArrayHandle x)
{
    NDArrayHandle before = layer(x, net->weights[0], net->weights[1], "128");
    NDArrayHandle hidden = one("relu", before, nothing);
    NDArrayHandle result = layer(hidden, net->weights[2], net->weights[3], "10");

    drop(before);
    drop(hidden);
    return result;
}

/* Mean of -log(probability of the right digit). */
static NDArrayHandle cross_entropy(NDArrayHandle score, NDArrayHandle digits)
{
    NDArrayHandle logs = one("log_softmax", score, nothing);
    NDArrayHandle right = two("pick", logs, digits, nothing);
    NDArrayHandle mean = one("mean", right, nothing);
    NDArrayHandle loss = one("negative", mean, nothing);

    drop(logs);
    drop(right);
    drop(mean);
    return loss;
}

/* ---- training ---- */

static void step(const network *net, const char *rate)
{
    params p = and(and(with("lr", rate), "momentum", "0.9"), "wd", "0.0001");

    for (int i = 0; i < LAYERS; i++) {
        NDArrayHandle inputs[3];

        inputs[0] = net->weights[i];
        inputs[1] = net->gradients[i];
        inputs[2] = net->momenta[i];
        run("sgd_mom_update", 3, inputs, p, net->weights[i]);
    }
}

/* One batch: record the loss, run backward, update the weights. Returns the loss. */
static float train_batch(const network *net, NDArrayHandle x, NDArrayHandle y, const char *rate)
{
    NDArrayHandle score, loss;
    float value;
    int before;

    need(MXAutogradSetIsRecording(1, &before), "record");
    score = scores(net, x);
    loss = cross_entropy(score, y);
    need(MXAutogradSetIsRecording(0, &before), "record");
    need(MXAutogradBackwardEx(1, &loss, NULL, 0, NULL, 0, 0, 1, NULL, NULL), "backward");
    step(net, rate);
    value = first_of(loss);
    drop(score);
    drop(loss);
    return value;
}

/* An order of 0 .. TRAIN-1 drawn from the library's random numbers. */
static void draw_order(float *order)
{
    NDArrayHandle drawn = run("_random_uniform", 0, NULL, with("shape", "(1437,)"), NULL);
    float numbers[TRAIN];

    need(MXNDArraySyncCopyToCPU(drawn, numbers, TRAIN), "copy out");
    drop(drawn);
    for (int i = 0; i < TRAIN; i++)
        order[i] = (float)i;
    for (int i = TRAIN - 1; i > 0; i--) { /* Fisher and Yates */
        int k = (int)(numbers[i] * (float)(i + 1));
        float kept = order[i];

        k = k > i ? i : k;
        order[i] = order[k];
        order[k] = kept;
    }
}

static float train_epoch(const network *net, NDArrayHandle images, NDArrayHandle digits,
                         const char *rate)
{
    float order[TRAIN], total = 0;

    draw_order(order);
    for (int begin = 0; begin < TRAIN; begin += BATCH) {
        int count = TRAIN - begin < BATCH ? TRAIN - begin : BATCH;
        NDArrayHandle chosen = from_floats(order + begin, count, 0);
        NDArrayHandle x = two("take", images, chosen, nothing);
        NDArrayHandle y = two("take", digits, chosen, nothing);

        total += train_batch(net, x, y, rate) * (float)count;
        drop(chosen);
        drop(x);
        drop(y);
    }
    return total / TRAIN;
}

/* Loss and accuracy on the images that were held out. */
static float evaluate(const network *net, NDArrayHandle images, NDArrayHandle digits, float *loss)
{
    NDArrayHandle score = scores(net, images), entropy = cross_entropy(score, digits);
    NDArrayHandle best = one("argmax", score, with("axis", "1"));
    float read[HELD_OUT], true_digits[HELD_OUT];
    int right = 0;

    need(MXNDArraySyncCopyToCPU(best, read, HELD_OUT), "copy out");
    need(MXNDArraySyncCopyToCPU(digits, true_digits, HELD_OUT), "copy out");
    for (int i = 0; i < HELD_OUT; i++)
        right += read[i] == true_digits[i];
    *loss = first_of(entropy);
    drop(score);
    drop(entropy);
    drop(best);
    return (float)right / HELD_OUT;
}

/* ---- data ---- */

typedef struct data {
    NDArrayHandle train_images, train_digits, held_images, held_digits;
} data;

/* The records of digits.u8 (see examples/data/README.md). A program without files has them inside:
 * DIGITS_DATA names a file of their numbers with commas (`make embedded-digits`). */
#ifdef DIGITS_DATA
static const unsigned char bytes[IMAGES * RECORD] = {
#include DIGITS_DATA
};

static void bytes_read(const char *path)
{
    (void)path;
}
#else
static unsigned char bytes[IMAGES * RECORD];

static void bytes_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t got = file == NULL ? 0 : fread(bytes, 1, sizeof(bytes), file);

    if (file != NULL)
        fclose(file);
    if (got != sizeof(bytes)) {
        fprintf(stderr, "digits: %s: %zu bytes could be read, %zu are needed\n", path, got,
                sizeof(bytes));
        exit(1);
    }
}
#endif

/* Makes the arrays; pixels become 0 .. 1. */
static void data_read(data *d, const char *path)
{
    static float images[IMAGES * PIXELS], digits[IMAGES];

    bytes_read(path);
    for (int i = 0; i < IMAGES; i++) {
        for (int k = 0; k < PIXELS; k++)
            images[i * PIXELS + k] = (float)bytes[i * RECORD + k] / 16;
        digits[i] = (float)bytes[i * RECORD + PIXELS];
    }
    d->train_images = from_floats(images, TRAIN, PIXELS);
    d->train_digits = from_floats(digits, TRAIN, 0);
    d->held_images = from_floats(images + TRAIN * PIXELS, HELD_OUT, PIXELS);
    d->held_digits = from_floats(digits + TRAIN, HELD_OUT, 0);
}

static void data_free(data *d)
{
    drop(d->train_images);
    drop(d->train_digits);
    drop(d->held_images);
    drop(d->held_digits);
}

int main(int argc, char **argv)
{
    data d;
    network net;
    float accuracy = 0;
    int64_t live;

    data_read(&d, argc > 1 ? argv[1] : "examples/data/digits.u8");
    need(MXRandomSeed(1), "seed");
    network_new(&net);
    printf("epoch   training loss   held-out loss   held-out accuracy   seconds\n");
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        clock_t begin = clock();
        const char *rate = epoch <= EPOCHS / 2 ? "0.2" : "0.02";
        float loss = train_epoch(&net, d.train_images, d.train_digits, rate), held_loss;

        accuracy = evaluate(&net, d.held_images, d.held_digits, &held_loss);
        printf("%5d %15.4f %15.4f %19.3f %9.3f\n", epoch, (double)loss, (double)held_loss,
               (double)accuracy, (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    network_free(&net);
    data_free(&d);
    need(MXLGetLiveHandles(&live), "live handles");
    if (live != 0) {
        fprintf(stderr, "digits: %lld arrays were not freed\n", (long long)live);
        return 1;
    }
    printf("held-out accuracy %.3f\n", (double)accuracy);
    return 0;
}
