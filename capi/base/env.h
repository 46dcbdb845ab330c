/* Numbers and flags in the environment. mxl_env_number returns the default for invalid text. The
 * registry calls mxl_env_check for each variable before it finds the first operator, and fails on
 * invalid text. */
#ifndef MXL_BASE_ENV_H
#define MXL_BASE_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* The variable's number, or the first one of a list ("4,2"). `otherwise` if the variable is unset,
 * empty or not a number >= 0. */
int64_t mxl_env_number(const char *variable, int64_t otherwise);

/* Whether the variable is 1 or "true", in letters of either size; `otherwise` if it is unset, empty
 * or neither that nor 0 or "false". */
bool mxl_env_flag(const char *variable, bool otherwise);

/* Checks the variable. -1 with an error that names it and what was `wanted`, if its text is
 * invalid. */
int mxl_env_check(const char *variable, const char *wanted);

/* The same of a flag. */
int mxl_env_check_flag(const char *variable);

#endif
