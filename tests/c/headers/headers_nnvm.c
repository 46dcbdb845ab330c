/* nnvm/c_api.h alone, as programs written against NNVM include it. Compiled only. */
#include <nnvm/c_api.h>

int NNListAllOpNames(unsigned *, const char ***);
int NNGetOpInfo(void *, const char **, const char **, unsigned *, const char ***, const char ***,
                const char ***, const char **);
int NNSymbolCompose(void *, const char *, unsigned, const char **, void **);
int NNGraphApplyPasses(void *, unsigned, const char **, void **);

int find_operator(const char *name, OpHandle *op);
int find_operator(const char *name, OpHandle *op)
{
    nn_uint count = 0;
    const char **names = NULL;

    if (NNListAllOpNames(&count, &names) != 0)
        return -1;
    return NNGetOpHandle(name, op);
}
