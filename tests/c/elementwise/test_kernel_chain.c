/* Passes whose loops run as instructions (kernel/elementwise/segments.h) have the bits of the same
 * passes loop by loop: random passes over numbers in memory, one number, rows and columns, with
 * special values, results that are stored or not, and any number of elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "harness.h"
#include "kernel/elementwise/chain.h"
#include "kernel/elementwise/segments.h"

MXL_ARITH_OPCODE(negative, MXL_UNARY_LOOP, MXL_CODE_NEGATIVE, -x);
MXL_ARITH_OPCODE(square, MXL_UNARY_LOOP, MXL_CODE_SQUARE, x * x);
MXL_ARITH_OPCODE(relu, MXL_UNARY_LOOP, MXL_CODE_RELU, x <= 0 ? 0 : x);
MXL_ARITH_OPCODE(relu_cut, MXL_UNARY_LOOP, MXL_CODE_RELU_CUT, x < 0 ? 0 : x);
MXL_ARITH_OPCODE(copy, MXL_UNARY_LOOP, MXL_CODE_COPY, x);
MXL_ARITH_OPCODE(add, MXL_BINARY_LOOP, MXL_CODE_ADD, x + y);
MXL_ARITH_OPCODE(sub, MXL_BINARY_LOOP, MXL_CODE_SUB, x - y);
MXL_ARITH_OPCODE(mul, MXL_BINARY_LOOP, MXL_CODE_MUL, x * y);
MXL_ARITH_OPCODE(div, MXL_BINARY_LOOP, MXL_CODE_DIV, mxl_quotient(x, y));
MXL_FLOAT_OPCODE(pass, MXL_BINARY_LOOP, MXL_CODE_PASS, x <= 0 ? 0 : y);
MXL_FLOAT_OPCODE(gate, MXL_BINARY_LOOP, MXL_CODE_GATE, y *(x > 0 ? 1 : x != x ? x : 0));
MXL_ARITH_OPCODE(maximum, MXL_BINARY_LOOP, MXL_CODE_MAX, x > y || x != x ? x : y);
MXL_ARITH_OPCODE(minimum, MXL_BINARY_LOOP, MXL_CODE_MIN, x < y || x != x ? x : y);
MXL_ARITH_OPCODE(equal, MXL_BINARY_LOOP, MXL_CODE_EQUAL, x == y ? 1 : 0);
MXL_ARITH_OPCODE(not_equal, MXL_BINARY_LOOP, MXL_CODE_NOT_EQUAL, x != y ? 1 : 0);
MXL_ARITH_OPCODE(greater, MXL_BINARY_LOOP, MXL_CODE_GREATER, x > y ? 1 : 0);
MXL_ARITH_OPCODE(greater_equal, MXL_BINARY_LOOP, MXL_CODE_GREATER_EQUAL, x >= y ? 1 : 0);
MXL_ARITH_OPCODE(lesser, MXL_BINARY_LOOP, MXL_CODE_LESSER, x < y ? 1 : 0);
MXL_ARITH_OPCODE(lesser_equal, MXL_BINARY_LOOP, MXL_CODE_LESSER_EQUAL, x <= y ? 1 : 0);
MXL_ARITH_OPCODE(maximum_scalar, MXL_SCALAR_LOOP, MXL_CODE_MAX, x > s || x != x ? x : s);
MXL_ARITH_OPCODE(lesser_scalar, MXL_SCALAR_LOOP, MXL_CODE_LESSER, x < s ? 1 : 0);
MXL_ARITH_OPCODE(plus_scalar, MXL_SCALAR_LOOP, MXL_CODE_ADD, x + s);
MXL_ARITH_OPCODE(minus_scalar, MXL_SCALAR_LOOP, MXL_CODE_SUB, x - s);
MXL_ARITH_OPCODE(rminus_scalar, MXL_SCALAR_LOOP, MXL_CODE_RSUB, s - x);
MXL_ARITH_OPCODE(mul_scalar, MXL_SCALAR_LOOP, MXL_CODE_MUL, x * s);
MXL_ARITH_OPCODE(div_scalar, MXL_SCALAR_LOOP, MXL_CODE_DIV, mxl_quotient(x, s));
MXL_ARITH_OPCODE(rdiv_scalar, MXL_SCALAR_LOOP, MXL_CODE_RDIV, mxl_quotient(s, x));
MXL_MATH_KERNELS(exp, MXL_UNARY_LOOP, mxl_loop_exp(x)); /* no instruction */

