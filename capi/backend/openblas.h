/* OpenBLAS: a table of the BLAS and LAPACK functions that kernels call. The library is found and
 * opened at first use, never linked. For kernel/gemm, kernel/linalg and api. */
#ifndef MXL_BACKEND_OPENBLAS_H
#define MXL_BACKEND_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Fortran's calling convention: all arguments by address, matrices column-major, 32-bit integers,
 * and the length of each text argument (always 1) after all others. Numbers are float or double. */
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
    void (*getrs)(const char *trans, const int *n, const int *columns, const void *a,
                  const int *lda, const int *pivots, void *b, const int *ldb, int *info, size_t);
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
    void (*dgesvd)(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
                   const int *lda, double *s, double *u, const int *ldu, double *vt,
                   const int *ldvt, double *work, const int *lwork, int *info, size_t, size_t);
    void (*dgeev)(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
                  double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
                  double *work, const int *lwork, int *info, size_t, size_t);
    void (*set_threads)(int count);
    char *(*config)(void);
} mxl_openblas;

/* Finds the table. *table is NULL if there is no OpenBLAS, if it is turned off, or if this process
 * was forked from one that had loaded it: OpenBLAS's threads do not exist here, and one of its
 * locks may be held for ever. -1 with the error set if MXLITE_OPENBLAS names a library that cannot
 * be used, or MXLITE_BACKENDS has an unknown value. */
int mxl_openblas_get(const mxl_openblas **table);

/* Finds the table and begins a call. OpenBLAS gets as many threads as parallel_for has if the call
 * is `large`, else one: its threads spin after their work and would take processors from ours. A
 * fork waits until mxl_openblas_end (legal with NULL), because OpenBLAS ends its threads before a
 * fork and a call in progress would wait for them for ever. Calls may not be nested. */
int mxl_openblas_begin(const mxl_openblas **table, bool large);
void mxl_openblas_end(const mxl_openblas *table);

/* Chooses the library: NULL turns OpenBLAS off, "" searches as at the start, any other text is a
 * file that is opened now. -1 with the error set; then nothing has changed. */
int mxl_openblas_set(const char *path);

/* Adds one file to the search, after the environment's and before the system's. -1: the path is too
 * long. */
int mxl_openblas_hint(const char *path);

/* Writes the path of the table's library into buf, "" if it is unknown. Returns buf. */
char *mxl_openblas_path(const mxl_openblas *table, char *buf, size_t size);

#endif
