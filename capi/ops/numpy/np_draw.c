/* The operator that draws numbers of a distribution; see draw.h. */
#include "ops/numpy/np_draw.h"

#include <math.h>

#include "base/memory/mem.h"

static int draw_infer(mxl_infer *infer)
{
    const mxl_draw_params *p = infer->params;

    return mxl_infer_set(infer, p->dtype, p->shape.n, p->shape.v);
}

static int draw_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->visible = arity->outputs = 1; /* and as many inputs as are given */
    return 0;
}

static int check_number(const mxl_draw_params *p, const char *name, mxl_bound limit, double value)
{
    if (limit == MXL_NOT_BELOW_0 && value < 0)
        return mxl_error("ValueError: %s: %s must not be below 0, got %g", p->name, name, value);
    if (limit == MXL_ABOVE_0 && value <= 0)
        return mxl_error("ValueError: %s: %s must be above 0, got %g", p->name, name, value);
    if (limit == MXL_WITHIN_0_1 && (value < 0 || value > 1))
        return mxl_error("ValueError: %s: %s must be from 0 to 1, got %g", p->name, name, value);
    return 0;
}

/* Position of element i of the result among the elements of an input that broadcasts to it. */
static int64_t position(const mxl_array *out, const mxl_array *in, int64_t i)
{
    int64_t at = 0, step = 1;

    for (int d = 0; d < in->ndim; d++) {
        int64_t extent = in->shape[in->ndim - 1 - d], size = out->shape[out->ndim - 1 - d];

        at += extent == 1 ? 0 : i % size * step;
        step *= extent;
        i /= size;
    }
    return at;
}

/* One parameter of each element of the result, or a single one if it is a number. */
typedef struct operand {
    double number;
    double *all; /* owned; NULL: all elements have the number */
    size_t bytes;
} operand;

/* Reads and checks a parameter; with `spread` there is one value for each element of `out`. */
static int operand_read(const mxl_draw_params *p, const char *name, mxl_bound limit,
                        const mxl_array *in, double number, const mxl_array *out, bool spread,
                        operand *to)
{
    double *values;

    *to = (operand){.number = number};
    if (in == NULL)
        return check_number(p, name, limit, number);
    values = mxl_np_doubles(in);
    if (values == NULL)
        return -1;
    for (int64_t i = 0; i < in->size; i++) {
        if (check_number(p, name, limit, values[i]) == 0)
            continue;
        mxl_free(values, (size_t)in->size * sizeof(double));
        return -1;
    }
    if (spread) {
        to->bytes = (size_t)out->size * sizeof(double);
        to->all = mxl_alloc(to->bytes);
        for (int64_t i = 0; to->all != NULL && i < out->size; i++)
            to->all[i] = values[position(out, in, i)];
    }
    mxl_free(values, (size_t)in->size * sizeof(double));
    return spread && to->all == NULL ? -1 : 0;
}

/* All elements get the parameter; its values are repeated where the other one's are not. */
static int operand_fill(operand *o, int64_t count)
{
    if (o->all != NULL)
        return 0;
    o->bytes = (size_t)count * sizeof(double);
    o->all = mxl_alloc(o->bytes);
    for (int64_t i = 0; o->all != NULL && i < count; i++)
        o->all[i] = o->number;
    return o->all == NULL ? -1 : 0;
}

static int draw_with(const mxl_draw_params *p, operand *a, operand *b, mxl_array *out)
{
    mxl_rng rng = mxl_random_stream();
    bool each = a->all != NULL || b->all != NULL;

    if (each && (operand_fill(a, out->size) != 0 || operand_fill(b, out->size) != 0))
        return -1;
    return mxl_draw_fill(rng, p->of->sampler, out->dtype, out->size, mxl_array_write(out), MXL_F64,
                         each ? a->all : &a->number, each ? b->all : &b->number,
                         each ? 1 : out->size);
}

static int draw_standard(const mxl_draw_params *p, mxl_array *out)
{
    static const double zero = 0, one = 1;
    void *to = mxl_array_write(out);

    if (p->of->sampler == mxl_draw_normal)
        return mxl_rng_normal(mxl_random_stream(), out->dtype, 0, 1, out->size, to);
    if (p->of->sampler == mxl_draw_exponential)
        return mxl_rng_exponential(mxl_random_stream(), out->dtype, 1, out->size, to);
    return mxl_draw_fill(mxl_random_stream(), p->of->sampler, out->dtype, out->size, to, MXL_F64,
                         &zero, &one, out->size);
}

static int draw_compute(const mxl_call *call)
{
    const mxl_draw_params *p = call->params;
    const mxl_distribution *of = p->of;
    mxl_array *out = call->out[0];
    bool first = isnan(p->first), second = isnan(p->second) && of->second != NULL;
    operand a, b = {0};
    int status;

    status = operand_read(p, of->first, of->first_bound, first ? call->in[0] : NULL, p->first, out,
                          !of->standard, &a);
    if (status == 0 && of->second != NULL)
        status = operand_read(p, of->second, of->second_bound, second ? call->in[first] : NULL,
                              p->second, out, !of->standard, &b);
    if (status == 0 && out->size > 0)
        status = of->standard ? draw_standard(p, out) : draw_with(p, &a, &b, out);
    mxl_free(a.all, a.bytes);
    mxl_free(b.all, b.bytes);
    return status;
}

const mxl_op mxl_op_np_draw = {
    .name = "_mxl_draw",
    .doc = "Random numbers of a distribution, whose parameters get zeros as gradients.",
    .inputs = (const mxl_input[]){MXL_INPUT(first, "A parameter."),
                                  MXL_INPUT(second, "Another one."),
                                  {0}},
    .arity = draw_arity,
    MXL_PARAMS_OF(mxl_draw_params,
                  MXL_PARAM(mxl_draw_params, shape, MXL_P_SHAPE, "()", "Shape of the result.")),
    .infer = draw_infer,
    .compute = draw_compute,
    .grad = mxl_grad_zero,
};
