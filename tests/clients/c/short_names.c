/* The headers as programs include them that search include/mxnet (or a folder with copies of
 * MXNet's headers) alone: a model of one layer, run by c_predict_api.h. */
#include <c_predict_api.h>

#include <c_api.h>

#include <stdio.h>

static const char *const model = "{\"nodes\": [{\"op\": \"null\", \"name\": \"data\", \"inputs\": "
                                 "[]}, {\"op\": \"_mul_scalar\", \"name\": \"net\", "
                                 "\"attrs\": {\"scalar\": \"2\"}, \"inputs\": [[0, 0, 0]]}], "
                                 "\"arg_nodes\": [0], \"heads\": [[1, 0, 0]]}";

int main(void)
{
    const char *name = "data";
    const mx_uint places[] = {0, 2}, sizes[] = {1, 3};
    const mx_float numbers[] = {1, 2, 3};
    mx_float answer[3] = {0};
    mx_uint *shape, ndim = 0;
    PredictorHandle predictor = NULL;
    int version = 0;

    if (MXGetVersion(&version) != 0 || version != 10901)
        return 1;
    if (MXPredCreate(model, NULL, 0, 1, 0, 1, &name, places, sizes, &predictor) != 0 ||
        MXPredSetInput(predictor, "data", numbers, 3) != 0 || MXPredForward(predictor) != 0 ||
        MXPredGetOutputShape(predictor, 0, &shape, &ndim) != 0 || ndim != 2 || shape[1] != 3 ||
        MXPredGetOutput(predictor, 0, answer, 3) != 0 || MXPredFree(predictor) != 0) {
        fprintf(stderr, "short_names: %s\n", MXGetLastError());
        return 2;
    }
    return answer[2] != 6;
}
