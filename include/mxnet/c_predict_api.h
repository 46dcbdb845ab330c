/* For programs that run saved models: #include <mxnet/c_predict_api.h>. The functions are MXPred*
 * and MXNDList*, which mxlite/c_api_predict.h declares, and MXGetLastError. */
#ifndef MXLITE_MXNET_C_PREDICT_API_H
#define MXLITE_MXNET_C_PREDICT_API_H

#include "../mxlite/c_api.h"

#endif
