/* Moore and Penrose's inverses of any matrices: _npi_pinv. */
#include "base/memory/mem.h"
#include "kernel/linalg/blas_call.h"
#include "kernel/linalg/spectral.h"
#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"

typedef struct pinv_params {
    double rcond;
    int hermitian;
} pinv_params;

/* A cutoff that is an input broadcasts to the stack of matrices. */
static int pinv_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *rcond = infer->num_inputs > 1 ? infer->in[1] : NULL;
    mxl_shape both;

    if (mxl_infer_said(infer) != 0)
        return -1;
    if (rcond == NULL ||
        (mxl_shape_broadcast(&both, a->ndim - 2, a->shape, rcond->ndim, rcond->shape) == 0 &&
         mxl_shape_same(both.ndim, both.dim, a->ndim - 2, a->shape)))
        return 0;
    return mxl_error("%s: rcond of shape %s does not broadcast to the stack of matrices, whose "
                     "shape is %s",
                     infer->op->name, MXL_SHAPE_OF(rcond), MXL_SHAPE_TEXT(a->ndim - 2, a->shape));
}

/* The matrices of a call, m x n with m <= n: transposed if they are tall. */
typedef struct pinv_job {
    int64_t m, n;
    bool tall;
    double *v, *u, *l, *out; /* room for one matrix */
} pinv_job;

/* out = V' diag(1 / l) U', or its transpose, of the values above the cutoff. */
static void pinv_product(const pinv_job *job, double cutoff)
{
    int64_t m = job->m, n = job->n;

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) {
            double sum = 0;

            for (int64_t k = 0; k < m; k++)
                if (!(job->l[k] <= cutoff))
                    sum += job->v[k * n + i] / job->l[k] * job->u[j * m + k];
            job->out[job->tall ? j * n + i : i * m + j] = sum;
        }
    }
}

static int pinv_matrix(const pinv_job *job, int dtype, const void *a, double rcond, void *out)
{
    int64_t m = job->m, n = job->n;

    mxl_linalg_to_double(dtype, m * n, a, job->out);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            job->v[i * n + j] = job->out[job->tall ? j * m + i : i * n + j];
    if (mxl_svd(MXL_F64, m, n, job->v, job->u, job->l) != 0)
        return -1;
    pinv_product(job, rcond * job->l[0]);
    mxl_linalg_from_double(dtype, m * n, job->out, out);
    return 0;
}

static int pinv_all(const mxl_call *call, const pinv_job *job, const double *rcond)
{
    const mxl_array *a = call->in[0];
    int64_t count = mxl_linalg_count(a);
    size_t bytes = (size_t)(job->m * job->n) * mxl_dtype_size(a->dtype);
    const char *from = mxl_array_read(a);
    char *to = mxl_array_write(call->out[0]);
    int status = 0;

    for (int64_t i = 0; i < count && status == 0; i++)
        status = pinv_matrix(job, a->dtype, from + (size_t)i * bytes,
                             rcond != NULL
                                 ? rcond[mxl_np_position(a->ndim - 2, a->shape, call->in[1], i)]
                                 : ((const pinv_params *)call->params)->rcond,
                             to + (size_t)i * bytes);
    return status;
}

static int pinv_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0], *rcond = call->num_inputs > 1 ? call->in[1] : NULL;
    int64_t rows = a->shape[a->ndim - 2], columns = a->shape[a->ndim - 1];
    pinv_job job = {.m = rows, .n = columns, .tall = rows > columns};
    double *work, *values = NULL;
    int status = -1;
    size_t bytes;

    if (a->size == 0)
        return 0;
    if (job.tall) {
        job.m = columns;
        job.n = rows;
    }
    bytes = (size_t)(2 * job.m * job.n + job.m * job.m + job.m) * sizeof(double);
    work = mxl_alloc(bytes);
    if (work == NULL)
        return -1;
    job.v = work;
    job.out = job.v + job.m * job.n;
    job.u = job.out + job.m * job.n;
    job.l = job.u + job.m * job.m;
    if (rcond != NULL)
        values = mxl_np_doubles(rcond);
    if (rcond == NULL || values != NULL)
        status = pinv_all(call, &job, values);
    if (values != NULL)
        mxl_free(values, (size_t)rcond->size * sizeof(double));
    mxl_free(work, bytes);
    return status;
}

