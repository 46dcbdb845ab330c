/* Operators' names, handles and infos (api_info.c). The Python tests compare the strings of every
 * operator with 1.9.1's (tests/reference/introspection.json). */
#include "harness.h"

#include "mxlite/mxlite.h"

#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        CHECK_INT(call, -1);                                                                       \
        CHECK_HAS(MXGetLastError(), words);                                                        \
    } while (0)

typedef struct info {
    const char *name, *doc, *key, *returns;
    const char **names, **types, **docs;
    uint32_t count;
} info;

static bool get(OpHandle op, info *i)
{
    return MXSymbolGetAtomicSymbolInfo(op, &i->name, &i->doc, &i->count, &i->names, &i->types,
                                       &i->docs, &i->key, &i->returns) == 0;
}

static OpHandle find(const char *name)
{
    OpHandle op = NULL;

    CHECK_INT(NNGetOpHandle(name, &op), 0);
    return op;
}

TEST(names)
{
    const char **names, **again;
    uint32_t count, count_again;
    OpHandle op;

    REQUIRE(MXListAllOpNames(&count, &names) == 0);
    REQUIRE(NNListAllOpNames(&count_again, &again) == 0);
    CHECK(count > 50 && count == count_again && names == again);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(strncmp(names[i], "_mxl_", 5) != 0);
        CHECK(i == 0 || strcmp(names[i - 1], names[i]) < 0);
        CHECK_INT(NNGetOpHandle(names[i], &op), 0);
    }
    FAILS(MXListAllOpNames(NULL, &names), "MXListAllOpNames: argument 'out_size' is NULL");
    FAILS(MXListAllOpNames(&count, NULL), "'out_array' is NULL");
    FAILS(NNListAllOpNames(NULL, &names), "NNListAllOpNames: argument 'out_size' is NULL");
    FAILS(NNListAllOpNames(&count, NULL), "'out_array' is NULL");
}

TEST(creators)
{
    AtomicSymbolCreator *list, *again;
    uint32_t count, count_again;

    REQUIRE(MXSymbolListAtomicSymbolCreators(&count, &list) == 0);
    REQUIRE(MXSymbolListAtomicSymbolCreators(&count_again, &again) == 0);
    CHECK(count > 30 && count == count_again && list == again);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL;

        CHECK_INT(MXSymbolGetAtomicSymbolName(list[i], &name), 0);
        CHECK(strncmp(name, "_mxl_", 5) != 0);
        CHECK(find(name) == list[i]);
        for (uint32_t k = 0; k < i; k++)
            CHECK(list[k] != list[i]);
    }
}

/* The handle of an alias is that of its operator. */
TEST(aliases)
{
    const char *name;

    CHECK(find("_plus") == find("elemwise_add"));
    CHECK_INT(MXSymbolGetAtomicSymbolName(find("_plus"), &name), 0);
    CHECK_STR(name, "elemwise_add");
}

TEST(info_of_an_operator)
{
    info a, b;

    REQUIRE(get(find("_plus_scalar"), &a));
    CHECK_STR(a.name, "_plus_scalar");
    CHECK(strlen(a.doc) > 0);
    CHECK_STR(a.key, "");
    CHECK(a.returns == NULL);
    REQUIRE(a.count == 3);
    CHECK_STR(a.names[0], "data");
    CHECK_STR(a.types[0], "NDArray-or-Symbol");
    CHECK_STR(a.names[1], "scalar");
    CHECK_STR(a.types[1], "double, optional, default=1");
    CHECK_STR(a.names[2], "is_int");
    CHECK_STR(a.types[2], "boolean, optional, default=1");
    for (int i = 0; i < 3; i++)
        CHECK(strlen(a.docs[i]) > 0);
    REQUIRE(get(find("_copyto"), &b));
    CHECK_STR(b.types[0], "NDArray");
    /* The first is as it was: bindings walk one list while they ask for others. */
    CHECK_STR(a.names[2], "is_int");
    REQUIRE(get(find("_plus_scalar"), &b));
    CHECK(a.names == b.names && a.types == b.types);
}

TEST(nn_says_the_same)
{
    AtomicSymbolCreator *list;
    uint32_t count;

    REQUIRE(MXSymbolListAtomicSymbolCreators(&count, &list) == 0);
    for (uint32_t i = 0; i < count; i++) {
        info a, b;

        REQUIRE(get(list[i], &a));
        b.returns = "";
        REQUIRE(NNGetOpInfo(list[i], &b.name, &b.doc, &b.count, &b.names, &b.types, &b.docs,
                            &b.returns) == 0);
        CHECK(a.name == b.name && a.doc == b.doc && a.count == b.count && a.names == b.names);
        CHECK(a.types == b.types && a.docs == b.docs && b.returns == NULL);
        CHECK_INT(
            NNGetOpInfo(list[i], &b.name, &b.doc, &b.count, &b.names, &b.types, &b.docs, NULL), 0);
    }
}

/* However the inputs are counted, the type of the last says that there are several. */
TEST(counted_inputs)
{
    AtomicSymbolCreator *list;
    uint32_t count;

    REQUIRE(MXSymbolListAtomicSymbolCreators(&count, &list) == 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = 0;
        info a;

        REQUIRE(get(list[i], &a));
        while (last + 1 < a.count && strncmp(a.types[last + 1], "NDArray", 7) == 0)
            last++;
        /* Steps of several weights have a list of inputs too, which other parameters count. */
        if (a.count > 0 && strncmp(a.types[0], "NDArray", 7) == 0 && strlen(a.key) > 0)
            CHECK_STR(a.types[last], "NDArray-or-Symbol[]");
    }
}

