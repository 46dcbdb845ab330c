/* Shared by the tests of MXLFunctionRecord: vjps that count their calls, and calls in PyTorch's
 * front end. */
#ifndef FUNCTION_KIT_H
#define FUNCTION_KIT_H

#include "graph_kit.h"

#include <stdio.h>

/* A function: out = factor * the sum of its inputs, or what `calls` says. */
typedef struct rule {
    double factor[4]; /* gradient of input i is factor[i] * the first head; 0: none */
    int fails, calls, forgotten, released, heads, wants[4];
    bool recording, says, too_long, bad_handle;
} rule;

KIT H times(H a, double factor)
{
    char text[32];

    snprintf(text, sizeof(text), "%.17g", factor);
    return op_scalar("_mul_scalar", a, text);
}

KIT int on_rule(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                const int *wants, H *results)
{
    rule *r = payload;
    H head = NULL;

    r->calls++;
    r->heads = 0;
    CHECK_INT(MXAutogradIsRecording(&r->recording), 0);
    for (int i = 0; i < num_outputs; i++) {
        r->heads |= (output_grads[i] != NULL) << i;
        if (head == NULL)
            head = output_grads[i];
    }
    for (int i = 0; i < num_inputs && i < 4; i++) {
        r->wants[i] = wants[i];
        CHECK(results[i] == NULL);
        if (r->too_long)
            results[i] = VEC(1, 2, 3, 4, 5);
        else if (r->bad_handle)
            results[i] = (H)(uintptr_t)12345;
        else if (r->factor[i] != 0 && head != NULL)
            results[i] = times(head, r->factor[i]);
    }
    for (int i = 0; i < num_outputs; i++) {
        if (output_grads[i] != NULL)
            drop(output_grads[i]);
    }
    if (r->says)
        NNAPISetLastError("ValueError: not today");
    return r->fails;
}

KIT void on_forget(void *payload)
{
    rule *r = payload;

    CHECK_INT(r->released, 0);
    r->forgotten++;
}

KIT void on_release(void *payload)
{
    ((rule *)payload)->released++;
}

KIT MXLCallHandle like(int dialect, const char *slots)
{
    MXLCallHandle call = NULL;

    CHECK_INT(MXLPrepareAs(dialect, "MineBackward", slots, "_copy", 0, NULL, NULL, 0, NULL, &call),
              0);
    return call;
}

KIT int function(rule *r, int num_inputs, const H *in, int num_outputs, const H *out)
{
    int taken = -1,
        status = MXLFunctionRecord(like(MXL_DIALECT_TORCH, NULL), num_inputs, in, num_outputs, out,
                                   on_rule, r, on_forget, on_release, &taken);

    return status == 0 ? taken : status;
}

KIT H torch1(const char *name, H a, const char *key, const char *value)
{
    MXLCallHandle call = NULL;
    H out;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, key == NULL ? 0 : 1, &key, &value,
                           0, NULL, &call),
              0);
    out = MXLCall1(call, a);
    if (!CHECK(out != NULL))
        CHECK_STR(MXGetLastError(), name);
    return out;
}

KIT H torch2(const char *name, H a, H b)
{
    MXLCallHandle call = NULL;
    H out;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, 0, NULL, NULL, 0, NULL, &call), 0);
    out = MXLCall2(call, a, b);
    CHECK(out != NULL);
    return out;
}

/* Row or element `index`, sharing memory. */
KIT H part(H a, const char *index)
{
    const char *keys[2] = {"axis", "index"}, *values[2] = {"0", index};
    MXLCallHandle call = NULL;
    H out;

    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mxl_select", 2, keys, values, 0, NULL, &call),
        0);
    out = MXLCall1(call, a);
    CHECK(out != NULL);
    return out;
}

/* What a function writes: nothing of it is recorded. */
KIT void write_over(H target, double factor)
{
    const char *key = "scalar";
    char text[32];
    const char *value = text;
    MXLCallHandle call = NULL;
    int count = 1;

    snprintf(text, sizeof(text), "%.17g", factor);
    CHECK_INT(MXLSetGradMode(0, NULL), 0);
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, "_mul_scalar", 1, &key, &value, 0, NULL, &call),
        0);
    CHECK_INT(MXLCallInto(call, 1, &target, NULL, &count, &target), 0);
    CHECK_INT(MXLSetGradMode(1, NULL), 0);
}

static const MXLBackwardOptions keep = {.keep_graph = 1, .dialect = 1}, plain = {.dialect = 1};

#endif
