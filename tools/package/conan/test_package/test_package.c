/* Names an operator of the package: 0 if there is one. */
#include <stdio.h>

#include "mxlite.h"

int main(void)
{
    OpHandle op;

    if (NNGetOpHandle("FullyConnected", &op) != 0) {
        fprintf(stderr, "%s\n", MXGetLastError());
        return 1;
    }
    puts("mxlite: FullyConnected");
    return 0;
}
