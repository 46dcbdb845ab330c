/* Trains a network of two layers to read noisy digits of 8 x 8 pixels that it draws itself, and checks a gradient, an
 * error and memory. Prints one line; 0 if all is well. Operators that the file was made without are named. */
enum { SELF_PIXELS = 64, SELF_HIDDEN = 32, SELF_CLASSES = 10, SELF_BATCH = 100, SELF_STEPS = 120 };

/* Ten digits, a byte for each line of pixels. */
static const unsigned char self_digits[SELF_CLASSES][8] = {
    {0x3c, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x3c}, {0x18, 0x38, 0x18, 0x18, 0x18, 0x18, 0x18, 0x3c},
    {0x3c, 0x66, 0x06, 0x0c, 0x18, 0x30, 0x60, 0x7e}, {0x3c, 0x66, 0x06, 0x1c, 0x06, 0x06, 0x66, 0x3c},
    {0x0c, 0x1c, 0x3c, 0x6c, 0x6c, 0x7e, 0x0c, 0x0c}, {0x7e, 0x60, 0x60, 0x7c, 0x06, 0x06, 0x66, 0x3c},
    {0x3c, 0x66, 0x60, 0x7c, 0x66, 0x66, 0x66, 0x3c}, {0x7e, 0x06, 0x0c, 0x0c, 0x18, 0x18, 0x30, 0x30},
    {0x3c, 0x66, 0x66, 0x3c, 0x66, 0x66, 0x66, 0x3c}, {0x3c, 0x66, 0x66, 0x66, 0x3e, 0x06, 0x66, 0x3c}};

static const char *const self_operators[] = {"FullyConnected", "relu", "log_softmax", "pick", "mean", "negative",
                                             "argmax", "sgd_mom_update", "_zeros"};

static uint32_t self_random = 1;

static int self_failed(const char *what)
{
    fprintf(stderr, "mxlite self test: %s: %s\n", what, MXGetLastError());
    exit(1);
}

static void self_need(int status, const char *what)
{
    if (status != 0)
        (void)self_failed(what);
}

static void self_check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "mxlite self test: wrong: %s\n", what);
        exit(1);
    }
}

/* A number of 0 .. 1. */
static float self_draw(void)
{
    self_random = self_random * 1664525u + 1013904223u;
    return (float)(self_random >> 8) / 16777216.0f;
}

/* An operator with one output, into `out` if that is not NULL; its parameters are pairs of texts. */
static NDArrayHandle self_run(const char *name, int count, NDArrayHandle *inputs, int params, const char **texts,
                              NDArrayHandle out)
{
    const char *keys[4], *values[4];
    NDArrayHandle *outputs = out == NULL ? NULL : &out;
    int num_outputs = out == NULL ? 0 : 1;
    const int *stypes;
    OpHandle op;

    for (int i = 0; i < params; i++) {
        keys[i] = texts[2 * i];
        values[i] = texts[2 * i + 1];
    }
    self_need(NNGetOpHandle(name, &op), name);
    self_need(MXImperativeInvokeEx(op, count, inputs, &num_outputs, &outputs, params, keys, values, &stypes), name);
    return outputs[0];
}

static NDArrayHandle self_one(const char *name, NDArrayHandle x)
{
    return self_run(name, 1, &x, 0, NULL, NULL);
}

static NDArrayHandle self_array(const float *values, int rows, int columns)
{
    uint32_t shape[2];
    NDArrayHandle array;

    shape[0] = (uint32_t)rows;
    shape[1] = (uint32_t)columns;
    self_need(MXNDArrayCreate(shape, columns > 0 ? 2 : 1, 1, 0, 0, &array), "create");
    self_need(MXNDArraySyncCopyFromCPU(array, values, (size_t)rows * (size_t)(columns > 0 ? columns : 1)), "copy");
    return array;
}

