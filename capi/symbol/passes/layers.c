/* Layers from element-wise operators and reductions: layer normalisation and gelu; see passes.h.
 * Nodes within a pattern that others read too stay for these. */
#include <math.h>

#include "ops/elementwise/elementwise.h"
#include "ops/nn/normalise.h"
#include "ops/numpy/numpy.h"
#include "ops/reduce/reduce_ops.h"
#include "symbol/passes/readers.h"

static const mxl_graph_node *node_at(const mxl_readers *r, int n)
{
    return r->graph.walk.node[n];
}

static bool is_of(const mxl_readers *r, int n, const mxl_op *op)
{
    return n >= 0 && node_at(r, n)->op == op;
}

static double scalar_of(const mxl_readers *r, int n)
{
    return ((const mxl_scalar_params *)node_at(r, n)->params)->scalar;
}

/* The node that makes node n's input i; other nodes may read it too. */
static int maker(const mxl_readers *r, int n, int i)
{
    return r->maker[mxl_read_entry(r, n, i)];
}

/* ---- products ---- */

enum { FACTORS = 4, DEPTH = 5 };

/* A number times entries. `count` is greater than FACTORS if there are more. */
typedef struct product {
    double number;
    int count;
    int factor[FACTORS];
} product;

static void add_factor(product *p, int entry)
{
    if (p->count < FACTORS)
        p->factor[p->count] = entry;
    p->count++;
}

static bool multiply_node(const mxl_readers *r, int n, product *p, int depth);

/* Multiplies with node n's input i: with its factors if n alone reads it. */
static void multiply(const mxl_readers *r, int n, int i, product *p, int depth)
{
    int at = depth > 0 ? mxl_read_number(r, n, i) : -1;

    if (at < 0 || !multiply_node(r, at, p, depth - 1))
        add_factor(p, mxl_read_entry(r, n, i));
}

/* The same with node n; false: it is no product. */
static bool multiply_node(const mxl_readers *r, int n, product *p, int depth)
{
    const mxl_op *op = node_at(r, n)->op;

    if (op == mxl_op_mul_alike || op == &mxl_op_broadcast_mul) {
        multiply(r, n, 0, p, depth);
        multiply(r, n, 1, p, depth);
    } else if (op == &mxl_op_mul_scalar || op == &mxl_op_div_scalar) {
        double by = scalar_of(r, n);

        p->number = op == &mxl_op_mul_scalar ? p->number * by : p->number / by;
        multiply(r, n, 0, p, depth);
    } else if (op == &mxl_op_square ||
               (op == &mxl_op_power_scalar && (scalar_of(r, n) == 2 || scalar_of(r, n) == 3))) {
        int times = op == &mxl_op_square ? 2 : (int)scalar_of(r, n);

        while (times-- > 0)
            add_factor(p, mxl_read_entry(r, n, 0));
    } else {
        return false;
    }
    return true;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 2e-6 * b;
}

/* Whether node n's input i is `number` times the `times`-th power of entry x. */
static bool is_power(const mxl_readers *r, int n, int i, double number, int times, int x)
{
    product p = {.number = 1};

    multiply(r, n, i, &p, DEPTH);
    for (int k = 0; k < p.count && p.count == times; k++) {
        if (p.factor[k] != x)
            return false;
    }
    return p.count == times && is_near(p.number, number);
}

/* The node of 1 + something whose result is this entry; -1: none. */
static int one_more(const mxl_readers *r, int entry)
{
    int n = r->maker[entry];

    return is_of(r, n, &mxl_op_plus_scalar) && scalar_of(r, n) == 1 && r->readers[entry] == 1 ? n
                                                                                              : -1;
}

/* ---- gelu ---- */

static const double ROOT_HALF = 0.70710678118654752440, ROOT = 0.79788456080286535588;
static const double CUBIC = 0.044715;

/* tanh's argument: ROOT (x + CUBIC x^3), or ROOT x (1 + CUBIC x^2). */
static bool is_cubic(const mxl_readers *r, int tanh, int x)
{
    product p = {.number = 1};
    int sum;

    multiply(r, tanh, 0, &p, DEPTH);
    if (!is_near(p.number, ROOT) || p.count < 1 || p.count > 2)
        return false;
    if (p.count == 2) {
        sum = one_more(r, p.factor[p.factor[0] == x]);
        return (p.factor[0] == x || p.factor[1] == x) && sum >= 0 &&
               is_power(r, sum, 0, CUBIC, 2, x);
    }
    sum = r->maker[p.factor[0]];
    for (int i = 0;
         i < 2 && (is_of(r, sum, mxl_op_add_alike) || is_of(r, sum, &mxl_op_broadcast_add)); i++) {
        if (mxl_read_entry(r, sum, i) == x && is_power(r, sum, 1 - i, CUBIC, 3, x))
            return true;
    }
    return false;
}

