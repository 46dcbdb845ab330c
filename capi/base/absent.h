/* The optional parts that this build lacks (mk/parts.mk), as text for errors: " images, vision";
 * "" for a whole library. */
#ifndef MXL_BASE_ABSENT_H
#define MXL_BASE_ABSENT_H

#ifdef MXL_WITHOUT_IMAGES
#define MXL_NO_IMAGES " images"
#else
#define MXL_NO_IMAGES
#endif
#ifdef MXL_WITHOUT_LINALG
#define MXL_NO_LINALG " linalg"
#else
#define MXL_NO_LINALG
#endif
#ifdef MXL_WITHOUT_NUMPY
#define MXL_NO_NUMPY " numpy"
#else
#define MXL_NO_NUMPY
#endif
#ifdef MXL_WITHOUT_OPTIMIZERS
#define MXL_NO_OPTIMIZERS " optimizers"
#else
#define MXL_NO_OPTIMIZERS
#endif
#ifdef MXL_WITHOUT_SYMBOLS
#define MXL_NO_SYMBOLS " symbols"
#else
#define MXL_NO_SYMBOLS
#endif
#ifdef MXL_WITHOUT_VISION
#define MXL_NO_VISION " vision"
#else
#define MXL_NO_VISION
#endif

/* Of the parts that hold operators. */
#define MXL_ABSENT                                                                                 \
    "" MXL_NO_IMAGES MXL_NO_LINALG MXL_NO_NUMPY MXL_NO_OPTIMIZERS MXL_NO_SYMBOLS MXL_NO_VISION

#endif
