/* The calls of test_api_bad.c on functions of mxlite/graph.h; see bad_calls.h, which includes this.
 */
#ifndef BAD_GRAPH_H
#define BAD_GRAPH_H

static MXLNodeHandle good_node; /* the accumulating node of `variable` */
static MXLNodeHandle node_out;
static void *payload_out;

static int never_hook(void *payload, int count, const NDArrayHandle *grads, NDArrayHandle *results)
{
    (void)payload;
    (void)count;
    (void)grads;
    (void)results;
    abort();
}

static int never_node_hook(void *payload, int num_inputs, const NDArrayHandle *input_grads,
                           int num_outputs, const NDArrayHandle *output_grads,
                           NDArrayHandle *results)
{
    (void)num_outputs;
    (void)output_grads;
    return never_hook(payload, num_inputs, input_grads, results);
}

static int never_variable_hook(void *payload, NDArrayHandle array)
{
    return never_hook(payload, 1, &array, NULL);
}

static int never_callback(void *payload)
{
    return never_hook(payload, 0, NULL, NULL);
}

static void never_visit(void *data, const void *from, void *payload)
{
    (void)data;
    (void)from;
    (void)never_callback(payload);
}

static int never_reference(void *data, const void *from, const void *to, int references)
{
    (void)from;
    (void)to;
    (void)references;
    return never_callback(data);
}

static const MXLPayloadVisitor never_visitor = {NULL, never_reference, never_visit};
static const MXLPayloadVisitor half_visitors[] = {{NULL, NULL, never_visit},
                                                  {NULL, never_reference, NULL}};

static int never_pack(void *payload, NDArrayHandle array, void **packed)
{
    (void)packed;
    return never_hook(payload, 1, &array, NULL);
}

static int never_unpack(void *payload, void *packed, NDArrayHandle *array)
{
    (void)packed;
    return never_hook(payload, 0, NULL, array);
}

static const MXLBackwardOptions no_options = {.dialect = 0}, odd_dialect = {.dialect = 77};
static int zero_output = 0, far_output = 5;

static int backward_from(void *node, void *grad, void *input)
{
    return MXLBackward(1, &node, &zero_output, &grad, &no_options, 1, &input, &zero_output, &out);
}

#define GRAPH_PLACES(X)                                                                            \
    X(MXLNDArrayGetEdge, ARRAY, false, MXLNDArrayGetEdge(h, &node_out, &int_a))                    \
    X(MXLNDArrayGetEdgeKind, ARRAY, false, MXLNDArrayGetEdgeKind(h))                               \
    X(MXLNDArrayGetId, ARRAY, false, MXLNDArrayGetId(h, &u64))                                     \
    X(MXLNDArrayPin, ARRAY, false, MXLNDArrayPin(h, &out))                                         \
    X(MXLNDArrayPlace, ARRAY, false, MXLNDArrayPlace(h, good_node, 0, &out))                       \
    X(MXLNDArrayPlace, NODE, false, MXLNDArrayPlace(good, h, 0, &out))                             \
    X(MXLNDArraySetRequiresGrad, ARRAY, false, MXLNDArraySetRequiresGrad(h, 1))                    \
    X(MXLNDArraySetGrad, ARRAY, false, MXLNDArraySetGrad(h, NULL))                                 \
    X(MXLNDArraySetGrad, ARRAY, true, MXLNDArraySetGrad(variable, h))                              \
    X(MXLNodeFree, NODE, true, MXLNodeFree(h))                                                     \
    X(MXLNodeGetId, NODE, false, MXLNodeGetId(h, &u64))                                            \
    X(MXLNodeGetName, NODE, false, MXLNodeGetName(h, &text_a))                                     \
    X(MXLNodeGetOperator, NODE, false, MXLNodeGetOperator(h, &text_a))                             \
    X(MXLNodeGetSequence, NODE, false, MXLNodeGetSequence(h, &u64))                                \
    X(MXLNodeIsReleased, NODE, false, MXLNodeIsReleased(h, &int_a))                                \
    X(MXLNodeGetNumInputs, NODE, false, MXLNodeGetNumInputs(h, &int_a))                            \
    X(MXLNodeGetInput, NODE, false, MXLNodeGetInput(h, 0, &node_out, &int_a))                      \
    X(MXLNodeGetSlots, NODE, false, MXLNodeGetSlots(h, 1, &int_a))                                 \
    X(MXLNodeGetParams, NODE, false, MXLNodeGetParams(h, &int_a, &list_a, &list_b))                \
    X(MXLNodeGetNumOutputs, NODE, false, MXLNodeGetNumOutputs(h, &int_a))                          \
    X(MXLNodeGetInfo, NODE, false, MXLNodeGetInfo(h, 1, 0, 2, dims, &int_a))                       \
    X(MXLNodeGetVariable, NODE, false, MXLNodeGetVariable(h, &out))                                \
    X(MXLNodeGetNumSaved, NODE, false, MXLNodeGetNumSaved(h, &int_a))                              \
    X(MXLNodePackSaved, NODE, false, MXLNodePackSaved(h, 0))                                       \
    X(MXLNodeGetSaved, NODE, false, MXLNodeGetSaved(h, 0, &out, &int_a, &int_b, &number_out))      \
    X(MXLNodeSetPayload, NODE, false, MXLNodeSetPayload(h, NULL, NULL))                            \
    X(MXLNodeGetPayload, NODE, false, MXLNodeGetPayload(h, &payload_out))                          \
    X(MXLNDArrayVisitPayloads, ARRAY, false, MXLNDArrayVisitPayloads(h, &never_visitor, NULL))     \
    X(MXLNDArrayAddHook, ARRAY, false, MXLNDArrayAddHook(h, never_hook, 0, NULL, NULL, &node_out)) \
    X(MXLNDArrayAddAccumulatedHook, ARRAY, false,                                                  \
      MXLNDArrayAddAccumulatedHook(h, never_variable_hook, NULL, NULL, &node_out))                 \
    X(MXLNodeAddPreHook, NODE, false, MXLNodeAddPreHook(h, never_hook, NULL, NULL, &node_out))     \
    X(MXLNodeAddHook, NODE, false, MXLNodeAddHook(h, never_node_hook, NULL, NULL, &node_out))      \
    X(MXLHookRemove, HOOK, false, MXLHookRemove(h))                                                \
    X(MXLHookFree, HOOK, true, MXLHookFree(h))                                                     \
    X(MXLBackward, NODE, false, backward_from(h, NULL, good_node))                                 \
    X(MXLBackward, NODE, false, backward_from(good_node, NULL, h))                                 \
    X(MXLBackward, ARRAY, true, backward_from(good_node, h, good_node))                            \
    X(MXLNDArrayFindNonFinite, ARRAY, false, MXLNDArrayFindNonFinite(h, 1, &number_out))

