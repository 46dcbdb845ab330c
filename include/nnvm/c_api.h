/* For programs written against NNVM: #include <nnvm/c_api.h>. */
#ifndef MXLITE_NNVM_C_API_H
#define MXLITE_NNVM_C_API_H

#include "../mxlite/c_api.h"

#endif
