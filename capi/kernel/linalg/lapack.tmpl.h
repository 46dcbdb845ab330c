/* Cholesky, triangular solve and LU without a back end, in blocks whose products are computed by
 * mxl_gemm. Included by lapack.c once per type: T, DTYPE, NAME(x). */

/* The sum of n products. */
static T NAME(inner)(int64_t n, const T *a, const T *b)
{
    T sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* to (rows x columns, no gaps) = -from, or -from' */
static void NAME(negated)(bool transpose, int64_t rows, int64_t columns, const T *from, int64_t ld,
                          T *to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            to[i * columns + j] = -(transpose ? from[j * ld + i] : from[i * ld + j]);
    }
}

/* Rows `first` to n of `width` columns from `first` on; the columns before have been subtracted. */
static int64_t NAME(cholesky_panel)(int64_t n, int64_t first, int64_t width, T *a)
{
    for (int64_t i = first; i < n; i++) {
        T *row = a + i * n;

        for (int64_t j = first; j < first + width && j <= i; j++) {
            const T *other = a + j * n;
            T rest = row[j] - NAME(inner)(j - first, row + first, other + first);

            if (i == j && rest <= 0)
                return i + 1;
            row[j] = i == j ? (T)sqrt((double)rest) : rest / other[j];
        }
    }
    return 0;
}

static int NAME(cholesky)(int64_t n, T *a, int64_t *bad, T *work)
{
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t width = n - first < BLOCK ? n - first : BLOCK, next = first + width;
        T *below = a + next * n + first, *rest = a + next * n + next;

        *bad = NAME(cholesky_panel)(n, first, width, a);
        if (*bad != 0 || next == n)
            break;
        NAME(negated)(false, n - next, width, below, n, work);
        if (mxl_gemm(DTYPE, false, true, n - next, n - next, width, work, width, below, n, rest, n,
                     true) != 0)
            return -1;
    }
    return 0;
}

/* Rows [first, first + width) of B, from which the rows solved before have been subtracted. */
static void NAME(solve_block)(bool forward, bool transpose, bool unit, int64_t first, int64_t width,
                              int64_t n, int64_t columns, const T *a, T *b)
{
    for (int64_t step = 0; step < width; step++) {
        int64_t i = forward ? first + step : first + width - 1 - step;
        T *row = b + i * columns;

        for (int64_t before = 0; before < step; before++) {
            int64_t k = forward ? first + before : first + width - 1 - before;
            T factor = transpose ? a[k * n + i] : a[i * n + k];
            const T *other = b + k * columns;

            for (int64_t c = 0; c < columns; c++)
                row[c] -= factor * other[c];
        }
        for (int64_t c = 0; c < columns && !unit; c++)
            row[c] /= a[i * n + i];
    }
}

/* B (n x columns) := op(A)^-1 B; `unit`: the diagonal of A counts as ones. */
static int NAME(solve)(bool lower, bool transpose, bool unit, int64_t n, int64_t columns,
                       const T *a, T *b, T *work)
{
    bool forward = lower != transpose;

    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t width = n - done < BLOCK ? n - done : BLOCK;
        int64_t first = forward ? done : n - done - width;
        int64_t solved = forward ? 0 : first + width; /* the first of the rows solved before */

        if (done > 0) {
            const T *part = transpose ? a + solved * n + first : a + first * n + solved;

            NAME(negated)(transpose, width, done, part, n, work);
            if (mxl_gemm(DTYPE, false, false, width, columns, done, work, done,
                         b + solved * columns, columns, b + first * columns, columns, true) != 0)
                return -1;
        }
        NAME(solve_block)(forward, transpose, unit, first, width, n, columns, a, b);
    }
    return 0;
}

/* Decomposes the columns [first, first + width) of the remaining matrix with partial pivoting.
 * Returns 0, or the number (from 1) of the first pivot that is zero. */
