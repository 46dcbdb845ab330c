/* mxlite/mxlite.h alone, as C99. Compiled only. */
#include <mxlite/mxlite.h>

int version(void);
int version(void)
{
    int number = 0;

    return MXLGetVersion(&number) == 0 ? number - MXL_VERSION : -1;
}
