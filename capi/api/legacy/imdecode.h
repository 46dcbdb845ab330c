/* The function of MXListFunctions that is no operator; see functions.c. */
#ifndef MXL_API_LEGACY_IMDECODE_H
#define MXL_API_LEGACY_IMDECODE_H

#include "mxlite/mxlite.h"

enum { API_IMDECODE_SCALARS = 7 };

/* Decodes the image in `bytes`; scalars: the number of an image in `out`, left, top, right and
 * bottom of the part (0: all of it), channels, how many bytes there are. `mean` may have no shape.
 * -1 with the error set. */
int api_imdecode(NDArrayHandle mean, const float *scalars, const char *bytes, NDArrayHandle out);

#endif
