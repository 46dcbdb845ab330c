/* Shared by the tests of growing structures: the sizes, and large numbers of arrays. */
#ifndef SIZES_KIT_H
#define SIZES_KIT_H

#include "graph_kit.h"

#include <stdio.h>

/* Rooms begin with a power of two, or with 48. */
static const int kit_sizes[] = {1,  2,  3,  7,  8,  9,   15,  16,  17,  31,  32,  33,  47,
                                48, 49, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000};

enum { KIT_SIZES = sizeof(kit_sizes) / sizeof(*kit_sizes), MOST = 1000 };

KIT void at_each_size(void (*run)(int n))
{
    for (int i = 0; i < KIT_SIZES; i++)
        run(kit_sizes[i]);
}

/* Any element of a float64 array. */
KIT double element(H array, int64_t i)
{
    H part = MXLNDArraySlice(array, i, i + 1);
    double value = at(part, 0);

    drop(part);
    return value;
}

KIT double grad_element(H array, int64_t i)
{
    H grad = grad_of(array);
    double value = element(grad, i);

    drop(grad);
    return value;
}

KIT void drop_all(int count, H *arrays)
{
    for (int i = 0; i < count; i++)
        drop(arrays[i]);
}

/* The numbers first, first + 1, ... as an array of a length. */
KIT H counting(int count, double first)
{
    double values[MOST];

    for (int i = 0; i < count; i++)
        values[i] = first + i;
    return vec(count, values);
}

KIT H times(H array, int factor)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", factor);
    return op_scalar("_mul_scalar", array, text);
}

KIT H add_all(int count, H *in)
{
    const char *key = "num_args", *value;
    char text[16];

    snprintf(text, sizeof(text), "%d", count);
    value = text;
    return try_op("add_n", count, in, 1, &key, &value);
}

KIT int sum_to(int n)
{
    return n * (n + 1) / 2;
}

#endif
