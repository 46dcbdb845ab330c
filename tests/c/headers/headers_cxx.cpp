// The public headers in one C++11 program, twice and in the other order; C linkage, MXNet's default
// arguments. Compiled only: c++ -std=c++11 -pedantic -Iinclude.
#include <nnvm/c_api.h>
#include <mxnet/c_api.h>
#include <mxlite/mxlite.h>
#include <mxlite/c_api.h>

static_assert(sizeof(mx_uint) == 4 && sizeof(dim_t) == 8, "numbers");
static_assert(sizeof(bool) == 1, "bool is C's _Bool");

// Declared again with C linkage: an error unless language linkage and type are the same.
extern "C" int MXGetVersion(int *);
extern "C" int MXImperativeInvoke(void *, int, void **, int *, void ***, int, const char **,
                                  const char **);

int describe(AtomicSymbolCreator op);
int describe(AtomicSymbolCreator op)
{
    const char *name, *doc, *count;
    const char **names, **types, **docs;
    mx_uint n;
    int dead = 0;

    // As C++ callers of MXNet do: without return_type, without the timeout.
    if (MXKVStoreGetNumDeadNode(nullptr, 1, &dead) != 0)
        return -1;
    return MXSymbolGetAtomicSymbolInfo(op, &name, &doc, &n, &names, &types, &docs, &count);
}
