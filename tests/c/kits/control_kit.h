/* Symbols with loops and branches: a loop that is composed, others as files. */
#ifndef CONTROL_KIT_H
#define CONTROL_KIT_H

#include "symbol_kit.h"

/* An operator applied to symbols, which stay the caller's; NULL after a failure. */
static inline SymbolHandle apply_to(const char *op, int params, const char **keys,
                                    const char **values, uint32_t count, SymbolHandle *args)
{
    SymbolHandle symbol = NULL;
    OpHandle handle;

    if (NNGetOpHandle(op, &handle) != 0 ||
        MXSymbolCreateAtomicSymbol(handle, (uint32_t)params, keys, values, &symbol) != 0)
        return NULL;
    if (MXSymbolCompose(symbol, op, count, NULL, args) == 0)
        return symbol;
    (void)MXSymbolFree(symbol);
    return NULL;
}

/* The graph of a step: of variables d, s and w, results d * s + w and s + d. */
static inline SymbolHandle make_step(void)
{
    SymbolHandle v[3] = {NULL}, both[2] = {NULL}, product = NULL, step = NULL;
    static const char *const names[] = {"d", "s", "w"};
    bool ok = true;

    for (int i = 0; i < 3; i++)
        ok = ok && MXSymbolCreateVariable(names[i], &v[i]) == 0;
    product = ok ? apply_to("elemwise_mul", 0, NULL, NULL, 2, v) : NULL;
    if (product != NULL)
        both[0] = apply_to("elemwise_add", 0, NULL, NULL, 2, (SymbolHandle[]){product, v[2]});
    if (both[0] != NULL)
        both[1] = apply_to("elemwise_add", 0, NULL, NULL, 2, (SymbolHandle[]){v[1], v[0]});
    if (both[1] != NULL && MXSymbolCreateGroup(2, both, &step) != 0)
        step = NULL;
    for (int i = 0; i < 3; i++)
        (void)MXSymbolFree(v[i]);
    (void)MXSymbolFree(product);
    (void)MXSymbolFree(both[0]);
    (void)MXSymbolFree(both[1]);
    return step;
}

/* That step in a loop over data, with state and weight. */
static inline SymbolHandle make_loop(const char *data_locs, const char *outputs)
{
    const char *keys[] = {"in_data_locs", "in_state_locs", "remain_locs", "num_outputs",
                          "num_out_data"};
    const char *values[] = {data_locs, "[1]", "[2]", outputs, "1"};
    static const char *const names[] = {"data", "state", "weight"};
    SymbolHandle args[4] = {make_step(), NULL, NULL, NULL}, loop = NULL;
    bool ok = args[0] != NULL;

    for (int i = 0; i < 3; i++)
        ok = ok && MXSymbolCreateVariable(names[i], &args[1 + i]) == 0;
    if (ok)
        loop = apply_to("_foreach", 5, keys, values, 4, args);
    for (int i = 0; i < 4; i++)
        (void)MXSymbolFree(args[i]);
    return loop;
}

#define VARIABLE(name) "{\"op\": \"null\", \"name\": \"" name "\", \"inputs\": []}"
#define OPERATOR(op, attrs, inputs)                                                                \
    "{\"op\": \"" op "\", \"name\": \"" op "\", \"attrs\": {" attrs "}, \"inputs\": [" inputs "]"
#define GRAPH(nodes, heads) "{\"nodes\": [" nodes "], \"heads\": [" heads "]}"

/* while (i < n) {result i * i; i += 1}, at most 4 times. */
#define WHILE_JSON(vars, most)                                                                                                                                      \
    GRAPH(                                                                                                                                                          \
        VARIABLE("i") ", " VARIABLE("n") ", " OPERATOR(                                                                                                             \
            "_while_loop",                                                                                                                                          \
            "\"cond_input_locs\": \"[0, 1]\", \"func_input_locs\": \"[0]\", "                                                                                       \
            "\"func_var_locs\": \"" vars "\", \"max_iterations\": \"" most "\", "                                                                                   \
            "\"num_args\": \"4\", \"num_out_data\": \"1\", \"num_outputs\": \"2\"",                                                                                 \
            "[0, 0, 0], [1, 0, 0]") ", \"subgraphs\": [" GRAPH(VARIABLE("i") ", " VARIABLE("n") ", " OPERATOR("broadcast_lesser",                                   \
                                                                                                              "",                                                   \
                                                                                                              "[0, 0, 0], [1, 0, 0]") "}",                          \
                                                               "[2, 0, 0]") ", " GRAPH(VARIABLE("i") ", " OPERATOR("square",                                        \
                                                                                                                   "",                                              \
                                                                                                                   "[0, 0, 0]") "}, " OPERATOR("_plus_scalar",      \
                                                                                                                                               "\"scalar\": \"1\"", \
                                                                                                                                               "[0, 0, 0]") "}",    \
                                                                                       "[1, 0, "                                                                    \
                                                                                       "0], [2, "                                                                   \
                                                                                       "0, 0]") "]}",                                                               \
        "[2, 0, 0], [2, 1, 0]")

/* a ? b * b : b + a. */
#define BRANCH_JSON(then_locs)                                                                                                                   \
    GRAPH(                                                                                                                                       \
        VARIABLE("a") ", " VARIABLE("b") ", " OPERATOR(                                                                                          \
            "_cond",                                                                                                                             \
            "\"cond_input_locs\": \"[0]\", \"then_input_locs\": \"" then_locs "\", "                                                             \
            "\"else_input_locs\": \"[1, 0]\", \"num_args\": \"5\", \"num_outputs\": \"1\"",                                                      \
            "[0, 0, 0], [1, 0, 0]") ", \"subgraphs\": [" GRAPH(VARIABLE("a") ", " OPERATOR("_cop"                                                \
                                                                                           "y",                                                  \
                                                                                           "",                                                   \
                                                                                           "[0, "                                                \
                                                                                           "0, "                                                 \
                                                                                           "0]") "}",                                            \
                                                               "[1, 0, 0]") ", " GRAPH(VARIABLE("b") ", " OPERATOR("square",                     \
                                                                                                                   "",                           \
                                                                                                                   "[0, 0, 0]") "}",             \
                                                                                       "[1, 0, "                                                 \
                                                                                       "0]") ","                                                 \
                                                                                             " " GRAPH(                                          \
                                                                                                 VARIABLE("b") ", " VARIABLE("a") ", " OPERATOR( \
                                                                                                     "elemwise_add",                             \
                                                                                                     "",                                         \
                                                                                                     "[0, 0, 0], [1, 0, 0]") "}",                \
                                                                                                 "[2, 0, 0]") "]}",                              \
        "[2, 0, 0]")

#endif
