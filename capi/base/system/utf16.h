/* Paths of Windows, which are UTF-16; used by its files of this folder. */
#ifndef MXL_BASE_SYSTEM_UTF16_H
#define MXL_BASE_SYSTEM_UTF16_H

#include <stdbool.h>
#include <stddef.h>

#include "base/system/system.h"

#if defined(MXL_WINDOWS)
enum { MXL_WIDE_ROOM = 4096 };

/* Copies a path of UTF-8. False, with errno and the system's last error set: it is none, or too
 * long. */
bool mxl_utf16(wchar_t wide[MXL_WIDE_ROOM], const char *path);

/* Sets errno by the system's last error. */
void mxl_wide_errno(void);
#endif

#endif