static const struct {
    const mxl_kernels *kernels;
    int num_in;
} loops[] = {
    {&negative_kernels, 1},      {&square_kernels, 1},        {&relu_kernels, 1},
    {&relu_cut_kernels, 1},      {&copy_kernels, 1},          {&add_kernels, 2},
    {&sub_kernels, 2},           {&mul_kernels, 2},           {&div_kernels, 2},
    {&pass_kernels, 2},          {&gate_kernels, 2},          {&plus_scalar_kernels, 1},
    {&minus_scalar_kernels, 1},  {&rminus_scalar_kernels, 1}, {&mul_scalar_kernels, 1},
    {&div_scalar_kernels, 1},    {&rdiv_scalar_kernels, 1},   {&exp_kernels, 1},
    {&maximum_kernels, 2},       {&minimum_kernels, 2},       {&equal_kernels, 2},
    {&not_equal_kernels, 2},     {&greater_kernels, 2},       {&greater_equal_kernels, 2},
    {&lesser_kernels, 2},        {&lesser_equal_kernels, 2},  {&maximum_scalar_kernels, 1},
    {&lesser_scalar_kernels, 1},
};

enum { LINKS = 12, GIVEN = 4, LOOPS = sizeof(loops) / sizeof(*loops) };

/* A pass: its operands are given arrays, and results of its links. */
typedef struct pass {
    int dtype, count;
    int64_t n;
    size_t size;
    uint64_t seed;
    char *given[GIVEN];  /* n elements each, behind one more */
    mxl_strided lies[3]; /* a row, a column, one number */
    mxl_scalar_params scalar[LINKS];
    mxl_link links[LINKS];
    bool alive[LINKS]; /* the result may still be read */
} pass;

static int pick(pass *p, int below)
{
    return (int)(harness_random(&p->seed) % (uint64_t)below);
}

static double any_number(pass *p)
{
    static const double special[] = {0, -0.0, 1, -1, 1e-310, 1e-42, 3e38, -1e300};
    int kind = pick(p, 60);

    if (kind == 0)
        return (double)NAN;
    if (kind == 1)
        return pick(p, 2) ? (double)INFINITY : -(double)INFINITY;
    if (kind < 8)
        return special[pick(p, 8)];
    return (double)pick(p, 2000001) / 500000 - 2;
}

static char *numbers_new(pass *p)
{
    char *data = malloc((size_t)(p->n + 1) * p->size);

    for (int64_t i = 0; i <= p->n; i++) {
        if (p->dtype == MXL_F32)
            ((float *)(void *)data)[i] = (float)any_number(p);
        else
            ((double *)(void *)data)[i] = any_number(p);
    }
    return data;
}

/* An operand of link i: a result, or what is given, whole (from any element on), one number of it,
 * or (if `may_stride`) a row or a column of it. */
static mxl_stream operand_of(pass *p, int i, bool may_stride)
{
    int kind = pick(p, 10), from = i == 0 ? 0 : pick(p, i);
    mxl_stream s = {.data = p->given[pick(p, GIVEN)], .size = p->size, .step = 1};

    if (i > 0 && kind < 6) {
        if (pick(p, 2))
            from = i - 1;
        if (p->alive[from])
            return p->links[from].out;
    }
    if (kind == 6)
        s.step = 0;
    else if (kind >= 7 && may_stride)
        s.strided = &p->lies[kind - 7];
    else
        s.data += p->size * (size_t)pick(p, 2);
    return s;
}

