/* Where an array is said to be: cpu(1), cpu_pinned(0). All of it is this machine's memory; programs
 * for MXNet find again what they asked for. */
#ifndef MXL_ARRAY_DEVICE_H
#define MXL_ARRAY_DEVICE_H

#include <stdint.h>

/* The device's number times 4, and its kind; 0 is cpu(0). */
typedef uint32_t mxl_device;

enum { MXL_DEVICE_CPU = 0, MXL_DEVICE_CPU_PINNED = 1, MXL_DEVICE_CPU_SHARED = 2 };

/* MXNet's device type (1 cpu, 3 cpu_pinned, 5 cpu_shared) and number (a negative one is 0). -1 with
 * the error set: another type, or a number from 2^30 on. */
int mxl_device_of(int type, int64_t id, mxl_device *device);

/* "cpu(1)", "cpu_pinned(0)", "cpu_shared(0)"; "" is cpu(0). -1 with the error set: anything else.
 */
int mxl_device_parse(const char *text, mxl_device *device);

/* MXNet's device type, and the number. */
int mxl_device_type(mxl_device device);

static inline int mxl_device_id(mxl_device device)
{
    return (int)(device >> 2);
}

/* Where an operator's results are whose first input is there: the pinned and shared kinds are for
 * what they were asked for alone. */
static inline mxl_device mxl_device_of_results(mxl_device first)
{
    return first & ~(mxl_device)3;
}

#endif