TEST(unknown_names)
{
    OpHandle op = &op;

    FAILS(NNGetOpHandle("nosuch", &op), "NNGetOpHandle: operator nosuch is not registered");
    FAILS(NNGetOpHandle("FullyConected", &op),
          "NNGetOpHandle: operator FullyConected is not registered; did you mean "
          "\"FullyConnected\"?");
    CHECK(op == NULL);
    FAILS(NNGetOpHandle("", &op), "NNGetOpHandle: ");
    FAILS(NNGetOpHandle(NULL, &op), "'op_name' is NULL");
    FAILS(NNGetOpHandle("exp", NULL), "'op_out' is NULL");
}

TEST(null_results)
{
    OpHandle op = find("exp");
    AtomicSymbolCreator *list;
    info i;
    uint32_t n;

    FAILS(MXSymbolListAtomicSymbolCreators(NULL, &list), "'out_size' is NULL");
    FAILS(MXSymbolListAtomicSymbolCreators(&n, NULL), "'out_array' is NULL");
    FAILS(MXSymbolGetAtomicSymbolName(op, NULL), "'name' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, NULL, &i.doc, &n, &i.names, &i.types, &i.docs, &i.key,
                                      &i.returns),
          "'name' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, &i.name, NULL, &n, &i.names, &i.types, &i.docs, &i.key,
                                      &i.returns),
          "'description' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, &i.name, &i.doc, NULL, &i.names, &i.types, &i.docs,
                                      &i.key, &i.returns),
          "'num_args' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, &i.name, &i.doc, &n, NULL, &i.types, &i.docs, &i.key,
                                      &i.returns),
          "'arg_names' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, &i.name, &i.doc, &n, &i.names, NULL, &i.docs, &i.key,
                                      &i.returns),
          "'arg_type_infos' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, &i.name, &i.doc, &n, &i.names, &i.types, NULL, &i.key,
                                      &i.returns),
          "'arg_descriptions' is NULL");
    FAILS(MXSymbolGetAtomicSymbolInfo(op, &i.name, &i.doc, &n, &i.names, &i.types, &i.docs, NULL,
                                      &i.returns),
          "'key_var_num_args' is NULL");
    CHECK_INT(MXSymbolGetAtomicSymbolInfo(op, &i.name, &i.doc, &n, &i.names, &i.types, &i.docs,
                                          &i.key, NULL),
              0);
    FAILS(NNGetOpInfo(op, NULL, &i.doc, &n, &i.names, &i.types, &i.docs, &i.returns),
          "NNGetOpInfo: argument 'real_name' is NULL");
    FAILS(NNGetOpInfo(op, &i.name, NULL, &n, &i.names, &i.types, &i.docs, &i.returns),
          "'description' is NULL");
    FAILS(NNGetOpInfo(op, &i.name, &i.doc, NULL, &i.names, &i.types, &i.docs, &i.returns),
          "'num_doc_args' is NULL");
    FAILS(NNGetOpInfo(op, &i.name, &i.doc, &n, NULL, &i.types, &i.docs, &i.returns),
          "'arg_names' is NULL");
    FAILS(NNGetOpInfo(op, &i.name, &i.doc, &n, &i.names, NULL, &i.docs, &i.returns),
          "'arg_type_infos' is NULL");
    FAILS(NNGetOpInfo(op, &i.name, &i.doc, &n, &i.names, &i.types, NULL, &i.returns),
          "'arg_descriptions' is NULL");
}

/* What 1.9.1 lists and mxlite lacks fails with its reason, by every way of calling an operator; so
 * do operators with graphs, which symbols take. */
TEST(refused_operators)
{
    const char **names, *reason;
    uint32_t count;
    int found = 0;

    REQUIRE(MXListAllOpNames(&count, &names) == 0);
    for (uint32_t i = 0; i < count; i++) {
        NDArrayHandle *outputs = NULL;
        SymbolHandle symbol = NULL;
        MXLCallHandle call = NULL;
        int num_outputs = 0;
        OpHandle op;

        REQUIRE(MXLOpGetRefusal(names[i], &reason) == 0);
        if (reason == NULL)
            continue;
        found++;
        op = find(names[i]);
        FAILS(MXLPrepare(names[i], 0, NULL, NULL, 0, NULL, &call), reason);
        FAILS(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, names[i], 0, NULL, NULL, 0, NULL, &call),
              reason);
        FAILS(MXImperativeInvoke(op, 0, NULL, &num_outputs, &outputs, 0, NULL, NULL), reason);
        FAILS(MXSymbolCreateAtomicSymbol(op, 0, NULL, NULL, &symbol),
              strstr(reason, "takes graphs") == NULL ? reason : "\"num_outputs\" is missing");
        CHECK(call == NULL && symbol == NULL && outputs == NULL);
    }
    CHECK(found > 0);
}

HARNESS_MAIN(ENTRY(names), ENTRY(creators), ENTRY(aliases), ENTRY(info_of_an_operator),
             ENTRY(nn_says_the_same), ENTRY(counted_inputs), ENTRY(unknown_names),
             ENTRY(null_results), ENTRY(refused_operators))
