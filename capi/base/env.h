/* Numbers in the environment. mxl_env_number answers the default for a text that is no number; the
 * registry calls mxl_env_check for each variable before the first operator is found, and fails. */
#ifndef MXL_BASE_ENV_H
#define MXL_BASE_ENV_H

#include <stdint.h>

/* The number that a variable is set to, the first one of a list ("4,2"); `otherwise` where it is
 * not set, empty or no number from 0 on. */
int64_t mxl_env_number(const char *variable, int64_t otherwise);

/* -1 with an error that names the variable and what is `wanted`: it is set to no such number. */
int mxl_env_check(const char *variable, const char *wanted);

#endif