/* A batch of digits with a fifth of the pixels drawn anew. */
static void self_batch(NDArrayHandle *images, NDArrayHandle *labels)
{
    static float pixels[SELF_BATCH * SELF_PIXELS], digits[SELF_BATCH];

    for (int i = 0; i < SELF_BATCH; i++) {
        int digit = i % SELF_CLASSES;

        digits[i] = (float)digit;
        for (int k = 0; k < SELF_PIXELS; k++) {
            float pixel = (float)(self_digits[digit][k / 8] >> (7 - k % 8) & 1);

            pixels[i * SELF_PIXELS + k] = self_draw() < 0.2f ? self_draw() : pixel;
        }
    }
    *images = self_array(pixels, SELF_BATCH, SELF_PIXELS);
    *labels = self_array(digits, SELF_BATCH, 0);
}

static NDArrayHandle self_layer(NDArrayHandle x, NDArrayHandle *w, const char *outputs)
{
    NDArrayHandle inputs[3];
    const char *texts[2];

    inputs[0] = x;
    inputs[1] = w[0];
    inputs[2] = w[1];
    texts[0] = "num_hidden";
    texts[1] = outputs;
    return self_run("FullyConnected", 3, inputs, 1, texts, NULL);
}

static NDArrayHandle self_scores(NDArrayHandle *w, NDArrayHandle x)
{
    NDArrayHandle before = self_layer(x, w, "32"), hidden = self_one("relu", before);
    NDArrayHandle scores = self_layer(hidden, w + 2, "10");

    MXNDArrayFree(before);
    MXNDArrayFree(hidden);
    return scores;
}

static NDArrayHandle self_loss(NDArrayHandle *w, NDArrayHandle x, NDArrayHandle y)
{
    NDArrayHandle scores = self_scores(w, x), pair[2], right, mean, loss;

    pair[0] = self_one("log_softmax", scores);
    pair[1] = y;
    right = self_run("pick", 2, pair, 0, NULL, NULL);
    mean = self_one("mean", right);
    loss = self_one("negative", mean);
    MXNDArrayFree(scores);
    MXNDArrayFree(pair[0]);
    MXNDArrayFree(right);
    MXNDArrayFree(mean);
    return loss;
}

static float self_value(NDArrayHandle array)
{
    float value;

    self_need(MXNDArraySyncCopyToCPU(array, &value, 1), "copy");
    return value;
}

/* The gradient by the first bias of the last layer, beside a difference of losses. */
static void self_gradient(NDArrayHandle *w, NDArrayHandle *g, NDArrayHandle x, NDArrayHandle y)
{
    float bias[SELF_CLASSES], slope[SELF_CLASSES], loss[2];

    self_need(MXNDArraySyncCopyToCPU(g[3], slope, SELF_CLASSES), "copy");
    self_need(MXNDArraySyncCopyToCPU(w[3], bias, SELF_CLASSES), "copy");
    for (int side = 0; side < 2; side++) {
        NDArrayHandle moved[4], result;

        bias[0] += side == 0 ? 0.02f : -0.04f;
        moved[0] = w[0], moved[1] = w[1], moved[2] = w[2];
        moved[3] = self_array(bias, SELF_CLASSES, 0);
        result = self_loss(moved, x, y);
        loss[side] = self_value(result);
        MXNDArrayFree(moved[3]);
        MXNDArrayFree(result);
    }
    self_check(fabs((loss[0] - loss[1]) / 0.04f - slope[0]) < 0.002f, "a gradient");
}

