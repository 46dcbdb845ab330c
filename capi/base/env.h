/* Numbers in the environment. Whoever needs one takes what is no number for its default; the
 * registry checks all of them before it hands out the first operator, and there it is an error. */
#ifndef MXL_BASE_ENV_H
#define MXL_BASE_ENV_H

#include <stdint.h>

/* The number that a variable is set to, the first one of a list ("4,2"); `otherwise` where it is
 * not set, empty or no number from 0 on. */
int64_t mxl_env_number(const char *variable, int64_t otherwise);

/* -1 with an error that names the variable and what is `wanted`: it is set to no such number. */
int mxl_env_check(const char *variable, const char *wanted);

#endif
