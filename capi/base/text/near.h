/* The names nearest to one that there is not, for the end of an error: "; did you mean "relu"?".
 * mxlite/_public/near.py does the same for errors in Python. */
#ifndef MXL_BASE_NEAR_H
#define MXL_BASE_NEAR_H

enum {
    MXL_NEAR_MOST = 3,    /* names that are kept */
    MXL_NEAR_LONGEST = 64 /* longer names are near to nothing */
};

typedef struct mxl_near {
    const char *given;
    int count;
    int distance[MXL_NEAR_MOST];
    const char *name[MXL_NEAR_MOST]; /* the nearest first */
    char text[MXL_NEAR_MOST * (MXL_NEAR_LONGEST + 8) + 24];
} mxl_near;

/* Nothing is near yet. `given` is borrowed. */
void mxl_near_begin(mxl_near *near, const char *given);

/* Keeps a name (borrowed) if it is near enough: a third of the letters may be others, missing or
 * exchanged. A name that is what PyTorch or NumPy call `given` is the nearest. */
void mxl_near_offer(mxl_near *near, const char *name);

/* "; did you mean "relu"?", or "" where no name was near. It lies in `near`. */
const char *mxl_near_text(mxl_near *near);

/* The same of a list that ends with NULL. */
const char *mxl_near_of(mxl_near *near, const char *given, const char *const *names);

#endif
