/* Which passes run; see passes.h. */
#include "symbol/passes/passes.h"

#include <stdlib.h>
#include <string.h>

bool mxl_pass_is_on(const char *name)
{
    const char *text = getenv("MXLITE_GRAPH");
    size_t length = strlen(name);

    if (text == NULL)
        return true;
    if (strcmp(text, "none") == 0)
        return false;
    for (; *text != 0; text += strcspn(text, ","), text += *text == ',') {
        if (text[0] == '-' && strncmp(text + 1, name, length) == 0 &&
            (text[length + 1] == ',' || text[length + 1] == 0))
            return false;
    }
    return true;
}
