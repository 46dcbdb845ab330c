/* The list of all families of operators (all.c): named by what must not be linked without them. */
#ifndef MXL_OPS_FAMILIES_H
#define MXL_OPS_FAMILIES_H

#include "op/op.h"

extern const mxl_op *const *const mxl_families[]; /* ends with NULL */

#endif
