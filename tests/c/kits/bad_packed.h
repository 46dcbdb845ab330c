/* Calls of packed functions for test_api_bad.c, as in bad_calls.h, which includes what this file
 * needs. */
#ifndef BAD_PACKED_H
#define BAD_PACKED_H

static MXNetFunctionHandle integer_function, list_function, zeros_function, dot_function;
static MXNetValue packed_value[3], packed_result;
static const int code_int = 0, code_float = 2, code_null = 4, code_object = 8, code_str = 11;
static int code_list[3];

static void set_up_packed(void)
{
    CHECK_INT(MXNetFuncGetGlobal("_Integer", &integer_function), 0);
    CHECK_INT(MXNetFuncGetGlobal("_ADT", &list_function), 0);
    CHECK_INT(MXNetFuncGetGlobal("_npi.zeros", &zeros_function), 0);
    CHECK_INT(MXNetFuncGetGlobal("_npi.tensordot", &dot_function), 0);
}

/* A call with up to three arguments of these codes, of which each value is `value`. */
static int call_packed(MXNetFunctionHandle function, int count, int a, int b, int c, void *value)
{
    code_list[0] = a;
    code_list[1] = b;
    code_list[2] = c;
    for (int i = 0; i < 3; i++)
        packed_value[i].v_handle = value;
    return MXNetFuncCall(function, packed_value, code_list, count, &packed_result, &int_a);
}

#define PACKED_PLACES(X)                                                                           \
    X(MXNetObjectFree, OBJECT, true, MXNetObjectFree(h))                                           \
    X(MXNetFuncFree, OP, true, h == exp_op ? -1 : MXNetFuncFree(h))                                \
    X(MXNetFuncCall, OBJECT, false, call_packed(list_function, 1, code_object, 0, 0, h))           \
    X(MXNetFuncCall, OBJECT, false,                                                                \
      call_packed(zeros_function, 3, code_object, code_null, code_null, h))

#define PACKED_ARGUMENTS(X)                                                                        \
    X(MXNetFuncListGlobalNames, MXNetFuncListGlobalNames(NULL, &list_a))                           \
    X(MXNetFuncListGlobalNames, MXNetFuncListGlobalNames(&int_a, NULL))                            \
    X(MXNetFuncGetGlobal, MXNetFuncGetGlobal(NULL, &out))                                          \
    X(MXNetFuncGetGlobal, MXNetFuncGetGlobal("_nop", NULL))                                        \
    X(MXNetFuncCall, call_packed(NULL, 0, 0, 0, 0, NULL))                                          \
    X(MXNetFuncCall, call_packed(exp_op, 0, 0, 0, 0, NULL))                                        \
    X(MXNetFuncCall, MXNetFuncCall(integer_function, NULL, code_list, 1, &packed_result, &int_a))  \
    X(MXNetFuncCall,                                                                               \
      MXNetFuncCall(integer_function, packed_value, NULL, 1, &packed_result, &int_a))              \
    X(MXNetFuncCall,                                                                               \
      MXNetFuncCall(integer_function, packed_value, code_list, -1, &packed_result, &int_a))        \
    X(MXNetFuncCall, MXNetFuncCall(integer_function, packed_value, code_list, 1, NULL, &int_a))    \
    X(MXNetFuncCall,                                                                               \
      MXNetFuncCall(integer_function, packed_value, code_list, 1, &packed_result, NULL))           \
    X(MXNetFuncCall, call_packed(integer_function, 0, 0, 0, 0, NULL))                              \
    X(MXNetFuncCall, call_packed(integer_function, 1, code_float, 0, 0, NULL))                     \
    X(MXNetFuncCall, call_packed(list_function, 1, code_int, 0, 0, NULL))                          \
    X(MXNetFuncCall, call_packed(zeros_function, 2, code_int, code_null, 0, NULL))                 \
    X(MXNetFuncCall, call_packed(zeros_function, 3, code_float, code_null, code_null, NULL))       \
    X(MXNetFuncCall, call_packed(zeros_function, 3, code_int, code_int, code_null, NULL))          \
    X(MXNetFuncCall, call_packed(zeros_function, 3, code_int, code_str, code_null, "nonsense"))    \
    X(MXNetFuncCall, call_packed(dot_function, 2, code_int, code_int, 0, NULL))                    \
    X(MXNetFuncCall, call_packed(dot_function, 3, code_int, code_int, code_int, NULL))             \
    X(MXNetFuncCall, call_packed(dot_function, 3, 14, 14, code_str, good))                         \
    X(MXNetFuncCall, call_packed(dot_function, 3, 14, 14, code_object, NULL))

#endif
