/* Runs a saved model through the Predict API of MXNet 1.9.1, in C, on images that it was not
 * trained on.
 *
 *     cc -Iinclude -o predict bindings/predict/predict.c -Lbuild -lmxlite -Wl,-rpath,$PWD/build
 *     ./predict digits-symbol.json digits-0000.params ../../examples/data/digits.u8
 *
 * Prints the digits that it sees, ten images in a line, and the share that is right. */
#include <stdio.h>
#include <stdlib.h>

#include <mxlite/c_api.h>

enum {
    PIXELS = 64,
    CLASSES = 10,
    RECORD = PIXELS + 1, /* bytes of an image and its digit */
    TRAIN = 1437,
    BATCH = 10
};

typedef struct file {
    char *bytes;
    long size;
} file;

/* The content of a file, and a zero behind it. */
static file read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    file f = {NULL, 0};

    if (in != NULL && fseek(in, 0, SEEK_END) == 0 && (f.size = ftell(in)) >= 0 &&
        fseek(in, 0, SEEK_SET) == 0)
        f.bytes = malloc((size_t)f.size + 1);
    if (f.bytes == NULL || fread(f.bytes, 1, (size_t)f.size, in) != (size_t)f.size) {
        fprintf(stderr, "predict: %s cannot be read\n", path);
        exit(1);
    }
    f.bytes[f.size] = '\0';
    fclose(in);
    return f;
}

/* Any failing call ends the program with the library's message. */
static void need(int status)
{
    if (status != 0) {
        fprintf(stderr, "predict: %s\n", MXGetLastError());
        exit(1);
    }
}

/* The digit of each image of a batch. */
static void see(PredictorHandle predictor, const unsigned char *images, int *digits)
{
    float pixels[BATCH * PIXELS], scores[BATCH * CLASSES];

    for (int i = 0; i < BATCH; i++)
        for (int k = 0; k < PIXELS; k++)
            pixels[i * PIXELS + k] = (float)images[i * RECORD + k] / 16;
    need(MXPredSetInput(predictor, "data", pixels, BATCH * PIXELS));
    need(MXPredForward(predictor));
    need(MXPredGetOutput(predictor, 0, scores, BATCH * CLASSES));
    for (int i = 0; i < BATCH; i++) {
        digits[i] = 0;
        for (int k = 1; k < CLASSES; k++)
            if (scores[i * CLASSES + k] > scores[i * CLASSES + digits[i]])
                digits[i] = k;
    }
}

int main(int argc, char **argv)
{
    const char *inputs[] = {"data"};
    const uint32_t places[] = {0, 2}, sizes[] = {BATCH, PIXELS};
    uint32_t *shape, ndim;
    PredictorHandle predictor;
    file json, params, data;
    int right = 0, seen = 0;

    if (argc != 4) {
        fprintf(stderr, "usage: predict SYMBOL.json MODEL.params DIGITS\n");
        return 2;
    }
    json = read_file(argv[1]);
    params = read_file(argv[2]);
    data = read_file(argv[3]);
    need(MXPredCreate(json.bytes, params.bytes, (int)params.size, 1, 0, 1, inputs, places, sizes,
                      &predictor));
    need(MXPredGetOutputShape(predictor, 0, &shape, &ndim));
    if (ndim != 2 || shape[0] != BATCH || shape[1] != CLASSES) {
        fprintf(stderr, "predict: the model does not give %d scores for each image\n", CLASSES);
        return 1;
    }
    for (long at = TRAIN; (at + BATCH) * RECORD <= data.size; at += BATCH) {
        const unsigned char *images = (const unsigned char *)data.bytes + at * RECORD;
        int digits[BATCH];

        see(predictor, images, digits);
        for (int i = 0; i < BATCH; i++) {
            printf("%d%s", digits[i], i + 1 < BATCH ? " " : "\n");
            right += digits[i] == images[i * RECORD + PIXELS];
            seen++;
        }
    }
    need(MXPredFree(predictor));
    free(json.bytes);
    free(params.bytes);
    free(data.bytes);
    printf("held-out accuracy %.3f\n", (double)right / seen);
    return 0;
}
