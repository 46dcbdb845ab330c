/* OpenBLAS, where one is found at run time: a table of the functions of BLAS and LAPACK that
 * kernels ask for. Opened at first use, never linked. For kernel/gemm/gemm.c,
 * kernel/linalg/lapack.c and api.
 */
#ifndef MXL_BACKEND_OPENBLAS_H
#define MXL_BACKEND_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Fortran's calling convention: everything by address, matrices by columns, 32-bit integers, and
 * the length of each text (always 1) behind all else. Numbers are float or double. */
typedef struct mxl_openblas_routines {
    void (*gemm)(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
                 const void *alpha, const void *a, const int *lda, const void *b, const int *ldb,
                 const void *beta, void *c, const int *ldc, size_t, size_t);
    void (*potrf)(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);
    void (*trsm)(const char *side, const char *uplo, const char *trans, const char *diag,
                 const int *m, const int *n, const void *alpha, const void *a, const int *lda,
                 void *b, const int *ldb, size_t, size_t, size_t, size_t);
    void (*getrf)(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);
    void (*getri)(const int *n, void *a, const int *lda, const int *pivots, void *work,
                  const int *lwork, int *info);
    void (*geqrf)(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                  const int *lwork, int *info);
    void (*orgqr)(const int *m, const int *n, const int *k, void *a, const int *lda,
                  const void *tau, void *work, const int *lwork, int *info);
    void (*syevd)(const char *jobz, const char *uplo, const int *n, void *a, const int *lda,
                  void *w, void *work, const int *lwork, int *iwork, const int *liwork, int *info,
                  size_t, size_t);
} mxl_openblas_routines;

typedef struct mxl_openblas {
    mxl_openblas_routines f32, f64;
    void (*set_threads)(int count);
    char *(*config)(void);
} mxl_openblas;

/* The table; NULL in *table where there is no OpenBLAS, it is turned off, or this process was
 * forked from one that had loaded it (its threads are not here, and a lock of its may be held for
 * ever). -1 with the error set: one was asked for by name (MXLITE_OPENBLAS) and cannot be used, or
 * MXLITE_BACKENDS says what is not known. */
int mxl_openblas_get(const mxl_openblas **table);

/* The same for calling it: told to use as many threads as parallel_for does, or one where the call
 * is not `large` (its threads spin when they have done their part, and so take the processors from
 * ours). Until mxl_openblas_end (legal with NULL) a fork waits: OpenBLAS ends its threads before
 * one, and whoever is in the midst of a call would wait for them for ever. Not nested. */
int mxl_openblas_begin(const mxl_openblas **table, bool large);
void mxl_openblas_end(const mxl_openblas *table);

/* `path` NULL: not to be used; "": looked for as at the start; else the library of that name,
 * opened now. -1 with the error set, and nothing changed. */
int mxl_openblas_set(const char *path);

/* One more place to look, after the environment and before the system. -1: the path is too long. */
int mxl_openblas_hint(const char *path);

/* The file that the table came from; "" where it is not known. Written into buf; returns buf. */
char *mxl_openblas_path(const mxl_openblas *table, char *buf, size_t size);

#endif
