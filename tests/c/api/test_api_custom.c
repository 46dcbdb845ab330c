/* MXCustomOpRegister and the operator Custom: what callbacks are given, who frees it, what fails,
 * and when descriptions and instances are deleted. */
#include "harness.h"

#include "custom_op_kit.h"

/* Its arrays. */
typedef struct arrays {
    H data, weight, count, out[2];
} arrays;

static arrays begin(void)
{
    arrays a = {VEC(1, 2, 3), VEC(4, 5, 6), VEC(0), {NULL, NULL}};

    begin_scaled();
    return a;
}

static void end(arrays *a)
{
    drop(a->data);
    drop(a->weight);
    drop(a->count);
    for (int i = 0; i < 2; i++) {
        if (a->out[i] != NULL)
            drop(a->out[i]);
    }
    CHECK_INT(saw.props_deleted, saw.made);
}

static int run(arrays *a)
{
    return run_scaled(a->data, a->weight, a->count, "2", a->out);
}

static int run_recorded(arrays *a)
{
    bool before = record(true);
    int status = run(a);

    record(before);
    return status;
}

TEST(values)
{
    arrays a = begin();

    REQUIRE(CHECK_INT(run(&a), 0));
    CHECK_NEAR(at(a.out[0], 2), 36, 0);
    CHECK_NEAR(at(a.out[1], 2), 9, 0);
    CHECK_NEAR(at(a.count, 0), 1, 0);
    CHECK_NEAR(saw.k, 2, 0);
    CHECK_STR(saw.device, "cpu(0)");
    CHECK_INT(saw.forwards, 1);
    CHECK_INT(saw.training, 0);
    CHECK_INT(saw.recording, 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(saw.tags[i], i < 2 ? IN : i < 4 ? OUT : AUX);
    CHECK_INT(saw.reqs[0], REQ_WRITE);
    CHECK_INT(saw.reqs[1], REQ_WRITE);
    CHECK_INT(saw.ops_deleted, 1); /* nothing was recorded */
    CHECK_INT(saw.props_deleted, 1);
    end(&a);
}

TEST(gradients)
{
    arrays a = begin();

    attach_start(a.data, REQ_ADD, 1);
    attach(a.weight, REQ_WRITE);
    REQUIRE(CHECK_INT(run_recorded(&a), 0));
    CHECK_INT(saw.recording, 0);
    CHECK_INT(saw.ops_deleted, 0);
    CHECK_INT(MXAutogradBackward(2, a.out, NULL, 1), 0);
    CHECK_NEAR(grad_at(a.data, 1), 1 + 2 * 5 + 1, 0);
    CHECK_NEAR(grad_at(a.weight, 1), 2 * 2 + 1, 0);
    CHECK_INT(saw.size, 9);
    for (int i = 0; i < 9; i++)
        CHECK_INT(saw.tags[i], i < 2 ? OUT_GRAD : i < 4 ? IN : i < 6 ? OUT : i < 8 ? IN_GRAD : AUX);
    for (int i = 0; i < 9; i++)
        CHECK_INT(saw.ndims[i], 1);
    CHECK_INT(saw.reqs[0], REQ_WRITE);
    CHECK_INT(saw.recording, 0);
    CHECK_INT(saw.training, 1);
    CHECK_INT(backward(a.out[1]), 0); /* one head: the other's gradient is zeros */
    CHECK_NEAR(grad_at(a.data, 1), 13, 0);
    CHECK_NEAR(grad_at(a.weight, 1), 1, 0);
    CHECK_INT(saw.backwards, 2);
    CHECK_INT(saw.forwards, 1);
    CHECK_NEAR(at(a.count, 0), 1, 0);
    end(&a);
    CHECK_INT(saw.ops_deleted, 1);
}

/* An input without a gradient has request 0; what backward does not read has no shape, and is not
 * kept: it may be edited. */
TEST(requests_and_reads)
{
    arrays a = begin();

    attach(a.data, REQ_WRITE);
    saw.num_reads = 2;
    saw.reads[0] = 1; /* the gradient of output 1 */
    saw.reads[1] = 3; /* argument 1 */
    REQUIRE(CHECK_INT(run_recorded(&a), 0));
    fill(a.out[1], (double[]){0, 0, 0}, 3);
    CHECK_INT(backward(a.out[0]), 0);
    for (int i = 0; i < 9; i++)
        CHECK_INT(saw.ndims[i], i == 0 || i == 2 || i == 4 || i == 5 ? -1 : 1);
    CHECK_INT(saw.reqs[0], REQ_WRITE);
    CHECK_INT(saw.reqs[1], REQ_NULL);
    CHECK_NEAR(grad_at(a.data, 0), 0, 0); /* zeros, as the callback wrote nothing */
    end(&a);
}

/* What backward reads must be as it was. */
TEST(edited)
{
    arrays a = begin();

    attach(a.data, REQ_WRITE);
    REQUIRE(CHECK_INT(run_recorded(&a), 0));
    fill(a.weight, (double[]){0, 0, 0}, 3);
    CHECK_INT(backward(a.out[0]), -1);
    CHECK_INT(saw.backwards, 0);
    end(&a);
}

TEST(second_order)
{
    arrays a = begin();
    H d, e;

    attach(a.data, REQ_WRITE);
    attach(a.weight, REQ_WRITE);
    record(true);
    REQUIRE(CHECK_INT(run(&a), 0));
    d = derivative(a.out[0], a.data, 1, 1);
    REQUIRE(CHECK(d != NULL));
    CHECK_INT(saw.recording, 1);
    CHECK_NEAR(at(d, 2), 12, 0);
    e = derivative(d, a.weight, 0, 0);
    record(false);
    REQUIRE(CHECK(e != NULL));
    CHECK_NEAR(at(e, 2), 2, 0);
    drop(e);
    drop(d);
    end(&a);
}

/* Outputs that the caller gives are written when the forward has succeeded, and not before. */
TEST(given_outputs)
{
    arrays a = begin();

    a.out[0] = VEC(-1, -1, -1);
    a.out[1] = VEC(-1, -1, -1);
    CHECK_INT(run(&a), 0);
    CHECK_NEAR(at(a.out[0], 2), 36, 0);
    fill(a.out[0], (double[]){7, 7, 7}, 3);
    saw.fails = FORWARD_FAILS;
    CHECK_FAILS(run(&a), "forward of operator \"scaled\" failed");
    CHECK_NEAR(at(a.out[0], 2), 7, 0);
    end(&a);
}

/* A gradient that forward attaches to what it is given is not attached to the caller's array. */
TEST(handles_are_apart)
{
    arrays a = begin();
    H grad;

    saw.attaches = true;
    CHECK_INT(run(&a), 0);
    grad = grad_of(a.data);
    CHECK(grad == NULL);
    end(&a);
}

TEST(each_callback_fails)
{
    static const struct {
        int which;
        const char *says;
    } all[] = {{CREATOR_FAILS, "the creator"},
               {kCustomOpPropListArguments, "list_arguments"},
               {kCustomOpPropListOutputs, "list_outputs"},
               {kCustomOpPropListAuxiliaryStates, "list_auxiliary_states"},
               {kCustomOpPropDeclareBackwardDependency, "declare_backward_dependency"},
               {kCustomOpPropInferShape, "infer_shape"},
               {kCustomOpPropInferType, "infer_type"},
               {kCustomOpPropInferStorageType, "infer_storage_type"},
               {kCustomOpPropCreateOperator, "create_operator"},
               {FORWARD_FAILS, "forward"}};
    arrays a = begin();

    attach(a.data, REQ_WRITE);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        saw.fails = all[i].which;
        CHECK_FAILS(run_recorded(&a), all[i].says);
        CHECK(a.out[0] == NULL);
        CHECK_INT(saw.props_deleted, saw.made);
    }
    saw.fails = NOTHING_FAILS;
    REQUIRE(CHECK_INT(run_recorded(&a), 0));
    saw.fails = BACKWARD_FAILS;
    CHECK_FAILS(backward(a.out[0]), "backward of operator \"scaled\" failed");
    saw.fails = NOTHING_FAILS;
    CHECK_INT(backward(a.out[0]), 0); /* nothing was released */
    CHECK_NEAR(grad_at(a.data, 0), 8, 0);
    end(&a);
}