static void add_link(pass *p, int i)
{
    int k = pick(p, LOOPS);
    mxl_link *link = &p->links[i];

    *link = (mxl_link){.row = loops[k].kernels->row[p->dtype],
                       .opcode = mxl_kernels_opcode(loops[k].kernels, p->dtype),
                       .params = &p->scalar[i],
                       .num_in = loops[k].num_in};
    p->scalar[i].scalar = any_number(p);
    link->in[0] = operand_of(p, i, true);
    if (link->num_in == 2)
        link->in[1] = operand_of(p, i, link->in[0].strided == NULL);
    if (link->in[0].step == 0 && (link->num_in == 1 || link->in[1].step == 0)) {
        link->in[0].step = 1; /* a loop needs an operand that advances */
        link->in[0].data = p->given[0];
    }
    link->out = (mxl_stream){.data = malloc((size_t)p->n * p->size),
                             .size = p->size,
                             .step = 1,
                             .scratch = pick(p, 3) > 0};
    p->alive[i] = true;
}

/* Lets the result of link i take the place of an operand that is read for the last time. */
static void reuse_operand(pass *p, int i)
{
    mxl_link *link = &p->links[i];

    for (int from = 0; from < i; from++) {
        mxl_stream *s = &p->links[from].out;

        if (link->in[0].data == s->data && s->scratch && p->alive[from] && link->out.scratch &&
            link->in[link->num_in - 1].strided == NULL && pick(p, 2)) {
            free(link->out.data);
            link->out = *s;
            for (int other = 0; other < i; other++)
                p->alive[other] = p->alive[other] && p->links[other].out.data != s->data;
            return;
        }
    }
}

static void pass_make(pass *p, int dtype, uint64_t seed, int64_t rows, int64_t columns)
{
    *p = (pass){.dtype = dtype, .n = rows * columns, .size = mxl_dtype_size(dtype), .seed = seed};
    p->count = 1 + pick(p, LINKS);
    p->lies[0] = (mxl_strided){2, {rows, columns}, {0, 1}};
    p->lies[1] = (mxl_strided){2, {rows, columns}, {1, 0}};
    p->lies[2] = (mxl_strided){1, {p->n}, {0}};
    for (int i = 0; i < GIVEN; i++)
        p->given[i] = numbers_new(p);
    for (int i = 0; i < p->count; i++) {
        add_link(p, i);
        if (i == p->count - 1)
            p->links[i].out.scratch = false;
        reuse_operand(p, i);
    }
}

static void pass_free(pass *p)
{
    for (int i = 0; i < p->count; i++) {
        bool shared = false;

        for (int j = 0; j < i; j++)
            shared = shared || p->links[j].out.data == p->links[i].out.data;
        if (!shared)
            free(p->links[i].out.data);
    }
    for (int i = 0; i < GIVEN; i++)
        free(p->given[i]);
}

static bool same_number(const pass *p, const char *a, const char *b)
{
    if (memcmp(a, b, p->size) == 0)
        return true;
    if (p->dtype == MXL_F32)
        return isnan(*(const float *)(const void *)a) && isnan(*(const float *)(const void *)b);
    return isnan(*(const double *)(const void *)a) && isnan(*(const double *)(const void *)b);
}

