/* mxnet/c_predict_api.h alone, as programs that only run models include it. Compiled only. */
#include <mxnet/c_predict_api.h>

int MXPredForward(PredictorHandle);
int MXPredSetInput(PredictorHandle, const char *, const mx_float *, mx_uint);
int MXPredGetOutput(PredictorHandle, mx_uint, mx_float *, mx_uint);
int MXNDListFree(NDListHandle);
const char *MXGetLastError(void);

const char *run_once(PredictorHandle predictor, const mx_float *data, mx_uint size);
const char *run_once(PredictorHandle predictor, const mx_float *data, mx_uint size)
{
    if (MXPredSetInput(predictor, "data", data, size) != 0 || MXPredForward(predictor) != 0)
        return MXGetLastError();
    return "";
}
