/* Numbers in the environment. mxl_env_number returns the default for invalid text. The registry
 * calls mxl_env_check for each variable before it finds the first operator, and fails on invalid
 * text. */
#ifndef MXL_BASE_ENV_H
#define MXL_BASE_ENV_H

#include <stdint.h>

/* The variable's number, or the first one of a list ("4,2"). `otherwise` if the variable is unset,
 * empty or not a number >= 0. */
int64_t mxl_env_number(const char *variable, int64_t otherwise);

/* Checks the variable. -1 with an error that names it and what was `wanted`, if its text is
 * invalid. */
int mxl_env_check(const char *variable, const char *wanted);

#endif