static int64_t NAME(lu_panel)(int64_t n, int64_t first, int64_t width, T *a, int *pivots)
{
    int64_t bad = 0;

    for (int64_t j = first; j < first + width; j++) {
        T *row = a + j * n;
        int64_t best = j;

        for (int64_t i = j + 1; i < n; i++) {
            if (fabs((double)a[i * n + j]) > fabs((double)a[best * n + j]))
                best = i;
        }
        pivots[j] = (int)best + 1;
        for (int64_t c = 0; c < n && best != j; c++) {
            T other = row[c];

            row[c] = a[best * n + c];
            a[best * n + c] = other;
        }
        if (row[j] == 0) {
            bad = bad == 0 ? j + 1 : bad;
            continue;
        }
        for (int64_t i = j + 1; i < n; i++) {
            T *under = a + i * n, factor = under[j] / row[j];

            under[j] = factor;
            for (int64_t c = j + 1; c < first + width; c++)
                under[c] -= factor * row[c];
        }
    }
    return bad;
}

/* A = P L U in place: L below the diagonal (its own diagonal is ones), U from the diagonal on. */
static int NAME(lu)(int64_t n, T *a, int *pivots, int64_t *bad, T *work)
{
    *bad = 0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t width = n - first < BLOCK ? n - first : BLOCK, next = first + width;
        int64_t found = NAME(lu_panel)(n, first, width, a, pivots);

        *bad = *bad == 0 ? found : *bad;
        for (int64_t i = first + 1; i < next; i++) {
            for (int64_t k = first; k < i; k++) {
                for (int64_t c = next; c < n; c++)
                    a[i * n + c] -= a[i * n + k] * a[k * n + c];
            }
        }
        if (next == n)
            break;
        NAME(negated)(false, n - next, width, a + next * n + first, n, work);
        if (mxl_gemm(DTYPE, false, false, n - next, n - next, width, work, width,
                     a + first * n + next, n, a + next * n + next, n, true) != 0)
            return -1;
    }
    return 0;
}

/* Applies the row exchanges of a decomposition to B (n x columns), or undoes them. */
static void NAME(exchange)(int64_t n, int64_t columns, const int *pivots, bool undo, T *b)
{
    for (int64_t step = 0; step < n; step++) {
        int64_t i = undo ? n - 1 - step : step, other = pivots[i] - 1;

        for (int64_t c = 0; c < columns && other != i; c++) {
            T value = b[i * columns + c];

            b[i * columns + c] = b[other * columns + c];
            b[other * columns + c] = value;
        }
    }
}

/* A := U^-1 L^-1 P from a decomposition; `copy` has room for another matrix. */
static int NAME(lu_invert)(int64_t n, T *a, const int *pivots, T *copy, T *work)
{
    memcpy(copy, a, (size_t)(n * n) * sizeof(T));
    memset(a, 0, (size_t)(n * n) * sizeof(T));
    for (int64_t i = 0; i < n; i++)
        a[i * n + i] = 1;
    NAME(exchange)(n, n, pivots, false, a);
    if (NAME(solve)(true, false, true, n, n, copy, a, work) != 0)
        return -1;
    return NAME(solve)(false, false, false, n, n, copy, a, work);
}

/* B (n x columns) := op(A)^-1 B from a decomposition of A. */
static int NAME(lu_solve)(bool transpose, int64_t n, int64_t columns, const T *a, const int *pivots,
                          T *b, T *work)
{
    if (!transpose)
        NAME(exchange)(n, columns, pivots, false, b);
    if (NAME(solve)(!transpose, transpose, !transpose, n, columns, a, b, work) != 0 ||
        NAME(solve)(transpose, transpose, transpose, n, columns, a, b, work) != 0)
        return -1;
    if (transpose)
        NAME(exchange)(n, columns, pivots, true, b);
    return 0;
}

#undef NAME
#undef T
#undef DTYPE