/* P = A^+: dA = -P' dP P' + (1 - A P) dP' P P' + P' P dP' (1 - P A). The rank is taken as fixed,
 * and what was cut off as zeros. */
static int pinv_scalar_grad(mxl_grad *g)
{
    mxl_scope *s = g->s;
    mxl_array *a = mxl_grad_in(g, 0), *p = mxl_grad_out(g, 0), *dp = g->grad_output[0];
    mxl_array *first, *second, *third;

    first = mxl_matmul(s, mxl_matmul(s, p, dp, true, false, -1), p, false, true, 1);
    second = mxl_matmul(s, dp, mxl_matmul(s, p, p, false, true, 1), true, false, 1);
    second = mxl_sub(s, second,
                     mxl_matmul(s, a, mxl_matmul(s, p, second, false, false, 1), false, false, 1));
    third = mxl_matmul(s, mxl_matmul(s, p, p, true, false, 1), dp, false, true, 1);
    third = mxl_sub(s, third,
                    mxl_matmul(s, mxl_matmul(s, third, p, false, false, 1), a, false, false, 1));
    return mxl_grad_set(g, 0, mxl_add(s, first, mxl_add(s, second, third)));
}

static int pinv_grad(mxl_grad *g)
{
    if (pinv_scalar_grad(g) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_set(g, 1, mxl_zeros_like(g->s, mxl_grad_in(g, 1))) : 0;
}

static void pinv_saves(mxl_saves *saves)
{
    saves->in[0] = saves->out[0] = true;
    if (saves->num_inputs > 1)
        saves->in[1] = saves->wants[1];
}

#define HERMITIAN                                                                                  \
    MXL_PARAM(pinv_params, hermitian, MXL_P_BOOL, "0", "Of no effect: results are the same.")
#define PINV(id, op_name, text, its_inputs, its_shapes, ...)                                       \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY(op_name),                                                                \
        .doc = text,                                                                               \
        its_inputs,                                                                                \
        MXL_PARAMS_OF(pinv_params, __VA_ARGS__),                                                   \
        .infer = pinv_infer,                                                                       \
        MXL_SHAPES_TABLE(its_shapes),                                                              \
        .dtypes = "W*>W",                                                                          \
        .compute = pinv_compute,                                                                   \
        .grad = id##_grad,                                                                         \
        .saves = pinv_saves,                                                                       \
    }
#define MATRICES MXL_INPUT(A, "Matrices along the last two axes, float32 or float64.")

PINV(pinv, "_npi_pinv",
     "Moore and Penrose's inverses of matrices. Singular values that are not above rcond times "
     "the largest one count as zeros.",
     MXL_INPUTS(MATRICES, MXL_INPUT(rcond, "A number for each matrix, of A's dtype.")),
     "A[*X,M,N] rcond[*R] -> [*X,N,M]", HERMITIAN);
PINV(pinv_scalar, "_npi_pinv_scalar_rcond",
     "Moore and Penrose's inverses of matrices. Singular values that are not above rcond times "
     "the largest one count as zeros.",
     MXL_INPUTS(MATRICES), "A[*X,M,N] -> [*X,N,M]",
     MXL_PARAM(pinv_params, rcond, MXL_P_FLOAT, "1.0000000000000001e-15",
               "The smallest singular value that counts, relative to the largest.",
               .type_name = "double"),
     HERMITIAN);

const mxl_op *const mxl_ops_np_pinv[] = {&op_pinv, &op_pinv_scalar, NULL};