TEST(missing_callbacks)
{
    arrays a = begin();

    for (int i = kCustomOpPropListArguments; i <= kCustomOpPropInferStorageType; i++) {
        bool may = i == kCustomOpPropDeclareBackwardDependency || i == kCustomOpPropInferType ||
                   i == kCustomOpPropInferStorageType;

        saw.missing = i;
        if (!may) {
            CHECK_FAILS(run(&a), "gave no callback");
            continue;
        }
        CHECK_INT(run(&a), 0);
        for (int k = 0; k < 2; k++) {
            drop(a.out[k]);
            a.out[k] = NULL;
        }
    }
    end(&a);
}

TEST(odd_answers)
{
    arrays a = begin();

    saw.odd_ndim = 33;
    CHECK_FAILS(run(&a), "gave 33 axes");
    saw.odd_ndim = -1;
    CHECK_FAILS(run(&a), "gave -1 axes");
    saw.odd_ndim = -9;
    saw.odd_input = 0;
    CHECK_FAILS(run(&a), "expects shape () of input 1, given (3,)");
    saw.odd_input = -9;
    saw.odd_dtype = 13;
    CHECK_FAILS(run(&a), "gave no dtype for output 1");
    saw.odd_dtype = -1;
    CHECK_FAILS(run(&a), "gave no dtype for output 1");
    saw.odd_dtype = F32; /* another one than the first output's is fine */
    CHECK_INT(run(&a), 0);
    saw.odd_dtype = -9;
    saw.odd_stype = 3;
    CHECK_FAILS(run(&a), "gave no storage type for array 1");
    saw.odd_stype = -9;
    saw.num_reads = 1;
    saw.reads[0] = 6;
    CHECK_FAILS(run(&a), "lists 6");
    saw.reads[0] = -1;
    CHECK_FAILS(run(&a), "lists -1");
    end(&a);
}