#define GRAPH_ARGUMENTS(X)                                                                         \
    X(MXLNDArrayGetEdge, MXLNDArrayGetEdge(variable, NULL, &int_a))                                \
    X(MXLNDArrayGetEdge, MXLNDArrayGetEdge(variable, &node_out, NULL))                             \
    X(MXLNDArrayGetId, MXLNDArrayGetId(variable, NULL))                                            \
    X(MXLNDArrayPin, MXLNDArrayPin(variable, NULL))                                                \
    X(MXLNDArrayVisitPayloads, MXLNDArrayVisitPayloads(variable, NULL, NULL))                      \
    X(MXLNDArrayVisitPayloads, MXLNDArrayVisitPayloads(variable, &half_visitors[0], NULL))         \
    X(MXLNDArrayVisitPayloads, MXLNDArrayVisitPayloads(variable, &half_visitors[1], NULL))         \
    X(MXLNDArrayPlace, MXLNDArrayPlace(variable, good_node, 0, NULL))                              \
    X(MXLNDArrayPlace, MXLNDArrayPlace(variable, good_node, 5, &out))                              \
    X(MXLNDArrayPlace, MXLNDArrayPlace(variable, good_node, -1, &out))                             \
    X(MXLNDArraySetGrad, MXLNDArraySetGrad(good, NULL))                                            \
    X(MXLNDArraySetGrad, MXLNDArraySetGrad(variable, variable))                                    \
    X(MXLNodeGetId, MXLNodeGetId(good_node, NULL))                                                 \
    X(MXLNodeGetName, MXLNodeGetName(good_node, NULL))                                             \
    X(MXLNodeGetOperator, MXLNodeGetOperator(good_node, NULL))                                     \
    X(MXLNodeGetSequence, MXLNodeGetSequence(good_node, NULL))                                     \
    X(MXLNodeIsReleased, MXLNodeIsReleased(good_node, NULL))                                       \
    X(MXLNodeGetNumInputs, MXLNodeGetNumInputs(good_node, NULL))                                   \
    X(MXLNodeGetInput, MXLNodeGetInput(good_node, 0, NULL, &int_a))                                \
    X(MXLNodeGetInput, MXLNodeGetInput(good_node, 0, &node_out, NULL))                             \
    X(MXLNodeGetInput, MXLNodeGetInput(good_node, -1, &node_out, &int_a))                          \
    X(MXLNodeGetSlots, MXLNodeGetSlots(good_node, 1, NULL))                                        \
    X(MXLNodeGetParams, MXLNodeGetParams(good_node, NULL, &list_a, &list_b))                       \
    X(MXLNodeGetParams, MXLNodeGetParams(good_node, &int_a, NULL, &list_b))                        \
    X(MXLNodeGetParams, MXLNodeGetParams(good_node, &int_a, &list_a, NULL))                        \
    X(MXLNodeGetNumOutputs, MXLNodeGetNumOutputs(good_node, NULL))                                 \
    X(MXLNodeGetInfo, MXLNodeGetInfo(good_node, 3, 0, 0, NULL, NULL))                              \
    X(MXLNodeGetInfo, MXLNodeGetInfo(good_node, 0, 0, 0, NULL, NULL))                              \
    X(MXLNodeGetVariable, MXLNodeGetVariable(good_node, NULL))                                     \
    X(MXLNodeGetNumSaved, MXLNodeGetNumSaved(good_node, NULL))                                     \
    X(MXLNodeGetSaved, MXLNodeGetSaved(good_node, 0, NULL, NULL, NULL, NULL))                      \
    X(MXLNodeGetPayload, MXLNodeGetPayload(good_node, NULL))                                       \
    X(MXLNDArrayAddHook, MXLNDArrayAddHook(variable, NULL, 0, NULL, NULL, &node_out))              \
    X(MXLNDArrayAddHook, MXLNDArrayAddHook(good, never_hook, 0, NULL, NULL, &node_out))            \
    X(MXLNDArrayAddAccumulatedHook,                                                                \
      MXLNDArrayAddAccumulatedHook(variable, NULL, NULL, NULL, &node_out))                         \
    X(MXLNDArrayAddAccumulatedHook,                                                                \
      MXLNDArrayAddAccumulatedHook(good, never_variable_hook, NULL, NULL, &node_out))              \
    X(MXLNodeAddPreHook, MXLNodeAddPreHook(good_node, NULL, NULL, NULL, &node_out))                \
    X(MXLNodeAddHook, MXLNodeAddHook(good_node, NULL, NULL, NULL, &node_out))                      \
    X(MXLBackward,                                                                                 \
      MXLBackward(0, &good_node, &zero_output, NULL, &no_options, 0, NULL, NULL, NULL))            \
    X(MXLBackward, MXLBackward(1, NULL, &zero_output, NULL, &no_options, 0, NULL, NULL, NULL))     \
    X(MXLBackward, MXLBackward(1, &good_node, NULL, NULL, &no_options, 0, NULL, NULL, NULL))       \
    X(MXLBackward, MXLBackward(1, &good_node, &zero_output, NULL, NULL, 0, NULL, NULL, NULL))      \
    X(MXLBackward,                                                                                 \
      MXLBackward(1, &good_node, &far_output, NULL, &no_options, 0, NULL, NULL, NULL))             \
    X(MXLBackward,                                                                                 \
      MXLBackward(1, &good_node, &zero_output, NULL, &odd_dialect, 0, NULL, NULL, NULL))           \
    X(MXLBackward,                                                                                 \
      MXLBackward(1, &good_node, &zero_output, NULL, &no_options, -1, NULL, NULL, NULL))           \
    X(MXLBackward,                                                                                 \
      MXLBackward(1, &good_node, &zero_output, NULL, &no_options, 1, NULL, &zero_output, &out))    \
    X(MXLBackward,                                                                                 \
      MXLBackward(1, &good_node, &zero_output, NULL, &no_options, 1, &good_node, NULL, &out))      \
    X(MXLBackward, MXLBackward(1, &good_node, &zero_output, NULL, &no_options, 1, &good_node,      \
                               &zero_output, NULL))                                                \
    X(MXLBackward, MXLBackward(1, &good_node, &zero_output, NULL, &no_options, 1, &good_node,      \
                               &far_output, &out))                                                 \
    X(MXLBackwardQueue, MXLBackwardQueue(NULL, NULL, NULL))                                        \
    X(MXLBackwardQueue, MXLBackwardQueue(never_callback, NULL, NULL)) /* none runs */              \
    X(MXLBackwardState, MXLBackwardState(NULL))                                                    \
    X(MXLThreadGetOrigin, MXLThreadGetOrigin(NULL))                                                \
    X(MXLPushSavedHooks, MXLPushSavedHooks(NULL, never_unpack, NULL, NULL, NULL))                  \
    X(MXLPushSavedHooks, MXLPushSavedHooks(never_pack, NULL, NULL, NULL, NULL))                    \
    X(MXLPopSavedHooks, MXLPopSavedHooks()) /* none */                                             \
    X(MXLSetAnomaly, MXLSetAnomaly(-1, &int_a))                                                    \
    X(MXLSetAnomaly, MXLSetAnomaly(3, &int_a))                                                     \
    X(MXLAnomalyTakeNode, MXLAnomalyTakeNode(NULL))                                                \
    X(MXLNDArrayFindNonFinite, MXLNDArrayFindNonFinite(good, 1, NULL))                             \
    X(MXLNDArrayFindNonFinite, MXLNDArrayFindNonFinite(good, 3, &number_out))                      \
    X(MXLRandomGetState, MXLRandomGetState(NULL))                                                  \
    X(MXLRandomSetState, MXLRandomSetState(NULL))

#endif
