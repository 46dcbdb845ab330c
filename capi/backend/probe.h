/* Finding a library at run time: opening it, its functions by name. For the back ends. */
#ifndef MXL_BACKEND_PROBE_H
#define MXL_BACKEND_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* What a function's name is, and where its address goes. */
typedef struct mxl_probe_symbol {
    const char *name;
    size_t offset; /* in the table */
} mxl_probe_symbol;

/* Whether the environment leaves back end `name` on: MXLITE_BACKENDS is unset, empty or that name,
 * not "none". -1 with the error set: it is something else. */
int mxl_probe_allowed(const char *name, bool *allowed);

/* Opens a library, its symbols for nobody else; NULL with the error set. It is never closed. */
void *mxl_probe_open(const char *path);

/* Fills pointers to functions in `table` from the library, each name behind `prefix`; false at the
 * first that it lacks. `symbols` ends with a NULL name. */
bool mxl_probe_fill(void *library, const char *prefix, const mxl_probe_symbol *symbols,
                    void *table);

#endif