static int refuses(const char *op_type, int count, const char **keys, const char **values,
                   struct MXCallbackList *result)
{
    (void)op_type, (void)count, (void)keys, (void)values, (void)result;
    return 0;
}

/* What is on the graph stays as it is. */
TEST(registered_again)
{
    arrays a = begin();

    attach(a.data, REQ_WRITE);
    REQUIRE(CHECK_INT(run_recorded(&a), 0));
    CHECK_INT(MXCustomOpRegister("scaled", refuses), 0);
    CHECK_FAILS(run_scaled(a.data, a.weight, a.count, NULL, (H[2]){NULL, NULL}), "the creator");
    CHECK_INT(backward(a.out[0]), 0);
    CHECK_NEAR(grad_at(a.data, 0), 8, 0);
    end(&a);
}

static int custom(int num_inputs, H *in, int count, const char **keys, const char **values)
{
    H out = try_op("Custom", num_inputs, in, count, keys, values);

    if (out != NULL)
        drop(out);
    return out == NULL ? -1 : 0;
}

TEST(bad_calls)
{
    const char *keys[] = {"op_type", "op_type"}, *values[] = {"scaled", "scaled"};
    const char *unknown = "nosuch";
    arrays a = begin();
    H in[3] = {a.data, a.weight, a.count};
    MXLCallHandle call;

    CHECK_FAILS(custom(3, in, 0, NULL, NULL), "\"op_type\" is missing");
    CHECK_FAILS(custom(3, in, 2, keys, values), "given twice");
    CHECK_FAILS(custom(3, in, 1, keys, &unknown), "no operator \"nosuch\" is registered");
    CHECK_FAILS(custom(2, in, 1, keys, values), "takes 3 inputs, got 2");
    CHECK_FAILS(MXLPrepare("Custom", 1, keys, values, 0, NULL, &call), "cannot be prepared");
    CHECK_FAILS(MXCustomOpRegister(NULL, creator), "op_type");
    CHECK_FAILS(MXCustomOpRegister("scaled", NULL), "creator");
    end(&a);
}

HARNESS_MAIN(ENTRY(values), ENTRY(gradients), ENTRY(requests_and_reads), ENTRY(edited),
             ENTRY(second_order), ENTRY(given_outputs), ENTRY(handles_are_apart),
             ENTRY(each_callback_fails), ENTRY(missing_callbacks), ENTRY(odd_answers),
             ENTRY(registered_again), ENTRY(bad_calls))
