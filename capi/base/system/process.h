/* This process, its clock, its environment and its processor. */
#ifndef MXL_BASE_SYSTEM_PROCESS_H
#define MXL_BASE_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

long mxl_process_id(void);

/* Nanoseconds of a clock that never goes back. */
int64_t mxl_clock(void);

/* Nanoseconds since the beginning of 1970, UTC. */
int64_t mxl_clock_date(void);

/* Sets a variable of the environment, or removes it for NULL. -1 with errno set. */
int mxl_environment_set(const char *name, const char *value);

/* On aarch64: whether the processor has instructions for dot products of four bytes. */
bool mxl_processor_has_dot_products(void);

#endif
