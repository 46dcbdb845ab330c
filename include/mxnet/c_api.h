/* For programs written against MXNet: #include <mxnet/c_api.h>. */
#ifndef MXLITE_MXNET_C_API_H
#define MXLITE_MXNET_C_API_H

#include "../mxlite/c_api.h"

#endif
