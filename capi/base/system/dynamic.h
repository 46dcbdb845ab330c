/* Libraries that are opened while the process runs. */
#ifndef MXL_BASE_SYSTEM_DYNAMIC_H
#define MXL_BASE_SYSTEM_DYNAMIC_H

#include <stddef.h>

/* Opens a library by its path or name; its symbols are seen by nothing else. NULL, with the
 * system's reason in `why` (which the next call may change), or NULL there. */
void *mxl_library_open(const char *path, const char **why);

/* The address of a symbol, or NULL. */
void *mxl_library_symbol(void *library, const char *name);

/* Ends one opening. */
void mxl_library_close(void *library);

/* Copies the path of the library that has this address; an empty text where the system does not
 * tell. */
void mxl_library_path(const void *address, char *path, size_t room);

/* Makes the library that has this address known as one that is opened by name, so that libraries
 * opened later find what it exports. */
void mxl_library_stay(const void *address);

#endif
