/* Custom operators on several threads: they register, run and differentiate operators at once, and
 * one replaces an operator that the others run. */
#include "engine_kit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 50 };

/* y = 2 x */
typedef struct twice {
    int (*callbacks[8])(void);
    int (*op_callbacks[3])(void);
    void *contexts[8];
} twice;

static int names_of(char ***names, void *state)
{
    static const char *const list[] = {"x", NULL};

    (void)state;
    *names = (char **)(uintptr_t)list;
    return 1;
}

static int no_names(char ***names, void *state)
{
    static const char *const list[] = {NULL};

    (void)state;
    *names = (char **)(uintptr_t)list;
    return 1;
}

static int infer_shape(int count, int *ndims, int **shapes, void *state)
{
    (void)state, (void)count;
    ndims[1] = ndims[0];
    shapes[1] = shapes[0];
    return 1;
}

/* Of x, or of the gradient, to y, or to the gradient of x. */
static int double_into(int size, void **arrays, int from, int to)
{
    const char *key = "scalar", *value = "2";
    H made = try_op("_mul_scalar", 1, &arrays[from], 1, &key, &value);
    int status = made == NULL ? -1 : op_into("_copyto", 1, &made, arrays[to]);

    if (made != NULL)
        drop(made);
    for (int i = 0; i < size; i++)
        drop(arrays[i]);
    return status == 0;
}

static int forward(int size, void **arrays, int *tags, const int *reqs, int is_train, void *state)
{
    (void)tags, (void)reqs, (void)is_train, (void)state;
    return double_into(size, arrays, 0, 1);
}

static int backward_of(int size, void **arrays, int *tags, const int *reqs, int is_train,
                       void *state)
{
    (void)tags, (void)reqs, (void)is_train, (void)state;
    return double_into(size, arrays, 0, 3);
}

static int delete_prop(void *state)
{
    free(state);
    return 1;
}

static int create(const char *device, int count, unsigned **shapes, const int *ndims,
                  const int *dtypes, struct MXCallbackList *result, void *state)
{
    twice *s = state;

    (void)device, (void)count, (void)shapes, (void)ndims, (void)dtypes;
    s->op_callbacks[kCustomOpForward] = CALLBACK(forward);
    s->op_callbacks[kCustomOpBackward] = CALLBACK(backward_of);
    *result = (struct MXCallbackList){3, s->op_callbacks, s->contexts};
    return 1;
}

static int creator(const char *op_type, int count, const char **keys, const char **values,
                   struct MXCallbackList *result)
{
    twice *s = calloc(1, sizeof(*s));

    (void)op_type, (void)count, (void)keys, (void)values;
    if (s == NULL)
        return 0;
    s->callbacks[kCustomOpPropDelete] = CALLBACK(delete_prop);
    s->callbacks[kCustomOpPropListArguments] = CALLBACK(names_of);
    s->callbacks[kCustomOpPropListOutputs] = CALLBACK(names_of);
    s->callbacks[kCustomOpPropListAuxiliaryStates] = CALLBACK(no_names);
    s->callbacks[kCustomOpPropInferShape] = CALLBACK(infer_shape);
    s->callbacks[kCustomOpPropCreateOperator] = CALLBACK(create);
    for (int i = 0; i < 8; i++)
        s->contexts[i] = s;
    *result = (struct MXCallbackList){8, s->callbacks, s->contexts};
    return 1;
}

static int other_creator(const char *op_type, int count, const char **keys, const char **values,
                         struct MXCallbackList *result)
{
    return creator(op_type, count, keys, values, result);
}

static void run(const char *op_type)
{
    const char *key = "op_type";
    H x = VEC(1, 2), y;

    attach(x, REQ_WRITE);
    record(true);
    y = try_op("Custom", 1, &x, 1, &key, &op_type);
    record(false);
    if (!CHECK(y != NULL))
        CHECK_STR(MXGetLastError(), "");
    CHECK_NEAR(at(y, 1), 4, 0);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    drop(y);
    drop(x);
}

static void *work(void *data)
{
    int number = *(const int *)data;
    char own[16];

    snprintf(own, sizeof(own), "own%d", number);
    CHECK_INT(MXCustomOpRegister(own, creator), 0);
    for (int i = 0; i < ROUNDS; i++) {
        if (number == 0)
            CHECK_INT(MXCustomOpRegister("shared", i % 2 == 0 ? creator : other_creator), 0);
        run("shared");
        run(own);
    }
    return NULL;
}

TEST(at_once)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    CHECK_INT(MXCustomOpRegister("shared", creator), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        REQUIRE(CHECK_INT(pthread_create(&threads[i], NULL, work, &numbers[i]), 0));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

HARNESS_MAIN(ENTRY(at_once))