/* Runs a pass loop by loop and then with instructions; all that it stores must be equal. */
static bool check_pass(int dtype, uint64_t seed, int64_t rows, int64_t columns)
{
    pass p;
    char *stored[LINKS] = {NULL};
    mxl_opcode opcodes[LINKS];
    bool same = true;

    pass_make(&p, dtype, seed, rows, columns);
    for (int i = 0; i < p.count; i++) {
        opcodes[i] = p.links[i].opcode;
        p.links[i].opcode = MXL_CODE_NONE;
    }
    mxl_chain_run(p.links, p.count, p.count, p.n);
    for (int i = 0; i < p.count; i++) {
        const mxl_stream *out = &p.links[i].out;

        p.links[i].opcode = opcodes[i];
        if (out->scratch)
            continue;
        stored[i] = malloc((size_t)p.n * p.size);
        memcpy(stored[i], out->data, (size_t)p.n * p.size);
        memset(out->data, 0xee, (size_t)p.n * p.size);
    }
    mxl_chain_run(p.links, p.count, p.count, p.n);
    for (int i = 0; i < p.count; i++) {
        for (int64_t j = 0; j < p.n && stored[i] != NULL && same; j++)
            same = same_number(&p, stored[i] + (size_t)j * p.size,
                               p.links[i].out.data + (size_t)j * p.size);
        free(stored[i]);
    }
    pass_free(&p);
    return CHECK(same) || CHECK_INT(seed, -1); /* shows the seed */
}

TEST(random_passes)
{
    bool held = true;

    for (uint64_t seed = 1; seed <= 3000 && held; seed++)
        held = check_pass(seed % 2 ? MXL_F32 : MXL_F64, seed, 1 + (int64_t)(seed * 31 % 7),
                          24 + (int64_t)(seed * 37 % 400));
}

/* Beyond a tile, and a part for a thread. */
TEST(large_passes)
{
    static const int64_t shapes[][2] = {
        {1, 100001}, {97, 1024}, {40, 2500}, {3, 65536}, {1000, 24}};
    bool held = true;

    for (uint64_t seed = 1; seed <= 60 && held; seed++)
        held = check_pass(seed % 2 ? MXL_F32 : MXL_F64, seed + 7000, shapes[seed % 5][0],
                          shapes[seed % 5][1]);
}

/* relu(a * b + c) * d - a is one segment, which stores its result alone. */
TEST(a_chain_is_one_segment)
{
    static const mxl_kernels *const made[] = {&mul_kernels, &add_kernels, &relu_cut_kernels,
                                              &mul_kernels, &sub_kernels};
    float given[4][100], out[100], made_at[100];
    mxl_link links[5];
    mxl_segments s;
    bool whole[5] = {true, true, true, true, true};

    for (int i = 0; i < 5; i++) {
        int operand = i < 2 ? i + 1 : i == 3 ? 3 : 0;

        links[i] = (mxl_link){.row = made[i]->row[MXL_F32], .opcode = made[i]->opcode};
        links[i].num_in = i == 2 ? 1 : 2;
        links[i].in[0] = (mxl_stream){
            .data = (char *)(i == 0 ? given[0] : made_at), .size = 4, .step = 1, .scratch = i > 0};
        links[i].in[1] =
            (mxl_stream){.data = (char *)given[operand], .size = 4, .step = 1, .scratch = false};
        links[i].out = (mxl_stream){
            .data = (char *)(i == 4 ? out : made_at), .size = 4, .step = 1, .scratch = i < 4};
    }
    mxl_segments_find(&s, links, 5, whole);
    CHECK_INT(s.links[0], 5);
    CHECK(s.in_registers);
    CHECK_INT(s.end[0] - s.first[0], 7); /* a load, five operations, a store */
    links[1].out.scratch = links[2].in[0].scratch = false;
    mxl_segments_find(&s, links, 5, whole);
    CHECK_INT(s.end[0] - s.first[0], 8);
    whole[2] = false;
    mxl_segments_find(&s, links, 5, whole);
    CHECK_INT(s.links[0], 2);
    CHECK_INT(s.links[2], 0);
    CHECK_INT(s.links[3], 2);
    CHECK(!s.in_registers);
}

HARNESS_MAIN(ENTRY(random_passes), ENTRY(large_passes), ENTRY(a_chain_is_one_segment))
