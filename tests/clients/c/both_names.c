/* Linked with libmxnet.so, and handed a path of libmxlite.so to open: where both lie in one folder
 * they are one library, with one table of handles. argv: that path; where libmxnet.so is alone,
 * none. */
#include <dlfcn.h>

#include "client.h"

typedef int (*shape_of)(NDArrayHandle, uint32_t *, const uint32_t **);

int main(int argc, char **argv)
{
    NDArrayHandle array = filled(2, 3, 1, 0);
    const uint32_t *shape;
    uint32_t ndim = 0;
    void *other = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    union {
        void *address;
        shape_of call;
    } there = {NULL};

    if (argc < 2)
        return failures != 0;
    if (other != NULL)
        there.address = dlsym(other, "MXNDArrayGetShape");
    EXPECT(there.address != NULL);
    if (there.address != NULL)
        EXPECT(there.call(array, &ndim, &shape) == 0 && ndim == 2 && shape[1] == 3);
    return failures != 0;
}