static void self_train(NDArrayHandle *w, NDArrayHandle *g, NDArrayHandle *m)
{
    const char *rule[4] = {"lr", "0.2", "momentum", "0.9"};

    for (int step = 0; step < SELF_STEPS; step++) {
        NDArrayHandle x, y, loss;
        int before;

        self_batch(&x, &y);
        self_need(MXAutogradSetIsRecording(1, &before), "record");
        loss = self_loss(w, x, y);
        self_need(MXAutogradSetIsRecording(0, &before), "record");
        self_need(MXAutogradBackwardEx(1, &loss, NULL, 0, NULL, 0, 0, 1, NULL, NULL), "backward");
        if (step == 0)
            self_gradient(w, g, x, y);
        for (int i = 0; i < 4; i++) {
            NDArrayHandle inputs[3];

            inputs[0] = w[i];
            inputs[1] = g[i];
            inputs[2] = m[i];
            self_run("sgd_mom_update", 3, inputs, 2, rule, w[i]);
        }
        MXNDArrayFree(loss);
        MXNDArrayFree(x);
        MXNDArrayFree(y);
    }
}

static int self_right(NDArrayHandle *w)
{
    const char *axis[2] = {"axis", "1"};
    float read[SELF_BATCH];
    NDArrayHandle x, y, scores, best;
    int right = 0;

    self_batch(&x, &y);
    scores = self_scores(w, x);
    best = self_run("argmax", 1, &scores, 1, axis, NULL);
    self_need(MXNDArraySyncCopyToCPU(best, read, SELF_BATCH), "copy");
    for (int i = 0; i < SELF_BATCH; i++)
        right += (int)read[i] == i % SELF_CLASSES;
    MXNDArrayFree(x);
    MXNDArrayFree(y);
    MXNDArrayFree(scores);
    MXNDArrayFree(best);
    return right;
}

int main(void)
{
    static const int rows[4] = {SELF_HIDDEN, SELF_HIDDEN, SELF_CLASSES, SELF_CLASSES};
    static const int columns[4] = {SELF_PIXELS, 0, SELF_HIDDEN, 0};
    static float zeros[SELF_HIDDEN * SELF_PIXELS], values[SELF_HIDDEN * SELF_PIXELS];
    NDArrayHandle w[4], g[4], m[4], none, *lists;
    const char **names;
    uint32_t write[4] = {1, 1, 1, 1}, counts[2];
    int64_t live;
    int right, version;
    OpHandle op;

    self_need(MXLGetVersion(&version), "version");
    self_check(version == MXL_VERSION, "the version");
    self_check(NNGetOpHandle("no_operator", &op) == -1 && MXGetLastError()[0] != 0, "an error");
    self_check(MXNDArrayLoad("no/such/file", &counts[0], &lists, &counts[1], &names) == -1, "an error of files");
#ifdef MXL_NO_FILES
    self_check(strstr(MXGetLastError(), "MXL_NO_FILES") != NULL, "what an error without files names");
#endif
    for (size_t i = 0; i < sizeof self_operators / sizeof self_operators[0]; i++)
        if (NNGetOpHandle(self_operators[i], &op) != 0) {
            printf("mxlite self test: this file has no %s, so that nothing was trained\n", self_operators[i]);
            return 0;
        }
    for (int i = 0; i < 4; i++) {
        int size = rows[i] * (columns[i] > 0 ? columns[i] : 1);

        for (int k = 0; k < size; k++)
            values[k] = columns[i] > 0 ? (self_draw() - 0.5f) * 0.5f : 0.0f;
        w[i] = self_array(values, rows[i], columns[i]);
        g[i] = self_array(zeros, rows[i], columns[i]);
        m[i] = self_array(zeros, rows[i], columns[i]);
    }
    self_need(MXAutogradMarkVariables(4, w, write, g), "mark");
    self_train(w, g, m);
    right = self_right(w);
    none = w[0];
    for (int i = 0; i < 4; i++) {
        MXNDArrayFree(w[i]);
        MXNDArrayFree(g[i]);
        MXNDArrayFree(m[i]);
    }
    self_check(MXNDArrayFree(none) == -1, "an error of a handle that was freed");
    self_need(MXLGetLiveHandles(&live), "live");
    self_check(live == 0, "arrays that stay");
    self_check(right >= SELF_BATCH * 95 / 100, "the accuracy");
    printf("mxlite self test: passed, %d of %d digits\n", right, SELF_BATCH);
    return 0;
}