/* The operator that node n, x (1 + erf or tanh) / 2, is of entry *x; NULL: none. */
static const mxl_op *find_gelu(const mxl_readers *r, int n, int *x)
{
    product p = {.number = 1};

    if (!multiply_node(r, n, &p, DEPTH) || p.count != 2 || !is_near(p.number, 0.5))
        return NULL;
    for (int i = 0; i < 2; i++) {
        int sum = one_more(r, p.factor[i]), inside = sum >= 0 ? mxl_read_number(r, sum, 0) : -1;

        *x = p.factor[1 - i];
        if (is_of(r, inside, &mxl_op_erf) && is_power(r, inside, 0, ROOT_HALF, 1, *x))
            return &mxl_op_gelu;
        if (is_of(r, inside, &mxl_op_tanh) && is_cubic(r, inside, *x))
            return &mxl_op_gelu_tanh;
    }
    return NULL;
}

/* ---- layer normalisation ---- */

/* What node n, gamma (x - mean) / sqrt(variance + eps) + beta, consists of. */
typedef struct norm {
    int x;
    mxl_entry gamma, beta;
    double eps;
    int64_t axis;
} norm;

/* Whether node n is a mean along one axis that stays. */
static bool is_mean(const mxl_readers *r, int n, int64_t *axis)
{
    const mxl_graph_node *node = node_at(r, n);
    const mxl_reduce_params *p = node->params;

#ifndef MXL_WITHOUT_NUMPY
    if (node->op == &mxl_op_np_mean.op)
        return mxl_np_keeps_axis(p, axis);
#endif
    if (node->op != &mxl_op_mean || p->axis.n != 1 || !p->keepdims || p->exclude)
        return false;
    *axis = p->axis.v[0];
    return true;
}

/* Whether node n is sqrt(mean(d^2) + eps). */
static bool find_spread(const mxl_readers *r, int n, int d, norm *f)
{
    int sum = is_of(r, n, &mxl_op_sqrt) ? mxl_read_number(r, n, 0) : -1, mean;
    int64_t axis;

    if (!is_of(r, sum, &mxl_op_plus_scalar))
        return false;
    f->eps = scalar_of(r, sum);
    mean = mxl_read_number(r, sum, 0);
    return mean >= 0 && is_mean(r, mean, &axis) && axis == f->axis && is_power(r, mean, 0, 1, 2, d);
}

/* Whether node n is (x - mean) / sqrt(variance + eps). */
static bool find_normalised(const mxl_readers *r, int n, norm *f)
{
    int d, mean;

    if (!is_of(r, n, &mxl_op_broadcast_div))
        return false;
    d = maker(r, n, 0);
    if (!is_of(r, d, &mxl_op_broadcast_sub))
        return false;
    f->x = mxl_read_entry(r, d, 0);
    mean = mxl_read_number(r, d, 1);
    return mean >= 0 && is_mean(r, mean, &f->axis) && mxl_read_entry(r, mean, 0) == f->x &&
           find_spread(r, mxl_read_number(r, n, 1), mxl_read_entry(r, n, 0), f);
}

static bool find_norm(const mxl_readers *r, int n, norm *f)
{
    for (int i = 0; i < 2 && node_at(r, n)->op == &mxl_op_broadcast_add; i++) {
        int scaled = mxl_read_number(r, n, i);

        f->beta = node_at(r, n)->inputs[1 - i];
        for (int k = 0; k < 2 && is_of(r, scaled, &mxl_op_broadcast_mul); k++) {
            int inside = mxl_read_number(r, scaled, k);

            f->gamma = node_at(r, scaled)->inputs[1 - k];
            if (inside >= 0 && find_normalised(r, inside, f))
                return true;
        }
    }
    return false;
}

/* ---- the pass ---- */

/* The entry of this number. */
static mxl_entry entry_of(const mxl_readers *r, int entry)
{
    int n = r->maker[entry];

    return (mxl_entry){r->graph.walk.node[n], entry - r->graph.first[n], 0};
}

static int become(mxl_graph_node *node, const mxl_op *op, const mxl_entry *inputs, int count)
{
    node->op = op;
    node->is_numpys = false;
    return mxl_pass_set_inputs(node, inputs, count) == 0 ? 1 : -1;
}

static int join(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n];
    norm f;
    int x;
    const mxl_op *op = find_gelu(r, n, &x);

    if (op != NULL) {
        mxl_entry input = entry_of(r, x);

        mxl_attrs_clear(&node->attrs);
        return become(node, op, &input, 1);
    }
    if (find_norm(r, n, &f)) {
        const mxl_entry inputs[] = {entry_of(r, f.x), f.gamma, f.beta};

        mxl_attrs_clear(&node->attrs);
        return mxl_pass_set_number(node, "axis", (double)f.axis) == 0 &&
                       mxl_pass_set_number(node, "eps", f.eps) == 0
                   ? become(node, &mxl_op_last_norm, inputs, 3)
                   : -1;
    }
    return 0;
}

int mxl_pass_layers(mxl_symbol *symbol)
{
    return mxl_pass_nodes(symbol, MXL_PASS_LAYERS, join);
}
