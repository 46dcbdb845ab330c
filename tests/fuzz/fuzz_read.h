/* Reads all of an array, dense or sparse; a program includes it below its functions `die`, which
 * does not return, and `failed`, which looks at the error of a call that failed. */
#ifndef MXL_FUZZ_READ_H
#define MXL_FUZZ_READ_H

static void read_values(NDArrayHandle array);

/* The parts of a sparse array are dense ones. */
static void read_parts(NDArrayHandle array, int stype)
{
    NDArrayHandle part = NULL;

    for (int i = -1; i < stype; i++) {
        if ((i < 0 ? MXNDArrayGetDataNDArray(array, &part)
                   : MXNDArrayGetAuxNDArray(array, (uint32_t)i, &part)) != 0)
            die("a part that cannot be read");
        read_values(part);
        if (MXNDArrayFree(part) != 0)
            die("a handle that cannot be freed");
    }
    if (MXNDArraySyncCheckFormat(array, true) != 0)
        failed();
}

/* Every value is touched, as the sanitizer wants to see. */
static void read_values(NDArrayHandle array)
{
    int64_t shape[32], count = 1;
    int stype = 0, dtype = -1, ndim = MXLNDArrayGetInfo(array, 32, shape, &dtype);
    static const size_t sizes[] = {4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8, 2};
    static volatile unsigned sum;
    void *data = NULL;

    if (ndim < 0)
        return;
    if (MXNDArrayGetStorageType(array, &stype) == 0 && stype > 0) {
        read_parts(array, stype);
        return;
    }
    if (dtype < 0 || dtype > 12 || MXNDArrayGetData(array, &data) != 0)
        die("an array that cannot be read");
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    for (size_t i = 0; i < (size_t)count * sizes[dtype]; i++)
        sum += ((const unsigned char *)data)[i];
}

#endif
