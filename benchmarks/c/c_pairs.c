/* The yardstick of c_call.c, in a shared library of its own: two malloc/free pairs of 64 bytes. */
#include <stdlib.h>

void *volatile bench_keep;

void bench_pairs(void);

void bench_pairs(void)
{
    void *a = malloc(64), *b = malloc(64);

    bench_keep = a;
    bench_keep = b;
    free(a);
    free(b);
}
