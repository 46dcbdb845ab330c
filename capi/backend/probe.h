/* Opens a library at run time and finds its functions by name. For the back ends. */
#ifndef MXL_BACKEND_PROBE_H
#define MXL_BACKEND_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a function and the position of its pointer in the table. */
typedef struct mxl_probe_symbol {
    const char *name;
    size_t offset; /* in the table */
} mxl_probe_symbol;

/* Sets *allowed: MXLITE_BACKENDS permits back end `name` if it is unset, empty or `name`, and
 * forbids it if it is "none". -1 with the error set for any other value. */
int mxl_probe_allowed(const char *name, bool *allowed);

/* Opens a library without adding its symbols to the process. NULL with the error set. It is never
 * closed. */
void *mxl_probe_open(const char *path);

/* Fills the function pointers of `table`. Each symbol is looked up as `prefix` + name. False at the
 * first one missing. `symbols` ends with a NULL name. */
bool mxl_probe_fill(void *library, const char *prefix, const mxl_probe_symbol *symbols,
                    void *table);

#endif
