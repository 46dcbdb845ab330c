/* What the tables of parameters of the image iterators share; see image_plan.h and detect.h. */
#ifndef MXL_DATA_IMAGE_PARAMS_H
#define MXL_DATA_IMAGE_PARAMS_H

#include "data/batches.h"

/* X(kind, name, default, documentation) for each parameter: parts of tables. */
#define MXL_IMAGE_READING(X)                                                                       \
    X(SHAPE, data_shape, NULL, "Channels (1 or 3), rows and columns of a sample.")                 \
    X(INT, preprocess_threads, "4", "Ignored: as many threads decode as operators use.")           \
    X(BOOL, verbose, "1", "Ignored: nothing is printed.")                                          \
    X(INT, num_parts, "1", "How many parts the file is divided into.")                             \
    X(INT, part_index, "0", "Which part to take.")

#define MXL_IMAGE_CHUNKS(X)                                                                        \
    X(LONG, shuffle_chunk_size, "0", "Of a file with more megabytes the order is random.")         \
    X(INT, shuffle_chunk_seed, "0", "Seed of that order.")

#define MXL_IMAGE_METHOD(X)                                                                        \
    X(INT, inter_method, "1",                                                                      \
      "0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 by the sizes, 10 random.")

#define MXL_IMAGE_MEANS(X)                                                                         \
    X(FLOAT, mean_r, "0", "What is subtracted from red or gray values.")                           \
    X(FLOAT, mean_g, "0", "The same of green.")                                                    \
    X(FLOAT, mean_b, "0", "The same of blue.")                                                     \
    X(FLOAT, mean_a, "0", "Ignored: there are no values of transparency.")

/* An X that declares the field. */
#define MXL_IMAGE_FIELD(kind, name, def, doc) MXL_IMAGE_##kind name;
#define MXL_IMAGE_STRING                      const char *
#define MXL_IMAGE_SHAPE                       mxl_tuple
#define MXL_IMAGE_INT                         int64_t
#define MXL_IMAGE_OPT_INT                     int64_t
#define MXL_IMAGE_LONG                        int64_t
#define MXL_IMAGE_FLOAT                       double
#define MXL_IMAGE_OPT_FLOAT                   double
#define MXL_IMAGE_FLOATS                      mxl_floats
#define MXL_IMAGE_BOOL                        int
#define MXL_IMAGE_EMIT                        int
#define MXL_IMAGE_MODE                        int

#endif
