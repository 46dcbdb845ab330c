/* R's optimizers bind sgd_update(weight, grad) with the weight's shape alone: all other shapes
 * follow from it, and from any other one. */
#include "client.h"

static void infer_from(SymbolHandle update, const char *name, uint32_t inputs)
{
    const uint32_t places[] = {0, 2};
    const int sizes[] = {3, 4}, **args, **outs, **auxs;
    uint32_t num_args = 0, num_outs = 0, num_auxs = 0;
    const int *args_ndim, *outs_ndim, *auxs_ndim;
    int complete = 0;

    CALL(MXSymbolInferShapeEx(update, 1, &name, places, sizes, &num_args, &args_ndim, &args,
                              &num_outs, &outs_ndim, &outs, &num_auxs, &auxs_ndim, &auxs,
                              &complete));
    EXPECT(complete == 1);
    EXPECT(num_args + num_auxs == inputs);
    for (uint32_t i = 0; i < num_args; i++)
        EXPECT(args_ndim[i] == 2 && args[i][0] == 3 && args[i][1] == 4);
    for (uint32_t i = 0; i < num_auxs; i++)
        EXPECT(auxs_ndim[i] == 2 && auxs[i][0] == 3 && auxs[i][1] == 4);
}

int main(void)
{
    static const struct {
        const char *op;
        int inputs;
    } updates[] = {{"sgd_update", 2},     {"sgd_mom_update", 3}, {"adam_update", 4},
                   {"rmsprop_update", 3}, {"nag_mom_update", 3}, {"signsgd_update", 2},
                   {"ftrl_update", 4},    {"signum_update", 3},  {"rmspropalex_update", 5}};
    static const char *const names[] = {"weight", "grad", "s1", "s2", "s3"};
    const client_param rate[] = {{"lr", "0.1"}, {NULL, NULL}};

    for (size_t i = 0; i < sizeof(updates) / sizeof(*updates); i++) {
        SymbolHandle inputs[5], update;

        for (int k = 0; k < updates[i].inputs; k++)
            inputs[k] = variable(names[k]);
        update = symbol(updates[i].op, "update", rate, updates[i].inputs, inputs);
        infer_from(update, "weight", (uint32_t)updates[i].inputs);
        infer_from(update, "grad", (uint32_t)updates[i].inputs);
    }
    return failures != 0;
}
