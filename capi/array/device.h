/* The device label of an array: cpu(1), cpu_pinned(0). All memory is this machine's; the label lets
 * programs for MXNet read back the device that they asked for. */
#ifndef MXL_ARRAY_DEVICE_H
#define MXL_ARRAY_DEVICE_H

#include <stdint.h>

/* The device's number times 4, plus its kind; 0 is cpu(0). */
typedef uint32_t mxl_device;

enum { MXL_DEVICE_CPU = 0, MXL_DEVICE_CPU_PINNED = 1, MXL_DEVICE_CPU_SHARED = 2 };

/* From MXNet's device type (1 cpu, 3 cpu_pinned, 5 cpu_shared) and number (a negative one counts as
 * 0). -1 with the error set for another type, or a number from 2^30 on. */
int mxl_device_of(int type, int64_t id, mxl_device *device);

/* From "cpu(1)", "cpu_pinned(0)" or "cpu_shared(0)"; "" is cpu(0). -1 with the error set for any
 * other text. */
int mxl_device_parse(const char *text, mxl_device *device);

/* The text, "cpu(1)", in `room`, which it returns. */
enum { MXL_DEVICE_ROOM = 32 };
const char *mxl_device_print(mxl_device device, char room[MXL_DEVICE_ROOM]);
#define MXL_DEVICE_TEXT(device) mxl_device_print((device), (char[MXL_DEVICE_ROOM]){0})

/* MXNet's device type, and the device's number. */
int mxl_device_type(mxl_device device);

static inline int mxl_device_id(mxl_device device)
{
    return (int)(device >> 2);
}

/* The device of an operator's results, from that of its first input: results are never pinned or
 * shared. */
static inline mxl_device mxl_device_of_results(mxl_device first)
{
    return first & ~(mxl_device)3;
}

#endif
